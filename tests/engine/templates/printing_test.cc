// Tests of: Python-like printing and JSON.
#include "engine/templates/printing.h"

#include <gtest/gtest.h>

#include <limits>

namespace infer::templates {
namespace {

TEST(template_printing, floats_look_as_in_python) {
  EXPECT_EQ(float_repr(1.0), "1.0");
  EXPECT_EQ(float_repr(0.1), "0.1");
  EXPECT_EQ(float_repr(-0.0), "-0.0");
  EXPECT_EQ(float_repr(1e15), "1000000000000000.0");
  EXPECT_EQ(float_repr(1e16), "1e+16");
  EXPECT_EQ(float_repr(1.5e-5), "1.5e-05");
  EXPECT_EQ(float_repr(0.0001), "0.0001");
  EXPECT_EQ(float_repr(5e-324), "5e-324");
  EXPECT_EQ(float_repr(std::numeric_limits<double>::infinity()), "inf");
}

TEST(template_printing, repr_chooses_quotes_and_escapes) {
  EXPECT_EQ(to_repr(value::data("a'b")), "\"a'b\"");
  EXPECT_EQ(to_repr(value::data("a'\"b\n")), R"('a\'"b\n')");
  EXPECT_EQ(to_repr(value::data("\x01\u200b")), R"('\x01\u200b')");
  EXPECT_EQ(to_repr(value::tuple({value(true)})), "(True,)");
}

TEST(template_printing, json_has_styles) {
  const value list = value::list({value(std::int64_t{1}), value::data("\u00e9\U0001F600"), value::list({})});
  EXPECT_EQ(to_json(list).value(), "[1, \"\u00e9\U0001F600\", []]");
  EXPECT_EQ(to_json(list, {.ensure_ascii = true}).value(), R"([1, "\u00e9\ud83d\ude00", []])");
  EXPECT_EQ(to_json(list, {.indent = 1, .item_separator = ","}).value(), "[\n 1,\n \"\u00e9\U0001F600\",\n []\n]");
  EXPECT_EQ(to_json(value()).error().code(), fault::evaluation);
}

}  // namespace
}  // namespace infer::templates
