// Keys to hyperparameters and lists of layers.
#include "engine/models/hyper_reader.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "engine/formats/fault.h"
#include "engine/formats/quote.h"
#include "engine/models/hub_defaults.h"
#include "engine/models/hub_names.h"

namespace infer::models {
namespace {

using formats::fault;

/// Names that configurations have for activations.
struct activation_name {
  std::string_view name;
  plan::activation means;
};
constexpr std::array activation_names{
    activation_name{"silu", plan::activation::silu},
    activation_name{"swish", plan::activation::silu},
    activation_name{"gelu_pytorch_tanh", plan::activation::gelu_tanh},
    activation_name{"gelu_python_tanh", plan::activation::gelu_tanh},
    activation_name{"gelu_new", plan::activation::gelu_tanh},
    activation_name{"gelu_fast", plan::activation::gelu_tanh},
    activation_name{"gelu_accurate", plan::activation::gelu_tanh},
    activation_name{"gelu", plan::activation::gelu_erf},
    activation_name{"gelu_python", plan::activation::gelu_erf},
};

/// A flag of a configuration that makes another model of it where it is not as here.
struct needed_flag {
  const char* member;
  bool value;
};
constexpr std::array needed_flags{
    needed_flag{"scale_attn_weights", true},
    needed_flag{"add_cross_attention", false},
    needed_flag{"use_bidirectional_attention", false},
};

result<void> check_hub_config(const family_descriptor& family, const formats::metadata& config) {
  if (config.contains("quantization_config.quant_method")) {
    INFER_TRY(const auto method, config.text("quantization_config.quant_method"));
    return fail(fault::unsupported,
                "the checkpoint is quantized by " + formats::quote(method) +
                    ", which is not supported; use the original in F32, F16 or BF16, or a GGUF file");
  }
  for (const needed_flag& flag : needed_flags) {
    if (!config.contains(flag.member)) continue;
    INFER_TRY(const bool said, config.boolean(flag.member));
    if (said != flag.value)
      return fail(fault::unsupported, std::string(flag.member) + " is " + (said ? "true" : "false") + "; a " +
                                          std::string(family.name) + " model with that is not supported");
  }
  return success();
}

/// What a configuration switches off by giving it no value.
bool is_off_without_value(hyper field) {
  return field == hyper::window || field == hyper::attention_softcap || field == hyper::final_softcap;
}

/// Checks that hold between hyperparameters whatever the family.
result<void> check_hyper(const hyper_values& h) {
  // A matrix of one row is a vector to what computes.
  if (h.size(hyper::width) < 2 || h.size(hyper::ffn_width) < 2)
    return fail(fault::wrong_type, "a model needs an embedding_length and a feed_forward_length of two at least");
  if (h.size(hyper::kv_heads) == 0 || h.size(hyper::heads) % h.size(hyper::kv_heads) != 0)
    return fail(fault::wrong_type, "attention.head_count (" + std::to_string(h.size(hyper::heads)) +
                                       ") is not a multiple of attention.head_count_kv (" +
                                       std::to_string(h.size(hyper::kv_heads)) + ")");
  if (h.size(hyper::rope_dims) % 2 != 0 || h.size(hyper::rope_dims) > h.size(hyper::head_dim))
    return fail(fault::wrong_type, "rope.dimension_count (" + std::to_string(h.size(hyper::rope_dims)) +
                                       ") must be even and at most the head size (" +
                                       std::to_string(h.size(hyper::head_dim)) + ")");
  return success();
}

result<double> number_or_flag(const formats::metadata& table, const std::string& name) {
  if (const auto flag = table.boolean(name)) return flag.value() ? 1.0 : 0.0;
  return table.real(name);
}

/// A member of a folder's configuration: what it says, else what its class has, else `otherwise`.
result<double> member_or_class_value(const key_view& keys, const std::string& member, double otherwise) {
  if (keys.raw().contains(member)) return number_or_flag(keys.raw(), member);
  return keys.class_default(member).value_or(otherwise);
}

/// What hub configurations say by other means than one key.
result<void> adjust_hub_hyper(const key_view& keys, hyper_values& h) {
  const formats::metadata& config = keys.raw();
  for (const char* key : {"rope_parameters.partial_rotary_factor", "partial_rotary_factor", "rotary_pct"}) {
    if (!config.contains(key)) continue;
    INFER_TRY(const double part, config.real(key));
    h[hyper::rope_dims] = std::floor(h[hyper::head_dim] * part);
    if (!(h[hyper::rope_dims] >= 2 && h[hyper::rope_dims] <= h[hyper::head_dim]))
      return fail(fault::wrong_type, std::string(key) + " is " + std::to_string(part) +
                                         ", which leaves no part of a head to turn, or more than all of it");
    break;
  }
  INFER_TRY(const double used, member_or_class_value(keys, "use_sliding_window", 1));
  if (used == 0) h[hyper::window] = 0;
  return success();
}

/// The file's own list of windowed layers, where it has one.
result<std::optional<std::vector<bool>>> listed_windows(const hyper_values& h, const key_view& keys) {
  std::vector<bool> out;
  if (!keys.is_hub()) {
    const std::string name = keys.name_of("attention.sliding_window_pattern");
    if (!keys.has("attention.sliding_window_pattern") || keys.raw().real(name)) return std::nullopt;
    INFER_TRY(const auto flags, keys.raw().integers(name));
    for (const std::int64_t flag : flags) out.push_back(flag != 0);
  } else if (keys.raw().contains("layer_types")) {
    INFER_TRY(const auto kinds, keys.raw().texts("layer_types"));
    for (const std::string_view kind : kinds) {
      if (kind != "full_attention" && kind != "sliding_attention")
        return fail(fault::unsupported, "layer_types has a layer of the kind " + formats::quote(kind) +
                                            ", which this family does not have");
      out.push_back(kind == "sliding_attention");
    }
  } else {
    return std::nullopt;
  }
  if (out.size() < h.size(hyper::layers))
    return fail(fault::malformed, "the list of windowed layers has " + std::to_string(out.size()) + " entries for " +
                                      std::to_string(h.size(hyper::layers)) + " layers");
  out.resize(h.size(hyper::layers));
  return out;
}

/// Layers that turn where a folder lists them.
result<std::optional<std::vector<bool>>> listed_turns(const hyper_values& h, const key_view& keys) {
  if (!keys.is_hub() || !keys.raw().contains("no_rope_layers")) return std::nullopt;
  INFER_TRY(const auto flags, keys.raw().integers("no_rope_layers"));
  if (flags.size() != h.size(hyper::layers))
    return fail(fault::malformed, "no_rope_layers has " + std::to_string(flags.size()) + " entries for " +
                                      std::to_string(h.size(hyper::layers)) + " layers");
  std::vector<bool> out;
  for (const std::int64_t flag : flags) out.push_back(flag != 0);
  return out;
}

}  // namespace

std::string key_view::name_of(std::string_view key) const {
  if (!is_hub()) return architecture_ + "." + std::string(key);
  std::string first;
  for (const hub_key& row : hub_keys()) {
    if (row.gguf != key) continue;
    if (file_.keys().contains(row.hub)) return std::string(row.hub);
    if (first.empty()) first = row.hub;
  }
  return first;
}

bool key_view::has(std::string_view key) const {
  return file_.keys().contains(name_of(key));
}

bool key_view::is_none(std::string_view key) const {
  return is_hub() && !has(key) && std::ranges::any_of(hub_keys(), [&](const hub_key& row) {
           return row.gguf == key && file_.keys().is_none(row.hub);
         });
}

std::optional<double> key_view::class_default(std::string_view member) const {
  if (!is_hub()) return std::nullopt;
  const auto type = file_.keys().text("model_type");
  return type ? hub_default_of(type.value(), member) : std::nullopt;
}

std::optional<double> key_view::class_value(std::string_view key) const {
  if (!is_hub() || has(key) || is_none(key)) return std::nullopt;
  for (const hub_key& row : hub_keys()) {
    if (row.gguf != key) continue;
    if (const auto value = class_default(row.hub)) return row.value == nullptr ? *value : row.value(*value);
  }
  return std::nullopt;
}

result<double> key_view::real(std::string_view key) const {
  const std::string name = name_of(key);
  if (!is_hub()) return file_.keys().real(name);
  INFER_TRY(const double value, number_or_flag(file_.keys(), name));
  const auto rows = hub_keys();
  const auto row = std::ranges::find_if(rows, [&](const hub_key& r) { return r.gguf == key && r.hub == name; });
  return row == rows.end() || row->value == nullptr ? value : row->value(value);
}

result<double> key_view::real_or(std::string_view key, double otherwise) const {
  if (!has(key)) return otherwise;
  return real(key);
}

result<const family_descriptor*> family_of(const formats::model_file& file) {
  const bool hub = file.format() == formats::file_format::hub;
  INFER_TRY(const std::string_view name, file.keys().text(hub ? "model_type" : "general.architecture"));
  const family_descriptor* family = hub ? find_hub_family(name) : find_family(name);
  if (family == nullptr)
    return fail(fault::unsupported, "the architecture '" + std::string(name) + "' is not one this program knows");
  return family;
}

std::optional<std::size_t> embedding_rows(const formats::model_file& file) {
  const auto family = family_of(file);
  if (!family) return std::nullopt;
  const bool hub = file.format() == formats::file_format::hub;
  const auto* found = file.find(hub ? hub_tensor_name(*family.value(), "token_embd.weight") : "token_embd.weight");
  return found == nullptr ? std::nullopt : std::optional<std::size_t>(found->shape[1]);
}

result<hyper_values> read_hyper(const family_descriptor& family, const formats::model_file& file,
                                const key_view& keys) {
  if (keys.is_hub()) {
    INFER_TRYV(check_hub_config(family, file.keys()));
  }
  hyper_values values;
  for (const hyper unit : {hyper::one, hyper::embedding_scale, hyper::residual_scale, hyper::logit_factor})
    values[unit] = 1;
  values[hyper::vocabulary] = static_cast<double>(embedding_rows(file).value_or(0));
  for (const hyper_row& row : family.hyper) {
    const std::string key = keys.name_of(row.key);
    // Where a key holds a list of layers, listed_windows reads it.
    const bool list = row.field == hyper::window_period && keys.has(row.key) && !keys.real(row.key);
    if (!row.key.empty() && keys.has(row.key) && !list) {
      INFER_TRY(values[row.field], keys.real(row.key));
    } else if (keys.is_none(row.key) && is_off_without_value(row.field)) {
      values[row.field] = 0;
    } else if (const auto value = keys.class_value(row.key)) {
      values[row.field] = *value;
    } else if (row.otherwise != nullptr) {
      values[row.field] = row.otherwise(values);
    } else {
      return fail(fault::missing_key,
                  "the key " + key + " is missing; a " + std::string(family.name) + " model needs it");
    }
    const double value = values[row.field];
    if (!std::isfinite(value) || value < row.low || value > row.high)
      return fail(fault::wrong_type, "the key " + key + " is " + std::to_string(value) + ", outside what a " +
                                         std::string(family.name) + " model can have");
  }
  if (keys.is_hub()) {
    INFER_TRYV(adjust_hub_hyper(keys, values));
  }
  INFER_TRYV(check_hyper(values));
  return values;
}

result<plan::activation> read_activation(const family_descriptor& family, const key_view& keys) {
  if (!keys.is_hub()) return family.activation;
  for (const char* key : {"hidden_activation", "hidden_act", "activation_function"}) {
    if (!keys.raw().contains(key)) continue;
    INFER_TRY(const auto name, keys.raw().text(key));
    if (name == "gelu" && family.hub.gelu_is_tanh) return plan::activation::gelu_tanh;
    const auto* const row = std::ranges::find(activation_names, name, &activation_name::name);
    if (row != activation_names.end()) return row->means;
    return fail(fault::unsupported, std::string(key) + " is " + formats::quote(name) + "; a " +
                                        std::string(family.name) + " model with that is not supported");
  }
  return family.activation;
}

result<layer_lists> read_layer_lists(const family_descriptor& family, const hyper_values& h, const key_view& keys) {
  const std::uint32_t layers = h.size(hyper::layers);
  layer_lists out{std::vector<bool>(layers), std::vector<bool>(layers, true)};
  INFER_TRY(const auto windowed, listed_windows(h, keys));
  INFER_TRY(const auto turned, listed_turns(h, keys));
  double from = 0;
  if (keys.is_hub()) {
    INFER_TRY(from, member_or_class_value(keys, "max_window_layers", 0));
  }
  const auto any_window = h.size(hyper::window) > 0;
  const std::uint32_t period = h.size(hyper::window_period), no_rope = h.size(hyper::no_rope_period);
  for (std::uint32_t layer = 0; layer < layers; ++layer) {
    const bool by_period = period > 0 && layer % period + 1 < period && layer >= from;
    const bool turns =
        turned ? (*turned)[layer] : family.rope != rope_kind::none && (no_rope == 0 || (layer + 1) % no_rope != 0);
    const bool by_family = keys.is_hub() && family.windows_unturned ? !turns : by_period;
    out.windowed[layer] = any_window && (windowed ? (*windowed)[layer] : by_family);
    const bool as_windowed = !turned && any_window && family.rope == rope_kind::where_windowed;
    out.turned[layer] = as_windowed ? out.windowed[layer] : turns;
  }
  return out;
}

bool says_tied(const family_descriptor& family, const key_view& keys) {
  if (!keys.is_hub()) return false;
  if (const auto said = keys.raw().boolean("tie_word_embeddings")) return said.value();
  return family.hub.tied;
}

}  // namespace infer::models
