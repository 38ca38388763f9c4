// Cutting steps make new ranges over the same text; changing steps write a new text.
#include "engine/tokenize/text_pipeline.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/tokenize/byte_alphabet.h"
#include "engine/tokenize/character_map.h"
#include "engine/tokenize/scripts.h"
#include "engine/tokenize/unicode.h"

namespace infer::tokenize {
namespace {

struct marked {
  byte_range range;
  bool match;
};

void add_piece(byte_range range, std::vector<byte_range>& out) {
  if (range.begin < range.end) out.push_back(range);
}

/// Joins each match with its neighbour on one side, as `MergedWith…` says, and appends the outcome.
void merge_matches(std::span<const marked> parts, bool with_next, std::vector<byte_range>& out) {
  const std::size_t first = out.size();
  bool previous_match = false;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const marked& part = parts[with_next ? parts.size() - 1 - i : i];
    if (part.match && !previous_match && out.size() > first) {
      (with_next ? out.back().begin : out.back().end) = with_next ? part.range.begin : part.range.end;
    } else {
      out.push_back(part.range);
    }
    previous_match = part.match;
  }
  if (with_next) std::reverse(out.begin() + static_cast<std::ptrdiff_t>(first), out.end());
}

std::string_view without_space_left(std::string_view text) {
  std::size_t length = 0;
  while (!text.empty() && is_space(first_character(text, length))) text.remove_prefix(length);
  return text;
}

std::string_view without_space_right(std::string_view text) {
  while (!text.empty()) {
    const std::size_t last = last_length(text);
    std::size_t length = 0;
    if (!is_space(first_character(text.substr(text.size() - last), length))) break;
    text.remove_suffix(last);
  }
  return text;
}

/// Takes `bytes` of `room` where that is enough.
bool takes(std::size_t bytes, std::size_t& room) {
  if (bytes > room) return false;
  room -= bytes;
  return true;
}

}  // namespace

struct text_pipeline::ready {
  text_step step;
  std::optional<regex> expression;
  std::optional<character_map> map;

  bool cuts() const { return step.what == text_step::kind::split || step.what == text_step::kind::scripts; }

  bool has_expression() const {
    using kind = text_step::kind;
    return step.what == kind::split || step.what == kind::replace || step.what == kind::surround;
  }

  /// Cuts text[piece] where the script changes.
  static void cut_scripts(std::string_view text, byte_range piece, std::vector<byte_range>& out) {
    std::size_t begin = piece.end;
    std::uint8_t script = 0;
    for (std::size_t at = piece.begin, length = 0; at < piece.end; at += length) {
      const std::uint8_t next = script_of(first_character(text.substr(at), length));
      if (next == 0 || next == script) continue;
      if (script != 0) add_piece({begin, at}, out);
      begin = at;
      script = next;
    }
    add_piece({begin, piece.end}, out);
  }

  /// Cuts text[piece] at the expression's matches.
  void cut(std::string_view text, byte_range piece, regex::scratch& scratch, std::vector<byte_range>& matches,
           std::vector<byte_range>& out) const {
    if (step.what == text_step::kind::scripts) return cut_scripts(text, piece, out);
    const std::string_view inside = text.substr(piece.begin, piece.end - piece.begin);
    matches.clear();
    expression->find_all(inside, scratch, matches);
    if (step.behavior == split_behavior::isolated) {
      std::size_t done = piece.begin;
      for (const byte_range match : matches) {
        add_piece({done, piece.begin + match.begin}, out);
        add_piece({piece.begin + match.begin, piece.begin + match.end}, out);
        done = piece.begin + match.end;
      }
      add_piece({done, piece.end}, out);
      return;
    }
    std::vector<marked> parts;
    parts.reserve(2 * matches.size() + 1);
    std::size_t done = 0;
    for (const byte_range match : matches) {
      if (done != match.begin) parts.push_back({{piece.begin + done, piece.begin + match.begin}, step.invert});
      parts.push_back({{piece.begin + match.begin, piece.begin + match.end}, !step.invert});
      done = match.end;
    }
    if (done != inside.size()) parts.push_back({{piece.begin + done, piece.end}, step.invert});
    arrange(parts, out);
  }

  void arrange(std::span<const marked> parts, std::vector<byte_range>& out) const {
    std::vector<byte_range> pieces;
    switch (step.behavior) {
      case split_behavior::isolated:
      case split_behavior::removed:
        for (const marked& part : parts) {
          if (!part.match || step.behavior == split_behavior::isolated) pieces.push_back(part.range);
        }
        break;
      case split_behavior::merged_with_previous:
      case split_behavior::merged_with_next:
        merge_matches(parts, step.behavior == split_behavior::merged_with_next, pieces);
        break;
      case split_behavior::contiguous: {
        bool previous = false;
        for (const marked& part : parts) {
          if (part.match == previous && !pieces.empty()) {
            pieces.back().end = part.range.end;
          } else {
            pieces.push_back(part.range);
          }
          previous = part.match;
        }
        break;
      }
    }
    for (const byte_range piece : pieces) add_piece(piece, out);
  }

  /// Appends what the step makes of one piece. `room`: bytes that steps may add to the text yet.
  void change(std::string_view text, bool at_start, std::size_t& room, regex::scratch& scratch,
              std::vector<byte_range>& matches, std::string& out) const {
    using kind = text_step::kind;
    switch (step.what) {
      case kind::split:
      case kind::scripts:
        break;
      case kind::replace:
      case kind::surround:
        matches.clear();
        expression->find_all(text, scratch, matches);
        replace(text, matches, room, out);
        return;
      case kind::prepend:
        if (!text.empty() && (at_start || step.where == text_step::at::everywhere) &&
            !(step.unless_there && text.starts_with(step.content)) && takes(step.content.size(), room))
          out.append(step.content);
        break;
      case kind::strip_left:
        text = without_space_left(text);
        break;
      case kind::strip_right:
        text = without_space_right(text);
        break;
      case kind::lowercase:
        return append_lowercase(text, out);
      case kind::strip_accents:
        return append_without_accents(text, out);
      case kind::nfc:
        return append_normalized(text, normal_form::nfc, out);
      case kind::nfd:
        return append_normalized(text, normal_form::nfd, out);
      case kind::nfkc:
        return append_normalized(text, normal_form::nfkc, out);
      case kind::nfkd:
        return append_normalized(text, normal_form::nfkd, out);
      case kind::charsmap:
      case kind::charsmap_prefix: {
        if (room == 0) break;
        const std::size_t before = out.size();
        step.what == kind::charsmap ? map->append_by_grapheme(text, out) : map->append_by_prefix(text, out);
        room -= std::min(room, out.size() - std::min(out.size(), before + text.size()));
        return;
      }
      case kind::letters:
        out.append(bytes_to_letters(text));
        return;
    }
    out.append(text);
  }

  void replace(std::string_view text, const std::vector<byte_range>& matches, std::size_t& room,
               std::string& out) const {
    std::size_t done = 0;
    for (const byte_range match : matches) {
      const bool twice = step.what == text_step::kind::surround;
      const std::size_t put = twice ? 2 * step.content.size() : step.content.size();
      const std::size_t taken = twice ? 0 : match.end - match.begin;
      if (put > taken && !takes(put - taken, room)) break;
      out.append(text, done, match.begin - done);
      out.append(step.content);
      if (twice) out.append(text.substr(match.begin, match.end - match.begin)).append(step.content);
      done = match.end;
    }
    out.append(text, done);
  }
};

result<text_pipeline> text_pipeline::make(std::span<const text_step> steps) {
  text_pipeline made;
  for (const text_step& step : steps) {
    auto next = std::make_shared<ready>();
    next->step = step;
    if (next->has_expression()) {
      INFER_TRY(next->expression, step.literal ? regex::literal(step.pattern) : regex::make(step.pattern));
    }
    if (step.what == text_step::kind::charsmap || step.what == text_step::kind::charsmap_prefix) {
      INFER_TRY(next->map, character_map::make(step.content));
    }
    made.steps_.push_back(std::move(next));
  }
  return made;
}

void text_pipeline::run(piece_list& pieces, bool at_start) const {
  regex::scratch scratch;
  std::vector<byte_range> matches;
  std::size_t room = most_growth(pieces.text.size());
  for (const auto& step : steps_) {
    std::vector<byte_range> next;
    if (step->cuts()) {
      next.reserve(pieces.size() + pieces.text.size() / 4);
      for (const byte_range range : pieces.ranges) step->cut(pieces.text, range, scratch, matches, next);
    } else {
      std::string changed;
      changed.reserve(pieces.text.size() + 16);
      for (std::size_t i = 0; i < pieces.size(); ++i) {
        const std::size_t begin = changed.size();
        step->change(pieces[i], at_start && pieces.ranges[i].begin == 0, room, scratch, matches, changed);
        add_piece({begin, changed.size()}, next);
      }
      pieces.own = std::move(changed);
      pieces.text = pieces.own;
    }
    pieces.ranges = std::move(next);
  }
}

}  // namespace infer::tokenize
