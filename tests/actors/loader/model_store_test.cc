// The folder of fetched models.
#include "actors/loader/model_store.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "actors/loader/hub_choice.h"
#include "tests/support/temporary_folder.h"

namespace infer::hub {
namespace {

struct ModelStore : testing::Test {
  void put(const char* text, const char* tag, bool is_gguf, std::vector<hub_file> files) {
    const reference of = parse_reference(text).value();
    const auto folder = folder_of(folder_.path(), of, tag);
    std::filesystem::create_directories(folder);
    std::ofstream(folder / manifest_name) << manifest_text(of, {tag, is_gguf, std::move(files), {}});
  }
  std::string found(const char* text) {
    const auto model = find_model(folder_.path(), text);
    return model ? model->name : "none";
  }

  test_support::temporary_folder folder_;
};

TEST_F(ModelStore, ListsByNameWithWhatAModelIsOpenedBy) {
  put("a/b", "safetensors", false, {{"config.json", 10, {}}, {"model.safetensors", 90, {}}});
  put("a/a", "Q4_0", true, {{"x/m-00001-of-00002.gguf", 5, {}}, {"x/m-00002-of-00002.gguf", 6, {}}});
  std::filesystem::create_directories(folder_ / "a/c/empty");
  const auto models = list_models(folder_.path());
  ASSERT_EQ(models.size(), 2u);
  EXPECT_EQ(models[0].name, "a/a:Q4_0");
  EXPECT_EQ(models[0].format, "GGUF");
  EXPECT_EQ(models[0].bytes, 11u);
  EXPECT_EQ(models[0].path, folder_ / "a/a/Q4_0/m-00001-of-00002.gguf");
  EXPECT_EQ(models[1].name, "a/b");
  EXPECT_EQ(models[1].path, folder_ / "a/b/safetensors");
  EXPECT_EQ(models[1].bytes, 100u);
  EXPECT_TRUE(list_models(folder_ / "nothing").empty());
  std::filesystem::create_directories(folder_ / "a/c/strange" / manifest_name);
  EXPECT_EQ(list_models(folder_.path()).size(), 2u) << "a folder is no manifest";
  for (const stored_model& model : models) EXPECT_EQ(stored_at(model.path).value().name, model.name);
  EXPECT_FALSE(stored_at(folder_ / "a/c/empty/m.gguf"));
}

TEST_F(ModelStore, FindsWhatAReferenceMeans) {
  put("a/b", "Q8_0", true, {{"m-Q8_0.gguf", 9, {}}});
  put("a/b", "Q6_K", true, {{"m-Q6_K.gguf", 7, {}}});
  EXPECT_EQ(found("a/b"), "a/b:Q6_K") << "the nearer to four bits";
  put("a/b", "IQ1_S", true, {{"m-IQ1_S.gguf", 1, {}}});
  put("a/b", "old-Q2_K", true, {{"old-Q2_K.gguf", 1, {}}});
  EXPECT_EQ(found("a/b"), "a/b:Q6_K") << "not one that cannot run, and not one of two bits";
  put("a/b", "Q4_0", true, {{"m-Q4_0.gguf", 20, {}}});
  EXPECT_EQ(found("a/b"), "a/b:Q4_0") << "the usual";
  EXPECT_EQ(found("hf:a/b:q8_0"), "a/b:Q8_0");
  EXPECT_EQ(found("a/b/m-Q6_K.gguf"), "a/b:Q6_K");
  put("a/b@v1", "Q4_K_M", true, {{"m-Q4_K_M.gguf", 1, {}}});
  EXPECT_EQ(found("a/b"), "a/b:Q4_0") << "not another revision";
  EXPECT_EQ(found("a/b@v1"), "a/b:Q4_K_M@v1");
  for (const char* text : {"a/b:Q5_0", "a/bb", "a/b@v2", "nothing", "a/b/other.gguf"}) EXPECT_EQ(found(text), "none");
}

TEST_F(ModelStore, FilesOfOneNameAreFoundByTheirPaths) {
  put("a/b", "Q4_K_M", true, {{"Q4_K_M/model.gguf", 4, {}}});
  put("a/b", "Q8_0", true, {{"Q8_0/model.gguf", 8, {}}});
  EXPECT_EQ(found("a/b/Q8_0/model.gguf"), "a/b:Q8_0");
  EXPECT_EQ(found("a/b/Q4_K_M/model.gguf"), "a/b:Q4_K_M");
  EXPECT_EQ(found("a/b/model.gguf"), "none");
}

TEST_F(ModelStore, AFileWithAnAtInItsNameIsFound) {
  const std::vector<hub_file> files{{"m@4bit.gguf", 4, {}}};
  const std::string tag = choose_files(parse_reference("o/n").value(), files).value().tag;
  put("o/n", tag.c_str(), true, files);
  EXPECT_EQ(found("o/n"), "o/n:m--4bit");
  EXPECT_EQ(found("o/n:m--4bit"), "o/n:m--4bit");
  EXPECT_EQ(found("o/n/m@4bit.gguf"), "o/n:m--4bit");
}

TEST_F(ModelStore, TheFolderIsTheGivenOneElseThatOfTheEnvironment) {
  EXPECT_EQ(models_folder("given"), "given");
  setenv("INFER_MODELS", "of-environment", 1);
  EXPECT_EQ(models_folder(), "of-environment");
  unsetenv("INFER_MODELS");
  setenv("XDG_DATA_HOME", "/data", 1);
  EXPECT_EQ(models_folder(), "/data/infer-node/models");
}

}  // namespace
}  // namespace infer::hub
