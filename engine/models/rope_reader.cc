// Scaling kinds to frequencies.
#include "engine/models/rope_reader.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <string_view>

#include "engine/formats/fault.h"
#include "engine/formats/quote.h"

namespace infer::models {
namespace {

using formats::fault;

/// What a file says about how rope is scaled.
struct scaling {
  std::string kind = "none";  // none, dynamic, linear, llama3, yarn, longrope
  std::optional<double> factor;
  double original_context = 0;
  double magnitude = 0;  // 0: by the kind's rule
  double beta_fast = 32, beta_slow = 1, mscale = 0, mscale_all_dim = 0;
  bool truncate = true;
  double low_frequency = 1, high_frequency = 4;
  std::vector<float> short_factors, long_factors;
};

/// Typed look-ups under a prefix.
struct section {
  const formats::metadata& keys;
  std::string prefix;

  bool has(std::string_view key) const { return keys.contains(prefix + std::string(key)); }
  result<void> read(std::string_view key, double& to) const {
    if (!has(key)) return success();
    INFER_TRY(to, keys.real(prefix + std::string(key)));
    return success();
  }
  result<void> read(std::string_view key, std::optional<double>& to) const {
    if (!has(key)) return success();
    INFER_TRY(to, keys.real(prefix + std::string(key)));
    return success();
  }
  result<void> read(std::string_view key, std::vector<float>& to) const {
    if (!has(key)) return success();
    const std::string name = prefix + std::string(key);
    if (const auto whole = keys.integers(name)) {
      to.assign(whole.value().begin(), whole.value().end());
      return success();
    }
    INFER_TRY(const auto values, keys.reals(name));
    to.assign(values.begin(), values.end());
    return success();
  }
};

result<std::string> kind_named(std::string_view name, const std::string& key) {
  if (name == "none" || name == "default") return std::string("none");
  if (name == "su") return std::string("longrope");
  for (const std::string_view known : {"dynamic", "linear", "llama3", "yarn", "longrope"})
    if (name == known) return std::string(known);
  return fail(fault::unsupported,
              "the key " + key + " is " + formats::quote(name) +
                  "; of rope scalings none, dynamic, linear, llama3, yarn and longrope are supported");
}

result<scaling> read_gguf(const key_view& keys, const rope_divisors& divisors) {
  scaling out;
  const section at{keys.raw(), keys.name_of("rope.scaling.")};
  if (at.has("type")) {
    INFER_TRY(const auto name, at.keys.text(at.prefix + "type"));
    INFER_TRY(out.kind, kind_named(name, at.prefix + "type"));
  } else if (at.has("factor")) {
    out.kind = "linear";
  }
  INFER_TRYV(at.read("factor", out.factor));
  INFER_TRYV(at.read("original_context_length", out.original_context));
  INFER_TRYV(at.read("attn_factor", out.magnitude));
  INFER_TRYV(at.read("yarn_beta_fast", out.beta_fast));
  INFER_TRYV(at.read("yarn_beta_slow", out.beta_slow));
  INFER_TRYV(at.read("yarn_log_multiplier", out.mscale_all_dim));
  if (out.mscale_all_dim != 0) out.mscale = 1;
  // A magnitude of 1 is what converters write that have nothing to say.
  if (out.kind == "yarn" && out.magnitude == 1) out.magnitude = 0;
  if (!divisors.of_long.empty()) {
    out.kind = "longrope";
    out.short_factors = divisors.of_short;
    out.long_factors = divisors.of_long;
  }
  return out;
}

result<scaling> read_section(const section& at, const formats::metadata& config) {
  scaling out;
  for (const char* key : {"rope_type", "type"}) {
    if (!at.has(key)) continue;
    INFER_TRY(const auto name, at.keys.text(at.prefix + key));
    INFER_TRY(out.kind, kind_named(name, at.prefix + key));
    break;
  }
  INFER_TRYV(at.read("factor", out.factor));
  INFER_TRYV(at.read("attention_factor", out.magnitude));
  INFER_TRYV(at.read("beta_fast", out.beta_fast));
  INFER_TRYV(at.read("beta_slow", out.beta_slow));
  INFER_TRYV(at.read("mscale", out.mscale));
  INFER_TRYV(at.read("mscale_all_dim", out.mscale_all_dim));
  INFER_TRYV(at.read("low_freq_factor", out.low_frequency));
  INFER_TRYV(at.read("high_freq_factor", out.high_frequency));
  INFER_TRYV(at.read("short_factor", out.short_factors));
  INFER_TRYV(at.read("long_factor", out.long_factors));
  if (at.has("truncate")) {
    INFER_TRY(out.truncate, at.keys.boolean(at.prefix + "truncate"));
  }
  INFER_TRYV(at.read("original_max_position_embeddings", out.original_context));
  INFER_TRYV((section{config, ""}.read("original_max_position_embeddings", out.original_context)));
  // Phi 3's first configurations say yarn and list long-rope's factors.
  if (!out.long_factors.empty()) out.kind = "longrope";
  return out;
}

/// Configurations have rope_parameters, apart for both kinds of layers or not, or the older rope_scaling. `shared`:
/// what is said for all layers alike is for those with a window, too.
result<scaling> read_hub(const formats::metadata& config, bool local, bool shared) {
  const std::string own = local ? "rope_parameters.sliding_attention." : "rope_parameters.full_attention.";
  for (const std::string& prefix : {own, std::string("rope_parameters."), std::string("rope_scaling.")}) {
    const section at{config, prefix};
    if (!at.has("rope_type") && !at.has("type")) continue;
    INFER_TRY(scaling out, read_section(at, config));
    if (local && prefix != own && !shared) return scaling{};
    return out;
  }
  return scaling{};
}

/// A file that does not say from which context it is scaled means its class's, else the one that it is scaled to.
void take_original_context(const hyper_values& h, const key_view& keys, scaling& s) {
  if (s.kind != "yarn" && s.kind != "llama3" && s.kind != "longrope") return;
  constexpr std::string_view member = "original_max_position_embeddings";
  if (const auto of_class = keys.class_default(member); of_class && !keys.raw().contains(member))
    s.original_context = *of_class;
  if (s.original_context == 0) s.original_context = h[hyper::context];
}

double yarn_magnitude(double factor, double by) {
  return factor <= 1 ? 1 : 0.1 * by * std::log(factor) + 1;
}

/// Computes one set of frequencies.
class frequencies {
 public:
  frequencies(const scaling& s, double base, const hyper_values& h, std::span<const float> divisors)
      : s_(s), base_(base), dims_(h[hyper::rope_dims]), context_(h[hyper::context]), divisors_(divisors) {}

  result<rope_turns> turns() const {
    rope_turns out;
    const auto pairs = static_cast<std::uint32_t>(dims_) / 2;
    if (s_.kind == "longrope") return long_turns(pairs);
    const double factor = s_.factor.value_or(1);
    for (std::uint32_t i = 0; i < pairs; ++i) {
      const double plain = std::pow(base_, -2.0 * i / dims_);
      double inverse = plain;
      if (s_.kind == "linear") inverse = plain / factor;
      if (s_.kind == "llama3") inverse = plain / static_cast<double>(llama3_divisor(plain));
      if (s_.kind == "yarn") inverse = yarn(plain, i);
      if (!divisors_.empty()) inverse /= static_cast<double>(divisors_[i]);
      out.inverse.push_back(static_cast<float>(inverse));
    }
    if (s_.kind == "yarn") out.magnitude = static_cast<float>(magnitude_of_yarn());
    return out;
  }

 private:
  /// Rounded to f32 as the tensors of converted files are.
  float llama3_divisor(double plain) const {
    const double wave = 2 * std::numbers::pi / plain;
    if (wave > s_.original_context / s_.low_frequency) return static_cast<float>(s_.factor.value_or(1));
    if (wave < s_.original_context / s_.high_frequency) return 1;
    const double smooth = (s_.original_context / wave - s_.low_frequency) / (s_.high_frequency - s_.low_frequency);
    return static_cast<float>(1 / ((1 - smooth) / s_.factor.value_or(1) + smooth));
  }

  double yarn(double plain, std::uint32_t pair) const {
    const auto dim = [&](double rotations) {
      return dims_ * std::log(s_.original_context / (rotations * 2 * std::numbers::pi)) / (2 * std::log(base_));
    };
    double low = dim(s_.beta_fast), high = dim(s_.beta_slow);
    if (s_.truncate) {
      low = std::floor(low);
      high = std::ceil(high);
    }
    low = std::max(low, 0.0);
    high = std::min(high, dims_ - 1);
    if (low == high) high += 0.001;
    const double ramp = std::clamp((pair - low) / (high - low), 0.0, 1.0);
    return plain / factor_of_contexts() * ramp + plain * (1 - ramp);
  }

  double factor_of_contexts() const { return s_.factor.value_or(context_ / s_.original_context); }

  double magnitude_of_yarn() const {
    if (s_.magnitude != 0) return s_.magnitude;
    if (s_.mscale != 0 && s_.mscale_all_dim != 0)
      return yarn_magnitude(factor_of_contexts(), s_.mscale) / yarn_magnitude(factor_of_contexts(), s_.mscale_all_dim);
    return yarn_magnitude(factor_of_contexts(), 1);
  }

  result<rope_turns> long_turns(std::uint32_t pairs) const {
    if (s_.short_factors.size() != pairs || s_.long_factors.size() != pairs)
      return fail(fault::malformed, "longrope has " + std::to_string(s_.short_factors.size()) + " short and " +
                                        std::to_string(s_.long_factors.size()) + " long factors for " +
                                        std::to_string(pairs) + " pairs");
    rope_turns out;
    for (std::uint32_t i = 0; i < pairs; ++i) {
      const double plain = std::pow(base_, -2.0 * i / dims_);
      out.inverse.push_back(static_cast<float>(plain / static_cast<double>(s_.short_factors[i])));
      out.long_inverse.push_back(static_cast<float>(plain / static_cast<double>(s_.long_factors[i])));
    }
    double magnitude = s_.magnitude;
    if (magnitude == 0 && s_.original_context > 1) {
      const double factor = factor_of_contexts();
      magnitude = factor <= 1 ? 1 : std::sqrt(1 + std::log(factor) / std::log(s_.original_context));
    }
    out.magnitude = magnitude == 0 ? 1 : static_cast<float>(magnitude);
    return out;
  }

  const scaling& s_;
  double base_, dims_, context_;
  std::span<const float> divisors_;
};

result<void> check(const rope_turns& turns) {
  for (const auto* values : {&turns.inverse, &turns.long_inverse})
    for (const float value : *values)
      if (!std::isfinite(value) || value <= 0)
        return fail(fault::malformed, "what the file says about rope makes a frequency that is not a positive number");
  if (!std::isfinite(turns.magnitude) || turns.magnitude <= 0)
    return fail(fault::malformed, "what the file says about rope makes a magnitude that is not a positive number");
  return success();
}

}  // namespace

result<model_ropes> read_ropes(const family_descriptor& family, const hyper_values& h, const key_view& keys,
                               const rope_divisors& divisors) {
  const bool shared = family.scales_windowed_rope;
  model_ropes out;
  scaling global, local;
  if (keys.is_hub()) {
    INFER_TRY(global, read_hub(keys.raw(), false, shared));
    INFER_TRY(local, read_hub(keys.raw(), true, shared));
  } else {
    INFER_TRY(global, read_gguf(keys, divisors));
    if (shared) local = global;
  }
  take_original_context(h, keys, global);
  take_original_context(h, keys, local);
  INFER_TRY(out.global, frequencies(global, h[hyper::rope_base], h, divisors.all).turns());
  INFER_TRYV(check(out.global));
  if (h[hyper::window] > 0) {
    INFER_TRY(out.local, frequencies(local, h[hyper::local_rope_base], h, divisors.all).turns());
    INFER_TRYV(check(out.local));
  }
  out.trained_context = global.original_context;
  if (!(out.trained_context >= 0 && out.trained_context <= 1 << 28))
    return fail(fault::malformed, "the context before rope scaling, " + std::to_string(out.trained_context) +
                                      ", is not one that a model can have");
  // Past the trained context all frequencies change with every token: what has been computed before is void.
  if (global.kind == "dynamic" || local.kind == "dynamic") out.most_positions = h.size(hyper::context);
  if (global.kind == "longrope" && global.original_context > 0)
    out.long_from = static_cast<std::uint32_t>(global.original_context);
  return out;
}

}  // namespace infer::models
