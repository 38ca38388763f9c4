// One small function per kind of step; three tables say which name calls which.
#include "engine/tokenize/recipe_json.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/tokenize/json_fields.h"
#include "engine/tokenize/plain_encoder.h"
#include "engine/tokenize/splitting_rules.h"

namespace infer::tokenize {
namespace {

namespace json = boost::json;
using kind = text_step::kind;
using steps = std::vector<text_step>;

constexpr int deepest = 8;  // sequences inside sequences

std::string_view type_of(const json::object& part) {
  return text_at(part, "type").value_or("without a type");
}

auto unsupported(std::string_view what, std::string_view name) {
  return fail(fault::unsupported,
              "the " + std::string(what) + " '" + std::string(name) + "' of tokenizer.json is not supported");
}

/// Sets the pattern of a step from {"String": …} or {"Regex": …}.
result<void> take_pattern(const json::object& part, text_step& step) {
  const json::value* pattern = part.if_contains("pattern");
  if (pattern == nullptr) return fail(fault::malformed, "a step of tokenizer.json has no pattern");
  std::optional<std::string_view> text = text_of(*pattern);
  step.literal = true;
  if (const json::object* typed = pattern->if_object()) {
    text = text_at(*typed, "String");
    if (const auto expression = text_at(*typed, "Regex")) {
      text = expression;
      step.literal = false;
    }
  }
  if (!text) return fail(fault::malformed, "a step of tokenizer.json has a pattern that is no text");
  step.pattern = *text;
  return success();
}

/// A step whose pattern is empty does nothing.
void add(text_step step, steps& out) {
  const bool needs_pattern = step.what == kind::split || step.what == kind::replace;
  if (!needs_pattern || !step.pattern.empty()) out.push_back(std::move(step));
}

text_step matched(kind what, std::string_view pattern, std::string_view content = {}) {
  return {.what = what, .pattern = std::string(pattern), .content = std::string(content)};
}

result<std::string> from_base64(std::string_view text) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t held = 0;
  int bits = 0;
  while (text.ends_with('=')) text.remove_suffix(1);
  for (const char letter : text) {
    const std::size_t digit = digits.find(letter);
    if (digit == std::string_view::npos) return fail(fault::malformed, "the character map is not base64");
    held = (held << 6 | static_cast<std::uint32_t>(digit)) & 0xFFFF;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push_back(static_cast<char>(held >> bits & 0xFF));
  }
  return bytes;
}

template <class Read>
result<void> each(const json::object& part, std::string_view list, Read&& read) {
  const json::array* parts = array_at(part, list);
  if (parts == nullptr) return fail(fault::malformed, "a sequence of tokenizer.json has no list");
  for (const json::value& one : *parts) {
    if (one.if_object() == nullptr) return fail(fault::malformed, "a step of tokenizer.json is no object");
    INFER_TRYV(read(one.get_object()));
  }
  return success();
}

/// Drops what has no width and makes every white space a space, cuts out ideographs, drops accents, lowers the case.
void bert(const json::object& part, steps& out) {
  if (flag_at(part, "clean_text").value_or(true)) {
    out.push_back(matched(
        kind::replace,
        R"([\x{0}-\x{8}\x{b}\x{c}\x{e}-\x{1f}\x{7f}-\x{9f}\x{ad}\x{600}-\x{605}\x{61c}\x{6dd}\x{70f}\x{180e})"
        R"(\x{200b}-\x{200f}\x{202a}-\x{202e}\x{2060}-\x{2064}\x{2066}-\x{206f}\x{e000}-\x{f8ff}\x{feff})"
        R"(\x{fff9}-\x{fffb}\x{fffd}\x{110bd}\x{1bca0}-\x{1bca3}\x{1d173}-\x{1d17a}\x{e0001}\x{e0020}-\x{e007f})"
        R"(\x{f0000}-\x{ffffd}\x{100000}-\x{10fffd}])"));
    out.push_back(matched(kind::replace,
                          R"([\x{9}\x{a}\x{d}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}])",
                          " "));
  }
  if (flag_at(part, "handle_chinese_chars").value_or(true))
    out.push_back(matched(kind::surround,
                          R"([\x{3400}-\x{4dbf}\x{4e00}-\x{9fff}\x{f900}-\x{faff}\x{20000}-\x{2a6df})"
                          R"(\x{2a700}-\x{2b81f}\x{2b920}-\x{2ceaf}\x{2f800}-\x{2fa1f}])",
                          " "));
  const bool lower = flag_at(part, "lowercase").value_or(true);
  if (flag_at(part, "strip_accents").value_or(lower)) {
    out.push_back({.what = kind::nfd});
    out.push_back(matched(kind::replace, R"(\p{Mn})"));
  }
  if (lower) out.push_back({.what = kind::lowercase});
}

result<void> normalizer(const json::object& part, int depth, steps& out) {
  struct plain {
    std::string_view name;
    kind what;
  };
  constexpr std::array<plain, 7> plains = {{{"NFC", kind::nfc},
                                            {"NFD", kind::nfd},
                                            {"NFKC", kind::nfkc},
                                            {"NFKD", kind::nfkd},
                                            {"Lowercase", kind::lowercase},
                                            {"StripAccents", kind::strip_accents},
                                            {"ByteLevel", kind::letters}}};
  const std::string_view type = type_of(part);
  for (const plain& row : plains) {
    if (row.name != type) continue;
    out.push_back({.what = row.what});
    return success();
  }
  if (type == "Sequence" && depth < deepest)
    return each(part, "normalizers", [&](const json::object& one) { return normalizer(one, depth + 1, out); });
  if (type == "Strip") {
    if (flag_at(part, "strip_left").value_or(true)) out.push_back({.what = kind::strip_left});
    if (flag_at(part, "strip_right").value_or(true)) out.push_back({.what = kind::strip_right});
    return success();
  }
  if (type == "Prepend") {
    out.push_back({.what = kind::prepend, .content = std::string(text_at(part, "prepend").value_or(""))});
    return success();
  }
  if (type == "Replace") {
    text_step step{.what = kind::replace, .content = std::string(text_at(part, "content").value_or(""))};
    INFER_TRYV(take_pattern(part, step));
    add(std::move(step), out);
    return success();
  }
  if (type == "Precompiled") {
    text_step step{.what = kind::charsmap};
    INFER_TRY(step.content, from_base64(text_at(part, "precompiled_charsmap").value_or("")));
    if (!step.content.empty()) out.push_back(std::move(step));
    return success();
  }
  if (type == "BertNormalizer") {
    bert(part, out);
    return success();
  }
  if (type == "Nmt") {
    out.push_back(matched(kind::replace, R"([\x{1}-\x{8}\x{b}\x{e}-\x{1f}\x{7f}\x{8f}\x{9f}])"));
    out.push_back(matched(kind::replace,
                          R"([\x{9}\x{a}\x{c}\x{d}\x{1680}\x{200b}-\x{200f}\x{2028}\x{2029}\x{2581}\x{feff}\x{fffd}])",
                          " "));
    return success();
  }
  return unsupported("normalizer", type);
}

result<split_behavior> behavior_of(const json::object& part, std::string_view otherwise) {
  struct row {
    std::string_view name;
    split_behavior what;
  };
  constexpr std::array<row, 5> table = {{{"Isolated", split_behavior::isolated},
                                         {"Removed", split_behavior::removed},
                                         {"MergedWithPrevious", split_behavior::merged_with_previous},
                                         {"MergedWithNext", split_behavior::merged_with_next},
                                         {"Contiguous", split_behavior::contiguous}}};
  const std::string_view name = text_at(part, "behavior").value_or(otherwise);
  const auto found = std::ranges::find(table, name, &row::name);
  if (found == table.end()) return unsupported("split behavior", name);
  return found->what;
}

void metaspace(const json::object& part, steps& out) {
  const std::string sign(text_at(part, "replacement").value_or(written_space));
  const bool old_form = flag_at(part, "add_prefix_space").value_or(true);
  const std::string_view scheme = text_at(part, "prepend_scheme").value_or(old_form ? "always" : "never");
  out.push_back({.what = kind::replace, .pattern = " ", .content = sign, .literal = true});
  if (scheme != "never")
    out.push_back({.what = kind::prepend,
                   .content = sign,
                   .unless_there = true,
                   .where = scheme == "first" ? text_step::at::start : text_step::at::everywhere});
  if (flag_at(part, "split").value_or(true) && !sign.empty())
    out.push_back(
        {.what = kind::split, .pattern = sign, .literal = true, .behavior = split_behavior::merged_with_next});
}

result<void> byte_level(const json::object& part, steps& out) {
  if (std::ranges::any_of(out, [](const text_step& step) { return step.what == kind::letters; }))
    return unsupported("pre-tokenizer", "a second ByteLevel");
  if (flag_at(part, "add_prefix_space").value_or(true))
    out.push_back({.what = kind::prepend, .content = " ", .unless_there = true});
  if (flag_at(part, "use_regex").value_or(true)) out.push_back(matched(kind::split, gpt2_expression));
  out.push_back({.what = kind::letters});
  return success();
}

/// Pre-tokenizers that are one or two expressions.
bool expressions(const json::object& part, std::string_view type, steps& out) {
  const auto cut = [&](std::string_view pattern, split_behavior behavior, bool invert = false) {
    text_step step = matched(kind::split, pattern);
    step.behavior = behavior;
    step.invert = invert;
    out.push_back(std::move(step));
    return true;
  };
  if (type == "Digits")
    return cut(R"(\p{N})", flag_at(part, "individual_digits").value_or(false) ? split_behavior::isolated
                                                                              : split_behavior::contiguous);
  if (type == "Whitespace")  // its word characters hold the joiners
    return cut(R"([\w\x{200c}\x{200d}]+|[^\w\s\x{200c}\x{200d}]+)", split_behavior::removed, true);
  if (type == "UnicodeScripts") {
    out.push_back({.what = kind::scripts});
    return true;
  }
  if (type == "WhitespaceSplit") return cut(R"(\s)", split_behavior::removed);
  if (type == "BertPreTokenizer") {
    cut(R"(\s)", split_behavior::removed);
    return cut(R"([\p{P}$+<=>^`|~])", split_behavior::isolated);
  }
  return false;
}

result<void> pre_tokenizer(const json::object& part, int depth, steps& out) {
  const std::string_view type = type_of(part);
  if (type == "Sequence" && depth < deepest)
    return each(part, "pretokenizers", [&](const json::object& one) { return pre_tokenizer(one, depth + 1, out); });
  if (type == "ByteLevel") return byte_level(part, out);
  if (expressions(part, type, out)) return success();
  if (type == "Metaspace") {
    metaspace(part, out);
    return success();
  }
  text_step step;
  if (type == "Split") {
    INFER_TRYV(take_pattern(part, step));
    INFER_TRY(step.behavior, behavior_of(part, ""));
    step.invert = flag_at(part, "invert").value_or(false);
  } else if (type == "Punctuation") {
    step.pattern = R"([\p{P}$+<=>^`|~])";
    INFER_TRY(step.behavior, behavior_of(part, "Isolated"));
  } else if (type == "CharDelimiterSplit") {
    step.pattern = text_at(part, "delimiter").value_or("");
    step.literal = true;
    step.behavior = split_behavior::removed;
  } else {
    return unsupported("pre-tokenizer", type);
  }
  add(std::move(step), out);
  return success();
}

result<void> decoder(const json::object& part, int depth, bool& fused, recipe& how) {
  const std::string_view type = type_of(part);
  if (type == "Sequence" && depth < deepest)
    return each(part, "decoders", [&](const json::object& one) { return decoder(one, depth + 1, fused, how); });
  decode_step step;
  if (type == "ByteLevel") {
    step.what = decode_step::kind::letters;
  } else if (type == "ByteFallback") {
    step.what = decode_step::kind::named_bytes;
  } else if (type == "Fuse") {
    fused = true;
    return success();
  } else if (type == "Replace") {
    text_step pattern;
    INFER_TRYV(take_pattern(part, pattern));
    if (!pattern.literal || fused) return unsupported("decoder", "Replace with an expression or behind Fuse");
    step = {decode_step::kind::replace, pattern.pattern, std::string(text_at(part, "content").value_or(""))};
  } else if (type == "Metaspace") {
    step = {decode_step::kind::replace, std::string(text_at(part, "replacement").value_or(written_space)), " "};
    const bool old_form = flag_at(part, "add_prefix_space").value_or(true);
    how.first_loses_spaces = text_at(part, "prepend_scheme").value_or(old_form ? "always" : "never") != "never";
  } else if (type == "Strip") {
    step = {decode_step::kind::strip, std::string(text_at(part, "content").value_or(" ")), ""};
    step.start = static_cast<std::size_t>(std::clamp<std::int64_t>(integer_at(part, "start").value_or(0), 0, 1 << 20));
    step.stop = static_cast<std::size_t>(std::clamp<std::int64_t>(integer_at(part, "stop").value_or(0), 0, 1 << 20));
    if (step.pattern.empty()) return success();
    if (fused) {
      if (step.pattern != " " || step.stop > 0) return unsupported("decoder", "Strip of more than leading spaces");
      how.strips_start += step.start;
      return success();
    }
  } else {
    return unsupported("decoder", type);
  }
  how.decoder.push_back(std::move(step));
  return success();
}

}  // namespace

result<void> read_steps(const json::object& tokenizer, recipe& how) {
  if (const json::object* part = object_at(tokenizer, "normalizer")) {
    INFER_TRYV(normalizer(*part, 0, how.normalizer));
  }
  if (const json::object* part = object_at(tokenizer, "pre_tokenizer")) {
    INFER_TRYV(pre_tokenizer(*part, 0, how.pre_tokenizer));
  }
  const auto letters = [](const text_step& step) { return step.what == kind::letters; };
  const auto times = std::ranges::count_if(how.normalizer, letters) + std::ranges::count_if(how.pre_tokenizer, letters);
  if (times > 1) return unsupported("pre-tokenizer", "a second ByteLevel");
  how.how = times == 1 ? recipe::algorithm::byte_pairs : recipe::algorithm::character_pairs;
  // Pieces that nothing cuts any more need not be written in letters first.
  if (!how.pre_tokenizer.empty() && letters(how.pre_tokenizer.back())) how.pre_tokenizer.pop_back();
  const json::object* part = object_at(tokenizer, "decoder");
  if (part == nullptr) {  // the pieces as they are, with spaces between them
    how.decoder = {{.what = decode_step::kind::lead, .content = " "}};
    how.joins_with_spaces = true;
    how.strips_start = 1;
    return success();
  }
  bool fused = false;
  return decoder(*part, 0, fused, how);
}

}  // namespace infer::tokenize
