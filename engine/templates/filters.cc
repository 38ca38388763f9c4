// Looks filters up by name.
#include "engine/templates/filter_table.h"

namespace infer::templates {
namespace {

const filter_entry* find(std::span<const filter_entry> table, std::string_view name) {
  for (const filter_entry& row : table) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

}  // namespace

const filter_entry* find_filter(std::string_view name) {
  const filter_entry* row = find(text_filters(), name);
  return row != nullptr ? row : find(sequence_filters(), name);
}

evaluated<value> apply_filter(services& with, const filter_entry& row, const value& input, const call_arguments& args) {
  INFER_TRYV(with.spent.spend_bytes(row.prints_input ? input.weight() : input.own_bytes()));
  return row.call(with, input, args);
}

evaluated<value> apply_filter(services& with, std::string_view name, const value& input, const call_arguments& args) {
  if (const filter_entry* row = find_filter(name)) return apply_filter(with, *row, input, args);
  return fail(fault::evaluation, "No filter named '" + std::string(name) + "'.");
}

}  // namespace infer::templates
