// Pieces of answers.
#include "protocol/http/answer_parts.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <cmath>
#include <random>
#include <utility>

#include "protocol/http/json_text.h"

namespace infer::http {
namespace {

namespace json = boost::json;

json::array byte_list(std::string_view bytes) {
  json::array out;
  out.reserve(bytes.size());
  for (const char c : bytes) out.emplace_back(static_cast<std::int64_t>(static_cast<unsigned char>(c)));
  return out;
}

json::object chat_logprob(const std::string& bytes, msg::f32_bits logprob) {
  json::object out;
  out["token"] = to_valid_utf8(bytes);
  out["logprob"] = logprob_of(logprob);
  out["bytes"] = byte_list(bytes);
  return out;
}

/// A token as OpenAI's older form writes it, where each is another key: what is no text by its bytes.
std::string legacy_token(const std::string& bytes) {
  std::string text = to_valid_utf8(bytes);
  if (text == bytes) return text;
  text = "bytes:";
  constexpr std::string_view digits = "0123456789abcdef";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
  }
  return text;
}

double per_second(std::uint32_t tokens, std::uint64_t us) {
  return us == 0 ? 0.0 : tokens * 1e6 / static_cast<double>(us);
}

}  // namespace

std::string new_answer_id(call_kind kind) {
  thread_local std::mt19937_64 random{(std::uint64_t{std::random_device{}()} << 32) ^ std::random_device{}()};
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  std::string id = kind == call_kind::chat ? "chatcmpl-" : "cmpl-";
  for (int i = 0; i < 24; ++i) id += letters[random() % letters.size()];
  return id;
}

json::object begin_answer(const answer_head& head, const char* object) {
  json::object out;
  out["id"] = head.id;
  out["object"] = object;
  out["created"] = head.created;
  out["model"] = head.model;
  out["system_fingerprint"] = head.fingerprint;
  if (head.service_tier) out["service_tier"] = "default";
  if (!head.metadata.empty()) out["metadata"] = head.metadata;
  return out;
}

json::object native_body(const std::string& content, const std::string& model, const msg::choice_finished* end,
                         const msg::request_finished* finished) {
  json::object out;
  out["index"] = 0;
  out["content"] = content;
  out["stop"] = end != nullptr;
  if (end == nullptr || finished == nullptr) return out;
  const bool word = !end->stop_text.empty();
  out["model"] = model;
  out["stop_type"] = word ? "word" : end->reason == msg::finish_reason::length ? "limit" : "eos";
  out["stopping_word"] = end->stop_text;
  out["truncated"] = false;
  out["tokens_predicted"] = finished->completion_tokens;
  out["tokens_evaluated"] = finished->prompt_tokens;
  out["tokens_cached"] = finished->cached_tokens;
  out["timings"] = timings_of(*finished);
  return out;
}

json::object usage_of(const msg::request_finished& finished) {
  json::object prompt, completion, out;
  prompt["cached_tokens"] = finished.cached_tokens;
  prompt["audio_tokens"] = 0;
  completion["reasoning_tokens"] = finished.reasoning_tokens;
  completion["audio_tokens"] = 0;
  completion["accepted_prediction_tokens"] = 0;
  completion["rejected_prediction_tokens"] = 0;
  out["prompt_tokens"] = finished.prompt_tokens;
  out["completion_tokens"] = finished.completion_tokens;
  out["total_tokens"] = std::uint64_t{finished.prompt_tokens} + finished.completion_tokens;
  out["prompt_tokens_details"] = std::move(prompt);
  out["completion_tokens_details"] = std::move(completion);
  return out;
}

json::object timings_of(const msg::request_finished& finished) {
  const std::uint32_t computed = finished.prompt_tokens - std::min(finished.cached_tokens, finished.prompt_tokens);
  json::object out;
  out["cache_n"] = finished.cached_tokens;
  out["prompt_n"] = computed;
  out["prompt_ms"] = static_cast<double>(finished.prefill_us) / 1000;
  out["prompt_per_second"] = per_second(computed, finished.prefill_us);
  out["predicted_n"] = finished.completion_tokens;
  out["predicted_ms"] = static_cast<double>(finished.decode_us) / 1000;
  out["predicted_per_second"] = per_second(finished.completion_tokens, finished.decode_us);
  return out;
}

const char* finish_name(msg::finish_reason reason) noexcept {
  return reason == msg::finish_reason::length ? "length" : "stop";
}

double logprob_of(msg::f32_bits bits) noexcept {
  constexpr double floor = -9999.0;
  const double value = bits.value();
  return value >= floor && std::isfinite(value) ? value : floor;
}

json::object chat_logprobs(const std::vector<msg::text_token>& tokens) {
  json::array content;
  content.reserve(tokens.size());
  for (const msg::text_token& token : tokens) {
    json::object entry = chat_logprob(token.bytes, token.logprob);
    json::array top;
    top.reserve(token.top.size());
    for (const msg::alternative& other : token.top) top.emplace_back(chat_logprob(other.bytes, other.logprob));
    entry["top_logprobs"] = std::move(top);
    content.emplace_back(std::move(entry));
  }
  json::object out;
  out["content"] = std::move(content);
  out["refusal"] = nullptr;
  return out;
}

json::object legacy_logprobs(const std::vector<msg::text_token>& tokens, std::uint64_t& offset) {
  json::array texts, logprobs, tops, offsets;
  for (const msg::text_token& token : tokens) {
    texts.emplace_back(legacy_token(token.bytes));
    const bool known = !std::isnan(token.logprob.value());
    logprobs.emplace_back(known ? json::value(logprob_of(token.logprob)) : json::value(nullptr));
    offsets.emplace_back(offset);
    offset += characters(token.bytes);
    if (!known) {
      tops.emplace_back(nullptr);
      continue;
    }
    json::object top;
    for (const msg::alternative& other : token.top) top[legacy_token(other.bytes)] = logprob_of(other.logprob);
    // The one that was taken is among them even where others were likelier.
    const bool is_named = std::ranges::count(token.top, token.id, &msg::alternative::id) > 0;
    if (!is_named) top.emplace(legacy_token(token.bytes), logprob_of(token.logprob));
    tops.emplace_back(std::move(top));
  }
  json::object out;
  out["tokens"] = std::move(texts);
  out["token_logprobs"] = std::move(logprobs);
  out["top_logprobs"] = std::move(tops);
  out["text_offset"] = std::move(offsets);
  return out;
}

}  // namespace infer::http
