// One function per algorithm that GGUF files name.
#include "engine/tokenize/gguf_recipe.h"

#include "engine/tokenize/plain_encoder.h"
#include "engine/tokenize/splitting_rules.h"
#include "engine/tokenize/tokenizer_json.h"

namespace infer::tokenize {
namespace {

text_step cut(std::string_view expression) {
  return {.what = text_step::kind::split, .pattern = std::string(expression)};
}

text_step swap(std::string_view from, std::string_view to, bool literal = true) {
  return {
      .what = text_step::kind::replace, .pattern = std::string(from), .content = std::string(to), .literal = literal};
}

decode_step spaces_back() {
  return {.what = decode_step::kind::replace, .pattern = std::string(written_space), .content = " "};
}

result<recipe> byte_level(const vocabulary_data& data) {
  recipe made;
  made.how = recipe::algorithm::byte_pairs;
  made.decoder = {{.what = decode_step::kind::letters}};
  made.vocabulary_ranks = data.merges.empty();
  const auto rule = find_splitting_rule(data.pre.empty() ? "default" : data.pre);
  if (rule) {
    for (const std::string_view expression : rule.value()->expressions) made.pre_tokenizer.push_back(cut(expression));
    made.ignores_merges = rule.value()->ignores_merges;
    made.adds_bos = rule.value()->adds_bos;
    return made;
  }
  if (data.tokenizer_json.empty()) return fail(rule.error());
  INFER_TRY(recipe own, read_recipe(data.tokenizer_json));
  if (own.how != recipe::algorithm::byte_pairs) return fail(rule.error());
  made.normalizer = std::move(own.normalizer);
  made.pre_tokenizer = std::move(own.pre_tokenizer);
  made.ignores_merges = own.ignores_merges;
  made.adds_bos = own.adds_bos;
  return made;
}

recipe scored(const vocabulary_data& data) {
  recipe made;
  made.how = recipe::algorithm::scored;
  made.decoder = {spaces_back(), {.what = decode_step::kind::named_bytes}};
  if (data.add_space_prefix.value_or(true)) {
    made.normalizer = {{.what = text_step::kind::prepend, .content = " "}};
    made.strips_start = 1;
  }
  made.adds_bos = true;
  return made;
}

recipe unigram(const vocabulary_data& data) {
  recipe made;
  made.how = recipe::algorithm::unigram;
  made.joins_unknown = true;
  made.adds_eos = true;
  const bool joins_spaces = data.remove_extra_spaces.value_or(false);
  const bool adds_space = data.add_space_prefix.value_or(false) || joins_spaces;
  if (!data.character_map.empty())
    made.normalizer.push_back({.what = text_step::kind::charsmap_prefix, .content = data.character_map});
  if (joins_spaces) {
    made.normalizer.push_back(swap(R"(\A +| +\z)", "", false));
    made.normalizer.push_back(swap("  +", " ", false));
  }
  made.normalizer.push_back(swap(" ", written_space));
  if (adds_space) made.normalizer.push_back({.what = text_step::kind::prepend, .content = std::string(written_space)});
  made.decoder = {spaces_back()};
  made.strips_start = adds_space ? 1 : 0;
  return made;
}

recipe characters() {
  recipe made;
  made.how = recipe::algorithm::character_pairs;
  made.normalizer = {swap(" ", written_space)};
  made.pre_tokenizer = {cut(R"([^\n]+|\n+)")};
  made.named_bytes = true;
  made.decoder = {spaces_back(), {.what = decode_step::kind::named_bytes}};
  made.adds_bos = true;
  return made;
}

}  // namespace

result<recipe> gguf_recipe(const vocabulary_data& data) {
  recipe made;
  if (data.model == byte_level_model) {
    INFER_TRY(made, byte_level(data));
  } else if (data.model == scored_model) {
    made = scored(data);
  } else if (data.model == unigram_model) {
    made = unigram(data);
  } else if (data.model == character_model) {
    made = characters();
  } else {
    return fail(fault::unknown_model,
                "the vocabulary's algorithm (tokenizer.ggml.model) '" + data.model + "' is not supported");
  }
  made.decodes_special = false;
  return made;
}

}  // namespace infer::tokenize
