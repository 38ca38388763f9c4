// A blocking client for programs that do not want actors: sends one request to a node and waits for its end.
#pragma once

#include <atomic>
#include <caf/actor_system.hpp>
#include <functional>
#include <string>
#include <vector>

#include "actors/tree/node.h"
#include "engine/core/result.h"
#include "protocol/messages/models.h"
#include "protocol/messages/requests.h"

namespace infer {

/// One choice of an answer.
struct answer_choice {
  std::string text, reasoning;  // reasoning: where the request has it split off
  std::vector<msg::text_token> tokens;
  msg::finish_reason reason{};
  std::string stop_text;
  std::uint32_t completion_tokens = 0;
};

struct answer {
  std::string model;
  std::vector<answer_choice> choices;
  std::uint32_t prompt_tokens = 0, completion_tokens = 0, cached_tokens = 0;
  std::uint64_t prefill_us = 0, decode_us = 0;
  std::uint64_t seed = 0;
  msg::text_transformed transformed;  // for the tasks that only transform text
};

/// What a request was refused with.
struct request_error {
  msg::refusal code{};
  std::string message, param;
};

struct client_result {
  bool ok = false;
  bool cancelled = false;  // not ok; the answer holds what had come by then
  infer::answer answer;
  request_error failure;
};

struct client_callbacks {
  std::function<void(const msg::text_made&)> on_text;
  std::function<void(const msg::request_waiting&)> on_waiting;
  std::function<void(const msg::request_started&)> on_started;
};

/// Runs one request to its end. Callbacks run on an actor's thread, one at a time; credit returns when they return.
/// Where `cancel` is given and becomes true, computing stops within a layer and the call returns; no callback runs
/// after that.
/// Threads: any but an actor's. `cancel` may be set from anywhere, a signal handler too; it is looked at every 20 ms.
client_result run_request(caf::actor_system& system, const node& n, msg::generate request,
                          const client_callbacks& callbacks = {}, const std::atomic<bool>* cancel = nullptr);

/// Asked by the waiting thread every 20 ms; true gives up the wait.
using wait_watch = std::function<bool()>;

/// Asks the zoo for its rows; none where the wait was given up.
std::vector<msg::model_row> list_models(caf::actor_system& system, const node& n, const wait_watch& give_up = {});

/// Loads or unloads a model and waits for the outcome. A wait that was given up leaves the order as it is.
msg::model_changed load_model(caf::actor_system& system, const node& n, const std::string& model,
                              const wait_watch& give_up = {});
msg::model_changed unload_model(caf::actor_system& system, const node& n, const std::string& model,
                                const wait_watch& give_up = {});

}  // namespace infer
