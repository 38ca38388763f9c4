// Replays the fuzzer's corpus of model files: each must be read whole or refused with a sentence.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "tests/support/touch_gguf.h"

namespace infer::formats {
namespace {

std::vector<std::byte> read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::vector<char> text{std::istreambuf_iterator<char>(in), {}};
  std::vector<std::byte> bytes(text.size());
  std::ranges::transform(text, bytes.begin(), [](char letter) { return static_cast<std::byte>(letter); });
  return bytes;
}

TEST(GgufCorpus, IsReadOrRefused) {
  std::size_t sound = 0, refused = 0;
  for (const auto& entry : std::filesystem::directory_iterator("tests/fuzz/corpus/gguf")) {
    SCOPED_TRACE(entry.path().filename().string());
    (test_support::touch_gguf(read_file(entry.path())) != 0 ? sound : refused) += 1;
  }
  EXPECT_GE(sound, 5u) << "the corpus has sound files";
  EXPECT_GE(refused, 5u) << "the corpus has broken files";
}

TEST(GgufCorpus, EveryFlippedBitOfASoundFileIsReadOrRefused) {
  for (const char* name : {"every_key.gguf", "ranks.gguf", "aligned_v2.gguf"}) {
    auto bytes = read_file(std::filesystem::path("tests/fuzz/corpus/gguf") / name);
    ASSERT_NE(test_support::touch_gguf(bytes), 0u) << name;
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      for (unsigned bit = 0; bit < 8; ++bit) {
        bytes[at] ^= static_cast<std::byte>(1u << bit);
        test_support::touch_gguf(bytes);
        bytes[at] ^= static_cast<std::byte>(1u << bit);
      }
    }
  }
}

}  // namespace
}  // namespace infer::formats
