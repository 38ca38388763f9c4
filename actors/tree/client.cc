// The client's sinks.
#include "actors/tree/client.h"

#include <caf/all.hpp>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <utility>

#include "actors/support/error_bridge.h"
#include "actors/support/shutdown.h"
#include "protocol/messages/type_ids.h"

namespace infer {
namespace {

constexpr std::chrono::milliseconds poll{20};

/// Shared by the waiting thread and the sink.
struct exchange {
  client_callbacks callbacks;
  client_result result;
  std::promise<void> ended;
  bool is_over = false;

  void end() {
    if (!std::exchange(is_over, true)) ended.set_value();
  }
};

class sink_state {
 public:
  explicit sink_state(event_sink::pointer self) : self_(self) {}

  event_sink::behavior_type make(std::shared_ptr<exchange> x, std::uint32_t choices) {
    x_ = std::move(x);
    x_->result.answer.choices.resize(choices);
    self_->set_exception_handler(actors::crash_handler("client"));
    // Told to exit from outside: whoever waits learns of it when no handler can run any more.
    self_->attach_functor([x = x_](const caf::error&) { x->end(); });
    return {
        [this](const msg::text_made& event) {
          answer_choice& choice = x_->result.answer.choices[event.choice];
          choice.text += event.text;
          choice.reasoning += event.reasoning;
          choice.tokens.insert(choice.tokens.end(), event.tokens.begin(), event.tokens.end());
          choice.completion_tokens = event.upto;
          if (x_->callbacks.on_text) x_->callbacks.on_text(event);
          self_->send(request_, msg::taken{event.request_id, event.choice, event.upto});
        },
        [this](const msg::choice_finished& event) {
          answer_choice& choice = x_->result.answer.choices[event.choice];
          choice.reason = event.reason;
          choice.stop_text = event.stop_text;
          choice.completion_tokens = event.completion_tokens;
        },
        [this](const msg::request_started& event) {
          answer& a = x_->result.answer;
          a.model = event.model;
          a.seed = event.seed;
          a.prompt_tokens = event.prompt_tokens;
          a.cached_tokens = event.cached_tokens;
          if (x_->callbacks.on_started) x_->callbacks.on_started(event);
        },
        [this](const msg::request_finished& event) {
          answer& a = x_->result.answer;
          a.prompt_tokens = event.prompt_tokens;
          a.completion_tokens = event.completion_tokens;
          a.cached_tokens = event.cached_tokens;
          a.prefill_us = event.prefill_us;
          a.decode_us = event.decode_us;
          end(true);
        },
        [this](const msg::request_failed& event) {
          x_->result.failure = {event.code, event.message, event.param};
          end(false);
        },
        [this](const msg::request_waiting& event) {
          if (x_->callbacks.on_waiting) x_->callbacks.on_waiting(event);
        },
        [this](const msg::request_accepted&, const request_control& request) {
          request_ = request;
          self_->monitor(request);
          self_->set_down_handler([this](caf::down_msg& down) {
            if (ended_) return;
            x_->result.failure = {msg::refusal::internal, "the request ended: " + actors::describe(down.reason), {}};
            end(false);
          });
        },
        [this](const msg::text_transformed& event) {
          x_->result.answer.transformed = event;
          end(true);
        },
    };
  }

  const char* name = "client";

 private:
  void end(bool ok) {
    ended_ = true;
    x_->result.ok = ok;
    request_ = nullptr;
    x_->end();
    self_->quit();
  }

  event_sink::pointer self_;
  std::shared_ptr<exchange> x_;
  request_control request_;
  bool ended_ = false;
};

event_sink::behavior_type run_sink(event_sink::stateful_pointer<sink_state> self, std::shared_ptr<exchange> x,
                                   std::uint32_t choices) {
  static_assert(!std::is_aggregate_v<sink_state>);
  return self->state.make(std::move(x), choices);
}

admin_sink::behavior_type run_admin_sink(admin_sink::pointer self, std::shared_ptr<std::promise<msg::model_list>> list,
                                         std::shared_ptr<std::promise<msg::model_changed>> changed) {
  return {
      [self, list](const msg::model_list& message) {
        list->set_value(message);
        self->quit();
      },
      [self, changed](const msg::model_changed& message) {
        changed->set_value(message);
        self->quit();
      },
  };
}

/// What comes, or nothing where the wait for it was given up.
template <class T>
std::optional<T> wait_for(std::future<T>& result, const wait_watch& give_up) {
  while (result.wait_for(poll) != std::future_status::ready) {
    if (give_up && give_up()) return std::nullopt;
  }
  return result.get();
}

template <class Message>
msg::model_changed order(caf::actor_system& system, const node& n, Message message, const wait_watch& give_up) {
  const std::uint64_t request_id = message.request_id;
  auto changed = std::make_shared<std::promise<msg::model_changed>>();
  auto result = changed->get_future();
  const admin_sink sink = system.spawn(run_admin_sink, std::make_shared<std::promise<msg::model_list>>(), changed);
  caf::anon_send(n.zoo, std::move(message), sink);
  if (auto answer = wait_for(result, give_up)) return std::move(*answer);
  actors::exit_now(caf::actor_cast<caf::actor>(sink), caf::exit_reason::user_shutdown);
  return {request_id, false, {}, "the wait for the model was given up"};
}

}  // namespace

client_result run_request(caf::actor_system& system, const node& n, msg::generate request,
                          const client_callbacks& callbacks, const std::atomic<bool>* cancel) {
  auto x = std::make_shared<exchange>();
  x->callbacks = callbacks;
  auto ended = x->ended.get_future();
  if (request.request_id == 0) request.request_id = msg::next_request_id();
  const auto prompts = static_cast<std::uint32_t>(1 + request.more_prompts.size());
  const event_sink sink = system.spawn(run_sink, x, request.choices * prompts);
  caf::anon_send(n.requests, std::move(request), sink);
  while (cancel != nullptr && ended.wait_for(poll) != std::future_status::ready) {
    if (!cancel->load()) continue;
    // The request watches its sink, stops computing and ends with it.
    actors::exit_now(caf::actor_cast<caf::actor>(sink), caf::exit_reason::user_shutdown);
    break;
  }
  ended.wait();
  if (!x->result.ok && x->result.failure.message.empty()) {
    x->result.cancelled = cancel != nullptr && cancel->load();
    x->result.failure = {msg::refusal::shutting_down, "the request was cancelled", {}};
    for (const answer_choice& choice : x->result.answer.choices)
      x->result.answer.completion_tokens += choice.completion_tokens;
  }
  return std::move(x->result);
}

std::vector<msg::model_row> list_models(caf::actor_system& system, const node& n, const wait_watch& give_up) {
  auto list = std::make_shared<std::promise<msg::model_list>>();
  auto result = list->get_future();
  const admin_sink sink = system.spawn(run_admin_sink, list, std::make_shared<std::promise<msg::model_changed>>());
  caf::anon_send(n.zoo, msg::list_models{msg::next_request_id()}, sink);
  if (auto answer = wait_for(result, give_up)) return std::move(answer->models);
  actors::exit_now(caf::actor_cast<caf::actor>(sink), caf::exit_reason::user_shutdown);
  return {};
}

msg::model_changed load_model(caf::actor_system& system, const node& n, const std::string& model,
                              const wait_watch& give_up) {
  return order(system, n, msg::load_model{msg::next_request_id(), model}, give_up);
}

msg::model_changed unload_model(caf::actor_system& system, const node& n, const std::string& model,
                                const wait_watch& give_up) {
  return order(system, n, msg::unload_model{msg::next_request_id(), model}, give_up);
}

}  // namespace infer
