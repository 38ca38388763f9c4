// Variables of the environment, then the password database.
#include "engine/core/user_folders.h"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

namespace infer {
namespace {

/// Relative paths mean nothing in these variables.
std::filesystem::path absolute_variable(const char* name) {
  const char* const value = std::getenv(name);
  const std::filesystem::path path(value == nullptr ? "" : value);
  return path.is_absolute() ? path : std::filesystem::path();
}

std::filesystem::path own_folder(const char* variable, const char* in_home) {
  if (const auto base = absolute_variable(variable); !base.empty()) return base / "infer-node";
  const auto home = home_folder();
  return home.empty() ? home : home / in_home / "infer-node";
}

}  // namespace

std::filesystem::path home_folder() {
  if (auto home = absolute_variable("HOME"); !home.empty()) return home;
  constexpr std::size_t longest_entry = 1 << 16;
  std::vector<char> text(longest_entry);
  passwd entry{};
  passwd* found = nullptr;
  if (getpwuid_r(geteuid(), &entry, text.data(), text.size(), &found) != 0 || found == nullptr) return {};
  const std::filesystem::path home(found->pw_dir);
  return home.is_absolute() ? home : std::filesystem::path();
}

std::filesystem::path data_folder() {
  return own_folder("XDG_DATA_HOME", ".local/share");
}

std::filesystem::path state_folder() {
  return own_folder("XDG_STATE_HOME", ".local/state");
}

std::filesystem::path cache_folder() {
  return own_folder("XDG_CACHE_HOME", ".cache");
}

}  // namespace infer
