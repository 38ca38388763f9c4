// Steps over a tiny model: rows that are refused, cancelled or broken, and what each leaves behind.
// Mirrors: cpu_program.cc
#include "engine/decode/cpu_executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <set>

#include "engine/decode/sampler.h"
#include "engine/formats/gguf.h"
#include "engine/memory/page_pool.h"
#include "engine/models/builder.h"
#include "tests/support/tiny_llama.h"

namespace infer::decode {
namespace {

struct collecting_sink final : plan::row_sink {
  std::map<std::uint32_t, std::vector<std::vector<float>>> rows;
  void take(std::uint32_t row, std::uint32_t position, std::span<const float> logits) override {
    EXPECT_EQ(rows[row].size(), position);
    rows[row].emplace_back(logits.begin(), logits.end());
  }
};

class executor : public testing::Test {
 protected:
  explicit executor(test_support::tiny_llama shape = {}) : bytes_(test_support::tiny_llama_writer(shape).build()) {
    auto file = formats::gguf_file::from_memory(bytes_);
    file_ = std::make_shared<const formats::gguf_file>(std::move(file.value()));
    model_ = models::build(file_).value();
    const auto layout = plan::layout_of(model_.plan.groups[0], options_.keys, options_.values);
    pages_ = memory::page_pool::make(32, layout.page_bytes()).value();
    options_.max_batch_tokens = 64;
    program_ = executor_.prepare(model_.plan, model_.weights, pages_, options_).value();
  }

  plan::sequence sequence() { return plan::sequence(pages_, 256); }

  result<plan::step_result> step(std::span<const plan::batch_row> rows, plan::row_sink& sink) {
    INFER_TRY(const auto ticket, executor_.submit(*program_, rows));
    return executor_.collect(*program_, ticket, sink);
  }

  /// The logits after feeding `ids` to a fresh sequence alone.
  std::vector<float> alone(const std::vector<token_id>& ids) {
    auto s = sequence();
    EXPECT_TRUE(s.reserve(static_cast<std::uint32_t>(ids.size())));
    collecting_sink sink;
    const plan::batch_row row{&s, ids, plan::want::last, nullptr};
    EXPECT_TRUE(step({&row, 1}, sink));
    return sink.rows[0][0];
  }

  std::vector<std::byte> bytes_;
  std::shared_ptr<const formats::gguf_file> file_;
  models::model model_;
  plan::program_options options_;
  memory::page_pool pages_;
  cpu_executor executor_;
  plan::program_ptr program_;
};

const std::vector<token_id> prompt_a{10, 20, 30, 40, 50}, prompt_b{60, 61, 62}, prompt_c{7, 8, 9, 10, 11, 12, 13};

TEST_F(executor, lengths_change_at_collect_and_not_before) {
  auto s = sequence();
  ASSERT_TRUE(s.reserve(5));
  const plan::batch_row row{&s, prompt_a, plan::want::none, nullptr};
  const auto ticket = executor_.submit(*program_, {&row, 1});
  ASSERT_TRUE(ticket);
  EXPECT_EQ(s.length(), 0u);
  collecting_sink sink;
  ASSERT_TRUE(executor_.collect(*program_, ticket.value(), sink));
  EXPECT_EQ(s.length(), 5u);
  EXPECT_TRUE(sink.rows.empty()) << "nothing was wanted";
  EXPECT_FALSE(executor_.collect(*program_, ticket.value(), sink)) << "a step is collected once";
}

TEST_F(executor, malformed_rows_are_refused_before_anything_is_computed) {
  auto s = sequence();
  collecting_sink sink;
  const auto refuse = [&](const plan::batch_row& row) {
    const auto r = step({&row, 1}, sink);
    EXPECT_FALSE(r);
    EXPECT_EQ(s.length(), 0u);
    return r ? plan::fault{} : static_cast<plan::fault>(r.error().code.value());
  };
  const std::vector<token_id> bad{5, 100000}, negative{-1}, long_one(65, 4), one{3};
  EXPECT_EQ(refuse({&s, one, plan::want::last, nullptr}), plan::fault::no_pages);
  ASSERT_TRUE(s.reserve(70));
  EXPECT_EQ(refuse({nullptr, one, plan::want::last, nullptr}), plan::fault::bad_row);
  EXPECT_EQ(refuse({&s, {}, plan::want::last, nullptr}), plan::fault::bad_row);
  EXPECT_EQ(refuse({&s, bad, plan::want::last, nullptr}), plan::fault::bad_row);
  EXPECT_EQ(refuse({&s, negative, plan::want::last, nullptr}), plan::fault::bad_row);
  EXPECT_EQ(refuse({&s, long_one, plan::want::last, nullptr}), plan::fault::bad_row);
  const plan::batch_row twice[2] = {{&s, one, plan::want::last, nullptr}, {&s, one, plan::want::last, nullptr}};
  EXPECT_FALSE(step(twice, sink));
}

TEST_F(executor, rows_of_a_batch_keep_the_bits_they_have_alone) {
  const auto a = alone(prompt_a), b = alone(prompt_b), c = alone(prompt_c);
  auto sa = sequence(), sb = sequence(), sc = sequence();
  ASSERT_TRUE(sa.reserve(5) && sb.reserve(3) && sc.reserve(7));
  const plan::batch_row rows[3] = {{&sa, prompt_a, plan::want::last, nullptr},
                                   {&sb, prompt_b, plan::want::last, nullptr},
                                   {&sc, prompt_c, plan::want::last, nullptr}};
  collecting_sink sink;
  ASSERT_TRUE(step(rows, sink));
  EXPECT_EQ(sink.rows[0][0], a);
  EXPECT_EQ(sink.rows[1][0], b);
  EXPECT_EQ(sink.rows[2][0], c);
}

TEST_F(executor, a_cancelled_row_is_dropped_at_the_next_layer_and_the_others_keep_their_bits) {
  const auto a = alone(prompt_a), c = alone(prompt_c);
  for (std::uint32_t cancel_layer = 0; cancel_layer < 2; ++cancel_layer) {
    auto sa = sequence(), sb = sequence(), sc = sequence();
    ASSERT_TRUE(sa.reserve(5) && sb.reserve(3) && sc.reserve(7));
    cancel_flag flag;
    std::set<std::uint32_t> layers_with_three_rows;
    executor_.set_tap([&](const plan::op& o, std::uint32_t rows, std::uint32_t, std::span<const float>) {
      if (o.layer == cancel_layer && o.kind == plan::op_kind::attention) flag.set();
      if (o.kind == plan::op_kind::attention && rows == 15) layers_with_three_rows.insert(o.layer);
    });
    const plan::batch_row rows[3] = {{&sa, prompt_a, plan::want::last, nullptr},
                                     {&sb, prompt_b, plan::want::last, &flag},
                                     {&sc, prompt_c, plan::want::last, nullptr}};
    collecting_sink sink;
    const auto r = step(rows, sink);
    executor_.set_tap({});
    ASSERT_TRUE(r);
    EXPECT_EQ(r.value().rows[1], plan::outcome::cancelled);
    EXPECT_EQ(r.value().rows[0], plan::outcome::done);
    // Layers computed: both for the two that stay, up to the cancel for the third.
    EXPECT_EQ(r.value().layers_run, 2 * 2 + cancel_layer + 1);
    EXPECT_EQ(layers_with_three_rows.size(), cancel_layer + 1);
    EXPECT_EQ(sb.length(), 0u) << "a cancelled row leaves its sequence as it was";
    EXPECT_EQ(sink.rows[0][0], a);
    EXPECT_EQ(sink.rows[2][0], c);
    EXPECT_EQ(sink.rows.count(1), 0u);
  }
}

TEST_F(executor, a_step_whose_every_row_is_cancelled_computes_nothing) {
  auto s = sequence();
  ASSERT_TRUE(s.reserve(5));
  cancel_flag flag;
  flag.set();
  const plan::batch_row row{&s, prompt_a, plan::want::last, &flag};
  collecting_sink sink;
  const auto r = step({&row, 1}, sink);
  ASSERT_TRUE(r);
  EXPECT_EQ(r.value().layers_run, 0u);
  EXPECT_EQ(r.value().rows[0], plan::outcome::cancelled);
}

TEST_F(executor, a_cancelled_row_can_be_fed_again_with_the_right_bits) {
  const auto expected = alone(prompt_a);
  auto s = sequence();
  ASSERT_TRUE(s.reserve(5));
  cancel_flag flag;
  executor_.set_tap([&](const plan::op& o, std::uint32_t, std::uint32_t, std::span<const float>) {
    if (o.kind == plan::op_kind::attention) flag.set();
  });
  const plan::batch_row row{&s, prompt_a, plan::want::last, &flag};
  collecting_sink sink;
  ASSERT_TRUE(step({&row, 1}, sink));
  executor_.set_tap({});
  flag.reset();
  ASSERT_TRUE(step({&row, 1}, sink));
  EXPECT_EQ(sink.rows[0][0], expected);
}

TEST_F(executor, wants_choose_which_positions_yield_logits) {
  auto s = sequence();
  ASSERT_TRUE(s.reserve(5));
  collecting_sink sink;
  const plan::batch_row row{&s, prompt_a, plan::want::all, nullptr};
  ASSERT_TRUE(step({&row, 1}, sink));
  ASSERT_EQ(sink.rows[0].size(), 5u);
  for (std::size_t n = 1; n <= 5; ++n)
    EXPECT_EQ(sink.rows[0][n - 1], alone({prompt_a.begin(), prompt_a.begin() + static_cast<std::ptrdiff_t>(n)}));
}

TEST_F(executor, more_wanted_positions_than_a_tile_of_logits_arrive_in_order) {
  std::vector<token_id> ids(50);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<token_id>(3 + i);
  auto s = sequence();
  ASSERT_TRUE(s.reserve(50));
  collecting_sink sink;
  const plan::batch_row row{&s, ids, plan::want::all, nullptr};
  ASSERT_TRUE(step({&row, 1}, sink));
  ASSERT_EQ(sink.rows[0].size(), 50u);
  EXPECT_EQ(sink.rows[0][40], alone({ids.begin(), ids.begin() + 41}));
}

TEST(executor_prepare, a_scale_that_is_not_finite_is_refused_with_the_tensors_name) {
  auto writer = test_support::tiny_llama_writer({.layers = 1});
  std::vector<float> broken(64, 1.0f);
  broken[3] = std::numeric_limits<float>::infinity();
  writer.add_tensor("blk.0.attn_v.bias", {32}, std::span(broken).first(32));
  const auto bytes = writer.build();
  auto file = std::make_shared<const formats::gguf_file>(formats::gguf_file::from_memory(bytes).value());
  const auto model = models::build(file).value();
  auto pages = memory::page_pool::make(1, 1 << 20).value();
  cpu_executor executor;
  const auto program = executor.prepare(model.plan, model.weights, pages, {});
  ASSERT_FALSE(program);
  EXPECT_NE(program.error().message().find("blk.0.attn_v.bias"), std::string::npos) << program.error().message();
}

TEST(executor_prepare, a_large_matrix_is_read_in_strips_that_are_given_back) {
  const auto bytes = test_support::tiny_llama_writer({.layers = 1, .ffn_width = 80'000}).build();
  auto file = std::make_shared<const formats::gguf_file>(formats::gguf_file::from_memory(bytes).value());
  auto model = models::build(file).value();
  const byte_view gate = file->data(*file->find("blk.0.ffn_gate.weight"));
  std::vector<std::size_t> dropped;
  model.weights.drop = [&](byte_view part) {
    if (part.data() == gate.data()) dropped.push_back(part.size());
  };
  auto pages = memory::page_pool::make(1, 1 << 20).value();
  cpu_executor packing(kernels::best_ops()), plain(kernels::reference_ops());
  const auto program = packing.prepare(model.plan, model.weights, pages, {});
  ASSERT_TRUE(program);
  constexpr std::size_t strip = 16 << 20;
  EXPECT_THAT(dropped, testing::ElementsAre(strip, gate.size()));
  EXPECT_EQ(load_bytes(model.weights, kernels::best_ops()), strip);
  EXPECT_EQ(load_bytes(model.weights, kernels::reference_ops()), gate.size());

  // What was packed in strips multiplies as what was not.
  const auto logits = [&](cpu_executor& executor) {
    const plan::program_options options{
        .keys = plan::kv_type::f32, .values = plan::kv_type::f32, .max_batch_tokens = 8};
    auto kv =
        memory::page_pool::make(2, plan::layout_of(model.plan.groups[0], options.keys, options.values).page_bytes())
            .value();
    auto prepared = executor.prepare(model.plan, model.weights, kv, options).value();
    plan::sequence s(kv, 32);
    EXPECT_TRUE(s.reserve(3));
    const plan::batch_row row{&s, prompt_b, plan::want::last, nullptr};
    collecting_sink sink;
    EXPECT_TRUE(executor.collect(*prepared, executor.submit(*prepared, {&row, 1}).value(), sink));
    return sink.rows[0].at(0);
  };
  EXPECT_EQ(logits(packing), logits(plain));
}

class executor_numeric : public testing::TestWithParam<plan::activation_mode> {};

TEST_P(executor_numeric, logits_that_overflow_end_their_row_with_a_numeric_fault) {
  auto writer = test_support::tiny_llama_writer({.type = tensor_type::q8_0, .layers = 1});
  std::vector<float> huge(32, 3e38f);
  writer.add_tensor("blk.0.attn_v.bias", {32}, huge);
  const auto bytes = writer.build();
  auto file = std::make_shared<const formats::gguf_file>(formats::gguf_file::from_memory(bytes).value());
  const auto model = models::build(file).value();
  plan::program_options options;
  options.keys = options.values = plan::kv_type::f32;
  options.activations = GetParam();
  auto pages =
      memory::page_pool::make(8, plan::layout_of(model.plan.groups[0], options.keys, options.values).page_bytes())
          .value();
  cpu_executor executor;
  auto program = executor.prepare(model.plan, model.weights, pages, options).value();
  plan::sequence s(pages, 64);
  ASSERT_TRUE(s.reserve(5));
  const plan::batch_row row{&s, prompt_a, plan::want::last, nullptr};
  const auto ticket = executor.submit(*program, {&row, 1});
  collecting_sink sink;
  const auto r = executor.collect(*program, ticket.value(), sink);
  ASSERT_TRUE(r);
  EXPECT_EQ(r.value().rows[0], plan::outcome::numeric_fault);
  EXPECT_TRUE(sink.rows.empty());
  EXPECT_EQ(s.length(), 0u);
}

INSTANTIATE_TEST_SUITE_P(modes, executor_numeric,
                         testing::Values(plan::activation_mode::quantized, plan::activation_mode::f32));

TEST(executor_prepare, scratch_is_what_the_account_says) {
  const auto bytes = test_support::tiny_llama_writer({}).build();
  auto file = std::make_shared<const formats::gguf_file>(formats::gguf_file::from_memory(bytes).value());
  const auto model = models::build(file).value();
  plan::program_options small, large;
  small.max_batch_tokens = 1;
  large.max_batch_tokens = 512;
  EXPECT_GT(scratch_bytes(model.plan, model.weights, large),
            scratch_bytes(model.plan, model.weights, small) + 511 * 64 * 4);
}

}  // namespace
}  // namespace infer::decode
