// What reaches the terminal.
#include "apps/infer_node/chat/shown_text.h"

#include <gtest/gtest.h>

namespace infer::apps {
namespace {

TEST(TerminalText, LeavesTextAloneAndShowsControls) {
  EXPECT_EQ(terminal_text("plain\ttext\nä € 😀"), "plain\ttext\nä € 😀");
  EXPECT_EQ(terminal_text("\x1b]0;title\x07 \r\x7f"), "^[]0;title^G ^M^?");
  EXPECT_EQ(terminal_text(std::string_view("\0", 1)), "^@");
  EXPECT_EQ(terminal_text("\xc2\x9b"
                          "31m"),
            "M-^[31m");
  EXPECT_EQ(terminal_text("\xc2\xa0"), "\xc2\xa0") << "a space that does not break is none";
  EXPECT_EQ(terminal_text("\xc2"), "\xc2");
}

std::string shown(bool colours, const std::vector<templates::answer_piece>& pieces) {
  answer_view view(colours);
  std::string out;
  for (const templates::answer_piece& piece : pieces) out += view.show(piece);
  return out + view.finish();
}

TEST(AnswerView, DimsThinkingWhereThereAreColours) {
  EXPECT_EQ(shown(true, {{true, "a"}, {true, "b"}, {false, "c"}, {false, "d"}}), "\x1b[2mab\x1b[0m\n\ncd\n");
  EXPECT_EQ(shown(true, {{true, "a"}}), "\x1b[2ma\x1b[0m\n") << "also where nothing follows";
}

TEST(AnswerView, MarksThinkingWhereThereAreNone) {
  EXPECT_EQ(shown(false, {{true, "a"}, {false, "c"}}), "<think>\na\n</think>\n\nc\n");
  EXPECT_EQ(shown(false, {{true, "a"}}), "<think>\na\n</think>\n");
}

TEST(AnswerView, EndsTheLineOnce) {
  EXPECT_EQ(shown(true, {{false, "c"}}), "c\n");
  EXPECT_EQ(shown(true, {{false, "c\n"}}), "c\n");
  EXPECT_EQ(shown(true, {}), "");
  EXPECT_EQ(shown(true, {{false, "c"}, {true, "d"}, {false, "e"}}), "c\n\x1b[2md\x1b[0m\n\ne\n");
}

TEST(Dimmed, IsPlainWithoutColours) {
  EXPECT_EQ(dimmed("a", true), "\x1b[2ma\x1b[0m");
  EXPECT_EQ(dimmed("a", false), "a");
}

}  // namespace
}  // namespace infer::apps
