// Fitting a line.
#include "apps/infer_node/progress_line.h"

#include <sys/ioctl.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

#include "apps/infer_node/chat/shown_text.h"
#include "engine/core/bytes.h"

namespace infer::apps {
namespace {

std::string time_text(double seconds) {
  const auto s = static_cast<std::uint64_t>(seconds + 0.5);
  char text[32];
  if (s >= 3600)
    std::snprintf(text, sizeof text, "%lluh%02llum", s / 3600ULL, s / 60ULL % 60);
  else
    std::snprintf(text, sizeof text, "%llum%02llus", s / 60ULL, s % 60ULL);
  return text;
}

std::string numbers(const progress& p, bool with_rate, bool with_time) {
  const double rate = p.bytes_per_second;
  std::string out =
      format_bytes(p.bytes) + " of " + format_bytes(p.of_bytes) + "  " + std::to_string(p.percent()) + "%";
  if (with_rate && rate > 0) out += "  " + format_bytes(static_cast<std::uint64_t>(rate)) + "/s";
  if (with_time && rate > 0 && p.bytes < p.of_bytes)
    out += "  " + time_text(static_cast<double>(p.of_bytes - p.bytes) / rate) + " left";
  return out;
}

std::string bar(std::uint64_t percent, std::size_t cells) {
  if (cells == 0) return {};
  const std::size_t full = percent * cells / 100;
  return "[" + std::string(full, '=') + std::string(cells - full, ' ') + "] ";
}

struct letter {
  std::string bytes;
  std::size_t columns;
};

/// Letters that are not ASCII may be two columns wide, and are never taken for less.
std::vector<letter> letters_of(const std::string& text) {
  std::vector<letter> out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool goes_on = byte >= 0x80 && byte < 0xc0;
    if (goes_on && !out.empty() && out.back().columns == 2)
      out.back().bytes += c;
    else
      out.push_back({std::string(1, c), byte < 0x80 ? std::size_t{1} : std::size_t{2}});
  }
  return out;
}

std::size_t columns_in(const std::vector<letter>& letters) {
  std::size_t sum = 0;
  for (const letter& one : letters) sum += one.columns;
  return sum;
}

/// The name with "..." for its middle where it is wider than `columns`.
std::string shortened(const std::string& name, std::size_t columns) {
  const std::vector<letter> letters = letters_of(name);
  if (columns_in(letters) <= columns) return name;
  const std::size_t room = columns - 3;
  std::string begin, end;
  std::size_t used = 0;
  for (std::size_t at = 0; used + letters[at].columns <= room / 2; ++at) {
    begin += letters[at].bytes;
    used += letters[at].columns;
  }
  for (std::size_t at = letters.size(); used + letters[at - 1].columns <= room; --at) {
    end.insert(0, letters[at - 1].bytes);
    used += letters[at - 1].columns;
  }
  return begin + "..." + end;
}

}  // namespace

std::string progress_text(const progress& p) {
  return numbers(p, true, true);
}

std::string progress_line(const progress& p, std::size_t columns) {
  struct form {
    std::size_t bar, least_name;  // 0: without
    bool rate, time;
  };
  constexpr std::array<form, 7> forms{{{24, 24, true, true},
                                       {10, 12, true, true},
                                       {24, 0, true, true},
                                       {10, 0, true, true},
                                       {0, 0, true, true},
                                       {0, 0, false, true},
                                       {0, 0, false, false}}};
  const std::string name = terminal_text(p.file);
  const std::size_t name_columns = columns_in(letters_of(name));
  for (const form& f : forms) {
    std::string line = bar(p.percent(), f.bar) + numbers(p, f.rate, f.time);
    const std::size_t least = f.least_name == 0 ? 0 : 2 + std::min(f.least_name, name_columns);
    if (line.size() + least > columns) continue;
    if (least > 0) line += "  " + shortened(name, columns - line.size() - 2);
    return line;
  }
  return (std::to_string(p.percent()) + "%").substr(0, columns);
}

std::size_t columns_of(int file) {
  struct winsize size{};
  return ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace infer::apps
