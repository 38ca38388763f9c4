// Rope frequencies of a model: what the file says about scaling, and the numbers that follow.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/result.h"
#include "engine/models/hyper_reader.h"

namespace infer::models {

/// Inverse frequencies, rounded to f32 from f64, and what sines and cosines are multiplied by.
struct rope_turns {
  std::vector<float> inverse;
  std::vector<float> long_inverse;  // of sequences longer than `model_ropes::long_from`; empty: the same
  float magnitude = 1;
};

struct model_ropes {
  rope_turns global, local;          // of layers that see everything, and of those with a window
  std::uint32_t long_from = 0;       // sequences that may grow longer turn by long_inverse; 0: none
  std::uint32_t most_positions = 0;  // past which the frequencies are others; 0: none
  double trained_context = 0;        // before scaling; 0: the file does not say
};

/// Divisors that a GGUF file holds as tensors, one for each pair; empty where there are none.
struct rope_divisors {
  std::vector<float> all, of_short, of_long;
};

/// Computes the frequencies: none, linear, llama3 (from the folder's numbers or the file's divisors), yarn, longrope.
/// `dynamic` leaves them alone up to the trained context, past which no sequence may go.
/// A file that does not name the context before scaling means its own context.
/// Errors:  unsupported kinds by name; numbers that are missing or make no frequencies.
result<model_ropes> read_ropes(const family_descriptor& family, const hyper_values& h, const key_view& keys,
                               const rope_divisors& divisors);

}  // namespace infer::models
