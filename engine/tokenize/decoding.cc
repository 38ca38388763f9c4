// Decoder steps, applied to one token.
#include "engine/tokenize/decoding.h"

#include <algorithm>
#include <charconv>

#include "engine/tokenize/byte_alphabet.h"

namespace infer::tokenize {
namespace {

std::string replaced(std::string_view text, std::string_view from, std::string_view to, std::size_t& room) {
  std::string made;
  for (;;) {
    const std::size_t at = from.empty() ? std::string_view::npos : text.find(from);
    const std::size_t grows = to.size() - std::min(to.size(), from.size());
    if (at == std::string_view::npos || grows > room) return made.append(text);
    room -= grows;
    made.append(text.substr(0, at));
    made.append(to);
    text.remove_prefix(at + from.size());
  }
}

std::string stripped(std::string_view text, const decode_step& step) {
  for (std::size_t i = 0; i < step.start && text.starts_with(step.pattern); ++i)
    text.remove_prefix(step.pattern.size());
  for (std::size_t i = 0; i < step.stop && text.ends_with(step.pattern); ++i) text.remove_suffix(step.pattern.size());
  return std::string(text);
}

}  // namespace

std::optional<char> named_byte(std::string_view piece) {
  if (piece.size() != 6 || !piece.starts_with("<0x") || piece.back() != '>') return std::nullopt;
  unsigned value = 0;
  const auto [end, error] = std::from_chars(piece.data() + 3, piece.data() + 5, value, 16);
  if (error != std::errc() || end != piece.data() + 5) return std::nullopt;
  return static_cast<char>(value);
}

void append_decoded(const recipe& how, token_type type, std::string_view piece, std::string& out) {
  if (type == token_type::control || (!how.decodes_special && type != token_type::normal && type != token_type::byte)) {
    out.append(piece);
    return;
  }
  std::string text(piece);
  std::size_t room = most_growth(piece.size());
  for (const decode_step& step : how.decoder) {
    switch (step.what) {
      case decode_step::kind::letters:
        if (auto bytes = letters_to_bytes(text)) text = std::move(*bytes);
        break;
      case decode_step::kind::named_bytes:
        if (!how.decodes_special && type != token_type::byte) break;
        if (const auto byte = named_byte(text)) text.assign(1, *byte);
        break;
      case decode_step::kind::replace:
        text = replaced(text, step.pattern, step.content, room);
        break;
      case decode_step::kind::strip:
        text = stripped(text, step);
        break;
      case decode_step::kind::lead:
        text.insert(0, step.content);
        break;
    }
  }
  out.append(text);
}

}  // namespace infer::tokenize
