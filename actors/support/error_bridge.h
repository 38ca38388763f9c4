// Between `infer::error` and `caf::error`, and the exception handler of every actor.
#pragma once

#include <caf/error.hpp>
#include <caf/scheduled_actor.hpp>
#include <exception>
#include <string>

#include "engine/core/result.h"

namespace infer::actors {

/// What an actor ends with when it fails: a runtime error that carries the sentence.
caf::error to_caf(const error& e);

/// "runtime_error(…)": for logs.
std::string describe(const caf::error& e);

/// Logs the exception and ends the actor with `sec::runtime_error`, never with "none": a crash must not look like a
/// normal end. Install with `self->set_exception_handler(crash_handler("name"))`.
caf::scheduled_actor::exception_handler crash_handler(std::string actor_name);

}  // namespace infer::actors
