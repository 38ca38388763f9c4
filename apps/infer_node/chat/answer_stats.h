// What an answer cost, as a line for people and as JSON.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>

namespace infer::apps {

/// Numbers that whoever answered did not tell are absent.
struct answer_stats {
  std::optional<std::uint64_t> prompt_tokens, cached_tokens, completion_tokens;
  std::optional<double> first_token_s;  // from the request to the first text
  std::optional<double> decode_s;       // from the first token to the end

  /// After the first; absent where there is no second.
  std::optional<double> tokens_per_second() const;
};

/// "212 tokens, 45.3 tokens/s; prompt 1034 tokens, 1000 cached; first token after 0.21 s". Empty where nothing is
/// known.
std::string stats_line(const answer_stats& stats);

/// The members that are known: prompt_tokens, cached_tokens, completion_tokens, first_token_s, tokens_per_second.
void add_stats(boost::json::object& out, const answer_stats& stats);

}  // namespace infer::apps
