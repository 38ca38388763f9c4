// What makes tokens less likely because of the text before them: counted penalties and DRY.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/ids.h"
#include "engine/decode/sampling_params.h"

namespace infer::decode {

/// The last `count` of `history`; −1: all of it.
std::span<const token_id> last_of(std::span<const token_id> history, std::int32_t count);

/// For each token that stands c > 0 times in the last repeat_last_n of `history`: a positive logit is divided by the
/// repetition penalty, another multiplied with it; then c · frequency + presence is subtracted.
/// Source: Keskar et al., "CTRL", 2019 (repetition); OpenAI's API reference (presence, frequency).
void penalize_repeats(std::span<float> logits, std::span<const token_id> history, const sampling_params& params);

/// "Don't repeat yourself": a token that would lengthen a repetition of the end of the text to more than
/// `dry_allowed_length` tokens loses multiplier · base^(length − allowed), where length is that of the longest such
/// repetition before it. Repetitions do not reach across a sequence breaker, and tokens that hold one lose nothing.
void penalize_runs(std::span<float> logits, std::span<const token_id> history, const sampling_params& params);

/// Texts at which a repetition ends.
/// Threads: immutable; as its `bytes_of`.
class sequence_breakers {
 public:
  /// `bytes_of` gives a token's bytes.
  sequence_breakers(std::vector<std::string> texts, std::function<std::string_view(token_id)> bytes_of);

  /// How many tokens follow the one in which the last breaker of `text` ends; all where there is none.
  std::size_t since_last(std::span<const token_id> text) const;
  /// Whether the token's bytes hold a whole breaker.
  bool holds(token_id id) const;

 private:
  std::vector<std::string> texts_;
  std::size_t longest_ = 0;
  std::function<std::string_view(token_id)> bytes_of_;
};

}  // namespace infer::decode
