// Where keys and values lie inside a page of 32 positions.
//
//   page = layer 0 | layer 1 | …          layer = keys | values
//   keys   = for each kv head two blocks of 16 positions: [head_dim][16 positions]
//   values = for each kv head: [32 positions][head_dim]
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/plan/plan.h"

namespace infer::plan {

inline constexpr std::uint32_t page_positions = 32;
inline constexpr std::uint32_t key_block_positions = 16;

enum class kv_type : std::uint8_t { f32, f16, bf16 };

constexpr std::uint32_t bytes_of(kv_type type) {
  return type == kv_type::f32 ? 4 : 2;
}

struct kv_layout {
  std::uint32_t layers = 0, kv_heads = 0, head_dim = 0;
  kv_type keys = kv_type::f16, values = kv_type::f16;

  std::size_t key_head_bytes() const { return std::size_t{head_dim} * page_positions * bytes_of(keys); }
  std::size_t value_head_bytes() const { return std::size_t{head_dim} * page_positions * bytes_of(values); }
  std::size_t layer_bytes() const { return kv_heads * (key_head_bytes() + value_head_bytes()); }
  std::size_t page_bytes() const { return layers * layer_bytes(); }
  std::size_t key_offset(std::uint32_t layer, std::uint32_t head) const {
    return layer * layer_bytes() + head * key_head_bytes();
  }
  std::size_t value_offset(std::uint32_t layer, std::uint32_t head) const {
    return layer * layer_bytes() + kv_heads * key_head_bytes() + head * value_head_bytes();
  }
};

inline kv_layout layout_of(const state_group& group, kv_type keys, kv_type values) {
  return {group.layers, group.kv_heads, group.head_dim, keys, values};
}

}  // namespace infer::plan
