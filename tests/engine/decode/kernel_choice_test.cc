// Where the choice is kept.
#include "engine/decode/kernel_choice.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/support/temporary_folder.h"

namespace infer::decode {
namespace {

TEST(kernel_choice, is_kept_in_the_cache_folder_of_the_user) {
  const test_support::temporary_folder folder;
  const char* before = std::getenv("XDG_CACHE_HOME");
  const std::string old = before != nullptr ? before : "";
  setenv("XDG_CACHE_HOME", std::filesystem::path(folder / "").c_str(), 1);
  EXPECT_EQ(default_tuning_file(), folder / "" / "infer-node" / "kernels.tsv");
  tune_kernels(default_tuning_file());
  EXPECT_TRUE(std::filesystem::exists(default_tuning_file()));
  setenv("XDG_CACHE_HOME", "", 1);
  EXPECT_TRUE(default_tuning_file().string().ends_with(".cache/infer-node/kernels.tsv"));
  before != nullptr ? setenv("XDG_CACHE_HOME", old.c_str(), 1) : unsetenv("XDG_CACHE_HOME");
}

}  // namespace
}  // namespace infer::decode
