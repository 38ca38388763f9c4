// The text that `inspect` prints.
#include "engine/formats/describe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/formats/gguf.h"
#include "tests/support/gguf_writer.h"
#include "tests/support/random_blocks.h"

namespace infer::formats {
namespace {

using test_support::gguf_writer;
using ::testing::HasSubstr;
using ::testing::Not;

std::string described(const gguf_writer& writer, bool all_tensors) {
  const auto bytes = writer.build();
  auto file = gguf_file::from_memory(bytes);
  return file ? describe(file.value(), all_tensors) : file.error().message();
}

gguf_writer model(std::size_t tensors) {
  gguf_writer writer;
  writer.add_key("general.architecture", "llama").add_key("general.name", "tiny");
  writer.add_key("chat", std::string(500, 'x'))
      .add_key("tokens", std::vector<std::string>{"a", "b", "c", "d", "e", "f"});
  for (std::size_t i = 0; i < tensors; ++i) {
    writer.add_tensor("blk." + std::to_string(i), {32, 40}, std::vector<float>(32 * 40));
  }
  writer.add_tensor("q", tensor_type::q8_0, {32}, test_support::random_blocks(tensor_type::q8_0, 1, 1));
  return writer;
}

TEST(Describe, SummarizesTheFile) {
  const std::string text = described(model(2), false);
  EXPECT_THAT(text, HasSubstr("format        GGUF version 3, "));
  EXPECT_THAT(text, HasSubstr("architecture  \"llama\"\n"));
  EXPECT_THAT(text, HasSubstr("name          \"tiny\"\n"));
  EXPECT_THAT(text, HasSubstr("tensors       3, 2,592 parameters, 10.0 KiB\n"));
  EXPECT_THAT(text, HasSubstr("keys (4)\n"));
  EXPECT_THAT(text, HasSubstr("  tokens                6 strings: \"a\", \"b\", \"c\", \"d\", \"e\", …\n"));
  EXPECT_THAT(text, Not(HasSubstr(std::string(80, 'x'))));
  EXPECT_THAT(text, HasSubstr("  F32           2 tensors   10.0 KiB   99.7 %\n"));
  EXPECT_THAT(text, HasSubstr("  Q8_0          1 tensor        34 B    0.3 %\n"));
  EXPECT_THAT(text, HasSubstr("  blk.1  F32     [32, 40]   5.00 KiB\n"));
  EXPECT_THAT(text, HasSubstr("  q      Q8_0    [32]"));
}

TEST(Describe, ShortensTheTensorTableUnlessAskedForAll) {
  const std::string text = described(model(20), false);
  EXPECT_THAT(text, HasSubstr("  and 9 more\n"));
  EXPECT_THAT(text, Not(HasSubstr("blk.19")));
  const std::string all = described(model(20), true);
  EXPECT_THAT(all, HasSubstr("blk.19"));
  EXPECT_THAT(all, Not(HasSubstr(" more\n")));
}

TEST(Describe, EscapesNamesFromTheFile) {
  EXPECT_THAT(described(gguf_writer().add_key("a\x1b[2J", true), true), HasSubstr("a\\x1b[2J"));
}

}  // namespace
}  // namespace infer::formats
