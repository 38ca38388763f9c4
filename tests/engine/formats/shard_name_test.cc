// Names of the parts of a split model.
#include "engine/formats/shard_name.h"

#include <gtest/gtest.h>

namespace infer::formats {
namespace {

TEST(ShardName, TakesNamesApart) {
  const auto name = parse_shard_name("Qwen3-8B-Q4_K_M-00002-of-00013.gguf");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->prefix, "Qwen3-8B-Q4_K_M");
  EXPECT_EQ(name->number, 2u);
  EXPECT_EQ(name->count, 13u);
  EXPECT_EQ(name->text(), "Qwen3-8B-Q4_K_M-00002-of-00013.gguf");
  EXPECT_EQ(name->with_number(1).text(), "Qwen3-8B-Q4_K_M-00001-of-00013.gguf");
}

TEST(ShardName, OtherFormatsHaveAnotherEnding) {
  const auto name = parse_shard_name("model-00002-of-00013.safetensors", ".safetensors");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->prefix, "model");
  EXPECT_EQ(name->count, 13u);
  EXPECT_FALSE(parse_shard_name("model-00002-of-00013.gguf", ".safetensors"));
}

TEST(ShardName, RefusesOtherNames) {
  for (const auto* name : {"model.gguf", "model-0001-of-00003.gguf", "model-00001-of-00003.bin", "00001-of-00003.gguf",
                           "model-00000-of-00003.gguf", "model-00004-of-00003.gguf", "model-0000x-of-00003.gguf",
                           "model-00001_of_00003.gguf", "model-00001-of-+0003.gguf", ""}) {
    EXPECT_FALSE(parse_shard_name(name)) << name;
  }
}

TEST(ShardName, ThePrefixMayBeEmpty) {
  const auto name = parse_shard_name("-00001-of-00002.gguf");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->prefix, "");
}

}  // namespace
}  // namespace infer::formats
