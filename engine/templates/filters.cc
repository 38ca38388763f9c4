// Looks filters up by name.
#include "engine/templates/filter_table.h"

namespace infer::templates {
namespace {

const filter_entry* find(std::string_view name) {
  for (const auto table : {text_filters(), sequence_filters()}) {
    for (const filter_entry& row : table) {
      if (row.name == name) return &row;
    }
  }
  return nullptr;
}

}  // namespace

bool has_filter(std::string_view name) {
  return find(name) != nullptr;
}

result<value> apply_filter(services& with, std::string_view name, const value& input, const call_arguments& args) {
  const filter_entry* row = find(name);
  if (row == nullptr) return fail(fault::evaluation, "No filter named '" + std::string(name) + "'.");
  INFER_TRYV(with.spent.spend_bytes(input.weight()));
  return row->call(with, input, args);
}

}  // namespace infer::templates
