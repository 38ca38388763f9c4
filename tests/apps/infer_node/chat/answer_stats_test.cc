// What an answer cost, in words and as JSON.
#include "apps/infer_node/chat/answer_stats.h"

#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>

namespace infer::apps {
namespace {

TEST(AnswerStats, TheRateCountsTheTokensAfterTheFirst) {
  EXPECT_EQ(answer_stats({.completion_tokens = 11, .decode_s = 2}).tokens_per_second(), 5);
  EXPECT_FALSE(answer_stats({.completion_tokens = 1, .decode_s = 2}).tokens_per_second());
  EXPECT_FALSE(answer_stats({.completion_tokens = 11, .decode_s = 0}).tokens_per_second());
  EXPECT_FALSE(answer_stats({.completion_tokens = 11}).tokens_per_second());
}

TEST(AnswerStats, TheLineSaysWhatIsKnown) {
  EXPECT_EQ(
      stats_line(
          {.prompt_tokens = 34, .cached_tokens = 32, .completion_tokens = 11, .first_token_s = 0.126, .decode_s = 2}),
      "11 tokens, 5.0 tokens/s; prompt 34 tokens, 32 cached; first token after 0.13 s");
  EXPECT_EQ(stats_line({.prompt_tokens = 1, .cached_tokens = 0, .completion_tokens = 1}), "1 token; prompt 1 token");
  EXPECT_EQ(stats_line({.first_token_s = 1}), "first token after 1.00 s");
  EXPECT_EQ(stats_line({}), "");
}

TEST(AnswerStats, TheMembersAreThoseThatAreKnown) {
  boost::json::object out;
  add_stats(out, {});
  EXPECT_TRUE(out.empty());
  add_stats(out,
            {.prompt_tokens = 34, .cached_tokens = 0, .completion_tokens = 3, .first_token_s = 0.5, .decode_s = 4});
  EXPECT_EQ(boost::json::serialize(out),
            R"({"prompt_tokens":34,"cached_tokens":0,"completion_tokens":3,"first_token_s":5E-1,)"
            R"("tokens_per_second":5E-1})");
}

}  // namespace
}  // namespace infer::apps
