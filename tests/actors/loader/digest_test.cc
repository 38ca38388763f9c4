// Checksums of files.
#include "actors/loader/digest.h"

#include <gtest/gtest.h>

namespace infer::hub {
namespace {

bool matches(const checksum& sum, std::string_view text, std::uint64_t bytes) {
  running_digest digest(sum, bytes);
  for (const char& c : text) digest.update(std::as_bytes(std::span(&c, 1)));
  return digest.matches();
}

TEST(Digest, SHA256) {
  const checksum abc{"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", ""};
  EXPECT_TRUE(matches(abc, "abc", 3));
  EXPECT_FALSE(matches(abc, "abd", 3));
  EXPECT_FALSE(matches(abc, "", 0));
}

TEST(Digest, GitBlobs) {
  const checksum hello{"", "ce013625030ba8dba906f756967f9e9ca394464a"};
  EXPECT_TRUE(matches(hello, "hello\n", 6));
  EXPECT_FALSE(matches(hello, "hello\n", 7));
  EXPECT_FALSE(matches(hello, "Hello\n", 6));
}

TEST(Digest, WhatIsNotStatedIsRight) {
  EXPECT_TRUE(matches({}, "anything", 8));
}

}  // namespace
}  // namespace infer::hub
