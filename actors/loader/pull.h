// Fetching a model from a hub into the folder of models.
#pragma once

#include <chrono>
#include <functional>

#include "actors/loader/model_store.h"

namespace infer::hub {

struct pull_progress {
  std::string file;                       // in work
  std::uint64_t bytes = 0, of_bytes = 0;  // of the whole model, with what an earlier pull had fetched
};

struct pull_options {
  hub_address hub;
  std::filesystem::path models;
  std::uint32_t stall_seconds = 30, tries = 6;
  std::function<void(const pull_progress&)> progress;
  std::function<void(const std::string&)> say;  // one sentence for people
  /// Bytes that may still be written below a folder, the exchange of two folders' names (0, or -1 with errno), and
  /// waiting between tries; replaced in tests.
  std::function<std::uint64_t(const std::filesystem::path&)> free_bytes;
  std::function<int(const char*, const char*)> exchange;
  std::function<void(std::chrono::milliseconds)> wait;
};

/// The public hub, or what $HF_ENDPOINT names, without a slash at its end.
std::string default_endpoint();

/// Lists, chooses, checks the disk, fetches what is missing and publishes the model's folder in one step: it is there
/// whole, or as it was before. Files that the folder had and the hub has still are not fetched again. A pull that was
/// killed is gone on with by the next.
/// Errors:  every fault of hub, in a sentence that says what to do.
/// Threads: any; one pull of a model at a time among all processes, others fail with fault::busy.
result<stored_model> pull(const reference& of, const pull_options& options);

}  // namespace infer::hub
