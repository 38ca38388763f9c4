// Writes small sound and broken model files as seeds: gguf_seeds FOLDER.
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/gguf_writer.h"
#include "tests/support/random_blocks.h"

namespace {

using infer::tensor_type;
using infer::test_support::gguf_writer;
using infer::test_support::random_blocks;

gguf_writer every_key() {
  gguf_writer writer;
  writer.add_key("u8", std::uint8_t{1}).add_key("i8", std::int8_t{-1}).add_key("u16", std::uint16_t{2});
  writer.add_key("i16", std::int16_t{-2}).add_key("u32", 3u).add_key("i32", -3).add_key("u64", std::uint64_t{4});
  writer.add_key("i64", std::int64_t{-4}).add_key("f32", 0.5f).add_key("f64", 0.25).add_key("bool", true);
  writer.add_key("text", "llama").add_key("texts", std::vector<std::string>{"a", "", "bc"});
  writer.add_key("u8s", std::vector<std::uint8_t>{1, 2}).add_key("i32s", std::vector<std::int32_t>{-1, 2});
  writer.add_key("f32s", std::vector<float>{1, 2}).add_key("f64s", std::vector<double>{1, 2});
  writer.add_key("bools", std::vector<bool>{true, false}).add_key("u64s", std::vector<std::uint64_t>{1});
  return writer;
}

gguf_writer every_type() {
  gguf_writer writer;
  writer.add_key("general.architecture", "llama");
  for (const tensor_type type :
       {tensor_type::f32, tensor_type::f16, tensor_type::bf16, tensor_type::q4_0, tensor_type::q4_1, tensor_type::q5_0,
        tensor_type::q8_0, tensor_type::q4_k, tensor_type::q6_k}) {
    const auto& info = infer::info_of(type);
    writer.add_tensor(info.name, type, {info.block_elements, 2}, random_blocks(type, 2, 1));
  }
  return writer;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fputs("usage: gguf_seeds FOLDER\n", stderr);
    return 2;
  }
  const std::filesystem::path folder = arguments[1];
  const std::vector<float> one{1};
  every_key().write(folder / "every_key.gguf");
  every_type().write(folder / "every_type.gguf");
  gguf_writer().write(folder / "nothing.gguf");
  gguf_writer().version(2).alignment(64).add_tensor("a", {1}, one).write(folder / "aligned_v2.gguf");
  gguf_writer().version(1).write(folder / "version_1.gguf");
  gguf_writer().add_tensor("a", {1}, one).add_tensor("b", {1, 1, 1, 1}, one).write(folder / "ranks.gguf");
  gguf_writer()
      .add_key("split.no", std::uint16_t{1})
      .add_key("split.count", std::uint16_t{2})
      .write(folder / "part.gguf");
  gguf_writer().claim_counts(1u << 20, 1u << 20).write(folder / "counts.gguf");
  gguf_writer().add_raw_tensor("t", 12, {256, std::uint64_t{1} << 62}, 32).write(folder / "overflow.gguf");
  gguf_writer().add_raw_tensor("t", 0, {8}, 1 << 20).write(folder / "offset.gguf");
  return 0;
}
