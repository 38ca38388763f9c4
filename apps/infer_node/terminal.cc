// libedit and the signals.
#include "apps/infer_node/terminal.h"

#include <histedit.h>
#include <signal.h>
#include <termios.h>
#include <unistd.h>

#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>

namespace infer::apps {
namespace {

constexpr int recalled = 1000;
constexpr wchar_t paste_end[] = L"\x1b[201~";
constexpr std::size_t paste_end_length = 6;

/// Multibyte text in the user's encoding, or in UTF-8 where the user has none.
void set_encoding() {
  std::setlocale(LC_CTYPE, "");
  if (MB_CUR_MAX == 1) std::setlocale(LC_CTYPE, "C.UTF-8");
}

bool is_dumb() {
  const char* const kind = std::getenv("TERM");
  return kind == nullptr || *kind == '\0' || std::strcmp(kind, "dumb") == 0;
}

std::atomic<bool> cancel_flag{false};
termios before_answer{};
bool echo_off = false;

void on_interrupt(int) {
  cancel_flag.store(true);
}

/// Gives the terminal back and ends as if nobody had listened.
void on_end(int signal) {
  if (echo_off) tcsetattr(STDIN_FILENO, TCSANOW, &before_answer);
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

void listen(int signal, void (*to)(int)) {
  struct sigaction action{};
  action.sa_handler = to;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

/// Whether the terminal is to tell pasted text from what is typed; a dumb one cannot.
void mark_pastes(bool on) {
  if (!is_dumb()) std::cout << (on ? "\x1b[?2004h" : "\x1b[?2004l") << std::flush;
}

}  // namespace

bool may_colour() {
  const char* const no = std::getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) != 0 && !is_dumb() && (no == nullptr || *no == '\0');
}

struct terminal::parts {
  EditLine* line = nullptr;
  History* history = nullptr;
  completer complete;
  std::string prompt;
  bool interrupted = false, had_text = false;

  static parts& of(EditLine* line) {
    void* data = nullptr;
    el_get(line, EL_CLIENTDATA, &data);
    return *static_cast<parts*>(data);
  }

  static char* show_prompt(EditLine* line) { return of(line).prompt.data(); }

  static unsigned char on_interrupt_key(EditLine* line, int) {
    const LineInfo* const info = el_line(line);
    parts& p = of(line);
    p.interrupted = true;
    p.had_text = info->lastchar != info->buffer;
    return CC_EOF;
  }

  /// As the key does elsewhere; libedit's own handler gives the terminal back and takes it again.
  static unsigned char on_suspend(EditLine*, int) {
    mark_pastes(false);
    ::raise(SIGTSTP);
    mark_pastes(true);
    return CC_REDISPLAY;
  }

  static unsigned char on_tab(EditLine* line, int) {
    const LineInfo* const info = el_line(line);
    const std::string begun(info->buffer, info->cursor);
    const auto found = of(line).complete(begun);
    if (found.empty()) return CC_REFRESH_BEEP;
    std::string common = found.front();
    for (const std::string& one : found) {
      std::size_t same = 0;
      while (same < common.size() && same < one.size() && common[same] == one[same]) ++same;
      common.resize(same);
    }
    if (common.size() > begun.size()) {
      el_insertstr(line, common.c_str() + begun.size());
      return CC_REFRESH;
    }
    std::cout << "\n";
    for (const std::string& one : found) std::cout << one << "  ";
    std::cout << std::endl;
    return CC_REDISPLAY;
  }

  /// Everything up to the end of the paste, its line ends too, goes into the line.
  static unsigned char on_paste(EditLine* line, int) {
    std::wstring text;
    wchar_t c = 0;
    while (!text.ends_with(paste_end) && el_wgetc(line, &c) == 1) text += c == L'\r' ? L'\n' : c;
    if (text.ends_with(paste_end)) text.resize(text.size() - paste_end_length);
    while (text.ends_with(L'\n')) text.pop_back();
    return text.empty() || el_winsertstr(line, text.c_str()) == 0 ? CC_REFRESH : CC_REFRESH_BEEP;
  }
};

terminal::terminal(completer complete) : parts_(std::make_unique<parts>()) {
  set_encoding();
  // A second Ctrl-C that comes when the answer is over already does not end the program.
  listen(SIGINT, on_interrupt);
  parts& p = *parts_;
  p.complete = std::move(complete);
  p.history = history_init();
  HistEvent event;
  history(p.history, &event, H_SETSIZE, recalled);
  history(p.history, &event, H_SETUNIQUE, 1);
  p.line = el_init("infer-node", stdin, stdout, stderr);
  el_set(p.line, EL_CLIENTDATA, &p);
  el_set(p.line, EL_PROMPT, &parts::show_prompt);
  el_set(p.line, EL_EDITOR, "emacs");
  el_set(p.line, EL_SIGNAL, 1);
  el_set(p.line, EL_HIST, history, p.history);
  // While a line is edited Ctrl-C and Ctrl-Z are keys like others.
  el_set(p.line, EL_SETTY, "-d", "-isig", nullptr);
  el_set(p.line, EL_ADDFN, "infer-interrupt", "clear the line", &parts::on_interrupt_key);
  el_set(p.line, EL_ADDFN, "infer-suspend", "stop the program", &parts::on_suspend);
  el_set(p.line, EL_ADDFN, "infer-complete", "complete a command", &parts::on_tab);
  el_set(p.line, EL_ADDFN, "infer-paste", "take pasted text", &parts::on_paste);
  el_set(p.line, EL_BIND, "^C", "infer-interrupt", nullptr);
  el_set(p.line, EL_BIND, "^Z", "infer-suspend", nullptr);
  el_set(p.line, EL_BIND, "^I", "infer-complete", nullptr);
  el_set(p.line, EL_BIND, "\x1b[200~", "infer-paste", nullptr);
  el_set(p.line, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  el_set(p.line, EL_BIND, "^W", "ed-delete-prev-word", nullptr);
  el_set(p.line, EL_BIND, "\x1b[3~", "ed-delete-next-char", nullptr);
  el_set(p.line, EL_BIND, "\x1b[1;5C", "em-next-word", nullptr);
  el_set(p.line, EL_BIND, "\x1b[1;5D", "ed-prev-word", nullptr);
}

terminal::~terminal() {
  el_end(parts_->line);
  ::signal(SIGINT, SIG_DFL);
  history_end(parts_->history);
}

terminal_input terminal::read(std::string_view prompt) {
  parts& p = *parts_;
  p.prompt = prompt;
  p.interrupted = false;
  // Before the prompt is seen: keys that come with it are keys already.
  el_set(p.line, EL_PREP_TERM, 1);
  mark_pastes(true);
  int count = 0;
  const char* const text = el_gets(p.line, &count);
  mark_pastes(false);
  if (p.interrupted) {
    std::cout << "^C" << std::endl;
    return {terminal_input::kind::interrupted, {}, p.had_text};
  }
  if (text == nullptr || count <= 0) {
    std::cout << std::endl;
    return {terminal_input::kind::end, {}, false};
  }
  std::string line(text, static_cast<std::size_t>(count));
  if (line.ends_with('\n')) line.pop_back();
  return {terminal_input::kind::line, std::move(line), false};
}

void terminal::remember(const std::string& text) {
  HistEvent event;
  history(parts_->history, &event, H_ENTER, text.c_str());
}

answering::answering() {
  cancel_flag.store(false);
  if (tcgetattr(STDIN_FILENO, &before_answer) == 0) {
    termios quiet = before_answer;
    // What is typed ahead waits byte by byte for the next line.
    quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO | ICANON);
    echo_off = tcsetattr(STDIN_FILENO, TCSANOW, &quiet) == 0;
  }
  for (const int signal : {SIGTERM, SIGHUP, SIGQUIT}) listen(signal, on_end);
}

answering::~answering() {
  for (const int signal : {SIGTERM, SIGHUP, SIGQUIT}) ::signal(signal, SIG_DFL);
  if (echo_off) tcsetattr(STDIN_FILENO, TCSANOW, &before_answer);
  echo_off = false;
}

const std::atomic<bool>* answering::cancelled() const {
  return &cancel_flag;
}

}  // namespace infer::apps
