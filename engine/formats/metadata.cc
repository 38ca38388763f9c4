// Typed look-ups over the variant, with sentences that say what was found instead.
#include "engine/formats/metadata.h"

#include <array>
#include <cstdio>
#include <limits>
#include <utility>

#include "engine/formats/quote.h"

namespace infer::formats {
namespace {

std::string number_text(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.9g", value);
  return text.data();
}

std::string item_text(std::uint64_t value, std::size_t) {
  return std::to_string(value);
}
std::string item_text(std::int64_t value, std::size_t) {
  return std::to_string(value);
}
std::string item_text(float value, std::size_t) {
  return number_text(value);
}
std::string item_text(std::string_view value, std::size_t limit) {
  return quote(value, limit);
}

template <class T>
std::string array_text(const std::vector<T>& values, const char* kind, std::size_t limit) {
  constexpr std::size_t shown = 5;
  std::string out = std::to_string(values.size()) + ' ' + kind + (values.size() == 1 ? "" : "s");
  for (std::size_t i = 0; i < values.size() && i < shown; ++i) {
    out += (i == 0 ? ": " : ", ") + item_text(values[i], limit);
  }
  return values.size() > shown ? out + ", …" : out;
}

struct summarize {
  std::size_t limit;

  std::string operator()(std::uint64_t value) const { return std::to_string(value); }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return number_text(value); }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::string_view value) const { return quote(value, limit); }
  std::string operator()(const std::vector<std::uint64_t>& values) const {
    return array_text(values, "integer", limit);
  }
  std::string operator()(const std::vector<std::int64_t>& values) const { return array_text(values, "integer", limit); }
  std::string operator()(const std::vector<float>& values) const { return array_text(values, "float", limit); }
  std::string operator()(const std::vector<std::string_view>& values) const {
    return array_text(values, "string", limit);
  }
};

auto missing(std::string_view key) {
  return fail(fault::missing_key, "the metadata key " + quote(key) +
                                      " is missing; the file was made by a converter that is too old or is damaged");
}

auto mismatch(std::string_view key, const metadata_value& value, const char* wanted) {
  return fail(fault::wrong_type, "the metadata key " + quote(key) + " holds " + summary(value) + ", not " + wanted);
}

}  // namespace

std::string summary(const metadata_value& value, std::size_t limit) {
  return std::visit(summarize{limit}, value);
}

bool metadata::insert(std::string_view key, metadata_value value) {
  const bool added = values_.try_emplace(key, std::move(value)).second;
  if (added) order_.push_back(key);
  return added;
}

bool metadata::contains(std::string_view key) const {
  return values_.contains(key);
}

const metadata_value* metadata::find(std::string_view key) const {
  const auto at = values_.find(key);
  return at == values_.end() ? nullptr : &at->second;
}

result<std::string_view> metadata::text(std::string_view key) const {
  const metadata_value* value = find(key);
  if (value == nullptr) return missing(key);
  if (const auto* text = std::get_if<std::string_view>(value)) return *text;
  return mismatch(key, *value, "a string");
}

result<std::uint64_t> metadata::count(std::string_view key) const {
  const metadata_value* value = find(key);
  if (value == nullptr) return missing(key);
  if (const auto* number = std::get_if<std::uint64_t>(value)) return *number;
  if (const auto* number = std::get_if<std::int64_t>(value); number != nullptr && *number >= 0) {
    return static_cast<std::uint64_t>(*number);
  }
  return mismatch(key, *value, "a whole number of at least 0");
}

result<std::int64_t> metadata::integer(std::string_view key) const {
  const metadata_value* value = find(key);
  if (value == nullptr) return missing(key);
  if (const auto* number = std::get_if<std::int64_t>(value)) return *number;
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  if (const auto* number = std::get_if<std::uint64_t>(value); number != nullptr && *number <= most) {
    return static_cast<std::int64_t>(*number);
  }
  return mismatch(key, *value, "a whole number of 64 bits");
}

result<double> metadata::real(std::string_view key) const {
  const metadata_value* value = find(key);
  if (value == nullptr) return missing(key);
  if (const auto* number = std::get_if<double>(value)) return *number;
  if (const auto* number = std::get_if<std::uint64_t>(value)) return static_cast<double>(*number);
  if (const auto* number = std::get_if<std::int64_t>(value)) return static_cast<double>(*number);
  return mismatch(key, *value, "a number");
}

result<bool> metadata::boolean(std::string_view key) const {
  const metadata_value* value = find(key);
  if (value == nullptr) return missing(key);
  if (const auto* flag = std::get_if<bool>(value)) return *flag;
  if (const auto* number = std::get_if<std::uint64_t>(value); number != nullptr && *number <= 1) return *number == 1;
  if (const auto* number = std::get_if<std::int64_t>(value); number != nullptr && (*number == 0 || *number == 1)) {
    return *number == 1;
  }
  return mismatch(key, *value, "true or false");
}

result<std::span<const std::string_view>> metadata::texts(std::string_view key) const {
  const metadata_value* value = find(key);
  if (value == nullptr) return missing(key);
  if (const auto* texts = std::get_if<std::vector<std::string_view>>(value)) return std::span(*texts);
  return mismatch(key, *value, "an array of strings");
}

result<std::span<const float>> metadata::reals(std::string_view key) const {
  const metadata_value* value = find(key);
  if (value == nullptr) return missing(key);
  if (const auto* numbers = std::get_if<std::vector<float>>(value)) return std::span(*numbers);
  return mismatch(key, *value, "an array of floats");
}

result<std::vector<std::int64_t>> metadata::integers(std::string_view key) const {
  const metadata_value* value = find(key);
  if (value == nullptr) return missing(key);
  if (const auto* numbers = std::get_if<std::vector<std::int64_t>>(value)) return *numbers;
  if (const auto* numbers = std::get_if<std::vector<std::uint64_t>>(value)) {
    constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
    std::vector<std::int64_t> signed_numbers;
    signed_numbers.reserve(numbers->size());
    for (const std::uint64_t number : *numbers) {
      if (number > most) return mismatch(key, *value, "an array of integers below 2^63");
      signed_numbers.push_back(static_cast<std::int64_t>(number));
    }
    return signed_numbers;
  }
  return mismatch(key, *value, "an array of integers");
}

}  // namespace infer::formats
