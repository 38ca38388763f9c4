// Penalties by what the text holds already.
#include "engine/decode/repetition.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace infer::decode {
namespace {

bool is_known(token_id id, std::span<const float> logits) {
  return id >= 0 && static_cast<std::size_t>(id) < logits.size();
}

/// z[k]: how many tokens of `text` from k on equal those at its beginning. Linear in its length.
std::vector<std::uint32_t> common_prefixes(std::span<const token_id> text) {
  std::vector<std::uint32_t> z(text.size(), 0);
  std::size_t begin = 0, end = 0;  // of the match that reaches furthest
  for (std::size_t k = 1; k < text.size(); ++k) {
    std::size_t length = k < end ? std::min<std::size_t>(end - k, z[k - begin]) : 0;
    while (k + length < text.size() && text[length] == text[k + length]) ++length;
    z[k] = static_cast<std::uint32_t>(length);
    if (k + length > end) begin = k, end = k + length;
  }
  return z;
}

float dry_penalty(const sampling_params& p, std::uint32_t length) {
  constexpr double most = 3.0e38;
  double power = 1;
  for (std::uint32_t i = p.dry_allowed_length; i < length && power < most; ++i) power *= p.dry_base;
  return p.dry_multiplier * static_cast<float>(std::min(power, most));
}

}  // namespace

std::span<const token_id> last_of(std::span<const token_id> history, std::int32_t count) {
  return count < 0 || static_cast<std::size_t>(count) >= history.size() ? history
                                                                        : history.last(static_cast<std::size_t>(count));
}

void penalize_repeats(std::span<float> logits, std::span<const token_id> history, const sampling_params& params) {
  const auto window = last_of(history, params.repeat_last_n);
  std::vector<token_id> sorted(window.begin(), window.end());
  std::ranges::sort(sorted);
  for (std::size_t from = 0; from < sorted.size();) {
    const token_id id = sorted[from];
    std::size_t end = from;
    while (end < sorted.size() && sorted[end] == id) ++end;
    const auto count = static_cast<float>(end - from);
    from = end;
    if (!is_known(id, logits)) continue;
    float& logit = logits[static_cast<std::size_t>(id)];
    logit = logit > 0 ? logit / params.repeat_penalty : logit * params.repeat_penalty;
    logit -= count * params.frequency_penalty + params.presence_penalty;
  }
}

void penalize_runs(std::span<float> logits, std::span<const token_id> history, const sampling_params& params) {
  const auto window = last_of(history, params.dry_last_n);
  if (window.size() < 2) return;
  const std::size_t limit = params.dry_breakers ? params.dry_breakers->since_last(window) : window.size();
  if (limit < params.dry_allowed_length) return;
  // Read backwards, what ends at a place and what ends the text have a common prefix.
  const std::vector<token_id> backwards(window.rbegin(), window.rend());
  const std::vector<std::uint32_t> common = common_prefixes(backwards);
  std::vector<std::pair<token_id, std::uint32_t>> repeated;  // a token, and what it would lengthen
  for (std::size_t k = 1; k < backwards.size(); ++k) {
    const auto length = static_cast<std::uint32_t>(std::min<std::size_t>(common[k], limit));
    if (length >= params.dry_allowed_length) repeated.emplace_back(backwards[k - 1], length);
  }
  std::ranges::sort(repeated);
  for (std::size_t i = 0; i < repeated.size(); ++i) {
    const auto [id, length] = repeated[i];
    if (i + 1 < repeated.size() && repeated[i + 1].first == id) continue;  // a longer one follows
    if (!is_known(id, logits) || (params.dry_breakers && params.dry_breakers->holds(id))) continue;
    logits[static_cast<std::size_t>(id)] -= dry_penalty(params, length);
  }
}

sequence_breakers::sequence_breakers(std::vector<std::string> texts, std::function<std::string_view(token_id)> bytes_of)
    : texts_(std::move(texts)), bytes_of_(std::move(bytes_of)) {
  std::erase_if(texts_, [](const std::string& text) { return text.empty(); });
  for (const std::string& text : texts_) longest_ = std::max(longest_, text.size());
}

std::size_t sequence_breakers::since_last(std::span<const token_id> text) const {
  if (texts_.empty()) return text.size();
  // Mostly one is near the end; if not, more is read, each time so much more that all of it costs little.
  for (std::size_t tokens = 64;; tokens *= 8) {
    const auto tail = text.last(std::min(tokens, text.size()));
    std::string bytes;
    for (const token_id id : tail) bytes += bytes_of_(id);
    std::size_t end = 0;  // of the last breaker
    for (const std::string& breaker : texts_) {
      const std::size_t found = bytes.rfind(breaker);
      if (found != std::string::npos) end = std::max(end, found + breaker.size());
    }
    const bool is_whole = tail.size() == text.size();
    // One that begins before the tail could end behind that place.
    if (!is_whole && end < longest_) continue;
    if (end == 0) return text.size();
    std::size_t behind = bytes.size() - end, since = 0;
    for (; behind >= bytes_of_(tail[tail.size() - 1 - since]).size(); ++since)
      behind -= bytes_of_(tail[tail.size() - 1 - since]).size();
    return since;
  }
}

bool sequence_breakers::holds(token_id id) const {
  const std::string_view bytes = bytes_of_(id);
  return std::ranges::any_of(texts_, [&](const std::string& text) { return bytes.find(text) != bytes.npos; });
}

}  // namespace infer::decode
