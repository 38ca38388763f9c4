// Checked steps through bytes.
#include "engine/formats/byte_cursor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/gguf_writer.h"

namespace infer::formats {
namespace {

using namespace std::string_view_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(ByteCursor, StepsAndStopsAtTheEnd) {
  byte_cursor cursor(test_support::bytes_of("\x02\x01\x03\0\0\0\0\0\0\0abcd"sv), "f");
  EXPECT_EQ(cursor.number<std::uint16_t>({"a number"}).value(), 0x0102);
  EXPECT_EQ(cursor.string({"a text"}).value(), "abc");
  EXPECT_EQ(cursor.position(), 13u);
  EXPECT_EQ(cursor.remaining(), 1u);
  const auto beyond = cursor.number<std::uint16_t>({"the thing", "x"});
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().code, fault::truncated);
  EXPECT_EQ(beyond.error().message(), "f: the file ends after 14 bytes, inside the thing \"x\"; download it again");
  EXPECT_EQ(cursor.position(), 13u) << "a refused step does not move";
}

TEST(ByteCursor, TellsImpossibleFromCutOff) {
  const byte_cursor cursor(test_support::bytes_of("0123456789"sv), "f");
  EXPECT_TRUE(cursor.fits(5, 2, "pairs", {"it"}));
  const auto impossible = cursor.fits(6, 2, "pairs", {"it"});
  ASSERT_FALSE(impossible);
  EXPECT_EQ(impossible.error().code, fault::malformed);
  EXPECT_THAT(impossible.error().message(), AllOf(HasSubstr("it claims 6 pairs"), HasSubstr("file of 10 bytes")));
  byte_cursor further = cursor;
  ASSERT_TRUE(further.number<std::uint64_t>({"it"}));
  const auto cut = further.fits(2, 2, "pairs", {"it"});
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().code, fault::truncated);
}

}  // namespace
}  // namespace infer::formats
