// The prompts of earlier chats: a file with one JSON string per line, which several chats may append to at once.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/result.h"

namespace infer::apps {

/// `history` in the state_folder(); empty where there is none.
std::filesystem::path history_file();

/// The last `most` prompts, oldest first; lines that are no JSON string are passed over. No file: none.
std::vector<std::string> read_history(const std::filesystem::path& file, std::size_t most);

/// Appends one prompt in one write. The file and the folders that are made for it are the user's alone.
/// Errors:  the system's, with the file's name.
result<void> append_history(const std::filesystem::path& file, std::string_view prompt);

/// Keeps the last `most` where the file holds more than twice as many, in one step.
/// Errors:  the system's, with the file's name.
result<void> trim_history(const std::filesystem::path& file, std::size_t most);

}  // namespace infer::apps
