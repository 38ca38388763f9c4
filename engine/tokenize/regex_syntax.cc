// A translator that walks the expression once; sets are read by recursive descent.
#include "engine/tokenize/regex_syntax.h"

#include <algorithm>
#include <array>
#include <vector>

namespace infer::tokenize {
namespace {

#define INFER_WS R"(\x{9}-\x{d}\x{20}\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000})"
#define INFER_WORD R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc})"

// Outside of sets Oniguruma counts Latin-1's superscripts and fractions, too.
#define INFER_BARE_WORD INFER_WORD R"(\x{b2}\x{b3}\x{b9}\x{bc}-\x{be})"

constexpr std::string_view no_space =
    R"(\x{0}-\x{8}\x{e}-\x{1f}\x{21}-\x{84}\x{86}-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027})"
    R"(\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{10ffff})";

/// What a letter behind a backslash means: as an item of a set (empty: has no such form) and as a set's opposite.
struct shorthand {
  char letter;
  std::string_view items;
  std::string_view others;
};
constexpr std::array<shorthand, 4> shorthands = {{
    {'s', INFER_WS, no_space},
    {'w', INFER_WORD, {}},
    {'d', R"(\p{Nd})", R"(\P{Nd})"},
    {'h', "0-9a-fA-F", {}},
}};

struct long_name {
  std::string_view from, to;
};
/// Names of properties without spaces and underscores, in lower case. A longer name that is not here is a script's.
constexpr std::array<long_name, 40> property_names = {{
    {"letter", "L"},
    {"uppercaseletter", "Lu"},
    {"lowercaseletter", "Ll"},
    {"titlecaseletter", "Lt"},
    {"modifierletter", "Lm"},
    {"otherletter", "Lo"},
    {"mark", "M"},
    {"nonspacingmark", "Mn"},
    {"spacingmark", "Mc"},
    {"enclosingmark", "Me"},
    {"number", "N"},
    {"decimalnumber", "Nd"},
    {"letternumber", "Nl"},
    {"othernumber", "No"},
    {"punctuation", "P"},
    {"symbol", "S"},
    {"separator", "Z"},
    {"spaceseparator", "Zs"},
    {"lineseparator", "Zl"},
    {"paragraphseparator", "Zp"},
    {"other", "C"},
    {"control", "Cc"},
    {"format", "Cf"},
    {"unassigned", "Cn"},
    {"privateuse", "Co"},
    {"any", "Any"},
    {"alpha", "Alphabetic"},
    {"alphabetic", "Alphabetic"},
    {"digit", "Nd"},
    {"upper", "Uppercase"},
    {"uppercase", "Uppercase"},
    {"lower", "Lowercase"},
    {"lowercase", "Lowercase"},
    {"punct", "P"},
    {"emoji", "Emoji"},
    {"emojipresentation", "Emoji_Presentation"},
    {"extendedpictographic", "Extended_Pictographic"},
    {"ideographic", "Ideographic"},
    {"xidstart", "XID_Start"},
    {"xidcontinue", "XID_Continue"},
}};

/// Set items of [:name:].
constexpr std::array<long_name, 6> bracket_names = {{
    {"alpha", R"(\p{Alphabetic})"},
    {"digit", R"(\p{Nd})"},
    {"alnum", R"(\p{Alphabetic}\p{Nd})"},
    {"upper", R"(\p{Uppercase})"},
    {"lower", R"(\p{Lowercase})"},
    {"space", INFER_WS},
}};

template <std::size_t N>
std::string_view look_up(const std::array<long_name, N>& table, std::string_view name) {
  const auto row = std::ranges::find(table, name, &long_name::from);
  return row == table.end() ? std::string_view{} : row->to;
}

class translator {
 public:
  explicit translator(std::string_view pattern) : in_(pattern) {}

  result<std::string> run();

 private:
  [[nodiscard]] auto refuse(std::string_view part) const {
    return fail(fault::unsupported,
                "the regular expression '" + std::string(in_) + "' is not supported at '" + std::string(part) + "'");
  }
  bool follows(std::string_view text) const { return in_.substr(at_).starts_with(text); }

  /// One atom, group sign, quantifier or other sign.
  result<void> next() {
    const char sign = in_[at_];
    if (sign == '\\' || sign == '[') {
      atom_ = out_.size();
      std::string part;
      if (sign == '\\') {
        INFER_TRY(part, escape());
      } else {
        ++at_;
        INFER_TRY(part, set(0));
      }
      out_ += part;
      return success();
    }
    if (sign == '(') return group();
    if (sign == ')') {
      if (open_.empty()) return refuse(")");
      atom_ = open_.back();
      open_.pop_back();
    } else if (sign == '{') {
      if (const std::size_t length = interval()) {
        repeat(length);
        return success();
      }
      atom_ = out_.size();
      out_ += '\\';
    } else if (sign != '*' && sign != '+' && sign != '?' && (sign & 0xC0) != 0x80) {
      atom_ = out_.size();
    }
    out_ += sign;
    ++at_;
    return success();
  }

  /// Bytes of `{n}`, `{n,}`, `{,m}` or `{n,m}` here; 0: a plain brace.
  std::size_t interval() const {
    const std::size_t end = in_.find('}', at_);
    if (end == std::string_view::npos || end < at_ + 2) return 0;
    const std::string_view inside = in_.substr(at_ + 1, end - at_ - 1);
    const bool numbers = inside.find_first_not_of("0123456789,") == std::string_view::npos;
    if (!numbers || inside == "," || std::ranges::count(inside, ',') > 1) return 0;
    return end + 1 - at_;
  }

  void repeat(std::size_t length) {
    std::string sign(in_.substr(at_, length));
    if (sign[1] == ',') sign.insert(1, "0");
    out_ += sign;
    at_ += length;
    if (at_ < in_.size() && in_[at_] == '+') {  // a repeated repetition, where PCRE2 reads a possessive one
      out_.insert(atom_, "(?:");
      out_ += ")+";
      ++at_;
    }
  }

  result<void> group() {
    open_.push_back(out_.size());
    if (!follows("(?")) {
      out_ += "(";
      ++at_;
      return success();
    }
    for (const std::string_view head : {"(?:", "(?=", "(?!", "(?>", "(?<=", "(?<!"}) {
      if (!follows(head)) continue;
      out_ += head;
      at_ += head.size();
      return success();
    }
    const std::size_t end = in_.find_first_not_of("im-", at_ + 2);
    if (end == std::string_view::npos || end == at_ + 2 || (in_[end] != ':' && in_[end] != ')'))
      return refuse(in_.substr(at_, 4));
    std::string head(in_.substr(at_, end + 1 - at_));
    std::ranges::replace(head, 'm', 's');  // Ruby's m lets the dot match newlines
    out_ += head;
    at_ = end + 1;
    if (head.back() == ')') open_.pop_back();
    return success();
  }

  /// `\p{…}` or `\P{…}` at the name's brace.
  result<std::string> property(bool negated) {
    const std::size_t end = in_.find('}', at_);
    if (at_ >= in_.size() || in_[at_] != '{' || end == std::string_view::npos) return refuse("\\p");
    std::string name(in_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    if (name.starts_with('^')) {
      negated = !negated;
      name.erase(0, 1);
    }
    std::string plain;
    for (const char letter : name) {
      if (letter != '_' && letter != ' ' && letter != '-')
        plain += letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + 32) : letter;
    }
    if (const std::string_view known = look_up(property_names, plain); !known.empty()) {
      name = known;
    } else if (plain.size() > 2) {
      name.insert(0, "sc:");
    }
    return (negated ? "\\P{" : "\\p{") + name + "}";
  }

  /// An escape outside of sets; `at_` is at the backslash.
  result<std::string> escape() {
    if (at_ + 1 >= in_.size()) return refuse("\\");
    const char letter = in_[at_ + 1];
    const std::string_view whole = in_.substr(at_, 2);
    at_ += 2;
    if (letter == 'w') return std::string("[" INFER_BARE_WORD "]");
    if (letter == 'W') return std::string("[^" INFER_BARE_WORD "]");
    for (const shorthand& row : shorthands) {
      if (letter == row.letter) return "[" + std::string(row.items) + "]";
      if (letter == row.letter - 32) return "[^" + std::string(row.items) + "]";
    }
    if (letter == 'b')
      return std::string("(?:(?<=[" INFER_BARE_WORD "])(?![" INFER_BARE_WORD "])|(?<![" INFER_BARE_WORD
                         "])(?=[" INFER_BARE_WORD "]))");
    if (letter == 'B')
      return std::string("(?:(?<=[" INFER_BARE_WORD "])(?=[" INFER_BARE_WORD "])|(?<![" INFER_BARE_WORD
                         "])(?![" INFER_BARE_WORD "]))");
    if (std::string_view("AzZG").find(letter) != std::string_view::npos) return std::string(whole);
    return character(letter, whole);
  }

  /// An escape that is one character or a property, inside of sets or outside.
  result<std::string> character(char letter, std::string_view whole) {
    if (letter == 'p' || letter == 'P') return property(letter == 'P');
    if (letter == 'v') return std::string("\\x{b}");
    if (letter == 'u' || letter == 'x') {
      const bool braces = letter == 'x' && at_ < in_.size() && in_[at_] == '{';
      const std::size_t end = braces ? in_.find('}', at_) : std::min(in_.size(), at_ + (letter == 'u' ? 4 : 2));
      if (end == std::string_view::npos) return refuse(whole);
      const std::string digits(in_.substr(at_ + braces, end - at_ - braces));
      at_ = end + braces;
      if (digits.empty() || digits.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos)
        return refuse(whole);
      return "\\x{" + digits + "}";
    }
    const bool alphanumeric =
        (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
    if (alphanumeric && std::string_view("tnrfae0").find(letter) == std::string_view::npos) return refuse(whole);
    if (static_cast<unsigned char>(letter) >= 0x80) return std::string(1, letter);
    return std::string(whole);
  }

  /// A set behind its opening bracket.
  struct members {
    std::string items;
    std::vector<std::string> others;  // expressions that match one character

    std::string shown() const {
      if (others.empty()) return items.empty() ? "(?!)" : "[" + items + "]";
      std::string text = items.empty() ? "(?:" : "(?:[" + items + "]|";
      for (const std::string& other : others) text += other + "|";
      text.back() = ')';
      return text;
    }
  };

  result<std::string> set(int depth) {
    if (depth > 16) return refuse("[");
    const bool negated = follows("^");
    if (negated) ++at_;
    members now;
    std::vector<std::string> all;  // of an intersection
    bool first = true;
    for (;; first = false) {
      if (at_ >= in_.size()) return refuse("[");
      if (in_[at_] == ']' && !first) break;
      if (follows("&&")) {
        at_ += 2;
        all.push_back(now.shown());
        now = {};
        continue;
      }
      INFER_TRYV(item(now, depth));
    }
    ++at_;
    if (all.empty() && now.others.empty()) {
      if (!now.items.empty()) return (negated ? "[^" : "[") + now.items + "]";
      return std::string(negated ? "\\p{Any}" : "(?!)");
    }
    std::string text = now.shown();
    for (const std::string& other : all) text.insert(0, "(?=" + other + ")");
    return (negated ? "(?:(?!" + text + ")\\p{Any})" : "(?:" + text + ")");
  }

  result<void> item(members& now, int depth) {
    const char sign = in_[at_];
    if (sign == '[') return bracket(now, depth);
    if (sign == '\\') {
      if (at_ + 1 >= in_.size()) return refuse("\\");
      const char letter = in_[at_ + 1];
      const std::string_view whole = in_.substr(at_, 2);
      at_ += 2;
      for (const shorthand& row : shorthands) {
        if (letter == row.letter) {
          now.items += row.items;
          return success();
        }
        if (letter == row.letter - 32) {
          if (row.others.empty()) {
            now.others.push_back("[^" + std::string(row.items) + "]");
          } else {
            now.items += row.others;
          }
          return success();
        }
      }
      if (letter == 'b') {
        now.items += "\\x{8}";
        return success();
      }
      INFER_TRY(const std::string one, character(letter, whole));
      now.items += one;
      return success();
    }
    if (sign == ']') now.items += '\\';
    now.items += sign;
    ++at_;
    return success();
  }

  result<void> bracket(members& now, int depth) {
    if (follows("[:")) {
      const std::size_t end = in_.find(":]", at_);
      if (end == std::string_view::npos) return refuse("[:");
      const std::string_view items = look_up(bracket_names, in_.substr(at_ + 2, end - at_ - 2));
      if (items.empty()) return refuse(in_.substr(at_, end + 2 - at_));
      now.items += items;
      at_ = end + 2;
      return success();
    }
    ++at_;
    INFER_TRY(const std::string inner, set(depth + 1));
    now.others.push_back(inner);
    return success();
  }

  std::string_view in_;
  std::size_t at_ = 0;
  std::string out_;
  std::size_t atom_ = 0;           // where the last atom begins in `out_`
  std::vector<std::size_t> open_;  // where the open groups begin in `out_`
};

result<std::string> translator::run() {
  while (at_ < in_.size()) {
    INFER_TRYV(next());
  }
  if (!open_.empty()) return refuse("(");
  return std::move(out_);
}

}  // namespace

result<std::string> pcre2_syntax(std::string_view pattern) {
  return translator(pattern).run();
}

}  // namespace infer::tokenize
