// The request's rules.
#include "actors/requests/request_state.h"

#include <algorithm>

namespace infer::actors {
namespace {

/// A short request with many choices must not become a huge answer.
constexpr std::uint64_t most_echo_bytes = std::uint64_t{256} << 20;

std::uint64_t microseconds(std::chrono::steady_clock::duration d) {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(d).count());
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
    return reopen();
  }
  phase_ = phase::encoding;
  if (request_.task == msg::request_task::decode_ids)
    out_.decode_ids({request_.request_id, request_.prompt.ids});
  else
    encode_next();
}

const msg::prompt& request_state::asked(std::size_t prompt) const {
  return prompt == 0 ? request_.prompt : request_.more_prompts[prompt - 1];
}

/// The field that a prompt came in.
std::string request_state::name_of(std::size_t prompt) const {
  if (asked(prompt).kind == msg::prompt_kind::chat) return "messages";
  const std::string name = embeds() ? "input" : "prompt";
  return request_.more_prompts.empty() ? name : name + "[" + std::to_string(prompt) + "]";
}

void request_state::encode_next() {
  out_.encode({request_.request_id, asked(prompts_.size())});
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
  out_.emit(msg::text_transformed{request_.request_id, model_, {}, {}, message.text, {}, 0});
  leave();
}

void request_state::encoded(const msg::prompt_encoded& message) {
  if (phase_ != phase::encoding) return;
  if (request_.task == msg::request_task::encode) {
    out_.emit(msg::text_transformed{request_.request_id, model_, message.ids, message.pieces, message.text, {}, 0});
    return leave();
  }
  const auto length = static_cast<std::uint32_t>(message.ids.size());
  const std::size_t index = prompts_.size();
  if (length == 0) return fail(msg::refusal::invalid_value, "the prompt is empty", name_of(index));
  if (length > message.context) {
    return fail(msg::refusal::context_length_exceeded,
                "the prompt has " + std::to_string(length) + " tokens, but the context holds " +
                    std::to_string(message.context) + " tokens; shorten it or load the model with a larger context",
                name_of(index));
  }
  encoded_prompt prompt;
  prompt.ids = message.ids;
  prompt.text = asked(index).kind == msg::prompt_kind::text ? asked(index).text : message.text;
  prompt.max_tokens = std::min(request_.max_tokens, message.context - length);
  prompt.opens_reasoning = message.opens_reasoning;
  prompt_tokens_ += length;
  prompts_.push_back(std::move(prompt));
  if (echo_bytes() > most_echo_bytes)
    return fail(msg::refusal::invalid_value,
                "the prompts are too long to be repeated in " + std::to_string(request_.choices) +
                    " choices each; ask without 'echo', or for fewer choices",
                "echo");
  if (prompts_.size() <= request_.more_prompts.size()) return encode_next();
  encoded_ = true;
  phase_ = phase::streaming;
  start_choices();
}

void request_state::start_choices() {
  const std::size_t count = prompts_.size() * request_.choices;
  for (std::size_t index = 0; index < count; ++index) {
    choices_.emplace_back(request_.stop);
    const bool is_chat = asked(index / request_.choices).kind == msg::prompt_kind::chat;
    if (request_.split_reasoning && is_chat)
      choices_.back().text.split_reasoning(prompts_[index / request_.choices].opens_reasoning);
  }
  opened_at_ = first_token_at_ = now_();
  finish_empty();
  open_more();
  finish_if_complete();
}

/// Ends the choices for which nothing has to be computed any more.
void request_state::finish_empty() {
  for (std::uint32_t index = 0; index < choices_.size(); ++index) {
    if (choices_[index].complete || !is_empty(index)) continue;
    begin();
    echo(index);
    finish(index, msg::finish_reason::length, {});
  }
}

/// Every stream that was open is opened again.
void request_state::reopen() {
  for (std::uint32_t index = 0; index < choices_.size(); ++index) {
    if (choices_[index].attempt > 0 && !choices_[index].complete) open(index);
  }
  open_more();
}

/// So many streams of one request at once leave room for others.
void request_state::open_more() {
  constexpr std::uint32_t most_open = 64;
  std::uint32_t running = 0;
  for (const choice& c : choices_) running += c.attempt > 0 && !c.complete ? 1 : 0;
  for (std::uint32_t index = 0; index < choices_.size() && running < most_open; ++index) {
    if (choices_[index].attempt > 0 || choices_[index].complete || is_empty(index)) continue;
    // The first choice brings the prompt's log-probabilities for all of them.
    if (lacks_scores(index) && index % request_.choices != 0) continue;
    open(index);
    ++running;
  }
}

bool request_state::is_empty(std::uint32_t choice) {
  return !embeds() && !lacks_scores(choice) && prompt_of(choice).max_tokens == 0;
}

bool request_state::lacks_scores(std::uint32_t choice) {
  return scores() && prompt_of(choice).scored.empty();
}

void request_state::open(std::uint32_t index) {
  choice& c = choices_[index];
  const encoded_prompt& prompt = prompt_of(index);
  ++c.attempt;
  c.epoch = 0;
  // Credit under way to the old stream is void; what the sink has not taken still counts against the window.
  c.upto = std::max(c.taken + request_.window, static_cast<std::uint32_t>(c.log.size()) + 1);
  msg::open_stream message;
  message.key = key_of(index);
  message.attempt = c.attempt;
  message.prompt_ids = prompt.ids;
  message.accepted_ids = c.log;
  message.sampler_state = c.sampler_state;
  message.sampling = request_.sampling;
  message.sampling.choice = index % request_.choices;
  message.score_prompt = lacks_scores(index);
  if (embeds()) message.pooling = request_.pooling == msg::pooling::none ? msg::pooling::mean : request_.pooling;
  // Where only the prompt counts its log-probabilities come with a token that does not.
  message.max_tokens = std::max(prompt.max_tokens, 1u);
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
  // The other choices share what the first one computes; a prompt is counted once.
  if (c->attempt == 1 && message.key.choice % request_.choices == 0)
    prompt_of(message.key.choice).cached = message.cached;
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
  out_.emit(msg::request_started{request_.request_id, model_, prompt_tokens_, cached_tokens(), request_.sampling.seed});
}

std::uint32_t request_state::cached_tokens() const {
  std::uint32_t sum = 0;
  for (const encoded_prompt& prompt : prompts_) sum += prompt.cached;
  return sum;
}

/// What came about the choice's prompt.
void request_state::take_prompt(std::uint32_t index, const msg::tokens_made& message) {
  encoded_prompt& prompt = prompt_of(index);
  if (!message.embedding.empty()) prompt.embedding = message.embedding;
  if (!lacks_scores(index) || message.prompt.empty()) return;
  for (const msg::token& token : message.prompt)
    prompt.scored.push_back({token.id, token.bytes, token.logprob, token.top});
  open_more();
}

/// About what all answers hold of the prompts.
std::uint64_t request_state::echo_bytes() const {
  if (!request_.echo) return 0;
  const std::uint64_t of_token =
      request_.logprobs ? sizeof(msg::text_token) + sizeof(msg::alternative) * request_.sampling.top_logprobs : 0;
  std::uint64_t sum = 0;
  for (const encoded_prompt& prompt : prompts_) sum += prompt.text.size() + prompt.ids.size() * of_token;
  return sum * request_.choices;
}

/// The prompt as the beginning of the answer, once.
void request_state::echo(std::uint32_t index) {
  if (!request_.echo || choices_[index].echoed || lacks_scores(index)) return;
  choices_[index].echoed = true;
  out_.emit(msg::text_made{request_.request_id, index, prompt_of(index).text, prompt_of(index).scored, 0});
}

void request_state::made(const msg::tokens_made& message) {
  choice* c = find(message.key);
  if (c == nullptr || message.epoch != c->epoch) return;
  if (message.end == msg::stream_end::fault) return fail(msg::refusal::internal, message.fault);
  if (message.first_index < c->log.size()) return;
  if (message.first_index > c->log.size()) return open(message.key.choice);
  take_prompt(message.key.choice, message);
  if (embeds()) {
    if (message.end == msg::stream_end::none) return;
    c->complete = true;
    open_more();
    return finish_if_complete();
  }
  begin();
  echo(message.key.choice);
  if (prompt_of(message.key.choice).max_tokens == 0) finish_empty();
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
  c.sampler_state = token.sampler_state;
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
  const auto upto = static_cast<std::uint32_t>(c.log.size());
  msg::text_made event{request_.request_id, index, std::move(step.text), {}, upto, std::move(step.reasoning)};
  if (request_.logprobs) event.tokens = std::move(step.tokens);
  if (event.text.empty() && event.reasoning.empty() && event.tokens.empty()) return;
  c.shown = upto;
  out_.emit(event);
}

void request_state::finish(std::uint32_t index, msg::finish_reason reason, std::string stop_text) {
  choice& c = choices_[index];
  c.complete = true;
  out_.emit(msg::choice_finished{request_.request_id, index, reason, std::move(stop_text),
                                 static_cast<std::uint32_t>(c.log.size())});
  open_more();
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
    const choice& c = choices_[index];
    if (c.attempt > 0 && !c.complete && c.epoch <= message.epoch) open(index);
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
  if (embeds()) return finish_embedding();
  std::uint32_t completion = 0, reasoning = 0;
  for (const choice& c : choices_) {
    completion += static_cast<std::uint32_t>(c.log.size());
    reasoning += c.text.reasoning_tokens();
  }
  out_.emit(msg::request_finished{request_.request_id, prompt_tokens_, completion, cached_tokens(),
                                  microseconds(first_token_at_ - opened_at_), microseconds(now_() - first_token_at_),
                                  reasoning});
  leave();
}

void request_state::finish_embedding() {
  msg::text_transformed event{request_.request_id, model_, {}, {}, {}, {}, prompt_tokens_};
  for (const encoded_prompt& prompt : prompts_)
    event.embeddings.insert(event.embeddings.end(), prompt.embedding.begin(), prompt.embedding.end());
  out_.emit(event);
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
      if (c.attempt > 0 && !c.complete) out_.close({key_of(index), c.epoch, static_cast<std::uint32_t>(c.log.size())});
    }
  }
  phase_ = phase::over;
  if (lease_id_ != 0) out_.release({request_.request_id, lease_id_});
  lease_id_ = 0;
  out_.done();
}

}  // namespace infer::actors
