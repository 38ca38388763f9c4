// The file of prompts.
#include "apps/infer_node/chat/prompt_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <thread>

#include "tests/support/temporary_folder.h"

namespace infer::apps {
namespace {

using testing::ElementsAre;

class PromptHistory : public testing::Test {
 protected:
  test_support::temporary_folder folder;
  std::filesystem::path file() const { return folder.path() / "state" / "infer-node" / "history"; }
};

mode_t mode_of(const std::filesystem::path& path) {
  struct stat s{};
  EXPECT_EQ(::stat(path.c_str(), &s), 0);
  return s.st_mode & 0777;
}

TEST_F(PromptHistory, BringsBackTheLastInOrderWithTheirLineEnds) {
  EXPECT_THAT(read_history(file(), 10), ElementsAre());
  for (const char* text : {"first", "two\nlines \"quoted\" \\", "ä"}) ASSERT_TRUE(append_history(file(), text));
  EXPECT_THAT(read_history(file(), 10), ElementsAre("first", "two\nlines \"quoted\" \\", "ä"));
  EXPECT_THAT(read_history(file(), 2), ElementsAre("two\nlines \"quoted\" \\", "ä"));
}

TEST_F(PromptHistory, IsTheUsersAlone) {
  ASSERT_TRUE(append_history(file(), "secret"));
  EXPECT_EQ(mode_of(file()), 0600u);
  EXPECT_EQ(mode_of(file().parent_path()), 0700u);
}

TEST_F(PromptHistory, PassesOverWhatIsNoPrompt) {
  ASSERT_TRUE(append_history(file(), "a"));
  std::ofstream(file(), std::ios::app) << "not JSON\n{}\n\n\"b\"\n\"half";
  EXPECT_THAT(read_history(file(), 10), ElementsAre("a", "b"));
}

TEST_F(PromptHistory, TakesAppendsOfSeveralAtOnceWhole) {
  const std::string text(3000, 'x');
  ASSERT_TRUE(append_history(file(), text));
  std::vector<std::thread> all;
  for (int thread = 0; thread < 4; ++thread) {
    all.emplace_back([&] {
      for (int turn = 0; turn < 50; ++turn) EXPECT_TRUE(append_history(file(), text));
    });
  }
  for (std::thread& one : all) one.join();
  EXPECT_THAT(read_history(file(), 1000), testing::AllOf(testing::SizeIs(201), testing::Each(text)));
}

TEST_F(PromptHistory, IsTrimmedWhenItHoldsTwiceTooMany) {
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(append_history(file(), std::to_string(i)));
  ASSERT_TRUE(trim_history(file(), 3));
  EXPECT_EQ(read_history(file(), 10).size(), 6u);
  ASSERT_TRUE(append_history(file(), "6"));
  ASSERT_TRUE(trim_history(file(), 3));
  EXPECT_THAT(read_history(file(), 10), ElementsAre("4", "5", "6"));
  EXPECT_EQ(mode_of(file()), 0600u);
}

TEST_F(PromptHistory, SaysWhichFileCannotBeWritten) {
  std::ofstream(folder / "file") << "x";
  const auto kept = append_history(folder / "file" / "history", "a");
  ASSERT_FALSE(kept);
  EXPECT_THAT(kept.error().message(), testing::HasSubstr((folder / "file").string()));
  EXPECT_EQ(kept.error().code, std::errc::not_a_directory);
}

TEST_F(PromptHistory, LiesInTheUsersStateFolder) {
  ::setenv("XDG_STATE_HOME", "/somewhere", 1);
  EXPECT_EQ(history_file(), "/somewhere/infer-node/history");
  ::setenv("XDG_STATE_HOME", "", 1);
  ::setenv("HOME", "/me", 1);
  EXPECT_EQ(history_file(), "/me/.local/state/infer-node/history");
}

}  // namespace
}  // namespace infer::apps
