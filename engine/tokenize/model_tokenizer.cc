// Which file a tokenizer comes from.
#include "engine/tokenize/model_tokenizer.h"

#include <cstdint>
#include <vector>

#include "engine/formats/fault.h"
#include "engine/tokenize/tokenizer_json.h"

namespace infer::tokenize {

namespace {

/// The ends that config.json names, one or several. An id without a token counts as absent.
void take_config_ends(const formats::metadata& config, vocabulary_data& data) {
  std::vector<std::int64_t> ids;
  if (const auto one = config.integer("eos_token_id"))
    ids.push_back(one.value());
  else if (const auto several = config.integers("eos_token_id"))
    ids = several.value();
  for (const std::int64_t id : ids) {
    if (id < 0 || static_cast<std::uint64_t>(id) >= data.pieces.size()) continue;
    data.more_stops.push_back(static_cast<token_id>(id));
    if (!data.eos) data.eos = static_cast<token_id>(id);
  }
}

}  // namespace

result<std::shared_ptr<const tokenizer>> make_tokenizer(const formats::model_file& file,
                                                        std::optional<std::size_t> rows) {
  if (file.format() == formats::file_format::gguf) {
    INFER_TRY(const auto vocabulary, read_vocabulary(file.keys()));
    if (rows && vocabulary.pieces.size() != *rows)
      return fail(formats::fault::malformed, "the tokenizer has " + std::to_string(vocabulary.pieces.size()) +
                                                 " tokens, the embedding " + std::to_string(*rows));
    return tokenizer::make(vocabulary);
  }
  const std::string_view text = file.side_file("tokenizer.json");
  if (text.empty())
    return fail(
        formats::fault::unsupported,
        "the folder has no tokenizer.json; a tokenizer.model or vocab.json alone is not read: save the tokenizer "
        "again with transformers' save_pretrained");
  INFER_TRY(auto read, read_tokenizer_json(text, file.side_file("tokenizer_config.json"),
                                           file.side_file("generation_config.json"), rows.value_or(any_rows)));
  if (file.side_file("generation_config.json").empty()) take_config_ends(file.keys(), read.data);
  return tokenizer::make(read.data);
}

}  // namespace infer::tokenize
