// Ranking on demand, sums by the numeric contract.
#include "engine/decode/candidates.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace infer::decode {
namespace {

struct better {
  std::span<const float> logits;
  bool operator()(token_id a, token_id b) const { return logits[a] != logits[b] ? logits[a] > logits[b] : a < b; }
};

/// Σ exp((logit − best) · factor) over all tokens by rule 6.
float whole_sum(std::span<const float> logits, float best, float factor) {
  float total = 0;
  for (std::size_t from = 0; from < logits.size(); from += 512) {
    const std::size_t end = std::min(from + 512, logits.size());
    std::array<float, 16> lanes{};
    for (std::size_t i = from; i < end; ++i) lanes[i % 16] += exp_f32((logits[i] - best) * factor);
    for (std::size_t step = 8; step > 0; step /= 2) {
      for (std::size_t lane = 0; lane < step; ++lane) lanes[lane] += lanes[lane + step];
    }
    total += lanes[0];
  }
  return total;
}

}  // namespace

void candidates::reset(std::span<const float> logits) {
  logits_ = logits;
  order_.resize(logits.size());
  std::iota(order_.begin(), order_.end(), 0);
  kept_ = logits.size();
  ranked_ = 0;
  factor_ = 1;
}

std::size_t candidates::grown(std::size_t i) const {
  return std::max({std::size_t{64}, ranked_ * 4, i + 1});
}

void candidates::rank(std::size_t count) {
  count = std::min(count, kept_);
  if (count <= ranked_) return;
  const auto from = order_.begin() + static_cast<std::ptrdiff_t>(ranked_);
  const auto to = order_.begin() + static_cast<std::ptrdiff_t>(count);
  const auto end = order_.begin() + static_cast<std::ptrdiff_t>(kept_);
  if (to != end) std::nth_element(from, to, end, better{logits_});
  std::sort(from, to, better{logits_});
  ranked_ = count;
}

std::span<const token_id> candidates::ordered() {
  rank(kept_);
  return {order_.data(), kept_};
}

template <class Take>
void candidates::for_each(Take take) {
  if (is_whole()) {
    for (std::size_t id = 0; id < logits_.size(); ++id) take(static_cast<token_id>(id));
  } else {
    for (const token_id id : ordered()) take(id);
  }
}

float candidates::total() {
  if (is_whole()) return whole_sum(logits_, logit(at(0)), factor_);
  float sum = 0;
  for (const token_id id : ordered()) sum += weight(id);
  return sum;
}

double candidates::entropy() {
  // −Σ p·log p with p = w/total and log p = x − log total
  const float sum = total();
  double weighted = 0;
  for_each([&](token_id id) {
    const float x = exponent(id);
    const float w = exp_f32(x);
    if (w > 0) weighted += static_cast<double>(w) * x;
  });
  return static_cast<double>(log_f32(sum)) - weighted / sum;
}

candidates::spread candidates::scaled_spread() {
  double sum = 0, squares = 0;
  std::size_t count = 0;
  for_each([&](token_id id) {
    if (std::isinf(logit(id))) return;
    sum += static_cast<double>(logit(id)) * factor_;
    ++count;
  });
  if (count == 0) return {};
  const double mean = sum / static_cast<double>(count);
  for_each([&](token_id id) {
    if (std::isinf(logit(id))) return;
    const double off = static_cast<double>(logit(id)) * factor_ - mean;
    squares += off * off;
  });
  return {mean, std::sqrt(squares / static_cast<double>(count))};
}

void candidates::keep_first(std::size_t count) {
  count = std::clamp<std::size_t>(count, 1, kept_);
  if (count < kept_) rank(count);
  kept_ = count;
  ranked_ = std::min(ranked_, kept_);
}

void candidates::drop_first(std::size_t count) {
  count = std::min(count, kept_ - 1);
  if (count == 0) return;
  rank(count);
  const auto begin = order_.begin();
  std::move(begin + static_cast<std::ptrdiff_t>(count), begin + static_cast<std::ptrdiff_t>(kept_), begin);
  kept_ -= count;
  ranked_ -= count;
}

void candidates::keep(std::span<const token_id> chosen) {
  if (chosen.empty() || chosen.size() >= kept_) return;
  const std::vector<token_id> copy(chosen.begin(), chosen.end());
  std::copy(copy.begin(), copy.end(), order_.begin());
  kept_ = copy.size();
  ranked_ = 0;
}

std::span<float> candidates::change() {
  if (logits_.data() != changed_.data() || logits_.size() != changed_.size()) {
    changed_.assign(logits_.begin(), logits_.end());
    logits_ = changed_;
  }
  if (factor_ != 1) {
    for (float& x : changed_) x *= factor_;
    factor_ = 1;
  }
  ranked_ = 0;
  return changed_;
}

}  // namespace infer::decode
