// Streams of servers, ours and others', cut anywhere.
#include "apps/infer_node/chat/event_reader.h"

#include <gtest/gtest.h>

namespace infer::apps {
namespace {

struct collected {
  std::string text, reasoning;
  event_reader reader{{[this](std::string_view t) { text += t; }, [this](std::string_view t) { reasoning += t; }}};
};

TEST(EventReader, CollectsTextReasoningCountsAndTheEndWhereverTheBytesAreCut) {
  const std::string stream =
      ": a comment\n\ndata: {\"model\": \"m\", \"choices\": [{\"index\": 0, \"delta\": {\"role\": \"assistant\", "
      "\"content\": \"\"}}], \"usage\": null}\r\n\r\n"
      "data: {\"choices\": [{\"delta\": {\"reasoning_content\": \"hm\"}}]}\n\n"
      "data: {\"choices\": [{\"delta\": {\"reasoning\": \"!\", \"content\": null}}]}\n\n"
      "data:{\"choices\": [{\"delta\": {\"content\": \"yes\\n\"}}]}\n\n"
      "data: {\"choices\": [{\"text\": \"more\", \"finish_reason\": null}]}\n\n"
      "data: {\"choices\": [{\"delta\": {}, \"finish_reason\": \"length\"}]}\n\n"
      "data: {\"choices\": [], \"usage\": {\"prompt_tokens\": 7, \"completion_tokens\": 3, \"prompt_tokens_details\": "
      "{\"cached_tokens\": 5}}, \"timings\": {\"predicted_ms\": 1500.5}}\n\n"
      "data: [DONE]\n\n";
  for (const std::size_t size : {std::size_t{1}, std::size_t{7}, stream.size()}) {
    collected c;
    for (std::size_t from = 0; from < stream.size(); from += size)
      c.reader.push(std::string_view(stream).substr(from, size));
    EXPECT_EQ(c.text, "yes\nmore");
    EXPECT_EQ(c.reasoning, "hm!");
    EXPECT_TRUE(c.reader.finished());
    EXPECT_EQ(c.reader.failure(), "");
    EXPECT_EQ(c.reader.finish_reason(), "length");
    EXPECT_EQ(c.reader.model(), "m");
    EXPECT_EQ(c.reader.stats().prompt_tokens, 7u);
    EXPECT_EQ(c.reader.stats().completion_tokens, 3u);
    EXPECT_EQ(c.reader.stats().cached_tokens, 5u);
    EXPECT_EQ(c.reader.stats().decode_s, 1.5005);
  }
}

TEST(EventReader, AnErrorInTheStreamIsItsFailure) {
  collected c;
  c.reader.push("data: {\"error\": {\"message\": \"the model ended\"}}\n\n");
  EXPECT_EQ(c.reader.failure(), "the model ended");
  EXPECT_FALSE(c.reader.finished());
}

TEST(EventReader, WhatIsNoEventIsPassedOver) {
  collected c;
  c.reader.push(
      "data: {broken\n\ndata: 3\n\ndata: {\"choices\": 3, \"usage\": {\"prompt_tokens\": \"x\"}}\n\nid: 1\n\n");
  EXPECT_EQ(c.text, "");
  EXPECT_FALSE(c.reader.finished());
  EXPECT_EQ(c.reader.failure(), "");
  EXPECT_FALSE(c.reader.stats().prompt_tokens);
}

TEST(RefusalText, IsTheErrorsMessageOrTheBody) {
  EXPECT_EQ(refusal_text(R"({"error": {"message": "no such model"}})"), "no such model");
  EXPECT_EQ(refusal_text(R"({"error": "plain"})"), "\"plain\"");
  EXPECT_EQ(refusal_text("Bad Gateway"), "Bad Gateway");
}

TEST(IsTooLong, KnowsTheCodeOfOpenAiAndTheTypeOfLlamaCpp) {
  EXPECT_TRUE(is_too_long(R"({"error": {"code": "context_length_exceeded"}})"));
  EXPECT_TRUE(is_too_long(R"({"error": {"code": 400, "type": "exceed_context_size_error"}})"));
  for (const char* other : {R"({"error": {"code": "model_not_found"}})", R"({"error": "plain"})", "Bad Gateway", "[]"})
    EXPECT_FALSE(is_too_long(other)) << other;
}

}  // namespace
}  // namespace infer::apps
