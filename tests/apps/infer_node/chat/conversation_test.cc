// Conversations as JSON and back.
#include "apps/infer_node/chat/conversation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>

namespace infer::apps {
namespace {

using testing::HasSubstr;

TEST(Conversation, ComesBackFromTheFileItWasSavedTo) {
  const std::vector<chat_turn> turns{
      {"system", "Be brief.", {}}, {"user", "a \"quoted\"\nline \\ ä", {}}, {"assistant", "yes", "let me see"}};
  const auto again = turns_of(saved_text(turns));
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(again.value(), turns);
  EXPECT_EQ(turns_of(saved_text({})).value(), std::vector<chat_turn>());
}

TEST(Conversation, ABareArrayOfMessagesIsOne) {
  const auto turns = turns_of(R"([{"role": "user", "content": "hi"}])");
  ASSERT_TRUE(turns);
  EXPECT_EQ(turns.value(), (std::vector<chat_turn>{{"user", "hi", {}}}));
}

TEST(Conversation, WhatIsNoneIsRefusedWithThePlace) {
  for (const auto& [text, part] : std::vector<std::pair<const char*, const char*>>{
           {"", "not JSON"},
           {"{\"messages\": [", "not JSON"},
           {"{}", "no \"messages\""},
           {"3", "no \"messages\""},
           {"[3]", "message 1 is no object"},
           {R"([{"role": "user", "content": "a"}, {"role": "user"}])", "message 2 has no text as \"content\""},
           {R"([{"content": "a"}])", "message 1 has no text as \"role\""},
           {R"([{"role": "user", "content": ["a"]}])", "message 1 has no text as \"content\""},
           {R"([{"role": "tool", "content": "a"}])", "message 1 has the role 'tool'"},
           {R"([{"role": "user", "content": "a"}, {"role": "system", "content": "a"}])", "message 2 is the system's"},
           {R"([{"role": "assistant", "content": "a", "reasoning_content": 1}])",
            "message 1 has no text as \"reasoning_content\""}}) {
    const auto turns = turns_of(text);
    ASSERT_FALSE(turns) << text;
    EXPECT_THAT(turns.error().message(), HasSubstr(part));
  }
}

TEST(ChatBody, HasOnlyWhatWasAskedFor) {
  EXPECT_EQ(boost::json::serialize(chat_body({{"user", "hi", {}}}, {})),
            R"({"messages":[{"role":"user","content":"hi"}]})");
  chat_settings settings;
  settings.max_tokens = 5;
  settings.seed = 0;
  settings.think = think_mode::off;
  EXPECT_EQ(boost::json::serialize(chat_body({{"assistant", "a", "r"}}, settings)),
            R"({"messages":[{"role":"assistant","content":"a","reasoning_content":"r"}],"max_tokens":5,"seed":0,)"
            R"("chat_template_kwargs":{"enable_thinking":false,"thinking":false}})");
}

}  // namespace
}  // namespace infer::apps
