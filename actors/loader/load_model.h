// From a file to a loaded model: the work of one load, without an actor.
#pragma once

#include <functional>
#include <memory>

#include "actors/model/footprint.h"
#include "actors/model/model_core.h"
#include "engine/core/cancel.h"

namespace infer::actors {

/// What a load needs beside the file.
struct load_resources {
  std::shared_ptr<memory::budget> budget;
  std::uint64_t claim_id = 0;  // whose earmark pays for the floor
  std::shared_ptr<threads::compute_lane> lane;
  core_hooks hooks;
};

struct measured_model {
  footprint bytes;
  std::uint32_t trained_context = 0;
};

/// Reads the header and computes the footprint; touches no weight.
result<measured_model> measure(const msg::model_source& source);

/// Loads. Calls `progress` with 0 to 100 and polls `cancel` between weights.
/// Errors:  everything that can be wrong with the file; `errc::operation_canceled`; `errc::not_enough_memory` where the
///          earmark is gone.
/// Threads: the caller computes; may take minutes.
result<std::shared_ptr<model_core>> load(const msg::model_source& source, std::uint32_t generation,
                                         const load_resources& resources,
                                         const std::function<void(std::uint32_t)>& progress, const cancel_flag& cancel);

}  // namespace infer::actors
