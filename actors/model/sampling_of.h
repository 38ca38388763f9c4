// A stream's sampling as the messages have it, ready for the sampler of its model.
#pragma once

#include "actors/model/model_core.h"
#include "engine/decode/sampling_params.h"
#include "protocol/messages/streams.h"

namespace infer::actors {

/// Texts among the biases become tokens and sequence breakers are bound to the vocabulary, which `core` keeps alive.
decode::sampling_params sampling_of(const msg::sampling& from, const model_core& core);

}  // namespace infer::actors
