// Types to layouts.
#include "engine/decode/weight_layout.h"

#include <algorithm>

#include "engine/decode/cpu_executor.h"
#include "engine/quant/blocks.h"

namespace infer::decode {

std::string_view name_of(weight_layout layout) {
  switch (layout) {
    case weight_layout::dequantized:
      return "dequantized";
    case weight_layout::rows:
      return "rows";
    case weight_layout::floats:
      return "floats";
    case weight_layout::nibbles:
      return "nibbles";
    case weight_layout::nibbles_bits:
      return "nibbles and bits";
    case weight_layout::bytes:
      return "bytes";
  }
  return {};
}

weight_layout layout_of(const plan::weight_source& weight, const kernels::op_table& ops) {
  if (weight.rows == 1) return weight_layout::dequantized;
  if (ops.pack == quant::pack_kind::rows) return weight_layout::rows;
  if (quant::form_of(weight.type) == quant::canonical_form::floating) return weight_layout::floats;
  if (quant::packs_as_bytes(weight.type)) return weight_layout::bytes;
  // What one code takes in the panels of the type.
  const quant::record_format record = quant::record_format_of(weight.type);
  const double bytes_a_code = static_cast<double>(record.bytes) / record.columns / quant::panel_rows;
  if (bytes_a_code >= 1) return weight_layout::bytes;
  return weight.type == tensor_type::q5_0 || weight.type == tensor_type::q6_k ? weight_layout::nibbles_bits
                                                                              : weight_layout::nibbles;
}

std::vector<layout_sum> layouts_of(const plan::weight_table& weights, const kernels::op_table& ops) {
  std::vector<layout_sum> out;
  plan::weight_table one;
  one.weights.resize(1);
  for (const plan::weight_source& weight : weights.weights) {
    const weight_layout layout = layout_of(weight, ops);
    auto sum =
        std::ranges::find_if(out, [&](const layout_sum& s) { return s.type == weight.type && s.layout == layout; });
    if (sum == out.end()) sum = out.insert(sum, {weight.type, layout});
    one.weights.front() = weight;
    ++sum->weights;
    sum->elements += std::uint64_t{weight.rows} * weight.columns;
    sum->bytes += weight_bytes(one, ops);
  }
  return out;
}

std::string_view kernels_name() {
  return kernels::best_ops().name;
}

}  // namespace infer::decode
