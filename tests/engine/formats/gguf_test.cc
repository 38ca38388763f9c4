// Opening model files: single, split, in memory, and the data behind the tensor table.
#include "engine/formats/gguf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/gguf_writer.h"
#include "tests/support/random_blocks.h"
#include "tests/support/temporary_folder.h"

namespace infer::formats {
namespace {

using test_support::bytes_of;
using test_support::gguf_writer;
using test_support::temporary_folder;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<float> floats(std::size_t count, float first) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = first + static_cast<float>(i);
  return values;
}

gguf_writer small_model() {
  gguf_writer writer;
  writer.add_key("general.architecture", "llama").add_key("llama.block_count", 2u);
  writer.add_tensor("a", {3}, floats(3, 1)).add_tensor("b", {2, 2}, floats(4, 10)).add_tensor("c", {1}, floats(1, 20));
  return writer;
}

float first_float(const gguf_file& file, std::string_view name) {
  const tensor_info* tensor = file.find(name);
  return tensor == nullptr ? -1.0f : load_le<float>(file.data(*tensor).data());
}

TEST(GgufFile, ReadsKeysTensorsAndData) {
  const temporary_folder folder;
  small_model().write(folder / "model.gguf");
  auto opened = gguf_file::open(folder / "model.gguf");
  ASSERT_TRUE(opened) << opened.error().message();
  const gguf_file file = std::move(opened).value();
  EXPECT_EQ(file.version(), 3u);
  EXPECT_EQ(file.parts(), 1u);
  EXPECT_EQ(file.file_bytes(), std::filesystem::file_size(folder / "model.gguf"));
  EXPECT_EQ(file.keys().text("general.architecture").value(), "llama");
  EXPECT_EQ(file.keys().count("llama.block_count").value(), 2u);
  ASSERT_EQ(file.tensors().size(), 3u);
  const tensor_info& b = file.tensors()[1];
  EXPECT_EQ(b.name, "b");
  EXPECT_EQ(b.rank, 2u);
  EXPECT_THAT(b.shape, ElementsAre(2, 2, 1, 1));
  EXPECT_EQ(b.elements(), 4u);
  EXPECT_EQ(b.bytes, 16u);
  EXPECT_EQ(b.offset % 32, 0u);
  const auto expected = floats(4, 10);
  EXPECT_EQ(std::memcmp(file.data(b).data(), expected.data(), 16), 0);
  EXPECT_EQ(file.find("b"), &b);
  EXPECT_EQ(file.find("nothing"), nullptr);
}

TEST(GgufFile, ReadsVersionTwoOtherAlignmentsAndQuantizedTensors) {
  const temporary_folder folder;
  const auto blocks = test_support::random_blocks(tensor_type::q6_k, 6, 1);
  gguf_writer writer;
  writer.version(2).alignment(128).add_key("general.architecture", "llama");
  writer.add_tensor("x", {1}, floats(1, 5)).add_tensor("q", tensor_type::q6_k, {512, 3}, blocks);
  writer.write(folder / "model.gguf");
  auto opened = gguf_file::open(folder / "model.gguf");
  ASSERT_TRUE(opened) << opened.error().message();
  const gguf_file& file = opened.value();
  EXPECT_EQ(file.version(), 2u);
  const tensor_info* q = file.find("q");
  ASSERT_NE(q, nullptr);
  EXPECT_EQ(q->bytes, 6u * 210u);
  EXPECT_EQ(q->offset % 128, 0u);
  const byte_view data = file.data(*q);
  EXPECT_TRUE(std::ranges::equal(data, blocks));
}

TEST(GgufFile, ReadsFromMemory) {
  const auto bytes = small_model().build();
  auto parsed = gguf_file::from_memory(bytes);
  ASSERT_TRUE(parsed) << parsed.error().message();
  EXPECT_EQ(first_float(parsed.value(), "c"), 20.0f);
  EXPECT_EQ(parsed.value().data(*parsed.value().find("a")).data(), bytes.data() + parsed.value().find("a")->offset);
}

TEST(GgufFile, ViewsStayValidWhenTheFileMoves) {
  const temporary_folder folder;
  small_model().write(folder / "model.gguf");
  auto opened = gguf_file::open(folder / "model.gguf");
  ASSERT_TRUE(opened);
  gguf_file first = std::move(opened).value();
  const tensor_info* b = first.find("b");
  const byte_view data = first.data(*b);
  gguf_file second = std::move(first);
  EXPECT_EQ(second.find("b"), b);
  EXPECT_EQ(second.data(*b).data(), data.data());
  EXPECT_EQ(b->name, "b");
}

TEST(GgufFile, ReleasedTensorsCanBeReadAgain) {
  const temporary_folder folder;
  gguf_writer writer;
  const auto values = floats(64 * 1024, 0);
  writer.add_tensor("before", {3}, floats(3, 7)).add_tensor("big", {1024, 64}, values);
  writer.add_tensor("after", {3}, floats(3, 9));
  writer.write(folder / "model.gguf");
  auto opened = gguf_file::open(folder / "model.gguf");
  ASSERT_TRUE(opened);
  const gguf_file& file = opened.value();
  file.release(file.data(*file.find("big")));
  EXPECT_EQ(std::memcmp(file.data(*file.find("big")).data(), values.data(), values.size() * sizeof(float)), 0);
  EXPECT_EQ(first_float(file, "before"), 7.0f);
  EXPECT_EQ(first_float(file, "after"), 9.0f);
  const auto bytes = writer.build();
  auto in_memory = gguf_file::from_memory(bytes);
  ASSERT_TRUE(in_memory);
  in_memory.value().release(in_memory.value().data(*in_memory.value().find("big")));
  EXPECT_EQ(first_float(in_memory.value(), "big"), 0.0f);
}

TEST(GgufFile, NamesWhatCannotBeOpened) {
  const temporary_folder folder;
  const auto missing = gguf_file::open(folder / "absent.gguf");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, fault::cannot_open);
  EXPECT_THAT(missing.error().message(), AllOf(HasSubstr("absent.gguf"), HasSubstr("No such file")));
  const auto is_folder = gguf_file::open(folder.path());
  ASSERT_FALSE(is_folder);
  EXPECT_EQ(is_folder.error().code, fault::cannot_open);
  EXPECT_THAT(is_folder.error().message(), HasSubstr("it is a folder"));
  test_support::write_bytes(folder / "empty.gguf", {});
  const auto empty = gguf_file::open(folder / "empty.gguf");
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().code, fault::not_a_model);
  EXPECT_THAT(empty.error().message(), AllOf(HasSubstr("empty.gguf"), HasSubstr("is empty")));
}

TEST(SplitModel, PartsActAsOne) {
  const temporary_folder folder;
  const auto paths = small_model().write_split(folder.path(), "model", 3);
  ASSERT_EQ(paths[0].filename(), "model-00001-of-00003.gguf");
  auto opened = gguf_file::open(paths[0]);
  ASSERT_TRUE(opened) << opened.error().message();
  const gguf_file& file = opened.value();
  EXPECT_EQ(file.parts(), 3u);
  ASSERT_EQ(file.tensors().size(), 3u);
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_EQ(file.tensors()[i].shard, i);
  EXPECT_EQ(first_float(file, "a"), 1.0f);
  EXPECT_EQ(first_float(file, "b"), 10.0f);
  EXPECT_EQ(first_float(file, "c"), 20.0f);
  EXPECT_EQ(file.keys().text("general.architecture").value(), "llama");
  std::uint64_t bytes = 0;
  for (const auto& path : paths) bytes += std::filesystem::file_size(path);
  EXPECT_EQ(file.file_bytes(), bytes);
}

TEST(SplitModel, OtherPartsNameTheFirst) {
  const temporary_folder folder;
  const auto paths = small_model().write_split(folder.path(), "model", 3);
  const auto opened = gguf_file::open(paths[1]);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message(), AllOf(HasSubstr("part 2 of 3"), HasSubstr("model-00001-of-00003.gguf")));
}

TEST(SplitModel, AMissingPartIsNamed) {
  const temporary_folder folder;
  const auto paths = small_model().write_split(folder.path(), "model", 3);
  std::filesystem::remove(paths[2]);
  const auto opened = gguf_file::open(paths[0]);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, fault::missing_shard);
  EXPECT_THAT(opened.error().message(), AllOf(HasSubstr("model-00003-of-00003.gguf"), HasSubstr("missing")));
}

TEST(SplitModel, ARenamedPartIsRefused) {
  const temporary_folder folder;
  const auto paths = small_model().write_split(folder.path(), "model", 2);
  std::filesystem::rename(paths[0], folder / "renamed.gguf");
  const auto opened = gguf_file::open(folder / "renamed.gguf");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, fault::malformed);
  EXPECT_THAT(opened.error().message(), AllOf(HasSubstr("part 1 of 2"), HasSubstr("-00001-of-00002.gguf")));
}

TEST(SplitModel, SwappedPartsAreRefused) {
  const temporary_folder folder;
  const auto paths = small_model().write_split(folder.path(), "model", 3);
  std::filesystem::rename(paths[1], folder / "held");
  std::filesystem::rename(paths[2], paths[1]);
  std::filesystem::rename(folder / "held", paths[2]);
  const auto opened = gguf_file::open(paths[0]);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, fault::malformed);
  EXPECT_THAT(opened.error().message(), AllOf(HasSubstr("model-00002-of-00003.gguf"), HasSubstr("split.no")));
}

TEST(SplitModel, APartOfAnotherSplitIsRefused) {
  const temporary_folder folder;
  const auto paths = small_model().write_split(folder.path(), "model", 2);
  const auto others = small_model().write_split(folder.path(), "other", 3);
  std::filesystem::copy_file(others[1], paths[1], std::filesystem::copy_options::overwrite_existing);
  const auto opened = gguf_file::open(paths[0]);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message(), HasSubstr("split.count"));
}

TEST(SplitModel, TheTensorCountIsChecked) {
  const temporary_folder folder;
  const auto paths = small_model().write_split(folder.path(), "model", 2);
  gguf_writer part;
  part.add_key("split.no", std::uint16_t{1}).add_key("split.count", std::uint16_t{2});
  part.add_tensor("only", {1}, floats(1, 0));
  part.write(paths[1]);
  const auto opened = gguf_file::open(paths[0]);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message(), HasSubstr("split.tensors.count promises 3 tensors, but the parts hold 2"));
}

TEST(SplitModel, ATensorInTwoPartsIsRefused) {
  const temporary_folder folder;
  const auto paths = small_model().write_split(folder.path(), "model", 2);
  gguf_writer part;
  part.add_key("split.no", std::uint16_t{1}).add_key("split.count", std::uint16_t{2});
  part.add_tensor("a", {1}, floats(1, 0)).add_tensor("z", {1}, floats(1, 0));
  part.write(paths[1]);
  const auto opened = gguf_file::open(paths[0]);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message(), AllOf(HasSubstr("\"a\""), HasSubstr("earlier part")));
}

TEST(SplitModel, ADamagedPartNamesItself) {
  const temporary_folder folder;
  const auto paths = small_model().write_split(folder.path(), "model", 2);
  test_support::write_bytes(paths[1], bytes_of("GGUF"));
  const auto opened = gguf_file::open(paths[0]);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, fault::truncated);
  EXPECT_THAT(opened.error().message(), HasSubstr("model-00002-of-00002.gguf"));
}

TEST(SplitModel, KeysOfTheWrongTypeNameTheFile) {
  const temporary_folder folder;
  gguf_writer writer;
  writer.add_key("split.count", "two");
  writer.write(folder / "model.gguf");
  const auto opened = gguf_file::open(folder / "model.gguf");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, fault::wrong_type);
  EXPECT_THAT(opened.error().message(), AllOf(HasSubstr("model.gguf"), HasSubstr("split.count"), HasSubstr("\"two\"")));
}

TEST(SplitModel, ASplitOfOneIsASingleFile) {
  const temporary_folder folder;
  gguf_writer writer = small_model();
  writer.add_key("split.no", std::uint16_t{0}).add_key("split.count", std::uint16_t{1});
  writer.write(folder / "any name.gguf");
  EXPECT_TRUE(gguf_file::open(folder / "any name.gguf"));
}

TEST(SplitModel, MemoryHoldsOnlySingleFiles) {
  gguf_writer writer;
  writer.add_key("split.no", std::uint16_t{0}).add_key("split.count", std::uint16_t{2});
  const auto bytes = writer.build();
  const auto parsed = gguf_file::from_memory(bytes);
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().code, fault::unsupported);
}

/// Facts about SmolLM2-135M-Instruct in Q4_1, as gguf-py reads them.
TEST(RealModel, SmolLm2HasItsKnownFacts) {
  const char* path = std::getenv("INFER_TEST_MODEL");
  if (path == nullptr || *path == '\0') {
    GTEST_SKIP() << "SKIPPED: set INFER_TEST_MODEL to SmolLM2-135M-Instruct.Q4_1.gguf to check a real model file";
  }
  auto opened = gguf_file::open(path);
  ASSERT_TRUE(opened) << opened.error().message();
  const gguf_file& file = opened.value();
  EXPECT_EQ(file.version(), 3u);
  EXPECT_EQ(file.file_bytes(), 98362432u);
  EXPECT_EQ(file.tensors().size(), 272u);
  EXPECT_EQ(file.keys().text("general.architecture").value(), "llama");
  EXPECT_EQ(file.keys().count("llama.block_count").value(), 30u);
  EXPECT_EQ(file.keys().count("llama.embedding_length").value(), 576u);
  EXPECT_EQ(file.keys().texts("tokenizer.ggml.tokens").value().size(), 49152u);
  const tensor_info* embedding = file.find("token_embd.weight");
  ASSERT_NE(embedding, nullptr);
  EXPECT_THAT(embedding->shape, ElementsAre(576, 49152, 1, 1));
}

}  // namespace
}  // namespace infer::formats
