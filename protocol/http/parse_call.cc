// Request bodies to calls.
#include "protocol/http/parse_call.h"

#include <boost/json/value.hpp>
#include <utility>

#include "protocol/http/chat_messages.h"
#include "protocol/http/fields.h"
#include "protocol/http/json_text.h"
#include "protocol/http/prompt_fields.h"
#include "protocol/http/sampling_fields.h"
#include "protocol/http/status.h"

namespace infer::http {
namespace {

namespace json = boost::json;

parsed<void> check_audio(const fields& from) {
  INFER_TRY(const json::array* const modalities, read_array(from, "modalities"));
  if (modalities == nullptr) return success();
  for (const json::value& item : *modalities) {
    if (item.is_string() && item.get_string() == "audio")
      return refuse(unsupported_value("modalities", "the model answers with text only"));
  }
  return success();
}

constexpr std::string_view efforts[] = {"none", "minimal", "low", "medium", "high", "xhigh", "max"};

/// `chat_template_kwargs`, with the reasoning effort among them where it was asked for.
parsed<std::string> read_template_arguments(const fields& from) {
  INFER_TRY(const json::object* const given, read_object(from, "chat_template_kwargs"));
  INFER_TRY(const json::string* const effort, read_string(from, "reasoning_effort"));
  json::object out = given != nullptr ? *given : json::object();
  if (effort) {
    bool known = false;
    for (const std::string_view name : efforts) known = known || *effort == name;
    if (!known)
      return refuse(invalid_value("reasoning_effort",
                                  "'reasoning_effort' must be none, minimal, low, medium, high, xhigh or max"));
    if (!out.contains("reasoning_effort")) out["reasoning_effort"] = *effort;
    // Templates have it under one of two names. What is in between is left to them.
    for (const char* const name : {"enable_thinking", "thinking"}) {
      if (*effort != "minimal" && !out.contains(name)) out[name] = *effort != "none";
    }
  }
  return out.empty() ? std::string() : write_json(out);
}

/// Whether thinking is set apart from the answer, in llama.cpp's words.
parsed<bool> read_reasoning_format(const fields& from) {
  INFER_TRY(const json::string* const format, read_string(from, "reasoning_format"));
  if (format == nullptr || *format == "auto" || *format == "deepseek" || *format == "deepseek-legacy") return true;
  if (*format == "none") return false;
  return refuse(invalid_value("reasoning_format", "'reasoning_format' must be auto, none or deepseek"));
}

/// Whether the assistant's turn is opened, or the last message's continued.
parsed<void> read_turn(const fields& from, msg::prompt& prompt) {
  INFER_TRY(const auto open, read_bool(from, "add_generation_prompt"));
  INFER_TRY(const auto go_on, read_bool(from, "continue_final_message"));
  const bool last_is_assistant = prompt.messages.back().role == "assistant";
  if (go_on.value_or(false) && open.value_or(false))
    return refuse(invalid_value("continue_final_message",
                                "'continue_final_message' and 'add_generation_prompt' exclude each other"));
  if (go_on.value_or(false) && !last_is_assistant)
    return refuse(invalid_value("continue_final_message", "the last message is not the assistant's"));
  const bool continues = go_on.value_or(last_is_assistant && !open.has_value());
  prompt.continue_last = continues;
  prompt.add_generation_prompt = !continues && open.value_or(true);
  return success();
}

parsed<void> read_chat_logprobs(const fields& from, msg::generate& out) {
  INFER_TRY(const auto wanted, read_bool(from, "logprobs"));
  INFER_TRY(const auto top, read_integer(from, "top_logprobs", 0, 20));
  out.logprobs = wanted.value_or(false);
  if (top && *top > 0 && !out.logprobs)
    return refuse(invalid_value("top_logprobs", "'top_logprobs' needs 'logprobs' to be true"));
  out.sampling.top_logprobs = static_cast<std::uint32_t>(top.value_or(0));
  return success();
}

parsed<void> read_chat_limit(const fields& from, msg::generate& out) {
  for (const std::string_view name : {"n_predict", "max_tokens", "max_completion_tokens"}) {
    INFER_TRYV(read_token_limit(from, name, out.max_tokens));
  }
  return success();
}

}  // namespace

parsed<json::object> parse_object(std::string body) {
  INFER_TRY(json::value value, parse_json(std::move(body)));
  if (!value.is_object())
    return refuse(http_error{400, "invalid_request_error", "invalid_json", "the body must be a JSON object", {}});
  return std::move(value.get_object());
}

parsed<call> parse_chat(std::string body, const call_defaults& defaults) {
  INFER_TRY(const json::object request, parse_object(std::move(body)));
  const fields from{request, {}};
  call out;
  out.kind = call_kind::chat;
  msg::generate& generate = out.generate;
  generate.prompt.kind = msg::prompt_kind::chat;
  INFER_TRY(generate.prompt.messages, read_messages(request));
  INFER_TRYV(read_shared_fields(request, defaults, out));
  INFER_TRY(generate.prompt.tools_json, read_tools(request));
  INFER_TRY(generate.prompt.template_kwargs_json, read_template_arguments(from));
  INFER_TRYV(read_turn(from, generate.prompt));
  INFER_TRY(generate.split_reasoning, read_reasoning_format(from));
  INFER_TRYV(read_chat_logprobs(from, generate));
  out.show_logprobs = generate.logprobs;
  INFER_TRYV(read_chat_limit(from, generate));
  INFER_TRYV(check_audio(from));
  return out;
}

parsed<call> parse_apply_template(std::string body) {
  INFER_TRY(call out, parse_chat(std::move(body), {}));
  out.kind = call_kind::apply_template;
  out.stream = false;
  out.generate.task = msg::request_task::encode;
  out.generate.prompt.render_only = true;
  return out;
}

parsed<call> parse_tokenize(std::string body) {
  INFER_TRY(const json::object request, parse_object(std::move(body)));
  const fields from{request, {}};
  call out;
  out.kind = call_kind::tokenize;
  out.generate.task = msg::request_task::encode;
  msg::prompt& prompt = out.generate.prompt;
  prompt.kind = msg::prompt_kind::text;
  INFER_TRYV(read_model(from, out.generate));
  INFER_TRY(const json::string* const content, read_string(from, "content"));
  if (content == nullptr) return refuse(invalid_value("content", "'content' is missing"));
  INFER_TRY(const auto add_special, read_bool(from, "add_special"));
  INFER_TRY(const auto parse_special, read_bool(from, "parse_special"));
  INFER_TRY(const auto with_pieces, read_bool(from, "with_pieces"));
  prompt.text = std::string(*content);
  prompt.add_special = add_special.value_or(false);
  prompt.parse_special = parse_special.value_or(true);
  prompt.want_pieces = with_pieces.value_or(false);
  return out;
}

parsed<call> parse_detokenize(std::string body) {
  INFER_TRY(const json::object request, parse_object(std::move(body)));
  const fields from{request, {}};
  call out;
  out.kind = call_kind::detokenize;
  out.generate.task = msg::request_task::decode_ids;
  out.generate.prompt.kind = msg::prompt_kind::ids;
  INFER_TRYV(read_model(from, out.generate));
  INFER_TRY(const json::array* const tokens, read_array(from, "tokens"));
  if (tokens == nullptr) return refuse(invalid_value("tokens", "'tokens' is missing"));
  INFER_TRY(out.generate.prompt.ids, read_ids(*tokens, "tokens"));
  return out;
}

parsed<call> parse_call(call_kind kind, std::string body, const call_defaults& defaults) {
  switch (kind) {
    case call_kind::chat:
      return parse_chat(std::move(body), defaults);
    case call_kind::completion:
      return parse_completion(std::move(body), defaults);
    case call_kind::tokenize:
      return parse_tokenize(std::move(body));
    case call_kind::infill:
      return parse_infill(std::move(body), defaults);
    case call_kind::embeddings:
      return parse_embeddings(std::move(body), defaults);
    case call_kind::apply_template:
      return parse_apply_template(std::move(body));
    case call_kind::detokenize:
      break;
  }
  return parse_detokenize(std::move(body));
}

}  // namespace infer::http
