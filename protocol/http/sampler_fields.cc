// Sampling parameters and their ranges.
#include "protocol/http/sampler_fields.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <charconv>
#include <limits>
#include <map>
#include <utility>

#include "protocol/http/status.h"

namespace infer::http {
namespace {

namespace json = boost::json;

constexpr double huge = 1e9;
constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
// Every choice of a request holds these for itself.
constexpr std::size_t most_biases = 8192;
constexpr std::size_t most_bias_bytes = 1024;           // of a text
constexpr std::size_t most_all_bias_bytes = 64 * 1024;  // of all texts
// Every token of the text may be looked at for each of these.
constexpr std::size_t most_breakers = 64;
constexpr std::size_t most_breaker_bytes = 64;

parsed<void> check_length(const std::string& path, std::size_t bytes, std::size_t most) {
  if (bytes <= most) return success();
  return refuse(invalid_value(path, "the text of '" + path + "' has " + std::to_string(bytes) + " bytes; at most " +
                                        std::to_string(most) + " are allowed"));
}

struct stage_name {
  char letter;
  const char* name;
  std::array<const char*, 4> others;
};
constexpr std::array<stage_name, 9> stage_names = {{
    {'e', "penalties", {}},
    {'d', "dry", {}},
    {'s', "top_n_sigma", {"top-n-sigma"}},
    {'k', "top_k", {"top-k"}},
    {'y', "typ_p", {"typical_p", "typical-p", "typ-p", "typical"}},
    {'p', "top_p", {"top-p", "nucleus"}},
    {'m', "min_p", {"min-p"}},
    {'x', "xtc", {}},
    {'t', "temperature", {"temp"}},
}};

char letter_of(std::string_view name) {
  for (const stage_name& stage : stage_names) {
    if (name == stage.name) return stage.letter;
    for (const char* const other : stage.others) {
      if (other != nullptr && name == other) return stage.letter;
    }
  }
  return 0;
}

/// A float field of `out`, where the request has one.
parsed<void> read_float(const fields& from, std::string_view name, double low, double high, msg::f32_bits& out) {
  INFER_TRY(const auto value, read_number(from, name, low, high));
  if (value) out = static_cast<float>(*value);
  return success();
}

template <class Whole>
parsed<void> read_whole(const fields& from, std::string_view name, std::int64_t low, std::int64_t high, Whole& out) {
  INFER_TRY(const auto value, read_integer(from, name, low, high));
  if (value) out = static_cast<Whole>(*value);
  return success();
}

parsed<void> read_filters(const fields& from, msg::sampling& out) {
  INFER_TRYV(read_float(from, "temperature", 0, 2, out.temperature));
  INFER_TRYV(read_float(from, "top_p", 0, 1, out.top_p));
  INFER_TRYV(read_float(from, "min_p", 0, 1, out.min_p));
  INFER_TRY(const auto top_k, read_integer(from, "top_k", -1, most));
  if (top_k) out.top_k = static_cast<std::uint32_t>(*top_k < 0 ? 0 : *top_k);
  INFER_TRYV(read_float(from, "typical_p", 0, 1, out.typical_p));
  INFER_TRYV(read_float(from, "top_n_sigma", -1, huge, out.top_n_sigma));
  INFER_TRYV(read_float(from, "xtc_probability", 0, 1, out.xtc_probability));
  INFER_TRYV(read_float(from, "xtc_threshold", 0, 1, out.xtc_threshold));
  INFER_TRYV(read_float(from, "dynatemp_range", 0, huge, out.dynatemp_range));
  INFER_TRYV(read_float(from, "dynatemp_exponent", 0, huge, out.dynatemp_exponent));
  INFER_TRYV(read_whole(from, "min_keep", 0, most, out.min_keep));
  INFER_TRYV(read_whole(from, "mirostat", 0, 2, out.mirostat));
  INFER_TRYV(read_float(from, "mirostat_tau", 0, huge, out.mirostat_tau));
  return read_float(from, "mirostat_eta", 0, huge, out.mirostat_eta);
}

parsed<void> read_breakers(const fields& from, msg::sampling& out) {
  INFER_TRY(const json::array* const items, read_array(from, "dry_sequence_breakers"));
  if (items == nullptr) return success();
  const std::string all = from.path_of("dry_sequence_breakers");
  if (items->empty()) return refuse(invalid_value(all, "'" + all + "' must be a non-empty array of strings"));
  if (items->size() > most_breakers)
    return refuse(invalid_value(all, "'" + all + "' holds " + std::to_string(items->size()) + " strings; at most " +
                                         std::to_string(most_breakers) + " are allowed"));
  std::vector<std::string> texts;
  for (const json::value& item : *items) {
    const std::string path = all + "[" + std::to_string(texts.size()) + "]";
    if (!item.is_string()) return refuse(invalid_value(path, "'" + path + "' must be a string"));
    INFER_TRYV(check_length(path, item.get_string().size(), most_breaker_bytes));
    texts.emplace_back(item.get_string());
  }
  out.dry_breakers = std::move(texts);
  return success();
}

parsed<void> read_penalties(const fields& from, msg::sampling& out) {
  INFER_TRYV(read_float(from, "presence_penalty", -2, 2, out.presence_penalty));
  INFER_TRYV(read_float(from, "frequency_penalty", -2, 2, out.frequency_penalty));
  INFER_TRYV(read_float(from, "repetition_penalty", 0.001, huge, out.repeat_penalty));
  INFER_TRYV(read_float(from, "repeat_penalty", 0.001, huge, out.repeat_penalty));
  INFER_TRYV(read_whole(from, "repeat_last_n", -1, most, out.repeat_last_n));
  INFER_TRYV(read_float(from, "dry_multiplier", 0, huge, out.dry_multiplier));
  const float base = out.dry_base.value();
  INFER_TRYV(read_float(from, "dry_base", 0, huge, out.dry_base));
  if (out.dry_base.value() < 1) out.dry_base = base;  // as llama.cpp's server has it
  INFER_TRYV(read_whole(from, "dry_allowed_length", 0, most, out.dry_allowed_length));
  INFER_TRYV(read_whole(from, "dry_penalty_last_n", -1, most, out.dry_penalty_last_n));
  return read_breakers(from, out);
}

std::optional<std::int64_t> id_of_key(json::string_view key) {
  std::int64_t id = 0;
  const auto [end, bad] = std::from_chars(key.data(), key.data() + key.size(), id);
  if (bad != std::errc{} || end != key.data() + key.size() || id < 0 || id > most) return std::nullopt;
  return id;
}

parsed<void> read_bias_object(const json::object& object, const std::string& path, msg::sampling& out) {
  for (const auto& member : object) {
    const auto id = id_of_key(member.key());
    if (!id) continue;
    if (member.value().is_bool() && !member.value().get_bool()) {
      out.biases.push_back({static_cast<std::int32_t>(*id), {}, -std::numeric_limits<float>::infinity()});
      continue;
    }
    INFER_TRY(const auto bias, read_number({object, path + "."}, member.key(), -100, 100));
    if (bias && *bias != 0) out.biases.push_back({static_cast<std::int32_t>(*id), {}, static_cast<float>(*bias)});
  }
  return success();
}

parsed<void> read_bias_pair(const json::value& item, const std::string& path, msg::sampling& out) {
  const auto wrong = [&] {
    return refuse(invalid_value(path, "'" + path + "' must be [token id or text, number or false]"));
  };
  const json::array* const pair = item.if_array();
  if (pair == nullptr || pair->size() != 2) return wrong();
  msg::logit_bias bias;
  const json::value& value = (*pair)[1];
  if (value.is_bool() && !value.get_bool())
    bias.bias = -std::numeric_limits<float>::infinity();
  else if (value.is_number())
    bias.bias = static_cast<float>(std::clamp(value.to_number<double>(), -huge, huge));
  else
    return wrong();
  if ((*pair)[0].is_string()) {
    bias.text = std::string((*pair)[0].get_string());
    if (bias.text.empty()) return wrong();
  } else {
    const auto id = as_integer((*pair)[0]);
    if (!id) return wrong();
    if (*id < 0 || *id > most) return success();
    bias.id = static_cast<std::int32_t>(*id);
  }
  out.biases.push_back(std::move(bias));
  return success();
}

parsed<void> read_bias_array(const json::array& items, const std::string& path, msg::sampling& out) {
  std::size_t index = 0, all = 0;
  for (const json::value& item : items) {
    const std::string place = path + "[" + std::to_string(index++) + "]";
    const std::size_t known = out.biases.size();
    INFER_TRYV(read_bias_pair(item, place, out));
    if (out.biases.size() == known) continue;
    const std::size_t bytes = out.biases.back().text.size();
    INFER_TRYV(check_length(place, bytes, most_bias_bytes));
    all += bytes;
  }
  if (all > most_all_bias_bytes)
    return refuse(invalid_value(path, "the texts of '" + path + "' have " + std::to_string(all) +
                                          " bytes together; at most " + std::to_string(most_all_bias_bytes) +
                                          " are allowed"));
  return success();
}

/// What is said of one token or one text more than once counts together, as each of them would.
void merge_biases(std::vector<msg::logit_bias>& biases) {
  std::map<std::pair<std::int32_t, std::string>, std::size_t> places;
  std::vector<msg::logit_bias> merged;
  for (msg::logit_bias& one : biases) {
    const auto [at, is_new] = places.try_emplace({one.text.empty() ? one.id : -1, one.text}, merged.size());
    if (is_new)
      merged.push_back(std::move(one));
    else
      merged[at->second].bias = merged[at->second].bias.value() + one.bias.value();
  }
  biases = std::move(merged);
}

parsed<void> read_biases(const fields& from, msg::sampling& out) {
  const json::value* const bias = from.find("logit_bias");
  if (bias == nullptr) return success();
  const std::string path = from.path_of("logit_bias");
  if (bias->is_object()) {
    INFER_TRYV(read_bias_object(bias->get_object(), path, out));
  } else if (bias->is_array()) {
    INFER_TRYV(read_bias_array(bias->get_array(), path, out));
  } else {
    return refuse(invalid_value(path, "'" + path + "' must be an object or an array of pairs"));
  }
  merge_biases(out.biases);
  if (out.biases.size() > most_biases)
    return refuse(invalid_value(path, "'" + path + "' holds " + std::to_string(out.biases.size()) +
                                          " tokens and texts; at most " + std::to_string(most_biases) +
                                          " are allowed"));
  return success();
}

parsed<void> read_stages(const fields& from, msg::sampling& out) {
  const json::value* const samplers = from.find("samplers");
  if (samplers == nullptr) return success();
  const std::string path = from.path_of("samplers");
  if (samplers->is_string()) {
    INFER_TRY(out.stages, stages_of_letters(std::string_view(samplers->get_string()), path));
    return success();
  }
  if (!samplers->is_array()) return refuse(invalid_value(path, "'" + path + "' must be an array of names or a string"));
  std::vector<std::string> names;
  for (const json::value& item : samplers->get_array()) {
    if (!item.is_string()) return refuse(invalid_value(path, "'" + path + "' must hold names"));
    names.emplace_back(item.get_string());
  }
  INFER_TRY(out.stages, stages_of_names(names, path));
  return success();
}

}  // namespace

parsed<std::string> stages_of_names(const std::vector<std::string>& names, const std::string& path) {
  std::string letters;
  for (const std::string& name : names) {
    const char letter = letter_of(name);
    if (letter == 0) return refuse(invalid_value(path, "'" + path + "' names an unknown sampler: " + name));
    letters += letter;
  }
  return stages_of_letters(letters, path);
}

parsed<std::string> stages_of_letters(std::string_view letters, const std::string& path) {
  constexpr std::size_t most_stages = 32;
  if (letters.size() > most_stages) return refuse(invalid_value(path, "'" + path + "' names more than 32 samplers"));
  for (const char letter : letters) {
    if (std::string_view(msg::sampling::default_stages).find(letter) == std::string_view::npos)
      return refuse(invalid_value(
          path, "'" + path + "' has an unknown letter; known are " + std::string(msg::sampling::default_stages)));
  }
  return std::string(letters);
}

parsed<void> read_sampler(const fields& from, msg::sampling& out) {
  INFER_TRYV(read_filters(from, out));
  INFER_TRYV(read_penalties(from, out));
  INFER_TRYV(read_biases(from, out));
  INFER_TRYV(read_stages(from, out));
  INFER_TRY(const auto ignore_eos, read_bool(from, "ignore_eos"));
  INFER_TRYV(read_whole(from, "min_tokens", 0, most, out.min_tokens));
  if (ignore_eos.value_or(out.ignore_end)) {
    out.ignore_end = true;
    out.min_tokens = msg::no_limit;
  }
  return success();
}

json::object sampling_body(const msg::sampling& s) {
  json::object out;
  const auto number = [&](const char* name, msg::f32_bits value) {
    // What is shown is the number that was asked for, not its nearest float's digits.
    char text[32];
    const auto [end, bad] = std::to_chars(text, text + sizeof text, value.value());
    double shown = value.value();
    if (bad == std::errc{}) std::from_chars(text, end, shown);
    out[name] = shown;
  };
  if (s.seed != 0) out["seed"] = s.seed;
  number("temperature", s.temperature);
  number("dynatemp_range", s.dynatemp_range);
  number("dynatemp_exponent", s.dynatemp_exponent);
  out["top_k"] = s.top_k;
  number("top_p", s.top_p);
  number("min_p", s.min_p);
  number("top_n_sigma", s.top_n_sigma);
  number("xtc_probability", s.xtc_probability);
  number("xtc_threshold", s.xtc_threshold);
  number("typical_p", s.typical_p);
  out["repeat_last_n"] = s.repeat_last_n;
  number("repeat_penalty", s.repeat_penalty);
  number("presence_penalty", s.presence_penalty);
  number("frequency_penalty", s.frequency_penalty);
  number("dry_multiplier", s.dry_multiplier);
  number("dry_base", s.dry_base);
  out["dry_allowed_length"] = s.dry_allowed_length;
  out["dry_penalty_last_n"] = s.dry_penalty_last_n;
  json::array breakers;
  for (const std::string& text : s.dry_breakers) breakers.emplace_back(text);
  if (!breakers.empty()) out["dry_sequence_breakers"] = std::move(breakers);
  out["mirostat"] = s.mirostat;
  number("mirostat_tau", s.mirostat_tau);
  number("mirostat_eta", s.mirostat_eta);
  out["min_keep"] = s.min_keep;
  out["ignore_eos"] = s.ignore_end;
  json::array biases;
  for (const msg::logit_bias& one : s.biases) {
    const float bias = one.bias.value();
    const json::value which = one.text.empty() ? json::value(one.id) : json::value(one.text);
    biases.push_back(
        json::array{which, bias == -std::numeric_limits<float>::infinity() ? json::value(false) : json::value(bias)});
  }
  out["logit_bias"] = std::move(biases);
  json::array samplers;
  for (const char letter : s.stages) {
    for (const stage_name& stage : stage_names) {
      if (stage.letter == letter) samplers.emplace_back(stage.name);
    }
  }
  out["samplers"] = std::move(samplers);
  return out;
}

}  // namespace infer::http
