// Unaligned loads and amounts for people.
#include "engine/core/bytes.h"

#include <gtest/gtest.h>

#include <array>

namespace infer {
namespace {

TEST(bytes, loads_from_any_address) {
  const std::array<std::byte, 6> from{std::byte{0xff}, std::byte{0x01}, std::byte{0x02}, std::byte{0x03},
                                      std::byte{0x04}};
  EXPECT_EQ(load_le<std::uint32_t>(from.data() + 1), 0x04030201u);
  EXPECT_EQ(load_le<std::uint16_t>(from.data()), 0x01ffu);
}

TEST(bytes, amounts_have_three_digits_and_a_unit) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1024), "1.00 KiB");
  EXPECT_EQ(format_bytes(98362432), "93.8 MiB");
  EXPECT_EQ(format_bytes(std::uint64_t{5} << 40), "5.00 TiB");
  EXPECT_EQ(format_bytes(std::uint64_t{5000} << 40), "5000 TiB");
}

TEST(bytes, literals_are_binary) {
  using namespace literals;
  EXPECT_EQ(2_KiB, 2048u);
  EXPECT_EQ(1_MiB, 1u << 20);
  EXPECT_EQ(1_GiB, 1u << 30);
}

}  // namespace
}  // namespace infer
