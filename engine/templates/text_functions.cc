// Stripping, splitting, joining and replacing.
#include "engine/templates/text_functions.h"

#include <algorithm>

#include "engine/templates/builtins.h"
#include "engine/templates/printing.h"
#include "engine/templates/text_search.h"
#include "engine/templates/unicode.h"

namespace infer::templates {

text strip(const text& of, const text* set, bool left, bool right) {
  const std::string_view characters = set == nullptr ? std::string_view{} : set->view();
  const byte_range kept = stripped(of.view(), set == nullptr ? nullptr : &characters, left, right);
  return of.slice(kept.begin, kept.end);
}

evaluated<text> replace(budget& spent, const text& of, const text& from, const text& to, std::int64_t count) {
  std::uint64_t found = from.empty() ? of.size() + 1 : count_occurrences(of.view(), from.view());
  if (count >= 0) found = std::min(found, static_cast<std::uint64_t>(count));
  INFER_TRYV(spent.spend_bytes(of.size() + found * (to.size() + 32)));
  return of.replace(from.view(), to, count);
}

namespace {

std::vector<byte_range> words_of(std::string_view of) {
  std::vector<byte_range> words;
  bool inside = false;
  for (std::size_t at = 0; at < of.size();) {
    const character one = first_character(of.substr(at));
    const bool space = is_space(one.code);
    if (!space && !inside) words.push_back({at, of.size()});
    if (space && inside) words.back().end = at;
    inside = !space;
    at += one.bytes;
  }
  return words;
}

// The words where there are at most `most` cuts between them; else the rest is one part, as it stands.
std::vector<byte_range> parts_at_spaces(std::string_view of, std::size_t most, bool from_right) {
  std::vector<byte_range> words = words_of(of);
  if (words.size() <= most) return words;
  if (from_right) {
    words.erase(words.begin(), words.end() - static_cast<std::ptrdiff_t>(most) - 1);
    words.front().begin = 0;
  } else {
    words[most].end = of.size();
    words.resize(most + 1);
  }
  return words;
}

std::vector<byte_range> parts_at(std::string_view of, std::string_view separator, std::size_t most, bool from_right) {
  std::vector<byte_range> parts;
  std::size_t begin = 0;
  for (const std::size_t cut : occurrences(of, separator, most, from_right)) {
    parts.push_back({begin, cut});
    begin = cut + separator.size();
  }
  parts.push_back({begin, of.size()});
  return parts;
}

}  // namespace

evaluated<std::vector<text>> split(budget& spent, const text& of, const text* separator, std::int64_t count,
                                   bool from_right) {
  if (separator != nullptr && separator->empty()) return fail(fault::evaluation, "empty separator");
  const std::size_t most = count < 0 ? SIZE_MAX : static_cast<std::size_t>(count);
  const std::vector<byte_range> ranges = separator == nullptr
                                             ? parts_at_spaces(of.view(), most, from_right)
                                             : parts_at(of.view(), separator->view(), most, from_right);
  INFER_TRYV(spent.spend(8 * ranges.size()));
  const text_cutter pieces(of);
  std::vector<text> parts;
  parts.reserve(ranges.size());
  for (const byte_range& range : ranges) parts.push_back(pieces.cut(range.begin, range.end));
  return parts;
}

std::vector<text> split_lines(const text& of, bool keep_ends) {
  std::vector<text> lines;
  const text_cutter pieces(of);
  const std::string_view view = of.view();
  std::size_t begin = 0;
  for (std::size_t at = 0; at < view.size();) {
    const character one = first_character(view.substr(at));
    std::size_t next = at + one.bytes;
    const bool ends = (one.code >= 0xA && one.code <= 0xD) || (one.code >= 0x1C && one.code <= 0x1E) ||
                      one.code == 0x85 || one.code == 0x2028 || one.code == 0x2029;
    if (ends) {
      if (one.code == '\r' && next < view.size() && view[next] == '\n') ++next;
      lines.push_back(pieces.cut(begin, keep_ends ? next : at));
      begin = next;
    }
    at = next;
  }
  if (begin < view.size()) lines.push_back(pieces.cut(begin, view.size()));
  return lines;
}

evaluated<text> escaped(budget& spent, const text& of) {
  if (of.is_markup()) return of;
  INFER_TRYV(spent.spend_bytes(of.size() * 6));
  text made;
  std::size_t at = 0;
  for (const text::run& run : of.runs()) {
    std::string bytes;
    for (const char byte : of.view().substr(at, run.bytes)) {
      switch (byte) {
        case '&':
          bytes += "&amp;";
          break;
        case '<':
          bytes += "&lt;";
          break;
        case '>':
          bytes += "&gt;";
          break;
        case '\'':
          bytes += "&#39;";
          break;
        case '"':
          bytes += "&#34;";
          break;
        default:
          bytes += byte;
      }
    }
    made.append(bytes, run.from_template);
    at += run.bytes;
  }
  made.mark_as_markup();
  return made;
}

evaluated<text> join(budget& spent, const text& separator, const std::vector<text>& parts) {
  std::uint64_t total = separator.size() * parts.size();
  for (const text& part : parts) total += part.size();
  INFER_TRYV(spent.spend_bytes(total));
  text made;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) made.append(separator);
    made.append(parts[i]);
  }
  return made;
}

namespace {

// "name", "0", "name.field": the value a replacement field names.
evaluated<value> field_value(std::string_view field, std::size_t& automatic, const std::vector<value>& positional,
                             const std::vector<std::pair<std::string, value>>& named) {
  const std::size_t dot = field.find('.');
  const std::string head(field.substr(0, dot));
  value found;
  if (head.empty() || head.find_first_not_of("0123456789") == std::string::npos) {
    const std::size_t index = head.empty() ? automatic++ : head.size() > 6 ? positional.size() : std::stoul(head);
    if (index >= positional.size())
      return fail(fault::evaluation, "Replacement index out of range for format arguments");
    found = positional[index];
  } else {
    const auto at = std::find_if(named.begin(), named.end(), [&](const auto& entry) { return entry.first == head; });
    if (at == named.end()) return fail(fault::evaluation, "'" + head + "' is not among the format arguments");
    found = at->second;
  }
  if (dot == std::string_view::npos) return found;
  return get_path(found, value(text(std::string(field.substr(dot + 1)), true)));
}

}  // namespace

evaluated<text> format(budget& spent, const text& pattern, const std::vector<value>& positional,
                       const std::vector<std::pair<std::string, value>>& named) {
  const text_cutter pieces(pattern);
  text made;
  std::size_t automatic = 0;
  const std::string_view view = pattern.view();
  for (std::size_t at = 0; at < view.size();) {
    const std::size_t brace = std::min(view.find_first_of("{}", at), view.size());
    made.append(pieces.cut(at, brace));
    at = brace;
    if (at == view.size()) break;
    if (at + 1 < view.size() && view[at + 1] == view[at]) {
      made.append(pieces.cut(at, at + 1));
      at += 2;
      continue;
    }
    const std::size_t end = view.find('}', at);
    if (view[at] == '}' || end == std::string_view::npos) {
      return fail(fault::evaluation, "a single brace in a format string");
    }
    const std::string_view field = view.substr(at + 1, end - at - 1);
    if (field.find_first_of(":![") != std::string_view::npos) {
      return fail(fault::evaluation, "format specifications are not supported: '" + std::string(field) + "'");
    }
    INFER_TRY(const value item, field_value(field, automatic, positional, named));
    INFER_TRYV(spent.spend_bytes(item.weight()));
    made.append(to_text(item));
    INFER_TRYV(spent.allow_bytes(made.size()));
    at = end + 1;
  }
  return made;
}

}  // namespace infer::templates
