// The byte-level tokenizer: special texts are cut out, the rest is split and merged.
#include "engine/tokenize/tokenizer.h"

#include <limits>
#include <unordered_map>

#include "engine/tokenize/byte_alphabet.h"
#include "engine/tokenize/byte_pair.h"
#include "engine/tokenize/detokenizer.h"
#include "engine/tokenize/pre_tokenizer.h"
#include "engine/tokenize/span_text.h"
#include "engine/tokenize/special_texts.h"
#include "engine/tokenize/stop_tokens.h"

namespace infer::tokenize {
namespace {

bool is_special(token_type type) {
  return type == token_type::control || type == token_type::user_defined;
}

using piece_index = std::unordered_map<std::string_view, token_id>;

result<token_id> merge_part(const piece_index& index, std::string_view letters, std::string_view merge) {
  const auto bytes = letters_to_bytes(letters);
  if (bytes) {
    if (const auto found = index.find(*bytes); found != index.end()) return found->second;
  }
  return fail(fault::malformed, "the merge '" + std::string(merge) + "' needs '" + std::string(letters) +
                                    "', which is not in the vocabulary");
}

}  // namespace

class tokenizer::model {
 public:
  static result<std::unique_ptr<const model>> make(const tokenizer& owner, const vocabulary_data& data);

  void encode(span_text& spans, std::vector<token_id>& out) const;
  std::optional<token_id> find(std::string_view text) const;

 private:
  model(pre_tokenizer split, std::size_t merges) : split_(std::move(split)), merges_(merges) {}
  result<void> take_merges(const vocabulary_data& data);
  void encode_plain(std::string_view text, byte_pair::workspace& scratch, std::vector<token_id>& out) const;

  pre_tokenizer split_;
  special_texts specials_;
  piece_index ordinary_;  // bytes of the ordinary tokens; views into the tokenizer's storage
  byte_pair merges_;
};

result<std::unique_ptr<const tokenizer::model>> tokenizer::model::make(const tokenizer& owner,
                                                                       const vocabulary_data& data) {
  INFER_TRY(auto split, pre_tokenizer::make(data.pre));
  std::unique_ptr<model> made(new model(std::move(split), data.merges.size()));
  made->ordinary_.reserve(owner.size());
  for (std::size_t i = 0; i < owner.size(); ++i) {
    const auto id = static_cast<token_id>(i);
    const std::string_view bytes = owner.bytes_of(id);
    if (is_special(owner.types_[i])) {
      made->specials_.add(bytes, id, owner.types_[i] == token_type::control);
    } else if (owner.types_[i] == token_type::normal && !bytes.empty() && made->ordinary_.emplace(bytes, id).second &&
               bytes.size() == 1) {
      made->merges_.set_byte(static_cast<std::uint8_t>(bytes.front()), id);
    }
  }
  INFER_TRYV(made->take_merges(data));
  return std::unique_ptr<const model>(std::move(made));
}

result<void> tokenizer::model::take_merges(const vocabulary_data& data) {
  for (const std::string_view merge : data.merges) {
    const std::size_t space = merge.find(' ', 1);
    if (merge.empty() || space == std::string_view::npos || space + 1 == merge.size()) {
      return fail(fault::malformed, "the merge '" + std::string(merge) + "' is not two parts with a space between");
    }
    const std::string_view left = merge.substr(0, space), right = merge.substr(space + 1);
    INFER_TRY(const token_id left_id, merge_part(ordinary_, left, merge));
    INFER_TRY(const token_id right_id, merge_part(ordinary_, right, merge));
    INFER_TRY(const token_id merged_id, merge_part(ordinary_, std::string(left).append(right), merge));
    merges_.add_merge(left_id, right_id, merged_id);
  }
  return success();
}

std::optional<token_id> tokenizer::model::find(std::string_view text) const {
  const auto special = specials_.longest(text, 0, text.size());
  if (special && special->length == text.size()) return special->id;
  const auto found = ordinary_.find(text);
  if (found == ordinary_.end()) return std::nullopt;
  return found->second;
}

void tokenizer::model::encode_plain(std::string_view text, byte_pair::workspace& scratch,
                                    std::vector<token_id>& out) const {
  for (const std::string_view piece : split_.split(text)) {
    if (split_.ignores_merges()) {
      if (const auto whole = ordinary_.find(piece); whole != ordinary_.end()) {
        out.push_back(whole->second);
        continue;
      }
    }
    merges_.encode(piece, scratch, out);
  }
}

void tokenizer::model::encode(span_text& spans, std::vector<token_id>& out) const {
  const std::string_view text = spans.text();
  byte_pair::workspace scratch;
  std::size_t plain_begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto special =
        specials_.may_start(text[at]) ? specials_.longest(text, at, spans.allowed_end(at)) : std::nullopt;
    if (!special) {
      ++at;
      continue;
    }
    encode_plain(text.substr(plain_begin, at - plain_begin), scratch, out);
    out.push_back(special->id);
    at += special->length;
    plain_begin = at;
  }
  encode_plain(text.substr(plain_begin), scratch, out);
}

tokenizer::tokenizer() = default;
tokenizer::~tokenizer() = default;

result<void> tokenizer::take_pieces(const vocabulary_data& data) {
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
  if (total > std::numeric_limits<std::uint32_t>::max()) {
    return fail(fault::malformed, "the vocabulary's texts exceed 4 GiB");
  }
  types_ = data.types;
  types_.resize(size, token_type::normal);
  bytes_.reserve(total);
  offsets_.reserve(size + 1);
  offsets_.push_back(0);
  for (std::size_t i = 0; i < size; ++i) {
    const auto bytes = types_[i] == token_type::normal ? letters_to_bytes(data.pieces[i]) : std::nullopt;
    bytes_.append(bytes ? std::string_view(*bytes) : data.pieces[i]);
    offsets_.push_back(static_cast<std::uint32_t>(bytes_.size()));
    if (types_[i] == token_type::control) control_tokens_.push_back(static_cast<token_id>(i));
  }
  return success();
}

void tokenizer::take_ids(const vocabulary_data& data) {
  const auto known = [this](std::optional<token_id> id) { return id && contains(*id) ? id : std::nullopt; };
  bos_ = known(data.bos);
  eos_ = known(data.eos);
  unk_ = known(data.unk);
  pad_ = known(data.pad);
  end_tokens_ = stop_tokens(data);
  stops_.resize(size());
  for (const token_id id : end_tokens_) stops_[id] = true;
}

result<std::shared_ptr<const tokenizer>> tokenizer::make(const vocabulary_data& data) {
  if (data.model != "gpt2") {
    return fail(fault::unknown_model,
                "the vocabulary's algorithm (tokenizer.ggml.model) '" + data.model + "' is not supported");
  }
  std::shared_ptr<tokenizer> made(new tokenizer);
  INFER_TRYV(made->take_pieces(data));
  made->take_ids(data);
  INFER_TRY(made->model_, model::make(*made, data));
  INFER_TRY(const auto split, pre_tokenizer::make(data.pre));
  made->adds_bos_ = made->bos_ && data.add_bos.value_or(split.adds_bos());
  made->adds_eos_ = made->eos_ && data.add_eos.value_or(false);
  return std::shared_ptr<const tokenizer>(std::move(made));
}

std::vector<token_id> tokenizer::encode(std::span<const text_span> spans, encode_options options) const {
  std::vector<token_id> ids;
  if (options.add_special && adds_bos_) ids.push_back(*bos_);
  span_text joined(spans);
  model_->encode(joined, ids);
  if (options.add_special && adds_eos_) ids.push_back(*eos_);
  return ids;
}

std::vector<token_id> tokenizer::encode(std::string_view text, bool parse_special, encode_options options) const {
  const text_span span{text, parse_special};
  return encode(std::span(&span, 1), options);
}

std::string tokenizer::decode(std::span<const token_id> ids, bool skip_special) const {
  detokenizer stream;
  std::string text;
  for (const token_id id : ids) {
    if (!skip_special || !is_control(id)) text += stream.push(bytes_of(id));
  }
  return text + stream.flush();
}

std::string_view tokenizer::bytes_of(token_id id) const {
  if (!contains(id)) return {};
  return std::string_view(bytes_).substr(offsets_[id], offsets_[id + 1] - offsets_[id]);
}

std::optional<token_id> tokenizer::find(std::string_view text) const {
  return model_->find(text);
}

}  // namespace infer::tokenize
