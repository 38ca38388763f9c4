// Models of real size with random weights, written piece by piece: what benches measure where no real file is at hand.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "engine/core/tensor_type.h"

namespace infer::test_support {

struct synthetic_shape {
  std::string_view name;
  std::uint32_t width = 0, layers = 0, ffn_width = 0, heads = 0, kv_heads = 0, head_dim = 0;
};

/// "0.5B" and "1.5B": widths as of well-known models of these sizes.
std::optional<synthetic_shape> synthetic_shape_named(std::string_view name);

/// Architecture llama, embedding and head tied, byte-level vocabulary with a few merges.
struct synthetic_model {
  synthetic_shape shape;
  tensor_type type = tensor_type::q4_0;
  std::uint32_t vocabulary = 32000;  // at least 512
  std::uint32_t context = 32768;
  std::uint64_t seed = 1;
};

/// The type of the embedding: Q6_K beside Q4_K, as converters choose it; else the type of the rest.
tensor_type embedding_type(tensor_type type);

/// Random codes under scales that give each weight the variance 1 / columns, so that activations stay near 1. The same
/// bytes on every machine.
/// Errors:  std::invalid_argument where a width does not fill whole blocks of the type or there is no writer for it;
///          std::runtime_error where the file cannot be written.
/// Memory:  holds a few MB at a time.
void write_synthetic_model(const std::filesystem::path& path, const synthetic_model& model);

}  // namespace infer::test_support
