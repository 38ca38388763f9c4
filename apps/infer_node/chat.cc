// The chat's effects on terminal, files and model.
#include "apps/infer_node/chat.h"

#include <cerrno>
#include <fstream>
#include <iostream>
#include <utility>

#include "apps/infer_node/chat/chat_core.h"
#include "apps/infer_node/chat/prompt_history.h"
#include "apps/infer_node/chat/shown_text.h"
#include "apps/infer_node/terminal.h"
#include "apps/infer_node/whole_text.h"

namespace infer::apps {
namespace {

constexpr std::size_t kept_prompts = 1000;

auto system_fault(int code) {
  return fail(error{std::error_code(code, std::generic_category()), {}});
}

result<void> write_file(const std::string& path, const std::string& text) {
  errno = 0;
  std::ofstream to(path, std::ios::binary | std::ios::trunc);
  to << text;
  to.close();
  if (!to) return system_fault(errno != 0 ? errno : EIO);
  return success();
}

class session {
 public:
  session(answer_source& source, chat_settings settings, const std::string& system)
      : source_(source), core_(std::move(settings), system), terminal_(&chat_core::completions) {
    for (const std::string& prompt : read_history(file_, kept_prompts)) terminal_.remember(prompt);
  }

  void run() {
    std::cout << terminal_text(source_.name()) << "; /help lists what can be done, Ctrl-D leaves.\n";
    while (!left_) {
      const terminal_input input = terminal_.read(core_.prompt());
      switch (input.what) {
        case terminal_input::kind::line:
          perform(core_.line(input.text));
          break;
        case terminal_input::kind::interrupted:
          perform(core_.interrupted(input.had_text));
          break;
        case terminal_input::kind::end:
          perform(core_.ended());
          break;
      }
    }
  }

 private:
  void perform(const effects& all) {
    for (const effect& one : all) {
      if (!left_) perform(one);
    }
  }

  void perform(const effect& one) {
    switch (one.kind) {
      case effect_kind::say:
        std::cout << terminal_text(one.text) << std::endl;
        break;
      case effect_kind::complain:
        std::cout << "! " << terminal_text(one.text) << std::endl;
        break;
      case effect_kind::remember:
        remember(one.text);
        break;
      case effect_kind::answer:
        answer();
        break;
      case effect_kind::save:
        save(with_home(one.text));
        break;
      case effect_kind::load:
        load(with_home(one.text));
        break;
      case effect_kind::leave:
        left_ = true;
        break;
    }
  }

  void remember(const std::string& text) {
    terminal_.remember(text);
    if (!core_.settings().history || file_.empty()) return;
    result<void> kept = append_history(file_, text);
    if (kept) kept = trim_history(file_, kept_prompts);
    if (!kept && !std::exchange(complained_, true))
      std::cout << "! prompts are not kept: " << kept.error().message() << std::endl;
  }

  void load(const std::string& path) { perform(core_.loaded(path, read_file(path))); }

  void save(const std::string& path) {
    const auto written = write_file(path, saved_text(core_.turns()));
    if (written)
      std::cout << "saved to " << terminal_text(path) << std::endl;
    else
      std::cout << "! " << terminal_text(path) << ": " << written.error().message() << std::endl;
  }

  void answer() {
    answer_view view(colours_);
    answer_end end;
    answer_report report;
    {
      const answering quiet;
      report = source_.answer(
          {core_.turns(), core_.settings()}, true,
          [&](const templates::answer_piece& piece) {
            (piece.reasoning ? end.reasoning : end.text) += piece.text;
            std::cout << view.show(piece) << std::flush;
          },
          quiet.cancelled());
    }
    if (report.too_long) {
      if (const effects shorter = core_.too_long(); !shorter.empty()) return perform(shorter);
    }
    std::cout << view.finish();
    end.complete = !report.cancelled && report.failure.empty();
    const bool is_empty = end.text.empty() && end.reasoning.empty();
    if (report.cancelled)
      std::cout << dimmed(is_empty ? "[stopped before the first word; the prompt is dropped]" : "[stopped]", colours_)
                << "\n";
    if (!report.failure.empty()) std::cout << "! " << terminal_text(report.failure) << "\n";
    if (report.finish_reason == "length") std::cout << dimmed("[cut off: the limit of tokens]", colours_) << "\n";
    if (core_.settings().stats && !is_empty) {
      const std::string line = stats_line(report.stats);
      if (!line.empty()) std::cout << dimmed(line, colours_) << "\n";
    }
    std::cout << std::flush;
    perform(core_.answered(end));
  }

  answer_source& source_;
  chat_core core_;
  terminal terminal_;
  const std::filesystem::path file_ = history_file();
  const bool colours_ = may_colour();
  bool left_ = false, complained_ = false;
};

}  // namespace

int chat(answer_source& source, chat_settings settings, const std::string& system) {
  session(source, std::move(settings), system).run();
  return 0;
}

}  // namespace infer::apps
