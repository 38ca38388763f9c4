// How long a program takes from its start to its first byte of output.
#pragma once

#include <string>
#include <vector>

namespace infer::bench {

/// Starts `command` and returns the seconds until its standard output yields a byte; then ends it. Its error output is
/// dropped.
/// Errors: std::runtime_error where it cannot be started or ends without a byte.
double seconds_to_first_byte(const std::vector<std::string>& command);

}  // namespace infer::bench
