// How fast one model file runs on one sequence: what `infer-node bench` and the comparison with other programs time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "engine/core/result.h"
#include "engine/memory/page_pool.h"
#include "engine/models/builder.h"
#include "engine/plan/executor.h"

namespace infer::decode {

/// Made-up ids that spread over a vocabulary; the same for the same arguments.
std::vector<token_id> bench_ids(std::uint32_t count, std::uint32_t vocabulary, std::uint32_t seed);

/// A model file on one sequence. Errors of every function: those of the executor and its pages.
/// Threads: one caller at a time.
class speed_run {
 public:
  /// Opens and prepares for sequences of up to `context` positions.
  static result<speed_run> open(const std::filesystem::path& path, const plan::program_options& options,
                                std::uint32_t context, std::unique_ptr<plan::executor> on);

  /// Seconds from the first of `tokens` ids to the logits of the last, behind `depth` others that are not timed.
  result<double> prefill(std::uint32_t depth, std::uint32_t tokens);
  /// Seconds of `tokens` steps of one id each, behind `depth` others that are not timed.
  result<double> decode(std::uint32_t depth, std::uint32_t tokens);

  /// Bytes of all matrices that a step of one token multiplies with, as they are in the file.
  std::uint64_t matrix_bytes() const;
  const plan::plan& plan() const { return state_->model.plan; }

 private:
  struct state {
    models::model model;
    memory::page_pool pages;
    std::unique_ptr<plan::executor> executor;
    plan::program_ptr program;
    std::unique_ptr<plan::sequence> sequence;  // ends before its pages
    std::uint32_t batch = 0;
    std::vector<token_id> ids;  // what the sequence holds and feeds, by position
  };
  /// The sequence holds exactly `depth` positions afterwards.
  result<void> go_to(std::uint32_t depth);
  result<void> feed(std::uint32_t tokens, plan::want out);

  std::unique_ptr<state> state_;
};

}  // namespace infer::decode
