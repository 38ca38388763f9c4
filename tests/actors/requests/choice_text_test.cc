// Stop strings and characters across every way of cutting a text into tokens.
#include "actors/requests/choice_text.h"

#include <gtest/gtest.h>

#include <random>

namespace infer::actors {
namespace {

msg::token token(std::string bytes, std::int32_t id = 1) {
  return {id, std::move(bytes), 0.0f, {}};
}

struct shown {
  std::string text;
  std::string token_bytes;
  std::vector<msg::text_token> tokens;
  std::optional<std::string> stopped_by;
  std::size_t pushed = 0;
};

/// Pushes pieces until a stop, then ends.
shown run(const std::vector<std::string>& pieces, const std::vector<std::string>& stop) {
  choice_text text(stop);
  shown out;
  const auto take = [&](text_step step) {
    out.text += step.text;
    for (auto& t : step.tokens) {
      out.token_bytes += t.bytes;
      out.tokens.push_back(t);
    }
    out.stopped_by = step.stopped_by;
  };
  for (const auto& piece : pieces) {
    ++out.pushed;
    take(text.push(token(piece)));
    if (out.stopped_by) return out;
  }
  take(text.end());
  return out;
}

TEST(choice_text, shows_plain_text_at_once) {
  choice_text text({});
  EXPECT_EQ(text.push(token("Hello")).text, "Hello");
  EXPECT_EQ(text.push(token(" you")).text, " you");
  EXPECT_EQ(text.end().text, "");
}

TEST(choice_text, holds_back_what_may_become_a_stop_string) {
  const std::vector<std::string> stop{"END"};
  choice_text text(stop);
  EXPECT_EQ(text.push(token("aE")).text, "a");
  EXPECT_EQ(text.push(token("N")).text, "");
  EXPECT_EQ(text.push(token("x")).text, "ENx");
}

TEST(choice_text, sets_thinking_apart_and_stops_only_the_answer) {
  const std::vector<std::string> stop{"END"};
  for (const bool inside : {false, true}) {
    choice_text text(stop);
    text.split_reasoning(inside);
    std::string reasoning, answer, bytes;
    std::optional<std::string> stopped_by;
    std::vector<std::string> pieces{"<th",    "ink>", "\n",  "an END", " it is", "</",
                                    "think>", "\n\n", "Yes", " EN",    "D more"};
    if (inside) pieces.erase(pieces.begin(), pieces.begin() + 2);
    for (const std::string& piece : pieces) {
      const text_step step = text.push(token(piece));
      reasoning += step.reasoning;
      answer += step.text;
      for (const auto& t : step.tokens) bytes += t.bytes;
      stopped_by = step.stopped_by;
    }
    EXPECT_EQ(reasoning, "an END it is");
    EXPECT_EQ(answer, "Yes ");
    EXPECT_EQ(stopped_by, "END");
    EXPECT_EQ(bytes, std::string(inside ? "" : "<think>") + "\nan END it is</think>\n\nYes ");
    EXPECT_EQ(text.reasoning_tokens(), inside ? 5u : 7u) << "the tags are of it";
  }
}

TEST(choice_text, tokens_keep_their_share_where_what_was_held_is_no_tag) {
  for (const std::string first : {"[", "<t", " \n"}) {
    const std::vector<std::string> stop{"x"};
    choice_text text(stop);
    text.split_reasoning(false);
    text_step step = text.push(token(first));
    EXPECT_EQ(step.text, "");
    EXPECT_TRUE(step.tokens.empty());
    step = text.push(token("ax"));
    EXPECT_EQ(step.text, first + "a");
    EXPECT_EQ(step.stopped_by, "x");
    ASSERT_EQ(step.tokens.size(), 2u);
    EXPECT_EQ(step.tokens[0].bytes, first);
    EXPECT_EQ(step.tokens[1].bytes, "a");
    choice_text alone(stop);
    alone.split_reasoning(false);
    alone.push(token(first));
    step = alone.push(token("x"));
    EXPECT_EQ(step.text, first);
    EXPECT_EQ(step.tokens.size(), 1u) << "the stop string's token is not shown";
  }
}

TEST(choice_text, a_stop_string_cuts_what_of_a_token_is_the_answer) {
  const std::vector<std::string> stop{"e"};
  choice_text text(stop);
  text.split_reasoning(true);
  text.push(token("so</think>"));
  const text_step step = text.push(token(" The"));
  EXPECT_EQ(step.text, "Th");
  ASSERT_EQ(step.tokens.size(), 1u);
  EXPECT_EQ(step.tokens[0].bytes, " Th");
}

TEST(choice_text, thinking_that_never_ends_is_not_the_answer) {
  choice_text text({});
  text.split_reasoning(true);
  const text_step begun = text.push(token("hm "));
  EXPECT_EQ(begun.reasoning, "hm");
  EXPECT_EQ(begun.tokens.size(), 1u);
  EXPECT_EQ(text.push(token("</thi")).text, "");
  const text_step rest = text.end();
  EXPECT_EQ(rest.reasoning, " </thi");
  EXPECT_EQ(rest.text, "");
}

TEST(choice_text, gives_back_what_it_held_when_the_log_ends) {
  const auto out = run({"a", "E", "N"}, {"END"});
  EXPECT_EQ(out.text, "aEN");
  EXPECT_FALSE(out.stopped_by);
}

TEST(choice_text, cuts_inside_a_token_and_its_bytes_too) {
  const auto out = run({"one STOP two"}, {"STOP"});
  EXPECT_EQ(out.text, "one ");
  EXPECT_EQ(out.stopped_by, "STOP");
  EXPECT_EQ(out.token_bytes, "one ");
}

TEST(choice_text, the_earliest_match_wins_and_of_equals_the_longest) {
  EXPECT_EQ(run({"a bc"}, {"c", "b"}).text, "a ");
  EXPECT_EQ(run({"xab"}, {"a", "ab"}).stopped_by, "ab");
}

TEST(choice_text, every_way_of_cutting_gives_the_same_text) {
  const std::string whole = "Grüße aus Köln 🚀 — und STOP hier nicht mehr";
  const std::vector<std::string> stop{"STOP", "🚀🚀"};
  std::mt19937 random(5);
  for (int round = 0; round < 500; ++round) {
    std::vector<std::string> pieces;
    for (std::size_t at = 0; at < whole.size();) {
      const std::size_t length = 1 + random() % 6;
      pieces.push_back(whole.substr(at, length));
      at += length;
    }
    const auto out = run(pieces, stop);
    ASSERT_EQ(out.text, whole.substr(0, whole.find("STOP")));
    ASSERT_EQ(out.stopped_by, "STOP");
    ASSERT_EQ(out.token_bytes, out.text) << "tokens add up to the text";
  }
}

TEST(choice_text, never_shows_half_a_character) {
  choice_text text({});
  EXPECT_EQ(text.push(token("\xF0\x9F")).text, "");
  EXPECT_TRUE(text.push(token("\x9A")).text.empty());
  const auto step = text.push(token("\x80"));
  EXPECT_EQ(step.text, "\xF0\x9F\x9A\x80");
  EXPECT_EQ(step.tokens.size(), 3u) << "all tokens of a character come with it";
}

TEST(choice_text, a_log_that_ends_inside_a_character_ends_with_a_replacement) {
  const auto out = run({"a\xF0\x9F"}, {});
  EXPECT_EQ(out.text, "a\xEF\xBF\xBD");
  EXPECT_EQ(out.tokens.size(), 1u);
}

TEST(choice_text, a_stop_string_that_is_the_whole_text_shows_nothing) {
  const auto out = run({"S", "T", "O", "P"}, {"STOP"});
  EXPECT_EQ(out.text, "");
  EXPECT_EQ(out.pushed, 4u);
  EXPECT_TRUE(out.tokens.empty());
}

}  // namespace
}  // namespace infer::actors
