// How much work a conversation is to render: steps and allocations, which no other load on the machine changes.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "tests/engine/templates/rendering.h"
#include "tests/support/allocation_count.h"

namespace infer::templates {
namespace {

constexpr const char* folder = "../shared/data/chat-templates";

struct work {
  std::uint64_t steps = 0;
  std::uint64_t allocations = 0;
};

boost::json::object talk_of(int messages) {
  boost::json::array talk;
  for (int i = 0; i < messages; ++i) {
    talk.push_back({{"role", i % 2 == 0 ? "user" : "assistant"},
                    {"content", "Message " + std::to_string(i) + " of a long talk, about as long as people write."}});
  }
  return {{"messages", std::move(talk)}, {"add_generation_prompt", true}, {"bos_token", "<s>"}, {"eos_token", "</s>"}};
}

std::optional<work> work_of(const chat_template& chat, int messages) {
  const auto variables = talk_of(messages);
  work done;
  render_options options;
  options.now = test_clock();
  options.steps_spent = &done.steps;
  const std::uint64_t before = test_support::allocations();
  const auto made = chat.render(variables, options);
  done.allocations = test_support::allocations() - before;
  if (!made) return std::nullopt;
  return done;
}

work work_of(std::string_view source, int messages) {
  return work_of(chat_template::compile(source).value(), messages).value();
}

TEST(template_work, a_plain_template_is_linear_in_the_messages) {
  constexpr std::string_view source =
      "{% for m in messages %}{{ '<|' + m.role + '|>\n' + m['content']|trim + '<|end|>\n' }}"
      "{% if m.role == 'user' and not loop.last %}{% set x = loop.index0 %}{% endif %}{% endfor %}";
  const work some = work_of(source, 100), more = work_of(source, 200);
  EXPECT_LE(more.steps, some.steps * 21 / 10);
  EXPECT_LE(some.steps, 100u * 50);
#if INFER_COUNTS_ALLOCATIONS
  EXPECT_LE(more.allocations, some.allocations * 21 / 10);
  EXPECT_LE(some.allocations, 100u * 16);
#endif
}

TEST(template_work, a_text_that_grows_message_by_message_is_not_copied_each_time) {
  for (const char* grow :
       {"{% set ns.out = ns.out ~ '<' ~ m.role ~ '>' ~ m.content %}", "{% set ns.out = ns.out + m.content %}"}) {
    const std::string source =
        std::string("{% set ns = namespace(out='') %}{% for m in messages %}") + grow + "{% endfor %}{{ ns.out }}";
    const work some = work_of(source, 1000), more = work_of(source, 2000);
    EXPECT_LE(more.steps, some.steps * 21 / 10) << grow;  // each step pays for 64 bytes that are copied
  }
}

#if INFER_COUNTS_ALLOCATIONS
TEST(template_work, a_round_of_a_loop_that_only_looks_allocates_nothing) {
  constexpr std::string_view source =
      "{% set ns = namespace(found=false, n=0) %}{% for j in range(count) %}{% if not ns.found %}"
      "{% if messages[j % 2]['role'] == 'tool' or (messages[0].role in ['a', 'b'] and loop.first) %}"
      "{% set ns.found = true %}{% endif %}{% set ns.n = j %}{% endif %}{% endfor %}{{ ns.n }}";
  const auto chat = chat_template::compile(source).value();
  auto variables = talk_of(2);
  const auto allocations = [&](int rounds) {
    variables["count"] = rounds;
    const std::uint64_t before = test_support::allocations();
    EXPECT_EQ(joined(chat.render(variables).value()), std::to_string(rounds - 1));
    return test_support::allocations() - before;
  };
  const std::uint64_t few = allocations(16), many = allocations(16384);
  EXPECT_LE(many - few, 16u);  // the list of numbers grows
}
#endif

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// Bounds a tenth above what the templates take; the largest looks from each message at all before it.
TEST(template_work, no_template_of_the_corpus_takes_more_than_it_did) {
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is absent: real templates are not counted";
  work most, all;
  int rendered_templates = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".jinja") continue;
    const auto chat = chat_template::compile(read_file(entry.path()));
    ASSERT_TRUE(chat) << entry.path();
    const auto done = work_of(chat.value(), 100);
    if (!done) continue;  // it refuses this conversation
    ++rendered_templates;
    most = {std::max(most.steps, done->steps), std::max(most.allocations, done->allocations)};
    all = {all.steps + done->steps, all.allocations + done->allocations};
  }
  std::cout << rendered_templates << " templates, 100 messages: at most " << most.steps << " steps and "
            << most.allocations << " allocations, together " << all.steps << " and " << all.allocations << "\n";
  EXPECT_GE(rendered_templates, 40);
  EXPECT_LE(most.steps, 64'000u);
  EXPECT_LE(all.steps, 395'000u);
#if INFER_COUNTS_ALLOCATIONS
  EXPECT_LE(most.allocations, 4'900u);
  EXPECT_LE(all.allocations, 66'000u);
#endif
}

}  // namespace
}  // namespace infer::templates
