// The tree as data, and what is written of it.
// Mirrors: completion.cc, manual.cc
#include "apps/infer_node/command_tree/command_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace infer::apps {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class CommandTree : public testing::Test {
 protected:
  CommandTree() {
    app.set_version_flag("--version", "tool 1.2");
    auto* fly = app.add_subcommand("fly", "go - by 'air'");
    fly->add_option("-m,--model", model, "which")->type_name("MODEL")->required();
    fly->add_option("--models", model, "where")->type_name("DIR");
    fly->add_option("--kind", kind, "[how]: fast")->check(CLI::IsMember({"slow", "fast"}))->capture_default_str();
    fly->add_option("--parallel", count, "-np: at once")->check(CLI::Range(1, 9));
    fly->add_option("--key", keys, "…of many")->envname("TOOL_KEY");
    fly->add_flag("-q", quiet, ".quiet");
    fly->add_option("PLACE", place, "where to");
    auto* shell = app.add_subcommand("shell", "a shell");
    shell->add_option("SHELL", place, "whose")->required()->check(CLI::IsMember({"one", "two"}));
  }

  CLI::App app{"does things", "a-tool"};
  std::string model, kind = "fast", place;
  std::vector<std::string> keys;
  int count = 4;
  bool quiet = false;
};

TEST_F(CommandTree, HasEveryCommandAndOptionInOrder) {
  const command_tree tree = tree_of(app);
  EXPECT_EQ(tree.name, "a-tool");
  EXPECT_EQ(tree.help, "does things");
  EXPECT_EQ(tree.version, "tool 1.2");
  ASSERT_EQ(tree.commands.size(), 2u);
  const command_entry& fly = tree.commands[0];
  EXPECT_EQ(fly.name, "fly");
  ASSERT_EQ(fly.options.size(), 7u) << "help is one";
  EXPECT_THAT(fly.options[0].flags, ElementsAre("-h", "--help"));
  EXPECT_EQ(fly.options[0].kind, value_kind::none);
  EXPECT_THAT(fly.options[1].flags, ElementsAre("-m", "--model"));
  EXPECT_EQ(fly.options[1].kind, value_kind::model);
  EXPECT_TRUE(fly.options[1].required);
  EXPECT_EQ(fly.options[2].kind, value_kind::folder);
  EXPECT_EQ(fly.options[3].kind, value_kind::choice);
  EXPECT_THAT(fly.options[3].choices, testing::UnorderedElementsAre("slow", "fast"));
  EXPECT_EQ(fly.options[3].fallback, "fast");
  EXPECT_THAT(fly.options[4].flags, ElementsAre("-np", "--parallel"));
  EXPECT_EQ(fly.options[4].help, "at once");
  EXPECT_EQ(fly.options[4].kind, value_kind::text);
  EXPECT_TRUE(fly.options[5].repeats);
  EXPECT_EQ(fly.options[5].environment, "TOOL_KEY");
  EXPECT_EQ(fly.options[6].value, "");
  ASSERT_EQ(fly.positionals.size(), 1u);
  EXPECT_EQ(fly.positionals[0].value, "PLACE");
  ASSERT_EQ(tree.commands[1].positionals.size(), 1u);
  EXPECT_EQ(tree.commands[1].positionals[0].kind, value_kind::choice);
}

TEST_F(CommandTree, EveryShellHasAScriptWithEveryFlag) {
  const command_tree tree = tree_of(app);
  EXPECT_THAT(completed_shells(), ElementsAre("bash", "zsh", "fish"));
  for (const std::string& shell : completed_shells()) {
    const std::string script = completion_script(tree, shell);
    for (const char* word : {"fly", "kind", "parallel", "np", "key", "models", "slow", "one", "version"})
      EXPECT_THAT(script, HasSubstr(word)) << shell;
    EXPECT_THAT(script, Not(testing::ContainsRegex("@[a-z]+@"))) << shell << ": a place that nothing was put in";
  }
  EXPECT_EQ(completion_script(tree, "tcsh"), "");
}

TEST_F(CommandTree, TextIsQuotedForEachShell) {
  const command_tree tree = tree_of(app);
  EXPECT_THAT(completion_script(tree, "zsh"), HasSubstr(R"(\[how\]\: fast)"));
  EXPECT_THAT(completion_script(tree, "zsh"), HasSubstr(R"('fly:go - by '\''air'\''')"));
  EXPECT_THAT(completion_script(tree, "fish"), HasSubstr(R"(-d 'go - by \'air\'')"));
}

TEST_F(CommandTree, TheManualIsAsciiAndEscaped) {
  const std::string page = manual_page(tree_of(app));
  for (const char c : page) ASSERT_TRUE(c == '\n' || (c >= ' ' && c < 0x7f)) << static_cast<int>(c);
  EXPECT_THAT(page, HasSubstr("a\\-tool \\- does things\n"));
  EXPECT_THAT(page, HasSubstr(".BR \\-m \", \" \\-\\-model \" \\fIMODEL\\fR\"\nwhich.\nIt must be given.\n"));
  EXPECT_THAT(page, HasSubstr("\\[u2026]of many.\nElse from the environment: TOOL_KEY.\n"));
  EXPECT_THAT(page, HasSubstr("\n\\&.quiet.\n")) << "no line of text is taken for a request";
  EXPECT_THAT(page, HasSubstr("Default: fast.\n"));
  EXPECT_THAT(page, HasSubstr(".SS fly\n"));
  EXPECT_THAT(page, HasSubstr("go \\- by 'air'.\n"));
}

}  // namespace
}  // namespace infer::apps
