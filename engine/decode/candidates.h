// The tokens that may still be picked: a set that filters shrink, put in order only as far as somebody looks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/elementary.h"
#include "engine/core/ids.h"

namespace infer::decode {

/// Candidates are ordered by logit descending, then id ascending. A temperature is kept as a factor, so that a
/// candidate's weight is exp((logit − best) · factor) with one rounding per operator.
/// Sums over candidates that are all there run in index order, others in the order of the candidates.
/// Threads: one caller at a time. Memory: scratch of the size of a vocabulary, kept between uses.
class candidates {
 public:
  /// All tokens of `logits`, which is borrowed until the next reset.
  void reset(std::span<const float> logits);

  std::size_t size() const { return kept_; }
  std::size_t vocabulary() const { return logits_.size(); }
  bool is_whole() const { return kept_ == logits_.size(); }

  /// The i-th best.
  token_id at(std::size_t i) {
    if (i >= ranked_) rank(i == 0 ? 1 : grown(i));
    return order_[i];
  }
  float logit(token_id id) const { return logits_[static_cast<std::size_t>(id)]; }
  /// (logit − best) · factor: the logarithm of the weight.
  float exponent(token_id id) { return (logit(id) - logit(at(0))) * factor_; }
  float weight(token_id id) { return exp_f32(exponent(id)); }
  /// Σ weight.
  float total();
  /// Entropy of the candidates' distribution in nats.
  double entropy();
  /// Mean and standard deviation of the candidates' scaled logits; −infinity takes no part.
  struct spread {
    double mean = 0, deviation = 0;
  };
  spread scaled_spread();
  float factor() const { return factor_; }

  /// At least one stays with all of these.
  void keep_first(std::size_t count);
  void drop_first(std::size_t count);
  /// `chosen` must be some of the candidates, in any order.
  void keep(std::span<const token_id> chosen);

  /// Divides every logit by `temperature`, which is positive and not tiny.
  void divide(float temperature) { factor_ *= 1.0f / temperature; }
  /// The logits to change in place; the factor is multiplied in first and the order forgotten.
  std::span<float> change();

  /// Puts all of them in order.
  std::span<const token_id> ordered();

 private:
  void rank(std::size_t count);
  std::size_t grown(std::size_t i) const;
  /// Calls `take(id)` for every candidate, in the order in which sums run.
  template <class Take>
  void for_each(Take take);

  std::span<const float> logits_;
  std::vector<float> changed_;
  std::vector<token_id> order_;
  std::size_t kept_ = 0, ranked_ = 0;
  float factor_ = 1;
};

}  // namespace infer::decode
