// Headers as writers make them, and every way in which one can be wrong.
#include "engine/formats/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/formats/fault.h"
#include "tests/support/hub_writer.h"

namespace infer::formats {
namespace {

using test_support::safetensors_bytes;
using testing::HasSubstr;

byte_view view(const std::string& bytes) {
  return std::as_bytes(std::span(bytes));
}

std::string message_of(const std::string& bytes) {
  const auto parsed = parse_safetensors(view(bytes), "x.safetensors");
  return parsed ? "" : parsed.error().message();
}

std::string entry(const std::string& members) {
  return R"({"a":{)" + members + "}}";
}

TEST(safetensors, gives_shapes_with_the_fastest_axis_first) {
  const std::string bytes =
      safetensors_bytes({{"a", "F32", {2, 3}, std::string(24, 'x')}, {"b", "BF16", {}, "yy"}, {"c", "I64", {0}, ""}});
  const auto parsed = parse_safetensors(view(bytes), "x");
  ASSERT_TRUE(parsed) << parsed.error().message();
  ASSERT_EQ(parsed.value().size(), 3u);
  const auto& a = parsed.value()[0];
  EXPECT_EQ(a.name, "a");
  EXPECT_EQ(a.info.type, tensor_type::f32);
  EXPECT_EQ(a.info.rank, 2u);
  EXPECT_EQ(a.info.shape[0], 3u);
  EXPECT_EQ(a.info.shape[1], 2u);
  EXPECT_EQ(bytes.substr(a.info.offset, a.info.bytes), std::string(24, 'x'));
  const auto& b = parsed.value()[1];
  EXPECT_EQ(b.info.type, tensor_type::bf16);
  EXPECT_EQ(b.info.elements(), 1u);
  EXPECT_EQ(bytes.substr(b.info.offset, b.info.bytes), "yy");
  EXPECT_EQ(parsed.value()[2].info.bytes, 0u);
}

TEST(safetensors, what_is_no_such_file_is_named) {
  EXPECT_THAT(message_of("abc"), HasSubstr("3 bytes and no header"));
  // In a vector, which sanitizers see the end of.
  const std::vector<std::byte> length_alone(8);
  EXPECT_THAT(parse_safetensors(length_alone, "x").error().message(), HasSubstr("8 bytes and no header"));
  EXPECT_THAT(message_of(std::string("GGUF") + std::string(40, '\0')),
              HasSubstr("x.safetensors: this is a GGUF model"));
  EXPECT_THAT(message_of(std::string(40, '\xff')), HasSubstr("not a safetensors file, or a damaged one"));
  EXPECT_THAT(message_of("<!DOCTYPE html><html></html>"), HasSubstr("web page"));
  std::string cut = safetensors_bytes({{"a", "F32", {2}, std::string(8, 'x')}});
  EXPECT_THAT(message_of(cut.substr(0, 20)), HasSubstr("download it again"));
  cut.pop_back();
  EXPECT_THAT(message_of(cut), HasSubstr("ends at byte 8 of 7 bytes of data"));
}

TEST(safetensors, a_header_that_is_no_object_of_tensors_is_refused) {
  EXPECT_THAT(message_of(safetensors_bytes("{]", "")), HasSubstr("not JSON"));
  EXPECT_THAT(message_of(safetensors_bytes(R"({"a":1})", "")), HasSubstr("\"a\" is not described by an object"));
  EXPECT_THAT(message_of(safetensors_bytes(entry(""), "")), HasSubstr("has no dtype"));
  EXPECT_THAT(message_of(safetensors_bytes(entry(R"("dtype":"F32")"), "")), HasSubstr("has no shape"));
  EXPECT_THAT(message_of(safetensors_bytes(entry(R"("dtype":"F32","shape":[-1])"), "")),
              HasSubstr("not a list of counts"));
  EXPECT_THAT(message_of(safetensors_bytes(entry(R"("dtype":"F32","shape":[1])"), "")),
              HasSubstr("no pair of data_offsets"));
  EXPECT_THAT(message_of(safetensors_bytes(entry(R"("dtype":"F32","shape":[1],"data_offsets":[4,0])"), "")),
              HasSubstr("not a range"));
}

TEST(safetensors, what_cannot_be_read_is_in_the_table_with_its_fault) {
  const auto faulty = [](const std::string& members, std::size_t bytes) {
    const std::string file = safetensors_bytes(entry(members), std::string(bytes, 'x'));
    const auto parsed = parse_safetensors(view(file), "x");
    EXPECT_TRUE(parsed) << parsed.error().message();
    return parsed ? parsed.value()[0] : safetensors_entry{};
  };
  EXPECT_THAT(faulty(R"("dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1])", 1).fault,
              testing::AllOf(HasSubstr("F8_E4M3"), HasSubstr("use a checkpoint in F32, F16 or BF16")));
  // Two values a byte.
  EXPECT_EQ(faulty(R"("dtype":"F4","shape":[2,4],"data_offsets":[0,4])", 4).info.bytes, 4u);
  const auto wide = faulty(R"("dtype":"F16","shape":[2,3,1,5,7],"data_offsets":[0,420])", 420);
  EXPECT_EQ(wide.fault, "has 5 axes; at most 4 are supported");
  EXPECT_EQ(wide.info.rank, 4u);
  EXPECT_EQ(wide.info.shape, (std::array<std::uint64_t, 4>{7, 5, 1, 6}));
  EXPECT_EQ(faulty(R"("dtype":"F16","shape":[1,1,1,1],"data_offsets":[0,2])", 2).fault, "");
}

TEST(safetensors, sizes_follow_from_shapes) {
  EXPECT_THAT(message_of(safetensors_bytes(entry(R"("dtype":"F16","shape":[3],"data_offsets":[0,4])"), "xxxx")),
              HasSubstr("takes 4 bytes where its shape asks for 6"));
  EXPECT_THAT(message_of(safetensors_bytes(
                  entry(R"("dtype":"F16","shape":[9223372036854775807,4],"data_offsets":[0,4])"), "xxxx")),
              HasSubstr("too large"));
  EXPECT_THAT(message_of(safetensors_bytes(
                  entry(R"("dtype":"F8_E4M3","shape":[4611686018427387904,4,1,1,1],"data_offsets":[0,1])"), "x")),
              HasSubstr("too large"));
  EXPECT_THAT(message_of(safetensors_bytes(entry(R"("dtype":"F16","shape":[1,1,1,1,3],"data_offsets":[0,4])"), "xxxx")),
              HasSubstr("takes 4 bytes where its shape asks for 6"));
}

TEST(safetensors, data_has_no_holes_and_no_overlaps) {
  const std::string a = R"("a":{"dtype":"I8","shape":[2],"data_offsets":[0,2]})";
  const auto with = [&](const std::string& b) {
    return message_of(safetensors_bytes("{" + a + "," + b + "}", "xxxxx"));
  };
  EXPECT_THAT(with(R"("b":{"dtype":"I8","shape":[2],"data_offsets":[3,5]})"), HasSubstr("begins at byte 3"));
  EXPECT_THAT(with(R"("b":{"dtype":"I8","shape":[4],"data_offsets":[1,5]})"), HasSubstr("begins at byte 1"));
  EXPECT_THAT(with(R"("b":{"dtype":"I8","shape":[1],"data_offsets":[2,3]})"), HasSubstr("3 bytes of 5 bytes of data"));
  EXPECT_EQ(with(R"("b":{"dtype":"I8","shape":[3],"data_offsets":[2,5]})"), "");
}

}  // namespace
}  // namespace infer::formats
