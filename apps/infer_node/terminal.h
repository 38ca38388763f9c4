// The terminal: lines with editing and recall by libedit, pasted text whole, Ctrl-C as a key, and a flag for Ctrl-C
// while an answer streams.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace infer::apps {

struct terminal_input {
  enum class kind { line, interrupted, end } what{};
  std::string text;       // line: without its end; line ends inside were pasted or recalled
  bool had_text = false;  // interrupted: something stood in the line
};

/// Threads: one caller. One at a time in a process.
class terminal {
 public:
  /// Whole lines that the text of a line up to the cursor can be completed to.
  using completer = std::function<std::vector<std::string>(std::string_view begun)>;

  explicit terminal(completer complete);
  ~terminal();
  terminal(const terminal&) = delete;
  terminal& operator=(const terminal&) = delete;

  /// Waits for a line.
  terminal_input read(std::string_view prompt);
  /// Adds a text to what the arrow keys and Ctrl-R bring back.
  void remember(const std::string& text);

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

/// While it lives: Ctrl-C sets a flag, and what is typed is not echoed. What ends the program gives the terminal back.
class answering {
 public:
  answering();
  ~answering();
  answering(const answering&) = delete;
  answering& operator=(const answering&) = delete;

  const std::atomic<bool>* cancelled() const;
};

/// Whether a program may colour what it writes to standard output: a terminal, not a dumb one, and no NO_COLOR.
bool may_colour();

}  // namespace infer::apps
