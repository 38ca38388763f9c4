// Errors across the border to CAF.
#include "actors/support/error_bridge.h"

#include <spdlog/spdlog.h>
#include <caf/all.hpp>

namespace infer::actors {

caf::error to_caf(const error& e) {
  return caf::make_error(caf::sec::runtime_error, e.message());
}

std::string describe(const caf::error& e) {
  return caf::to_string(e);
}

caf::scheduled_actor::exception_handler crash_handler(std::string actor_name) {
  return [name = std::move(actor_name)](caf::scheduled_actor*, std::exception_ptr& thrown) -> caf::error {
    std::string what = "an exception that is no std::exception";
    try {
      std::rethrow_exception(thrown);
    } catch (const std::exception& e) {
      what = e.what();
    } catch (...) {
    }
    spdlog::error("actor {} ends: {}", name, what);
    return caf::make_error(caf::sec::runtime_error, what);
  };
}

}  // namespace infer::actors
