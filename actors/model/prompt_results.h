// What a stream is asked about its prompt itself: how likely each of its tokens was, or an embedding of the whole.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/ids.h"
#include "protocol/messages/streams.h"
#include "protocol/messages/subtree.h"

namespace infer::actors {

/// Fed position by position in order; each position counts once.
/// Threads: one.
class prompt_results {
 public:
  prompt_results() = default;
  /// `top` alternatives are reported with each token.
  prompt_results(bool scores, msg::pooling pooling, std::uint32_t prompt, std::uint32_t top);

  bool scores() const { return scores_; }
  bool pools() const { return pooling_ != msg::pooling::none; }
  /// Positions have to be computed for their own sake from `seen()` on, although others may have computed them.
  bool incomplete() const { return seen_ < needed_; }
  std::uint32_t seen() const { return seen_; }

  /// The logits at `position` and the token that follows there. Shapes: logits [vocabulary].
  void take_logits(std::uint32_t position, token_id next, std::span<const float> logits);
  /// Shapes: values [width].
  void take_hidden(std::uint32_t position, std::span<const float> values);

  /// The prompt's tokens, the first, which follows nothing, with no number for its value; once.
  std::vector<msg::raw_token> take_scores(token_id first);
  /// The mean of all positions', the first's or the last's, divided by its length.
  std::vector<msg::f32_bits> embedding() const;

 private:
  bool scores_ = false;
  msg::pooling pooling_ = msg::pooling::none;
  std::uint32_t needed_ = 0, seen_ = 0, top_ = 0;
  std::vector<msg::raw_token> scored_;
  std::vector<double> pooled_;
};

/// A token as the sampler and the scorer report it.
msg::raw_token raw_token_of(token_id id, std::span<const float> logits, std::uint32_t top);

}  // namespace infer::actors
