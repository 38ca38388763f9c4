// Alignment, size, moving.
#include "engine/memory/huge_buffer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

namespace infer::memory {
namespace {

TEST(huge_buffer, is_aligned_zeroed_and_writable_to_its_last_byte) {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{4097}, (std::size_t{4} << 20) + 3}) {
    auto made = huge_buffer::make(bytes);
    ASSERT_TRUE(made);
    huge_buffer& buffer = made.value();
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % (std::size_t{2} << 20), 0u);
    EXPECT_EQ(buffer.size(), bytes);
    EXPECT_EQ(buffer.data()[bytes - 1], std::byte{0});
    std::memset(buffer.data(), 1, bytes);
    const huge_buffer moved = std::move(buffer);
    EXPECT_EQ(moved.size(), bytes);
    EXPECT_EQ(buffer.data(), nullptr);
  }
}

TEST(huge_buffer, of_nothing_is_nothing) {
  auto made = huge_buffer::make(0);
  ASSERT_TRUE(made);
  EXPECT_EQ(made.value().data(), nullptr);
}

TEST(huge_buffer, more_than_there_are_addresses_is_an_error) {
  const auto made = huge_buffer::make(std::size_t{1} << 60);
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message().find("weights"), std::string::npos);
}

}  // namespace
}  // namespace infer::memory
