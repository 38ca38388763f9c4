// Bodies of completions, infills and embeddings.
#include <algorithm>
#include <boost/json/array.hpp>
#include <limits>
#include <utility>

#include "protocol/http/fields.h"
#include "protocol/http/json_text.h"
#include "protocol/http/parse_call.h"
#include "protocol/http/prompt_fields.h"
#include "protocol/http/sampling_fields.h"
#include "protocol/http/status.h"

namespace infer::http {
namespace {

namespace json = boost::json;

constexpr std::int64_t most_tokens = std::numeric_limits<std::int32_t>::max();
constexpr std::size_t most_prompts = 256, most_inputs = 2048, most_choices = 1024;
constexpr std::size_t most_suffix_bytes = 64 * 1024 * 1024;  // each prompt holds the suffix for itself

parsed<void> take_prompts(std::vector<msg::prompt> prompts, msg::generate& out) {
  out.prompt = std::move(prompts.front());
  prompts.erase(prompts.begin());
  out.more_prompts = std::move(prompts);
  return success();
}

/// llama.cpp's name goes first: OpenAI's clients do not send it.
parsed<void> read_limit(const fields& from, std::uint32_t absent, msg::generate& out) {
  out.max_tokens = absent;
  INFER_TRYV(read_token_limit(from, "max_tokens", out.max_tokens));
  return read_token_limit(from, "n_predict", out.max_tokens);
}

/// The most likely of best_of choices are found by their log-probabilities.
parsed<void> read_best_of(const fields& from, call& out) {
  INFER_TRY(const auto best_of, read_integer(from, "best_of", 1, 128));
  msg::generate& generate = out.generate;
  if (best_of && *best_of < generate.choices)
    return refuse(invalid_value("best_of", "'best_of' must not be below 'n'"));
  if (!best_of || *best_of == generate.choices) return success();
  if (out.stream) return refuse(invalid_value("best_of", "'best_of' above 'n' cannot be streamed"));
  generate.choices = static_cast<std::uint32_t>(*best_of);
  generate.logprobs = true;
  return success();
}

parsed<void> read_echo(const fields& from, msg::generate& out) {
  INFER_TRY(const auto echo, read_bool(from, "echo"));
  out.echo = echo.value_or(false);
  out.prompt.want_text = out.echo;
  for (msg::prompt& prompt : out.more_prompts) prompt.want_text = out.echo;
  return success();
}

/// What follows the place where the text is to go on.
parsed<void> read_suffix(const fields& from, msg::generate& out) {
  INFER_TRY(const json::string* const suffix, read_string(from, "suffix"));
  if (suffix == nullptr || suffix->empty()) return success();
  const auto fill = [&](msg::prompt& prompt) {
    if (prompt.kind != msg::prompt_kind::text) return false;
    prompt.kind = msg::prompt_kind::infill;
    prompt.suffix = std::string(*suffix);
    return true;
  };
  if (out.echo) return refuse(unsupported_value("suffix", "'suffix' and 'echo' exclude each other"));
  if (suffix->size() > most_suffix_bytes / (1 + out.more_prompts.size()))
    return refuse(invalid_value("suffix", "a suffix of " + std::to_string(suffix->size()) + " bytes is too long for " +
                                              std::to_string(1 + out.more_prompts.size()) +
                                              " prompts; send fewer of them in a request"));
  if (!fill(out.prompt) || !std::ranges::all_of(out.more_prompts, fill))
    return refuse(unsupported_value("suffix", "'suffix' needs prompts that are texts"));
  return success();
}

parsed<void> read_tokens(const fields& from, msg::generate& out) {
  INFER_TRY(const auto parse_special, read_bool(from, "parse_special"));
  INFER_TRY(const auto add_special, read_bool(from, "add_special"));
  // Who writes a whole prompt writes the control tokens of it, too; what is to be filled in stands in plain text.
  INFER_TRY(const json::string* const suffix, read_string(from, "suffix"));
  const bool is_whole = suffix == nullptr || suffix->empty();
  const auto set = [&](msg::prompt& prompt) {
    prompt.parse_special = parse_special.value_or(is_whole);
    prompt.add_special = add_special.value_or(true);
  };
  set(out.prompt);
  std::ranges::for_each(out.more_prompts, set);
  return success();
}

parsed<std::vector<msg::prompt_file>> read_files(const fields& from) {
  std::vector<msg::prompt_file> out;
  INFER_TRY(const json::array* const items, read_array(from, "input_extra"));
  if (items == nullptr) return out;
  for (const json::value& item : *items) {
    const std::string path = "input_extra[" + std::to_string(out.size()) + "]";
    if (!item.is_object())
      return refuse(invalid_value(path, "'" + path + "' must be an object with filename and text"));
    const fields inner{item.get_object(), path + "."};
    INFER_TRY(const json::string* const text, read_string(inner, "text"));
    INFER_TRY(const json::string* const name, read_string(inner, "filename"));
    if (text == nullptr)
      return refuse(invalid_value(inner.path_of("text"), "'" + inner.path_of("text") + "' is missing"));
    out.push_back({name != nullptr ? std::string(*name) : "tmp", std::string(*text)});
  }
  return out;
}

}  // namespace

parsed<call> parse_completion(std::string body, const call_defaults& defaults) {
  INFER_TRY(const json::object request, parse_object(std::move(body)));
  const fields from{request, {}};
  call out;
  out.kind = call_kind::completion;
  msg::generate& generate = out.generate;
  INFER_TRY(auto prompts, read_prompts(from, "prompt", most_prompts));
  INFER_TRYV(take_prompts(std::move(prompts), generate));
  INFER_TRYV(read_shared_fields(request, defaults, out));
  INFER_TRYV(read_limit(from, defaults.completion_tokens, generate));
  INFER_TRY(const auto logprobs, read_integer(from, "logprobs", 0, 5));
  generate.logprobs = out.show_logprobs = logprobs.has_value();
  generate.sampling.top_logprobs = static_cast<std::uint32_t>(logprobs.value_or(0));
  INFER_TRYV(read_echo(from, generate));
  INFER_TRYV(read_tokens(from, generate));
  INFER_TRYV(read_suffix(from, generate));
  INFER_TRYV(read_best_of(from, out));
  if (std::size_t{generate.choices} * out.prompts() > most_choices)
    return refuse(invalid_value("prompt", "the request asks for more than 1024 choices"));
  return out;
}

parsed<call> parse_infill(std::string body, const call_defaults& defaults) {
  INFER_TRY(const json::object request, parse_object(std::move(body)));
  const fields from{request, {}};
  call out;
  out.kind = call_kind::infill;
  msg::generate& generate = out.generate;
  INFER_TRY(const json::string* const prefix, read_string(from, "input_prefix"));
  INFER_TRY(const json::string* const suffix, read_string(from, "input_suffix"));
  INFER_TRY(const json::string* const begun, read_string(from, "prompt"));
  if (prefix == nullptr) return refuse(invalid_value("input_prefix", "'input_prefix' is missing"));
  if (suffix == nullptr) return refuse(invalid_value("input_suffix", "'input_suffix' is missing"));
  INFER_TRYV(read_shared_fields(request, defaults, out));
  if (generate.choices != 1) return refuse(unsupported_value("n", "an infill has one choice"));
  generate.prompt.kind = msg::prompt_kind::infill;
  generate.prompt.text = std::string(*prefix) + (begun != nullptr ? std::string(*begun) : std::string());
  generate.prompt.suffix = std::string(*suffix);
  INFER_TRY(generate.prompt.files, read_files(from));
  INFER_TRYV(read_limit(from, msg::no_limit, generate));
  return out;
}

parsed<call> parse_embeddings(std::string body, const call_defaults& defaults) {
  INFER_TRY(const json::object request, parse_object(std::move(body)));
  const fields from{request, {}};
  call out;
  out.kind = call_kind::embeddings;
  msg::generate& generate = out.generate;
  generate.task = msg::request_task::embed;
  INFER_TRYV(read_model(from, generate));
  INFER_TRY(auto prompts, read_prompts(from, "input", most_inputs));
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    const std::string path = prompts.size() == 1 ? "input" : "input[" + std::to_string(i) + "]";
    if (prompts[i].kind == msg::prompt_kind::text && prompts[i].text.empty())
      return refuse(invalid_value(path, "'" + path + "' is an empty string"));
  }
  INFER_TRYV(take_prompts(std::move(prompts), generate));
  INFER_TRY(const json::string* const format, read_string(from, "encoding_format"));
  if (format && *format != "float" && *format != "base64")
    return refuse(invalid_value("encoding_format", "'encoding_format' must be float or base64"));
  out.base64 = format && *format == "base64";
  INFER_TRY(const auto dimensions, read_integer(from, "dimensions", 1, most_tokens));
  out.dimensions = static_cast<std::uint32_t>(dimensions.value_or(0));
  INFER_TRY(const json::string* const pooling, read_string(from, "pooling"));
  generate.pooling = defaults.pooling;
  if (pooling != nullptr) {
    const auto known = pooling_of(std::string_view(*pooling));
    if (!known) return refuse(invalid_value("pooling", "'pooling' must be mean, cls or last"));
    generate.pooling = *known;
  }
  return out;
}

std::optional<msg::pooling> pooling_of(std::string_view name) {
  if (name == "mean") return msg::pooling::mean;
  if (name == "cls") return msg::pooling::cls;
  if (name == "last") return msg::pooling::last;
  return std::nullopt;
}

}  // namespace infer::http
