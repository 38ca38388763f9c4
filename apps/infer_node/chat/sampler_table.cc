// The rows.
#include "apps/infer_node/chat/sampler_table.h"

#include <array>
#include <charconv>
#include <type_traits>

namespace infer::apps {
namespace {

using s = msg::sampling;
constexpr double huge = 1e9;
constexpr double most = 2147483647;

// No range is wider than that of the field in requests: what is set here is sent to servers too.
const std::array<sampler_number, 21> numbers{{
    {"temperature", "--temp", &s::temperature, 0, 2, "temperature; 0: greedy"},
    {"top-k", "--top-k", &s::top_k, 0, most, "keep the k most likely; 0: all"},
    {"top-p", "--top-p", &s::top_p, 0, 1, "keep the most likely up to this probability"},
    {"min-p", "--min-p", &s::min_p, 0, 1, "keep those at least this fraction as likely as the best"},
    {"typical", "--typical", &s::typical_p, 0, 1, "keep the most typical up to this probability; 1: all"},
    {"top-nsigma", "--top-nsigma", &s::top_n_sigma, -1, huge, "keep logits so many deviations below the best; -1: all"},
    {"xtc-probability", "--xtc-probability", &s::xtc_probability, 0, 1, "how often top choices are excluded; 0: never"},
    {"xtc-threshold", "--xtc-threshold", &s::xtc_threshold, 0, 1, "what counts as one; above 0.5: none"},
    {"dynatemp-range", "--dynatemp-range", &s::dynatemp_range, 0, 100,
     "temperature by entropy, so far up and down; 0: fixed"},
    {"dynatemp-exp", "--dynatemp-exp", &s::dynatemp_exponent, 0, 100, "exponent of that"},
    {"repeat-last-n", "--repeat-last-n", &s::repeat_last_n, -1, most,
     "tokens that the penalties look at; 0: none, -1: all"},
    {"repeat-penalty", "--repeat-penalty", &s::repeat_penalty, 0.001, huge, "penalty for repeated tokens; 1: none"},
    {"presence-penalty", "--presence-penalty", &s::presence_penalty, -2, 2, "subtracted from repeated tokens once"},
    {"frequency-penalty", "--frequency-penalty", &s::frequency_penalty, -2, 2, "subtracted for each repetition"},
    {"dry-multiplier", "--dry-multiplier", &s::dry_multiplier, 0, huge, "penalty for repeated sequences; 0: none"},
    {"dry-base", "--dry-base", &s::dry_base, 1, huge, "its base"},
    {"dry-allowed-length", "--dry-allowed-length", &s::dry_allowed_length, 0, most,
     "tokens that may be repeated for nothing"},
    {"dry-penalty-last-n", "--dry-penalty-last-n", &s::dry_penalty_last_n, -1, most,
     "tokens that it looks at; 0: none, -1: all"},
    {"mirostat", "--mirostat", &s::mirostat, 0, 2, "0: off; 1, 2: the version, in place of the filters"},
    {"mirostat-lr", "--mirostat-lr", &s::mirostat_eta, 0, huge, "its learning rate"},
    {"mirostat-ent", "--mirostat-ent", &s::mirostat_tau, 0, huge, "its target of surprise in bits"},
}};

}  // namespace

std::string short_text(float value) {
  char text[32];
  const auto [end, bad] = std::to_chars(text, text + sizeof text, value);
  return bad == std::errc{} ? std::string(text, end) : std::to_string(value);
}

std::span<const sampler_number> sampler_numbers() {
  return numbers;
}

double sampler_number::value_of(const msg::sampling& sampling) const {
  return std::visit(
      [&](auto to) -> double {
        if constexpr (std::is_same_v<decltype(to), msg::f32_bits msg::sampling::*>)
          return (sampling.*to).value();
        else
          return static_cast<double>(sampling.*to);
      },
      member);
}

void sampler_number::set(msg::sampling& sampling, double value) const {
  std::visit(
      [&](auto to) {
        if constexpr (std::is_same_v<decltype(to), msg::f32_bits msg::sampling::*>)
          sampling.*to = static_cast<float>(value);
        else
          sampling.*to = static_cast<std::remove_reference_t<decltype(sampling.*to)>>(value);
      },
      member);
}

std::string sampler_number::text_of(const msg::sampling& sampling) const {
  const double value = value_of(sampling);
  return is_whole() ? std::to_string(static_cast<std::int64_t>(value)) : short_text(static_cast<float>(value));
}

}  // namespace infer::apps
