// Every way in which a header can contradict itself or the file.
#include "engine/formats/gguf_header.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "tests/support/gguf_writer.h"

namespace infer::formats {
namespace {

using test_support::gguf_writer;
using ::testing::AllOf;
using ::testing::HasSubstr;

error refused(const std::vector<std::byte>& bytes) {
  auto header = parse_gguf_header(bytes, "bad.gguf");
  return header ? error{{}, "accepted"} : header.error();
}

error refused(const gguf_writer& writer) {
  return refused(writer.build());
}

void expect_refused(const gguf_writer& writer, fault code, const std::string& fragment) {
  const error outcome = refused(writer);
  EXPECT_EQ(outcome.code, code) << outcome.message();
  EXPECT_THAT(outcome.message(), AllOf(HasSubstr("bad.gguf: "), HasSubstr(fragment)));
}

std::vector<float> zeros(std::size_t count) {
  return std::vector<float>(count);
}

gguf_writer sound() {
  gguf_writer writer;
  writer.add_key("general.architecture", "llama").add_key("tokens", std::vector<std::string>{"a", "b"});
  writer.add_tensor("a", {4}, zeros(4)).add_tensor("b", {2, 3}, zeros(6));
  return writer;
}

TEST(GgufHeader, Versions) {
  EXPECT_TRUE(parse_gguf_header(sound().version(2).build(), "f"));
  EXPECT_TRUE(parse_gguf_header(sound().version(3).build(), "f"));
  expect_refused(sound().version(1), fault::unsupported, "GGUF version 1, which is no longer read");
  expect_refused(sound().version(4), fault::unsupported, "GGUF version 4; versions 2 and 3 are read");
  expect_refused(sound().version(0), fault::unsupported, "GGUF version 0");
  expect_refused(sound().version(0x03000000), fault::unsupported, "big-endian");
}

TEST(GgufHeader, AnotherFormatIsNamed) {
  const auto bytes = test_support::bytes_of("PK\x03\x04 archive");
  const error outcome = refused({bytes.begin(), bytes.end()});
  EXPECT_EQ(outcome.code, fault::not_a_model);
  EXPECT_THAT(outcome.message(), HasSubstr("bad.gguf: this is a zip archive"));
}

TEST(GgufHeader, CountsThatCannotFit) {
  constexpr std::uint64_t huge = ~std::uint64_t{0};
  expect_refused(sound().claim_counts(2, huge), fault::malformed,
                 "the metadata table claims 18446744073709551615 keys");
  expect_refused(sound().claim_counts(huge, 2), fault::malformed,
                 "the tensor table claims 18446744073709551615 tensors");
  expect_refused(sound().claim_counts(2, 1000), fault::malformed, "claims 1000 keys");
}

TEST(GgufHeader, EveryPrefixOfAFileIsTruncated) {
  const auto whole = sound().build();
  ASSERT_TRUE(parse_gguf_header(whole, "f"));
  // The last tensor ends 8 bytes before the end: its padding is not needed.
  for (std::size_t size = 4; size < whole.size() - 8; ++size) {
    const error outcome = refused(std::vector<std::byte>(whole.begin(), whole.begin() + static_cast<long>(size)));
    EXPECT_TRUE(outcome.code == fault::truncated || outcome.code == fault::malformed) << size << outcome.message();
  }
  EXPECT_TRUE(parse_gguf_header(std::vector<std::byte>(whole.begin(), whole.end() - 8), "f"));
}

TEST(GgufHeader, AMissingEndNamesTheTensor) {
  auto bytes = sound().build();
  bytes.resize(bytes.size() - 9);
  const error outcome = refused(bytes);
  EXPECT_EQ(outcome.code, fault::truncated);
  EXPECT_THAT(outcome.message(), AllOf(HasSubstr("tensor \"b\" ends at byte"), HasSubstr("download is incomplete")));
}

TEST(GgufHeader, KeyNames) {
  expect_refused(sound().add_key("general.architecture", true), fault::malformed,
                 "\"general.architecture\" is there twice");
  expect_refused(sound().add_key("", true), fault::malformed, "has no name");
  expect_refused(sound().add_key(std::string(65536, 'k'), true), fault::malformed, "65536 bytes long");
  EXPECT_TRUE(parse_gguf_header(sound().add_key(std::string(65535, 'k'), true).build(), "f"));
}

TEST(GgufHeader, TensorNames) {
  expect_refused(sound().add_tensor("a", {1}, zeros(1)), fault::malformed, "the tensor \"a\" is there twice");
  expect_refused(sound().add_tensor("", {1}, zeros(1)), fault::malformed, "has no name");
  expect_refused(sound().add_tensor(std::string(65, 'n'), {1}, zeros(1)), fault::malformed, "65 bytes long");
  const auto longest = sound().add_tensor(std::string(64, 'n'), {1}, zeros(1)).build();
  EXPECT_TRUE(parse_gguf_header(longest, "f"));
}

TEST(GgufHeader, NameLengthsLeavingTheFile) {
  auto bytes = gguf_writer().add_key("general.architecture", "llama").build();
  const std::uint64_t length = std::uint64_t{1} << 50;
  std::memcpy(bytes.data() + 24, &length, sizeof length);
  const error outcome = refused(bytes);
  EXPECT_EQ(outcome.code, fault::malformed);
  EXPECT_THAT(outcome.message(), HasSubstr("the name of a metadata key claims 1125899906842624 bytes"));
}

TEST(GgufHeader, Alignment) {
  for (const std::uint32_t sound_alignment : {8u, 16u, 64u, 4096u}) {
    EXPECT_TRUE(parse_gguf_header(sound().alignment(sound_alignment).build(), "f")) << sound_alignment;
  }
  for (const std::uint32_t bad : {0u, 4u, 24u, 33u, 0x80000000u}) {
    expect_refused(sound().add_key("general.alignment", bad), fault::malformed,
                   "\"general.alignment\" is " + std::to_string(bad));
  }
  expect_refused(sound().add_key("general.alignment", "32"), fault::wrong_type, "general.alignment");
}

TEST(GgufHeader, Ranks) {
  expect_refused(sound().add_raw_tensor("t", 0, {1, 1, 1, 1, 1}, 0), fault::malformed, "\"t\" has 5 dimensions");
  const auto four = sound().add_tensor("t", {1, 2, 1, 2}, zeros(4)).build();
  auto header = parse_gguf_header(four, "f");
  ASSERT_TRUE(header);
  EXPECT_EQ(header.value().tensors.back().bytes, 16u);
}

TEST(GgufHeader, RowsThatAreNotWholeBlocks) {
  expect_refused(sound().add_raw_tensor("t", 2, {48, 2}, 0), fault::malformed,
                 "\"t\" has rows of 48 elements, which are not whole Q4_0 blocks of 32");
  expect_refused(sound().add_raw_tensor("t", 12, {128, 4}, 0), fault::malformed, "whole Q4_K blocks of 256");
}

TEST(GgufHeader, ShapesThatOverflow) {
  constexpr std::uint64_t two_32 = std::uint64_t{1} << 32;
  expect_refused(sound().add_raw_tensor("t", 0, {two_32, two_32}, 0), fault::malformed, "more elements than");
  expect_refused(sound().add_raw_tensor("t", 0, {two_32, two_32 / 2}, 0), fault::malformed, "more elements than");
  expect_refused(sound().add_raw_tensor("t", 0, {two_32, two_32, two_32, two_32}, 0), fault::malformed,
                 "more elements");
  expect_refused(sound().add_raw_tensor("t", 0, {two_32, two_32 / 4}, 0), fault::malformed, "more bytes than");
  expect_refused(sound().add_raw_tensor("t", 0, {4, 0}, 0), fault::malformed, "dimension 1 is 0");
}

TEST(GgufHeader, Offsets) {
  expect_refused(sound().add_raw_tensor("t", 0, {1}, 7), fault::malformed, "offset 7, which is not a multiple of the");
  expect_refused(sound().add_raw_tensor("t", 0, {1}, 1 << 20), fault::truncated, "tensor \"t\" ends at byte");
  expect_refused(sound().add_raw_tensor("t", 0, {8}, ~std::uint64_t{31}), fault::malformed, "beyond any file");
}

TEST(GgufHeader, UnknownTypes) {
  for (const std::uint32_t type : {4u, 5u, 31u, 36u, 999u}) {
    expect_refused(sound().add_raw_tensor("t", type, {32}, 0), fault::unsupported,
                   "\"t\" has the type number " + std::to_string(type));
  }
}

TEST(GgufHeader, AFileWithoutTensorsIsAVocabulary) {
  const auto bytes = gguf_writer().add_key("general.architecture", "llama").build();
  auto header = parse_gguf_header(bytes, "f");
  ASSERT_TRUE(header);
  EXPECT_TRUE(header.value().tensors.empty());
}

TEST(GgufHeader, ALargeVocabularyIsViewsOnly) {
  std::vector<std::string> tokens(262'144);
  for (std::size_t i = 0; i < tokens.size(); ++i) tokens[i] = "token" + std::to_string(i);
  const auto bytes = gguf_writer().add_key("tokenizer.ggml.tokens", tokens).build();
  auto header = parse_gguf_header(bytes, "f");
  ASSERT_TRUE(header);
  const auto read = header.value().keys.texts("tokenizer.ggml.tokens").value();
  ASSERT_EQ(read.size(), tokens.size());
  EXPECT_EQ(read.back(), tokens.back());
  const auto* begin = reinterpret_cast<const char*>(bytes.data());
  EXPECT_TRUE(read.back().data() > begin && read.back().data() < begin + bytes.size());
}

TEST(GgufHeader, NamesFromOutsideAreEscaped) {
  expect_refused(sound().add_tensor("evil\x1b[31m\nname", tensor_type::q4_0, {31}, {}), fault::malformed,
                 "\"evil\\x1b[31m\\nname\"");
}

}  // namespace
}  // namespace infer::formats
