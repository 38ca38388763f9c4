// Every fault has a sentence of its own.
#include "engine/formats/fault.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace infer::formats {
namespace {

TEST(FormatsFault, EveryFaultHasItsSentence) {
  std::set<std::string> sentences;
  for (int i = static_cast<int>(fault::cannot_open); i <= static_cast<int>(fault::missing_tensor); ++i) {
    sentences.insert(make_error_code(static_cast<fault>(i)).message());
  }
  EXPECT_EQ(sentences.size(), 9u);
  const std::string unknown = make_error_code(static_cast<fault>(99)).message();
  EXPECT_FALSE(sentences.contains(unknown));
  EXPECT_FALSE(unknown.empty());
}

}  // namespace
}  // namespace infer::formats
