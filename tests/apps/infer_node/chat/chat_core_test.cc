// Lines, keys and answers in, effects out.
#include "apps/infer_node/chat/chat_core.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace infer::apps {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

effect said(const char* text) {
  return {effect_kind::say, text};
}
effect kept(const char* text) {
  return {effect_kind::remember, text};
}
const effect answer{effect_kind::answer, {}};
const effect leave{effect_kind::leave, {}};

class ChatCore : public testing::Test {
 protected:
  /// Asks and is answered.
  void exchange(const char* prompt, const char* text) {
    core.line(prompt);
    core.answered({text, {}, true});
  }
  std::vector<std::string> roles() const {
    std::vector<std::string> out;
    for (const chat_turn& turn : core.turns()) out.push_back(turn.role);
    return out;
  }

  chat_core core{chat_settings(), ""};
};

TEST_F(ChatCore, ALineIsAPromptAndItsAnswerJoinsTheConversation) {
  EXPECT_THAT(core.line("  hello "), ElementsAre(kept("  hello "), answer));
  EXPECT_THAT(core.answered({"hi", "a greeting", true}), ElementsAre());
  EXPECT_THAT(core.turns(), ElementsAre(chat_turn{"user", "hello", {}}, chat_turn{"assistant", "hi", "a greeting"}));
}

TEST_F(ChatCore, AnEmptyLineIsNothing) {
  EXPECT_THAT(core.line(""), ElementsAre());
  EXPECT_THAT(core.line(" \t"), ElementsAre());
  EXPECT_THAT(core.turns(), ElementsAre());
}

TEST_F(ChatCore, QuotesHoldSeveralLinesAsTheyAre) {
  EXPECT_EQ(core.prompt(), ">>> ");
  EXPECT_THAT(core.line("\"\"\""), ElementsAre());
  EXPECT_EQ(core.prompt(), "... ");
  EXPECT_THAT(core.line("  def f():"), ElementsAre());
  EXPECT_THAT(core.line(""), ElementsAre());
  EXPECT_THAT(core.line("    return \\"), ElementsAre());
  EXPECT_THAT(core.line("\"\"\""), ElementsAre(kept("\"\"\"  def f():\n\n    return \\\"\"\""), answer));
  EXPECT_EQ(core.turns().front().content, "  def f():\n\n    return \\");
  EXPECT_EQ(core.prompt(), ">>> ");
}

TEST_F(ChatCore, QuotesMayOpenAndCloseBesideText) {
  EXPECT_THAT(core.line("\"\"\"one"), ElementsAre());
  EXPECT_THAT(core.line("two\"\"\""), ElementsAre(kept("one\ntwo"), answer));
  EXPECT_EQ(core.turns().front().content, "one\ntwo");
  EXPECT_THAT(core.line("\"\"\"/help\"\"\""), ElementsAre(kept("\"\"\"/help\"\"\""), answer)) << "no command";
}

TEST_F(ChatCore, ABackslashAtTheEndGoesOn) {
  EXPECT_THAT(core.line("one\\"), ElementsAre());
  EXPECT_TRUE(core.collecting());
  EXPECT_THAT(core.line("two"), ElementsAre(kept("one\ntwo"), answer));
  EXPECT_EQ(core.turns().front().content, "one\ntwo");
}

TEST_F(ChatCore, PastedLinesAreOnePrompt) {
  EXPECT_THAT(core.line("one\n/help\nthree"), ElementsAre(kept("one\n/help\nthree"), answer));
  EXPECT_EQ(core.turns().front().content, "one\n/help\nthree");
}

TEST_F(ChatCore, WhatIsRecalledMeansWhatItMeantAtFirst) {
  for (const std::string first :
       {"plain", "two\nlines", "\"\"\"/help\"\"\"", "\"\"\"  def f():\n\n    return \\\"\"\""}) {
    chat_core one{chat_settings(), ""}, two{chat_settings(), ""};
    const effects out = one.line(first);
    ASSERT_EQ(out.size(), 2u) << first;
    EXPECT_EQ(two.line(out.front().text), out);
    EXPECT_EQ(one.turns(), two.turns());
  }
}

TEST_F(ChatCore, CtrlCDropsWhatWasBegunAndElseSaysHowToLeave) {
  core.line("\"\"\"begun");
  EXPECT_THAT(core.interrupted(false), ElementsAre());
  EXPECT_FALSE(core.collecting());
  EXPECT_THAT(core.interrupted(true), ElementsAre());
  EXPECT_THAT(core.interrupted(false), ElementsAre(said("Ctrl-D or /bye leaves.")));
  EXPECT_THAT(core.turns(), ElementsAre());
}

TEST_F(ChatCore, TheEndOfTheInputLeaves) {
  EXPECT_THAT(core.ended(), ElementsAre(leave));
  core.line("\"\"\"begun");
  EXPECT_THAT(core.ended(), ElementsAre(leave));
}

TEST_F(ChatCore, WhatThereWasOfAnAnswerStays) {
  core.line("tell me");
  core.answered({"Once upon", {}, false});
  EXPECT_THAT(core.turns(), ElementsAre(chat_turn{"user", "tell me", {}}, chat_turn{"assistant", "Once upon", {}}));
}

TEST_F(ChatCore, APromptWithoutAnyAnswerIsTakenBack) {
  exchange("a", "b");
  core.line("c");
  core.answered({"", {}, false});
  EXPECT_THAT(roles(), ElementsAre("user", "assistant"));
}

TEST_F(ChatCore, AnAnswerThatIsEmptyIsSaid) {
  core.line("c");
  EXPECT_THAT(core.answered({"", {}, true}), ElementsAre(said("The answer is empty.")));
  EXPECT_THAT(roles(), ElementsAre("user", "assistant"));
}

TEST_F(ChatCore, AConversationThatIsTooLongLosesItsOlderHalf) {
  core.line("/system Be brief.");
  for (const char* prompt : {"1", "2", "3", "4"}) exchange(prompt, "yes");
  core.line("5");
  EXPECT_THAT(core.too_long(), ElementsAre(answer));
  EXPECT_THAT(roles(), ElementsAre("system", "user", "assistant", "user"));
  EXPECT_EQ(core.turns()[1].content, "4");
  EXPECT_THAT(core.too_long(), ElementsAre(answer));
  EXPECT_THAT(core.answered({"yes", {}, true}),
              ElementsAre(said("[the context is full: the first 8 messages are forgotten]")));
  EXPECT_THAT(roles(), ElementsAre("system", "user", "assistant"));
  EXPECT_EQ(core.turns()[1].content, "5");
  core.line("6");
  EXPECT_THAT(core.answered({"yes", {}, true}), ElementsAre()) << "it fitted";
}

TEST_F(ChatCore, APromptThatIsTooLongByItselfCostsNothing) {
  for (const char* prompt : {"1", "2", "3"}) exchange(prompt, "yes");
  const auto before = core.turns();
  core.line("too long");
  EXPECT_THAT(core.too_long(), ElementsAre(answer));
  EXPECT_THAT(core.too_long(), ElementsAre(answer));
  EXPECT_THAT(roles(), ElementsAre("user"));
  EXPECT_THAT(core.too_long(), ElementsAre());
  EXPECT_THAT(core.answered({"", {}, false}), ElementsAre());
  EXPECT_EQ(core.turns(), before);
}

TEST_F(ChatCore, RegenAsksTheLastPromptAgain) {
  EXPECT_THAT(core.line("/regen").back().kind, effect_kind::complain);
  exchange("a", "b");
  EXPECT_THAT(core.line("/regen"), ElementsAre(kept("/regen"), answer));
  EXPECT_THAT(roles(), ElementsAre("user"));
  core.answered({"c", {}, true});
  EXPECT_EQ(core.turns().back().content, "c");
}

TEST_F(ChatCore, RegenThatBringsNothingCostsNothing) {
  exchange("a", "b");
  const auto before = core.turns();
  core.line("/regen");
  EXPECT_THAT(core.answered({"", {}, false}), ElementsAre());
  EXPECT_EQ(core.turns(), before);
  core.line("/regen");
  core.answered({"c", {}, false});
  EXPECT_EQ(core.turns().back().content, "c") << "what came of it counts";
  core.line("d");
  core.answered({"", {}, false});
  EXPECT_THAT(roles(), ElementsAre("user", "assistant")) << "a prompt of its own goes again";
}

TEST_F(ChatCore, RegenThatIsShortenedAndBringsNothingCostsNothing) {
  for (const char* prompt : {"1", "2", "3"}) exchange(prompt, "yes");
  const auto before = core.turns();
  core.line("/regen");
  EXPECT_THAT(core.too_long(), ElementsAre(answer));
  core.answered({"", {}, false});
  EXPECT_EQ(core.turns(), before);
}

TEST_F(ChatCore, APromptThatWasLoadedWithoutAnAnswerStaysWhereRegenBringsNone) {
  core.loaded("f", std::string(R"([{"role":"user","content":"a"}])"));
  ASSERT_THAT(roles(), ElementsAre("user"));
  core.line("/regen");
  core.answered({"", {}, false});
  EXPECT_THAT(roles(), ElementsAre("user"));
}

TEST_F(ChatCore, TheSystemMessageIsSetShownReplacedAndKept) {
  EXPECT_THAT(core.line("/system").back(), said("There is no system message."));
  core.line("/system Be  brief.");
  exchange("a", "b");
  core.line("/system Be long.");
  EXPECT_THAT(roles(), ElementsAre("system", "user", "assistant"));
  core.line("/clear");
  EXPECT_THAT(core.turns(), ElementsAre(chat_turn{"system", "Be long.", {}}));
  EXPECT_THAT(core.line("/system").back(), said("Be long."));
  EXPECT_THAT(chat_core(chat_settings(), "from a flag").turns(), ElementsAre(chat_turn{"system", "from a flag", {}}));
}

TEST_F(ChatCore, SettingsAreChangedAndShown) {
  EXPECT_THAT(core.line("/set temperature 0.5").back(), said("temperature 0.5"));
  EXPECT_THAT(core.line("/set top-k=3").back(), said("top-k 3"));
  EXPECT_THAT(core.line("/set top_p 0.9").back(), said("top-p 0.9"));
  EXPECT_THAT(core.line("/set max_tokens=5").back(), said("max-tokens 5"));
  EXPECT_THAT(core.line("/set max_tokens").back().text, HasSubstr("max-tokens 5"));
  EXPECT_EQ(core.settings().max_tokens, 5);
  EXPECT_EQ(core.settings().sampling.temperature.value(), 0.5f);
  EXPECT_EQ(core.settings().sampling.top_k, 3u);
  EXPECT_EQ(core.line("/set top-k many").back().kind, effect_kind::complain);
  EXPECT_EQ(core.line("/set nothing").back().kind, effect_kind::complain);
  EXPECT_THAT(core.line("/set temperature").back().text, HasSubstr("temperature 0.5"));
  const std::string shown = core.line("/show").back().text;
  for (const std::string_view name : setting_names()) EXPECT_THAT(shown, HasSubstr(std::string(name) + " "));
  EXPECT_THAT(shown, HasSubstr("The conversation holds 0 messages."));
  EXPECT_THAT(core.line("/stats off").back(), said("stats off"));
  EXPECT_FALSE(core.settings().stats);
  EXPECT_EQ(core.line("/stats").back().kind, effect_kind::complain);
}

TEST_F(ChatCore, FilesAreNamed) {
  EXPECT_THAT(core.line("/save my file.json").back(), (effect{effect_kind::save, "my file.json"}));
  EXPECT_THAT(core.line("/load x").back(), (effect{effect_kind::load, "x"}));
  EXPECT_EQ(core.line("/save").back().kind, effect_kind::complain);
  EXPECT_EQ(core.line("/load ").back().kind, effect_kind::complain);
}

TEST_F(ChatCore, ALoadedConversationReplacesThisOneAndABrokenFileDoesNot) {
  exchange("a", "b");
  const auto before = core.turns();
  const error missing{std::make_error_code(std::errc::no_such_file_or_directory), {}};
  EXPECT_THAT(core.loaded("x", fail(missing)), ElementsAre(effect{effect_kind::complain, "x: " + missing.message()}));
  EXPECT_EQ(core.loaded("x", std::string("{}")).back().kind, effect_kind::complain);
  EXPECT_EQ(core.turns(), before);
  EXPECT_THAT(core.loaded("x", saved_text({{"system", "s", {}}, {"user", "q", {}}})),
              ElementsAre(said("1 message from x")));
  EXPECT_THAT(roles(), ElementsAre("system", "user"));
}

TEST_F(ChatCore, ByeLeavesAndUnknownCommandsAreSaid) {
  for (const char* word : {"/bye", "/exit", "/quit"}) EXPECT_THAT(core.line(word).back(), leave);
  EXPECT_THAT(core.line("/nothing").back(),
              (effect{effect_kind::complain, "there is no command '/nothing'; /help lists them"}));
  for (const char* word : {"/help", "/clear", "/system", "/set", "/show", "/regen", "/save", "/load", "/stats", "/bye"})
    EXPECT_THAT(core.line("/help").back().text, HasSubstr(word));
}

TEST_F(ChatCore, APathOrASpaceBeforeTheSlashMakesAPrompt) {
  EXPECT_THAT(core.line("/usr/bin is what?").back(), answer);
  EXPECT_THAT(core.line(" /help").back(), answer);
  EXPECT_THAT(core.line("/").back(), answer);
}

TEST(ChatCompletions, AreCommandsAndAfterSetSettings) {
  EXPECT_THAT(chat_core::completions("/s"), ElementsAre("/system ", "/set ", "/show", "/save ", "/stats "));
  EXPECT_THAT(chat_core::completions("/set top-"), ElementsAre("/set top-k ", "/set top-p ", "/set top-nsigma "));
  EXPECT_THAT(chat_core::completions("hello"), ElementsAre());
  EXPECT_THAT(chat_core::completions("/system be"), ElementsAre());
}

}  // namespace
}  // namespace infer::apps
