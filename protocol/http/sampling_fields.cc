// Fields that chat and completions share.
#include "protocol/http/sampling_fields.h"

#include <limits>
#include <utility>

#include "protocol/http/fields.h"
#include "protocol/http/json_text.h"
#include "protocol/http/sampler_fields.h"
#include "protocol/http/status.h"

namespace infer::http {
namespace {

namespace json = boost::json;

// What a client sends is held once for each choice, or repeated in each chunk: a small body must not become a large
// one.
constexpr std::size_t most_model_bytes = 64 * 1024;
constexpr std::size_t most_stops = 16;
constexpr std::size_t most_stop_bytes = 64 * 1024;  // of all together
constexpr std::size_t most_metadata = 16;           // OpenAI's limits, as the next two
constexpr std::size_t most_key_characters = 64;
constexpr std::size_t most_value_characters = 512;
constexpr std::size_t most_metadata_bytes = 16 * 1024;  // as JSON: other values than strings are taken too

parsed<void> refuse_unbuilt(const fields& from) {
  constexpr const char* constraints[] = {"grammar",        "json_schema",  "structured_outputs",
                                         "guided_json",    "guided_regex", "guided_choice",
                                         "guided_grammar", "regex",        "choice"};
  for (const char* const name : constraints) {
    const json::value* const value = from.find(name);
    if (value == nullptr || (value->is_string() && value->get_string().empty())) continue;
    return refuse(unsupported_value(name, "constrained output ('" + std::string(name) + "') is not supported"));
  }
  INFER_TRY(const auto token_ids, read_bool(from, "return_token_ids"));
  if (token_ids.value_or(false))
    return refuse(unsupported_value("return_token_ids", "'return_token_ids' is not supported"));
  return success();
}

parsed<void> check_format(const fields& from) {
  INFER_TRY(const json::object* const format, read_object(from, "response_format"));
  if (format == nullptr) return success();
  const fields inner{*format, "response_format."};
  INFER_TRY(const json::string* const type, read_string(inner, "type"));
  if (type && *type == "text") return success();
  if (type && *type == "json_schema") {
    INFER_TRY(const json::object* const holder, read_object(inner, "json_schema"));
    const json::value* const schema = holder != nullptr ? holder->if_contains("schema") : nullptr;
    if (schema == nullptr || !schema->is_object())
      return refuse(invalid_value("response_format.json_schema.schema", "the schema is missing"));
  }
  if (type && (*type == "json_schema" || *type == "json_object"))
    return refuse(unsupported_value("response_format.type", "only plain text answers are supported"));
  return refuse(
      invalid_value("response_format.type", "'response_format.type' must be text, json_object or json_schema"));
}

parsed<std::vector<std::string>> read_stops(const fields& from) {
  std::vector<std::string> out;
  const json::value* const stop = from.find("stop");
  if (stop == nullptr) return out;
  if (stop->is_string()) {
    out.emplace_back(stop->get_string());
  } else if (stop->is_array()) {
    for (const json::value& item : stop->get_array()) {
      const std::string path = "stop[" + std::to_string(out.size()) + "]";
      if (!item.is_string()) return refuse(invalid_value(path, "'" + path + "' must be a string"));
      out.emplace_back(item.get_string());
    }
  } else {
    return refuse(invalid_value("stop", "'stop' must be a string or an array of strings"));
  }
  if (out.size() > most_stops)
    return refuse(
        invalid_value("stop", "'stop' holds " + std::to_string(out.size()) + " strings; at most 16 are allowed"));
  std::size_t bytes = 0;
  for (const std::string& text : out) {
    if (text.empty()) return refuse(invalid_value("stop", "'stop' holds an empty string"));
    bytes += text.size();
  }
  if (bytes > most_stop_bytes)
    return refuse(invalid_value("stop", "the strings of 'stop' have " + std::to_string(bytes) + " bytes; at most " +
                                            std::to_string(most_stop_bytes) + " are allowed together"));
  return out;
}

/// -1 is what llama.cpp's clients send for "draw one".
parsed<void> read_seed(const fields& from, msg::generate& out) {
  const json::value* const seed = from.find("seed");
  if (seed == nullptr) return success();
  if (const auto* large = seed->if_uint64()) {
    out.sampling.seed = *large;
    out.seed_given = true;
    return success();
  }
  INFER_TRY(const auto value, read_integer(from, "seed", std::numeric_limits<std::int64_t>::min(),
                                           std::numeric_limits<std::int64_t>::max()));
  out.seed_given = *value != -1;
  if (out.seed_given) out.sampling.seed = static_cast<std::uint64_t>(*value);
  return success();
}

parsed<void> check_metadata(const json::object& metadata) {
  const auto wrong = [](std::string param, const std::string& which, std::size_t has, const char* of,
                        std::size_t most) {
    return refuse(invalid_value(std::move(param), which + " has " + std::to_string(has) + " " + of + "; at most " +
                                                      std::to_string(most) + " are allowed"));
  };
  if (metadata.size() > most_metadata) return wrong("metadata", "'metadata'", metadata.size(), "pairs", most_metadata);
  for (const auto& pair : metadata) {
    if (const std::size_t length = characters(pair.key()); length > most_key_characters)
      return wrong("metadata", "a key of 'metadata'", length, "characters", most_key_characters);
    const std::string path = "metadata." + std::string(pair.key());
    const json::string* const text = pair.value().if_string();
    const std::size_t length = text != nullptr ? characters(*text) : 0;
    if (length > most_value_characters)
      return wrong(path, "'" + path + "'", length, "characters", most_value_characters);
  }
  if (const std::size_t bytes = write_json(metadata).size(); bytes > most_metadata_bytes)
    return wrong("metadata", "'metadata' as JSON", bytes, "bytes", most_metadata_bytes);
  return success();
}

/// What is given back as it came.
parsed<void> read_echoed(const fields& from, call& out) {
  INFER_TRY(const json::object* const metadata, read_object(from, "metadata"));
  if (metadata != nullptr) {
    INFER_TRYV(check_metadata(*metadata));
    out.metadata = *metadata;
  }
  INFER_TRY(const json::string* const tier, read_string(from, "service_tier"));
  out.service_tier = tier != nullptr;
  return success();
}

parsed<void> read_streaming(const fields& from, call& out) {
  INFER_TRY(const auto stream, read_bool(from, "stream"));
  INFER_TRY(const json::object* const options, read_object(from, "stream_options"));
  out.stream = stream.value_or(false);
  if (options == nullptr) return success();
  INFER_TRY(const auto usage, read_bool({*options, "stream_options."}, "include_usage"));
  out.include_usage = usage.value_or(false);
  return success();
}

}  // namespace

parsed<void> read_model(const fields& from, msg::generate& out) {
  INFER_TRY(const json::string* const model, read_string(from, "model"));
  if (model == nullptr) return success();
  if (model->size() > most_model_bytes)
    return refuse(invalid_value("model", "'model' has " + std::to_string(model->size()) + " bytes; at most " +
                                             std::to_string(most_model_bytes) + " are allowed"));
  out.model = std::string(*model);
  return success();
}

parsed<void> read_token_limit(const fields& from, std::string_view name, std::uint32_t& out) {
  INFER_TRY(const auto limit, read_integer(from, name, -1, std::numeric_limits<std::int32_t>::max()));
  if (limit) out = *limit < 0 ? msg::no_limit : static_cast<std::uint32_t>(*limit);
  return success();
}

parsed<void> read_shared_fields(const json::object& request, const call_defaults& defaults, call& out) {
  const fields from{request, {}};
  INFER_TRYV(read_model(from, out.generate));
  INFER_TRYV(read_streaming(from, out));
  out.generate.sampling = defaults.sampling;
  INFER_TRYV(read_sampler(from, out.generate.sampling));
  INFER_TRYV(read_seed(from, out.generate));
  INFER_TRY(const auto n, read_integer(from, "n", 1, 128));
  out.generate.choices = out.kept = static_cast<std::uint32_t>(n.value_or(1));
  INFER_TRY(auto stops, read_stops(from));
  out.generate.stop = std::move(stops);
  INFER_TRYV(refuse_unbuilt(from));
  INFER_TRYV(check_format(from));
  INFER_TRYV(read_echoed(from, out));
  return success();
}

}  // namespace infer::http
