// The port's behaviour.
#include "actors/model/port_actor.h"

#include <algorithm>
#include <caf/all.hpp>
#include <chrono>
#include <cmath>

#include "actors/model/tokenizer_actor.h"
#include "actors/support/error_bridge.h"
#include "engine/templates/reasoning_split.h"
#include "protocol/messages/type_ids.h"

namespace infer::actors {

port_actor_state::port_actor_state(inner_port_actor::pointer self) : self_(self) {}

void port_actor_state::watch(const stream_sink& sink) {
  if (watched_.insert(sink.address()).second) self_->monitor(sink);
}

void port_actor_state::sink_down(const caf::actor_addr& address) {
  watched_.erase(address);
  for (const msg::stream_key& key : streams_->drop(address)) {
    if (decode_) self_->send(decode_, msg::close_stream{key, epoch_, 0});
  }
}

void port_actor_state::encode(const msg::encode_prompt& message, const stream_sink& sink, std::uint32_t attempt) {
  self_->request(tokenizer_, caf::infinite, message)
      .then(
          [this, sink](const msg::prompt_encoded& encoded, const msg::prompt_refused& refused) {
            if (refused.request_id != 0)
              self_->send(sink, refused);
            else
              self_->send(sink, encoded);
          },
          [this, message, sink, attempt](const caf::error& why) {
            if (attempt == 0) return encode(message, sink, 1);
            self_->send(sink,
                        msg::prompt_refused{
                            message.request_id, msg::refusal::internal, "the tokenizer failed: " + describe(why), {}});
          });
}

void port_actor_state::decode_text(const msg::decode_ids& message, const stream_sink& sink, std::uint32_t attempt) {
  const auto known = [size = core_->tokenizer->size()](token_id id) {
    return id >= 0 && static_cast<std::size_t>(id) < size;
  };
  if (const auto bad = std::ranges::find_if_not(message.ids, known); bad != message.ids.end()) {
    self_->send(sink, msg::prompt_refused{message.request_id, msg::refusal::invalid_value,
                                          "token id " + std::to_string(*bad) + " is outside the vocabulary", "tokens"});
    return;
  }
  self_->request(tokenizer_, caf::infinite, message)
      .then([this, sink](const msg::ids_decoded& decoded) { self_->send(sink, decoded); },
            [this, message, sink, attempt](const caf::error& why) {
              if (attempt == 0) return decode_text(message, sink, 1);
              self_->send(
                  sink, msg::prompt_refused{
                            message.request_id, msg::refusal::internal, "the tokenizer failed: " + describe(why), {}});
            });
}

void port_actor_state::open(const msg::open_stream& message, const stream_sink& sink) {
  switch (streams_->open(message.key, message.attempt, sink)) {
    case route_result::known:
      return;
    case route_result::full:
      self_->send(sink, msg::stream_refused{message.key, message.attempt, msg::refusal::overloaded,
                                            "the model has no free stream; try again", 1000});
      return;
    case route_result::opened:
      break;
  }
  watch(sink);
  // A sessions actor that is down or slow is a miss, never a failure.
  const auto miss = [this, message](const caf::error&) { open_at_decode(message); };
  self_->request(sessions_, std::chrono::seconds(1), msg::find_prefix{message.key, message.attempt, message.prompt_ids})
      .then([this, message](const msg::prefix_found&) { open_at_decode(message); }, miss);
}

void port_actor_state::open_at_decode(const msg::open_stream& message) {
  const routed_stream* route = streams_->find(message.key);
  if (route == nullptr || route->attempt != message.attempt) return;
  if (!decode_) {
    unbound_.push_back(message);
    return;
  }
  self_->send(decode_, message, msg::stream_slot{route->flag},
              caf::actor_cast<raw_token_sink>(caf::strong_actor_ptr(self_->ctrl())));
}

msg::token port_actor_state::with_bytes(const msg::raw_token& raw, bool hidden) const {
  const tokenize::tokenizer& vocabulary = *core_->tokenizer;
  msg::token token{
      raw.id, hidden ? std::string() : std::string(vocabulary.bytes_of(raw.id)), raw.logprob, {}, raw.sampler_state};
  for (std::size_t i = 0; i < raw.top_ids.size(); ++i)
    token.top.push_back({raw.top_ids[i], std::string(vocabulary.bytes_of(raw.top_ids[i])), raw.top_logprobs[i]});
  return token;
}

/// Of the control tokens that are made nobody sees any but those around thinking.
bool port_actor_state::is_hidden(token_id id) const {
  const tokenize::tokenizer& vocabulary = *core_->tokenizer;
  return vocabulary.is_control(id) && !templates::is_reasoning_tag(vocabulary.bytes_of(id));
}

void port_actor_state::forward(const msg::raw_tokens& message) {
  const routed_stream* route = streams_->find(message.key);
  if (route == nullptr || message.epoch != epoch_) return;
  msg::tokens_made out{
      message.key, message.epoch,    message.first_index, {}, static_cast<msg::stream_end>(message.end), message.fault,
      {},          message.embedding};
  for (const msg::raw_token& raw : message.tokens) out.tokens.push_back(with_bytes(raw, is_hidden(raw.id)));
  // An echo has its control tokens, but for a beginning that nobody wrote. Only the first has no probability.
  for (const msg::raw_token& raw : message.prompt) {
    const bool is_first = std::isnan(raw.logprob.value());
    out.prompt.push_back(with_bytes(raw, is_first && is_added_begin(*core_->tokenizer, raw.id)));
  }
  self_->send(route->sink, std::move(out));
  if (message.end != 0) streams_->ended(message.key);
}

void port_actor_state::bind(std::uint64_t epoch, const decode_actor& decode) {
  const std::uint64_t lost = epoch_;
  decode_ = decode;
  epoch_ = epoch;
  if (lost != 0) {
    unbound_.clear();
    for (const stream_sink& sink : streams_->drop_all()) self_->send(sink, msg::stream_lost{lost});
    return;
  }
  for (const msg::open_stream& message : std::exchange(unbound_, {})) open_at_decode(message);
}

inner_port_actor::behavior_type port_actor_state::make(std::shared_ptr<model_core> core, tokenizer_actor tokenizer,
                                                       sessions_actor sessions) {
  core_ = std::move(core);
  tokenizer_ = std::move(tokenizer);
  sessions_ = std::move(sessions);
  streams_ = std::make_unique<stream_table>(*core_);
  self_->set_exception_handler(crash_handler("port of " + core_->source.id));
  self_->set_down_handler([this](caf::down_msg& down) { sink_down(down.source); });
  return {
      [this](const msg::grant& message) {
        if (message.epoch == epoch_ && decode_) self_->send(decode_, message);
      },
      [this](const msg::open_stream& message, const stream_sink& sink) { open(message, sink); },
      [this](const msg::close_stream& message) {
        const routed_stream* route = streams_->find(message.key);
        if (route == nullptr) return;
        const stream_sink sink = route->sink;
        streams_->cancel(message.key);
        if (decode_) self_->send(decode_, message);
        self_->send(sink, msg::stream_closed{message.key});
      },
      [this](const msg::encode_prompt& message, const stream_sink& sink) { encode(message, sink, 0); },
      [this](const msg::decode_ids& message, const stream_sink& sink) { decode_text(message, sink, 0); },
      [this](const msg::raw_tokens& message) { forward(message); },
      [this](const msg::stream_opened& message) {
        const routed_stream* route = streams_->find(message.key);
        if (route != nullptr && route->attempt == message.attempt && message.epoch == epoch_)
          self_->send(route->sink, message);
      },
      [this](const msg::stream_refused& message) {
        const routed_stream* route = streams_->find(message.key);
        if (route == nullptr || route->attempt != message.attempt) return;
        self_->send(route->sink, message);
        streams_->ended(message.key);
      },
      [this](const msg::decode_bound& message, const decode_actor& decode) { bind(message.epoch, decode); },
  };
}

inner_port_actor::behavior_type run_port(inner_port_actor::stateful_pointer<port_actor_state> self,
                                         std::shared_ptr<model_core> core, tokenizer_actor tokenizer,
                                         sessions_actor sessions) {
  static_assert(!std::is_aggregate_v<port_actor_state>);
  return self->state.make(std::move(core), std::move(tokenizer), std::move(sessions));
}

}  // namespace infer::actors
