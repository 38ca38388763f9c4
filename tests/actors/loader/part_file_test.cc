// Parts of files: taken up, begun again, finished.
#include "actors/loader/part_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temporary_folder.h"

namespace infer::hub {
namespace {

const checksum abc{"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", ""};

byte_view bytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

struct PartFile : testing::Test {
  part_file open(std::uint64_t size = 3) {
    auto part = part_file::open(target_, size, abc);
    EXPECT_TRUE(part);
    return std::move(part.value());
  }

  test_support::temporary_folder folder_;
  std::filesystem::path target_ = folder_ / "file";
};

TEST_F(PartFile, AFileThatIsThereIsLinked) {
  const std::filesystem::path source = folder_ / "source";
  ASSERT_TRUE(write_whole(source, "abc"));
  EXPECT_FALSE(part_file::adopt(source, target_, 4, abc, 0)) << "of another size";
  EXPECT_FALSE(part_file::adopt(folder_ / "nothing", target_, 3, abc, 0));
  ASSERT_TRUE(write_whole(folder_ / "edited", "abd"));
  EXPECT_FALSE(part_file::adopt(folder_ / "edited", target_, 3, abc, 0)) << "the bytes are others";
  std::filesystem::create_symlink(source, folder_ / "elsewhere");
  EXPECT_FALSE(part_file::adopt(folder_ / "elsewhere", target_, 3, abc, 0)) << "it belongs to somebody else";
  EXPECT_TRUE(part_file::adopt(source, target_, 3, abc, 0)) << "a link takes no room";
  EXPECT_TRUE(part_file::is_finished(target_, 3, abc));
  EXPECT_TRUE(std::filesystem::equivalent(source, target_));
  std::filesystem::remove(source);
  EXPECT_EQ(read_small(target_), "abc");
}

TEST_F(PartFile, WhereNoLinkCanBeMadeTheFileIsCopiedIfThereIsRoom) {
  const auto no_link = [](int, const char*, int, const char*, int) { return -1; };
  const std::filesystem::path source = folder_ / "source";
  ASSERT_TRUE(write_whole(source, "abc"));
  EXPECT_FALSE(part_file::adopt(source, target_, 3, abc, 2, no_link));
  EXPECT_FALSE(std::filesystem::exists(target_));
  ASSERT_TRUE(part_file::adopt(source, target_, 3, abc, 3, no_link));
  EXPECT_TRUE(part_file::is_finished(target_, 3, abc));
  EXPECT_FALSE(std::filesystem::equivalent(source, target_));
  EXPECT_EQ(read_small(target_), "abc");
}

TEST_F(PartFile, AppearsUnderItsNameWhenItIsWholeAndRight) {
  {
    auto part = open();
    ASSERT_TRUE(part.append(bytes("ab")));
    EXPECT_FALSE(part.finish().value());
    EXPECT_FALSE(std::filesystem::exists(target_));
    ASSERT_TRUE(part.append(bytes("c")));
    EXPECT_TRUE(part.finish().value());
  }
  EXPECT_EQ(read_small(target_), "abc");
  EXPECT_TRUE(part_file::is_finished(target_, 3, abc));
  EXPECT_FALSE(part_file::is_finished(target_, 3, {}));
  EXPECT_FALSE(part_file::is_finished(target_, 4, abc));
}

TEST_F(PartFile, IsTakenUpWithItsETagAndItsChecksum) {
  {
    auto part = open();
    ASSERT_TRUE(part.set_etag("\"e\""));
    ASSERT_TRUE(part.append(bytes("ab")));
  }
  auto part = open();
  EXPECT_EQ(part.size(), 2u);
  EXPECT_EQ(part.etag(), "\"e\"");
  ASSERT_TRUE(part.append(bytes("c")));
  EXPECT_TRUE(part.finish().value());
}

TEST_F(PartFile, OfAnotherFileIsBegunAgain) {
  ASSERT_TRUE(open(5).append(bytes("xyz")));
  EXPECT_EQ(open().size(), 0u);
}

TEST_F(PartFile, ThatIsTooLongIsBegunAgain) {
  open();
  std::ofstream(target_.string() + ".part") << "abcd";
  EXPECT_EQ(open().size(), 0u);
}

TEST_F(PartFile, WithWrongBytesIsNotFinished) {
  auto part = open();
  ASSERT_TRUE(part.append(bytes("abd")));
  EXPECT_FALSE(part.finish().value());
  EXPECT_FALSE(std::filesystem::exists(target_));
}

TEST_F(PartFile, RestartForgetsEveryByte) {
  auto part = open();
  ASSERT_TRUE(part.append(bytes("abd")));
  ASSERT_TRUE(part.restart());
  ASSERT_TRUE(part.append(bytes("abc")));
  EXPECT_TRUE(part.finish().value());
}

TEST_F(PartFile, AFolderThatIsMissingIsSaid) {
  const auto part = part_file::open(folder_ / "none" / "file", 3, abc);
  ASSERT_FALSE(part);
  EXPECT_EQ(part.error().code, fault::file_system);
}

}  // namespace
}  // namespace infer::hub
