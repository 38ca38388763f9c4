// Offline scoring: positions, chunks and refusals.
#include "engine/decode/scorer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/temporary_folder.h"
#include "tests/support/tiny_llama.h"

namespace infer::decode {
namespace {

class scoring : public testing::Test {
 protected:
  scoring() { test_support::write_tiny_llama(folder_ / "tiny.gguf"); }
  scorer open() { return scorer::open(folder_ / "tiny.gguf", {}).value(); }
  test_support::temporary_folder folder_;
};

TEST_F(scoring, answers_one_entry_for_each_position_that_has_a_next_id) {
  auto s = open();
  const std::vector<token_id> ids{5, 6, 7, 8};
  const auto positions = s.score(ids, 3);
  ASSERT_TRUE(positions);
  ASSERT_EQ(positions.value().size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(positions.value()[i].next.id, ids[i + 1]);
    EXPECT_LE(positions.value()[i].next.logprob, positions.value()[i].top[0].logprob);
    EXPECT_EQ(positions.value()[i].top.size(), 3u);
  }
  EXPECT_TRUE(s.score({}, 0).value().empty());
}

TEST_F(scoring, probabilities_of_a_position_add_up_to_one) {
  auto s = open();
  const auto positions = s.score(std::vector<token_id>{5, 6}, test_support::tiny_vocabulary).value();
  double sum = 0;
  for (const auto& [id, logprob] : positions[0].top) sum += std::exp(static_cast<double>(logprob));
  EXPECT_NEAR(sum, 1.0, 1e-5);
}

TEST_F(scoring, chunks_do_not_change_a_bit) {
  auto s = open();
  std::vector<token_id> ids(100);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<token_id>(i * 3 % 250 + 3);
  const auto whole = s.score(ids, 1).value();
  for (const std::uint32_t chunk : {1u, 7u, 32u}) {
    const auto pieces = s.score(ids, 1, chunk).value();
    for (std::size_t i = 0; i < whole.size(); ++i)
      ASSERT_EQ(whole[i].next.logprob, pieces[i].next.logprob) << chunk << " at " << i;
  }
}

TEST_F(scoring, refuses_ids_outside_the_vocabulary_and_texts_beyond_the_context) {
  auto s = open();
  EXPECT_FALSE(s.score(std::vector<token_id>{5, 100000}, 0));
  EXPECT_FALSE(s.score(std::vector<token_id>{100000, 5}, 0));
  EXPECT_FALSE(s.score(std::vector<token_id>(300, 5), 0));
  EXPECT_TRUE(s.score(std::vector<token_id>{5, 6}, 0)) << "goes on after a refusal";
}

TEST_F(scoring, a_file_that_is_no_model_is_an_error) {
  EXPECT_FALSE(scorer::open(folder_ / "absent.gguf", {}));
}

}  // namespace
}  // namespace infer::decode
