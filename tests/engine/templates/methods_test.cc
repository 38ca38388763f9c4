// Tests of: The methods of strings, dictionaries and lists. None changes its object.
#include "engine/templates/builtins.h"

#include <gtest/gtest.h>

#include "tests/engine/templates/rendering.h"

namespace infer::templates {
namespace {

TEST(template_methods, want_strings) {
  EXPECT_EQ(rendered("{{ 'a'.startswith(1) }}").error().code, fault::evaluation);
  EXPECT_EQ(rendered("{{ 'a'.replace('b') }}").error().code, fault::evaluation);
  EXPECT_EQ(rendered("{{ 'a'.split(none) }}").value(), "['a']");
}

TEST(template_methods, count_in_characters) {
  EXPECT_EQ(rendered("{{ 'é😀x'.find('x') }}{{ 'aXbX'.rfind('X') }}{{ 'éé'.count('') }}").value(), "233");
}

}  // namespace
}  // namespace infer::templates
