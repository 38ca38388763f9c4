// Tests of: Truth, equality, order and arithmetic.
#include "engine/templates/operations.h"

#include <gtest/gtest.h>

namespace infer::templates {
namespace {

budget plenty() {
  return budget(render_limits{});
}
value number(std::int64_t n) {
  return value(n);
}

TEST(template_operations, integers_floor_and_overflow_as_errors) {
  auto spent = plenty();
  EXPECT_EQ(arithmetic("//", number(-7), number(2), spent).value().as_integer(), -4);
  EXPECT_EQ(arithmetic("%", number(-7), number(3), spent).value().as_integer(), 2);
  EXPECT_EQ(arithmetic("%", number(INT64_MIN), number(-1), spent).value().as_integer(), 0);
  EXPECT_FALSE(arithmetic("//", number(INT64_MIN), number(-1), spent));
  EXPECT_FALSE(arithmetic("+", number(INT64_MAX), number(1), spent));
  EXPECT_FALSE(arithmetic("**", number(10), number(40), spent));
  EXPECT_FALSE(negated(number(INT64_MIN)));
}

TEST(template_operations, compares_as_python) {
  EXPECT_TRUE(equal(number(1), value(1.0)));
  EXPECT_TRUE(equal(number(1), value(true)));
  EXPECT_FALSE(equal(number(1), value::data("1")));
  EXPECT_FALSE(equal(value::list({}), value::tuple({})));
  EXPECT_TRUE(compare("in", value::data("b"), value::data("abc")).value());
  EXPECT_FALSE(compare("<", number(1), value::data("a")));
}

TEST(template_operations, knows_truth) {
  EXPECT_FALSE(is_true(value()));
  EXPECT_FALSE(is_true(value(0.0)));
  EXPECT_FALSE(is_true(value::list({})));
  EXPECT_TRUE(is_true(value::generator({})));
  EXPECT_TRUE(is_true(value::data(" ")));
}

}  // namespace
}  // namespace infer::templates
