// The loader's behaviour and its workers.
#include "actors/loader/loader_actor.h"

#include <spdlog/spdlog.h>

#include <caf/all.hpp>

#include "actors/support/error_bridge.h"
#include "protocol/messages/type_ids.h"

namespace infer::actors {
namespace {

struct load_job {
  msg::model_source source;
  std::uint32_t generation = 0;
  load_resources resources;
  std::shared_ptr<cancel_flag> cancel;
  loader_sink sink;
};

void send_failure(const load_job& job, const error& e) {
  const bool cancelled = e.code == std::errc::operation_canceled;
  const bool retryable = e.code == std::errc::not_enough_memory;
  caf::anon_send(job.sink, msg::load_failed{job.generation, job.source.id, e.message(), retryable, cancelled});
}

/// Computes once and ends; its death by an exception is the loader's to report.
caf::behavior run_worker(caf::event_based_actor* self, std::shared_ptr<const load_job> job) {
  self->set_exception_handler(crash_handler("load " + job->source.id));
  caf::anon_send(self, msg::load_progress{});
  return {[self, job](const msg::load_progress&) {
    const auto progress = [&](std::uint32_t percent) {
      if (job->resources.hooks.on_load_progress) job->resources.hooks.on_load_progress(percent);
      caf::anon_send(job->sink, msg::load_progress{job->generation, job->source.id, percent});
    };
    auto loaded = load(job->source, job->generation, job->resources, progress, *job->cancel);
    if (loaded) {
      std::shared_ptr<model_core> core = std::move(loaded.value());
      std::uint64_t bytes = 0;
      for (const auto& lease : core->leases) bytes += lease.bytes();
      const msg::model_loaded message{job->generation, job->source.id, bytes, core->context,
                                      core->model.plan.trained_context};
      caf::anon_send(job->sink, message, msg::model_handle{std::move(core)});
    } else {
      send_failure(*job, loaded.error());
    }
    job->resources.budget->drop_earmark(job->resources.claim_id);
    self->quit();
  }};
}

}  // namespace

loader_state::loader_state(loader_actor::pointer self) : self_(self) {}

void loader_state::start(const msg::model_source& source, std::uint32_t generation, std::uint64_t claim_id,
                         const loader_sink& sink) {
  auto cancel = std::make_shared<cancel_flag>();
  auto work = std::make_shared<const load_job>(
      load_job{source, generation, {config_.budget, claim_id, config_.lane, config_.hooks}, cancel, sink});
  const caf::actor worker = spawn_on(self_->system(), config_.workers, run_worker, std::move(work));
  self_->link_to(worker);
  jobs_[worker.address()] = {std::move(cancel), sink, generation, source.id};
}

loader_actor::behavior_type loader_state::make(loader_config config) {
  config_ = std::move(config);
  self_->set_exception_handler(crash_handler(name));
  self_->set_exit_handler([this](caf::exit_msg& exit) {
    const auto at = jobs_.find(exit.source);
    if (at == jobs_.end()) {
      for (auto& [worker, running] : jobs_) running.cancel->set();
      return self_->quit(exit.reason);
    }
    if (exit.reason) {
      self_->send(at->second.sink,
                  msg::load_failed{at->second.generation, at->second.id,
                                   "the load ended unexpectedly: " + describe(exit.reason), true, false});
    }
    jobs_.erase(at);
  });
  return {
      [this](const msg::measure_model& message, const loader_sink& sink) {
        // The header alone: milliseconds even for a vocabulary of 262,144 tokens.
        auto measured = measure(message.source);
        if (!measured) {
          self_->send(
              sink, msg::load_failed{message.generation, message.source.id, measured.error().message(), false, false});
          return;
        }
        self_->send(sink, msg::model_measured{message.generation, message.source.id, measured.value().bytes.floor(),
                                              measured.value().trained_context});
      },
      [this](const msg::load_weights& message, const loader_sink& sink) {
        start(message.source, message.generation, message.claim_id, sink);
      },
      [this](const msg::cancel_load& message) {
        for (auto& [worker, running] : jobs_) {
          if (running.id == message.id && running.generation == message.generation) running.cancel->set();
        }
      },
  };
}

loader_actor::behavior_type run_loader(loader_actor::stateful_pointer<loader_state> self, loader_config config) {
  static_assert(!std::is_aggregate_v<loader_state>);
  return self->state.make(std::move(config));
}

}  // namespace infer::actors
