// Splitting and merging.
#include "engine/tokenize/byte_level.h"

#include <string>
#include <unordered_map>
#include <utility>

#include "engine/tokenize/byte_alphabet.h"
#include "engine/tokenize/byte_pair.h"
#include "engine/tokenize/pre_tokenizer.h"

namespace infer::tokenize {
namespace {

using piece_index = std::unordered_map<std::string_view, token_id>;

result<token_id> merge_part(const piece_index& index, std::string_view letters, std::string_view merge) {
  const auto bytes = letters_to_bytes(letters);
  if (bytes) {
    if (const auto found = index.find(*bytes); found != index.end()) return found->second;
  }
  return fail(fault::malformed, "the merge '" + std::string(merge) + "' needs '" + std::string(letters) +
                                    "', which is not in the vocabulary");
}

class byte_level final : public plain_encoder {
 public:
  byte_level(pre_tokenizer split, std::size_t merges) : split_(std::move(split)), merges_(merges) {}

  void take_pieces(const tokenizer& owner) {
    ordinary_.reserve(owner.size());
    for (std::size_t i = 0; i < owner.size(); ++i) {
      const auto id = static_cast<token_id>(i);
      const std::string_view bytes = owner.bytes_of(id);
      if (owner.type_of(id) == token_type::normal && !bytes.empty() && ordinary_.emplace(bytes, id).second &&
          bytes.size() == 1) {
        merges_.set_byte(static_cast<std::uint8_t>(bytes.front()), id);
      }
    }
  }

  result<void> take_merges(const vocabulary_data& data) {
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

  void encode(std::string_view text, std::vector<token_id>& out) const override {
    byte_pair::workspace scratch;
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

  std::optional<token_id> find(std::string_view bytes) const override {
    const auto found = ordinary_.find(bytes);
    if (found == ordinary_.end()) return std::nullopt;
    return found->second;
  }

  bool adds_bos() const override { return split_.adds_bos(); }

 private:
  pre_tokenizer split_;
  piece_index ordinary_;  // bytes of the ordinary tokens; views into the tokenizer's storage
  byte_pair merges_;
};

}  // namespace

result<std::unique_ptr<const plain_encoder>> make_byte_level(const tokenizer& owner, const vocabulary_data& data) {
  INFER_TRY(auto split, pre_tokenizer::make(data.pre));
  auto made = std::make_unique<byte_level>(std::move(split), data.merges.size());
  made->take_pieces(owner);
  INFER_TRYV(made->take_merges(data));
  return std::unique_ptr<const plain_encoder>(std::move(made));
}

}  // namespace infer::tokenize
