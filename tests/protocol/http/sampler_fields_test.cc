// Every sampling parameter: its names, its range, and that what is written reads back.
#include "protocol/http/sampler_fields.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "protocol/http/json_text.h"
#include "protocol/http/parse_call.h"

namespace infer::http {
namespace {

parsed<msg::sampling> read(const std::string& members, msg::sampling out = {}) {
  const auto body = parse_object("{" + members + "}").value();
  INFER_TRYV(read_sampler({body, {}}, out));
  return out;
}

msg::sampling good(const std::string& members) {
  const auto got = read(members);
  EXPECT_TRUE(got.has_value()) << (got.has_value() ? "" : got.error().message);
  return got.has_value() ? got.value() : msg::sampling{};
}

std::string refused(const std::string& members) {
  const auto got = read(members);
  return got.has_value() ? "accepted" : got.error().code + " " + got.error().param;
}

TEST(SamplerFields, ReadsEveryParameter) {
  const msg::sampling got = good(R"("temperature":0.5,"top_k":7,"top_p":0.25,"min_p":0.125,"typical_p":0.75,
    "top_n_sigma":1.5,"xtc_probability":0.5,"xtc_threshold":0.25,"dynatemp_range":0.75,"dynatemp_exponent":2,
    "min_keep":3,"repeat_penalty":1.5,"presence_penalty":-0.5,"frequency_penalty":2,"repeat_last_n":-1,
    "dry_multiplier":0.75,"dry_base":2.5,"dry_allowed_length":4,"dry_penalty_last_n":99,"dry_sequence_breakers":["x"],
    "mirostat":2,"mirostat_tau":3,"mirostat_eta":0.5,"min_tokens":6,"samplers":["temperature","top_k"])");
  EXPECT_EQ(got.temperature.value(), 0.5f);
  EXPECT_EQ(got.top_k, 7u);
  EXPECT_EQ(got.top_p.value(), 0.25f);
  EXPECT_EQ(got.min_p.value(), 0.125f);
  EXPECT_EQ(got.typical_p.value(), 0.75f);
  EXPECT_EQ(got.top_n_sigma.value(), 1.5f);
  EXPECT_EQ(got.xtc_probability.value(), 0.5f);
  EXPECT_EQ(got.xtc_threshold.value(), 0.25f);
  EXPECT_EQ(got.dynatemp_range.value(), 0.75f);
  EXPECT_EQ(got.dynatemp_exponent.value(), 2.0f);
  EXPECT_EQ(got.min_keep, 3u);
  EXPECT_EQ(got.repeat_penalty.value(), 1.5f);
  EXPECT_EQ(got.presence_penalty.value(), -0.5f);
  EXPECT_EQ(got.frequency_penalty.value(), 2.0f);
  EXPECT_EQ(got.repeat_last_n, -1);
  EXPECT_EQ(got.dry_multiplier.value(), 0.75f);
  EXPECT_EQ(got.dry_base.value(), 2.5f);
  EXPECT_EQ(got.dry_allowed_length, 4u);
  EXPECT_EQ(got.dry_penalty_last_n, 99);
  EXPECT_EQ(got.dry_breakers, std::vector<std::string>{"x"});
  EXPECT_EQ(got.mirostat, 2);
  EXPECT_EQ(got.mirostat_tau.value(), 3.0f);
  EXPECT_EQ(got.mirostat_eta.value(), 0.5f);
  EXPECT_EQ(got.min_tokens, 6u);
  EXPECT_EQ(got.stages, "tk");
  EXPECT_FALSE(got.ignore_end);
}

TEST(SamplerFields, TheDefaultsAreLlamaServersWhereTheyAreNotOff) {
  const msg::sampling none = good("");
  EXPECT_EQ(none.repeat_last_n, 64);
  EXPECT_EQ(none.dry_base.value(), 1.75f);
  EXPECT_EQ(none.dry_allowed_length, 2u);
  EXPECT_EQ(none.dry_penalty_last_n, -1);
  EXPECT_EQ(none.dry_breakers, (std::vector<std::string>{"\n", ":", "\"", "*"}));
  EXPECT_EQ(none.xtc_threshold.value(), 0.1f);
  EXPECT_EQ(none.mirostat_tau.value(), 5.0f);
  EXPECT_EQ(none.mirostat_eta.value(), 0.1f);
  EXPECT_EQ(none.top_n_sigma.value(), -1.0f);
  EXPECT_EQ(none.stages, "edskypmxt");
}

TEST(SamplerFields, OtherNamesMeanTheSame) {
  EXPECT_EQ(good(R"("repetition_penalty":1.25)").repeat_penalty.value(), 1.25f);
  EXPECT_EQ(good(R"("top_k":-1)").top_k, 0u);
  EXPECT_EQ(good(R"("samplers":"kpt")").stages, "kpt");
  EXPECT_EQ(good(R"("samplers":["typical","nucleus","temp","penalties","dry","xtc","min-p","top_n_sigma"])").stages,
            "yptedxms");
  EXPECT_EQ(good(R"("samplers":[])").stages, "");
  EXPECT_EQ(good(R"("dry_base":0.5)").dry_base.value(), 1.75f) << "below 1 it is the default";
}

TEST(SamplerFields, IgnoreEosForbidsTheEnd) {
  const msg::sampling got = good(R"("ignore_eos":true,"min_tokens":3)");
  EXPECT_TRUE(got.ignore_end);
  EXPECT_EQ(got.min_tokens, msg::no_limit);
}

TEST(SamplerFields, BiasesComeInBothForms) {
  const msg::sampling object = good(R"("logit_bias":{"5":-100,"foo":3,"7":0,"8":1.5,"-3":1})");
  ASSERT_EQ(object.biases.size(), 2u);
  EXPECT_EQ(object.biases[0].id, 5);
  EXPECT_EQ(object.biases[0].bias.value(), -100.0f);
  EXPECT_EQ(object.biases[1].id, 8);
  const msg::sampling pairs = good(R"("logit_bias":[[5,-200.5],[" word",1],[9,false],[-1,4]])");
  ASSERT_EQ(pairs.biases.size(), 3u);
  EXPECT_EQ(pairs.biases[0].bias.value(), -200.5f);
  EXPECT_EQ(pairs.biases[1].text, " word");
  EXPECT_TRUE(std::isinf(pairs.biases[2].bias.value()));
  EXPECT_TRUE(std::isinf(good(R"("logit_bias":{"9":false})").biases.at(0).bias.value()));
  EXPECT_TRUE(std::isfinite(good(R"("logit_bias":[[9,1e39]])").biases.at(0).bias.value())) << "no sum of it is a NaN";
}

TEST(SamplerFields, RefusesWithThePath) {
  const std::pair<const char*, const char*> cases[] = {
      {R"("temperature":2.5)", "temperature"},
      {R"("typical_p":1.5)", "typical_p"},
      {R"("xtc_probability":-0.1)", "xtc_probability"},
      {R"("xtc_threshold":"x")", "xtc_threshold"},
      {R"("dynatemp_range":-1)", "dynatemp_range"},
      {R"("repeat_penalty":0)", "repeat_penalty"},
      {R"("repeat_last_n":-2)", "repeat_last_n"},
      {R"("presence_penalty":2.1)", "presence_penalty"},
      {R"("frequency_penalty":-3)", "frequency_penalty"},
      {R"("dry_multiplier":-1)", "dry_multiplier"},
      {R"("dry_allowed_length":1.5)", "dry_allowed_length"},
      {R"("dry_penalty_last_n":-5)", "dry_penalty_last_n"},
      {R"("dry_sequence_breakers":[])", "dry_sequence_breakers"},
      {R"("dry_sequence_breakers":["a",1])", "dry_sequence_breakers[1]"},
      {R"("mirostat":3)", "mirostat"},
      {R"("mirostat_eta":-1)", "mirostat_eta"},
      {R"("min_tokens":-1)", "min_tokens"},
      {R"("samplers":["top_k","magic"])", "samplers"},
      {R"("samplers":"kz")", "samplers"},
      {R"("samplers":3)", "samplers"},
      {R"("logit_bias":{"5":101})", "logit_bias.5"},
      {R"("logit_bias":"x")", "logit_bias"},
      {R"("logit_bias":[[1]])", "logit_bias[0]"},
      {R"("logit_bias":[[1,2],[1,true]])", "logit_bias[1]"},
      {R"("logit_bias":[["",2]])", "logit_bias[0]"},
  };
  for (const auto& [members, param] : cases) EXPECT_EQ(refused(members), std::string("invalid_value ") + param);
}

TEST(SamplerFields, WhatIsWrittenReadsBack) {
  msg::sampling s;
  s.temperature = 0.7f;
  s.top_p = 0.95f;
  s.typical_p = 0.9f;
  s.mirostat = 1;
  s.stages = "tmx";
  s.seed = 5;
  s.biases = {{7, {}, -std::numeric_limits<float>::infinity()}, {-1, "x", 2.5f}};
  const std::string text = write_json(sampling_body(s));
  EXPECT_NE(text.find(R"("temperature":0.7,)"), std::string::npos) << text;
  const msg::sampling back = good(text.substr(1, text.size() - 2));
  EXPECT_EQ(back.temperature, s.temperature);
  EXPECT_EQ(back.top_p, s.top_p);
  EXPECT_EQ(back.typical_p, s.typical_p);
  EXPECT_EQ(back.mirostat, 1);
  EXPECT_EQ(back.stages, "tmx");
  EXPECT_EQ(back.dry_breakers, s.dry_breakers);
  ASSERT_EQ(back.biases.size(), 2u);
  EXPECT_EQ(back.biases[0].bias, s.biases[0].bias);
  EXPECT_EQ(back.biases[1].text, "x");
}

/// An array of so many items, each made from its place.
std::string array_of(std::size_t count, const std::function<std::string(std::size_t)>& item) {
  std::string out = "[";
  for (std::size_t i = 0; i < count; ++i) out += (i == 0 ? "" : ",") + item(i);
  return out + "]";
}

TEST(SamplerFields, BiasesOfOneTokenAreAddedUp) {
  const msg::sampling got = good(R"("logit_bias":[[5,1.5],["a",1],[5,2],[7,3],["a",-3],[7,false],[5,-1]])");
  ASSERT_EQ(got.biases.size(), 3u);
  EXPECT_EQ(got.biases[0].bias.value(), 2.5f);
  EXPECT_EQ(got.biases[1].text, "a");
  EXPECT_EQ(got.biases[1].bias.value(), -2.0f);
  EXPECT_EQ(got.biases[2].bias.value(), -std::numeric_limits<float>::infinity());
  EXPECT_EQ(good(R"("logit_bias":)" + array_of(20000, [](auto i) { return "[" + std::to_string(i % 9) + ",1]"; }))
                .biases.size(),
            9u);
}

TEST(SamplerFields, WhatEachChoiceHoldsIsBounded) {
  const auto ids = [](std::size_t count) {
    return refused(R"("logit_bias":)" + array_of(count, [](auto i) { return "[" + std::to_string(i) + ",1]"; }));
  };
  EXPECT_EQ(ids(8192), "accepted");
  EXPECT_EQ(ids(8193), "invalid_value logit_bias");
  std::string object;
  for (int i = 0; i <= 8192; ++i) object += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":1";
  EXPECT_EQ(refused(R"("logit_bias":{)" + object + "}"), "invalid_value logit_bias");
  const auto text = [](std::size_t bytes) { return "\"" + std::string(bytes, 'x') + "\""; };
  EXPECT_EQ(refused(R"("logit_bias":[[)" + text(1024) + ",1]]"), "accepted");
  EXPECT_EQ(refused(R"("logit_bias":[[1,1],[)" + text(1025) + ",1]]"), "invalid_value logit_bias[1]");
  const auto texts = [&](std::size_t count) {
    return refused(R"("logit_bias":)" + array_of(count, [&](auto) { return "[" + text(1024) + ",1]"; }));
  };
  EXPECT_EQ(texts(64), "accepted");
  EXPECT_EQ(texts(65), "invalid_value logit_bias");
  const auto breakers = [](std::size_t count, const std::string& item) {
    return refused(R"("dry_sequence_breakers":)" + array_of(count, [&](auto) { return item; }));
  };
  EXPECT_EQ(breakers(64, text(64)), "accepted");
  EXPECT_EQ(breakers(65, text(1)), "invalid_value dry_sequence_breakers");
  EXPECT_EQ(breakers(1, text(65)), "invalid_value dry_sequence_breakers[0]");
}

}  // namespace
}  // namespace infer::http
