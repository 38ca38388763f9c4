// The request's rules.
#include "actors/requests/request_state.h"

#include <algorithm>

namespace infer::actors {
namespace {

std::uint32_t milliseconds(std::chrono::steady_clock::duration d) {
  return static_cast<std::uint32_t>(std::chrono::duration_cast<std::chrono::milliseconds>(d).count());
}

}  // namespace

request_state::request_state(msg::generate request, std::uint64_t seed, request_output& out, now_fn now)
    : request_(std::move(request)), out_(out), now_(std::move(now)) {
  if (!request_.seed_given) request_.sampling.seed = seed;
  request_.window = std::max<std::uint32_t>(request_.window, 1);
}

void request_state::start() {
  phase_ = phase::leasing;
  out_.acquire({request_.request_id, request_.model, request_.priority, request_.deadline_ms});
}

void request_state::waiting(const msg::lease_waiting& message) {
  if (phase_ == phase::leasing && !started_)
    out_.emit(msg::request_waiting{request_.request_id, message.reason, message.percent});
}

void request_state::refused(const msg::lease_refused& message) {
  if (phase_ == phase::leasing)
    fail(message.code, message.message, message.code == msg::refusal::model_not_found ? "model" : "",
         message.retry_after_ms);
}

void request_state::granted(const msg::lease_granted& message) {
  if (phase_ != phase::leasing) {
    // A second grant for a request that asked again: give it back.
    if (message.lease_id != lease_id_) out_.release({request_.request_id, message.lease_id});
    return;
  }
  lease_id_ = message.lease_id;
  generation_ = message.generation;
  model_ = message.model;
  if (encoded_) {
    phase_ = phase::streaming;
    return open_choices();
  }
  phase_ = phase::encoding;
  if (request_.task == msg::request_task::decode_ids)
    out_.decode_ids({request_.request_id, request_.prompt.ids});
  else
    out_.encode({request_.request_id, request_.prompt});
}

bool request_state::zoo_restarted(msg::announce& message) {
  if (phase_ == phase::over) return false;
  if (phase_ == phase::leasing) {
    start();
    return false;
  }
  message = {request_.request_id, lease_id_, generation_, model_};
  return true;
}

void request_state::encode_refused(const msg::prompt_refused& message) {
  if (phase_ == phase::encoding) fail(message.code, message.message, message.param);
}

void request_state::decoded(const msg::ids_decoded& message) {
  if (phase_ != phase::encoding) return;
  out_.emit(msg::text_transformed{request_.request_id, model_, {}, {}, message.text});
  leave();
}

void request_state::encoded(const msg::prompt_encoded& message) {
  if (phase_ != phase::encoding) return;
  if (request_.task == msg::request_task::encode) {
    out_.emit(msg::text_transformed{request_.request_id, model_, message.ids, message.pieces, message.text});
    return leave();
  }
  const auto length = static_cast<std::uint32_t>(message.ids.size());
  if (length == 0)
    return fail(msg::refusal::invalid_value, "the prompt is empty",
                request_.prompt.kind == msg::prompt_kind::chat ? "messages" : "prompt");
  if (length > message.context) {
    return fail(msg::refusal::context_length_exceeded,
                "the prompt has " + std::to_string(length) + " tokens, but the context holds " +
                    std::to_string(message.context) + " tokens; shorten it or load the model with a larger context",
                request_.prompt.kind == msg::prompt_kind::chat ? "messages" : "prompt");
  }
  prompt_ids_ = message.ids;
  encoded_ = true;
  max_tokens_ = std::min(request_.max_tokens, message.context - length);
  for (std::uint32_t index = 0; index < request_.choices; ++index) choices_.emplace_back(request_.stop);
  phase_ = phase::streaming;
  open_choices();
}

void request_state::open_choices() {
  opened_at_ = now_();
  if (max_tokens_ == 0) {
    begin();
    for (std::uint32_t index = 0; index < choices_.size(); ++index) finish(index, msg::finish_reason::length, {});
    return finish_if_complete();
  }
  for (std::uint32_t index = 0; index < choices_.size(); ++index) {
    if (!choices_[index].complete) open(index);
  }
}

void request_state::open(std::uint32_t index) {
  choice& c = choices_[index];
  ++c.attempt;
  c.epoch = 0;
  // Credit under way to the old stream is void; what the sink has not taken still counts against the window.
  c.upto = std::max(c.taken + request_.window, static_cast<std::uint32_t>(c.log.size()) + 1);
  msg::open_stream message;
  message.key = key_of(index);
  message.attempt = c.attempt;
  message.prompt_ids = prompt_ids_;
  message.accepted_ids = c.log;
  message.sampling = request_.sampling;
  message.max_tokens = max_tokens_;
  message.upto = c.upto;
  message.priority = request_.priority;
  message.cache_salt = request_.cache_salt;
  message.deadline_ms = request_.deadline_ms;
  out_.open(message);
}

request_state::choice* request_state::find(const msg::stream_key& key) {
  if (phase_ != phase::streaming || key.request_id != request_.request_id || key.generation != generation_ ||
      key.choice >= choices_.size() || choices_[key.choice].complete)
    return nullptr;
  return &choices_[key.choice];
}

void request_state::opened(const msg::stream_opened& message) {
  choice* c = find(message.key);
  if (c == nullptr || message.attempt != c->attempt) return;
  c->epoch = message.epoch;
  // The other choices share what the first one computes; the prompt is counted once.
  if (c->attempt == 1 && message.key.choice == 0) cached_tokens_ = message.cached;
}

void request_state::open_refused(const msg::stream_refused& message) {
  const choice* c = find(message.key);
  if (c == nullptr || message.attempt != c->attempt) return;
  fail(message.code, message.message, {}, message.retry_after_ms);
}

void request_state::begin() {
  if (started_) return;
  started_ = true;
  first_token_at_ = now_();
  out_.emit(msg::request_started{request_.request_id, model_, static_cast<std::uint32_t>(prompt_ids_.size()),
                                 cached_tokens_, request_.sampling.seed});
}

void request_state::made(const msg::tokens_made& message) {
  choice* c = find(message.key);
  if (c == nullptr || message.epoch != c->epoch) return;
  if (message.end == msg::stream_end::fault) return fail(msg::refusal::internal, message.fault);
  if (message.first_index < c->log.size()) return;
  if (message.first_index > c->log.size()) return open(message.key.choice);
  begin();
  for (std::size_t i = 0; i < message.tokens.size() && !c->complete; ++i) {
    const bool last = i + 1 == message.tokens.size();
    accept(message.key.choice, message.tokens[i], last ? message.end : msg::stream_end::none);
  }
  if (!c->complete) give_credit(message.key.choice);
  finish_if_complete();
}

void request_state::accept(std::uint32_t index, const msg::token& token, msg::stream_end end) {
  choice& c = choices_[index];
  c.log.push_back(token.id);
  if (end != msg::stream_end::stop_token) {
    text_step step = c.text.push(token);
    const auto stopped_by = step.stopped_by;
    show(index, std::move(step));
    if (stopped_by) {
      if (end == msg::stream_end::none) out_.close({key_of(index), c.epoch, static_cast<std::uint32_t>(c.log.size())});
      return finish(index, msg::finish_reason::stop, *stopped_by);
    }
  }
  if (end == msg::stream_end::none) return;
  text_step rest = c.text.end();
  const auto stopped_by = rest.stopped_by;
  show(index, std::move(rest));
  const bool stop = end == msg::stream_end::stop_token || stopped_by;
  finish(index, stop ? msg::finish_reason::stop : msg::finish_reason::length, stopped_by.value_or(std::string()));
}

void request_state::show(std::uint32_t index, text_step step) {
  choice& c = choices_[index];
  if (step.text.empty() && step.tokens.empty()) return;
  c.shown = static_cast<std::uint32_t>(c.log.size());
  msg::text_made event{request_.request_id, index, std::move(step.text), {}, c.shown};
  if (request_.logprobs) event.tokens = std::move(step.tokens);
  if (event.text.empty() && event.tokens.empty()) return;
  out_.emit(event);
}

void request_state::finish(std::uint32_t index, msg::finish_reason reason, std::string stop_text) {
  choice& c = choices_[index];
  c.complete = true;
  out_.emit(msg::choice_finished{request_.request_id, index, reason, std::move(stop_text),
                                 static_cast<std::uint32_t>(c.log.size())});
}

void request_state::give_credit(std::uint32_t index) {
  choice& c = choices_[index];
  // Tokens that only made held-back text never reach the sink: once it has taken all that it was sent they count as
  // taken too, or a long stop string would starve the stream.
  const std::uint32_t base = c.taken >= c.shown ? static_cast<std::uint32_t>(c.log.size()) : c.taken;
  const std::uint32_t upto = base + request_.window;
  if (upto < c.upto + (request_.window + 1) / 2 && !(upto > c.upto && c.upto <= c.log.size())) return;
  c.upto = upto;
  out_.grant({key_of(index), c.epoch, upto});
}

void request_state::taken(const msg::taken& message) {
  if (phase_ != phase::streaming || message.choice >= choices_.size()) return;
  choice& c = choices_[message.choice];
  c.taken = std::max(c.taken, message.upto);
  if (!c.complete && c.epoch != 0) give_credit(message.choice);
}

void request_state::lost(const msg::stream_lost& message) {
  if (phase_ != phase::streaming) return;
  for (std::uint32_t index = 0; index < choices_.size(); ++index) {
    if (!choices_[index].complete && choices_[index].epoch <= message.epoch) open(index);
  }
}

void request_state::port_down() {
  if (phase_ == phase::over || phase_ == phase::leasing) return;
  out_.release({request_.request_id, lease_id_});
  lease_id_ = 0;
  start();
}

void request_state::finish_if_complete() {
  if (phase_ != phase::streaming || !std::ranges::all_of(choices_, &choice::complete)) return;
  std::uint32_t completion = 0;
  for (const choice& c : choices_) completion += static_cast<std::uint32_t>(c.log.size());
  out_.emit(msg::request_finished{request_.request_id, static_cast<std::uint32_t>(prompt_ids_.size()), completion,
                                  cached_tokens_, milliseconds(first_token_at_ - opened_at_),
                                  milliseconds(now_() - first_token_at_)});
  leave();
}

void request_state::fail(msg::refusal code, std::string message, std::string param, std::uint32_t retry_after_ms) {
  if (phase_ == phase::over) return;
  out_.emit(msg::request_failed{request_.request_id, code, std::move(message), std::move(param), retry_after_ms});
  leave();
}

void request_state::cancel() {
  if (phase_ != phase::over) leave();
}

void request_state::leave() {
  if (phase_ == phase::streaming) {
    for (std::uint32_t index = 0; index < choices_.size(); ++index) {
      const choice& c = choices_[index];
      if (!c.complete) out_.close({key_of(index), c.epoch, static_cast<std::uint32_t>(c.log.size())});
    }
  }
  phase_ = phase::over;
  if (lease_id_ != 0) out_.release({request_.request_id, lease_id_});
  lease_id_ = 0;
  out_.done();
}

}  // namespace infer::actors
