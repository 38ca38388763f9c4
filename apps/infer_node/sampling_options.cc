// Flags to sampling parameters.
#include "apps/infer_node/sampling_options.h"

#include <charconv>
#include <functional>

#include "protocol/http/sampler_fields.h"

namespace infer::apps {
namespace {

/// A flag for a float that travels as its bits.
void add_float(CLI::App& command, const char* name, msg::f32_bits& to, const char* help, double low, double high) {
  command.add_option_function<float>(
             name, [&to](const float& value) { to = value; }, help)
      ->check(CLI::Range(low, high))
      ->default_str(CLI::detail::to_string(to.value()));
}

/// "15043+1", "15043-0.5", "15043-inf".
std::string read_bias(const std::string& text, msg::logit_bias& out) {
  const std::size_t sign = text.find_first_of("+-", 1);
  const std::string wrong = "--logit-bias takes TOKEN+BIAS or TOKEN-BIAS, not '" + text + "'";
  if (sign == std::string::npos) return wrong;
  const char* const begin = text.data();
  const auto [id_end, bad_id] = std::from_chars(begin, begin + sign, out.id);
  float bias = 0;
  const char* const end = begin + text.size();
  const auto [bias_end, bad_bias] = std::from_chars(begin + sign + 1, end, bias);
  if (bad_id != std::errc{} || id_end != begin + sign || bad_bias != std::errc{} || bias_end != end) return wrong;
  out.bias = text[sign] == '-' ? -bias : bias;
  return {};
}

std::vector<std::string> cut(const std::string& text, char at) {
  std::vector<std::string> out;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find(at, from), text.size());
    if (end > from) out.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return out;
}

}  // namespace

void sampling_options::add_to(CLI::App& command) {
  constexpr double huge = 1e9;
  add_float(command, "--temp", values.temperature, "temperature; 0: greedy", 0, 100);
  command.add_option("--top-k", values.top_k, "keep the k most likely; 0: all");
  add_float(command, "--top-p", values.top_p, "keep the most likely up to this probability", 0, 1);
  add_float(command, "--min-p", values.min_p, "keep those at least this fraction as likely as the best", 0, 1);
  add_float(command, "--typical", values.typical_p, "keep the most typical up to this probability; 1: all", 0, 1);
  add_float(command, "--top-nsigma", values.top_n_sigma, "keep logits so many deviations below the best; -1: all", -1,
            huge);
  add_float(command, "--xtc-probability", values.xtc_probability, "how often top choices are excluded; 0: never", 0, 1);
  add_float(command, "--xtc-threshold", values.xtc_threshold, "what counts as one; above 0.5: none", 0, 1);
  add_float(command, "--dynatemp-range", values.dynatemp_range, "temperature by entropy, so far up and down; 0: fixed",
            0, 100);
  add_float(command, "--dynatemp-exp", values.dynatemp_exponent, "exponent of that", 0, 100);
  command.add_option("--repeat-last-n", values.repeat_last_n, "tokens that the penalties look at; 0: none, -1: all")
      ->check(CLI::Range(-1, 1 << 30));
  add_float(command, "--repeat-penalty", values.repeat_penalty, "penalty for repeated tokens; 1: none", 0.001, huge);
  add_float(command, "--presence-penalty", values.presence_penalty, "subtracted from repeated tokens once", -100, 100);
  add_float(command, "--frequency-penalty", values.frequency_penalty, "subtracted for each repetition", -100, 100);
  add_float(command, "--dry-multiplier", values.dry_multiplier, "penalty for repeated sequences; 0: none", 0, huge);
  add_float(command, "--dry-base", values.dry_base, "its base", 1, huge);
  command.add_option("--dry-allowed-length", values.dry_allowed_length, "tokens that may be repeated for nothing");
  command.add_option("--dry-penalty-last-n", values.dry_penalty_last_n, "tokens that it looks at; 0: none, -1: all")
      ->check(CLI::Range(-1, 1 << 30));
  command.add_option("--dry-sequence-breaker", breakers_, "text at which a sequence ends; repeat for more; none: none");
  command
      .add_option_function<int>(
          "--mirostat", [this](const int& version) { values.mirostat = static_cast<std::uint8_t>(version); },
          "0: off; 1, 2: the version, in place of the filters")
      ->check(CLI::Range(0, 2));
  add_float(command, "--mirostat-lr", values.mirostat_eta, "its learning rate", 0, huge);
  add_float(command, "--mirostat-ent", values.mirostat_tau, "its target of surprise in bits", 0, huge);
  command.add_option("-l,--logit-bias", biases_, "TOKEN+BIAS or TOKEN-BIAS, by token id; repeat for more");
  command.add_option("--samplers", names_, "the chain in its order, names with ; between them");
  command.add_option("--sampler-seq,--sampling-seq", letters_, "the same, a letter each, such as edskypmxt");
  command.add_flag("--ignore-eos", ignore_eos_, "never end by itself");
}

std::string sampling_options::finish() {
  for (const std::string& text : biases_) {
    if (const std::string wrong = read_bias(text, values.biases.emplace_back()); !wrong.empty()) return wrong;
  }
  if (!names_.empty() || !letters_.empty()) {
    const auto stages = names_.empty() ? http::stages_of_letters(letters_, "--sampler-seq")
                                       : http::stages_of_names(cut(names_, ';'), "--samplers");
    if (!stages) return stages.error().message;
    values.stages = stages.value();
  }
  if (!breakers_.empty()) values.dry_breakers = breakers_;
  std::erase(values.dry_breakers, "none");
  if (ignore_eos_) {
    values.ignore_end = true;
    values.min_tokens = msg::no_limit;
  }
  return {};
}

}  // namespace infer::apps
