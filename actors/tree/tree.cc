// The supervision tree, read top to bottom. The only place that spawns long-lived actors.
//
//   root       ledger, loader, models, zoo, requests, gateway — in this order, stopped in reverse
//   fronts     ledger, loader, zoo and requests stand behind one each: their addresses survive a restart
//   model/<id> tokenizer, sessions, decode, port — actors/model/model_rows.cc
#include <algorithm>
#include <caf/all.hpp>

#include "actors/ledger/ledger_actor.h"
#include "actors/loader/loader_actor.h"
#include "actors/model/models_actor.h"
#include "actors/requests/request_actor.h"
#include "actors/support/front.h"
#include "actors/support/shutdown.h"
#include "actors/support/supervisor.h"
#include "actors/tree/node.h"
#include "actors/zoo/zoo_actor.h"
#include "protocol/messages/type_ids.h"

namespace infer {
namespace {

using namespace actors;

/// The stable addresses, and what the rows hand to each other.
struct plumbing {
  caf::actor ledger, loader, zoo, requests;  // fronts
  caf::actor models;
  std::shared_ptr<memory::budget> budget;
  std::shared_ptr<threads::compute_lane> lane;
  std::uint64_t zoo_epoch = 0;

  ~plumbing() {
    for (const caf::actor& front : {ledger, loader, zoo, requests}) exit_now(front, caf::exit_reason::user_shutdown);
  }
};

caf::actor start_zoo(caf::actor_system& sys, plumbing& p, const node_config& config) {
  zoo_config zoo;
  zoo.models = config.models;
  zoo.epoch = ++p.zoo_epoch;
  zoo.ledger = caf::actor_cast<ledger_actor>(p.ledger);
  zoo.loader = caf::actor_cast<loader_actor>(p.loader);
  zoo.models_supervisor = caf::actor_cast<models_actor>(p.models);
  if (zoo.epoch > 1) zoo.requests = caf::actor_cast<requests_actor>(p.requests);
  return caf::actor_cast<caf::actor>(sys.spawn(run_zoo, std::move(zoo)));
}

std::vector<child_spec> tree_rows(const std::shared_ptr<plumbing>& p, const node_config& config) {
  // name, restart, thread, needs, restarts_with, start
  std::vector<child_spec> rows{
      {"ledger",
       restart_policy::permanent,
       "pooled",
       {},
       {},
       [p](caf::actor_system& sys) { return caf::actor_cast<caf::actor>(sys.spawn(run_ledger, p->budget)); }},
      {"loader",
       restart_policy::permanent,
       "pooled",
       {"ledger"},
       {},
       [p, config](caf::actor_system& sys) {
         return caf::actor_cast<caf::actor>(
             sys.spawn(run_loader, loader_config{p->budget, p->lane, config.hooks, config.loader_workers}));
       }},
      {"models",
       restart_policy::escalate,
       "pooled",
       {},
       {},
       [config](caf::actor_system& sys) {
         return caf::actor_cast<caf::actor>(sys.spawn(run_models, models_config{config.threads, config.limits}));
       }},
      {"zoo",
       restart_policy::permanent,
       "pooled",
       {"ledger", "loader", "models"},
       {},
       [p, config](caf::actor_system& sys) { return start_zoo(sys, *p, config); }},
      {"requests",
       restart_policy::escalate,
       "pooled",
       {"zoo"},
       {},
       [p](caf::actor_system& sys) {
         return caf::actor_cast<caf::actor>(sys.spawn(run_requests, caf::actor_cast<zoo_actor>(p->zoo)));
       }},
  };
  if (config.gateway) {
    rows.push_back(
        {"gateway", restart_policy::permanent, "pooled", {"zoo", "requests"}, {}, [p, config](caf::actor_system& sys) {
           return config.gateway(sys, caf::actor_cast<requests_actor>(p->requests), caf::actor_cast<zoo_actor>(p->zoo));
         }});
  }
  return rows;
}

}  // namespace

node spawn_node(caf::actor_system& system, node_config config) {
  auto p = std::make_shared<plumbing>();
  p->lane = std::make_shared<threads::compute_lane>(config.compute_threads != 0 ? config.compute_threads
                                                                                : threads::usable_cores());
  const std::uint64_t memory = config.memory_bytes != 0 ? config.memory_bytes : default_memory_bytes();
  p->budget = memory::budget::make(memory - std::min(memory, config.own_bytes));
  p->ledger = system.spawn(run_front, std::string("ledger"));
  p->loader = system.spawn(run_front, std::string("loader"));
  p->zoo = system.spawn(run_front, std::string("zoo"));
  p->requests = system.spawn(run_front, std::string("requests"));
  node n{{}, caf::actor_cast<requests_actor>(p->requests), caf::actor_cast<zoo_actor>(p->zoo), p->budget};
  supervisor_options options{.name = "root", .limits = config.limits};
  options.on_started = [p](const std::string& name, const caf::actor& child, bool) {
    if (name == "ledger") set_front(p->ledger, child);
    if (name == "loader") set_front(p->loader, child);
    if (name == "models") p->models = child;
    if (name == "zoo") set_front(p->zoo, child);
    if (name == "requests") set_front(p->requests, child);
  };
  auto rows = tree_rows(p, config);
  n.root = system.spawn(supervise, std::move(rows), std::move(options));
  return n;
}

}  // namespace infer
