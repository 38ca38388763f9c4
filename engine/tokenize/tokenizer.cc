// Special texts are cut out, the rest goes to the vocabulary's algorithm.
#include "engine/tokenize/tokenizer.h"

#include <charconv>
#include <limits>

#include "engine/tokenize/byte_alphabet.h"
#include "engine/tokenize/byte_level.h"
#include "engine/tokenize/detokenizer.h"
#include "engine/tokenize/scored.h"
#include "engine/tokenize/span_text.h"
#include "engine/tokenize/special_texts.h"
#include "engine/tokenize/stop_tokens.h"

namespace infer::tokenize {
namespace {

bool is_special(token_type type) {
  return type == token_type::control || type == token_type::user_defined || type == token_type::unknown;
}

/// "<0xHH>" as a byte token's piece names it.
std::optional<char> named_byte(std::string_view piece) {
  if (piece.size() != 6 || !piece.starts_with("<0x") || piece.back() != '>') return std::nullopt;
  unsigned value = 0;
  const auto [end, error] = std::from_chars(piece.data() + 3, piece.data() + 5, value, 16);
  if (error != std::errc() || end != piece.data() + 5) return std::nullopt;
  return static_cast<char>(value);
}

/// Appends what a piece stands for.
void append_bytes_of(bool scored, token_type type, std::string_view piece, std::string& out) {
  if (!scored) {
    const auto bytes = type == token_type::normal ? letters_to_bytes(piece) : std::nullopt;
    out.append(bytes ? std::string_view(*bytes) : piece);
  } else if (type == token_type::normal) {
    append_with_spaces(piece, out);
  } else if (const auto byte = named_byte(piece); byte && type == token_type::byte) {
    out.push_back(*byte);
  } else {
    out.append(piece);
  }
}

}  // namespace

/// Cuts out special texts and leaves the rest to the vocabulary's algorithm.
class tokenizer::model {
 public:
  model(const tokenizer& owner, std::unique_ptr<const plain_encoder> plain) : plain_(std::move(plain)) {
    for (std::size_t i = 0; i < owner.size(); ++i) {
      const auto id = static_cast<token_id>(i);
      if (is_special(owner.types_[i]))
        specials_.add(owner.bytes_of(id), id, owner.types_[i] != token_type::user_defined);
    }
  }

  void encode(span_text& spans, std::vector<token_id>& out) const {
    const std::string_view text = spans.text();
    std::size_t plain_begin = 0;
    for (std::size_t at = 0; at < text.size();) {
      const auto special =
          specials_.may_start(text[at]) ? specials_.longest(text, at, spans.allowed_end(at)) : std::nullopt;
      if (!special) {
        ++at;
        continue;
      }
      plain_->encode(text.substr(plain_begin, at - plain_begin), out);
      out.push_back(special->id);
      at += special->length;
      plain_begin = at;
    }
    plain_->encode(text.substr(plain_begin), out);
  }

  std::optional<token_id> find(std::string_view text) const {
    const auto special = specials_.longest(text, 0, text.size());
    if (special && special->length == text.size()) return special->id;
    return plain_->find(text);
  }

 private:
  special_texts specials_;
  std::unique_ptr<const plain_encoder> plain_;
};

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
    append_bytes_of(data.model == scored_model, types_[i], data.pieces[i], bytes_);
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
  const bool scored = data.model == scored_model;
  if (!scored && data.model != byte_level_model) {
    return fail(fault::unknown_model,
                "the vocabulary's algorithm (tokenizer.ggml.model) '" + data.model + "' is not supported");
  }
  std::shared_ptr<tokenizer> made(new tokenizer);
  INFER_TRYV(made->take_pieces(data));
  made->take_ids(data);
  INFER_TRY(auto plain, scored ? make_scored(*made, data) : make_byte_level(*made, data));
  made->adds_bos_ = made->bos_ && data.add_bos.value_or(plain->adds_bos());
  made->adds_eos_ = made->eos_ && data.add_eos.value_or(false);
  made->drops_space_ = plain->adds_space();
  made->model_ = std::make_unique<const model>(*made, std::move(plain));
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
  text += stream.flush();
  if (drops_space_ && text.starts_with(' ')) text.erase(0, 1);
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
