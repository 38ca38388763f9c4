// range, namespace, dict, raise_exception and strftime_now.
#include <algorithm>
#include <array>

#include "engine/templates/builtins.h"
#include "engine/templates/operations.h"
#include "engine/templates/printing.h"

namespace infer::templates {

struct global_entry {
  std::string_view name;
  evaluated<value> (*call)(services&, const call_arguments&);
};

namespace {

using args_t = const call_arguments&;

evaluated<value> make_range(services& with, args_t args) {
  if (args.positional.empty() || args.positional.size() > 3 || !args.named.empty()) {
    return fail(fault::evaluation, "range expects one to three arguments");
  }
  std::array<std::int64_t, 3> bounds{0, 0, 1};
  for (std::size_t i = 0; i < args.positional.size(); ++i) {
    INFER_TRY(bounds[args.positional.size() == 1 ? 1 : i], args.integer(i, "", 0));
  }
  const auto [start, stop, step] = bounds;
  if (step == 0) return fail(fault::evaluation, "range() arg 3 must not be zero");
  const double count = (static_cast<double>(stop) - static_cast<double>(start)) / static_cast<double>(step);
  // The reference renderer's sandbox refuses more than 100000 items.
  if (count > 100000) return fail(fault::limit, "Range too big. The sandbox blocks ranges larger than 100000.");
  INFER_TRYV(with.spent.spend(static_cast<std::uint64_t>(std::max(count, 0.0)) + 1));
  std::vector<value> items;
  for (std::int64_t at = start; step > 0 ? at < stop : at > stop; at += step) items.emplace_back(at);
  return value::make(sequence_kind::range, std::move(items));
}

evaluated<std::vector<std::pair<value, value>>> pairs_of(services& with, args_t args) {
  std::vector<std::pair<value, value>> pairs;
  if (args.positional.size() > 1) return fail(fault::evaluation, "expected at most 1 positional argument");
  if (!args.positional.empty()) {
    const value& from = args.positional[0];
    if (const dictionary* items = from.as_dictionary()) {
      pairs = items->entries;
    } else {
      INFER_TRY(const auto rows, items_of(from, with.spent));
      for (const value& item : rows) {
        const sequence* pair = item.as_sequence();
        if (pair == nullptr || pair->items.size() != 2) return fail(fault::evaluation, "an element is no pair");
        pairs.emplace_back(pair->items[0], pair->items[1]);
      }
    }
  }
  for (const auto& [name, item] : args.named) pairs.emplace_back(value(text(name, true)), item);
  return pairs;
}

evaluated<value> make_dictionary(services& with, args_t args) {
  INFER_TRY(auto pairs, pairs_of(with, args));
  auto made = std::make_shared<dictionary>();
  for (auto& [key, item] : pairs) {
    if (!made->put(std::move(key), std::move(item))) return fail(fault::evaluation, "unhashable key");
  }
  return value(std::shared_ptr<const dictionary>(std::move(made)));
}

evaluated<value> make_namespace(services& with, args_t args) {
  INFER_TRY(auto pairs, pairs_of(with, args));
  auto made = std::make_shared<name_space>();
  for (auto& [key, item] : pairs) made->put(to_text(key).view(), std::move(item));
  INFER_TRYV(with.spent.spend(16));
  with.namespaces.push_back(made);
  return value(std::move(made));
}

evaluated<value> raise(services&, args_t args) {
  const value* message = args.get(0, "message");
  if (message == nullptr) return fail(fault::evaluation, "raise_exception needs a message");
  return fail(fault::raised, std::string(to_text(*message).view()));
}

evaluated<value> strftime_now(services& with, args_t args) {
  INFER_TRY(const text format, args.string(0, "format", ""));
  std::string room(format.size() * 8 + 64, '\0');
  if (format.size() > 1000) return fail(fault::evaluation, "a time format of more than 1000 bytes");
  room.resize(std::strftime(room.data(), room.size(), std::string(format.view()).c_str(), &with.now));
  return value::data(std::move(room));
}

constexpr std::array<global_entry, 5> table = {{
    {"range", make_range},
    {"dict", make_dictionary},
    {"namespace", make_namespace},
    {"raise_exception", raise},
    {"strftime_now", strftime_now},
}};

}  // namespace

const global_entry* find_global(std::string_view name) {
  for (const global_entry& row : table) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

evaluated<value> call_global(services& with, const global_entry& row, const call_arguments& args) {
  return row.call(with, args);
}

evaluated<value> call_global(services& with, std::string_view name, const call_arguments& args) {
  if (const global_entry* row = find_global(name)) return row->call(with, args);
  return fail(fault::evaluation, "'" + std::string(name) + "' is undefined");
}

}  // namespace infer::templates
