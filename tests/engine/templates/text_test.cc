// Tests of: Provenance-keeping string operations.
#include "engine/templates/text.h"

#include <gtest/gtest.h>

namespace infer::templates {
namespace {

using runs = std::vector<text::run>;

TEST(template_text, joins_runs_of_equal_provenance) {
  text made("ab", true);
  made.append("c", true);
  made.append(text("de", false));
  made.append(made);
  EXPECT_EQ(made.view(), "abcdeabcde");
  EXPECT_EQ(made.runs(), (runs{{3, true}, {2, false}, {3, true}, {2, false}}));
}

TEST(template_text, slices_keep_provenance) {
  text made("ab", true);
  made.append("cd", false);
  EXPECT_EQ(made.slice(1, 3).runs(), (runs{{1, true}, {1, false}}));
  EXPECT_EQ(made.slice(2, 2).runs(), runs{});
  EXPECT_EQ(made.slice(0, 4).view(), "abcd");
}

TEST(template_text, replaces_with_the_provenance_of_the_new_part) {
  const text made = text("a-b-c", false).replace("-", text("+", true), 1);
  EXPECT_EQ(made.view(), "a+b-c");
  EXPECT_EQ(made.runs(), (runs{{1, false}, {1, true}, {3, false}}));
  EXPECT_EQ(text("\u00e9x", false).replace("", text("_", true), -1).view(), "_\u00e9_x_");
  EXPECT_EQ(text("", false).replace("", text("_", true), -1).view(), "_");
}

}  // namespace
}  // namespace infer::templates
