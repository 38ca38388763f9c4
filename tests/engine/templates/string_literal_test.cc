// Tests of: Python's string escapes.
#include "engine/templates/string_literal.h"

#include <gtest/gtest.h>

namespace infer::templates {
namespace {

TEST(string_literal, resolves_escapes) {
  EXPECT_EQ(unescape(R"(a\n\t\\\'\"\x41\u00e9\U0001F600\101\0)"),
            std::string("a\n\t\\'\"A\u00e9\U0001F600") + "A" + '\0');
  EXPECT_EQ(unescape("a\\\nb"), "ab");
}

TEST(string_literal, keeps_what_is_no_escape) {
  EXPECT_EQ(unescape(R"(\d\x4\ud800\)"), R"(\d\x4\ud800\)");
}

}  // namespace
}  // namespace infer::templates
