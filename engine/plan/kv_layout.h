// Where keys and values lie inside a page of 32 positions.
//
//   page = layer 0 | layer 1 | …          layer = keys | values
//   keys   = for each kv head two blocks of 16 positions: [head_dim][16 positions]
//   values = for each kv head: [32 positions][head_dim]
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/plan/page_source.h"
#include "engine/plan/plan.h"

namespace infer::plan {

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

/// Bytes of a page of any kind of group.
inline std::size_t page_bytes_of(const state_group& group, kv_type keys, kv_type values) {
  switch (group.kind) {
    case state_kind::paged:
    case state_kind::windowed:
      return layout_of(group, keys, values).page_bytes();
    case state_kind::latent:
      return std::size_t{group.layers} * group.head_dim * page_positions * bytes_of(keys);
    case state_kind::recurrent:
      return group.fixed_bytes;
  }
  return 0;
}

/// Pages of one group with which a sequence of `context` positions can always go on, in steps of up to `batch`.
inline std::uint32_t pages_of_context(const state_group& group, std::uint32_t context, std::uint32_t batch) {
  if (group.kind == state_kind::recurrent) return 2;
  const std::uint32_t all = pages_for(context);
  if (group.kind != state_kind::windowed) return all;
  // What is seen, what a step adds, and a page at either end that is only partly of it.
  const std::uint64_t kept = std::uint64_t{pages_for(group.window)} + pages_for(batch) + 2;
  return kept < all ? static_cast<std::uint32_t>(kept) : all;
}

}  // namespace infer::plan
