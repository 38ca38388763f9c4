// A chat without a terminal and without a model: lines and answers in, effects out.
//
//   line ──▶ input ──▶ command or prompt ──▶ effects: say, answer, save, load, leave
//   answer ──▶ conversation
//
// Who shows effects, reads files and asks the model is elsewhere (chat.cc).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/infer_node/chat/chat_settings.h"
#include "apps/infer_node/chat/conversation.h"

namespace infer::apps {

enum class effect_kind {
  say,       // show `text`
  complain,  // show `text` as a fault
  remember,  // keep `text` for recall
  answer,    // ask the model for the next turn
  save,      // write saved_text(turns()) to the file `text`
  load,      // read the file `text` and tell loaded()
  leave,
};

struct effect {
  effect_kind kind{};
  std::string text;

  friend bool operator==(const effect&, const effect&) = default;
};
using effects = std::vector<effect>;

/// How an answer ended.
struct answer_end {
  std::string text, reasoning;
  bool complete = true;  // false: broken off, by the user or by a fault
};

/// Threads: one caller.
class chat_core {
 public:
  chat_core(chat_settings settings, std::string system);

  /// What to show before the next line.
  std::string_view prompt() const { return collecting() ? "... " : ">>> "; }
  /// Whether a prompt of several lines has been begun.
  bool collecting() const { return pending_.has_value(); }

  /// A line without its end; several where text with line ends was pasted or recalled.
  effects line(std::string_view text);
  /// Ctrl-C; `had_text` where something stood in the line.
  effects interrupted(bool had_text);
  /// The end of the input.
  effects ended();

  /// The answer to the last effect `answer`. One without any text takes its prompt back out of the conversation, or
  /// leaves what was there where a prompt was to be answered again.
  effects answered(const answer_end& end);
  /// The conversation was refused because the model's context does not hold it: leaves out the older half of its
  /// exchanges and asks again. Nothing where only the prompt is left. What is left out is forgotten when an answer
  /// comes.
  effects too_long();
  /// The text of the file that an effect `load` named, or why there is none.
  effects loaded(const std::string& path, const result<std::string>& text);

  const std::vector<chat_turn>& turns() const { return turns_; }
  const chat_settings& settings() const { return settings_; }

  /// Names of commands, or of settings after /set, that `begun` (a line's text) can be completed to: whole lines.
  static std::vector<std::string> completions(std::string_view begun);

 private:
  struct input {
    std::string text;
    bool quoted = false;
  };

  effects whole(std::string_view text, bool is_quoted);
  effects command(std::string_view name, std::string_view rest);
  effects set(std::string_view rest);
  effects show() const;
  effects again();
  void set_system(std::string_view text);
  /// Turns before the conversation: 1 where the first is a system message.
  std::size_t system_turns() const { return !turns_.empty() && turns_.front().role == "system" ? 1 : 0; }

  chat_settings settings_;
  std::vector<chat_turn> turns_;
  std::vector<chat_turn> uncut_;         // of a conversation that is being shortened; else empty
  std::vector<chat_turn> before_again_;  // while its last prompt is answered again; else empty
  std::optional<input> pending_;
};

}  // namespace infer::apps
