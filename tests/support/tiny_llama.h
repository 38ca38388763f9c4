// A small random llama model as a GGUF file: a byte-level vocabulary, ChatML template, weights of any supported type.
#pragma once

#include <cstdint>
#include <filesystem>

#include "engine/core/tensor_type.h"
#include "tests/support/gguf_writer.h"

namespace infer::test_support {

/// Widths must fill whole blocks of `type`.
struct tiny_llama {
  tensor_type type = tensor_type::f32;
  std::uint32_t width = 64, layers = 2, heads = 4, kv_heads = 2, head_dim = 16, ffn_width = 96;
  std::uint32_t context = 256;
  bool tied = true;
  std::uint32_t seed = 1;
};

/// Ids of the control tokens; byte b is token first_byte_token + b.
inline constexpr std::int32_t tiny_end_of_text = 0, tiny_im_start = 1, tiny_im_end = 2, tiny_first_byte = 3;
inline constexpr std::uint32_t tiny_vocabulary = 3 + 256 + 61;

gguf_writer tiny_llama_writer(const tiny_llama& shape);
void write_tiny_llama(const std::filesystem::path& path, const tiny_llama& shape = {});

}  // namespace infer::test_support
