// One answer everywhere: what happens to a sequence between its steps changes no bit of its logits or of its stored
// keys and values. Cached prefix, fork, truncate, snapshot, park, copies on write, windows. Mirrors: cpu_executor.cc
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <ostream>
#include <string>

#include "engine/memory/prefix_index.h"
#include "tests/support/model_run.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tiny_llama.h"

namespace infer::decode {
namespace {

using test_support::model_run;
using test_support::tiny_llama;

constexpr std::uint32_t context = 448;
constexpr std::uint32_t window = 48;

std::vector<token_id> ids(std::size_t count, std::uint32_t seed) {
  std::vector<token_id> out(count);
  for (token_id& id : out) {
    seed = seed * 1664525u + 1013904223u;
    id = static_cast<token_id>((seed >> 8) % test_support::tiny_vocabulary);
  }
  return out;
}

/// Every second layer in a group of its own, whose queries see `window` positions; it keeps all of them or not.
void add_window(plan::plan& p, plan::state_kind kind) {
  plan::state_group group = p.groups[0];
  group.kind = kind;
  group.window = window;
  group.layers = p.layers / 2;
  p.groups[0].layers = p.layers - group.layers;
  p.groups.push_back(group);
  for (std::uint16_t layer = 0; layer < p.layers; ++layer) p.layer_in_group[layer] = layer / 2;
  for (plan::op& o : p.ops) {
    if (o.layer < p.layers && (o.kind == plan::op_kind::store_kv || o.kind == plan::op_kind::attention))
      o.group = o.layer % 2;
  }
}

enum class groups : std::uint8_t { one_paged, paged_and_windowed };
struct kind {
  std::string name;
  groups state;
  plan::kv_type keys, values;
  friend void PrintTo(const kind& k, std::ostream* out) { *out << k.name; }
};
const kind kinds[] = {
    {"paged_f16", groups::one_paged, plan::kv_type::f16, plan::kv_type::f16},
    {"paged_bf16", groups::one_paged, plan::kv_type::bf16, plan::kv_type::bf16},
    {"windowed_f16", groups::paged_and_windowed, plan::kv_type::f16, plan::kv_type::f16},
    {"windowed_f32_bf16", groups::paged_and_windowed, plan::kv_type::f32, plan::kv_type::bf16},
};

struct record {
  std::vector<float> logits;  // of every position fed
  std::vector<std::byte> kv;
};

class state_equality : public testing::TestWithParam<kind> {
 protected:
  void SetUp() override {
    path_ = folder_ / "tiny.gguf";
    tiny_llama shape;
    shape.type = tensor_type::q8_0;
    shape.context = context;
    shape.layers = 3;
    test_support::write_tiny_llama(path_, shape);
    run_.reset(new model_run(open(plan::state_kind::windowed)));
    text_ = ids(300, 3);
    expected_ = alone(text_);
  }

  model_run open(plan::state_kind kind) const {
    plan::program_options options;
    options.keys = GetParam().keys;
    options.values = GetParam().values;
    const bool two = GetParam().state == groups::paged_and_windowed;
    return model_run(path_, options, context, 4, kernels::best_ops(), [&](plan::plan& p) {
      if (two) add_window(p, kind);
    });
  }

  /// Feeds ids [from, to) of `text` in chunks and returns their logits.
  static std::vector<float> feed(model_run& run, plan::sequence& s, const std::vector<token_id>& text, std::size_t to,
                                 std::size_t chunk = 64) {
    std::vector<float> out;
    while (s.length() < to) {
      const std::span part = std::span(text).subspan(s.length(), std::min<std::size_t>(chunk, to - s.length()));
      run.step({&s, 1}, {&part, 1}, plan::want::all, [&](std::size_t, std::size_t, std::span<const float> logits) {
        out.insert(out.end(), logits.begin(), logits.end());
      });
    }
    return out;
  }
  std::vector<float> feed(plan::sequence& s, const std::vector<token_id>& text, std::size_t to,
                          std::size_t chunk = 64) {
    return feed(*run_, s, text, to, chunk);
  }

  /// What `text` leaves in a fresh model when nothing happens to it.
  record alone(const std::vector<token_id>& text) const {
    model_run fresh = open(plan::state_kind::windowed);
    fresh.poison_free_pages();
    auto s = fresh.new_sequence();
    record out;
    out.logits = feed(fresh, s, text, text.size());
    out.kv = fresh.stored(s);
    return out;
  }

  void expect_tail(const std::vector<float>& logits, const record& expected, const char* what) {
    ASSERT_LE(logits.size(), expected.logits.size()) << what;
    EXPECT_EQ(std::memcmp(logits.data(), expected.logits.data() + (expected.logits.size() - logits.size()),
                          logits.size() * sizeof(float)),
              0)
        << what;
  }
  /// The sequence holds what `expected` holds.
  void expect_kv(const plan::sequence& s, const record& expected, const char* what) {
    EXPECT_TRUE(run_->stored(s) == expected.kv) << what;
  }

  test_support::temporary_folder folder_;
  std::filesystem::path path_;
  std::unique_ptr<model_run> run_;
  std::vector<token_id> text_;
  record expected_;
};

TEST_P(state_equality, of_a_cached_prefix) {
  memory::prefix_index index(run_->pages(), run_->plan().groups);
  const memory::prefix_key key{};
  {
    auto first = run_->new_sequence();
    for (std::size_t to = 32; to <= 288; to += 32) {
      feed(first, text_, to, 32);
      index.insert(key, text_, first);
    }
  }
  run_->poison_free_pages();
  for (const std::uint32_t at_most : {33u, 100u, 299u}) {
    const auto hit = index.find(key, text_, at_most);
    EXPECT_EQ(hit.length, at_most / 32 * 32);
    auto s = run_->new_sequence();
    s.attach(hit.length, hit.tables);
    expect_tail(feed(s, text_, text_.size()), expected_, "cached");
    expect_kv(s, expected_, "cached");
  }
}

TEST_P(state_equality, of_a_fork_and_of_what_it_was_forked_from) {
  run_->poison_free_pages();
  auto a = run_->new_sequence();
  feed(a, text_, 150);
  auto b = a.fork(150).value();
  auto other = text_;
  for (std::size_t i = 150; i < other.size(); ++i) other[i] = text_[i - 100];
  const record expected_other = alone(other);
  // In turns, so that each writes into a page that the other has just left.
  std::vector<float> of_a, of_b;
  for (std::size_t to = 155; to <= 300; to += 5) {
    const auto more_b = feed(b, other, to), more_a = feed(a, text_, to);
    of_a.insert(of_a.end(), more_a.begin(), more_a.end());
    of_b.insert(of_b.end(), more_b.begin(), more_b.end());
  }
  expect_tail(of_a, expected_, "the original");
  expect_tail(of_b, expected_other, "the fork");
  expect_kv(a, expected_, "the original");
  expect_kv(b, expected_other, "the fork");
}

TEST_P(state_equality, of_a_fork_that_outlives_its_original_among_strangers) {
  std::optional<plan::sequence> fork;
  {
    auto original = run_->new_sequence();
    feed(original, text_, 130);
    fork.emplace(original.fork(130).value());
  }
  // Whatever came back to the pool is overwritten now.
  run_->poison_free_pages();
  auto stranger = run_->new_sequence();
  feed(stranger, ids(300, 99), 300);
  expect_tail(feed(*fork, text_, text_.size()), expected_, "the fork");
  expect_kv(*fork, expected_, "the fork");
}

TEST_P(state_equality, of_a_text_that_was_cut_and_fed_again) {
  run_->poison_free_pages();
  auto s = run_->new_sequence();
  auto wrong = ids(300, 17);
  std::copy_n(text_.begin(), 120, wrong.begin());
  feed(s, wrong, 150);
  s.checkpoint();
  feed(s, wrong, 290);
  const std::uint32_t landed = s.truncate(120);
  EXPECT_EQ(landed, GetParam().state == groups::one_paged ? 120u : 0u);
  expect_tail(feed(s, text_, text_.size()), expected_, "cut");
  expect_kv(s, expected_, "cut");
}

TEST_P(state_equality, of_a_text_that_went_back_to_a_checkpoint) {
  run_->poison_free_pages();
  auto s = run_->new_sequence();
  feed(s, text_, 150);
  s.checkpoint();
  auto wrong = ids(300, 18);
  std::copy_n(text_.begin(), 150, wrong.begin());
  feed(s, wrong, 290);
  EXPECT_EQ(s.truncate(150), 150u);
  run_->poison_free_pages();
  expect_tail(feed(s, text_, text_.size()), expected_, "back at the checkpoint");
  expect_kv(s, expected_, "back at the checkpoint");
}

TEST_P(state_equality, of_a_snapshot_that_was_restored) {
  std::vector<std::byte> bytes;
  {
    auto s = run_->new_sequence();
    feed(s, text_, 170);
    bytes = s.snapshot(1);
  }
  run_->poison_free_pages();
  auto s = plan::sequence::restore(run_->pages(), run_->plan().groups, context, 1, bytes).value();
  expect_tail(feed(s, text_, text_.size()), expected_, "restored");
  expect_kv(s, expected_, "restored");
}

TEST_P(state_equality, of_a_parked_text_that_was_resumed) {
  memory::prefix_index index(run_->pages(), run_->plan().groups);
  std::vector<float> logits;
  for (const std::size_t to : {70u, 150u, 151u, 300u}) {
    auto s = run_->new_sequence();
    const auto hit = index.find({}, text_, static_cast<std::uint32_t>(to) - 1);
    s.attach(hit.length, hit.tables);
    logits = feed(s, text_, to, 23);
    index.insert({}, text_, s);
    if (to == 300u) expect_kv(s, expected_, "resumed");
    // Some of what is parked has to give way.
    for (int evicted = 0; to < 300u && evicted < 2; ++evicted) index.evict(0);
    if (to < 300u) {
      s = run_->new_sequence();
      run_->poison_free_pages();
    }
  }
  expect_tail(logits, expected_, "resumed");
}

TEST_P(state_equality, of_a_window_that_keeps_only_what_it_sees) {
  model_run all = open(plan::state_kind::paged);
  for (const std::size_t chunk : {1, 7, 32, 300}) {
    run_->poison_free_pages();
    auto kept = all.new_sequence(), s = run_->new_sequence();
    const auto expected = feed(all, kept, text_, text_.size(), chunk), logits = feed(s, text_, text_.size(), chunk);
    ASSERT_EQ(logits.size(), expected.size());
    EXPECT_EQ(std::memcmp(logits.data(), expected.data(), logits.size() * sizeof(float)), 0) << "chunk " << chunk;
    const std::uint32_t held = plan::first_page_seen(s.length(), window) * plan::page_positions;
    EXPECT_TRUE(run_->stored(s, held) == all.stored(kept, held)) << "chunk " << chunk;
    // What is poisoned is what a read behind the window would find.
    run_->poison_free_pages();
  }
}

INSTANTIATE_TEST_SUITE_P(tiny_llama, state_equality, testing::ValuesIn(kinds),
                         [](const auto& info) { return info.param.name; });

TEST(window, a_position_just_behind_it_changes_nothing_and_the_last_one_in_it_does) {
  test_support::temporary_folder folder;
  const auto path = folder / "tiny.gguf";
  tiny_llama shape;
  shape.layers = 1;
  shape.context = context;
  test_support::write_tiny_llama(path, shape);
  model_run run(path, test_support::f32_mode, context, 1, kernels::best_ops(), [](plan::plan& p) {
    p.groups[0].kind = plan::state_kind::windowed;
    p.groups[0].window = window;
  });
  for (const std::size_t length : {60u, 100u, 111u, 200u}) {
    const auto last_logits = [&](const std::vector<token_id>& text) {
      std::vector<float> out;
      auto s = run.new_sequence();
      const std::span<const token_id> part(text);
      run.step({&s, 1}, {&part, 1}, plan::want::last, [&](std::size_t, std::size_t, std::span<const float> logits) {
        out.assign(logits.begin(), logits.end());
      });
      return out;
    };
    const auto text = ids(length, 5);
    const auto logits = last_logits(text);
    auto behind = text, inside = text;
    auto& first_unseen = behind[length - window - 1];
    first_unseen = first_unseen == 7 ? 8 : 7;
    auto& last_seen = inside[length - window];
    last_seen = last_seen == 7 ? 8 : 7;
    EXPECT_EQ(last_logits(behind), logits) << length;
    EXPECT_NE(last_logits(inside), logits) << length;
  }
}

}  // namespace
}  // namespace infer::decode
