// What the Hugging Face hub's files call the keys and tensors that GGUF has other names for.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "engine/models/descriptor.h"

namespace infer::models {

/// A member of config.json that says what a GGUF key (without its architecture) says.
struct hub_key {
  std::string_view gguf, hub;
  double (*value)(double) = nullptr;  // from the one to the other where they differ
};
/// Several rows of one key are alternatives; the first that a file has counts.
std::span<const hub_key> hub_keys();

/// The hub's name of a tensor of the family, `{layer}` kept: "layers.{layer}.self_attn.q_proj.weight" for
/// "blk.{layer}.attn_q.weight". Without the prefixes that hub_folder takes off. Empty where the hub has no such tensor.
std::string hub_tensor_name(const family_descriptor& family, std::string_view gguf_name);

/// Where the rows of that tensor lie in the hub's one.
hub_rows hub_rows_of(const family_descriptor& family, std::string_view gguf_name);

/// Whether a tensor of a folder is no part of the text model: buffers, other modalities, prediction heads for training.
bool is_hub_extra(std::string_view name, std::uint32_t layers);

}  // namespace infer::models
