// What the file is instead of a model.
#include "engine/formats/foreign_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "engine/formats/gguf.h"
#include "tests/support/gguf_writer.h"

namespace infer::formats {
namespace {

using namespace std::string_view_literals;
using ::testing::HasSubstr;

/// The sentence, after checking that opening reports it as not a model.
std::string sentence(std::string_view bytes) {
  const auto parsed = gguf_file::from_memory(test_support::bytes_of(bytes));
  if (parsed) return "parsed";
  EXPECT_EQ(parsed.error().code, fault::not_a_model) << parsed.error().message();
  const std::string described = describe_foreign(test_support::bytes_of(bytes));
  EXPECT_THAT(parsed.error().message(), HasSubstr(described));
  return described;
}

TEST(ForeignFile, LfsPointer) {
  EXPECT_THAT(sentence("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 7\n"),
              HasSubstr("git-LFS pointer"));
}

TEST(ForeignFile, WebPage) {
  EXPECT_THAT(sentence("<!DOCTYPE html><html></html>"), HasSubstr("web page"));
  EXPECT_THAT(sentence("\n  <HTML lang=en>"), HasSubstr("web page"));
  EXPECT_THAT(sentence("<?xml version='1.0'?>"), HasSubstr("web page"));
}

TEST(ForeignFile, OldGgmlFiles) {
  for (const auto magic : {"lmgg", "ggml", "fmgg", "ggmf", "tjgg", "ggjt", "algg", "ggla"}) {
    EXPECT_THAT(sentence(std::string(magic) + std::string(20, '\1')), HasSubstr("old ggml file")) << magic;
  }
}

TEST(ForeignFile, BigEndianMagic) {
  EXPECT_THAT(sentence("FUGG\3\0\0\0"sv), HasSubstr("big-endian"));
}

TEST(ForeignFile, PyTorch) {
  EXPECT_THAT(sentence("PK\x03\x04 rest of the archive"), HasSubstr("zip archive"));
  EXPECT_THAT(sentence("\x80\x02\x8a\x0al\xfc"), HasSubstr("PyTorch checkpoint"));
}

TEST(ForeignFile, Safetensors) {
  const std::string_view file = "\x20\0\0\0\0\0\0\0{\"__metadata__\":{\"format\":\"pt\"}}   and data"sv;
  EXPECT_THAT(sentence(file), HasSubstr("safetensors"));
}

TEST(ForeignFile, ArchivesAndTexts) {
  EXPECT_THAT(sentence("\x1f\x8b\x08 rest"), HasSubstr("gzip"));
  EXPECT_THAT(sentence("\x28\xb5\x2f\xfd rest"), HasSubstr("zstd"));
  EXPECT_THAT(sentence("\xfd"
                       "7zXZ rest"),
              HasSubstr("xz archive"));
  EXPECT_THAT(sentence("7z\xbc\xaf rest"), HasSubstr("7z archive"));
  EXPECT_THAT(sentence("\x89HDF rest"), HasSubstr("HDF5"));
  EXPECT_THAT(sentence("{\"model_type\": \"llama\"}"), HasSubstr("JSON"));
}

TEST(ForeignFile, AnythingElseShowsItsFirstBytes) {
  EXPECT_THAT(sentence("\1\2\3\4\5"), HasSubstr("begins with the bytes 01 02 03 04"));
  EXPECT_THAT(sentence("x"), HasSubstr("begins with the bytes 78 instead"));
}

TEST(ForeignFile, WhatShouldHaveBeenSafetensors) {
  const auto of = [](std::string_view bytes) {
    return describe_foreign(test_support::bytes_of(bytes), wanted_format::safetensors);
  };
  EXPECT_EQ(
      of("\xff\xff\xff\xff\xff\xff\xff\x7f{\"a\""sv),
      "this is not a safetensors file, or a damaged one: it begins with the bytes ff ff ff ff ff ff ff 7f where the "
      "length of its header is expected; download it again");
  EXPECT_EQ(of("GGUF\3\0\0\0rest"sv), "this is a GGUF model, not a safetensors file; name it .gguf");
  EXPECT_THAT(of("PK\x03\x04 rest of the archive"), HasSubstr("a PyTorch checkpoint, not a safetensors file"));
  EXPECT_THAT(of("version https://git-lfs.github.com/spec/v1\n"), HasSubstr("git-LFS pointer"));
  EXPECT_THAT(of("{\"model_type\": \"llama\"}"), HasSubstr("a JSON text, not a safetensors file"));
}

TEST(ForeignFile, ShortFiles) {
  EXPECT_THAT(sentence(""), HasSubstr("is empty"));
  EXPECT_THAT(sentence("GG"), HasSubstr("ends inside its first four bytes"));
}

}  // namespace
}  // namespace infer::formats
