// The timed runs: what they feed, and that going back to a depth costs no more than it must.
#include "engine/decode/speed_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/decode/cpu_executor.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tiny_llama.h"

namespace infer::decode {
namespace {

using testing::ElementsAre;

/// Passes everything on and remembers how many ids each step had.
struct counting_executor final : plan::executor {
  explicit counting_executor(std::vector<std::size_t>& steps) : steps(steps) {}
  result<plan::program_ptr> prepare(const plan::plan& p, const plan::weight_table& weights, plan::page_memory& pages,
                                    const plan::program_options& options) override {
    return cpu.prepare(p, weights, pages, options);
  }
  result<plan::ticket> submit(plan::program& on, std::span<const plan::batch_row> rows) override {
    steps.push_back(rows[0].ids.size());
    return cpu.submit(on, rows);
  }
  result<plan::step_result> collect(plan::program& on, plan::ticket step, plan::row_sink& sink) override {
    return cpu.collect(on, step, sink);
  }
  void set_tap(plan::tap_fn tap) override { cpu.set_tap(std::move(tap)); }

  cpu_executor cpu;
  std::vector<std::size_t>& steps;
};

class speed_runs : public testing::Test {
 protected:
  void SetUp() override {
    test_support::write_tiny_llama(folder_ / "m.gguf");
    auto opened =
        speed_run::open(folder_ / "m.gguf", {.max_batch_tokens = 16}, 64, std::make_unique<counting_executor>(steps_));
    ASSERT_TRUE(opened) << opened.error().message();
    run_ = std::make_unique<speed_run>(std::move(opened.value()));
  }

  test_support::temporary_folder folder_;
  std::vector<std::size_t> steps_;
  std::unique_ptr<speed_run> run_;
};

TEST_F(speed_runs, feed_the_prompt_in_batches) {
  ASSERT_TRUE(run_->prefill(0, 40));
  EXPECT_THAT(steps_, ElementsAre(16, 16, 8));
}

TEST_F(speed_runs, keep_what_is_below_the_depth) {
  const auto first = run_->prefill(10, 12);
  ASSERT_TRUE(first);
  EXPECT_GT(first.value(), 0);
  const auto second = run_->decode(12, 3);
  ASSERT_TRUE(second);
  EXPECT_GT(second.value(), 0);
  EXPECT_THAT(steps_, ElementsAre(10, 12, 1, 1, 1));
}

TEST_F(speed_runs, say_when_the_context_is_too_short) {
  const auto r = run_->prefill(60, 5);
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().code, plan::fault::past_context);
}

TEST_F(speed_runs, count_the_head_with_the_matrices) {
  // Layers: q and o 64x64, k and v 64x32, gate, up and down 64x96; the tied embedding once.
  const std::uint64_t layer = 2 * 64 * 64 + 2 * 64 * 32 + 3 * 64 * 96;
  EXPECT_EQ(run_->matrix_bytes(), 4 * (2 * layer + 64 * test_support::tiny_vocabulary));
}

TEST(bench_ids, stay_inside_the_vocabulary_and_repeat) {
  const auto ids = bench_ids(1000, 17, 3);
  EXPECT_THAT(ids, testing::Each(testing::AllOf(testing::Ge(0), testing::Lt(17))));
  EXPECT_EQ(ids, bench_ids(1000, 17, 3));
  EXPECT_NE(ids, bench_ids(1000, 17, 4));
}

}  // namespace
}  // namespace infer::decode
