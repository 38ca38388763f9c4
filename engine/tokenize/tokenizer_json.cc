// The vocabulary, the added tokens and the ids; the steps are read elsewhere.
#include "engine/tokenize/tokenizer_json.h"

#include <algorithm>
#include <boost/json.hpp>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include "engine/tokenize/decoding.h"
#include "engine/tokenize/json_fields.h"
#include "engine/tokenize/recipe_json.h"

namespace infer::tokenize {
namespace {

namespace json = boost::json;

/// Ids that no vocabulary of its length would have.
constexpr std::int64_t most_holes = 1 << 20;

/// Tokens of a chat's frame, whether or not a file calls them special.
bool frames_a_chat(std::string_view text) {
  constexpr std::string_view wide = "\xEF\xBD\x9C";
  return (text.starts_with("<|") && text.ends_with("|>")) ||
         (text.starts_with("<" + std::string(wide)) && text.ends_with(std::string(wide) + ">"));
}

class reader {
 public:
  reader(vocabulary_data& data, std::size_t rows) : data_(data), rows_(rows) {}

  result<void> read(const json::object& tokenizer, const json::object& config, const json::object& generation) {
    const json::object* model = object_at(tokenizer, "model");
    if (model == nullptr) return fail(fault::malformed, "tokenizer.json has no model");
    data_.how.emplace();
    INFER_TRYV(read_steps(tokenizer, *data_.how));
    INFER_TRYV(take_model(*model));
    if (const json::array* added = array_at(tokenizer, "added_tokens")) {
      INFER_TRYV(take_added(*added));
    }
    data_.types.resize(data_.pieces.size(), token_type::unused);
    if (const auto text = text_at(*model, "unk_token")) data_.unk = find(*text);
    if (const json::object* post = object_at(tokenizer, "post_processor")) {
      INFER_TRYV(take_frame(*post, 0));
    }
    take_config(config);
    take_generation(generation);
    if (!data_.bos && !data_.before.empty()) data_.bos = data_.before.front();
    return success();
  }

 private:
  std::optional<token_id> find(std::string_view text) const {
    const auto found = ids_.find(text);
    return found == ids_.end() ? std::nullopt : std::optional(found->second);
  }

  /// Enters a piece; ids may come in any order, but not far beyond their count.
  result<void> place(std::string_view piece, std::int64_t id, token_type type) {
    if (id < 0 || id > static_cast<std::int64_t>(2 * ids_.size()) + most_holes)
      return fail(fault::malformed, "the token '" + std::string(piece) + "' has the id " + std::to_string(id));
    const auto index = static_cast<std::size_t>(id);
    if (index >= data_.pieces.size()) {
      data_.pieces.resize(index + 1);
      data_.types.resize(index + 1, token_type::unused);
    }
    data_.pieces[index] = piece;
    data_.types[index] = type;
    ids_.emplace(piece, static_cast<token_id>(id));
    return success();
  }

  result<void> take_model(const json::object& model) {
    const bool listed = array_at(model, "vocab") != nullptr;
    const std::string_view type = text_at(model, "type").value_or(listed ? "Unigram" : "BPE");
    recipe& how = *data_.how;
    how.named_bytes = flag_at(model, "byte_fallback").value_or(false);
    how.has_added = true;
    if (type == "Unigram") {
      how.how = recipe::algorithm::unigram;
      how.joins_unknown = true;
      return take_unigram(model);
    }
    if (type != "BPE")
      return fail(fault::unknown_model, "the model '" + std::string(type) + "' of tokenizer.json is not supported");
    how.ignores_merges = flag_at(model, "ignore_merges").value_or(false);
    how.joins_unknown = flag_at(model, "fuse_unk").value_or(false);
    for (const std::string_view affix : {"continuing_subword_prefix", "end_of_word_suffix"}) {
      if (!text_at(model, affix).value_or("").empty())
        return fail(fault::unsupported, "the model's " + std::string(affix) + " in tokenizer.json is not supported");
    }
    const json::value* dropout = model.if_contains("dropout");
    if (dropout != nullptr && dropout->is_number() && dropout->to_number<double>() != 0)
      return fail(fault::unsupported, "the model's dropout in tokenizer.json is not supported");
    return take_pairs(model);
  }

  token_type type_of(std::string_view piece) const {
    return data_.how->named_bytes && named_byte(piece) ? token_type::byte : token_type::normal;
  }

  result<void> take_unigram(const json::object& model) {
    const json::array* vocabulary = array_at(model, "vocab");
    if (vocabulary == nullptr) return fail(fault::malformed, "tokenizer.json has no vocabulary");
    for (const json::value& entry : *vocabulary) {
      const json::array* pair = entry.if_array();
      const auto piece = pair != nullptr && pair->size() == 2 ? text_of((*pair)[0]) : std::nullopt;
      if (!piece || !(*pair)[1].is_number())
        return fail(fault::malformed, "an entry of tokenizer.json's vocabulary is not a piece and its score");
      const auto id = static_cast<std::int64_t>(data_.log_probabilities.size());
      data_.log_probabilities.push_back((*pair)[1].to_number<double>());
      INFER_TRYV(place(*piece, id, type_of(*piece)));
    }
    if (const auto unknown = integer_at(model, "unk_id");
        unknown && *unknown >= 0 && *unknown < static_cast<std::int64_t>(data_.pieces.size()))
      data_.unk = static_cast<token_id>(*unknown);
    return success();
  }

  result<void> take_pairs(const json::object& model) {
    const json::object* vocabulary = object_at(model, "vocab");
    const json::array* merges = array_at(model, "merges");
    if (vocabulary == nullptr || merges == nullptr)
      return fail(fault::malformed, "tokenizer.json has no vocabulary or no merges");
    ids_.reserve(vocabulary->size());
    for (const auto& entry : *vocabulary) {
      const std::string_view piece(entry.key().data(), entry.key().size());
      INFER_TRYV(place(piece, integer_of(entry.value()).value_or(-1), type_of(piece)));
    }
    data_.merge_pairs.reserve(merges->size());
    for (const json::value& merge : *merges) {
      if (const auto text = text_of(merge)) {
        const std::size_t space = text->find(' ', 1);
        if (!text->empty() && space != std::string_view::npos) {
          data_.merge_pairs.push_back({text->substr(0, space), text->substr(space + 1)});
          continue;
        }
      }
      const json::array* pair = merge.if_array();
      const bool two = pair != nullptr && pair->size() == 2 && (*pair)[0].is_string() && (*pair)[1].is_string();
      if (!two) return fail(fault::malformed, "a merge of tokenizer.json is not two parts");
      data_.merge_pairs.push_back({*text_of((*pair)[0]), *text_of((*pair)[1])});
    }
    return success();
  }

  result<void> take_added(const json::array& tokens) {
    for (const json::value& entry : tokens) {
      const json::object* token = entry.if_object();
      const auto text = token == nullptr ? std::nullopt : text_at(*token, "content");
      if (!text) return fail(fault::malformed, "an added token of tokenizer.json has no content");
      const bool special = flag_at(*token, "special").value_or(false);
      // A token that the model knows keeps the model's id.
      const std::int64_t id = find(*text).value_or(static_cast<token_id>(
          std::clamp<std::int64_t>(integer_at(*token, "id").value_or(-1), -1, std::numeric_limits<token_id>::max())));
      if (id >= 0 && static_cast<std::size_t>(id) >= rows_) continue;
      INFER_TRYV(place(*text, id, special || frames_a_chat(*text) ? token_type::control : token_type::user_defined));
      data_.how->added.push_back({.id = static_cast<token_id>(id),
                                  .text = std::string(*text),
                                  .single_word = flag_at(*token, "single_word").value_or(false),
                                  .strips_left = flag_at(*token, "lstrip").value_or(false),
                                  .strips_right = flag_at(*token, "rstrip").value_or(false),
                                  .normalized = flag_at(*token, "normalized").value_or(!special)});
    }
    return success();
  }

  /// What a post-processor puts around a single text.
  result<void> take_frame(const json::object& post, int depth) {
    const std::string_view type = text_at(post, "type").value_or("");
    if (type == "Sequence" && depth < 8) {
      if (const json::array* parts = array_at(post, "processors")) {
        for (const json::value& part : *parts) {
          if (part.if_object() != nullptr) {
            INFER_TRYV(take_frame(part.get_object(), depth + 1));
          }
        }
      }
      return success();
    }
    if (type == "ByteLevel") return success();
    if (type == "RobertaProcessing" || type == "BertProcessing") {
      data_.before = named_token(post, "cls");
      data_.after = named_token(post, "sep");
      return success();
    }
    if (type != "TemplateProcessing")
      return fail(fault::unsupported,
                  "the post-processor '" + std::string(type) + "' of tokenizer.json is not supported");
    return take_template(post);
  }

  static std::vector<token_id> named_token(const json::object& post, std::string_view key) {
    const json::array* pair = array_at(post, key);
    const auto id = pair != nullptr && pair->size() == 2 ? integer_of((*pair)[1]) : std::nullopt;
    if (!id || *id < 0 || *id > std::numeric_limits<token_id>::max()) return {};
    return {static_cast<token_id>(*id)};
  }

  result<void> take_template(const json::object& post) {
    const json::array* parts = array_at(post, "single");
    const json::object* tokens = object_at(post, "special_tokens");
    if (parts == nullptr) return fail(fault::malformed, "the post-processor of tokenizer.json has no template");
    std::vector<token_id>* side = &data_.before;
    for (const json::value& part : *parts) {
      const json::object* object = part.if_object();
      if (object == nullptr) return fail(fault::malformed, "a part of the post-processor's template is no object");
      if (object_at(*object, "Sequence") != nullptr) side = &data_.after;
      const json::object* special = object_at(*object, "SpecialToken");
      if (special == nullptr) continue;
      const std::string_view name = text_at(*special, "id").value_or("");
      const json::object* token = tokens == nullptr ? nullptr : object_at(*tokens, name);
      const json::array* ids = token == nullptr ? nullptr : array_at(*token, "ids");
      if (ids == nullptr)
        return fail(fault::malformed, "the post-processor's token '" + std::string(name) + "' has no ids");
      for (const json::value& id : *ids) {
        const auto value = integer_of(id).value_or(-1);
        if (value < 0 || value >= static_cast<std::int64_t>(data_.pieces.size()))
          return fail(fault::malformed,
                      "the post-processor's token '" + std::string(name) + "' is not in the vocabulary");
        side->push_back(static_cast<token_id>(value));
      }
    }
    return success();
  }

  /// A config names a token by its text, or by an object that holds it.
  std::optional<token_id> named(const json::object& config, std::string_view key) const {
    auto text = text_at(config, key);
    if (const json::object* token = object_at(config, key)) text = text_at(*token, "content");
    return text ? find(*text) : std::nullopt;
  }

  void take_config(const json::object& config) {
    data_.bos = named(config, "bos_token");
    data_.eos = named(config, "eos_token");
    data_.pad = named(config, "pad_token");
    const auto adds_bos = flag_at(config, "add_bos_token"), adds_eos = flag_at(config, "add_eos_token");
    if (!(adds_bos || adds_eos) || !heeds_flags(text_at(config, "tokenizer_class").value_or(""))) return;
    data_.before.clear();
    data_.after.clear();
    data_.add_bos = adds_bos.value_or(true);
    data_.add_eos = adds_eos.value_or(false);
  }

  /// Whether the class of a tokenizer puts what the flags say around a text, not what the post-processor does.
  static bool heeds_flags(std::string_view tokenizer_class) {
    constexpr std::string_view fast = "Fast";
    if (tokenizer_class.ends_with(fast)) tokenizer_class.remove_suffix(fast.size());
    constexpr std::array classes{"LlamaTokenizer", "GemmaTokenizer", "CodeLlamaTokenizer", "CohereTokenizer"};
    return std::ranges::find(classes, tokenizer_class) != classes.end();
  }

  void take_generation(const json::object& generation) {
    const auto id_of = [&](const json::value& value) -> std::optional<token_id> {
      const auto id = integer_of(value);
      const std::size_t size = std::min(data_.pieces.size(), rows_);
      if (!id || *id < 0 || static_cast<std::size_t>(*id) >= size) return std::nullopt;
      return static_cast<token_id>(*id);
    };
    const auto take = [&](std::string_view key, std::optional<token_id>& into) {
      const json::value* value = generation.if_contains(key);
      if (value != nullptr && !into) into = id_of(*value);
    };
    if (const json::array* list = array_at(generation, "eos_token_id")) {
      for (const json::value& value : *list) {
        if (const auto id = id_of(value)) data_.more_stops.push_back(*id);
      }
      if (!data_.eos && !data_.more_stops.empty()) data_.eos = data_.more_stops.front();
    } else if (const json::value* value = generation.if_contains("eos_token_id")) {
      if (const auto id = id_of(*value)) data_.more_stops.push_back(*id);
    }
    take("eos_token_id", data_.eos);
    take("bos_token_id", data_.bos);
    take("pad_token_id", data_.pad);
  }

  vocabulary_data& data_;
  std::size_t rows_;
  std::unordered_map<std::string_view, token_id> ids_;
};

result<json::value> parse_object(std::string_view text, std::string_view name) {
  if (text.empty()) return json::value(json::object());
  INFER_TRY(json::value value, parse_json(text, name));
  if (!value.is_object()) return fail(fault::malformed, std::string(name) + " is not an object");
  return value;
}

}  // namespace

result<vocabulary_file> read_tokenizer_json(std::string_view tokenizer_json, std::string_view tokenizer_config_json,
                                            std::string_view generation_config_json, std::size_t rows) {
  auto storage = std::make_shared<json::value>();
  INFER_TRY(*storage, parse_object(tokenizer_json, "tokenizer.json"));
  INFER_TRY(const json::value config, parse_object(tokenizer_config_json, "tokenizer_config.json"));
  INFER_TRY(const json::value generation, parse_object(generation_config_json, "generation_config.json"));
  vocabulary_file file;
  INFER_TRYV(reader(file.data, rows).read(storage->get_object(), config.get_object(), generation.get_object()));
  file.storage = std::move(storage);
  return file;
}

result<recipe> read_recipe(std::string_view tokenizer_json) {
  INFER_TRY(const json::value value, parse_object(tokenizer_json, "tokenizer.json"));
  recipe how;
  INFER_TRYV(read_steps(value.get_object(), how));
  if (const json::object* model = object_at(value.get_object(), "model"))
    how.ignores_merges = flag_at(*model, "ignore_merges").value_or(false);
  return how;
}

}  // namespace infer::tokenize
