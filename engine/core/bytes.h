// Little-endian loads from unaligned bytes, and the names of byte amounts.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>

namespace infer {

static_assert(std::endian::native == std::endian::little, "infer-node runs on little-endian machines");

using byte_view = std::span<const std::byte>;

/// Reads a trivially copyable value that need not be aligned.
template <class T>
  requires std::is_trivially_copyable_v<T>
T load_le(const void* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

namespace literals {
constexpr std::uint64_t operator""_KiB(unsigned long long n) {
  return n << 10;
}
constexpr std::uint64_t operator""_MiB(unsigned long long n) {
  return n << 20;
}
constexpr std::uint64_t operator""_GiB(unsigned long long n) {
  return n << 30;
}
}  // namespace literals

/// "93.8 MiB": three significant digits, binary units.
std::string format_bytes(std::uint64_t bytes);

}  // namespace infer
