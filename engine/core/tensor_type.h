// The element types a model file can hold, by their ggml numbers, and how many bytes their blocks take.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace infer {

/// ggml's numbering. Only types with a row in `tensor_type_info` can be sized; whether they can be computed with is
/// `quant`'s to say.
enum class tensor_type : std::uint32_t {
  f32 = 0,
  f16 = 1,
  q4_0 = 2,
  q4_1 = 3,
  q5_0 = 6,
  q5_1 = 7,
  q8_0 = 8,
  q8_1 = 9,
  q2_k = 10,
  q3_k = 11,
  q4_k = 12,
  q5_k = 13,
  q6_k = 14,
  q8_k = 15,
  iq2_xxs = 16,
  iq2_xs = 17,
  iq3_xxs = 18,
  iq1_s = 19,
  iq4_nl = 20,
  iq3_s = 21,
  iq2_s = 22,
  iq4_xs = 23,
  i8 = 24,
  i16 = 25,
  i32 = 26,
  i64 = 27,
  f64 = 28,
  iq1_m = 29,
  bf16 = 30,
  tq1_0 = 34,
  tq2_0 = 35,
  mxfp4 = 39,
  nvfp4 = 40,
  q1_0 = 41,
  q2_0 = 42,
};

struct tensor_type_info {
  tensor_type type;
  std::string_view name;         // as llama.cpp prints it: "Q4_K"
  std::uint32_t block_elements;  // elements of one block along the fastest axis
  std::uint32_t block_bytes;     // bytes of one block
};

/// The row of a type, or null where the number is unknown.
const tensor_type_info* find_tensor_type(std::uint32_t number) noexcept;
/// The row of a known type.
const tensor_type_info& info_of(tensor_type type) noexcept;
/// The type with this name, upper or lower case.
std::optional<tensor_type> tensor_type_named(std::string_view name) noexcept;

}  // namespace infer
