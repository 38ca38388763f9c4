// SmolLM2's real vocabulary against ids from another implementation. Needs the model file that INFER_TEST_MODEL names.
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "engine/formats/gguf.h"
#include "engine/tokenize/detokenizer.h"
#include "engine/tokenize/tokenizer.h"

namespace infer::tokenize {
namespace {

std::vector<token_id> ids_of(const boost::json::value& value) {
  std::vector<token_id> ids;
  for (const auto& id : value.as_array()) ids.push_back(static_cast<token_id>(id.as_int64()));
  return ids;
}

class tokenizer_golden : public testing::Test {
 protected:
  void SetUp() override {
    const char* path = std::getenv("INFER_TEST_MODEL");
    if (path == nullptr) GTEST_SKIP() << "INFER_TEST_MODEL does not name SmolLM2-135M-Instruct.Q4_1.gguf";
    auto file = formats::gguf_file::open(path);
    ASSERT_TRUE(file) << file.error().message();
    const auto data = read_vocabulary(file.value().keys());
    ASSERT_TRUE(data) << data.error().message();
    auto made = tokenizer::make(data.value());
    ASSERT_TRUE(made) << made.error().message();
    model_ = std::move(made).value();
  }

  std::shared_ptr<const tokenizer> model_;
};

TEST_F(tokenizer_golden, every_string_of_every_class_gives_the_same_ids) {
  std::size_t classes = 0;
  for (const auto& entry : std::filesystem::directory_iterator("tests/golden/tokenizer")) {
    std::ifstream lines(entry.path());
    std::size_t strings = 0;
    for (std::string line; std::getline(lines, line); ++strings) {
      const auto row = boost::json::parse(line).as_object();
      const auto& text = row.at("t").as_string();
      const auto plain = ids_of(row.at("p"));
      EXPECT_EQ(model_->encode(text, false), plain) << entry.path() << line;
      EXPECT_EQ(model_->encode(text, true), row.contains("s") ? ids_of(row.at("s")) : plain) << entry.path() << line;
    }
    EXPECT_EQ(strings, 400u) << entry.path();
    ++classes;
  }
  EXPECT_EQ(classes, 12u);
}

TEST_F(tokenizer_golden, the_streamed_text_equals_the_decoded_whole) {
  std::ifstream lines("tests/golden/tokenizer/mixed.jsonl");
  for (std::string line; std::getline(lines, line);) {
    const auto ids = ids_of(boost::json::parse(line).at("p"));
    detokenizer stream;
    std::string text;
    for (const token_id id : ids) text += stream.push(model_->bytes_of(id));
    text += stream.flush();
    EXPECT_EQ(text, model_->decode(ids, false));
  }
}

TEST_F(tokenizer_golden, has_the_facts_of_the_file) {
  EXPECT_EQ(model_->size(), 49152u);
  EXPECT_EQ(model_->control_tokens().size(), 17u);
  EXPECT_EQ(model_->bos(), 1);
  EXPECT_EQ(model_->eos(), 2);
  EXPECT_FALSE(model_->adds_bos());
  EXPECT_EQ(std::vector<token_id>(model_->end_tokens().begin(), model_->end_tokens().end()),
            (std::vector<token_id>{0, 2, 4}));
}

TEST_F(tokenizer_golden, no_user_text_gives_a_control_token) {
  std::string user;
  for (const token_id id : model_->control_tokens()) user.append(model_->bytes_of(id)).append("x");
  for (const token_id id : model_->control_tokens()) user.append(model_->bytes_of(id));
  for (const token_id id : model_->encode(user, false)) EXPECT_FALSE(model_->is_control(id));
  const std::vector<text_span> spans = {{"<|im_start|>user\n", true}, {user, false}, {"<|im_end|>\n", true}};
  std::size_t controls = 0;
  for (const token_id id : model_->encode(spans)) controls += model_->is_control(id);
  EXPECT_EQ(controls, 2u);
}

TEST_F(tokenizer_golden, any_bytes_encode) {
  std::string every;
  for (int byte = 0; byte < 256; ++byte) every.push_back(static_cast<char>(byte));
  EXPECT_FALSE(model_->encode(every, true).empty());
  const std::string letters(1 << 20, 'e');
  EXPECT_EQ(model_->decode(model_->encode(letters, true), false), letters);
}

}  // namespace
}  // namespace infer::tokenize
