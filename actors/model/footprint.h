// How much memory a model takes, before a byte of it is touched.
#pragma once

#include <cstdint>
#include <string>

#include "engine/core/result.h"
#include "engine/models/builder.h"
#include "engine/plan/executor.h"
#include "protocol/messages/loading.h"

namespace infer::actors {

struct footprint {
  std::uint64_t weights = 0;    // as the kernels keep them
  std::uint64_t transient = 0;  // most of the file that is held beside its packed form while that is made
  std::uint64_t scratch = 0;
  std::uint64_t text = 0;             // tokenizer and template
  std::uint64_t kv_per_sequence = 0;  // one full context
  std::uint32_t context = 0;          // positions per sequence
  std::uint64_t floor() const { return weights + transient + scratch + text + kv_per_sequence; }
};

/// Positions that a sequence may be asked to hold: page numbers and their products stay far below 32 bits.
inline constexpr std::uint32_t most_context = 1u << 24;

/// Options of the executor as the source asks for them. Errors: names of types that are unknown.
result<plan::program_options> options_of(const msg::model_source& source);

footprint footprint_of(const models::model& model, const msg::model_source& source,
                       const plan::program_options& options);

}  // namespace infer::actors
