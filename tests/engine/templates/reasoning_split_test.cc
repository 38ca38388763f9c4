// Thinking set apart, whatever the pieces the text arrives in.
#include "engine/templates/reasoning_split.h"

#include <gtest/gtest.h>

namespace infer::templates {
namespace {

struct parts {
  std::string reasoning, text;
  friend bool operator==(const parts&, const parts&) = default;
};

std::ostream& operator<<(std::ostream& out, const parts& p) {
  return out << "thinking '" << p.reasoning << "', answer '" << p.text << "'";
}

/// The answer cut into pieces of `size` bytes.
parts split(std::string_view answer, std::size_t size, bool inside = false) {
  reasoning_split cut(inside);
  parts out;
  const auto take = [&](const std::vector<answer_piece>& pieces) {
    for (const answer_piece& piece : pieces) (piece.reasoning ? out.reasoning : out.text) += piece.text;
  };
  for (std::size_t from = 0; from < answer.size(); from += size) take(cut.push(answer.substr(from, size)));
  take(cut.finish());
  return out;
}

struct example {
  std::string_view answer;
  bool inside;
  parts is;
};

TEST(ReasoningSplit, GivesTheSamePartsForPiecesOfEverySize) {
  const std::vector<example> examples{
      {"<think>\nwhat is it\n</think>\n\nIt is this.", false, {"what is it", "It is this."}},
      {"\n<think>a b</think>c", false, {"a b", "c"}},
      {"[THINK]a [b] </c> d[/THINK] e", false, {"a [b] </c> d", "e"}},
      {"<think>\n\n</think>\n\nNo thought.", false, {"", "No thought."}},
      {"<think>never ended, with a < at the end <", false, {"never ended, with a < at the end <", ""}},
      {"first\n\nsecond </thin", true, {"first\n\nsecond </thin", ""}},
      {"begun before\n</think>\nanswer with <think> in it </think>.",
       true,
       {"begun before", "answer with <think> in it </think>."}},
      {"An answer about <think> tags.", false, {"", "An answer about <think> tags."}},
      {"  \n an indented answer\n", false, {"", "  \n an indented answer\n"}},
      {"<thin", false, {"", "<thin"}},
      {"", false, {"", ""}},
      {"", true, {"", ""}},
      {" \n", false, {"", " \n"}},
      {"<think>x</think>", false, {"x", ""}},
      {"<think>x</think>  \n", false, {"x", ""}},
  };
  for (const example& e : examples) {
    for (std::size_t size = 1; size <= e.answer.size() + 1; ++size)
      EXPECT_EQ(split(e.answer, size, e.inside), e.is) << e.answer << " in pieces of " << size;
  }
}

TEST(ReasoningSplit, HoldsBackNoMoreThanMayBeATag) {
  reasoning_split cut;
  EXPECT_EQ(cut.push("Hello"), (std::vector<answer_piece>{{false, "Hello"}}));
  EXPECT_EQ(cut.push(" <"), (std::vector<answer_piece>{{false, " <"}}));
  reasoning_split inside(true);
  EXPECT_EQ(inside.push("a <"), (std::vector<answer_piece>{{true, "a"}}));
  EXPECT_EQ(inside.push("b"), (std::vector<answer_piece>{{true, " <b"}}));
}

TEST(ReasoningSplit, ATemplateThatOpensTheBlockIsRecognised) {
  EXPECT_TRUE(ends_in_reasoning("<|im_start|>assistant\n<think>\n"));
  EXPECT_TRUE(ends_in_reasoning("[THINK]"));
  EXPECT_FALSE(ends_in_reasoning("<|im_start|>assistant\n"));
  EXPECT_FALSE(ends_in_reasoning("<think>\n\n</think>\n\n"));
  EXPECT_FALSE(ends_in_reasoning(""));
}

TEST(ReasoningSplit, TagsAreKnownWhole) {
  for (const char* const tag : {"<think>", "</think>", "[THINK]", "[/THINK]"}) EXPECT_TRUE(is_reasoning_tag(tag));
  for (const char* const other : {"", "<think", "think", "<|im_end|>"}) EXPECT_FALSE(is_reasoning_tag(other));
}

TEST(ReasoningSplit, AMessageMayLeaveItsThinkingOpen) {
  EXPECT_TRUE(leaves_reasoning_open("<think>\nso"));
  EXPECT_TRUE(leaves_reasoning_open("\n[THINK]so"));
  EXPECT_FALSE(leaves_reasoning_open("<think>\nso\n</think>\n\nYes"));
  EXPECT_FALSE(leaves_reasoning_open("The tag <think>")) << "only a tag at its beginning opens a block";
  EXPECT_FALSE(leaves_reasoning_open(""));
}

}  // namespace
}  // namespace infer::templates
