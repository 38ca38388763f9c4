// Flags to sampling parameters.
#include "apps/infer_node/sampling_options.h"

#include <charconv>
#include <cmath>
#include <functional>

#include "apps/infer_node/chat/sampler_table.h"
#include "protocol/http/sampler_fields.h"

namespace infer::apps {
namespace {

CLI::Validator range_of(const sampler_number& row) {
  if (row.is_whole()) return CLI::Range(static_cast<std::int64_t>(row.low), static_cast<std::int64_t>(row.high));
  // A comparison does not refuse what is no number.
  const CLI::Validator is_number(
      [](std::string& text) {
        double value = 0;
        return CLI::detail::lexical_cast(text, value) && !std::isnan(value) ? std::string() : text + " is no number";
      },
      {});
  CLI::Validator both = CLI::Range(row.low, row.high) & is_number;
  return both.description(CLI::Range(row.low, row.high).get_description());
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
  const bool is_minus = text[sign] == '-';
  if (std::signbit(bias) || std::isnan(bias) || (std::isinf(bias) && !is_minus)) return wrong;
  out.bias = is_minus ? -bias : bias;
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
  for (const sampler_number& row : sampler_numbers()) {
    command
        .add_option_function<double>(
            std::string(row.flag), [this, &row](const double& value) { row.set(values, value); }, std::string(row.help))
        ->check(range_of(row))
        ->type_name(row.is_whole() ? "INT" : "FLOAT")
        ->default_str(row.text_of(values));
  }
  // One value a flag: words that follow are the prompt.
  command.add_option("--dry-sequence-breaker", breakers_, "text at which a sequence ends; repeat for more; none: none")
      ->allow_extra_args(false);
  command.add_option("-l,--logit-bias", biases_, "TOKEN+BIAS or TOKEN-BIAS, by token id; repeat for more")
      ->allow_extra_args(false);
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
