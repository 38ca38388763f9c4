// Typed look-ups in the metadata table.
#include "engine/formats/metadata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace infer::formats {
namespace {

using namespace std::string_view_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::uint64_t huge = std::numeric_limits<std::uint64_t>::max();

metadata sample() {
  metadata table;
  table.insert("text", "llama"sv);
  table.insert("count", std::uint64_t{42});
  table.insert("negative", std::int64_t{-3});
  table.insert("positive", std::int64_t{1});
  table.insert("huge", huge);
  table.insert("real", 0.5);
  table.insert("flag", true);
  table.insert("texts", std::vector<std::string_view>{"a", "b"});
  table.insert("reals", std::vector<float>{0.5f, 2});
  table.insert("counts", std::vector<std::uint64_t>{1, 0, 7});
  table.insert("integers", std::vector<std::int64_t>{-1, 2});
  table.insert("huge counts", std::vector<std::uint64_t>{1, huge});
  return table;
}

TEST(Metadata, KeepsTheOrderAndRefusesDuplicates) {
  metadata table;
  EXPECT_TRUE(table.insert("b", true));
  EXPECT_TRUE(table.insert("a", std::uint64_t{1}));
  EXPECT_FALSE(table.insert("b", std::uint64_t{2}));
  EXPECT_THAT(table.keys(), ElementsAre("b", "a"));
  EXPECT_TRUE(std::get<bool>(*table.find("b")));
  EXPECT_TRUE(table.contains("a"));
  EXPECT_FALSE(table.contains("c"));
  EXPECT_EQ(table.find("c"), nullptr);
}

TEST(Metadata, ReadsEachType) {
  const metadata table = sample();
  EXPECT_EQ(table.text("text").value(), "llama");
  EXPECT_EQ(table.count("count").value(), 42u);
  EXPECT_EQ(table.count("positive").value(), 1u);
  EXPECT_EQ(table.count("huge").value(), huge);
  EXPECT_EQ(table.integer("negative").value(), -3);
  EXPECT_EQ(table.integer("count").value(), 42);
  EXPECT_EQ(table.real("real").value(), 0.5);
  EXPECT_EQ(table.real("count").value(), 42.0);
  EXPECT_EQ(table.real("negative").value(), -3.0);
  EXPECT_TRUE(table.boolean("flag").value());
  EXPECT_TRUE(table.boolean("positive").value());
  EXPECT_THAT(table.texts("texts").value(), ElementsAre("a", "b"));
  EXPECT_THAT(table.reals("reals").value(), ElementsAre(0.5f, 2.0f));
  EXPECT_THAT(table.integers("counts").value(), ElementsAre(1, 0, 7));
  EXPECT_THAT(table.integers("integers").value(), ElementsAre(-1, 2));
}

template <class T>
void expect_wrong(const result<T>& outcome, const char* key, const char* holds) {
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, fault::wrong_type);
  EXPECT_THAT(outcome.error().message(), AllOf(HasSubstr(key), HasSubstr(holds)));
}

TEST(Metadata, SaysWhatIsThereInstead) {
  const metadata table = sample();
  expect_wrong(table.text("count"), "\"count\"", "holds 42, not a string");
  expect_wrong(table.count("text"), "\"text\"", "holds \"llama\", not a whole number");
  expect_wrong(table.count("negative"), "\"negative\"", "-3");
  expect_wrong(table.count("real"), "\"real\"", "0.5");
  expect_wrong(table.integer("huge"), "\"huge\"", "18446744073709551615");
  expect_wrong(table.real("text"), "\"text\"", "not a number");
  expect_wrong(table.real("flag"), "\"flag\"", "true");
  expect_wrong(table.boolean("count"), "\"count\"", "not true or false");
  expect_wrong(table.boolean("negative"), "\"negative\"", "-3");
  expect_wrong(table.texts("text"), "\"text\"", "not an array of strings");
  expect_wrong(table.reals("counts"), "\"counts\"", "3 integers: 1, 0, 7, not an array of floats");
  expect_wrong(table.integers("count"), "\"count\"", "not an array of integers");
  expect_wrong(table.integers("huge counts"), "\"huge counts\"", "2^63");
  expect_wrong(table.integers("texts"), "\"texts\"", "2 strings: \"a\", \"b\"");
}

template <class T>
void expect_missing(const result<T>& outcome) {
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, fault::missing_key);
  EXPECT_THAT(outcome.error().message(), HasSubstr("\"absent\" is missing"));
}

TEST(Metadata, NamesMissingKeys) {
  const metadata table = sample();
  expect_missing(table.text("absent"));
  expect_missing(table.count("absent"));
  expect_missing(table.integer("absent"));
  expect_missing(table.real("absent"));
  expect_missing(table.boolean("absent"));
  expect_missing(table.texts("absent"));
  expect_missing(table.reals("absent"));
  expect_missing(table.integers("absent"));
}

TEST(Metadata, SummariesAreShort) {
  EXPECT_EQ(summary(metadata_value(std::vector<float>{0.1f})), "1 float: 0.100000001");
  EXPECT_EQ(summary(metadata_value(std::vector<std::int64_t>{1, 2, 3, 4, 5, -6})), "6 integers: 1, 2, 3, 4, 5, …");
  EXPECT_EQ(summary(metadata_value(std::vector<std::string_view>{})), "0 strings");
  EXPECT_EQ(summary(metadata_value("a long text"sv), 6), "\"a long…\"");
  EXPECT_EQ(summary(metadata_value(false)), "false");
  EXPECT_EQ(summary(metadata_value(1e-5)), "1e-05");
}

}  // namespace
}  // namespace infer::formats
