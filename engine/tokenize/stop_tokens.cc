// The tables of well-known end texts and their exceptions.
#include "engine/tokenize/stop_tokens.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>

namespace infer::tokenize {
namespace {

constexpr std::array<std::string_view, 18> end_texts = {
    "<|eot_id|>",
    "<|im_end|>",
    "<|end|>",
    "<|return|>",
    "<|call|>",
    "<end_of_turn>",
    "<|endoftext|>",
    "<|eom_id|>",
    "<EOT>",
    "[EOT]",
    "[EOS]",
    "<|end_of_text|>",
    "<eos>",
    "<end_of_utterance>",
    "<turn|>",
    "<|tool_response>",
    "</s>",
    "<\xEF\xBD\x9C"
    "end\xE2\x96\x81of\xE2\x96\x81sentence\xEF\xBD\x9C>",
};

/// What separates files, begins repositories and pads in infill prompts: no answer goes on behind it. The texts count
/// where the file names no such token.
constexpr std::array<std::string_view, 5> padding_texts = {"<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<PAD>", "[PAD]"};
constexpr std::array<std::string_view, 5> repository_texts = {"<|fim_repo|>", "<|repo_name|>", "<fim-repo>", "<REPO>",
                                                              "<reponame>"};
constexpr std::array<std::string_view, 1> file_texts = {"<|file_sep|>"};

bool is_special(const vocabulary_data& data, std::size_t i) {
  return i < data.types.size() && (data.types[i] == token_type::control || data.types[i] == token_type::user_defined);
}

void add_infill_ends(const vocabulary_data& data, std::optional<token_id> named,
                     std::span<const std::string_view> texts, std::vector<token_id>& stops) {
  if (named) return stops.push_back(*named);
  for (std::size_t i = 0; i < data.pieces.size(); ++i) {
    if (is_special(data, i) && std::ranges::find(texts, data.pieces[i]) != texts.end())
      stops.push_back(static_cast<token_id>(i));
  }
}

}  // namespace

std::vector<token_id> stop_tokens(const vocabulary_data& data) {
  std::array<token_id, end_texts.size()> found;
  found.fill(-1);
  for (std::size_t i = 0; i < data.pieces.size(); ++i) {
    if (!is_special(data, i)) continue;
    const auto at = std::find(end_texts.begin(), end_texts.end(), data.pieces[i]);
    if (at != end_texts.end()) found[at - end_texts.begin()] = static_cast<token_id>(i);
  }
  const auto slot = [&](std::string_view text) -> token_id& {
    return found[std::find(end_texts.begin(), end_texts.end(), text) - end_texts.begin()];
  };
  if (slot("<|return|>") >= 0 && slot("<|call|>") >= 0) slot("<|end|>") = -1;
  if (slot("<|tool_response>") >= 0) slot("</s>") = -1;

  std::vector<token_id> stops(found.begin(), found.end());
  for (const auto& id : {data.eos, data.eot, data.eom}) stops.push_back(id.value_or(-1));
  stops.insert(stops.end(), data.more_stops.begin(), data.more_stops.end());
  add_infill_ends(data, data.infill.padding, padding_texts, stops);
  add_infill_ends(data, data.infill.repository, repository_texts, stops);
  add_infill_ends(data, data.infill.file, file_texts, stops);
  const auto size = static_cast<token_id>(data.pieces.size());
  std::erase_if(stops, [size](token_id id) { return id < 0 || id >= size; });
  std::sort(stops.begin(), stops.end());
  stops.erase(std::unique(stops.begin(), stops.end()), stops.end());
  return stops;
}

}  // namespace infer::tokenize
