// JSON in and out: limits, surrogates, numbers, places of errors.
#include "protocol/http/json_text.h"

#include <gtest/gtest.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <limits>

namespace infer::http {
namespace {

std::string again(std::string text) {
  const auto value = parse_json(std::move(text));
  return value.has_value() ? write_json(value.value()) : "error: " + value.error().message;
}

std::string why(std::string text) {
  const auto value = parse_json(std::move(text));
  if (value.has_value()) return "no error";
  EXPECT_EQ(value.error().status, 400);
  EXPECT_EQ(value.error().code, "invalid_json");
  return value.error().message;
}

TEST(JsonText, KeepsNumbersAsTheyWereMeant) {
  EXPECT_EQ(again("[1.0, 1, -0.0, 0.1, 1e2, 1e30, 18446744073709551615]"),
            "[1.0,1,-0.0,0.1,100.0,1e+30,18446744073709551615]");
  EXPECT_EQ(again("18446744073709551616"), "18446744073709551616.0");
  EXPECT_EQ(again("[22.449822424817246,-0.30000000000000004]"), "[22.449822424817246,-0.30000000000000004]");
}

TEST(JsonText, WritesNoInfinityAndNoNan) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(write_json(boost::json::value(infinity)), "1.7976931348623157e+308");
  EXPECT_EQ(write_json(boost::json::value(-infinity)), "-1.7976931348623157e+308");
  EXPECT_EQ(write_json(boost::json::value(std::numeric_limits<double>::quiet_NaN())), "null");
  EXPECT_EQ(again("1e400").find("inf"), std::string::npos);
}

TEST(JsonText, SkipsAByteOrderMark) {
  EXPECT_EQ(again("\xEF\xBB\xBF{\"a\":1}"), "{\"a\":1}");
}

TEST(JsonText, ReplacesLoneSurrogates) {
  EXPECT_EQ(again(R"(["\ud83d", "x\uDE00y", "\ud83d\ud83d\ude00"])"),
            "[\"\xEF\xBF\xBD\",\"x\xEF\xBF\xBDy\",\"\xEF\xBF\xBD\xF0\x9F\x98\x80\"]");
  EXPECT_EQ(again(R"(["\\ud83d"])"), R"(["\\ud83d"])") << "an escaped backslash starts no escape";
}

TEST(JsonText, LastOfEqualKeysWinsAndOrderStays) {
  EXPECT_EQ(again(R"({"z":1,"a":2,"z":3})"), R"({"z":3,"a":2})");
}

TEST(JsonText, LimitsDepthBeforeParsing) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_EQ(again(nested(json_depth_limit)), nested(json_depth_limit));
  EXPECT_NE(why(nested(json_depth_limit + 1)).find("nested deeper than 256 levels at byte 256"), std::string::npos);
  EXPECT_NE(why(std::string(5000, '[')).find("nested deeper"), std::string::npos);
  EXPECT_EQ(again("\"" + std::string(5000, '[') + "\"").size(), 5002u) << "brackets in strings do not count";
}

TEST(JsonText, NamesThePlaceOfAnError) {
  EXPECT_NE(why("{\"a\":\n  nope}").find("at byte 8 (line 2, column 3)"), std::string::npos) << why("{\"a\":\n  nope}");
  EXPECT_NE(why("{\"a\":1} x").find("text after the value at byte 8"), std::string::npos) << why("{\"a\":1} x");
  EXPECT_NE(why("").find("it is empty"), std::string::npos);
  EXPECT_NE(why(" \n").find("it is empty"), std::string::npos);
  EXPECT_NE(why("{\"a\":").find("at byte 5"), std::string::npos) << why("{\"a\":");
  EXPECT_NE(why("{\"a\":1,}"), "no error");
  EXPECT_NE(why("\"\x01\""), "no error");
  EXPECT_NE(why("\"\\u12g4\""), "no error");
}

TEST(JsonText, RefusesWhatIsNotUtf8) {
  EXPECT_NE(why("\"\xff\""), "no error");
  EXPECT_NE(why("\"\xc0\xaf\""), "no error");
  EXPECT_NE(why("\"\xed\xa0\xbd\""), "no error");
}

TEST(JsonText, AlwaysWritesValidUtf8OnOneLine) {
  std::string out;
  append_quoted(out, "a\xff\n\"\\\x01\xE2\x80\xA8\xE2\x80\xA9\xED\xA0\xBD\xF0\x9F\x98\x80");
  EXPECT_EQ(out,
            "\"a\xEF\xBF\xBD\\n\\\"\\\\\\u0001\\u2028\\u2029\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xF0\x9F\x98\x80\"");
  EXPECT_EQ(to_valid_utf8("\xE2\x82"), "\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(JsonText, PassesEscapedNulAndBareNumbers) {
  EXPECT_EQ(again("\"\\u0000\""), "\"\\u0000\"");
  EXPECT_EQ(again(" 42 "), "42");
}

}  // namespace
}  // namespace infer::http
