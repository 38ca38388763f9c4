// The sampling chain written from its definitions in f64, sharing nothing with the engine's: a map of probabilities
// that steps shrink. A decision that hangs on less than f32 resolves is marked, so that a comparison can leave it out.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "engine/decode/philox.h"
#include "engine/decode/sampler.h"

namespace infer::decode {

class slow_chain {
 public:
  explicit slow_chain(const std::vector<float>& logits) : vocabulary_(logits.size()) {
    for (std::size_t i = 0; i < logits.size(); ++i) scores_[static_cast<token_id>(i)] = logits[i];
  }

  std::map<token_id, double> probabilities() const {
    double best = -INFINITY, sum = 0;
    for (const auto& [id, x] : scores_) best = std::max(best, x);
    std::map<token_id, double> out;
    for (const auto& [id, x] : scores_) sum += out[id] = std::exp(x - best);
    for (auto& [id, p] : out) p /= sum;
    return out;
  }
  /// Ids by score, of equals the lower id first.
  std::vector<token_id> ranked() const {
    std::vector<token_id> out;
    for (const auto& [id, x] : scores_) out.push_back(id);
    std::stable_sort(out.begin(), out.end(), [&](token_id a, token_id b) { return scores_.at(a) > scores_.at(b); });
    return out;
  }
  std::set<token_id> alive() const {
    std::set<token_id> out;
    for (const auto& [id, x] : scores_) out.insert(id);
    return out;
  }
  double score(token_id id) const { return scores_.at(id); }
  bool unclear() const { return unclear_; }

  void bias(token_id id, double by) {
    if (scores_.count(id) != 0) scores_[id] += by;
  }

  void top_k(std::size_t k) {
    if (k == 0) return;
    const auto order = ranked();
    for (std::size_t i = k; i < order.size(); ++i) scores_.erase(order[i]);
  }

  void top_p(double p, std::size_t min_keep) {
    if (p >= 1) return;
    const auto probability = probabilities();
    double before = 0;
    std::size_t kept = 0;
    for (const token_id id : ranked()) {
      const bool stays = kept == 0 || before < p || kept < min_keep;
      if (kept >= min_keep) doubt(before, p, 1e-5);
      if (stays) ++kept;
      before += probability.at(id);
      if (!stays) scores_.erase(id);
    }
  }

  void min_p(double p, std::size_t min_keep) {
    const auto probability = probabilities();
    const auto order = ranked();
    const double best = probability.at(order[0]);
    for (std::size_t i = 1; i < order.size(); ++i) {
      if (p > 0 && i >= min_keep) doubt(probability.at(order[i]) / best, p, 1e-5);
      if (i >= min_keep && probability.at(order[i]) < p * best) scores_.erase(order[i]);
    }
  }

  double entropy() const {
    double out = 0;
    for (const auto& [id, p] : probabilities()) out -= p > 0 ? p * std::log(p) : 0;
    return out;
  }

  void typical(double p, std::size_t min_keep) {
    if (p >= 1 || scores_.size() < 2) return;
    const auto probability = probabilities();
    const double h = entropy();
    std::vector<std::pair<double, token_id>> order;
    for (const token_id id : ranked()) order.emplace_back(std::abs(-std::log(probability.at(id)) - h), id);
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    double sum = 0;
    std::set<token_id> kept;
    for (std::size_t i = 0; i < order.size(); ++i) {
      sum += probability.at(order[i].second);
      kept.insert(order[i].second);
      doubt(sum, p, 1e-5);
      if (sum > p && kept.size() >= min_keep) {
        // Which of two nearly equal scores comes first matters only here; equal logits are in a definite order.
        if (i + 1 < order.size() && score(order[i].second) != score(order[i + 1].second))
          doubt(order[i].first, order[i + 1].first, 1e-4);
        break;
      }
    }
    std::erase_if(scores_, [&](const auto& entry) { return kept.count(entry.first) == 0; });
  }

  void top_n_sigma(double n) {
    if (n <= 0 || scores_.size() < 2) return;
    double sum = 0, squares = 0, best = -INFINITY, count = 0;
    for (const auto& [id, x] : scores_) {
      if (std::isinf(x)) continue;
      sum += x, squares += x * x, count += 1;
      best = std::max(best, x);
    }
    const double deviation = std::sqrt(std::max(0.0, squares / count - sum / count * (sum / count)));
    const double least = best - n * deviation;
    for (const auto& [id, x] : scores_) doubt(x, least, 1e-4);
    std::erase_if(scores_, [&](const auto& entry) { return entry.second < least; });
  }

  void xtc(double threshold, std::size_t min_keep) {
    if (threshold > 0.5) return;
    const auto probability = probabilities();
    std::vector<token_id> above;
    for (const token_id id : ranked()) {
      doubt(probability.at(id), threshold, 1e-6);
      if (probability.at(id) >= threshold) above.push_back(id);
    }
    if (above.size() < 2 || scores_.size() - (above.size() - 1) < min_keep) return;
    above.pop_back();
    for (const token_id id : above) scores_.erase(id);
  }

  void temperature(double t, double range, double exponent) {
    if (range > 0) {
      if (scores_.size() < 2) return;
      const double low = std::max(0.0, t - range);
      const double share = entropy() / std::log(static_cast<double>(scores_.size()));
      t = low + (t + range - low) * std::pow(std::max(share, 0.0), exponent);
    }
    if (t < 1e-30) return top_k(1);
    for (auto& [id, x] : scores_) x /= t;
  }

  void penalties(const std::vector<token_id>& history, const sampling_params& p) {
    std::map<token_id, int> counts;
    const std::size_t from =
        p.repeat_last_n < 0 ? 0 : history.size() - std::min<std::size_t>(history.size(), p.repeat_last_n);
    for (std::size_t i = from; i < history.size(); ++i) ++counts[history[i]];
    for (const auto& [id, count] : counts) {
      const auto at = scores_.find(id);
      if (at == scores_.end()) continue;
      at->second = at->second > 0 ? at->second / p.repeat_penalty : at->second * p.repeat_penalty;
      at->second -= static_cast<double>(count) * p.frequency_penalty + p.presence_penalty;
    }
  }

  /// Tries every earlier place and every length.
  void dry(std::vector<token_id> history, const sampling_params& p, const std::set<token_id>& breakers) {
    if (p.dry_last_n >= 0 && history.size() > static_cast<std::size_t>(p.dry_last_n))
      history.erase(history.begin(), history.end() - p.dry_last_n);
    const std::size_t n = history.size();
    for (auto& [id, x] : scores_) {
      if (breakers.count(id) != 0) continue;
      int longest = -1;
      for (std::size_t at = 0; at + 1 < n + 0; ++at) {
        // `id` stood at `at + 1`; how many tokens before it equal the end of the text?
        if (history[at + 1] != id) continue;
        int length = 0;
        while (static_cast<std::size_t>(length) <= at && history[at - length] == history[n - 1 - length] &&
               breakers.count(history[n - 1 - length]) == 0)
          ++length;
        longest = std::max(longest, length);
      }
      if (longest >= static_cast<int>(p.dry_allowed_length))
        x -= p.dry_multiplier * std::pow(p.dry_base, longest - static_cast<int>(p.dry_allowed_length));
    }
  }

  void mirostat1(double bound) {
    if (scores_.size() < 2) return;
    const auto probability = probabilities();
    const auto order = ranked();
    double tb = 0, tt = 0;
    for (std::size_t i = 0; i + 1 < std::min<std::size_t>(100, order.size()); ++i) {
      const double t = std::log(static_cast<double>(i + 2) / static_cast<double>(i + 1));
      tb += t * std::log(probability.at(order[i]) / probability.at(order[i + 1]));
      tt += t * t;
    }
    const double s = tb / tt, epsilon = s - 1;
    const double k =
        std::pow(epsilon * std::exp2(bound) / (1 - std::pow(static_cast<double>(vocabulary_), -epsilon)), 1 / s);
    if (std::isnan(k) || k >= static_cast<double>(order.size())) return;
    doubt(k, std::round(k), 2e-3 * std::max(1.0, k / 100));
    top_k(std::max<std::size_t>(1, static_cast<std::size_t>(k)));
  }

  void mirostat2(double bound) {
    const auto probability = probabilities();
    const auto order = ranked();
    for (std::size_t i = 1; i < order.size(); ++i) {
      const double surprise = -std::log2(probability.at(order[i]));
      doubt(surprise, bound, 1e-4);
      if (surprise > bound) scores_.erase(order[i]);
    }
  }

  /// The token that `uniform` falls on, and whether it fell near a border.
  token_id draw(double uniform) {
    const auto probability = probabilities();
    double sum = 0;
    for (const token_id id : ranked()) {
      sum += probability.at(id);
      doubt(sum, uniform, 2e-6);
      if (sum > uniform) return id;
    }
    return ranked().back();
  }

 private:
  void doubt(double a, double b, double within) { unclear_ = unclear_ || std::abs(a - b) < within; }

  std::map<token_id, double> scores_;
  std::size_t vocabulary_;
  bool unclear_ = false;
};

/// Normally distributed; every second time on a coarse grid, so that many are equal.
inline std::vector<float> random_logits(std::size_t count, std::uint32_t seed, float spread = 4) {
  std::mt19937 random(seed);
  std::normal_distribution<float> draw(0, spread);
  std::vector<float> out(count);
  for (float& x : out) x = seed % 2 == 0 ? draw(random) : std::round(draw(random) * 2) / 2;
  return out;
}

inline std::set<token_id> alive(candidates& c) {
  const auto order = c.ordered();
  return {order.begin(), order.end()};
}

/// Runs `fast` and `slow` on many random logits and compares what stays; at most `most_unclear` in a hundred may hang
/// on rounding.
template <class Fast, class Slow>
void compare_filters(Fast fast, Slow slow, double most_unclear = 5) {
  int unclear = 0;
  constexpr std::uint32_t rounds = 400;
  for (std::uint32_t seed = 0; seed < rounds; ++seed) {
    const auto logits = random_logits(2 + seed * 13 % 700, seed, 0.5f + static_cast<float>(seed % 7));
    candidates c;
    c.reset(logits);
    slow_chain reference(logits);
    fast(c, seed);
    slow(reference, seed);
    if (reference.unclear()) {
      ++unclear;
      continue;
    }
    ASSERT_EQ(alive(c), reference.alive()) << "seed " << seed;
  }
  EXPECT_LE(unclear, most_unclear * rounds / 100);
}

}  // namespace infer::decode
