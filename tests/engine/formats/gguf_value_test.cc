// Metadata values of every type, and the values that are refused.
#include "engine/formats/gguf_value.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "engine/formats/gguf.h"
#include "tests/support/gguf_writer.h"

namespace infer::formats {
namespace {

using test_support::gguf_writer;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class T>
class EveryNumber : public ::testing::Test {};
using number_types = ::testing::Types<std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::uint32_t,
                                      std::int32_t, std::uint64_t, std::int64_t, float, double>;
TYPED_TEST_SUITE(EveryNumber, number_types);

TYPED_TEST(EveryNumber, IsWidened) {
  const auto low = std::numeric_limits<TypeParam>::lowest();
  const auto high = std::numeric_limits<TypeParam>::max();
  gguf_writer writer;
  writer.add_key("low", low).add_key("high", high).add_key("both", std::vector<TypeParam>{low, high});
  const auto bytes = writer.build();
  auto file = gguf_file::from_memory(bytes);
  ASSERT_TRUE(file) << file.error().message();
  using wide = std::conditional_t<std::is_floating_point_v<TypeParam>, double,
                                  std::conditional_t<std::is_signed_v<TypeParam>, std::int64_t, std::uint64_t>>;
  EXPECT_EQ(std::get<wide>(*file.value().keys().find("low")), static_cast<wide>(low));
  EXPECT_EQ(std::get<wide>(*file.value().keys().find("high")), static_cast<wide>(high));
  if constexpr (std::is_same_v<TypeParam, float>) {
    EXPECT_THAT(file.value().keys().reals("both").value(), ElementsAre(low, high));
  } else if constexpr (!std::is_floating_point_v<TypeParam>) {
    EXPECT_THAT(std::get<std::vector<wide>>(*file.value().keys().find("both")), ElementsAre(low, high));
  }
}

TEST(GgufValue, ReadsBoolsStringsAndTheirArrays) {
  gguf_writer writer;
  writer.add_key("yes", true).add_key("text", "é").add_key("none", "");
  writer.add_key("bools", std::vector<bool>{true, false}).add_key("texts", std::vector<std::string>{"a", "", "bc"});
  writer.add_key("doubles", std::vector<double>{0.5, -1}).add_key("nothing", std::vector<std::string>{});
  const auto bytes = writer.build();
  auto file = gguf_file::from_memory(bytes);
  ASSERT_TRUE(file) << file.error().message();
  const metadata& keys = file.value().keys();
  EXPECT_TRUE(std::get<bool>(*keys.find("yes")));
  EXPECT_EQ(keys.text("text").value(), "é");
  EXPECT_EQ(keys.text("none").value(), "");
  EXPECT_THAT(keys.integers("bools").value(), ElementsAre(1, 0));
  EXPECT_THAT(keys.texts("texts").value(), ElementsAre("a", "", "bc"));
  EXPECT_THAT(keys.reals("doubles").value(), ElementsAre(0.5f, -1.0f));
  EXPECT_TRUE(keys.texts("nothing").value().empty());
  const auto* begin = reinterpret_cast<const char*>(bytes.data());
  const std::string_view view = keys.texts("texts").value()[2];
  EXPECT_TRUE(view.data() >= begin && view.data() < begin + bytes.size()) << "strings are views into the file";
}

template <class... Parts>
std::vector<std::byte> raw(const Parts&... parts) {
  std::vector<std::byte> out;
  const auto add = [&](const auto& part) {
    const std::size_t at = out.size();
    out.resize(at + sizeof part);
    std::memcpy(out.data() + at, &part, sizeof part);
  };
  (add(parts), ...);
  return out;
}

/// The error of a file whose key "bad" has this type and these bytes, with room for what it might claim.
error refused(std::uint32_t type, const std::vector<std::byte>& value, bool more_follows = true) {
  gguf_writer writer;
  writer.add_raw_key("bad", type, value);
  if (more_follows) writer.add_key("after", std::string(200, 'x'));
  const auto bytes = writer.build();
  auto file = gguf_file::from_memory(bytes);
  return file ? error{} : file.error();
}

TEST(GgufValue, RefusesUnknownTypes) {
  const error unknown = refused(13, raw(std::uint64_t{0}));
  EXPECT_EQ(unknown.code, fault::malformed);
  EXPECT_THAT(unknown.message(), AllOf(HasSubstr("\"bad\""), HasSubstr("unknown value type 13")));
  EXPECT_THAT(refused(9, raw(std::uint32_t{77}, std::uint64_t{1}, 'x')).message(), HasSubstr("unknown value type 77"));
}

TEST(GgufValue, RefusesBoolsThatAreNeither) {
  const error scalar = refused(7, raw(std::uint8_t{2}));
  EXPECT_EQ(scalar.code, fault::malformed);
  EXPECT_THAT(scalar.message(), AllOf(HasSubstr("\"bad\""), HasSubstr("a bool of 2")));
  const error array = refused(9, raw(std::uint32_t{7}, std::uint64_t{2}, std::uint8_t{1}, std::uint8_t{255}));
  EXPECT_THAT(array.message(), HasSubstr("a bool of 255"));
}

TEST(GgufValue, RefusesNestedArrays) {
  const error nested = refused(9, raw(std::uint32_t{9}, std::uint64_t{1}, std::uint32_t{0}, std::uint64_t{0}));
  EXPECT_EQ(nested.code, fault::unsupported);
  EXPECT_THAT(nested.message(), AllOf(HasSubstr("\"bad\""), HasSubstr("array of arrays")));
}

TEST(GgufValue, RefusesLengthsBeyondTheFile) {
  for (const std::uint64_t length : {std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
    const error text = refused(8, raw(length));
    EXPECT_EQ(text.code, fault::malformed);
    EXPECT_THAT(text.message(),
                AllOf(HasSubstr("\"bad\""), HasSubstr("bytes of text"), HasSubstr("more than the whole")));
    for (const std::uint32_t type : {0u, 4u, 6u, 7u, 8u, 10u, 12u}) {
      const error array = refused(9, raw(type, length));
      EXPECT_EQ(array.code, fault::malformed) << type;
      EXPECT_THAT(array.message(), HasSubstr("claims " + std::to_string(length)));
    }
  }
  const error inner = refused(9, raw(std::uint32_t{8}, std::uint64_t{1}, std::uint64_t{1} << 33));
  EXPECT_THAT(inner.message(), HasSubstr("bytes of text"));
}

TEST(GgufValue, RefusesLengthsBeyondTheEnd) {
  const error text = refused(8, raw(std::uint64_t{50}, 'a', 'b'), false);
  EXPECT_EQ(text.code, fault::truncated);
  EXPECT_THAT(text.message(), AllOf(HasSubstr("file ends after"), HasSubstr("inside the metadata key \"bad\"")));
  const error array = refused(9, raw(std::uint32_t{1}, std::uint64_t{50}), false);
  EXPECT_EQ(array.code, fault::truncated);
}

TEST(GgufValue, RefusesHugeArraysThatTheFileCouldHold) {
  const std::uint64_t count = most_array_elements + 1;
  std::vector<std::byte> file_bytes(count + 4096);
  const auto header = raw(std::uint32_t{9}, std::uint32_t{0}, count);
  std::memcpy(file_bytes.data(), header.data(), header.size());
  byte_cursor cursor(file_bytes, "big.gguf");
  const auto value = read_value(cursor, "bad");
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().code, fault::unsupported);
  EXPECT_THAT(value.error().message(), AllOf(HasSubstr("big.gguf"), HasSubstr(std::to_string(count))));
}

}  // namespace
}  // namespace infer::formats
