// The table against the classes it is taken from, both ways.
#include "engine/models/hub_defaults.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

#include "engine/formats/json_keys.h"
#include "engine/models/descriptor.h"

namespace infer::models {
namespace {

TEST(hub_defaults, are_those_of_the_configuration_classes) {
  std::ifstream file("tests/golden/hub_defaults.json");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const auto golden = formats::json_keys::parse(text, "hub_defaults.json");
  ASSERT_TRUE(golden) << golden.error().message();
  const formats::metadata& keys = golden.value().keys;
  ASSERT_GT(keys.keys().size(), 100u);
  for (const std::string_view key : keys.keys()) {
    const std::size_t dot = key.find('.');
    EXPECT_EQ(hub_default_of(key.substr(0, dot), key.substr(dot + 1)), keys.real(key).value()) << key;
  }
  EXPECT_EQ(hub_defaults().size(), keys.keys().size());
}

TEST(hub_defaults, are_of_model_types_that_a_family_has) {
  for (const hub_default& row : hub_defaults()) EXPECT_NE(find_hub_family(row.model_type), nullptr) << row.model_type;
}

TEST(hub_defaults, a_wrapped_gemma3_has_those_of_the_text_model) {
  EXPECT_EQ(hub_default_of("gemma3", "head_dim"), 256);
  EXPECT_EQ(hub_default_of("gemma3", "no_such_member"), std::nullopt);
}

}  // namespace
}  // namespace infer::models
