// A real model whose decode is killed under two streams: both end with the bytes of an undisturbed run.
#include <cstdlib>

#include "tests/actors/node_fixture.h"

namespace infer {
namespace {

using test_support::node_test;
using test_support::recording;

/// Throws once, before the step that makes the token at `index` of any stream.
struct one_crash {
  bool armed = false;
  std::uint32_t index = 0;

  void before_step(std::span<const actors::journal_row> rows) {
    for (const auto& row : rows) {
      if (!armed || row.next_index != index) continue;
      armed = false;
      throw std::runtime_error("one-shot crash");
    }
  }
};

class smollm_crash : public node_test {
 protected:
  void SetUp() override {
    const char* path = std::getenv("INFER_TEST_MODEL");
    if (path == nullptr) GTEST_SKIP() << "SKIPPED: set INFER_TEST_MODEL to SmolLM2-135M-Instruct.Q4_1.gguf";
    hooks_.before_step = [crash = crash_](std::span<const actors::journal_row> rows) { crash->before_step(rows); };
    actors::zoo_model model;
    model.source.id = "smollm2";
    model.source.path = path;
    model.source.context = 256;
    model.source.slots = 2;
    start_with({model}, std::uint64_t{2} << 30);
  }

  /// A greedy stream and a seeded one, at the same time.
  std::vector<recording> two_streams(std::uint32_t max_tokens) {
    msg::generate greedy = text_request("The sea was", max_tokens);
    msg::generate seeded = text_request("Once upon a time", max_tokens);
    seeded.sampling.temperature = 0.8f;
    seeded.sampling.top_p = 0.95f;
    seeded.sampling.seed = 42;
    seeded.seed_given = true;
    std::vector<recording> streams{send(greedy), send(seeded)};
    for (const auto& stream : streams) run(stream);
    return streams;
  }

  std::shared_ptr<one_crash> crash_ = std::make_shared<one_crash>();
};

TEST_F(smollm_crash, a_crash_at_any_position_changes_no_byte) {
  constexpr std::uint32_t beyond = 4;
  const auto undisturbed = two_streams(40 + beyond);
  for (const auto& stream : undisturbed) ASSERT_TRUE(stream->ok()) << stream->failed.message;
  for (const std::uint32_t position : {1u, 7u, 40u}) {
    SCOPED_TRACE("crash before the token at " + std::to_string(position));
    *crash_ = {true, position};
    const auto streams = two_streams(position + beyond);
    EXPECT_FALSE(crash_->armed) << "the crash never came";
    for (std::size_t i = 0; i < streams.size(); ++i) {
      SCOPED_TRACE(i == 0 ? "greedy" : "seeded");
      const auto& got = *streams[i];
      const auto& expected = *undisturbed[i];
      ASSERT_TRUE(got.ok()) << got.failed.message;
      EXPECT_EQ(got.starts, 1u);
      EXPECT_EQ(got.finished.completion_tokens, position + beyond);
      ASSERT_EQ(got.tokens.size(), position + beyond);
      for (std::size_t at = 0; at < got.tokens.size(); ++at) {
        EXPECT_EQ(got.tokens[at].id, expected.tokens[at].id) << "token " << at;
        EXPECT_EQ(got.tokens[at].logprob.bits, expected.tokens[at].logprob.bits) << "token " << at;
      }
      EXPECT_EQ(got.text, expected.text.substr(0, got.text.size()));
      if (position == 40) {
        EXPECT_EQ(got.text, expected.text);
      }
    }
  }
}

}  // namespace
}  // namespace infer
