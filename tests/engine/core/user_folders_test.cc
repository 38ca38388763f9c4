// Where the user's files lie, by the environment.
#include "engine/core/user_folders.h"

#include <gtest/gtest.h>
#include <pwd.h>
#include <unistd.h>

#include <cstdlib>

namespace infer {
namespace {

/// Variables as they were before the test, afterwards.
class UserFolders : public testing::Test {
 protected:
  static constexpr const char* names[]{"HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"};

  void SetUp() override {
    for (const char* name : names) {
      const char* value = std::getenv(name);
      before_.emplace_back(value == nullptr ? "" : value);
      ::unsetenv(name);
    }
  }

  void TearDown() override {
    for (std::size_t i = 0; i < before_.size(); ++i) ::setenv(names[i], before_[i].c_str(), 1);
  }

 private:
  std::vector<std::string> before_;
};

TEST_F(UserFolders, AreThoseOfTheEnvironment) {
  ::setenv("HOME", "/me", 1);
  EXPECT_EQ(home_folder(), "/me");
  EXPECT_EQ(data_folder(), "/me/.local/share/infer-node");
  EXPECT_EQ(state_folder(), "/me/.local/state/infer-node");
  EXPECT_EQ(cache_folder(), "/me/.cache/infer-node");
  ::setenv("XDG_DATA_HOME", "/data", 1);
  ::setenv("XDG_STATE_HOME", "/state", 1);
  ::setenv("XDG_CACHE_HOME", "/cache", 1);
  EXPECT_EQ(data_folder(), "/data/infer-node");
  EXPECT_EQ(state_folder(), "/state/infer-node");
  EXPECT_EQ(cache_folder(), "/cache/infer-node");
}

TEST_F(UserFolders, RelativeAndEmptyVariablesDoNotCount) {
  ::setenv("HOME", "/me", 1);
  for (const char* value : {"", "data", "./data"}) {
    ::setenv("XDG_DATA_HOME", value, 1);
    EXPECT_EQ(data_folder(), "/me/.local/share/infer-node");
  }
}

TEST_F(UserFolders, WithoutTheVariableHomeIsThatOfThePasswordDatabase) {
  const passwd* const entry = ::getpwuid(::geteuid());
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(home_folder(), entry->pw_dir);
  ::setenv("HOME", "", 1);
  EXPECT_EQ(home_folder(), entry->pw_dir);
  EXPECT_EQ(cache_folder(), std::filesystem::path(entry->pw_dir) / ".cache/infer-node");
}

}  // namespace
}  // namespace infer
