// Tests of: The template module's front door.
#include "engine/templates/chat_template.h"

#include <gtest/gtest.h>

#include "tests/engine/templates/rendering.h"

namespace infer::templates {
namespace {

using boost::json::parse;

boost::json::object variables(std::string_view json) {
  return parse(json).as_object();
}

// The template of SmolLM2-135M-Instruct.
constexpr std::string_view smollm2 =
    "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system\nYou "
    "are a "
    "helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n' }}{% endif %}{{'<|im_start|>' + "
    "message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ "
    "'<|im_start|>assistant\n' }}{% endif %}";

constexpr std::string_view default_system =
    "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n";

struct conversation {
  const char* json;
  std::string expected;
};

TEST(chat_template, smollm2_renders_conversations) {
  const std::string system(default_system);
  const std::vector<conversation> all = {
      {R"({"messages": [], "add_generation_prompt": false})", ""},
      {R"({"messages": [], "add_generation_prompt": true})", "<|im_start|>assistant\n"},
      {R"({"messages": [{"role": "user", "content": "Hi"}], "add_generation_prompt": true})",
       system + "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"},
      {R"({"messages": [{"role": "user", "content": "Hi"}]})", system + "<|im_start|>user\nHi<|im_end|>\n"},
      {R"({"messages": [{"role": "system", "content": "S"}, {"role": "user", "content": "Hi"}]})",
       "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n"},
      {R"({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"},
          {"role": "user", "content": "c"}], "add_generation_prompt": true})",
       system + "<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\nb<|im_end|>\n<|im_start|>user\nc<|im_end|>\n"
                "<|im_start|>assistant\n"},
      {R"({"messages": [{"role": "user", "content": ""}]})", system + "<|im_start|>user\n<|im_end|>\n"},
      {R"({"messages": [{"role": "user", "content": " é😀\n\n"}]})", system + "<|im_start|>user\n é😀\n\n<|im_end|>\n"},
      {R"({"messages": [{"role": "tool", "content": "<|im_end|>"}]})",
       system + "<|im_start|>tool\n<|im_end|><|im_end|>\n"},
      {R"({"messages": [{"role": "user", "content": "{{ x }}{% if %}"}]})",
       system + "<|im_start|>user\n{{ x }}{% if %}<|im_end|>\n"},
  };
  for (const auto& one : all) {
    const auto made = rendered(smollm2, variables(one.json));
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(made.value(), one.expected);
  }
}

TEST(chat_template, smollm2_wants_its_content_as_a_string) {
  const auto made = rendered(smollm2, variables(R"({"messages": [{"role": "user", "content": ["x"]}]})"));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, fault::evaluation);
  EXPECT_NE(made.error().message().find("can only concatenate str"), std::string::npos);
}

TEST(chat_template, says_where_text_came_from) {
  const auto spans = spans_of(smollm2, variables(R"({"messages": [{"role": "user", "content": "<|im_end|>"}]})"));
  ASSERT_TRUE(spans);
  const std::vector<rendered_span> expected = {{std::string(default_system) + "<|im_start|>", true},
                                               {"user", false},
                                               {"\n", true},
                                               {"<|im_end|>", false},
                                               {"<|im_end|>\n", true}};
  EXPECT_EQ(spans.value(), expected);
}

TEST(chat_template, provenance_survives_what_can_keep_it) {
  const auto data = variables(R"({"s": "  <x>  ", "l": ["a", "b"], "bos_token": "<s>", "d": {"k": "v"}})");
  EXPECT_EQ(provenance("a{{ s }}b", data), "[a](  <x>  )[b]");
  EXPECT_EQ(provenance("{{ 'a' ~ s|trim ~ 'b' }}", data), "[a](<x>)[b]");
  EXPECT_EQ(provenance("{{ ('a' + s.strip() + 'b')[1:3] }}", data), "(<x)");
  EXPECT_EQ(provenance("{{ l|join(', ') }}", data), "(a)[, ](b)");
  EXPECT_EQ(provenance("{{ ','.join(l) }}", data), "(a)[,](b)");
  EXPECT_EQ(provenance("{{ 'x-y'.replace('-', s.strip()) }}", data), "[x](<x>)[y]");
  EXPECT_EQ(provenance("{{ s.strip().replace('x', 'y') }}", data), "(<)[y](>)");
  EXPECT_EQ(provenance("{{ ('a' ~ s ~ 'b').split('<') | last }}", data), "(x>  )[b]");
  EXPECT_EQ(provenance("{% set t %}<t>{{ s|trim }}{% endset %}{{ t }}", data), "[<t>](<x>)");
  EXPECT_EQ(provenance("{% macro m(x) %}<m>{{ x }}{% endmacro %}{{ m(l[0]) }}", data), "[<m>](a)");
  EXPECT_EQ(provenance("{{ bos_token }}{{ 'x' * 2 }}", data), "[<s>xx]");
  EXPECT_EQ(provenance("{% for c in 'ab' %}{{ c }}{% endfor %}", data), "[ab]");
  EXPECT_EQ(provenance("{{ '{} {}'.format(l[0], 'z') }}", data), "(a)[ z]");
  EXPECT_EQ(provenance("{{ (s|trim ~ 'é')[::-1] }}", data), "[é](>x<)");
}

TEST(chat_template, what_cannot_keep_it_becomes_data) {
  const auto data = variables(R"({"s": "x", "n": 3})");
  EXPECT_EQ(provenance("{{ 'a'|upper }}", data), "(A)");
  EXPECT_EQ(provenance("{{ '<s>'|tojson }}", data), "(\"<s>\")");
  EXPECT_EQ(provenance("{{ 'a%s' % '<s>' }}", data), "(a<s>)");
  EXPECT_EQ(provenance("{{ n }}{{ 1 }}{{ ['<s>'] }}", data), "(31['<s>'])");
  EXPECT_EQ(provenance("{% for k in {'<s>': 1} %}{{ k|string }}{% endfor %}", data), "[<s>]");
}

TEST(chat_template, only_named_variables_are_trusted) {
  const auto data = variables(R"({"bos_token": "<s>", "other": "<s>", "eos_token": ["<s>"]})");
  EXPECT_EQ(provenance("{{ bos_token }}{{ other }}{{ eos_token[0] }}", data), "[<s>](<s><s>)");
  render_options options;
  options.trusted = {};
  const auto spans = spans_of("{{ bos_token }}", data, options);
  ASSERT_TRUE(spans);
  EXPECT_EQ(spans.value(), (std::vector<rendered_span>{{"<s>", false}}));
}

TEST(chat_template, a_refusal_carries_its_message) {
  const auto made = rendered("{{ raise_exception('no system role') }}");
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, fault::raised);
  EXPECT_EQ(made.error().message(), "no system role");
}

TEST(chat_template, errors_name_the_line) {
  EXPECT_EQ(rendered("a\n\n{{ 1 / 0 }}").error().message(), "line 3: division by zero");
  EXPECT_EQ(rendered("a\n{% if x %}\n").error().message(),
            "line 2: expected '{% endif %}', found the end of the template");
  EXPECT_EQ(rendered("{{ 1 + }}").error().message(), "line 1: expected an expression, found '}}'");
}

TEST(chat_template, renders_the_same_again_and_elsewhere) {
  auto compiled =
      chat_template::compile("{% set ns = namespace(n=0) %}{% set ns.n = ns.n + 1 %}{{ ns.n }}{{ x }}").value();
  EXPECT_EQ(joined(compiled.render(variables(R"({"x": 1})")).value()), "11");
  const chat_template moved = std::move(compiled);
  EXPECT_EQ(joined(moved.render(variables(R"({"x": 2})")).value()), "12");
}

TEST(chat_template, keeps_the_order_of_keys) {
  EXPECT_EQ(rendered("{{ d|tojson }}", variables(R"({"d": {"z": 1, "a": 2.0, "m": {"y": null, "b": true}}})")).value(),
            R"({"z": 1, "a": 2.0, "m": {"y": null, "b": true}})");
}

}  // namespace
}  // namespace infer::templates
