// Tests of: Boost.JSON's grammar with a handler that reads the text of doubles once more.
#include "engine/json/read.h"

#include <gtest/gtest.h>

#include <bit>
#include <boost/json/parse.hpp>
#include <boost/json/parser.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>

namespace infer {
namespace {

namespace json = boost::json;

std::uint64_t bits(double number) {
  return std::bit_cast<std::uint64_t>(number);
}

double number_of(const std::string& text) {
  json::error_code code;
  const json::value made = read_json(text, code);
  EXPECT_FALSE(code) << text;
  return made.is_double() ? made.get_double() : std::nan("");
}

std::string shortest(double number) {
  char room[40];
  std::string text(room, std::to_chars(room, room + sizeof room, number).ptr);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

TEST(json_read, gives_every_double_its_text_stands_for) {
  std::mt19937_64 random(20240726);
  int wrong_in_boost = 0;
  for (int i = 0; i < 20000; ++i) {
    double number = std::bit_cast<double>(random());
    if (i % 2 == 0) number = std::ldexp(static_cast<double>(random() >> 11), static_cast<int>(random() % 80) - 80);
    if (!std::isfinite(number)) continue;
    const std::string text = shortest(number);
    ASSERT_EQ(bits(number_of(text)), bits(std::strtod(text.c_str(), nullptr))) << text;
    ASSERT_EQ(bits(number_of(text)), bits(number)) << text;
    wrong_in_boost += json::parse(text).as_double() != number;
  }
  EXPECT_GT(wrong_in_boost, 100) << "Boost.JSON reads doubles well now; this reader can go";
}

TEST(json_read, reads_long_and_odd_numbers) {
  for (const char* text :
       {"22.449822424817246", "-22.449822424817246", "1E5", "1e+5", "-0.0", "0e7", "1.5E-3",
        "123456789012345678901234567890", "0.1000000000000000055511151231257827021181583404541015625",
        "2.2250738585072011e-308", "5e-324", "1.7976931348623157e308", "9007199254740993.0", "18446744073709551616",
        "-9223372036854775809"}) {
    EXPECT_EQ(bits(number_of(text)), bits(std::strtod(text, nullptr))) << text;
    json::error_code code;
    const json::value inside = read_json(std::string(" [0, ") + text + ",1]", code);
    EXPECT_EQ(bits(inside.at(1).as_double()), bits(std::strtod(text, nullptr))) << text;
  }
}

TEST(json_read, keeps_whole_numbers_whole_and_the_rest_of_boost) {
  for (const std::string text :
       {"9223372036854775807", "-9223372036854775808", "18446744073709551615", "0", "-0", "1e400", "-1e400", "1e-400",
        "18446744073709551616", R"({"a": [1, 2.5, null, true, "x\u00e9\ud83d\ude00"], "b": {}, "a": 1})", "\t[ ] \n"}) {
    json::error_code code;
    const json::value made = read_json(text, code);
    const json::value expected = json::parse(text);
    EXPECT_FALSE(code) << text;
    EXPECT_EQ(made.kind(), expected.kind()) << text;
    EXPECT_EQ(json::serialize(made), json::serialize(expected)) << text;
  }
}

TEST(json_read, fails_where_and_as_boost_does) {
  for (const std::string text :
       {"", " ", "{", "[1,]", "{\"a\" 1}", "nul", "\"\x01\"", "\"\xff\"", "\"a", "01", "1.", "1e", "1e99999999999",
        "[1] x", "-", "\"\\ud800\"", "[[[[1]]]]", "{\"a\":[1.5,2.5e]}"}) {
    json::parse_options options;
    options.max_depth = 3;
    json::parser parser({}, options);
    json::error_code expected, code, whole_expected, whole;
    const std::size_t used = parser.write_some(text.data(), text.size(), expected);
    const json_prefix made = read_json_prefix(text, code, 3);
    EXPECT_EQ(code, expected) << text;
    EXPECT_EQ(made.bytes, used) << text;
    json::parse(text, whole_expected, {}, options);
    EXPECT_TRUE(read_json(text, whole, 3).is_null());
    EXPECT_EQ(whole, whole_expected) << text;
    EXPECT_TRUE(whole) << text;
  }
}

TEST(json_read, bounds_the_nesting) {
  const auto nested = [](std::size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); };
  json::error_code code;
  read_json(nested(default_json_depth), code);
  EXPECT_FALSE(code);
  read_json(nested(default_json_depth + 1), code);
  EXPECT_EQ(code, json::error::too_deep);
  code = {};
  read_json(nested(300), code, 300);
  EXPECT_FALSE(code);
}

TEST(json_read, leaves_what_follows_the_value) {
  json::error_code code;
  const json_prefix made = read_json_prefix("[1.5] tail", code);
  EXPECT_FALSE(code);
  EXPECT_EQ(made.bytes, 6u);
  EXPECT_EQ(json::serialize(made.value), "[1.5E0]");
}

}  // namespace
}  // namespace infer
