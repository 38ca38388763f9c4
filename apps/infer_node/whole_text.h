// Texts that are taken whole: a file's, or all of standard input.
#pragma once

#include <string>
#include <string_view>

#include "engine/core/result.h"

namespace infer::apps {

/// The bytes of a file or of anything else that can be opened and read to its end.
/// Errors:  the system's, like "Is a directory".
result<std::string> read_file(const std::string& path);

/// Standard input to its end.
/// Errors:  as read_file, after the words "standard input: ".
result<std::string> read_input();

/// A sentence that says where `text`, called `what`, is not UTF-8; empty where all of it is.
std::string utf8_fault(const std::string& what, std::string_view text);

/// `path` with the "~" of "~" and "~/..." replaced by the home folder, where there is one.
std::string with_home(const std::string& path);

}  // namespace infer::apps
