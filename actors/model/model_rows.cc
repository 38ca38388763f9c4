// A model's rows and wiring.
#include "actors/model/model_rows.h"

#include <caf/all.hpp>

#include "actors/model/decode_actor.h"
#include "actors/model/port_actor.h"
#include "actors/model/sessions_actor.h"
#include "actors/model/tokenizer_actor.h"
#include "actors/support/front.h"
#include "actors/support/shutdown.h"
#include "protocol/messages/type_ids.h"

namespace infer::actors {
namespace {

/// What the children must know of each other. Used from the supervisor's thread only.
struct wiring {
  std::shared_ptr<model_core> core;
  caf::actor tokenizer_front, sessions_front;
  caf::actor decode, port;
  std::uint64_t epoch = 0;
  std::function<void(const port_actor&)> on_port;

  ~wiring() {
    for (const caf::actor& front : {tokenizer_front, sessions_front}) exit_now(front, caf::exit_reason::user_shutdown);
  }

  void bind() const {
    if (port && decode)
      caf::anon_send(caf::actor_cast<inner_port_actor>(port), msg::decode_bound{epoch},
                     caf::actor_cast<decode_actor>(decode));
  }

  void started(const std::string& name, const caf::actor& child) {
    if (name == "tokenizer") {
      set_front(tokenizer_front, child);
    } else if (name == "sessions") {
      set_front(sessions_front, child);
    } else if (name == "decode") {
      decode = child;
      bind();
    } else if (name == "port") {
      port = child;
      bind();
      on_port(caf::actor_cast<port_actor>(child));
    }
  }
};

}  // namespace

model_subtree make_model_subtree(caf::actor_system& system, std::shared_ptr<model_core> core, model_threads threads,
                                 std::function<void(const port_actor&)> on_port) {
  auto wires = std::make_shared<wiring>();
  wires->core = core;
  wires->on_port = std::move(on_port);
  wires->tokenizer_front = system.spawn(run_front, std::string("tokenizer"));
  wires->sessions_front = system.spawn(run_front, std::string("sessions"));
  model_subtree out;
  out.rows.push_back({.name = "tokenizer", .thread = "own", .start = [core, threads](caf::actor_system& sys) {
                        return caf::actor_cast<caf::actor>(spawn_on(sys, threads.tokenizer, run_tokenizer, core));
                      }});
  out.rows.push_back({.name = "sessions", .start = [](caf::actor_system& sys) {
                        return caf::actor_cast<caf::actor>(sys.spawn(run_sessions));
                      }});
  out.rows.push_back({.name = "decode",
                      .thread = "own",
                      .needs = {"tokenizer", "sessions"},
                      .start = [core, threads, wires](caf::actor_system& sys) {
                        wires->epoch = ++core->epoch;
                        return caf::actor_cast<caf::actor>(
                            spawn_on(sys, threads.decode, run_decode, core, wires->epoch));
                      }});
  out.rows.push_back({.name = "port",
                      .needs = {"decode"},
                      .restarts_with = {"decode"},
                      .start = [core, wires](caf::actor_system& sys) {
                        return caf::actor_cast<caf::actor>(
                            sys.spawn(run_port, core, caf::actor_cast<tokenizer_actor>(wires->tokenizer_front),
                                      caf::actor_cast<sessions_actor>(wires->sessions_front)));
                      }});
  out.on_started = [wires](const std::string& name, const caf::actor& child, bool) { wires->started(name, child); };
  return out;
}

}  // namespace infer::actors
