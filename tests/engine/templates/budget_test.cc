// Tests of: How much a template may do, and what it has done.
#include "engine/templates/budget.h"

#include <gtest/gtest.h>

#include "tests/engine/templates/rendering.h"

namespace infer::templates {
namespace {

render_options small_limits() {
  render_options options;
  options.limits.steps = 300'000;
  options.limits.value_bytes = 8 << 20;
  return options;
}

void expect_limit(const std::string& source, const render_options& options = small_limits()) {
  const auto made = rendered(source, {}, options);
  ASSERT_FALSE(made) << source.substr(0, 80);
  EXPECT_EQ(made.error().code, fault::limit) << source.substr(0, 80) << ": " << made.error().message();
}

TEST(budget, steps_are_counted) {
  budget spent({.steps = 10});
  EXPECT_TRUE(spent.spend(10));
  EXPECT_EQ(spent.spend(1).error().code(), fault::limit);
}

TEST(budget, a_large_value_is_refused) {
  budget spent({.value_bytes = 100});
  EXPECT_TRUE(spent.spend_bytes(100));
  EXPECT_FALSE(spent.spend_bytes(101));
  EXPECT_FALSE(spent.accept(value::data(std::string(200, 'x'))));
}

TEST(budget, endless_recursion_ends) {
  expect_limit("{% macro f(n) %}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}");
  expect_limit("{% macro f() %}{% for x in [1] %}{% if true %}{{ f() }}{% endif %}{% endfor %}{% endmacro %}{{ f() }}");
  expect_limit("{% macro f(x=f()) %}{% endmacro %}{{ f() }}");
}

TEST(budget, huge_ranges_and_long_loops_end) {
  expect_limit("{{ range(10000000)|length }}");
  expect_limit("{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}");
}

TEST(budget, growing_values_end) {
  expect_limit("{{ 'a' * 1000000000000 }}");
  expect_limit("{{ [1] * 1000000000 }}");
  expect_limit("{% set ns = namespace(s='ab') %}{% for i in range(100) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}");
  expect_limit(
      "{% set ns = namespace(s='ab') %}{% for i in range(100) %}{% set ns.s = ns.s.replace('', ns.s) %}{% endfor %}");
  expect_limit(
      "{% set ns = namespace(l=[1]) %}{% for i in range(100) %}{% set ns.l = [ns.l, ns.l] %}{% endfor %}{{ ns.l }}");
  expect_limit("{% set ns = namespace(l=[]) %}{% for i in range(1000) %}{% set ns.l = [ns.l] %}{% endfor %}");
  expect_limit("{{ 'x'|center(100000000000) }}");
  expect_limit("{{ ('a\n' * 100000)|indent(1000) }}");
}

TEST(budget, a_format_ends_before_it_is_as_large_as_it_would_be) {
  // What is wrong at the end of the patterns is not reached.
  expect_limit("{{ ('{0}' * 100 ~ '{9}').format('x' * 1000000) }}");
  expect_limit("{% set s = 'x' * 1000000 %}{{ ('%s' * 10 ~ '%d')|format(s, s, s, s, s, s, s, s, s, s, s) }}");
  expect_limit("{% set s = 'x' * 1000000 %}{{ ('%s' * 10 ~ '%d') % (s, s, s, s, s, s, s, s, s, s, s) }}");
}

TEST(budget, output_ends) {
  render_options options;
  options.limits.output_bytes = 1000;
  expect_limit("{% for x in range(1000) %}abcdefgh{% endfor %}", options);
  EXPECT_TRUE(rendered("{% for x in range(100) %}abcdefgh{% endfor %}", {}, options));
}

TEST(budget, cyclic_namespaces_and_macros_are_freed) {
  const auto made = rendered(
      "{% set a = namespace() %}{% set b = namespace(a=a) %}{% set a.b = b %}{% set a.l = [a, b] %}"
      "{% macro m() %}{% endmacro %}{% set a.m = m %}{{ a.l|length }}");
  ASSERT_TRUE(made);
  EXPECT_EQ(made.value(), "2");
}

TEST(budget, a_hundred_messages_stay_far_below_the_limits) {
  boost::json::array messages;
  for (int i = 0; i < 100; ++i) {
    messages.push_back({{"role", i % 2 != 0 ? "assistant" : "user"}, {"content", std::string(10000, 'x')}});
  }
  render_options options;
  options.limits.steps = 500'000;
  EXPECT_TRUE(rendered("{% for m in messages %}{{ '<' + m.role + '>' + m.content|trim + '\n' }}{% endfor %}",
                       {{"messages", messages}}, options));
}

}  // namespace
}  // namespace infer::templates
