// Tests of: Edges by linear probing.
#include "engine/tokenize/byte_trie.h"

#include <gtest/gtest.h>

#include <string>

namespace infer::tokenize {
namespace {

TEST(byte_trie, walks_as_far_as_a_text_goes) {
  byte_trie trie;
  trie.insert("ab", 1);
  trie.insert("abc", 2);
  trie.insert("ab", 3);
  trie.insert("", 4);
  byte_trie::cursor where;
  EXPECT_EQ(trie.at(where), -1);
  ASSERT_TRUE(trie.step(where, 'a'));
  EXPECT_EQ(trie.at(where), -1);
  ASSERT_TRUE(trie.step(where, 'b'));
  EXPECT_EQ(trie.at(where), 1);
  ASSERT_TRUE(trie.step(where, 'c'));
  EXPECT_EQ(trie.at(where), 2);
  EXPECT_FALSE(trie.step(where, 'd'));
}

TEST(byte_trie, keeps_all_while_it_grows) {
  byte_trie trie;
  for (token_id i = 0; i < 3000; ++i) trie.insert(std::to_string(i) + ".", i);
  for (token_id i = 0; i < 3000; ++i) {
    byte_trie::cursor where;
    for (const char byte : std::to_string(i) + ".") ASSERT_TRUE(trie.step(where, byte));
    EXPECT_EQ(trie.at(where), i);
  }
}

}  // namespace
}  // namespace infer::tokenize
