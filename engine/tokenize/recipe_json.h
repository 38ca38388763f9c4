// The normalizer, pre-tokenizer and decoder of a tokenizer.json as steps of a recipe.
#pragma once

#include <boost/json/object.hpp>

#include "engine/core/result.h"
#include "engine/tokenize/fault.h"
#include "engine/tokenize/recipe.h"

namespace infer::tokenize {

/// Fills `normalizer`, `pre_tokenizer` and `decoder` with what goes with it, and the algorithm of a model "BPE".
/// Errors: unsupported with the name of the step; malformed.
result<void> read_steps(const boost::json::object& tokenizer, recipe& how);

}  // namespace infer::tokenize
