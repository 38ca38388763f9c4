// Tests of: The merge loop: a scan for short pieces, a heap over a linked list for long ones.
#include "engine/tokenize/byte_pair.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>

namespace infer::tokenize {
namespace {

struct rules {
  std::vector<std::pair<std::pair<token_id, token_id>, token_id>> merges;
  byte_pair model;

  void add(token_id left, token_id right, token_id merged) {
    merges.push_back({{left, right}, merged});
    model.add_merge(left, right, merged);
  }
  // The definition: join the best-ranked, leftmost pair until there is none.
  std::vector<token_id> slowly(std::string_view text) const {
    std::vector<token_id> ids(text.begin(), text.end());
    for (;;) {
      std::size_t best_rank = merges.size(), where = 0;
      for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
        for (std::size_t rank = 0; rank < best_rank; ++rank) {
          if (merges[rank].first == std::pair{ids[i], ids[i + 1]}) {
            best_rank = rank;
            where = i;
            break;
          }
        }
      }
      if (best_rank == merges.size()) return ids;
      ids[where] = merges[best_rank].second;
      ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(where) + 1);
    }
  }
};

rules random_rules(std::mt19937& random) {
  rules made;
  for (int byte = 0; byte < 128; ++byte) made.model.set_byte(static_cast<std::uint8_t>(byte), byte);
  std::vector<token_id> known = {'a', 'b', 'c'};
  for (token_id merged = 200; merged < 240; ++merged) {
    const token_id left = known[random() % known.size()], right = known[random() % known.size()];
    bool there = false;
    for (const auto& entry : made.merges) there |= entry.first == std::pair{left, right};
    if (there) continue;
    made.add(left, right, merged);
    known.push_back(merged);
  }
  return made;
}

TEST(byte_pair, short_and_long_pieces_follow_the_definition) {
  std::mt19937 random(7);
  byte_pair::workspace scratch;
  for (int round = 0; round < 60; ++round) {
    const rules made = random_rules(random);
    for (const std::size_t length : {1, 2, 3, 7, 23, 24, 25, 26, 60, 150}) {
      std::string text;
      for (std::size_t i = 0; i < length; ++i) text.push_back(static_cast<char>('a' + random() % 3));
      std::vector<token_id> ids;
      made.model.encode(text, scratch, ids);
      EXPECT_EQ(ids, made.slowly(text)) << text;
    }
  }
}

TEST(byte_pair, bytes_without_a_token_are_dropped_and_their_neighbours_meet) {
  byte_pair model;
  model.set_byte('a', 1);
  model.set_byte('b', 2);
  model.add_merge(1, 2, 3);
  byte_pair::workspace scratch;
  std::vector<token_id> ids;
  model.encode("axb", scratch, ids);
  EXPECT_EQ(ids, std::vector<token_id>{3});
  ids.clear();
  model.encode("xyz", scratch, ids);
  EXPECT_TRUE(ids.empty());
}

TEST(byte_pair, a_repeated_rule_keeps_its_first_rank_and_growth_keeps_all) {
  byte_pair model;
  for (int i = 0; i < 5000; ++i) model.add_merge(i, i + 1, 10000 + i);
  model.add_merge(0, 1, 99999);
  model.set_byte('a', 0);
  model.set_byte('b', 1);
  byte_pair::workspace scratch;
  std::vector<token_id> ids;
  model.encode("ab", scratch, ids);
  EXPECT_EQ(ids, std::vector<token_id>{10000});
}

TEST(byte_pair, a_text_of_twice_the_length_looks_at_twice_the_candidates) {
  byte_pair model;
  for (const char letter : {'a', 'b'}) model.set_byte(static_cast<std::uint8_t>(letter), letter);
  for (token_id i = 0; i < 6; ++i) model.add_merge(i == 0 ? 'a' : 199 + i, i == 0 ? 'a' : 199 + i, 200 + i);
  model.add_merge('a', 'b', 300);
  model.add_merge(300, 300, 301);
  for (const std::string unit : {"a", "ab", "aab", "b"}) {
    std::uint64_t before = 0;
    for (const std::size_t repeats : {std::size_t{1} << 14, std::size_t{1} << 15, std::size_t{1} << 16}) {
      std::string text;
      for (std::size_t i = 0; i < repeats; ++i) text += unit;
      byte_pair::workspace scratch;
      std::vector<token_id> ids;
      model.encode(text, scratch, ids);
      EXPECT_LE(scratch.looked_at, 3 * text.size()) << unit;
      EXPECT_TRUE(before == 0 || scratch.looked_at <= 2 * before + 64) << unit;
      before = scratch.looked_at;
    }
  }
}

TEST(byte_pair, ranks_of_their_own_decide_and_equal_ones_go_from_the_left) {
  byte_pair model;
  for (const char letter : {'a', 'b', 'c'}) model.set_byte(static_cast<std::uint8_t>(letter), letter);
  model.add_ranked_merge('a', 'b', 200, 5);
  model.add_ranked_merge('b', 'c', 201, 4);
  model.add_ranked_merge('a', 'a', 202, 4);
  byte_pair::workspace scratch;
  std::vector<token_id> ids;
  model.encode("aabc", scratch, ids);
  EXPECT_EQ(ids, (std::vector<token_id>{202, 201}));
}

TEST(byte_pair, a_megabyte_of_one_letter_ends) {
  byte_pair model;
  model.set_byte('a', 0);
  for (token_id i = 0; i < 6; ++i) model.add_merge(i, i, i + 1);
  byte_pair::workspace scratch;
  std::vector<token_id> ids;
  model.encode(std::string(1 << 20, 'a'), scratch, ids);
  EXPECT_EQ(ids, std::vector<token_id>((1 << 20) / 64, 6));
}

}  // namespace
}  // namespace infer::tokenize
