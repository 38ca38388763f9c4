// Real vocabularies, string by string, against ids of other implementations. Needs the folder that INFER_VOCABULARIES
// names (`./dev vocabularies` fetches it) and the model files of INFER_TEST_MODEL and INFER_TEST_MODEL_2.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <sstream>

#include "engine/formats/gguf.h"
#include "engine/tokenize/detokenizer.h"
#include "engine/tokenize/tokenizer.h"
#include "engine/tokenize/tokenizer_json.h"
#include "tests/golden/vocabularies/hashes.h"

namespace infer::tokenize {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t fewest_strings = 5000;
constexpr std::size_t shown_differences = 5;

std::shared_ptr<const tokenizer> from_json(const fs::path& folder) {
  const std::string text = read_whole(folder / "tokenizer.json");
  const auto file = read_tokenizer_json(text);
  EXPECT_TRUE(file) << (file ? "" : file.error().message());
  if (!file) return nullptr;
  auto made = tokenizer::make(file.value().data);
  EXPECT_TRUE(made) << (made ? "" : made.error().message());
  return made ? made.value() : nullptr;
}

result<std::shared_ptr<const tokenizer>> from_gguf(const fs::path& path) {
  INFER_TRY(auto file, formats::gguf_file::open(path));
  INFER_TRY(const auto data, read_vocabulary(file.keys()));
  return tokenizer::make(data);
}

std::string streamed(const tokenizer& with, const std::vector<token_id>& ids) {
  detokenizer stream;
  std::string text;
  for (const token_id id : ids) text += stream.push(with.bytes_of(id));
  return text + stream.flush();
}

std::vector<token_id> ids_of(const std::string& line) {
  std::istringstream in(line);
  return {std::istream_iterator<token_id>(in), {}};
}

/// Compares with tests/golden/vocabularies/NAME.hashes, but for strings that hold `without`.
void compare(const std::string& name, const tokenizer& with, std::string_view without = "") {
  const fs::path golden = "tests/golden/vocabularies";
  const auto lines = read_lines(golden / (name + ".hashes"));
  auto strings = shared_strings();
  for (const std::string& line : read_lines(golden / (name + ".strings"))) {
    const auto text = boost::json::parse(line).as_string();
    strings.emplace_back(text.data(), text.size());
  }
  ASSERT_EQ(lines.size(), strings.size() + 1) << name;
  std::size_t differences = 0, compared = 0;
  for (std::size_t i = 0; i < strings.size(); ++i) {
    if (!without.empty() && strings[i].find(without) != std::string::npos) continue;
    ++compared;
    const auto ids = with.encode(strings[i], true);
    const std::string text = with.decode(ids, false);
    std::string line = shown(hash_of(ids));
    if (text != strings[i]) line += " " + shown(fnv(text));
    if (line != lines[i + 1] && ++differences <= shown_differences) {
      std::string pieces;
      for (const token_id id : ids) pieces += std::to_string(id) + "'" + std::string(with.bytes_of(id)) + "' ";
      ADD_FAILURE() << name << " string " << i << " " << boost::json::serialize(boost::json::string(strings[i]))
                    << "\nexpected " << lines[i + 1] << ", has " << line << "\n"
                    << pieces;
    }
    EXPECT_TRUE(streamed(with, ids).ends_with(text)) << name << " string " << i;
  }
  EXPECT_EQ(differences, 0u) << name << ": of " << compared << " strings";
  EXPECT_GE(compared, fewest_strings) << name;
  std::cout << name << ": " << compared << " strings\n";
}

class vocabularies : public testing::Test {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("INFER_VOCABULARIES");
    if (folder == nullptr) GTEST_SKIP() << "INFER_VOCABULARIES does not name the folder of vocabularies";
    folder_ = folder;
  }
  fs::path folder_;
};

TEST_F(vocabularies, every_tokenizer_json_gives_the_ids_of_its_makers_library) {
  for (const char* name : {"deepseek_v3", "gemma3", "gptoss", "llama3", "qwen3"}) {
    const auto made = from_json(folder_ / name);
    ASSERT_NE(made, nullptr) << name;
    compare(name, *made);
    const auto frame = boost::json::parse(read_lines("tests/golden/vocabularies/" + std::string(name) + ".hashes")[0]);
    const auto framed = made->encode("x", true, {.add_special = true}), plain = made->encode("x", true);
    boost::json::array before, after;
    for (std::size_t i = 0; i < frame.at(0).as_array().size() && i < framed.size(); ++i) before.push_back(framed[i]);
    for (std::size_t i = before.size() + plain.size(); i < framed.size(); ++i) after.push_back(framed[i]);
    EXPECT_EQ(frame, (boost::json::array{before, after})) << name;
  }
}

TEST_F(vocabularies, every_gguf_vocabulary_gives_the_ids_that_come_with_it) {
  std::map<std::string, std::string> refused;
  std::size_t compared = 0;
  for (const auto& entry : fs::directory_iterator(folder_ / "gguf")) {
    if (entry.path().extension() != ".gguf" || !fs::exists(entry.path().string() + ".inp")) continue;
    const std::string name = entry.path().stem().string();
    const auto made = from_gguf(entry.path());
    if (!made) {
      refused[name] = made.error().message();
      continue;
    }
    const std::string inputs = read_whole(entry.path().string() + ".inp");
    const auto outputs = read_lines(entry.path().string() + ".out");
    constexpr std::string_view border = "\n__ggml_vocab_test__\n";
    std::size_t number = 0;
    for (std::size_t at = 0; at < inputs.size() && number < outputs.size(); ++number) {
      const std::size_t end = std::min(inputs.find(border, at), inputs.size());
      const auto ids = made.value()->encode(std::string_view(inputs).substr(at, end - at), false);
      EXPECT_EQ(ids, ids_of(outputs[number])) << name << ": '" << inputs.substr(at, end - at) << "'";
      at = end + border.size();
    }
    EXPECT_GT(number, 30u) << name;
    compared += number;
  }
  for (const auto& [name, why] : refused) {
    EXPECT_TRUE(name == "ggml-vocab-bert-bge") << name << ": " << why;  // its algorithm is none of ours
  }
  EXPECT_GT(compared, 500u);
  std::cout << compared << " strings\n";
}

TEST(model_vocabularies, the_two_model_files_give_the_ids_of_another_library) {
  const auto check = [](const char* name, const char* path, std::string_view without) {
    const auto made = from_gguf(path);
    ASSERT_TRUE(made) << made.error().message();
    compare(name, *made.value(), without);
  };
  const char *first = std::getenv("INFER_TEST_MODEL"), *second = std::getenv("INFER_TEST_MODEL_2");
  if (first == nullptr || second == nullptr)
    GTEST_SKIP() << "INFER_TEST_MODEL and INFER_TEST_MODEL_2 do not name model files";
  check("smollm2", first, "");
  // A model file writes the runs of U+2581 among its tokens as spaces, and finds them only so.
  check("gemma3", second, "\xE2\x96\x81");
}

}  // namespace
}  // namespace infer::tokenize
