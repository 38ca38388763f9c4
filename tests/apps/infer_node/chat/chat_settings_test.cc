// Settings by name: what they take, what they refuse and in which words.
// Mirrors: sampler_table.cc
#include "apps/infer_node/chat/chat_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "apps/infer_node/chat/sampler_table.h"
#include "protocol/http/parse_call.h"
#include "protocol/http/sampler_fields.h"

namespace infer::apps {
namespace {

using testing::HasSubstr;

TEST(ChatSettings, EveryNumberOfTheTableCanBeSetAndIsShownAsItWasSet) {
  for (const sampler_number& row : sampler_numbers()) {
    chat_settings settings;
    for (const double bound : {row.low, row.high}) {
      char text[32];
      std::snprintf(text, sizeof text, "%.10g", bound);
      EXPECT_EQ(settings.set(row.name, text), "") << row.name << " " << text;
      EXPECT_FLOAT_EQ(std::stof(settings.get(row.name)), static_cast<float>(bound)) << row.name;
      EXPECT_FLOAT_EQ(static_cast<float>(row.value_of(settings.sampling)), static_cast<float>(bound)) << row.name;
    }
    for (const double outside : {row.low - 1, row.high * 2 + 1}) {
      const std::string before = settings.get(row.name);
      EXPECT_THAT(settings.set(row.name, std::to_string(outside)), HasSubstr(row.name)) << row.name;
      EXPECT_EQ(settings.get(row.name), before) << "a refused value changes nothing";
    }
    EXPECT_FALSE(setting_help(row.name).empty());
  }
}

TEST(ChatSettings, AServerTakesEveryValueThatIsTakenHere) {
  for (const sampler_number& row : sampler_numbers()) {
    for (const double bound : {row.low, row.high}) {
      msg::sampling sampling;
      row.set(sampling, bound);
      boost::json::object body = http::sampling_body(sampling);
      body["messages"] = boost::json::array{boost::json::object{{"role", "user"}, {"content", "a"}}};
      const auto call = http::parse_chat(boost::json::serialize(body), {});
      ASSERT_TRUE(call) << row.name << " " << bound << ": " << call.error().message;
      EXPECT_FLOAT_EQ(static_cast<float>(row.value_of(call.value().generate.sampling)), static_cast<float>(bound))
          << row.name;
    }
  }
}

TEST(ChatSettings, NumbersChangeTheMemberTheyName) {
  chat_settings settings;
  ASSERT_EQ(settings.set("temperature", "0.25"), "");
  ASSERT_EQ(settings.set("top-k", "7"), "");
  ASSERT_EQ(settings.set("repeat-last-n", "-1"), "");
  ASSERT_EQ(settings.set("mirostat", "2"), "");
  ASSERT_EQ(settings.set("mirostat-ent", "4.5"), "");
  EXPECT_EQ(settings.sampling.temperature.value(), 0.25f);
  EXPECT_EQ(settings.sampling.top_k, 7u);
  EXPECT_EQ(settings.sampling.repeat_last_n, -1);
  EXPECT_EQ(settings.sampling.mirostat, 2);
  EXPECT_EQ(settings.sampling.mirostat_tau.value(), 4.5f);
  EXPECT_EQ(settings.set("temp", "0.5"), "") << "the flag's name means it too";
  EXPECT_EQ(settings.get("temperature"), "0.5");
}

TEST(ChatSettings, WhatIsNoValueIsRefusedInWords) {
  chat_settings settings;
  EXPECT_EQ(settings.set("top-k", "1.5"), "top-k is a whole number from 0 to 2147483647, not '1.5'");
  EXPECT_EQ(settings.set("top-p", "1.01"), "top-p is a number from 0 to 1, not '1.01'");
  for (const char* text : {"", "x", "1x", "nan", "inf", "-inf", "0x1", " 1"})
    EXPECT_NE(settings.set("temperature", text), "") << text;
  EXPECT_EQ(settings.set("seed", "-2"), "seed is a whole number from -1 to 9223372036854775807, not '-2'");
  EXPECT_THAT(settings.set("max-tokens", "2147483648"), HasSubstr("max-tokens"));
  EXPECT_EQ(settings.set("think", "maybe"), "think is on, off or auto, not 'maybe'");
  EXPECT_EQ(settings.set("stats", ""), "stats is on or off, not ''");
  EXPECT_EQ(settings.set("tempo", "1"), "there is no setting 'tempo'; /show lists them");
  EXPECT_EQ(settings.get("tempo"), "");
}

TEST(ChatSettings, TheOthersTooHaveNamesValuesAndHelp) {
  chat_settings settings;
  for (const auto& [name, value] : std::vector<std::pair<const char*, const char*>>{
           {"seed", "42"}, {"max-tokens", "9"}, {"think", "off"}, {"stats", "off"}, {"history", "off"}}) {
    EXPECT_EQ(settings.set(name, value), "");
    EXPECT_EQ(settings.get(name), value);
  }
  EXPECT_EQ(settings.seed, 42);
  EXPECT_EQ(settings.max_tokens, 9);
  EXPECT_EQ(settings.think, think_mode::off);
  EXPECT_FALSE(settings.stats || settings.history);
  for (const std::string_view name : setting_names()) {
    EXPECT_NE(settings.get(name), "") << name;
    EXPECT_NE(setting_help(name), "") << name;
  }
}

}  // namespace
}  // namespace infer::apps
