// Tests of: The C library's linear search, which also looks from the right where both strings are turned around.
#include "engine/templates/text_search.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace infer::templates {
namespace {

constexpr std::size_t all = std::numeric_limits<std::size_t>::max();

std::vector<std::size_t> plainly(std::string_view in, std::string_view part, std::size_t most, bool from_right) {
  std::vector<std::size_t> found;
  if (!from_right) {
    for (std::size_t at = 0; found.size() < most && (at = in.find(part, at)) != in.npos; at += part.size())
      found.push_back(at);
    return found;
  }
  for (std::size_t end = in.size(); found.size() < most && end >= part.size();) {
    const std::size_t at = in.rfind(part, end - part.size());
    if (at == in.npos) break;
    found.insert(found.begin(), at);
    end = at;
  }
  return found;
}

TEST(text_search, finds_what_a_plain_search_finds) {
  std::mt19937 random(7);
  for (int i = 0; i < 5000; ++i) {
    std::string in(random() % 40, 'a'), part(1 + random() % (i % 5 + 1), 'a');
    for (char& c : in) c = static_cast<char>('a' + random() % 2);
    for (char& c : part) c = static_cast<char>('a' + random() % 2);
    const std::size_t from = random() % 45;
    ASSERT_EQ(find_first(in, part, from), std::string_view(in).find(part, from)) << in << " " << part << " " << from;
    ASSERT_EQ(find_last(in, part), std::string_view(in).rfind(part)) << in << " " << part;
    ASSERT_EQ(count_occurrences(in, part), plainly(in, part, all, false).size()) << in << " " << part;
    for (const std::size_t most : {std::size_t{0}, std::size_t{1}, std::size_t{2}, all}) {
      ASSERT_EQ(occurrences(in, part, most, false), plainly(in, part, most, false)) << in << " " << part;
      ASSERT_EQ(occurrences(in, part, most, true), plainly(in, part, most, true)) << in << " " << part;
    }
  }
}

TEST(text_search, finds_nothing_everywhere) {
  EXPECT_EQ(find_first("abc", "", 3), 3u);
  EXPECT_EQ(find_first("abc", "", 4), std::string_view::npos);
  EXPECT_EQ(find_last("abc", ""), 3u);
  EXPECT_EQ(find_first("", ""), 0u);
  EXPECT_EQ(find_last("", "a"), std::string_view::npos);
}

TEST(text_search, finds_zero_bytes) {
  const std::string in("a\0b\0c", 5);
  EXPECT_EQ(find_first(in, std::string_view("\0c", 2)), 3u);
  EXPECT_EQ(find_last(in, std::string_view("\0", 1)), 3u);
}

}  // namespace
}  // namespace infer::templates
