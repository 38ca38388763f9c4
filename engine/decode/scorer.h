// Log-probabilities of given ids under a model file, position by position: the offline way to look at a model.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/decode/cpu_executor.h"
#include "engine/decode/sampler.h"
#include "engine/formats/model_file.h"
#include "engine/memory/page_pool.h"
#include "engine/models/builder.h"

namespace infer::decode {

struct scored_position {
  token_logprob next;              // the id that follows and its log-probability
  std::vector<token_logprob> top;  // the most likely ones, best first
};

/// Called with every position's logits. Shapes: logits [vocabulary].
using logits_fn = std::function<void(std::size_t position, std::span<const float> logits)>;

/// One model file on one sequence.
/// Threads: one caller at a time.
class scorer {
 public:
  /// Opens and prepares. `context` 0: what the model was trained with, at most 8192. `threads` 0: one per usable core.
  static result<scorer> open(const std::filesystem::path& path, const plan::program_options& options,
                             std::uint32_t context = 0, std::uint32_t threads = 0,
                             const kernels::op_table& ops = kernels::best_ops());

  /// One entry for each position that has a next id. Feeds chunks of at most `chunk` ids.
  /// Errors: ids outside the vocabulary, more of them than the context holds, logits that are not finite.
  result<std::vector<scored_position>> score(std::span<const token_id> ids, std::uint32_t top,
                                             std::uint32_t chunk = 512);
  /// The logits of every position.
  result<void> logits(std::span<const token_id> ids, std::uint32_t chunk, const logits_fn& take);

  const models::model& model() const { return state_->model; }
  const formats::model_file& file() const { return *state_->file; }
  std::uint32_t context() const { return state_->context; }

 private:
  struct state {
    std::shared_ptr<const formats::model_file> file;
    models::model model;
    memory::page_pool pages;
    std::unique_ptr<cpu_executor> executor;
    plan::program_ptr program;
    std::uint32_t context = 0;
  };
  std::unique_ptr<state> state_;
};

}  // namespace infer::decode
