// The arithmetic of a model's memory.
#include "actors/model/footprint.h"

#include <algorithm>

#include "engine/decode/cpu_executor.h"
#include "engine/formats/fault.h"

namespace infer::actors {
namespace {

constexpr std::uint32_t default_context = 8192;
/// Measured: 80 to 95 bytes for each token of vocabularies of 49,000 and 262,000.
constexpr std::uint64_t tokenizer_bytes_per_token = 96;

result<plan::kv_type> kv_type_named(const std::string& name) {
  if (name == "f16") return plan::kv_type::f16;
  if (name == "bf16") return plan::kv_type::bf16;
  if (name == "f32") return plan::kv_type::f32;
  return fail(plan::fault::unsupported, "the key/value type '" + name + "' is not supported; use f16, bf16 or f32");
}

}  // namespace

result<plan::program_options> options_of(const msg::model_source& source) {
  if (source.context > most_context)
    return fail(plan::fault::unsupported, "a context of " + std::to_string(source.context) +
                                              " positions is more than " + std::to_string(most_context));
  plan::program_options options;
  INFER_TRY(options.keys, kv_type_named(source.key_type));
  INFER_TRY(options.values, kv_type_named(source.value_type));
  if (source.activations == "f32")
    options.activations = plan::activation_mode::f32;
  else if (source.activations != "quantized")
    return fail(plan::fault::unsupported, "activations are 'quantized' or 'f32', not '" + source.activations + "'");
  options.max_batch_tokens = std::max(source.batch, source.slots);
  return options;
}

footprint footprint_of(const models::model& model, const msg::model_source& source,
                       const plan::program_options& options) {
  footprint out;
  out.weights = decode::weight_bytes(model.weights, kernels::best_ops());
  out.transient = decode::load_bytes(model.weights, kernels::best_ops());
  out.scratch = decode::scratch_bytes(model.plan, model.weights, options);
  out.text = std::uint64_t{model.plan.vocabulary} * tokenizer_bytes_per_token;
  const std::uint32_t trained = model.plan.trained_context;
  out.context = source.context != 0 ? source.context : std::min({trained, default_context, most_context});
  for (const plan::state_group& group : model.plan.groups)
    out.kv_per_sequence += std::uint64_t{plan::pages_of_context(group, out.context, options.max_batch_tokens)} *
                           plan::page_bytes_of(group, options.keys, options.values);
  return out;
}

}  // namespace infer::actors
