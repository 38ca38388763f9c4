// Settings by name.
#include "apps/infer_node/chat/chat_settings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "apps/infer_node/chat/sampler_table.h"

namespace infer::apps {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 5> others{{
    {"seed", "seed of the answers; -1: a fresh one for each"},
    {"max-tokens", "at most so many tokens an answer; -1: as many as fit"},
    {"think", "on, off or auto: whether the model is asked to think first"},
    {"stats", "on or off: the line below each answer"},
    {"history", "on or off: whether prompts are kept for the next chat"},
}};

std::string quoted(std::string_view text) {
  return "'" + std::string(text) + "'";
}

std::string set_switch(std::string_view name, std::string_view value, bool& out) {
  if (value != "on" && value != "off") return std::string(name) + " is on or off, not " + quoted(value);
  out = value == "on";
  return {};
}

std::string set_whole(std::string_view name, std::string_view value, std::int64_t high, std::int64_t& out) {
  std::int64_t number = 0;
  const char* const end = value.data() + value.size();
  const auto [at, bad] = std::from_chars(value.data(), end, number);
  if (bad != std::errc{} || at != end || number < -1 || number > high)
    return std::string(name) + " is a whole number from -1 to " + std::to_string(high) + ", not " + quoted(value);
  out = number;
  return {};
}

std::string set_number(const sampler_number& row, std::string_view value, msg::sampling& out) {
  double number = 0;
  const char* const end = value.data() + value.size();
  const auto [at, bad] = std::from_chars(value.data(), end, number);
  const bool fits = bad == std::errc{} && at == end && std::isfinite(number) && number >= row.low &&
                    number <= row.high && (!row.is_whole() || number == std::floor(number));
  if (!fits) {
    const auto bound = [](double x) {
      return x == std::floor(x) ? std::to_string(static_cast<std::int64_t>(x)) : short_text(static_cast<float>(x));
    };
    return std::string(row.name) + " is a " + (row.is_whole() ? "whole " : "") + "number from " + bound(row.low) +
           " to " + bound(row.high) + ", not " + quoted(value);
  }
  row.set(out, number);
  return {};
}

const sampler_number* find_number(std::string_view name) {
  if (name == "temp") name = "temperature";
  const auto rows = sampler_numbers();
  const auto row = std::ranges::find(rows, name, &sampler_number::name);
  return row == rows.end() ? nullptr : &*row;
}

}  // namespace

bool read_think(std::string_view text, think_mode& out) {
  if (text == "on")
    out = think_mode::on;
  else if (text == "off")
    out = think_mode::off;
  else if (text == "auto")
    out = think_mode::automatic;
  else
    return false;
  return true;
}

std::string chat_settings::set(std::string_view name, std::string_view value) {
  if (name == "seed") return set_whole(name, value, std::numeric_limits<std::int64_t>::max(), seed);
  if (name == "max-tokens") return set_whole(name, value, std::numeric_limits<std::int32_t>::max(), max_tokens);
  if (name == "think") return read_think(value, think) ? "" : "think is on, off or auto, not " + quoted(value);
  if (name == "stats") return set_switch(name, value, stats);
  if (name == "history") return set_switch(name, value, history);
  const sampler_number* const row = find_number(name);
  if (row == nullptr) return "there is no setting " + quoted(name) + "; /show lists them";
  return set_number(*row, value, sampling);
}

std::string chat_settings::get(std::string_view name) const {
  if (name == "seed") return std::to_string(seed);
  if (name == "max-tokens") return std::to_string(max_tokens);
  if (name == "think") return think == think_mode::on ? "on" : think == think_mode::off ? "off" : "auto";
  if (name == "stats") return stats ? "on" : "off";
  if (name == "history") return history ? "on" : "off";
  const sampler_number* const row = find_number(name);
  return row == nullptr ? std::string() : row->text_of(sampling);
}

std::vector<std::string_view> setting_names() {
  std::vector<std::string_view> out;
  for (const sampler_number& row : sampler_numbers()) out.push_back(row.name);
  for (const auto& [name, help] : others) out.push_back(name);
  return out;
}

std::string_view setting_help(std::string_view name) {
  if (const sampler_number* const row = find_number(name)) return row->help;
  const auto* const other = std::ranges::find(others, name, &std::pair<std::string_view, std::string_view>::first);
  return other == others.end() ? std::string_view() : other->second;
}

}  // namespace infer::apps
