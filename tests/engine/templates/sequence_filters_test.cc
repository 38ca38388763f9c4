// Tests of: Filters over lists, dictionaries and whatever is iterable.
#include "engine/templates/builtins.h"

#include <gtest/gtest.h>

#include "tests/engine/templates/rendering.h"

namespace infer::templates {
namespace {

TEST(sequence_filters, sorting_is_stable_and_may_fail) {
  EXPECT_EQ(rendered("{{ ['b', 'A', 'B', 'a']|sort }}").value(), "['A', 'a', 'b', 'B']");
  EXPECT_EQ(rendered("{{ [1, none]|sort }}").error().code, fault::evaluation);
}

TEST(sequence_filters, map_and_select_take_names) {
  EXPECT_EQ(rendered("{{ [1, 2]|map('nonsense')|list }}").error().code, fault::evaluation);
  EXPECT_EQ(rendered("{{ [1, 2]|select(3)|list }}").error().code, fault::evaluation);
  EXPECT_EQ(rendered("{{ [{'a': {'b': [5]}}]|map(attribute='a.b.0')|list }}").value(), "[5]");
}

}  // namespace
}  // namespace infer::templates
