// Which files of a repository are taken.
#include "actors/loader/hub_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace infer::hub {
namespace {

std::string chosen(const std::string& text, std::vector<std::pair<std::string, std::uint64_t>> listing) {
  std::vector<hub_file> files;
  for (auto& [path, bytes] : listing) files.push_back({path, bytes, {}});
  const auto model = choose_files(parse_reference(text).value(), files);
  if (!model) return model.error().message();
  std::string out = model.value().tag + ":";
  for (const hub_file& f : model.value().files) out += " " + f.path;
  return out;
}

TEST(HubChoice, TheQuantizationIsReadFromTheName) {
  EXPECT_EQ(quant_of("Model-7B.Q4_K_M.gguf"), "Q4_K_M");
  EXPECT_EQ(quant_of("model-q4_0.gguf"), "Q4_0");
  EXPECT_EQ(quant_of("m-IQ3_XXS.gguf"), "IQ3_XXS");
  EXPECT_EQ(quant_of("m-UD-Q4_K_XL-00001-of-00002.gguf"), "UD-Q4_K_XL");
  EXPECT_EQ(quant_of("m-bf16.gguf"), "BF16");
  EXPECT_EQ(quant_of("UD-IQ2_M.gguf"), "UD-IQ2_M");
  EXPECT_EQ(quant_of("m-q4.gguf"), "Q4");
  EXPECT_EQ(quant_of("Q5_K_M.gguf"), "Q5_K_M");
  EXPECT_EQ(quant_of("m-q4x.gguf"), "");
  EXPECT_EQ(quant_of("m-IQ9_S.gguf"), "");
  EXPECT_EQ(quant_of("qwen-chat.gguf"), "");
  EXPECT_EQ(quant_of("model-Q4_0.bin"), "");
}

TEST(HubChoice, WithoutAQuantizationTheUsualOneElseTheNearest) {
  EXPECT_EQ(chosen("a/b", {{"m-Q4_0.gguf", 1}, {"m-Q4_K_M.gguf", 3}, {"m-Q2_K.gguf", 2}}), "Q4_K_M: m-Q4_K_M.gguf");
  EXPECT_EQ(chosen("a/b", {{"m-Q4_0.gguf", 9}, {"m-Q2_K.gguf", 2}}), "Q4_0: m-Q4_0.gguf");
  EXPECT_EQ(chosen("a/b", {{"m-Q8_0.gguf", 9}, {"m-Q6_K.gguf", 2}, {"m-F16.gguf", 20}}), "Q6_K: m-Q6_K.gguf");
  EXPECT_EQ(chosen("a/b", {{"m-Q8_0.gguf", 9}, {"m-Q2_K.gguf", 2}, {"m-Q3_K_M.gguf", 3}}), "Q8_0: m-Q8_0.gguf");
  EXPECT_EQ(chosen("a/b", {{"m-F32.gguf", 9}, {"m-fp16.gguf", 5}, {"plain.gguf", 9}}), "plain: plain.gguf");
  EXPECT_EQ(chosen("a/b", {{"m-UD-Q4_K_M.gguf", 1}, {"m-Q4_K_M.gguf", 3}}), "Q4_K_M: m-Q4_K_M.gguf");
  EXPECT_EQ(chosen("a/b", {{"plain.gguf", 9}}), "plain: plain.gguf");
}

TEST(HubChoice, ATagHasNoAtSinceWhatFollowsOneIsARevision) {
  EXPECT_EQ(chosen("a/b", {{"m@4bit.gguf", 1}}), "m--4bit: m@4bit.gguf");
  EXPECT_EQ(chosen("a/b:m--4bit", {{"m@4bit.gguf", 1}}), "m--4bit: m@4bit.gguf");
  EXPECT_EQ(chosen("a/b/m@4bit.gguf", {{"m@4bit.gguf", 1}, {"m--4bit.gguf", 1}}), "m--4bit--2: m@4bit.gguf");
  EXPECT_EQ(chosen("a/b/m--4bit.gguf", {{"m@4bit.gguf", 1}, {"m--4bit.gguf", 1}}), "m--4bit: m--4bit.gguf");
}

TEST(HubChoice, WhatCannotRunIsTakenOnlyByName) {
  const std::vector<std::pair<std::string, std::uint64_t>> all{
      {"m-IQ1_S.gguf", 1}, {"m-TQ1_0.gguf", 2},  {"m-IQ2_M.gguf", 3},    {"m-Q4_0_4_4.gguf", 4},
      {"m-NVFP4.gguf", 5}, {"m-IQ4_XS.gguf", 6}, {"m-UD-IQ3_M.gguf", 4}, {"m-F16.gguf", 30}};
  EXPECT_EQ(chosen("a/b", all), "IQ4_XS: m-IQ4_XS.gguf");
  EXPECT_EQ(chosen("a/b:iq1_s", all), "IQ1_S: m-IQ1_S.gguf");
  EXPECT_EQ(chosen("a/b", {{"m-IQ1_S.gguf", 1}, {"m-IQ2_M.gguf", 2}}),
            "a/b has only types that this program does not run: IQ1_S, IQ2_M; name one to fetch it all the same, like "
            "a/b:IQ1_S");
}

TEST(HubChoice, EveryModelHasAFolderOfItsOwn) {
  for (const char* const nameless : {".gguf", "c/.d-Q4_0.gguf", ".c/d-Q4_0.gguf", "c/.d/e-Q4_0.gguf",
                                     "-00001-of-00001.gguf", "c/-00001-of-00002.gguf"}) {
    EXPECT_EQ(chosen("a/b", {{nameless, 1}, {"m-Q8_0.gguf", 9}}), "Q8_0: m-Q8_0.gguf") << nameless;
    EXPECT_THAT(chosen("a/b", {{nameless, 1}}), testing::HasSubstr("has neither GGUF files nor safetensors"));
  }
  const std::vector<std::pair<std::string, std::uint64_t>> both{
      {"m-Q8_0.gguf", 8}, {"m-Q8_0-00001-of-00002.gguf", 5}, {"m-Q8_0-00002-of-00002.gguf", 5}};
  EXPECT_THAT(chosen("a/b", both), testing::EndsWith(": m-Q8_0.gguf"));
  EXPECT_THAT(chosen("a/b/m-Q8_0-00002-of-00002.gguf", both),
              testing::EndsWith(": m-Q8_0-00001-of-00002.gguf m-Q8_0-00002-of-00002.gguf"));
  const std::vector<std::pair<std::string, std::uint64_t>> alike{{"a--b.gguf", 1}, {"a/b.gguf", 2}, {"c/b.gguf", 3}};
  std::set<std::string> tags;
  for (const auto& [path, bytes] : alike) {
    const std::string text = chosen("o/n/" + path, alike);
    EXPECT_TRUE(tags.insert(text.substr(0, text.find(':'))).second) << text;
  }
}

TEST(HubChoice, TheFolderSaysWhatTheNameDoesNot) {
  const std::vector<std::pair<std::string, std::uint64_t>> two{{"Q4_K_M/model.gguf", 4}, {"m-Q8_0/model.gguf", 8}};
  EXPECT_EQ(chosen("a/b", two), "Q4_K_M: Q4_K_M/model.gguf");
  EXPECT_EQ(chosen("a/b:q8_0", two), "Q8_0: m-Q8_0/model.gguf");
  EXPECT_EQ(chosen("a/b/m-Q8_0/model.gguf", two), "Q8_0: m-Q8_0/model.gguf");
  EXPECT_EQ(chosen("a/b:UD-IQ1_M", {{"UD-IQ1_M/x/m-00001-of-00001.gguf", 4}}),
            "UD-IQ1_M: UD-IQ1_M/x/m-00001-of-00001.gguf");
}

TEST(HubChoice, ModelsOfOneNameAreToldApartByTheirFolders) {
  const std::vector<std::pair<std::string, std::uint64_t>> two{{"x/m-Q4_0.gguf", 1}, {"y/z/m-Q4_0.gguf", 1}};
  EXPECT_EQ(chosen("a/b/x/m-Q4_0.gguf", two), "x--m-Q4_0: x/m-Q4_0.gguf");
  EXPECT_EQ(chosen("a/b:y--z--m-Q4_0", two), "y--z--m-Q4_0: y/z/m-Q4_0.gguf");
  EXPECT_EQ(chosen("a/b:m-q4_0", two), "a/b has several models of type m-q4_0: name the file, like a/b/x/m-Q4_0.gguf");
}

TEST(HubChoice, ATypeOfANumberAlone) {
  EXPECT_EQ(chosen("a/b:q4", {{"m-q4.gguf", 1}, {"m-q8.gguf", 1}}), "Q4: m-q4.gguf");
}

TEST(HubChoice, ProjectorsAndImportanceMatricesAreNoModels) {
  EXPECT_EQ(chosen("a/b", {{"mmproj-m-Q8_0.gguf", 1}, {"m.imatrix.gguf", 1}, {"m-Q8_0.gguf", 3}}), "Q8_0: m-Q8_0.gguf");
  const std::vector<std::pair<std::string, std::uint64_t>> moon{{"moon-mmproj-f16.gguf", 1},
                                                                {"moon-text-model-f16.gguf", 3}};
  EXPECT_EQ(chosen("a/b", moon), "F16: moon-text-model-f16.gguf");
  EXPECT_EQ(chosen("a/b:F16", moon), "F16: moon-text-model-f16.gguf");
  EXPECT_EQ(chosen("a/b", {{"m.mmproj-Q8_0.gguf", 1}, {"mmproj/m-F16.gguf", 1}}),
            "a/b has neither GGUF files nor safetensors");
  EXPECT_EQ(chosen("a/b", {{"commproject-F16.gguf", 1}}), "F16: commproject-F16.gguf") << "a word, not a part of one";
}

TEST(HubChoice, PartsComeInOrderAndWhole) {
  EXPECT_EQ(chosen("a/b:q4_0", {{"x/m-Q4_0-00002-of-00002.gguf", 1}, {"x/m-Q4_0-00001-of-00002.gguf", 1}}),
            "Q4_0: x/m-Q4_0-00001-of-00002.gguf x/m-Q4_0-00002-of-00002.gguf");
  EXPECT_EQ(chosen("a/b", {{"m-Q4_0-00002-of-00002.gguf", 1}}), "a/b: m-Q4_0 has 1 of its 2 parts");
}

TEST(HubChoice, AFileIsTakenByItsName) {
  const std::vector<std::pair<std::string, std::uint64_t>> two{{"x-Q4_0.gguf", 1}, {"y-Q4_0.gguf", 1}};
  EXPECT_EQ(chosen("a/b/y-Q4_0.gguf", two), "y-Q4_0: y-Q4_0.gguf");
  EXPECT_EQ(chosen("a/b:Q4_0", two), "a/b has several models of type Q4_0: name the file, like a/b/x-Q4_0.gguf");
  EXPECT_EQ(chosen("a/b/z.gguf", two), "a/b has no file z.gguf; it has Q4_0, Q4_0");
}

TEST(HubChoice, AFolderOfSafetensors) {
  EXPECT_EQ(chosen("a/b", {{"config.json", 1},
                           {"model.safetensors", 1},
                           {"tokenizer.json", 1},
                           {"sub/model.safetensors", 1},
                           {"consolidated.safetensors", 1},
                           {"README.md", 1}}),
            "safetensors: config.json model.safetensors tokenizer.json");
  EXPECT_EQ(chosen("a/b", {{"config.json", 1}, {"weights.safetensors", 1}}),
            "safetensors: config.json weights.safetensors");
  EXPECT_EQ(chosen("a/b", {{"config.json", 1}, {"model.fp16.safetensors", 1}, {"model.safetensors", 1}}),
            "safetensors: config.json model.safetensors");
  EXPECT_EQ(chosen("a/b", {{"config.json", 1},
                           {"model-00001-of-00002.safetensors", 1},
                           {"model-00002-of-00002.safetensors", 1},
                           {"model.fp16-00001-of-00001.safetensors", 1},
                           {"model.safetensors.index.fp16.json", 1},
                           {"model.safetensors.index.json", 1}}),
            "safetensors: config.json model-00001-of-00002.safetensors model-00002-of-00002.safetensors "
            "model.safetensors.index.json");
  EXPECT_EQ(chosen("a/b", {{"config.json", 1}, {"model-1-of-2.safetensors", 1}, {"model.safetensors", 1}}),
            "safetensors: config.json model.safetensors");
  EXPECT_EQ(chosen("a/b:SafeTensors", {{"config.json", 1}, {"model.safetensors", 1}, {"m-Q4_0.gguf", 1}}),
            "safetensors: config.json model.safetensors");
  EXPECT_EQ(chosen("a/b:Q4_0", {{"config.json", 1}, {"model.safetensors", 1}}),
            "a/b has no GGUF file; name it without a quantization");
  EXPECT_EQ(chosen("a/b", {{"README.md", 1}}), "a/b has neither GGUF files nor safetensors");
}

}  // namespace
}  // namespace infer::hub
