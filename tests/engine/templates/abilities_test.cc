// What probing finds out of templates, small ones and real ones, and that a shaped conversation is rendered by all.
// Mirrors: shaping.cc
#include "engine/templates/abilities.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "engine/templates/chat_prompt.h"
#include "tests/engine/templates/rendering.h"

namespace infer::templates {
namespace {

template_abilities abilities_of(std::string_view source) {
  const auto chat = chat_template::compile(source);
  EXPECT_TRUE(chat);
  return probe(chat.value());
}

constexpr const char* plain = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}";

TEST(probe, finds_roles_and_turns) {
  const auto can = abilities_of(plain);
  EXPECT_TRUE(can.text_content && can.system_role && can.late_system && can.same_role_turns && can.tool_role);
  EXPECT_FALSE(can.tool_calls);
  const auto strict = abilities_of(
      "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no') }}{% endif %}"
      "{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('turns') }}{% endif %}"
      "{{ m.content }}{% endfor %}");
  EXPECT_FALSE(strict.system_role || strict.late_system || strict.same_role_turns || strict.tool_role);
  EXPECT_TRUE(strict.text_content);
  const auto first_only = abilities_of(
      "{% if messages[0].role == 'system' %}{{ messages[0].content }}{% endif %}"
      "{% for m in messages %}{% if m.role != 'system' %}{{ m.content }}{% endif %}{% endfor %}");
  EXPECT_TRUE(first_only.system_role);
  EXPECT_FALSE(first_only.late_system);
  EXPECT_FALSE(abilities_of("{% for m in messages %}{{ m.content[0].text }}{% endfor %}").text_content);
  EXPECT_EQ(abilities_of("nothing of it"), template_abilities{}) << "nothing is changed for what shows nothing";
}

TEST(probe, finds_whether_tools_are_shown) {
  const std::string talk = "{% for m in messages %}{{ m.content }}{% endfor %}";
  EXPECT_FALSE(abilities_of(talk).tools) << "taken and dropped";
  EXPECT_FALSE(abilities_of("{% if tools %}{{ raise_exception('no') }}{% endif %}" + talk).tools);
  EXPECT_TRUE(abilities_of("{{ tools | tojson }}" + talk).tools);
  EXPECT_TRUE(abilities_of("{% for t in tools %}{{ t.function.name }}{% endfor %}" + talk).tools);
}

TEST(probe, finds_the_form_of_calls) {
  const auto with = [](const std::string& arguments) {
    return abilities_of("{% for m in messages %}{{ m.content }}{% for c in m.tool_calls %}" + arguments +
                        "{% endfor %}{% endfor %}");
  };
  EXPECT_FALSE(with("{{ c.function.arguments | tojson }}").argument_strings) << "it would be quoted twice";
  EXPECT_TRUE(with("{{ c.function.arguments | tojson }}").argument_objects);
  EXPECT_FALSE(with("{{ c.function.arguments }}").argument_objects) << "Python's notation is no JSON";
  EXPECT_TRUE(with("{{ c.function.arguments }}").argument_strings);
  EXPECT_TRUE(with("{{ c.function.arguments }}").any_call_ids);
  EXPECT_FALSE(
      with("{% if c.id | length != 9 %}{{ raise_exception('id') }}{% endif %}{{ c.function.arguments }}").any_call_ids);
  EXPECT_FALSE(abilities_of("{% for m in messages %}{{ m.content | trim }}{{ m.content + '' }}"
                            "{% for c in m.tool_calls %}{{ c.function.arguments }}{% endfor %}{% endfor %}")
                   .null_content);
}

boost::json::array shaped(const char* messages, const template_abilities& abilities) {
  auto out = boost::json::parse(messages).as_array();
  shape_messages(out, abilities);
  return out;
}

#define EXPECT_SHAPED(messages, abilities, expected) \
  EXPECT_EQ(shaped(messages, abilities), boost::json::parse(expected)) << shaped(messages, abilities)

TEST(shape, changes_nothing_that_need_not_be) {
  const char* talk = R"([{"role":"system","content":"s"},{"role":"user","content":"u"},{"role":"user","content":"v"},
    {"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":"{}"}}]}])";
  EXPECT_SHAPED(talk, template_abilities{}, talk);
  const char* fits =
      R"([{"role":"system","content":"s"},{"role":"user","content":"u"},{"role":"assistant","content":"a"}])";
  EXPECT_SHAPED(fits, (template_abilities{.late_system = false, .same_role_turns = false, .tool_role = false}), fits);
}

TEST(shape, moves_system_texts) {
  const char* talk =
      R"([{"role":"system","content":"s"},{"role":"user","content":"u"},{"role":"system","content":"t"}])";
  EXPECT_SHAPED(talk, (template_abilities{.late_system = false}),
                R"([{"role":"system","content":"s\n\nt"},{"role":"user","content":"u"}])");
  EXPECT_SHAPED(talk, (template_abilities{.system_role = false, .late_system = false}),
                R"([{"role":"user","content":"s\n\nt\n\nu"}])");
  EXPECT_SHAPED(R"([{"role":"system","content":"s"}])", (template_abilities{.system_role = false}),
                R"([{"role":"user","content":"s"}])");
}

TEST(shape, joins_neighbours_but_no_calls) {
  EXPECT_SHAPED(R"([{"role":"user","content":"a"},{"role":"user","content":"b"},{"role":"assistant","content":"c"},
                    {"role":"assistant","content":"d"},{"role":"assistant","content":"","tool_calls":[{"id":"1"}]}])",
                (template_abilities{.same_role_turns = false}),
                R"([{"role":"user","content":"a\n\nb"},{"role":"assistant","content":"c\n\nd"},
                    {"role":"assistant","content":"","tool_calls":[{"id":"1"}]}])");
}

TEST(shape, gives_calls_the_form_that_is_taken) {
  const char* text =
      R"([{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","function":{"name":"f","arguments":"{\"a\":1}"}}]}])";
  const char* object =
      R"([{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","function":{"name":"f","arguments":{"a":1}}}]}])";
  EXPECT_SHAPED(text, (template_abilities{.argument_strings = false}), object);
  EXPECT_SHAPED(object, (template_abilities{.argument_objects = false}), text);
  EXPECT_SHAPED(
      text, (template_abilities{.null_content = false}),
      R"([{"role":"assistant","content":"","tool_calls":[{"id":"call_1","function":{"name":"f","arguments":"{\"a\":1}"}}]}])");
  EXPECT_SHAPED(text, (template_abilities{.tool_calls = false}),
                R"([{"role":"assistant","content":"{\"name\":\"f\",\"arguments\":\"{\\\"a\\\":1}\"}"}])");
  EXPECT_SHAPED(R"([{"role":"tool","tool_call_id":"1","content":"r"}])", (template_abilities{.tool_role = false}),
                R"([{"role":"user","content":"r"}])");
  const auto ids = shaped(R"([{"role":"assistant","content":"","tool_calls":[{"id":"call_1","function":{}}]},
                              {"role":"tool","tool_call_id":"call_1","content":"r"}])",
                          {.any_call_ids = false});
  const auto& id = ids[0].at("tool_calls").at(0).at("id").as_string();
  EXPECT_EQ(id.size(), 9u);
  EXPECT_EQ(id, ids[1].at("tool_call_id").as_string()) << "both ends of a call keep one id";
}

TEST(shape, makes_parts_of_texts) {
  EXPECT_SHAPED(R"([{"role":"user","content":"a"}])", (template_abilities{.text_content = false}),
                R"([{"role":"user","content":[{"type":"text","text":"a"}]}])");
}

constexpr const char* folder = "../shared/data/chat-templates";

std::map<std::string, std::string> corpus() {
  std::map<std::string, std::string> out;
  if (!std::filesystem::exists(folder)) return out;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".jinja") continue;
    std::ifstream in(entry.path(), std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    out[entry.path().stem()] = text.str();
  }
  return out;
}

/// Everything that clients send and some template cannot do.
chat_input hard_talk() {
  chat_input input;
  input.turns = {
      {"system", "Sys1", {}},
      {"user", "Usr1", {}},
      {"user", "Usr2", {}},
      {"assistant", "",
       R"({"role":"assistant","content":null,"tool_calls":[{"id":"call_abc","type":"function","function":{"name":"look","arguments":"{\"place\": \"Arg1\"}"}}]})"},
      {"tool", "Res1", R"({"role":"tool","tool_call_id":"call_abc","name":"look","content":"Res1"})"},
      {"assistant", "Ans1", {}},
      {"system", "Sys2", {}},
      {"user", "Usr3", {}},
  };
  input.tools_json =
      R"([{"type":"function","function":{"name":"look","description":"Dsc1","parameters":{"type":"object","properties":{"place":{"type":"string","description":"p"}},"required":["place"]}}}])";
  return input;
}

TEST(shape, describes_tools_and_calls_with_numbers_as_they_were) {
  boost::json::array messages;
  describe_tools(messages,
                 boost::json::parse(R"([{"name":"f","const":1.0,"least":-0.0,"z":1e-9,"a":9007199254740993}])"));
  const std::string text(messages[0].at("content").as_string());
  EXPECT_TRUE(text.ends_with(R"([{"name":"f","const":1.0,"least":-0.0,"z":1e-09,"a":9007199254740993}])")) << text;
  EXPECT_SHAPED(
      R"([{"role":"assistant","content":null,"tool_calls":[{"function":{"name":"f","arguments":{"a":1.0}}}]}])",
      (template_abilities{.argument_objects = false}),
      R"([{"role":"assistant","content":null,"tool_calls":[{"function":{"name":"f","arguments":"{\"a\":1.0}"}}]}])");
}

TEST(shape, arguments_in_a_string_become_exactly_their_numbers) {
  const auto messages = shaped(
      R"([{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"{\"x\":22.449822424817246}"}}]}])",
      template_abilities{.argument_strings = false});
  EXPECT_EQ(boost::json::value(messages).at_pointer("/0/tool_calls/0/function/arguments/x"), 22.449822424817246);
}

TEST(shape, a_tool_that_the_template_hides_is_described) {
  const std::string talk = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}";
  const auto chat = chat_template::compile(talk);
  chat_input input;
  input.turns = {{"user", "hello", {}}};
  input.tools_json = R"([{"type":"function","function":{"name":"look"}}])";
  const auto spans = render_chat(chat.value(), input, probe(chat.value()));
  ASSERT_TRUE(spans);
  const std::string text = joined(spans.value());
  EXPECT_TRUE(text.starts_with("system: ")) << text;
  EXPECT_NE(text.find(R"("name":"look")"), std::string::npos) << text;
}

TEST(template_corpus, every_real_template_shows_a_shaped_conversation) {
  const auto templates = corpus();
  if (templates.empty()) GTEST_SKIP() << folder << " is absent: 42 real templates are not probed";
  int shown = 0, broken = 0;
  std::string report;
  chat_input plain_talk;
  plain_talk.turns = {{"user", "hello", {}}, {"assistant", "hi", {}}, {"user", "well", {}}};
  for (const auto& [name, source] : templates) {
    const auto chat = chat_template::compile(source);
    ASSERT_TRUE(chat) << name;
    const auto abilities = probe(chat.value());
    if (!render_chat(chat.value(), plain_talk)) {
      ++broken;  // refuses every answer, in jinja2 too
      continue;
    }
    const auto spans = render_chat(chat.value(), hard_talk(), abilities);
    if (!spans) {
      report += name + ": " + spans.error().message() + "\n";
      continue;
    }
    const std::string text = joined(spans.value());
    std::string missing;
    for (const char* part : {"Sys1", "Usr1", "Usr2", "Dsc1", "Arg1", "Res1", "Ans1", "Sys2", "Usr3"}) {
      if (text.find(part) == std::string::npos) missing += std::string(" ") + part;
    }
    if (missing.empty())
      ++shown;
    else
      report += name + " hides" + missing + "\n";
  }
  std::cout << shown << " of " << templates.size() << " templates show all of it\n" << report;
  EXPECT_EQ(static_cast<std::size_t>(shown + broken), templates.size()) << report;
  EXPECT_LE(broken, 1);
}

TEST(template_corpus, probing_changes_nothing_for_what_a_template_can_do) {
  const auto templates = corpus();
  if (templates.empty()) GTEST_SKIP() << folder << " is absent: 42 real templates are not probed";
  chat_input input;
  input.turns = {{"user", "hello", {}}, {"assistant", "hi", {}}, {"user", "well", {}}};
  for (const auto& [name, source] : templates) {
    const auto chat = chat_template::compile(source);
    const auto abilities = probe(chat.value());
    const auto before = render_chat(chat.value(), input), after = render_chat(chat.value(), input, abilities);
    if (before && abilities.text_content) {
      EXPECT_EQ(joined(before.value()), joined(after.value())) << name;
    }
  }
}

}  // namespace
}  // namespace infer::templates
