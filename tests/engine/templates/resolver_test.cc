// Tests of: One pass over the tree with the scopes that enclose each place.
#include "engine/templates/resolver.h"

#include <gtest/gtest.h>

#include "engine/templates/parser.h"

namespace infer::templates {
namespace {

program resolved(std::string_view source) {
  return resolve(parse(source).value());
}

TEST(template_resolver, names_get_places_from_the_inside_out) {
  const auto made = resolved("{% set x = 1 %}{% for y in z %}{% set x = y %}{{ x }}{% endfor %}");
  EXPECT_EQ(made.slots, 1u);
  EXPECT_EQ(made.variables, (std::vector<std::string>{"z", "y", "x"}));
  const statement& loop = *made.body[1];
  EXPECT_EQ(loop.slots.count, 3u);  // y, loop, x
  EXPECT_EQ(loop.slots.loop, no_slot);
  const auto& places = loop.body[1]->what->resolved.name->places;
  ASSERT_EQ(places.size(), 2u);
  EXPECT_EQ(places[0].scopes_out, 0u);
  EXPECT_EQ(places[0].slot, loop.body[0]->target->resolved.slot);
  EXPECT_EQ(places[1].scopes_out, 1u);
  EXPECT_EQ(places[1].slot, 0u);
}

TEST(template_resolver, all_uses_of_a_name_in_a_scope_share_where_it_is) {
  const auto made = resolved("{{ x }}{{ x }}{% with %}{{ x }}{% endwith %}");
  EXPECT_EQ(made.body[0]->what->resolved.name, made.body[1]->what->resolved.name);
  EXPECT_NE(made.body[0]->what->resolved.name, made.body[2]->body[0]->what->resolved.name);
}

TEST(template_resolver, only_a_loop_that_is_asked_keeps_its_state) {
  EXPECT_NE(resolved("{% for x in y %}{% if loop.last %}{% endif %}{% endfor %}").body[0]->slots.loop, no_slot);
  const auto nested = resolved("{% for x in y %}{% for z in x %}{{ loop.index }}{% endfor %}{% endfor %}");
  EXPECT_EQ(nested.body[0]->slots.loop, no_slot);
  EXPECT_NE(nested.body[0]->body[0]->slots.loop, no_slot);
}

TEST(template_resolver, constants_in_lists_and_arguments_are_ready) {
  const auto made = resolved("{{ x in ['a', ('b', 1)] }}{{ x|default('c') }}{{ x.split(y) }}");
  EXPECT_EQ(made.body[0]->what->children[1]->kind, expr_kind::constant);
  EXPECT_NE(made.body[1]->what->resolved.filter, nullptr);
  EXPECT_NE(made.body[1]->what->resolved.arguments, nullptr);
  EXPECT_EQ(made.body[2]->what->resolved.arguments, nullptr);
}

TEST(template_resolver, names_in_every_branch_of_a_chain_are_the_scopes) {
  const auto made = resolved(
      "{% if a %}{% set x = 1 %}{% elif b %}{% set y = 2 %}{% elif c %}{{ x }}{% else %}"
      "{% set z = y %}{% endif %}{{ z }}");
  EXPECT_EQ(made.slots, 3u);
  EXPECT_EQ(made.variables, (std::vector<std::string>{"a", "b", "c", "x", "y", "z"}));
  const statement& last = *made.body[0]->otherwise[0]->otherwise[0];
  EXPECT_EQ(last.body[0]->what->resolved.name->places.size(), 1u);
  EXPECT_NE(last.otherwise[0]->target->resolved.slot, no_slot);
}

TEST(template_resolver, finds_texts_that_grow) {
  const auto made = resolved(
      "{% set a = a ~ 1 %}{% set n.a = n.a + b %}{% set a = b ~ a %}{% set n.a = m.a ~ 1 %}{% set a = a - 1 %}");
  const std::vector<bool> appends = {true, true, false, false, false};
  for (std::size_t i = 0; i < appends.size(); ++i) EXPECT_EQ(made.body[i]->appends, appends[i]) << i;
}

}  // namespace
}  // namespace infer::templates
