// What streams of one batch share and what they give up for each other: prefixes, pages, time.
// Mirrors: state_pages.cc
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "tests/actors/model/batch_fixture.h"

namespace infer::actors {
namespace {

using namespace std::chrono_literals;
using texts = std::map<std::uint32_t, std::vector<std::int32_t>>;

class sharing : public batch {
 protected:
  /// A prompt of `prefix` positions that all have in common and `own` of its own.
  msg::open_stream similar(std::uint32_t choice, std::size_t prefix, std::size_t own, std::uint32_t max_tokens) {
    msg::open_stream m = stream(choice, prefix + own, max_tokens);
    for (std::size_t i = 0; i < prefix; ++i) m.prompt_ids[i] = static_cast<std::int32_t>(3 + i * 11 % 250);
    return m;
  }
  /// What each stream makes with the memory of all for itself.
  texts alone(const std::vector<msg::open_stream>& streams) {
    const auto kept = std::exchange(out_, {});
    for (const auto& m : streams) {
      load(1, std::uint64_t{1} << 30, core_->context);
      open(m);
      run();
    }
    return std::exchange(out_, kept).ids;
  }
  std::chrono::nanoseconds cost_{0};
};

TEST_F(sharing, a_prefix_that_arrives_with_eight_requests_is_computed_once) {
  load(8, std::uint64_t{1} << 30, 1280);
  std::vector<msg::open_stream> streams;
  for (std::uint32_t c = 0; c < 8; ++c) streams.push_back(similar(c, 1000, 5 + c, 6));
  for (const auto& m : streams) open(m);
  run();
  constexpr std::uint64_t shared = 1000 / 32 * 32;
  std::uint64_t prompts = 0;
  for (const auto& m : streams) prompts += m.prompt_ids.size();
  EXPECT_EQ(core_->counters.cached_tokens.load(), 7 * shared);
  EXPECT_EQ(core_->counters.prompt_tokens.load(), prompts - 7 * shared);
  EXPECT_EQ(out_.cached[0], 0u);
  for (std::uint32_t c = 1; c < 8; ++c) EXPECT_EQ(out_.cached[c], shared) << c;
  const texts together = out_.ids;
  EXPECT_EQ(together, alone(streams));
}

TEST_F(sharing, what_a_stream_has_computed_serves_the_next_turn) {
  load();
  const auto first = stream(0, 70, 40);
  open(first);
  run();
  auto next = stream(1, 0, 20);
  next.prompt_ids = first.prompt_ids;
  next.prompt_ids.insert(next.prompt_ids.end(), out_.ids[0].begin(), out_.ids[0].end());
  next.prompt_ids.push_back(77);
  open(next);
  run();
  EXPECT_EQ(out_.cached[1], (70u + 39) / 32 * 32) << "the last token made was never fed";
  const auto made = out_.ids[1];
  EXPECT_EQ(made, alone({next})[1]);
}

TEST_F(sharing, callers_of_different_keys_share_nothing) {
  load();
  auto a = stream(0, 100, 5), b = a;
  b.key.choice = 1;
  a.cache_salt = 1;
  b.cache_salt = 2;
  open(a);
  open(b);
  run();
  EXPECT_EQ(out_.cached[1], 0u);
  EXPECT_EQ(core_->counters.prompt_tokens.load(), 200u);
  b.key.choice = 2;
  open(b);
  run();
  EXPECT_EQ(out_.cached[2], 96u);
}

TEST_F(sharing, tokens_beyond_those_accepted_are_not_kept) {
  load();
  open(stream(0, 60, 150));
  for (int i = 0; i < 120; ++i) batch_->step();
  ASSERT_GT(out_.ids[0].size(), 100u);
  batch_->close({{1, 1, 0}, 1, 40});
  EXPECT_EQ(core_->prefixes->pages(0), 3u) << "60 of the prompt and 40 accepted fill three pages";
  EXPECT_EQ(unused_pages(), core_->pages.pages());
}

TEST_F(sharing, the_close_of_a_cancelled_stream_says_what_of_it_is_kept) {
  load();
  for (const std::uint32_t accepted : {40u, 0u}) {
    const auto m = stream(accepted, 60, 150);
    open(m);
    for (int i = 0; i < 120; ++i) batch_->step();
    core_->cancel[accepted].set();
    batch_->step();
    EXPECT_EQ(core_->counters.streams_open.load(), 0u);
    const std::uint32_t before = core_->prefixes->pages(0);
    batch_->close({m.key, 1, accepted});
    EXPECT_EQ(core_->prefixes->pages(0) - before, accepted == 0 ? 0u : 2u);
    EXPECT_EQ(unused_pages(), core_->pages.pages());
  }
}

TEST_F(sharing, a_stream_that_waits_for_a_prefix_goes_on_when_its_computer_is_gone) {
  load();
  open(similar(0, 200, 3, 10));
  open(similar(1, 200, 4, 10));
  batch_->step();
  EXPECT_EQ(core_->counters.streams_waiting.load(), 1u);
  core_->cancel[0].set();
  run();
  EXPECT_EQ(out_.ids.count(0), 0u);
  EXPECT_EQ(out_.ids[1].size(), 10u);
  EXPECT_EQ(out_.cached[1], 32u) << "what was computed until then";
}

TEST_F(sharing, waiting_for_a_prefix_holds_up_nobody_else) {
  load();
  open(similar(0, 200, 3, 10));
  open(similar(1, 200, 4, 10));
  open(stream(2, 4, 10));
  batch_->step();
  batch_->step();
  EXPECT_EQ(out_.cached.count(1), 0u);
  EXPECT_EQ(out_.cached.count(2), 1u);
}

class dry_pool : public sharing {
 protected:
  /// Eight long streams over a quarter of the pages that they need, which is one context.
  void open_eight() {
    load(8, 0, 1280);
    std::uint32_t needed = 0;
    for (std::uint32_t c = 0; c < 8; ++c) {
      streams_.push_back(stream(c, 200 + c, 440));
      streams_.back().priority = static_cast<std::int32_t>(c % 3);
      needed += plan::pages_for(200 + c + 440);
    }
    ASSERT_LE(core_->pages.pages(), needed / 4);
    for (const auto& m : streams_) open(m);
  }
  /// Steps until nobody is there any more, half a millisecond each; calls `look` after each.
  void run_on(const std::function<void()>& look = [] {}) {
    for (int i = 0; i < 20000 && core_->counters.streams_open > 0; ++i) {
      now_ += 500us;
      batch_->step();
      look();
    }
  }
  void run_until_parked() {
    for (int i = 0; i < 2000 && core_->counters.parkings.load() == 0; ++i) batch_->step();
    ASSERT_EQ(core_->counters.parkings.load(), 1u);
  }
  std::vector<msg::open_stream> streams_;
};

TEST_F(dry_pool, everyone_finishes_with_the_text_of_unlimited_memory) {
  open_eight();
  const std::uint64_t total = budget_->numbers().total;
  run_on([&] {
    const auto numbers = budget_->numbers();
    std::uint64_t taken = numbers.earmarked;
    for (const auto bytes : numbers.taken) taken += bytes;
    ASSERT_LE(taken, total);
    ASSERT_EQ(core_->pages.pages(), 40u);
  });
  EXPECT_TRUE(out_.refusals.empty());
  EXPECT_TRUE(out_.faults.empty());
  EXPECT_GT(core_->counters.parkings.load(), 0u);
  for (std::uint32_t c = 0; c < 8; ++c) EXPECT_EQ(out_.ids[c].size(), 440u) << c;
  EXPECT_EQ(unused_pages(), core_->pages.pages());
  const texts under_pressure = out_.ids;
  EXPECT_EQ(under_pressure, alone(streams_));
}

TEST_F(dry_pool, the_senior_is_in_every_step_until_it_ends) {
  std::set<std::uint32_t> running;
  hooks_.before_step = [&](std::span<const journal_row> rows) {
    // All have credit: who is not in the step is not running.
    std::set<std::uint32_t> now;
    for (const auto& row : rows) now.insert(row.key.choice);
    const auto senior = std::ranges::find_if(running, [&](std::uint32_t c) { return out_.ends.count(c) == 0; });
    if (senior != running.end()) {
      EXPECT_EQ(now.count(*senior), 1u) << *senior << " was made to wait";
    }
    running = now;
  };
  open_eight();
  run_on();
  EXPECT_EQ(out_.ends.size(), 8u);
  EXPECT_GT(core_->counters.parkings.load(), 0u);
}

TEST_F(dry_pool, a_second_lies_between_two_parkings_of_a_stream_and_nobody_is_admitted_meanwhile) {
  std::map<std::uint32_t, batch_time> parked_at;
  std::set<std::uint32_t> running, parked;
  std::size_t admitted = 0;
  hooks_.before_step = [&](std::span<const journal_row> rows) {
    // All have credit: who is not in the step is not running.
    std::set<std::uint32_t> now;
    for (const auto& row : rows) now.insert(row.key.choice);
    for (const std::uint32_t c : now) parked.erase(c);
    if (!parked.empty()) {
      EXPECT_EQ(out_.cached.size(), admitted);
    }
    for (const std::uint32_t c : running) {
      if (now.count(c) != 0 || out_.ends.count(c) != 0) continue;
      if (parked_at.count(c) != 0) {
        EXPECT_GE(now_ - parked_at[c], 1s) << c;
      }
      parked_at[c] = now_;
      parked.insert(c);
    }
    running = now;
    admitted = out_.cached.size();
  };
  open_eight();
  run_on();
  EXPECT_GT(parked_at.size(), 0u);
  EXPECT_EQ(out_.ends.size(), 8u);
}

TEST_F(dry_pool, the_youngest_of_the_lowest_priority_gives_way) {
  load(3, 0, 1280);
  auto low = stream(1, 60, 600), high = stream(2, 60, 600);
  low.priority = 1;
  high.priority = 2;
  open(stream(0, 60, 600));
  open(low);
  open(high);
  run_until_parked();
  const auto made = out_.ids;
  batch_->step();
  EXPECT_EQ(out_.ids[1].size(), made.at(1).size());
  EXPECT_GT(out_.ids[2].size(), made.at(2).size());
}

TEST_F(dry_pool, what_a_cancelled_stream_holds_goes_before_anyone_is_parked) {
  load(2, 0, 1280);
  open(stream(0, 900, 100));
  for (int i = 0; i < 40; ++i) batch_->step();
  core_->cancel[0].set();
  open(stream(1, 700, 300));
  run();
  EXPECT_EQ(core_->counters.parkings.load(), 0u);
  EXPECT_EQ(out_.ids[1].size(), 300u);
  batch_->close({{1, 1, 0}, 1, 10});
  EXPECT_EQ(unused_pages(), core_->pages.pages());
}

TEST_F(dry_pool, a_parked_stream_can_be_cancelled_and_says_when_it_is_due) {
  load(2, 0, 1280);
  open(stream(0, 100, 800));
  open(stream(1, 60, 700));
  run_until_parked();
  ASSERT_TRUE(batch_->due());
  EXPECT_EQ(*batch_->due(), now_ + 1s);
  now_ += 2s;
  EXPECT_TRUE(batch_->due()) << "nobody has looked whether it may run since";
  EXPECT_TRUE(batch_->has_work());
  EXPECT_FALSE(batch_->due()) << "time alone brings no pages";
  core_->cancel[1].set();
  run();
  EXPECT_EQ(out_.ids[0].size(), 800u);
  EXPECT_EQ(out_.ends.count(1), 0u);
  EXPECT_EQ(unused_pages(), core_->pages.pages());
}

TEST_F(dry_pool, kept_pages_go_before_anyone_is_parked) {
  load(2, 0, 1280);
  open(stream(0, 800, 300));
  run();
  EXPECT_GT(core_->prefixes->pages(0), 0u);
  open(stream(1, 100, 400));
  run();
  EXPECT_EQ(core_->counters.parkings.load(), 0u);
  EXPECT_GT(core_->prefixes->counts().evicted_pages, 0u);
}

TEST_F(sharing, pages_beyond_the_floor_are_taken_as_they_are_needed) {
  load(4);
  EXPECT_EQ(core_->pages.pages(), 8u);
  const auto before = budget_->numbers().free;
  for (std::uint32_t c = 0; c < 4; ++c) open(stream(c, 200, 50));
  run();
  EXPECT_GT(core_->pages.pages(), 8u);
  EXPECT_EQ(before - budget_->numbers().free, (core_->pages.pages() - 8) * core_->pages.page_bytes());
  EXPECT_EQ(core_->counters.parkings.load(), 0u);
}

TEST_F(sharing, prompts_are_cut_to_fifty_milliseconds_while_others_decode) {
  std::vector<std::uint32_t> chunks;
  std::uint32_t decoding = 0;
  hooks_.before_step = [&](std::span<const journal_row> rows) {
    decoding = 0;
    std::uint32_t tokens = 0;
    for (const auto& row : rows) {
      decoding += row.tokens == 1 ? 1 : 0;
      if (row.tokens > 1) tokens += row.tokens;
    }
    if (decoding > 0 && tokens > 0) chunks.push_back(tokens);
    // A step costs 10 ms and 2 ms for each token.
    cost_ = 10ms + (tokens + decoding) * 2ms;
  };
  hooks_.tap = [&](const plan::op& o) {
    if (o.kind == plan::op_kind::embed) now_ += cost_;
  };
  load(4, std::uint64_t{1} << 30, 1024);
  open(stream(0, 4, 600));
  batch_->step();
  open(stream(1, 700, 4));
  while (out_.ids[1].empty() && chunks.size() < 200) batch_->step();
  ASSERT_GT(chunks.size(), 10u);
  for (std::size_t i = 8; i + 1 < chunks.size(); ++i) EXPECT_NEAR(chunks[i], 19, 3) << i;
  EXPECT_GE(out_.ids[0].size(), chunks.size()) << "a token in every step";
}

}  // namespace
}  // namespace infer::actors
