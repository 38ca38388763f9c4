// Messages' parameters to the sampler's.
#include "actors/model/sampling_of.h"

#include <string_view>

#include "engine/decode/repetition.h"

namespace infer::actors {
namespace {

std::vector<decode::sampling_stage> stages_of(std::string_view letters) {
  using enum decode::sampling_stage;
  std::vector<decode::sampling_stage> out;
  for (const char letter : letters) {
    switch (letter) {
      case 'e':
        out.push_back(penalties);
        break;
      case 'd':
        out.push_back(dry);
        break;
      case 's':
        out.push_back(top_n_sigma);
        break;
      case 'k':
        out.push_back(top_k);
        break;
      case 'y':
        out.push_back(typical);
        break;
      case 'p':
        out.push_back(top_p);
        break;
      case 'm':
        out.push_back(min_p);
        break;
      case 'x':
        out.push_back(xtc);
        break;
      case 't':
        out.push_back(temperature);
        break;
      default:
        break;
    }
  }
  return out;
}

std::vector<decode::token_bias> biases_of(const msg::sampling& from, const tokenize::tokenizer& vocabulary) {
  std::vector<decode::token_bias> out;
  for (const msg::logit_bias& one : from.biases) {
    if (one.text.empty()) {
      out.push_back({one.id, one.bias.value()});
      continue;
    }
    for (const token_id id : vocabulary.encode(one.text, false)) out.push_back({id, one.bias.value()});
  }
  return out;
}

}  // namespace

decode::sampling_params sampling_of(const msg::sampling& from, const model_core& core) {
  decode::sampling_params to;
  to.temperature = from.temperature.value();
  to.top_k = from.top_k;
  to.top_p = from.top_p.value();
  to.min_p = from.min_p.value();
  to.seed = from.seed;
  to.choice = from.choice;
  to.typical_p = from.typical_p.value();
  to.top_n_sigma = from.top_n_sigma.value();
  to.xtc_probability = from.xtc_probability.value();
  to.xtc_threshold = from.xtc_threshold.value();
  to.dynamic_range = from.dynatemp_range.value();
  to.dynamic_exponent = from.dynatemp_exponent.value();
  to.min_keep = from.min_keep;
  to.repeat_penalty = from.repeat_penalty.value();
  to.presence_penalty = from.presence_penalty.value();
  to.frequency_penalty = from.frequency_penalty.value();
  to.repeat_last_n = from.repeat_last_n;
  to.dry_multiplier = from.dry_multiplier.value();
  to.dry_base = from.dry_base.value();
  to.dry_allowed_length = from.dry_allowed_length;
  to.dry_last_n = from.dry_penalty_last_n;
  to.mirostat = from.mirostat;
  to.mirostat_tau = from.mirostat_tau.value();
  to.mirostat_eta = from.mirostat_eta.value();
  to.stages = stages_of(from.stages);
  to.biases = biases_of(from, *core.tokenizer);
  if (to.dry_multiplier != 0) {
    to.dry_breakers = std::make_shared<const decode::sequence_breakers>(
        from.dry_breakers, [vocabulary = core.tokenizer](token_id id) { return vocabulary->bytes_of(id); });
  }
  return to;
}

}  // namespace infer::actors
