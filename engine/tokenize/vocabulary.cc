// Reads a vocabulary from a model file's metadata.
#include "engine/tokenize/vocabulary.h"

#include <cstddef>

namespace infer::tokenize {

namespace {

constexpr std::string_view prefix = "tokenizer.ggml.";

std::string key_of(std::string_view name) {
  return std::string(prefix).append(name);
}

result<std::optional<bool>> optional_flag(const formats::metadata& keys, std::string_view name) {
  const std::string key = key_of(name);
  if (!keys.contains(key)) return std::optional<bool>{};
  INFER_TRY(const bool value, keys.boolean(key));
  return std::optional<bool>{value};
}

result<std::optional<token_id>> optional_id(const formats::metadata& keys, std::string_view name, std::size_t size) {
  const std::string key = key_of(name);
  if (!keys.contains(key)) return std::optional<token_id>{};
  INFER_TRY(const std::int64_t value, keys.integer(key));
  // Writers store -1 or 2^32 - 1 for "none".
  if (value < 0 || static_cast<std::uint64_t>(value) >= size) return std::optional<token_id>{};
  return std::optional<token_id>{static_cast<token_id>(value)};
}

result<std::vector<token_type>> read_types(const formats::metadata& keys) {
  std::vector<token_type> types;
  const std::string key = key_of("token_type");
  if (!keys.contains(key)) return types;
  INFER_TRY(const auto values, keys.integers(key));
  types.reserve(values.size());
  for (const std::int64_t value : values) {
    if (value < 1 || value > 6) {
      return fail(fault::malformed, key + " holds " + std::to_string(value) + ", which is not a token type (1 to 6)");
    }
    types.push_back(static_cast<token_type>(value));
  }
  return types;
}

/// The first of two keys that names a token: writers have changed the names.
result<std::optional<token_id>> renamed_id(const formats::metadata& keys, std::string_view name,
                                           std::string_view before, std::size_t size) {
  INFER_TRY(const auto id, optional_id(keys, name, size));
  return id ? id : optional_id(keys, before, size);
}

result<void> read_ids(const formats::metadata& keys, vocabulary_data& data) {
  const std::size_t size = data.pieces.size();
  INFER_TRY(data.bos, optional_id(keys, "bos_token_id", size));
  INFER_TRY(data.eos, optional_id(keys, "eos_token_id", size));
  INFER_TRY(data.eot, optional_id(keys, "eot_token_id", size));
  INFER_TRY(data.eom, optional_id(keys, "eom_token_id", size));
  INFER_TRY(data.unk, optional_id(keys, "unknown_token_id", size));
  INFER_TRY(data.pad, optional_id(keys, "padding_token_id", size));
  INFER_TRY(data.infill.prefix, renamed_id(keys, "fim_pre_token_id", "prefix_token_id", size));
  INFER_TRY(data.infill.suffix, renamed_id(keys, "fim_suf_token_id", "suffix_token_id", size));
  INFER_TRY(data.infill.middle, renamed_id(keys, "fim_mid_token_id", "middle_token_id", size));
  INFER_TRY(data.infill.repository, optional_id(keys, "fim_rep_token_id", size));
  INFER_TRY(data.infill.file, optional_id(keys, "fim_sep_token_id", size));
  INFER_TRY(data.infill.padding, optional_id(keys, "fim_pad_token_id", size));
  INFER_TRY(data.add_bos, optional_flag(keys, "add_bos_token"));
  INFER_TRY(data.add_eos, optional_flag(keys, "add_eos_token"));
  INFER_TRY(data.add_space_prefix, optional_flag(keys, "add_space_prefix"));
  return success();
}

}  // namespace

result<vocabulary_data> read_vocabulary(const formats::metadata& keys) {
  vocabulary_data data;
  INFER_TRY(const std::string_view model, keys.text(key_of("model")));
  data.model = model;
  if (keys.contains(key_of("pre"))) {
    INFER_TRY(const std::string_view pre, keys.text(key_of("pre")));
    data.pre = pre;
  }
  INFER_TRY(const auto pieces, keys.texts(key_of("tokens")));
  data.pieces.assign(pieces.begin(), pieces.end());
  INFER_TRY(data.types, read_types(keys));
  if (keys.contains(key_of("scores"))) {
    INFER_TRY(const auto scores, keys.reals(key_of("scores")));
    data.scores.assign(scores.begin(), scores.end());
  }
  if (keys.contains(key_of("merges"))) {
    INFER_TRY(const auto merges, keys.texts(key_of("merges")));
    data.merges.assign(merges.begin(), merges.end());
  }
  INFER_TRY(data.remove_extra_spaces, optional_flag(keys, "remove_extra_whitespaces"));
  if (keys.contains(key_of("precompiled_charsmap"))) {
    INFER_TRY(const auto bytes, keys.integers(key_of("precompiled_charsmap")));
    for (const std::int64_t byte : bytes) data.character_map.push_back(static_cast<char>(byte));
  }
  if (keys.contains("tokenizer.huggingface.json")) {
    INFER_TRY(data.tokenizer_json, keys.text("tokenizer.huggingface.json"));
  }
  INFER_TRYV(read_ids(keys, data));
  return data;
}

}  // namespace infer::tokenize
