// Special texts are cut out, the rest goes to the vocabulary's algorithm.
#include "engine/tokenize/tokenizer.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "engine/tokenize/decoding.h"
#include "engine/tokenize/detokenizer.h"
#include "engine/tokenize/gguf_recipe.h"
#include "engine/tokenize/pair_encoder.h"
#include "engine/tokenize/piece_table.h"
#include "engine/tokenize/scored.h"
#include "engine/tokenize/span_text.h"
#include "engine/tokenize/special_texts.h"
#include "engine/tokenize/stop_tokens.h"
#include "engine/tokenize/text_pipeline.h"
#include "engine/tokenize/unicode.h"
#include "engine/tokenize/unigram.h"

namespace infer::tokenize {
namespace {

bool is_special(token_type type) {
  return type == token_type::control || type == token_type::user_defined || type == token_type::unknown;
}

bool word_before(std::string_view text) {
  std::size_t length = 0;
  return !text.empty() && is_word(first_character(text.substr(text.size() - last_length(text)), length));
}

bool word_behind(std::string_view text) {
  std::size_t length = 0;
  return !text.empty() && is_word(first_character(text, length));
}

/// What a text becomes when it is normalized by itself.
std::string normalized_text(const text_pipeline& normalizer, std::string_view text) {
  piece_list whole(text);
  normalizer.run(whole, true);
  return whole.size() == 0 ? std::string() : std::string(whole[0]);
}

/// The added tokens that stand for something else than they are written as, since they are found in normalized text.
std::unordered_map<token_id, std::string> normalized_texts(const recipe& how, const text_pipeline& normalizer) {
  std::unordered_map<token_id, std::string> texts;
  if (normalizer.empty()) return texts;
  for (const added_text& added : how.added) {
    if (added.normalized) texts.emplace(added.id, normalized_text(normalizer, added.text));
  }
  return texts;
}

result<std::unique_ptr<const plain_encoder>> make_plain(const tokenizer& owner, const vocabulary_data& data,
                                                        const recipe& how) {
  switch (how.how) {
    case recipe::algorithm::byte_pairs:
    case recipe::algorithm::character_pairs:
      return make_pair_encoder(owner, data, how);
    case recipe::algorithm::scored:
      return make_scored(owner, data);
    case recipe::algorithm::unigram:
      break;
  }
  return make_unigram(owner, data, how);
}

}  // namespace

/// Cuts out special texts, normalizes the rest, cuts out those that are looked for there, and leaves what remains to
/// the vocabulary's algorithm.
class tokenizer::model {
 public:
  model(const tokenizer& owner, const recipe& how, text_pipeline normalizer, std::unique_ptr<const plain_encoder> plain)
      : normalizer_(std::move(normalizer)), plain_(std::move(plain)) {
    if (how.has_added) {
      for (const added_text& added : how.added) {
        if (owner.contains(added.id)) add(added, owner.type_of(added.id) != token_type::user_defined);
      }
      return;
    }
    for (std::size_t i = 0; i < owner.size(); ++i) {
      const auto id = static_cast<token_id>(i);
      if (is_special(owner.types_[i]))
        add({.id = id, .text = std::string(owner.bytes_of(id))}, owner.types_[i] != token_type::user_defined);
    }
  }

  void encode(span_text& spans, std::vector<token_id>& out) const {
    const std::string_view text = spans.text();
    const bool all = spans.all_allowed();
    cut(
        all ? raw_ : raw_mixed_, text, [&](std::size_t at) { return spans.allowed_end(at); },
        [&](std::size_t begin, std::size_t end) {
          encode_stretch(text.substr(begin, end - begin), begin == 0, all, out);
        },
        out);
  }

  std::optional<token_id> find(std::string_view text) const {
    if (const token_id id = by_text_.find(text); id >= 0) return id;
    return plain_->find(text);
  }

 private:
  void add(const added_text& added, bool restricted) {
    if (added.text.empty()) return;
    by_text_.insert(added.text, added.id);
    if (added.single_word || added.strips_left || added.strips_right) rules_.emplace(added.id, added);
    if (!added.normalized || restricted) raw_mixed_.add(added.text, added.id, restricted);
    if (!added.normalized) {
      raw_.add(added.text, added.id, restricted);
    } else {
      normalized_.add(normalized_text(normalizer_, added.text), added.id, restricted);
      has_normalized_ = true;
    }
  }

  /// Calls `plain` with each stretch between the texts of `set`, and writes those.
  template <class Allowed, class Plain>
  void cut(const special_texts& set, std::string_view text, Allowed&& allowed_end, Plain&& plain,
           std::vector<token_id>& out) const {
    std::size_t done = 0;
    for (std::size_t at = 0; at < text.size();) {
      const auto found = set.may_start(text[at]) ? set.longest(text, at, allowed_end(at)) : std::nullopt;
      if (!found) {
        ++at;
        continue;
      }
      std::size_t begin = at, end = at + found->length;
      at = end;
      if (const auto rule = rules_.find(found->id); rule != rules_.end()) {
        if (rule->second.single_word && (word_before(text.substr(0, begin)) || word_behind(text.substr(end)))) continue;
        widen(rule->second, text, done, begin, end);
      }
      if (done < begin) plain(done, begin);
      out.push_back(found->id);
      done = std::max(done, end);
    }
    if (done < text.size()) plain(done, text.size());
  }

  static void widen(const added_text& rule, std::string_view text, std::size_t done, std::size_t& begin,
                    std::size_t& end) {
    std::size_t length = 0;
    while (rule.strips_left && begin > done) {
      const std::size_t last = last_length(text.substr(done, begin - done));
      if (!is_space(first_character(text.substr(begin - last), length))) break;
      begin -= last;
    }
    while (rule.strips_right && end < text.size() && is_space(first_character(text.substr(end), length))) end += length;
  }

  void encode_stretch(std::string_view text, bool at_start, bool all_allowed, std::vector<token_id>& out) const {
    piece_list whole(text);
    normalizer_.run(whole, at_start);
    if (whole.size() == 0) return;
    const std::string_view normalized = whole[0];
    if (!has_normalized_) return plain_->encode(normalized, at_start, out);
    cut(
        normalized_, normalized, [&](std::size_t at) { return all_allowed ? normalized.size() : at; },
        [&](std::size_t begin, std::size_t end) {
          plain_->encode(normalized.substr(begin, end - begin), at_start && begin == 0, out);
        },
        out);
  }

  text_pipeline normalizer_;
  special_texts raw_;         // found in the text as it is
  special_texts raw_mixed_;   // the same where not all of the text may hold control tokens
  special_texts normalized_;  // found in the normalized text
  bool has_normalized_ = false;
  std::unordered_map<token_id, added_text> rules_;  // of those that look at their neighbours
  piece_table by_text_;
  std::unique_ptr<const plain_encoder> plain_;
};

tokenizer::tokenizer() = default;
tokenizer::~tokenizer() = default;

result<void> tokenizer::take_pieces(const vocabulary_data& data, const recipe& how, const text_pipeline& normalizer) {
  const std::size_t size = data.pieces.size();
  if (size == 0 || size > static_cast<std::size_t>(std::numeric_limits<token_id>::max())) {
    return fail(fault::malformed, "a vocabulary of " + std::to_string(size) + " tokens");
  }
  if (!data.types.empty() && data.types.size() != size) {
    return fail(fault::malformed, "the vocabulary has " + std::to_string(size) + " tokens but " +
                                      std::to_string(data.types.size()) + " token types");
  }
  std::uint64_t total = 0;
  for (const std::string_view piece : data.pieces) total += piece.size();
  const std::uint64_t most = std::min<std::uint64_t>(8 * total + (1 << 20), std::numeric_limits<std::uint32_t>::max());
  types_ = data.types;
  types_.resize(size, token_type::normal);
  bytes_.reserve(total);
  offsets_.reserve(size + 1);
  offsets_.push_back(0);
  const auto written = normalized_texts(how, normalizer);
  for (std::size_t i = 0; i < size; ++i) {
    const auto other = types_[i] == token_type::control ? written.end() : written.find(static_cast<token_id>(i));
    append_decoded(how, types_[i], other == written.end() ? data.pieces[i] : other->second, bytes_);
    if (bytes_.size() > most) return fail(fault::malformed, "the vocabulary's texts are too long");
    offsets_.push_back(static_cast<std::uint32_t>(bytes_.size()));
    if (types_[i] == token_type::control) control_tokens_.push_back(static_cast<token_id>(i));
  }
  strips_start_ = how.strips_start;
  first_loses_spaces_ = how.first_loses_spaces;
  return success();
}

result<void> tokenizer::take_ids(const vocabulary_data& data, const recipe& how) {
  const auto known = [this](std::optional<token_id> id) { return id && contains(*id) ? id : std::nullopt; };
  bos_ = known(data.bos);
  eos_ = known(data.eos);
  unk_ = known(data.unk);
  pad_ = known(data.pad);
  infill_ = {known(data.infill.prefix),     known(data.infill.suffix), known(data.infill.middle),
             known(data.infill.repository), known(data.infill.file),   known(data.infill.padding)};
  end_tokens_ = stop_tokens(data);
  stops_.resize(size());
  for (const token_id id : end_tokens_) stops_[id] = true;
  before_ = data.before;
  after_ = data.after;
  for (const std::vector<token_id>* ids : {&before_, &after_}) {
    if (std::ranges::all_of(*ids, [this](token_id id) { return contains(id); })) continue;
    return fail(fault::malformed, "a token that stands around every text is not in the vocabulary");
  }
  if (before_.empty() && bos_ && data.add_bos.value_or(how.adds_bos)) before_ = {*bos_};
  if (after_.empty() && eos_ && data.add_eos.value_or(how.adds_eos)) after_ = {*eos_};
  adds_bos_ = bos_ && !before_.empty() && before_.front() == *bos_;
  adds_eos_ = eos_ && !after_.empty() && after_.back() == *eos_;
  return success();
}

result<std::shared_ptr<const tokenizer>> tokenizer::make(const vocabulary_data& data) {
  recipe named;
  if (!data.how) {
    INFER_TRY(named, gguf_recipe(data));
  }
  const recipe& how = data.how ? *data.how : named;
  std::shared_ptr<tokenizer> made(new tokenizer);
  INFER_TRY(auto normalizer, text_pipeline::make(how.normalizer));
  INFER_TRYV(made->take_pieces(data, how, normalizer));
  INFER_TRYV(made->take_ids(data, how));
  INFER_TRY(auto plain, make_plain(*made, data, how));
  made->model_ = std::make_unique<const model>(*made, how, std::move(normalizer), std::move(plain));
  return std::shared_ptr<const tokenizer>(std::move(made));
}

std::vector<token_id> tokenizer::encode(std::span<const text_span> spans, encode_options options) const {
  std::vector<token_id> ids;
  if (options.add_special) ids = before_;
  span_text joined(spans);
  model_->encode(joined, ids);
  if (options.add_special) ids.insert(ids.end(), after_.begin(), after_.end());
  return ids;
}

std::vector<token_id> tokenizer::encode(std::string_view text, bool parse_special, encode_options options) const {
  const text_span span{text, parse_special};
  return encode(std::span(&span, 1), options);
}

std::string tokenizer::decode(std::span<const token_id> ids, bool skip_special) const {
  detokenizer stream;
  std::string text;
  bool first = true;
  for (const token_id id : ids) {
    if (!contains(id) || (skip_special && is_control(id))) continue;
    if (std::exchange(first, false) && first_loses_spaces_) {
      std::string start(bytes_of(id));
      std::erase(start, ' ');
      text += stream.push(start);
    } else {
      text += stream.push(bytes_of(id));
    }
  }
  text += stream.flush();
  const std::size_t spaces = std::min(text.find_first_not_of(' '), text.size());
  text.erase(0, std::min(strips_start_, spaces));
  return text;
}

std::string_view tokenizer::bytes_of(token_id id) const {
  if (!contains(id)) return {};
  return std::string_view(bytes_).substr(offsets_[id], offsets_[id + 1] - offsets_[id]);
}

std::optional<token_id> tokenizer::find(std::string_view text) const {
  return model_->find(text);
}

}  // namespace infer::tokenize
