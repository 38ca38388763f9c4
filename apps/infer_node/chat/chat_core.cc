// Lines to prompts and commands.
#include "apps/infer_node/chat/chat_core.h"

#include <algorithm>
#include <array>
#include <utility>

namespace infer::apps {
namespace {

constexpr std::string_view quotes = "\"\"\"";
constexpr std::string_view white = " \t\r\n";

struct command_row {
  std::string_view name, takes, help;
};
constexpr std::array<command_row, 10> commands{{
    {"/help", "", "this list"},
    {"/clear", "", "forget the conversation; the system message stays"},
    {"/system", "[TEXT]", "set the system message; without TEXT: show it"},
    {"/set", "NAME VALUE", "change a setting"},
    {"/show", "", "settings and what the conversation holds"},
    {"/regen", "", "answer the last prompt again"},
    {"/save", "FILE", "write the conversation as JSON"},
    {"/load", "FILE", "go on with a conversation that was saved"},
    {"/stats", "on|off", "the line below each answer"},
    {"/bye", "", "leave; also Ctrl-D"},
}};

std::string_view trimmed(std::string_view text) {
  const std::size_t from = text.find_first_not_of(white);
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(white) - from + 1);
}

std::string padded(std::string_view text, std::size_t width) {
  std::string out(text);
  out.resize(std::max(width, out.size()), ' ');
  return out;
}

effects say(std::string text) {
  return {{effect_kind::say, std::move(text)}};
}
effects complain(std::string text) {
  return {{effect_kind::complain, std::move(text)}};
}

std::string help_text() {
  std::string out;
  for (const command_row& row : commands)
    out += padded(std::string(row.name) + " " + std::string(row.takes), 20) + std::string(row.help) + "\n";
  return out +
         "\"\"\"                 begins a prompt of several lines, and ends it; so does \\ at the end of a line\n"
         "Ctrl-C              stops an answer; what was said of it stays\n"
         "A prompt that begins with a slash: put a space before it.";
}

/// A command's name: a slash and letters. A path or a comment is a prompt.
bool is_command(std::string_view text) {
  if (!text.starts_with('/')) return false;
  const std::string_view name = text.substr(0, text.find_first_of(white));
  return name.size() > 1 && std::ranges::all_of(name.substr(1), [](char c) { return c >= 'a' && c <= 'z'; });
}

}  // namespace

chat_core::chat_core(chat_settings settings, std::string system) : settings_(std::move(settings)) {
  set_system(system);
}

void chat_core::set_system(std::string_view text) {
  if (system_turns() != 0) turns_.erase(turns_.begin());
  if (!text.empty()) turns_.insert(turns_.begin(), {"system", std::string(text), {}});
}

effects chat_core::line(std::string_view text) {
  if (!pending_ && !text.starts_with(quotes) && text.find('\n') != std::string_view::npos) {
    if (text.ends_with('\n')) text.remove_suffix(1);
    return whole(text, false);
  }
  effects out;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    std::string_view one = text.substr(from, end - from);
    from = end + 1;
    if (!pending_ && one.starts_with(quotes)) {
      pending_ = {{}, true};
      one.remove_prefix(quotes.size());
      if (one.empty()) continue;
    } else if (!pending_ && !one.ends_with('\\')) {
      std::ranges::move(whole(one, false), std::back_inserter(out));
      continue;
    } else if (!pending_) {
      pending_ = {{}, false};
    }
    const bool goes_on = pending_->quoted ? !one.ends_with(quotes) : one.ends_with('\\');
    if (pending_->quoted && !goes_on) one.remove_suffix(quotes.size());
    if (!pending_->quoted && goes_on) one.remove_suffix(1);
    pending_->text += one;
    if (goes_on) {
      pending_->text += '\n';
      continue;
    }
    input all = *std::exchange(pending_, std::nullopt);
    if (all.quoted && all.text.ends_with('\n')) all.text.pop_back();
    std::ranges::move(whole(all.text, all.quoted), std::back_inserter(out));
  }
  return out;
}

effects chat_core::whole(std::string_view text, bool is_quoted) {
  if (trimmed(text).empty()) return {};
  const bool is_order = !is_quoted && is_command(text);
  // What would be read otherwise when it comes back in one piece is kept in quotes.
  const bool keep_quotes = is_quoted && (text.starts_with('/') || text.ends_with('\\') || text.starts_with(quotes));
  const std::string mark(keep_quotes ? quotes : std::string_view());
  effects out{{effect_kind::remember, mark + std::string(text) + mark}};
  if (is_order) {
    const std::size_t end = std::min(text.find_first_of(white), text.size());
    std::ranges::move(command(text.substr(0, end), trimmed(text.substr(end))), std::back_inserter(out));
  } else {
    turns_.push_back({"user", std::string(is_quoted ? text : trimmed(text)), {}});
    out.push_back({effect_kind::answer, {}});
  }
  return out;
}

effects chat_core::command(std::string_view name, std::string_view rest) {
  if (name == "/exit" || name == "/quit") name = "/bye";
  if (name == "/help") return say(help_text());
  if (name == "/bye") return {{effect_kind::leave, {}}};
  if (name == "/set") return set(rest);
  if (name == "/show") return show();
  if (name == "/regen") return again();
  if (name == "/clear") {
    turns_.resize(system_turns());
    return say("The conversation is forgotten.");
  }
  if (name == "/system") {
    if (!rest.empty()) {
      set_system(rest);
      return say("The system message is set.");
    }
    return say(system_turns() != 0 ? turns_.front().content : "There is no system message.");
  }
  if (name == "/stats") {
    const std::string why = settings_.set("stats", rest);
    return why.empty() ? say("stats " + settings_.get("stats")) : complain(why);
  }
  if (name == "/save" || name == "/load") {
    if (rest.empty()) return complain(std::string(name) + " needs a file's name");
    return {{name == "/save" ? effect_kind::save : effect_kind::load, std::string(rest)}};
  }
  return complain("there is no command '" + std::string(name) + "'; /help lists them");
}

effects chat_core::set(std::string_view rest) {
  if (rest.empty()) return show();
  const std::size_t end = std::min(rest.find_first_of(" \t="), rest.size());
  std::string name(rest.substr(0, end));
  std::ranges::replace(name, '_', '-');  // as requests to a server have it
  const std::string_view value = trimmed(rest.substr(std::min(end + 1, rest.size())));
  if (value.empty()) {
    const std::string present = settings_.get(name);
    if (present.empty()) return complain("there is no setting '" + name + "'; /show lists them");
    return say(name + " " + present + "    " + std::string(setting_help(name)));
  }
  const std::string why = settings_.set(name, value);
  return why.empty() ? say(name + " " + settings_.get(name)) : complain(why);
}

effects chat_core::show() const {
  std::string out;
  for (const std::string_view name : setting_names())
    out += padded(name, 20) + padded(settings_.get(name), 8) + std::string(setting_help(name)) + "\n";
  const std::size_t messages = turns_.size() - system_turns();
  if (system_turns() != 0) out += padded("system", 20) + turns_.front().content + "\n";
  return say(out + "The conversation holds " + std::to_string(messages) + (messages == 1 ? " message." : " messages."));
}

effects chat_core::again() {
  const bool answered = !turns_.empty() && turns_.back().role == "assistant";
  const std::size_t prompts = turns_.size() - (answered ? 1 : 0);
  if (prompts == 0 || turns_[prompts - 1].role != "user") return complain("there is no prompt to answer again");
  before_again_ = turns_;
  turns_.resize(prompts);
  return {{effect_kind::answer, {}}};
}

effects chat_core::interrupted(bool had_text) {
  if (std::exchange(pending_, std::nullopt) || had_text) return {};
  return say("Ctrl-D or /bye leaves.");
}

effects chat_core::ended() {
  pending_.reset();
  return {{effect_kind::leave, {}}};
}

effects chat_core::answered(const answer_end& end) {
  const bool is_empty = end.text.empty() && end.reasoning.empty();
  std::vector<chat_turn> uncut = std::exchange(uncut_, {});
  std::vector<chat_turn> before_again = std::exchange(before_again_, {});
  if (is_empty && !end.complete) {
    if (!before_again.empty()) {
      turns_ = std::move(before_again);
      return {};
    }
    if (!uncut.empty()) turns_ = std::move(uncut);
    if (!turns_.empty() && turns_.back().role == "user") turns_.pop_back();
    return {};
  }
  effects out;
  if (is_empty) out = say("The answer is empty.");
  if (!uncut.empty()) {
    const auto count = std::to_string(uncut.size() - turns_.size());
    out.push_back({effect_kind::say, "[the context is full: the first " + count + " messages are forgotten]"});
  }
  turns_.push_back({"assistant", end.text, end.reasoning});
  return out;
}

effects chat_core::too_long() {
  const auto first = turns_.begin() + static_cast<std::ptrdiff_t>(system_turns());
  const auto is_prompt = [](const chat_turn& turn) { return turn.role == "user"; };
  const auto prompts = std::count_if(first, turns_.end(), is_prompt);
  if (prompts < 2) return {};
  if (uncut_.empty()) uncut_ = turns_;
  // Half at a time: what stays is read anew once and then holds for several prompts.
  auto kept = std::find_if(first, turns_.end(), is_prompt);
  for (auto passed = (prompts + 1) / 2; passed > 0; --passed) kept = std::find_if(kept + 1, turns_.end(), is_prompt);
  turns_.erase(first, kept);
  return {{effect_kind::answer, {}}};
}

effects chat_core::loaded(const std::string& path, const result<std::string>& text) {
  if (!text) return complain(path + ": " + text.error().message());
  auto turns = turns_of(text.value());
  if (!turns) return complain(path + ": " + turns.error().message());
  turns_ = std::move(turns.value());
  const std::size_t messages = turns_.size() - system_turns();
  return say(std::to_string(messages) + (messages == 1 ? " message" : " messages") + " from " + path);
}

std::vector<std::string> chat_core::completions(std::string_view begun) {
  std::vector<std::string> out;
  if (begun.starts_with("/set ")) {
    const std::string_view name = begun.substr(5);
    for (const std::string_view one : setting_names()) {
      if (one.starts_with(name)) out.push_back("/set " + std::string(one) + " ");
    }
  } else if (begun.starts_with('/')) {
    for (const command_row& row : commands) {
      if (row.name.starts_with(begun)) out.push_back(std::string(row.name) + (row.takes.empty() ? "" : " "));
    }
  }
  return out;
}

}  // namespace infer::apps
