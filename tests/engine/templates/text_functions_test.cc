// Tests of: Stripping, splitting, joining and replacing.
#include "engine/templates/text_functions.h"

#include <gtest/gtest.h>

namespace infer::templates {
namespace {

std::string joined(const std::vector<text>& parts) {
  std::string all;
  for (const text& part : parts) all.append("[").append(part.view()).append("]");
  return all;
}

std::string cut(const char* of, const char* separator, std::int64_t count, bool from_right) {
  budget spent(render_limits{});
  const text by(separator == nullptr ? "" : separator, true);
  return joined(split(spent, text(of, false), separator == nullptr ? nullptr : &by, count, from_right).value());
}

TEST(text_functions, splits_as_python) {
  EXPECT_EQ(cut(" a b  c ", nullptr, -1, false), "[a][b][c]");
  EXPECT_EQ(cut(" a b  c ", nullptr, 1, false), "[a][b  c ]");
  EXPECT_EQ(cut(" a b  c ", nullptr, 1, true), "[ a b][c]");
  EXPECT_EQ(cut("a--b--", "--", -1, false), "[a][b][]");
  EXPECT_EQ(cut("aaa", "aa", -1, true), "[a][]");
  EXPECT_EQ(cut("aaa", "aa", -1, false), "[][a]");
}

TEST(text_functions, splits_lines_at_every_ending) {
  EXPECT_EQ(joined(split_lines(text("a\r\nb\rc\n\n", false), false)), "[a][b][c][]");
  EXPECT_EQ(joined(split_lines(text("a\r\nb", false), true)), "[a\r\n][b]");
}

TEST(text_functions, escapes_once) {
  budget spent(render_limits{});
  const text once = escaped(spent, text("<&>", false)).value();
  EXPECT_EQ(once.view(), "&lt;&amp;&gt;");
  EXPECT_EQ(escaped(spent, once).value().view(), once.view());
}

TEST(text_functions, formats_fields) {
  budget spent(render_limits{});
  const text pattern("{}-{0}-{x.0}-{{}}", true);
  EXPECT_EQ(format(spent, pattern, {value::data("a")}, {{"x", value::list({value::data("b")})}}).value().view(),
            "a-a-b-{}");
  EXPECT_FALSE(format(spent, text("{}", true), {}, {}));
  EXPECT_FALSE(format(spent, text("{", true), {}, {}));
  EXPECT_FALSE(format(spent, text("}", true), {}, {}));
  EXPECT_FALSE(format(spent, text("{:>10}", true), {value(true)}, {}));
}

}  // namespace
}  // namespace infer::templates
