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

bool has_filter(std::string_view name) {
  return find(text_filters(), name) != nullptr || find(sequence_filters(), name) != nullptr;
}

result<value> apply_filter(services& with, std::string_view name, const value& input, const call_arguments& args) {
  if (const filter_entry* row = find(text_filters(), name)) {
    INFER_TRYV(with.spent.spend_bytes(input.weight()));  // they print all of it
    return row->call(with, input, args);
  }
  if (const filter_entry* row = find(sequence_filters(), name)) {
    INFER_TRYV(with.spent.spend_bytes(input.own_bytes()));
    return row->call(with, input, args);
  }
  return fail(fault::evaluation, "No filter named '" + std::string(name) + "'.");
}

}  // namespace infer::templates
