// The table of element types.
#include "engine/core/tensor_type.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace infer {
namespace {

constexpr std::array table{
    tensor_type_info{tensor_type::f32, "F32", 1, 4},
    tensor_type_info{tensor_type::f16, "F16", 1, 2},
    tensor_type_info{tensor_type::q4_0, "Q4_0", 32, 18},
    tensor_type_info{tensor_type::q4_1, "Q4_1", 32, 20},
    tensor_type_info{tensor_type::q5_0, "Q5_0", 32, 22},
    tensor_type_info{tensor_type::q5_1, "Q5_1", 32, 24},
    tensor_type_info{tensor_type::q8_0, "Q8_0", 32, 34},
    tensor_type_info{tensor_type::q8_1, "Q8_1", 32, 36},
    tensor_type_info{tensor_type::q2_k, "Q2_K", 256, 84},
    tensor_type_info{tensor_type::q3_k, "Q3_K", 256, 110},
    tensor_type_info{tensor_type::q4_k, "Q4_K", 256, 144},
    tensor_type_info{tensor_type::q5_k, "Q5_K", 256, 176},
    tensor_type_info{tensor_type::q6_k, "Q6_K", 256, 210},
    tensor_type_info{tensor_type::q8_k, "Q8_K", 256, 292},
    tensor_type_info{tensor_type::iq2_xxs, "IQ2_XXS", 256, 66},
    tensor_type_info{tensor_type::iq2_xs, "IQ2_XS", 256, 74},
    tensor_type_info{tensor_type::iq3_xxs, "IQ3_XXS", 256, 98},
    tensor_type_info{tensor_type::iq1_s, "IQ1_S", 256, 50},
    tensor_type_info{tensor_type::iq4_nl, "IQ4_NL", 32, 18},
    tensor_type_info{tensor_type::iq3_s, "IQ3_S", 256, 110},
    tensor_type_info{tensor_type::iq2_s, "IQ2_S", 256, 82},
    tensor_type_info{tensor_type::iq4_xs, "IQ4_XS", 256, 136},
    tensor_type_info{tensor_type::i8, "I8", 1, 1},
    tensor_type_info{tensor_type::i16, "I16", 1, 2},
    tensor_type_info{tensor_type::i32, "I32", 1, 4},
    tensor_type_info{tensor_type::i64, "I64", 1, 8},
    tensor_type_info{tensor_type::f64, "F64", 1, 8},
    tensor_type_info{tensor_type::iq1_m, "IQ1_M", 256, 56},
    tensor_type_info{tensor_type::bf16, "BF16", 1, 2},
    tensor_type_info{tensor_type::tq1_0, "TQ1_0", 256, 54},
    tensor_type_info{tensor_type::tq2_0, "TQ2_0", 256, 66},
    tensor_type_info{tensor_type::mxfp4, "MXFP4", 32, 17},
    tensor_type_info{tensor_type::nvfp4, "NVFP4", 64, 36},
    tensor_type_info{tensor_type::q1_0, "Q1_0", 128, 18},
    tensor_type_info{tensor_type::q2_0, "Q2_0", 64, 18},
};

}  // namespace

const tensor_type_info* find_tensor_type(std::uint32_t number) noexcept {
  const auto* row = std::ranges::find(table, static_cast<tensor_type>(number), &tensor_type_info::type);
  return row == table.end() ? nullptr : row;
}

const tensor_type_info& info_of(tensor_type type) noexcept {
  return *find_tensor_type(static_cast<std::uint32_t>(type));
}

std::optional<tensor_type> tensor_type_named(std::string_view name) noexcept {
  for (const auto& row : table) {
    if (std::ranges::equal(name, row.name, [](unsigned char a, unsigned char b) { return std::toupper(a) == b; }))
      return row.type;
  }
  return std::nullopt;
}

}  // namespace infer
