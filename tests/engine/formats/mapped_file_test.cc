// Mapping whole files.
#include "engine/formats/mapped_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>

#include "engine/formats/fault.h"
#include "tests/support/gguf_writer.h"
#include "tests/support/temporary_folder.h"

namespace infer::formats {
namespace {

using test_support::bytes_of;
using test_support::temporary_folder;
using ::testing::HasSubstr;

std::string text_of(byte_view bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(MappedFile, ShowsTheBytesOfTheFile) {
  const temporary_folder folder;
  test_support::write_bytes(folder / "f", bytes_of("hello"));
  auto opened = mapped_file::open(folder / "f");
  ASSERT_TRUE(opened);
  EXPECT_EQ(text_of(opened.value().bytes()), "hello");
}

TEST(MappedFile, MovesWithoutMovingTheBytes) {
  const temporary_folder folder;
  test_support::write_bytes(folder / "f", bytes_of("hello"));
  test_support::write_bytes(folder / "g", bytes_of("other"));
  mapped_file first = mapped_file::open(folder / "f").value();
  const std::byte* at = first.bytes().data();
  mapped_file second = std::move(first);
  EXPECT_EQ(second.bytes().data(), at);
  mapped_file third = mapped_file::open(folder / "g").value();
  third = std::move(second);
  EXPECT_EQ(text_of(third.bytes()), "hello");
}

TEST(MappedFile, AnEmptyFileHasNoBytes) {
  const temporary_folder folder;
  test_support::write_bytes(folder / "f", {});
  auto opened = mapped_file::open(folder / "f");
  ASSERT_TRUE(opened);
  EXPECT_TRUE(opened.value().bytes().empty());
}

TEST(MappedFile, SaysWhyItCannotOpen) {
  const temporary_folder folder;
  const auto missing = mapped_file::open(folder / "missing");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, fault::cannot_open);
  EXPECT_THAT(missing.error().message(), HasSubstr("missing: cannot be opened: No such file"));
  EXPECT_THAT(mapped_file::open(folder.path()).error().message(), HasSubstr("it is a folder"));
  EXPECT_THAT(mapped_file::open("/dev/null").error().message(), HasSubstr("not a regular file"));
}

TEST(MappedFile, DroppedPagesComeBackFromTheFile) {
  const temporary_folder folder;
  const std::string content(100'000, 'x');
  test_support::write_bytes(folder / "f", bytes_of(content));
  const mapped_file file = mapped_file::open(folder / "f").value();
  EXPECT_EQ(text_of(file.bytes()), content);
  const mapped_file other = mapped_file::open(folder / "f").value();
  file.drop(file.bytes().subspan(1));
  file.drop(file.bytes().subspan(10, 5));  // no whole page
  file.drop(other.bytes());                // of another mapping: left alone
  EXPECT_EQ(text_of(file.bytes()), content);
}

}  // namespace
}  // namespace infer::formats
