// Stripping, splitting, joining and replacing.
#include "engine/templates/text_functions.h"

#include <algorithm>

#include "engine/templates/builtins.h"
#include "engine/templates/printing.h"
#include "engine/templates/unicode.h"

namespace infer::templates {

text strip(const text& of, const text* set, bool left, bool right) {
  const std::string_view characters = set == nullptr ? std::string_view{} : set->view();
  const byte_range kept = stripped(of.view(), set == nullptr ? nullptr : &characters, left, right);
  return of.slice(kept.begin, kept.end);
}

evaluated<text> replace(budget& spent, const text& of, const text& from, const text& to, std::int64_t count) {
  std::uint64_t found = 0;
  if (from.empty()) {
    found = of.size() + 1;
  } else {
    for (std::size_t at = 0; (at = of.view().find(from.view(), at)) != std::string_view::npos; at += from.size())
      ++found;
  }
  if (count >= 0) found = std::min(found, static_cast<std::uint64_t>(count));
  INFER_TRYV(spent.spend_bytes(of.size() + found * (to.size() + 32)));
  return of.replace(from.view(), to, count);
}

namespace {

std::vector<text> split_spaces(const text& of, std::int64_t count) {
  std::vector<text> parts;
  text rest = strip(of, nullptr, true, false);
  std::size_t begin = of.size() - rest.size();
  for (std::size_t at = begin; at < of.size();) {
    if (count >= 0 && static_cast<std::int64_t>(parts.size()) == count) {
      parts.push_back(of.slice(begin, of.size()));
      return parts;
    }
    const auto is_space_at = [&](std::size_t where) { return is_space(first_character(of.view().substr(where)).code); };
    while (at < of.size() && !is_space_at(at)) at += first_character(of.view().substr(at)).bytes;
    parts.push_back(of.slice(begin, at));
    while (at < of.size() && is_space_at(at)) at += first_character(of.view().substr(at)).bytes;
    begin = at;
  }
  return parts;
}

std::vector<text> split_spaces_from_right(const text& of, std::int64_t count) {
  std::vector<text> parts = split_spaces(of, -1);
  if (count < 0 || static_cast<std::int64_t>(parts.size()) <= count) return parts;
  // All but the last `count` words stay together, as they stand.
  text head = strip(of, nullptr, false, true);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::size_t word = parts[parts.size() - 1 - static_cast<std::size_t>(i)].size();
    head = strip(head.slice(0, head.size() - word), nullptr, false, true);
  }
  parts.erase(parts.begin(), parts.end() - static_cast<std::ptrdiff_t>(count));
  parts.insert(parts.begin(), std::move(head));
  return parts;
}

// As many parts as a split can give.
std::uint64_t most_parts(const text& of, const text* separator) {
  if (separator == nullptr) {
    return static_cast<std::uint64_t>(
        std::ranges::count_if(of.view(), [](char c) { return is_space(static_cast<unsigned char>(c)); }));
  }
  std::uint64_t count = 0;
  for (std::size_t at = 0; !separator->empty(); at += separator->size(), ++count) {
    at = of.view().find(separator->view(), at);
    if (at == std::string_view::npos) break;
  }
  return count;
}

}  // namespace

evaluated<std::vector<text>> split(budget& spent, const text& of, const text* separator, std::int64_t count,
                                   bool from_right) {
  INFER_TRYV(spent.spend(8 * most_parts(of, separator)));
  if (separator == nullptr) return from_right ? split_spaces_from_right(of, count) : split_spaces(of, count);
  if (separator->empty()) return fail(fault::evaluation, "empty separator");
  std::vector<std::size_t> cuts;
  const std::string_view view = of.view();
  if (from_right) {
    std::size_t end = view.size();
    while (count < 0 || static_cast<std::int64_t>(cuts.size()) < count) {
      if (end < separator->size()) break;
      const std::size_t found = view.rfind(separator->view(), end - separator->size());
      if (found == std::string_view::npos) break;
      cuts.push_back(found);
      end = found;
    }
    std::reverse(cuts.begin(), cuts.end());
  } else {
    for (std::size_t at = 0; count < 0 || static_cast<std::int64_t>(cuts.size()) < count;) {
      const std::size_t found = view.find(separator->view(), at);
      if (found == std::string_view::npos) break;
      cuts.push_back(found);
      at = found + separator->size();
    }
  }
  std::vector<text> parts;
  std::size_t begin = 0;
  for (const std::size_t cut : cuts) {
    parts.push_back(of.slice(begin, cut));
    begin = cut + separator->size();
  }
  parts.push_back(of.slice(begin, view.size()));
  return parts;
}

std::vector<text> split_lines(const text& of, bool keep_ends) {
  std::vector<text> lines;
  const std::string_view view = of.view();
  std::size_t begin = 0;
  for (std::size_t at = 0; at < view.size();) {
    const character one = first_character(view.substr(at));
    std::size_t next = at + one.bytes;
    const bool ends = (one.code >= 0xA && one.code <= 0xD) || (one.code >= 0x1C && one.code <= 0x1E) ||
                      one.code == 0x85 || one.code == 0x2028 || one.code == 0x2029;
    if (ends) {
      if (one.code == '\r' && next < view.size() && view[next] == '\n') ++next;
      lines.push_back(of.slice(begin, keep_ends ? next : at));
      begin = next;
    }
    at = next;
  }
  if (begin < view.size()) lines.push_back(of.slice(begin, view.size()));
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

evaluated<text> format(const text& pattern, const std::vector<value>& positional,
                       const std::vector<std::pair<std::string, value>>& named) {
  text made;
  std::size_t automatic = 0;
  const std::string_view view = pattern.view();
  for (std::size_t at = 0; at < view.size();) {
    const std::size_t brace = std::min(view.find_first_of("{}", at), view.size());
    made.append(pattern.slice(at, brace));
    at = brace;
    if (at == view.size()) break;
    if (at + 1 < view.size() && view[at + 1] == view[at]) {
      made.append(pattern.slice(at, at + 1));
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
    made.append(to_text(item));
    at = end + 1;
  }
  return made;
}

}  // namespace infer::templates
