// Tests of: Linear probing over pieces.
#include "engine/tokenize/piece_table.h"

#include <gtest/gtest.h>

namespace infer::tokenize {
namespace {

TEST(piece_table, finds_what_was_inserted_and_nothing_else) {
  piece_table table;
  for (token_id i = 0; i < 5000; ++i) EXPECT_TRUE(table.insert("piece" + std::to_string(i), i));
  for (token_id i = 0; i < 5000; ++i) EXPECT_EQ(table.find("piece" + std::to_string(i)), i);
  EXPECT_EQ(table.size(), 5000u);
  EXPECT_EQ(table.longest(), 9u);
  EXPECT_EQ(table.find("piece5000"), -1);
  EXPECT_EQ(table.find(""), -1);
  EXPECT_EQ(table.find("a piece longer than all"), -1);
}

TEST(piece_table, the_first_of_two_stays) {
  piece_table table(2);
  EXPECT_TRUE(table.insert("a", 7));
  EXPECT_FALSE(table.insert("a", 8));
  EXPECT_EQ(table.find("a"), 7);
}

}  // namespace
}  // namespace infer::tokenize
