// What was packed comes back to the bit, for every type, with rows and columns that do not fill their panels.
#include "engine/quant/packed.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "engine/quant/blocks.h"
#include "engine/quant/dequantize.h"
#include "tests/support/random_blocks.h"

namespace infer::quant {
namespace {

class packed : public testing::TestWithParam<tensor_type> {};

TEST_P(packed, rows_come_back_to_the_bit) {
  const tensor_type type = GetParam();
  const bool k_quant = form_of(type) == canonical_form::g256;
  for (const std::uint32_t columns :
       k_quant ? std::vector<std::uint32_t>{256, 768, 1280} : std::vector<std::uint32_t>{32, 96, 576, 640, 1536}) {
    for (const std::uint32_t rows : {1u, 7u, 16u}) {
      const auto& info = info_of(type);
      const std::size_t count = std::size_t{rows} * columns;
      const std::vector<std::byte> bytes =
          form_of(type) == canonical_form::floating
              ? test_support::quantize(type, test_support::random_floats(count, columns))
              : test_support::random_blocks(type, count / info.block_elements, columns + rows);
      std::vector<float> expected(count);
      ASSERT_TRUE(dequantize(type, bytes, expected));
      std::array<const std::byte*, panel_rows> from{};
      for (std::uint32_t r = 0; r < rows; ++r)
        from[r] = bytes.data() + std::size_t{r} * columns / info.block_elements * info.block_bytes;
      std::vector<std::byte> panel(panel_bytes(type, columns), std::byte{0xff});
      pack_panel(type, from, columns, panel.data());
      for (std::uint32_t r = 0; r < panel_rows; ++r) {
        std::vector<float> got(columns, -1.0f);
        for (std::uint32_t k = 0; k < columns; k += 256)
          unpack_panel_row(type, panel.data(), r, k, std::min(256u, columns - k), got.data() + k);
        if (r < rows) {
          EXPECT_EQ(std::memcmp(got.data(), expected.data() + std::size_t{r} * columns, columns * sizeof(float)), 0)
              << info.name << " row " << r << " of " << rows << ", " << columns << " columns";
        } else {
          for (const float value : got) EXPECT_EQ(value, 0.0f) << "a padding row of " << info.name;
        }
      }
    }
  }
}

TEST_P(packed, records_are_whole_lines) {
  const record_format f = record_format_of(GetParam());
  EXPECT_EQ(f.bytes % 64, 0u);
  EXPECT_EQ(packed_bytes(GetParam(), 17, f.columns * 3), 2 * 3 * std::size_t{f.bytes});
}

INSTANTIATE_TEST_SUITE_P(types, packed, testing::ValuesIn(supported_types),
                         [](const auto& info) { return std::string(info_of(info.param).name); });

}  // namespace
}  // namespace infer::quant
