// The lexer: text until the next tag, then the tag's tokens, then text again.
#include "engine/templates/lexer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "engine/templates/string_literal.h"
#include "engine/templates/unicode.h"

namespace infer::templates {
namespace {

constexpr std::array<std::string_view, 26> operators = {"//", "**", "==", "!=", "<=", ">=", "+", "-", "*",
                                                        "/",  "%",  "~",  "<",  ">",  "=",  "(", ")", "[",
                                                        "]",  "{",  "}",  ".",  ",",  ":",  "|", ";"};

bool name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (static_cast<unsigned char>(c) & 0x80) != 0;
}
bool digit(char c) {
  return c >= '0' && c <= '9';
}

// One newline form, and one trailing newline dropped.
std::string normalized(std::string_view source) {
  std::string made;
  made.reserve(source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r') {
      made += '\n';
      if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
    } else {
      made += source[i];
    }
  }
  if (!made.empty() && made.back() == '\n') made.pop_back();
  return made;
}

class lexer {
 public:
  explicit lexer(std::string_view source) : source_(source) {}

  result<std::vector<token>> run() {
    while (at_ < source_.size()) {
      INFER_TRYV(text_and_tag());
    }
    push(token_kind::end);
    return std::move(tokens_);
  }

 private:
  auto failure(const std::string& what) const {
    return fail(fault::syntax, "line " + std::to_string(line_) + ": " + what);
  }

  void push(token_kind kind, std::string text = {}) {
    tokens_.push_back({.kind = kind, .text = std::move(text), .line = line_});
  }

  void advance(std::size_t count) {
    line_ += static_cast<std::uint32_t>(std::count(source_.begin() + static_cast<std::ptrdiff_t>(at_),
                                                   source_.begin() + static_cast<std::ptrdiff_t>(at_ + count), '\n'));
    if (count > 0) line_starting_ = source_[at_ + count - 1] == '\n';
    at_ += count;
  }

  bool starts(std::string_view what, std::size_t where) const { return source_.substr(where).starts_with(what); }

  void skip_spaces() {
    std::size_t end = at_;
    while (end < source_.size()) {
      const character one = first_character(source_.substr(end));
      if (!is_space(one.code)) break;
      end += one.bytes;
    }
    advance(end - at_);
  }

  std::size_t next_tag() const {
    std::size_t where = at_;
    for (;; ++where) {
      where = source_.find('{', where);
      if (where == std::string_view::npos || where + 1 >= source_.size()) return source_.size();
      const char second = source_[where + 1];
      if (second == '{' || second == '%' || second == '#') return where;
    }
  }

  // The text before a tag, less what its sign or lstrip_blocks takes away.
  std::string_view kept(std::string_view before, char sign, bool is_print) const {
    if (sign == '-') return before.substr(0, stripped(before, nullptr, false, true).end);
    if (sign == '+' || is_print) return before;
    const std::size_t newline = before.rfind('\n');
    const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
    if (begin == 0 && !line_starting_) return before;
    const std::string_view last = before.substr(begin);
    return stripped(last, nullptr, true, false).begin == last.size() ? before.substr(0, begin) : before;
  }

  char sign_at(std::size_t where) const {
    return where < source_.size() && (source_[where] == '-' || source_[where] == '+') ? source_[where] : '\0';
  }

  void push_data(std::string_view before) {
    if (!before.empty()) push(token_kind::data, std::string(before));
  }

  result<void> text_and_tag() {
    const std::size_t tag = next_tag();
    const std::string_view before = source_.substr(at_, tag - at_);
    if (tag == source_.size()) {
      push_data(before);
      advance(before.size());
      return success();
    }
    const char second = source_[tag + 1];
    const char sign = sign_at(tag + 2);
    push_data(kept(before, sign, second == '{'));
    advance(tag - at_ + 2 + (sign != '\0' ? 1 : 0));
    if (second == '#') return comment();
    if (second == '%' && raw_tag("raw")) return raw_block();
    push(second == '{' ? token_kind::print_begin : token_kind::block_begin);
    return expression(second == '{');
  }

  result<void> comment() {
    const std::size_t end = source_.find("#}", at_);
    if (end == std::string_view::npos) return failure("a comment without its end '#}'");
    const char sign = end > at_ ? sign_at(end - 1) : '\0';
    advance(end - at_);
    end_tag(sign, true);
    return success();
  }

  // Steps over the two closing characters and the white space that goes with them.
  void end_tag(char sign, bool is_block) {
    advance(2);
    if (sign == '-') {
      skip_spaces();
    } else if (is_block && sign != '+' && starts("\n", at_)) {
      advance(1);
    }
  }

  // Consumes `name` and the tag's end if exactly that stands here.
  bool raw_tag(std::string_view name) {
    std::size_t where = at_;
    const auto spaces = [&] {
      while (where < source_.size() && is_space(static_cast<unsigned char>(source_[where]))) ++where;
    };
    spaces();
    if (!starts(name, where)) return false;
    where += name.size();
    spaces();
    const char sign = sign_at(where);
    if (sign != '\0') ++where;
    if (!starts("%}", where)) return false;
    advance(where - at_);
    end_tag(sign, name == "endraw");  // the newline after a raw tag is part of the raw text
    return true;
  }

  result<void> raw_block() {
    for (std::size_t where = at_; (where = source_.find("{%", where)) != std::string_view::npos; where += 2) {
      const char sign = sign_at(where + 2);
      const std::size_t old_at = at_;
      const bool old_start = line_starting_;
      const std::uint32_t old_line = line_;
      const std::string_view before = source_.substr(at_, where - at_);
      const std::string_view data = kept(before, sign, false);
      advance(where - at_ + 2 + (sign != '\0' ? 1 : 0));
      if (raw_tag("endraw")) {
        push_data(data);
        return success();
      }
      at_ = old_at;
      line_starting_ = old_start;
      line_ = old_line;
    }
    return failure("a raw block without its endraw");
  }

  result<void> expression(bool is_print) {
    const std::string_view closer = is_print ? "}}" : "%}";
    std::string open;  // brackets waiting for their ends
    for (;;) {
      skip_spaces();
      if (at_ >= source_.size()) return failure("a tag without its end '" + std::string(closer) + "'");
      if (open.empty()) {
        const char sign = sign_at(at_);
        const bool closes = starts(closer, at_);
        if (closes || (sign != '\0' && (sign == '-' || !is_print) && starts(closer, at_ + 1))) {
          if (!closes) advance(1);
          push(is_print ? token_kind::print_end : token_kind::block_end);
          end_tag(closes ? '\0' : sign, !is_print);
          return success();
        }
      }
      INFER_TRYV(one_token(open));
    }
  }

  result<void> one_token(std::string& open) {
    const char c = source_[at_];
    if (digit(c)) return number();
    if (name_start(c)) {
      std::size_t end = at_ + 1;
      while (end < source_.size() && (name_start(source_[end]) || digit(source_[end]))) ++end;
      push(token_kind::name, std::string(source_.substr(at_, end - at_)));
      advance(end - at_);
      return success();
    }
    if (c == '"' || c == '\'') return string(c);
    for (const std::string_view spelling : operators) {
      if (!starts(spelling, at_)) continue;
      INFER_TRYV(balance(open, c));
      push(token_kind::op, std::string(spelling));
      advance(spelling.size());
      return success();
    }
    return failure("unexpected character '" +
                   std::string(source_.substr(at_, first_character(source_.substr(at_)).bytes)) + "'");
  }

  result<void> balance(std::string& open, char c) const {
    if (c == '(') open += ')';
    if (c == '[') open += ']';
    if (c == '{') open += '}';
    if (c != ')' && c != ']' && c != '}') return success();
    if (open.empty()) return failure(std::string("unexpected '") + c + "'");
    if (open.back() != c) return failure(std::string("unexpected '") + c + "', expected '" + open.back() + "'");
    open.pop_back();
    return success();
  }

  result<void> string(char quote) {
    std::size_t end = at_ + 1;
    while (end < source_.size() && source_[end] != quote) end += source_[end] == '\\' ? 2 : 1;
    if (end >= source_.size()) return failure("a string without its end");
    push(token_kind::string, unescape(source_.substr(at_ + 1, end - at_ - 1)));
    advance(end + 1 - at_);
    return success();
  }

  result<void> number() {
    std::size_t end = at_;
    int base = 10;
    if (source_[at_] == '0' && at_ + 1 < source_.size()) {
      const char kind = static_cast<char>(source_[at_ + 1] | 0x20);
      base = kind == 'x' ? 16 : kind == 'o' ? 8 : kind == 'b' ? 2 : 10;
    }
    if (base != 10) end += 2;
    const auto digits = [&] {
      while (end < source_.size() && (digit(source_[end]) || source_[end] == '_' ||
                                      (base == 16 && (source_[end] | 0x20) >= 'a' && (source_[end] | 0x20) <= 'f'))) {
        ++end;
      }
    };
    digits();
    bool real = false;
    const auto digit_at = [&](std::size_t where) { return where < source_.size() && digit(source_[where]); };
    const bool after_dot = at_ > 0 && source_[at_ - 1] == '.';  // a.0.1 is two look-ups
    if (base == 10 && !after_dot && end < source_.size() && source_[end] == '.' && digit_at(end + 1)) {
      real = true;
      ++end;
      digits();
    }
    if (base == 10 && end < source_.size() && (source_[end] | 0x20) == 'e') {
      const std::size_t sign = end + 1 < source_.size() && (source_[end + 1] == '+' || source_[end + 1] == '-') ? 1 : 0;
      if (digit_at(end + 1 + sign)) {
        real = true;
        end += 1 + sign;
        digits();
      }
    }
    std::string spelled(source_.substr(at_, end - at_));
    std::erase(spelled, '_');
    push(real ? token_kind::real : token_kind::integer, spelled);
    const char* first = spelled.data() + (base == 10 ? 0 : 2);
    const char* last = spelled.data() + spelled.size();
    const auto parsed = real ? std::from_chars(first, last, tokens_.back().real)
                             : std::from_chars(first, last, tokens_.back().integer, base);
    if (parsed.ec != std::errc{} || parsed.ptr != last) return failure("the number " + spelled + " cannot be read");
    advance(end - at_);
    return success();
  }

  std::string_view source_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  bool line_starting_ = true;  // the last character taken was a newline
  std::vector<token> tokens_;
};

}  // namespace

result<std::vector<token>> lex(std::string_view source) {
  const std::string text = normalized(source);
  return lexer(text).run();
}

}  // namespace infer::templates
