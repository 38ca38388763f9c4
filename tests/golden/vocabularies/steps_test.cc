// Every kind of step of a tokenizer.json against the library that defines it, with small models.
#include <gtest/gtest.h>

#include "engine/tokenize/tokenizer.h"
#include "engine/tokenize/tokenizer_json.h"
#include "tests/golden/vocabularies/hashes.h"

namespace infer::tokenize {
namespace {

constexpr std::size_t strings_per_line = 20;

/// A tokenizer of the table: its steps, and the model that it names.
std::string document(const boost::json::object& models, boost::json::object parts) {
  parts["model"] = models.at(parts.at("model").as_string());
  return boost::json::serialize(parts);
}

TEST(tokenizer_steps, every_small_tokenizer_gives_the_ids_and_texts_of_its_library) {
  const std::string folder = "tests/golden/tokenizer_steps/";
  const auto models = boost::json::parse(read_whole(folder + "models.json")).as_object();
  const auto cases = boost::json::parse(read_whole(folder + "cases.json")).as_object();
  const auto& strings = shared_strings();
  for (const auto& entry : cases) {
    const std::string name(entry.key());
    const auto file = read_tokenizer_json(document(models, entry.value().as_object()));
    ASSERT_TRUE(file) << name << ": " << file.error().message();
    const auto made = tokenizer::make(file.value().data);
    ASSERT_TRUE(made) << name << ": " << made.error().message();
    const auto lines = read_lines(folder + name + ".hashes");
    ASSERT_EQ(lines.size(), (strings.size() + strings_per_line - 1) / strings_per_line) << name;
    std::size_t differences = 0;
    for (std::size_t line = 0; line < lines.size(); ++line) {
      std::uint32_t ids = 0x811C9DC5, text = ids;
      for (std::size_t i = line * strings_per_line; i < strings.size() && i < (line + 1) * strings_per_line; ++i) {
        const auto encoded = made.value()->encode(strings[i], true);
        for (const token_id id : encoded) ids = fnv_number(static_cast<std::uint32_t>(id), ids);
        text = fnv(made.value()->decode(encoded, false), text);
      }
      if (shown(ids) + " " + shown(text) != lines[line] && ++differences <= 2)
        ADD_FAILURE() << name << ": strings from " << line * strings_per_line << ": expected " << lines[line]
                      << ", has " << shown(ids) << " " << shown(text);
    }
    EXPECT_EQ(differences, 0u) << name << ": of " << lines.size() << " lines";
  }
  EXPECT_GE(cases.size(), 40u);
}

}  // namespace
}  // namespace infer::tokenize
