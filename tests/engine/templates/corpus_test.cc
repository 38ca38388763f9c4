// Real models' templates against the renderings of jinja2. The corpus lies beside the repository.
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "engine/templates/chat_prompt.h"
#include "tests/engine/templates/rendering.h"

namespace infer::templates {
namespace {

constexpr const char* folder = "../shared/data/chat-templates";
constexpr int cases_reached = 252;  // of 252; never lower it

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST(template_corpus, renders_as_the_reference) {
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is absent: 252 golden cases are not checked";
  std::ifstream lines(std::filesystem::path(folder) / "cases.jsonl");
  int equal = 0, total = 0;
  std::string report;
  render_options options;
  options.now = test_clock();
  options.now.tm_year = 126;  // the corpus was rendered on 29 November 2026, a Sunday
  options.now.tm_mon = 10;
  options.now.tm_mday = 29;
  options.now.tm_wday = 0;
  for (std::string line; std::getline(lines, line); ++total) {
    const auto row = boost::json::parse(line).as_object();
    const std::string name(row.at("template").as_string());
    const auto compiled = chat_template::compile(read_file(std::filesystem::path(folder) / (name + ".jinja")));
    const auto made = compiled ? compiled.value().render(row.at("context").as_object(), options)
                               : result<std::vector<rendered_span>>(fail(compiled.error()));
    const std::string label = name + " " + std::string(row.at("case").as_string());
    if (row.at("expected").is_null()) {
      const bool refused = !made && made.error().code != fault::limit && made.error().code != fault::syntax;
      equal += refused;
      if (!refused)
        report += label + ": must fail: " + std::string(row.at("error").as_string()) +
                  (made ? "" : ", not " + made.error().message()) + "\n";
      continue;
    }
    const bool same = made && joined(made.value()) == row.at("expected").as_string();
    equal += same;
    if (!same) report += label + ": " + (made ? "differs:\n" + joined(made.value()) : made.error().message()) + "\n";
  }
  std::cout << equal << " of " << total << " corpus cases equal\n";
  EXPECT_GE(equal, cases_reached) << report;
}

/// The prompt whose last message is to be continued; empty where it cannot be.
std::string continued(const chat_template& chat, const std::string& content) {
  chat_input input;
  input.turns = {{"user", "What now?", {}}, {"assistant", content, {}}};
  input.continue_last = true;
  input.bos_token = "<s>";
  input.eos_token = "</s>";
  const auto made = render_chat(chat, input, probe(chat));
  return made ? joined(made.value()) : "";
}

/// transformers takes all white space off the end of a prompt that ends in a trimmed message, the template's own, too.
bool same_end(std::string prompt, std::string end, bool blank) {
  if (blank) {
    prompt.resize(prompt.find_last_not_of(" \n") + 1);
    end.resize(end.find_last_not_of(" \n") + 1);
  }
  return prompt.ends_with(end);
}

TEST(template_corpus, messages_are_continued_where_the_reference_does) {
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is absent: 462 golden cases are not checked";
  std::ifstream lines("tests/golden/templates/continuation.jsonl");
  int total = 0;
  for (std::string line; std::getline(lines, line); ++total) {
    const auto row = boost::json::parse(line).as_object();
    const std::string name(row.at("template").as_string()), content(row.at("content").as_string());
    const auto compiled = chat_template::compile(read_file(std::filesystem::path(folder) / name));
    ASSERT_TRUE(compiled) << name;
    const std::string prompt = continued(compiled.value(), content);
    const bool blank = content.find_first_not_of(" \n") == std::string::npos;
    if (row.contains("fails"))
      EXPECT_EQ(prompt, "") << line;
    else
      EXPECT_TRUE(same_end(prompt, std::string(row.at("end").as_string()), blank)) << line << "\n" << prompt;
  }
  EXPECT_EQ(total, 462);
}

}  // namespace
}  // namespace infer::templates
