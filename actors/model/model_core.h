// A loaded model: everything that must outlive a restart of the actors that use it. The supervisor of the model owns
// it, its children borrow it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/core/cancel.h"
#include "engine/decode/cpu_executor.h"
#include "engine/memory/budget.h"
#include "engine/memory/page_pool.h"
#include "engine/memory/prefix_index.h"
#include "engine/models/builder.h"
#include "engine/plan/executor.h"
#include "engine/templates/abilities.h"
#include "engine/templates/chat_template.h"
#include "engine/threads/compute_lane.h"
#include "engine/tokenize/tokenizer.h"
#include "protocol/messages/loading.h"
#include "protocol/messages/streams.h"

namespace infer::actors {

/// Streams that may be open at one port at a time: the size of the table of cancel flags.
inline constexpr std::uint32_t max_streams = 1024;

/// What a row of a step computes, for the journal and for test hooks.
struct journal_row {
  msg::stream_key key;
  std::uint32_t first_position = 0;  // of the sequence
  std::uint32_t tokens = 0;
  std::uint32_t next_index = 0;  // index of the token that the row yields, where it yields one
};

/// Seams for fault injection. Empty in production.
struct core_hooks {
  /// Called by decode before each step with the rows it is about to compute; may throw.
  std::function<void(std::span<const journal_row>)> before_step;
  /// Called after each layer of a step, from the thread that computes.
  std::function<void(const plan::op&)> tap;
  /// Called by the loader with the percentage; may throw.
  std::function<void(std::uint32_t)> on_load_progress;
};

/// Counters that anyone may read while the model runs.
struct core_counters {
  std::atomic<std::uint64_t> prompt_tokens{0}, cached_tokens{0}, tokens_made{0}, steps{0}, layers_run{0},
      rows_cancelled{0}, parkings{0};
  std::atomic<std::uint32_t> streams_open{0}, streams_waiting{0}, pages_free{0}, pages_total{0};
};

/// A stream that decode computes, for whoever looks on. `busy` says whether the rest counts.
struct slot_counters {
  std::atomic<bool> busy{false};
  std::atomic<std::uint64_t> request_id{0};
  std::atomic<std::uint32_t> choice{0}, prompt{0}, held{0}, made{0};
};

/// A chat template that can be rendered.
struct talk_template {
  std::optional<templates::chat_template> chat;
  templates::template_abilities abilities;
  std::string fault;  // why its text gave none
};

/// Threads: the immutable parts may be read by all children; pages, prefixes, elastic leases, program and journal
/// belong to decode; the flags and counters are atomics.
struct model_core {
  msg::model_source source;
  std::uint32_t generation = 0;
  std::uint32_t context = 0;

  models::model model;
  std::shared_ptr<const tokenize::tokenizer> tokenizer;
  talk_template talk;         // of the file's default
  talk_template tool_talk;    // of the one it has for talks with tools, if any
  std::string template_text;  // of the default
  core_hooks hooks;
  std::shared_ptr<threads::compute_lane> lane;

  std::shared_ptr<memory::budget> budget;
  std::vector<memory::memory_lease> leases;   // given back after the memory below is unmapped
  std::vector<memory::memory_lease> elastic;  // of pages beyond the floor, as they were needed
  memory::page_pool pages;
  std::optional<memory::prefix_index> prefixes;
  std::unique_ptr<decode::cpu_executor> executor;
  plan::program_ptr program;

  std::array<cancel_flag, max_streams> cancel;
  std::vector<journal_row> journal;     // rows of the step in flight; empty between steps
  std::atomic<std::uint64_t> epoch{0};  // of the current decode
  core_counters counters;
  std::array<slot_counters, max_streams> slots;  // by flag
};

}  // namespace infer::actors
