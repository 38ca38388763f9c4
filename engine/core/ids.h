// Strong integer ids: two of different kinds never mix, and none converts from a bare integer by accident.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace infer {

/// An integer that names one kind of thing. `Tag` is only ever declared.
template <class Tag, class Rep>
struct strong_id {
  Rep value{};

  constexpr strong_id() = default;
  constexpr explicit strong_id(Rep v) : value(v) {}
  friend constexpr auto operator<=>(const strong_id&, const strong_id&) = default;
};

/// Index into a model's vocabulary. A plain integer: it crosses every boundary and arithmetic is its nature.
using token_id = std::int32_t;

using layer_index = strong_id<struct layer_tag, std::uint32_t>;
using page_index = strong_id<struct page_tag, std::uint32_t>;
using slot_index = strong_id<struct slot_tag, std::uint32_t>;

}  // namespace infer

template <class Tag, class Rep>
struct std::hash<infer::strong_id<Tag, Rep>> {
  std::size_t operator()(const infer::strong_id<Tag, Rep>& id) const noexcept { return std::hash<Rep>{}(id.value); }
};
