// Where the user's files lie, by the XDG base directory specification.
#pragma once

#include <filesystem>

namespace infer {

/// $HOME, else the home of the user in the password database; empty where neither is an absolute path.
std::filesystem::path home_folder();

/// This program's folder for data, state or what can be made again: infer-node in $XDG_DATA_HOME, $XDG_STATE_HOME or
/// $XDG_CACHE_HOME where that is an absolute path, else in ~/.local/share, ~/.local/state or ~/.cache. Empty without a
/// home.
std::filesystem::path data_folder();
std::filesystem::path state_folder();
std::filesystem::path cache_folder();

}  // namespace infer
