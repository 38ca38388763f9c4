// Where the log goes: the error stream, one line an event.
#pragma once

#include <string>

namespace infer::apps {

/// `level`: trace, debug, info, warn, error, off.
void set_up_log(const std::string& level);

}  // namespace infer::apps
