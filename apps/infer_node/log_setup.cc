// spdlog to the error stream.
#include "apps/infer_node/log_setup.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace infer::apps {

void set_up_log(const std::string& level) {
  spdlog::set_default_logger(spdlog::stderr_logger_mt("infer-node"));
  spdlog::set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %l %v");
  spdlog::set_level(spdlog::level::from_str(level));
}

}  // namespace infer::apps
