// Block layouts written by hand, field by field, from the description of each format.
#include "engine/quant/unpack.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/random_blocks.h"

namespace infer::quant {
namespace {

std::vector<std::byte> zeros(tensor_type type) {
  return std::vector<std::byte>(info_of(type).block_bytes);
}

void put_f16(std::vector<std::byte>& block, std::size_t at, float value) {
  const std::uint16_t code = f32_to_f16(value);
  std::memcpy(block.data() + at, &code, sizeof code);
}

TEST(Unpack, Q4_0TakesEightOff) {
  auto block = zeros(tensor_type::q4_0);
  put_f16(block, 0, 0.25f);
  block[2] = std::byte{0xf3};   // elements 0 and 16
  block[17] = std::byte{0x0f};  // elements 15 and 31
  g32_block out;
  unpack_g32(tensor_type::q4_0, block.data(), out);
  EXPECT_EQ(out.d, 0.25f);
  EXPECT_EQ(out.m, 0.0f);
  EXPECT_EQ(out.q[0], -5);
  EXPECT_EQ(out.q[16], 7);
  EXPECT_EQ(out.q[15], 7);
  EXPECT_EQ(out.q[31], -8);
  EXPECT_EQ(out.q[1], -8);
}

TEST(Unpack, Q4_1KeepsItsMinimum) {
  auto block = zeros(tensor_type::q4_1);
  put_f16(block, 0, 0.5f);
  put_f16(block, 2, -3.0f);
  block[4] = std::byte{0xf3};
  g32_block out;
  unpack_g32(tensor_type::q4_1, block.data(), out);
  EXPECT_EQ(out.d, 0.5f);
  EXPECT_EQ(out.m, -3.0f);
  EXPECT_EQ(out.q[0], 3);
  EXPECT_EQ(out.q[16], 15);
  EXPECT_EQ(out.q[1], 0);
}

TEST(Unpack, Q5_0TakesItsFifthBitByElement) {
  auto block = zeros(tensor_type::q5_0);
  put_f16(block, 0, 1.0f);
  const std::uint32_t fifth = (1u << 0) | (1u << 20);
  std::memcpy(block.data() + 2, &fifth, sizeof fifth);
  block[6] = std::byte{0x2f};      // elements 0 and 16
  block[6 + 4] = std::byte{0x50};  // elements 4 and 20
  g32_block out;
  unpack_g32(tensor_type::q5_0, block.data(), out);
  EXPECT_EQ(out.q[0], 15);
  EXPECT_EQ(out.q[16], 2 - 16);
  EXPECT_EQ(out.q[20], 5);
  EXPECT_EQ(out.q[4], -16);
}

TEST(Unpack, Q8_0IsSignedBytes) {
  auto block = zeros(tensor_type::q8_0);
  put_f16(block, 0, 2.0f);
  block[2] = std::byte{0x80};
  block[33] = std::byte{0x7f};
  g32_block out;
  unpack_g32(tensor_type::q8_0, block.data(), out);
  EXPECT_EQ(out.d, 2.0f);
  EXPECT_EQ(out.q[0], -128);
  EXPECT_EQ(out.q[31], 127);
}

TEST(Unpack, Q4_KSpreadsSixBitScales) {
  auto block = zeros(tensor_type::q4_k);
  put_f16(block, 0, 1.0f);
  put_f16(block, 2, 0.5f);
  block[4 + 1] = std::byte{0b10'000101};      // scale 1 = 5, bits 4-5 of scale 5 = 2
  block[4 + 4 + 1] = std::byte{0b01'001001};  // minimum 1 = 9, bits 4-5 of minimum 5 = 1
  block[4 + 8 + 1] = std::byte{0x73};         // low bits: scale 5 = 3, minimum 5 = 7
  block[16] = std::byte{0xa1};                // elements 0 and 32
  block[16 + 96 + 31] = std::byte{0x4c};      // elements 223 and 255
  g256_block out;
  unpack_g256(tensor_type::q4_k, block.data(), out);
  EXPECT_EQ(out.d, 1.0f);
  EXPECT_EQ(out.dmin, 0.5f);
  for (const std::size_t sub : {2u, 3u}) {
    EXPECT_EQ(out.sc[sub], 5);
    EXPECT_EQ(out.mn[sub], 9);
  }
  for (const std::size_t sub : {10u, 11u}) {
    EXPECT_EQ(out.sc[sub], 2 * 16 + 3);
    EXPECT_EQ(out.mn[sub], 16 + 7);
  }
  EXPECT_EQ(out.sc[0], 0);
  EXPECT_EQ(out.q[0], 1);
  EXPECT_EQ(out.q[32], 10);
  EXPECT_EQ(out.q[223], 12);
  EXPECT_EQ(out.q[255], 4);
}

TEST(Unpack, Q6_KJoinsLowAndHighBits) {
  auto block = zeros(tensor_type::q6_k);
  put_f16(block, 208, -1.0f);
  block[192 + 15] = std::byte{0x80};
  block[64] = std::byte{0x21};                 // second half: elements 128 (low) and 192 (high)
  block[64 + 32] = std::byte{0x43};            // elements 160 and 224
  block[128 + 32] = std::byte{0b11'10'01'00};  // their high bits, in the order 128, 160, 192, 224
  g256_block out;
  unpack_g256(tensor_type::q6_k, block.data(), out);
  EXPECT_EQ(out.d, -1.0f);
  EXPECT_EQ(out.dmin, 0.0f);
  EXPECT_EQ(out.sc[15], -128);
  EXPECT_EQ(out.sc[0], 0);
  EXPECT_EQ(out.q[128], 1 - 32);
  EXPECT_EQ(out.q[160], 16 + 3 - 32);
  EXPECT_EQ(out.q[192], 32 + 2 - 32);
  EXPECT_EQ(out.q[224], 48 + 4 - 32);
  EXPECT_EQ(out.q[0], -32);
}

TEST(Unpack, Q5_1KeepsItsMinimumAndItsFifthBit) {
  auto block = zeros(tensor_type::q5_1);
  put_f16(block, 0, 0.5f);
  put_f16(block, 2, -3.0f);
  const std::uint32_t fifth = 1u << 17;
  std::memcpy(block.data() + 4, &fifth, sizeof fifth);
  block[8 + 1] = std::byte{0x2f};  // elements 1 and 17
  g32_block out;
  unpack_g32(tensor_type::q5_1, block.data(), out);
  EXPECT_EQ(out.d, 0.5f);
  EXPECT_EQ(out.m, -3.0f);
  EXPECT_EQ(out.q[1], 15);
  EXPECT_EQ(out.q[17], 18);
  EXPECT_EQ(out.q[0], 0);
}

TEST(Unpack, IQ4_NLLooksItsLevelsUp) {
  auto block = zeros(tensor_type::iq4_nl);
  put_f16(block, 0, 2.0f);
  block[2 + 3] = std::byte{0xf7};  // elements 3 and 19
  g32_block out;
  unpack_g32(tensor_type::iq4_nl, block.data(), out);
  EXPECT_EQ(out.d, 2.0f);
  EXPECT_EQ(out.q[3], -10);
  EXPECT_EQ(out.q[19], 113);
  EXPECT_EQ(out.q[0], -127);
}

TEST(Unpack, MXFP4TakesAPowerOfTwo) {
  auto block = zeros(tensor_type::mxfp4);
  g32_block out;
  for (const auto& [exponent, d] :
       {std::pair{0, 0x1p-128f}, {1, 0x1p-127f}, {2, 0x1p-126f}, {127, 0.5f}, {254, 0x1p126f}}) {
    block[0] = static_cast<std::byte>(exponent);
    unpack_g32(tensor_type::mxfp4, block.data(), out);
    EXPECT_EQ(out.d, d) << exponent;
  }
  block[1] = std::byte{0x97};   // elements 0 and 16: 6 and -0.5
  block[16] = std::byte{0x81};  // elements 15 and 31: 0.5 and -0
  unpack_g32(tensor_type::mxfp4, block.data(), out);
  EXPECT_EQ(out.q[0], 12);
  EXPECT_EQ(out.q[16], -1);
  EXPECT_EQ(out.q[15], 1);
  EXPECT_EQ(out.q[31], 0);
  block[0] = std::byte{255};
  unpack_g32(tensor_type::mxfp4, block.data(), out);
  EXPECT_NE(out.d, out.d);
}

TEST(Unpack, Q2_KHasScaleAndMinimumInOneByte) {
  auto block = zeros(tensor_type::q2_k);
  put_f16(block, 80, 1.0f);
  put_f16(block, 82, 0.25f);
  block[9] = std::byte{0xc5};
  block[16 + 32 + 2] = std::byte{0b11'10'01'00};  // elements 130, 162, 194, 226
  g256_block out;
  unpack_g256(tensor_type::q2_k, block.data(), out);
  EXPECT_EQ(out.d, 1.0f);
  EXPECT_EQ(out.dmin, 0.25f);
  EXPECT_EQ(out.sc[9], 5);
  EXPECT_EQ(out.mn[9], 12);
  EXPECT_EQ(out.q[130], 0);
  EXPECT_EQ(out.q[162], 1);
  EXPECT_EQ(out.q[194], 2);
  EXPECT_EQ(out.q[226], 3);
}

TEST(Unpack, Q3_KTakesFourOffWhereItsBitIsUnset) {
  auto block = zeros(tensor_type::q3_k);
  put_f16(block, 108, 1.0f);
  block[5] = std::byte{1 << 6};              // the third bit of element 197
  block[32 + 32 + 5] = std::byte{3 << 4};    // both bits of element 197
  block[96 + 2] = std::byte{0x70};           // low bits of scale 10
  block[96 + 8 + 2] = std::byte{0b01'0000};  // high bits of scale 10
  g256_block out;
  unpack_g256(tensor_type::q3_k, block.data(), out);
  EXPECT_EQ(out.q[197], 3);
  EXPECT_EQ(out.q[196], -4);
  EXPECT_EQ(out.sc[10], 16 + 7 - 32);
  EXPECT_EQ(out.sc[0], -32);
  EXPECT_EQ(out.dmin, 0.0f);
}

TEST(Unpack, Q5_KTakesItsFifthBitByRun) {
  auto block = zeros(tensor_type::q5_k);
  put_f16(block, 0, 1.0f);
  put_f16(block, 2, 0.5f);
  block[4 + 1] = std::byte{5};
  block[16 + 7] = std::byte{1 << 3};     // the fifth bit of element 103
  block[48 + 32 + 7] = std::byte{0xa1};  // elements 71 and 103
  g256_block out;
  unpack_g256(tensor_type::q5_k, block.data(), out);
  EXPECT_EQ(out.sc[2], 5);
  EXPECT_EQ(out.sc[3], 5);
  EXPECT_EQ(out.q[71], 1);
  EXPECT_EQ(out.q[103], 26);
}

TEST(Unpack, IQ4_XSSplitsItsScales) {
  auto block = zeros(tensor_type::iq4_xs);
  put_f16(block, 0, -1.0f);
  const std::uint16_t high = 2u << (2 * 5);
  std::memcpy(block.data() + 2, &high, sizeof high);
  block[4 + 2] = std::byte{0x90};            // low bits of the scale of run 5
  block[8 + 16 * 5 + 15] = std::byte{0x0f};  // elements 175 and 191
  g256_block out;
  unpack_g256(tensor_type::iq4_xs, block.data(), out);
  EXPECT_EQ(out.sc[10], 32 + 9 - 32);
  EXPECT_EQ(out.sc[11], 9);
  EXPECT_EQ(out.sc[0], -32);
  EXPECT_EQ(out.q[175], 113);
  EXPECT_EQ(out.q[191], -127);
}

TEST(Unpack, CodesStayInTheirRanges) {
  struct range {
    tensor_type type;
    int low, high;
  };
  for (const auto& [type, low, high] :
       {range{tensor_type::q4_0, -8, 7}, range{tensor_type::q4_1, 0, 15}, range{tensor_type::q5_0, -16, 15},
        range{tensor_type::q8_0, -128, 127}, range{tensor_type::q4_k, 0, 15}, range{tensor_type::q6_k, -32, 31},
        range{tensor_type::q5_1, 0, 31}, range{tensor_type::iq4_nl, -127, 113}, range{tensor_type::mxfp4, -12, 12},
        range{tensor_type::q2_k, 0, 3}, range{tensor_type::q3_k, -4, 3}, range{tensor_type::q5_k, 0, 31},
        range{tensor_type::iq4_xs, -127, 113}}) {
    const auto blocks = test_support::random_blocks(type, 64, 3);
    int lowest = 1000, highest = -1000;
    for (std::size_t i = 0; i < 64; ++i) {
      const std::byte* block = blocks.data() + i * info_of(type).block_bytes;
      const auto note = [&](const auto& codes) {
        for (const int code : codes) lowest = std::min(lowest, code), highest = std::max(highest, code);
      };
      if (form_of(type) == canonical_form::g32) {
        g32_block out;
        unpack_g32(type, block, out);
        note(out.q);
      } else {
        g256_block out;
        unpack_g256(type, block, out);
        note(out.q);
      }
    }
    EXPECT_EQ(lowest, low) << info_of(type).name;
    EXPECT_EQ(highest, high) << info_of(type).name;
  }
}

}  // namespace
}  // namespace infer::quant
