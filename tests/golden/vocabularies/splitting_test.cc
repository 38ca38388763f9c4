// Every splitting rule against Oniguruma: what it cuts the shared strings into, hashed twenty strings at a time.
#include <gtest/gtest.h>

#include "engine/tokenize/splitting_rules.h"
#include "engine/tokenize/text_pipeline.h"
#include "tests/golden/vocabularies/hashes.h"

namespace infer::tokenize {
namespace {

constexpr std::size_t strings_per_line = 20;

TEST(splitting_golden, every_rule_cuts_where_oniguruma_cuts) {
  std::size_t rules = 0;
  for (const auto& entry : std::filesystem::directory_iterator("tests/golden/splitting")) {
    const std::string name = entry.path().stem().string();
    const auto rule = find_splitting_rule(name);
    ASSERT_TRUE(rule) << name;
    std::vector<text_step> steps;
    for (const std::string_view expression : rule.value()->expressions)
      steps.push_back({.pattern = std::string(expression)});
    const auto pipeline = text_pipeline::make(steps);
    ASSERT_TRUE(pipeline) << pipeline.error().message();
    const auto lines = read_lines(entry.path());
    const auto& strings = shared_strings();
    ASSERT_EQ(lines.size(), (strings.size() + strings_per_line - 1) / strings_per_line);
    for (std::size_t line = 0; line < lines.size(); ++line) {
      std::uint32_t value = 0x811C9DC5;
      for (std::size_t i = line * strings_per_line; i < strings.size() && i < (line + 1) * strings_per_line; ++i) {
        piece_list pieces(strings[i]);
        pipeline.value().run(pieces, true);
        for (std::size_t piece = 0; piece < pieces.size(); ++piece)
          value = fnv_number(static_cast<std::uint32_t>(pieces[piece].size()), value);
      }
      EXPECT_EQ(shown(value), lines[line]) << name << ": strings from " << line * strings_per_line;
    }
    ++rules;
  }
  EXPECT_GE(rules, 15u);
}

}  // namespace
}  // namespace infer::tokenize
