// Escapes and dimming.
#include "apps/infer_node/chat/shown_text.h"

namespace infer::apps {
namespace {

constexpr std::string_view dim = "\x1b[2m", plain = "\x1b[0m";

}  // namespace

std::string terminal_text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const bool is_c1 = byte == 0xc2 && at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) >= 0x80 &&
                       static_cast<unsigned char>(text[at + 1]) < 0xa0;
    if (is_c1) {
      // U+0080 to U+009F: the same controls with the eighth bit.
      out += "M-^";
      out += static_cast<char>(static_cast<unsigned char>(text[++at]) - 0x80 + '@');
    } else if (byte == 0x7f) {
      out += "^?";
    } else if (byte < 0x20 && byte != '\n' && byte != '\t') {
      out += '^';
      out += static_cast<char>(byte + '@');
    } else {
      out += text[at];
    }
  }
  return out;
}

std::string dimmed(std::string_view text, bool colours) {
  if (!colours) return std::string(text);
  return std::string(dim) + std::string(text) + std::string(plain);
}

std::string answer_view::leave_reasoning() {
  in_reasoning_ = false;
  line_open_ = false;
  return colours_ ? std::string(plain) + "\n" : "\n</think>\n";
}

std::string answer_view::show(const templates::answer_piece& piece) {
  if (piece.text.empty()) return {};
  std::string out;
  if (in_reasoning_ && !piece.reasoning) out += leave_reasoning() + "\n";
  if (!in_reasoning_ && piece.reasoning) {
    if (line_open_) out += "\n";
    out += colours_ ? std::string(dim) : std::string("<think>\n");
    in_reasoning_ = true;
  }
  out += terminal_text(piece.text);
  line_open_ = !piece.text.ends_with('\n');
  return out;
}

std::string answer_view::finish() {
  std::string out;
  if (in_reasoning_) return leave_reasoning();
  if (line_open_) out = "\n";
  line_open_ = false;
  return out;
}

}  // namespace infer::apps
