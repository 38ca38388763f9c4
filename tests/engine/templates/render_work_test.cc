// How much work a conversation is to render: steps and allocations, which no other load on the machine changes.
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
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

// Of the processor, of this thread: what else the machine does is not in it. The least of some tries.
double seconds_of(const chat_template& chat, const boost::json::object& variables) {
  double least = 1e9;
  for (int i = 0; i < 3; ++i) {
    timespec before{}, after{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
    const auto made = chat.render(variables);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
    EXPECT_TRUE(made) << made.error().message();
    least = std::min(least, static_cast<double>(after.tv_sec - before.tv_sec) +
                                static_cast<double>(after.tv_nsec - before.tv_nsec) * 1e-9);
  }
  return least;
}

// Eight times as much may take thrice eight times as long; what is quadratic takes 64 times as long.
template <class Variables>
void expect_linear(const std::string& source, std::size_t size, Variables variables) {
  const auto chat = chat_template::compile(source);
  ASSERT_TRUE(chat) << source;
  const double some = seconds_of(chat.value(), variables(size));
  const double more = seconds_of(chat.value(), variables(8 * size));
  EXPECT_LE(more, 24 * some + 0.001) << source << ": " << some << " s, then " << more << " s";
}

TEST(template_work, a_search_is_linear_whatever_nearly_matches) {
  const auto nearly = [](std::size_t size) {
    const std::string run(size, 'a');
    return boost::json::object{{"all", run}, {"part", run.substr(size / 2) + "b" + run.substr(size * 3 / 4)}};
  };
  for (const char* search :
       {"part in all", "all.find(part)", "all.rfind(part)", "all.count(part)", "all.split(part)", "all.rsplit(part)",
        "all.replace(part, 'x')", "all.partition(part)", "all.rpartition(part)", "all|replace(part, 'x')",
        "('b' * (all|length)).strip(all ~ 'b')"}) {
    expect_linear(std::string("{% set x = ") + search + " %}", 1 << 16, nearly);
  }
  const auto short_part = [&](std::size_t size) {
    auto made = nearly(size);
    made["part"] = std::string(100, 'a') + "b" + std::string(100, 'a');
    return made;
  };
  expect_linear("{% set x = all.find(part) %}", 1 << 16, short_part);
}

TEST(template_work, a_split_from_the_right_is_linear_in_the_words) {
  const auto words = [](std::size_t count) {
    std::string all;
    for (std::size_t i = 0; i < count; ++i) all += "word ";
    return boost::json::object{{"all", all}, {"count", count / 2}};
  };
  expect_linear("{% set x = all.rsplit(none, count) %}", 1 << 12, words);
}

TEST(template_work, a_text_of_many_runs_is_cut_in_linear_time) {
  for (const char* cut : {"ns.out.split(',')", "ns.out.replace(',', ';')", "ns.out|list", "ns.out[::-1]"}) {
    expect_linear(std::string("{% set ns = namespace(out='') %}{% for m in messages %}"
                              "{% set ns.out = ns.out ~ m.role ~ ',' %}{% endfor %}{% set x = ") +
                      cut + " %}",
                  1 << 11, [](std::size_t messages) { return talk_of(static_cast<int>(messages)); });
  }
}

TEST(template_work, each_item_a_list_is_searched_for_is_paid_by_its_size) {
  constexpr std::size_t items = 100, bytes = 1 << 16;
  boost::json::object variables{{"one", std::string(bytes, 'a')}, {"other", std::string(bytes, 'a') + "b"}};
  variables["list"] = boost::json::array(items, boost::json::value(std::string(bytes, 'a')));
  variables["one_list"] = boost::json::array{std::string(bytes, 'a')};
  variables["lists"] = boost::json::array(items, boost::json::value(boost::json::array{std::string(bytes, 'a')}));
  const auto steps_of = [&](const char* source) {
    std::uint64_t steps = 0;
    render_options options;
    options.steps_spent = &steps;
    const auto chat = chat_template::compile(source);
    EXPECT_TRUE(chat.value().render(variables, options)) << source;
    return steps;
  };
  for (const char* search :
       {"{{ list.count(one) }}", "{{ lists.count(one_list) }}", "{% if (list + [other]).index(other) %}{% endif %}"}) {
    EXPECT_GE(steps_of(search), items * bytes / 64) << search;
  }
  EXPECT_LE(steps_of("{{ list.index(one) }}"), 2 * bytes / 64);  // the first one is it
}

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
