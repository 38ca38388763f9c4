// Every field of the requests: read, refused with its path, or ignored.
// Mirrors: chat_messages.cc, fields.cc, parse_completion.cc, prompt_fields.cc, sampling_fields.cc
#include "protocol/http/parse_call.h"

#include <gtest/gtest.h>

#include <boost/json/object.hpp>

#include "protocol/http/json_text.h"

namespace infer::http {
namespace {

constexpr const char* hello = R"("messages":[{"role":"user","content":"hi"}])";

parsed<call> chat(const std::string& members) {
  return parse_chat("{" + std::string(hello) + (members.empty() ? "" : ",") + members + "}", {});
}

call good(const parsed<call>& got) {
  EXPECT_TRUE(got.has_value()) << (got.has_value() ? "" : got.error().message);
  return got.has_value() ? got.value() : call{};
}

/// "code param" of a refusal, after checking that it is a client's fault.
std::string refused(const parsed<call>& got) {
  if (got.has_value()) return "accepted";
  EXPECT_EQ(got.error().status, 400);
  EXPECT_EQ(got.error().type, "invalid_request_error");
  EXPECT_FALSE(got.error().message.empty());
  return got.error().code + " " + got.error().param;
}

struct refused_case {
  const char* members;
  const char* expected;
};

TEST(ParseChat, ReadsEveryField) {
  const call got = good(chat(R"("model":"m","stream":true,"stream_options":{"include_usage":true},
    "max_completion_tokens":7,"max_tokens":9,"temperature":0.5,"top_p":0.25,"top_k":40,"min_p":0.125,"n":3,
    "stop":["a","b"],"seed":-5,"logprobs":true,"top_logprobs":4,"ignore_eos":true,
    "chat_template_kwargs":{"x":1.0},"response_format":{"type":"text"},"logit_bias":{"foo":-100},"user":"me",
    "presence_penalty":0,"frequency_penalty":0.0,"repetition_penalty":1,"unknown":{"a":[]}, "metadata":null)"));
  EXPECT_EQ(got.kind, call_kind::chat);
  EXPECT_TRUE(got.stream);
  EXPECT_TRUE(got.include_usage);
  const msg::generate& g = got.generate;
  EXPECT_EQ(g.task, msg::request_task::generate);
  EXPECT_EQ(g.model, "m");
  EXPECT_EQ(g.max_tokens, 7u);
  EXPECT_EQ(g.sampling.temperature.value(), 0.5f);
  EXPECT_EQ(g.sampling.top_p.value(), 0.25f);
  EXPECT_EQ(g.sampling.min_p.value(), 0.125f);
  EXPECT_EQ(g.sampling.top_k, 40u);
  EXPECT_EQ(g.sampling.top_logprobs, 4u);
  EXPECT_TRUE(g.sampling.ignore_end);
  EXPECT_TRUE(g.logprobs);
  EXPECT_TRUE(g.seed_given);
  EXPECT_EQ(g.sampling.seed, static_cast<std::uint64_t>(-5));
  EXPECT_EQ(g.choices, 3u);
  EXPECT_EQ(g.stop, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(g.prompt.kind, msg::prompt_kind::chat);
  EXPECT_EQ(g.prompt.template_kwargs_json, R"({"x":1.0})");
  EXPECT_TRUE(g.prompt.add_generation_prompt);
  EXPECT_FALSE(g.prompt.continue_last);
}

TEST(ParseChat, DefaultsAreTheServers) {
  call_defaults defaults;
  defaults.sampling.temperature = 0.75f;
  defaults.sampling.top_k = 20;
  const call got = good(parse_chat("{" + std::string(hello) + "}", defaults));
  EXPECT_EQ(got.generate.sampling.temperature.value(), 0.75f);
  EXPECT_EQ(got.generate.sampling.top_k, 20u);
  EXPECT_EQ(got.generate.max_tokens, msg::no_limit);
  EXPECT_EQ(got.generate.model, "");
  EXPECT_EQ(got.generate.choices, 1u);
  EXPECT_FALSE(got.generate.seed_given);
  EXPECT_FALSE(got.stream);
  EXPECT_FALSE(good(chat(R"("seed":-1)")).generate.seed_given);
  EXPECT_EQ(good(chat(R"("max_tokens":0)")).generate.max_tokens, 0u);
  EXPECT_EQ(good(chat(R"("max_tokens":-1)")).generate.max_tokens, msg::no_limit);
  EXPECT_EQ(good(chat(R"("n_predict":7)")).generate.max_tokens, 7u);
  EXPECT_EQ(good(chat(R"("max_tokens":5.0,"temperature":null,"stop":null,"n":null,"tools":null)")).generate.max_tokens,
            5u);
  EXPECT_EQ(good(chat(R"("seed":18446744073709551615)")).generate.sampling.seed, 18446744073709551615u);
  EXPECT_EQ(good(chat(R"("stop":"x")")).generate.stop, std::vector<std::string>{"x"});
  EXPECT_EQ(good(chat(R"("top_k":-1)")).generate.sampling.top_k, 0u);
}

TEST(ParseChat, RefusesWhatIsOutOfRangeWithItsPath) {
  const refused_case cases[] = {
      {R"("temperature":2.5)", "invalid_value temperature"},
      {R"("temperature":-0.1)", "invalid_value temperature"},
      {R"("temperature":"hot")", "invalid_value temperature"},
      {R"("temperature":1e400)", "invalid_value temperature"},
      {R"("top_p":1.01)", "invalid_value top_p"},
      {R"("min_p":2)", "invalid_value min_p"},
      {R"("top_k":1.5)", "invalid_value top_k"},
      {R"("n":0)", "invalid_value n"},
      {R"("n":129)", "invalid_value n"},
      {R"("max_tokens":-2)", "invalid_value max_tokens"},
      {R"("max_completion_tokens":1.5)", "invalid_value max_completion_tokens"},
      {R"("stop":"")", "invalid_value stop"},
      {R"("stop":["a",""])", "invalid_value stop"},
      {R"("stop":[1])", "invalid_value stop[0]"},
      {R"("stop":["1","2","3","4","5","6","7","8","9","10","11","12","13","14","15","16","17"])", "invalid_value stop"},
      {R"("stream":"yes")", "invalid_value stream"},
      {R"("stream_options":{"include_usage":1})", "invalid_value stream_options.include_usage"},
      {R"("logprobs":true,"top_logprobs":21)", "invalid_value top_logprobs"},
      {R"("top_logprobs":2)", "invalid_value top_logprobs"},
      {R"("presence_penalty":3)", "invalid_value presence_penalty"},
      {R"("model":7)", "invalid_value model"},
      {R"("seed":"x")", "invalid_value seed"},
      {R"("response_format":{"type":"json_schema"})", "invalid_value response_format.json_schema.schema"},
      {R"("response_format":{"type":"xml"})", "invalid_value response_format.type"},
      {R"("tools":[{"type":"function","function":{"name":"no spaces"}}])", "invalid_value tools[0].function.name"},
      {R"("tools":[{"type":"function"}])", "invalid_value tools[0].function"},
      {R"("tools":[4])", "invalid_value tools[0]"},
      {R"("tool_choice":"maybe")", "invalid_value tool_choice"},
      {R"("reasoning_effort":"a lot")", "invalid_value reasoning_effort"},
      {R"("continue_final_message":true)", "invalid_value continue_final_message"},
  };
  for (const refused_case& c : cases) EXPECT_EQ(refused(chat(c.members)), c.expected) << c.members;
}

/// An object of so many pairs.
std::string pairs(std::size_t count, const std::string& value) {
  std::string out = "{";
  for (std::size_t i = 0; i < count; ++i) out += (i == 0 ? "\"k" : ",\"k") + std::to_string(i) + "\":" + value;
  return out + "}";
}

std::string repeated(std::string_view text, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += text;
  return out;
}

TEST(ParseChat, WhatIsHeldForEachChoiceOrChunkIsBounded) {
  const auto metadata = [](const std::string& value) { return refused(chat(R"("metadata":)" + value)); };
  const auto quoted = [](const std::string& text) { return "\"" + text + "\""; };
  EXPECT_EQ(metadata(pairs(16, quoted(std::string(512, 'v')))), "accepted");
  EXPECT_EQ(metadata(pairs(17, R"("v")")), "invalid_value metadata");
  EXPECT_EQ(metadata(R"({"a":)" + quoted(repeated("ä", 512)) + "}"), "accepted") << "characters, not bytes";
  EXPECT_EQ(metadata(R"({"a":)" + quoted(repeated("ä", 513)) + "}"), "invalid_value metadata.a");
  EXPECT_EQ(metadata("{" + quoted(repeated("ä", 64)) + ":1}"), "accepted");
  EXPECT_EQ(metadata("{" + quoted(std::string(65, 'k')) + ":1}"), "invalid_value metadata");
  EXPECT_EQ(metadata(R"({"a":[)" + quoted(std::string(16000, 'v')) + "]}"), "accepted");
  EXPECT_EQ(metadata(R"({"a":[)" + quoted(std::string(17000, 'v')) + "]}"), "invalid_value metadata");
  const auto stops = [&](std::size_t bytes) {
    return refused(chat(R"("stop":["x",)" + quoted(std::string(bytes - 1, 's')) + "]"));
  };
  EXPECT_EQ(stops(64 * 1024), "accepted");
  EXPECT_EQ(stops(64 * 1024 + 1), "invalid_value stop");
  EXPECT_EQ(refused(chat(R"("model":)" + quoted(std::string(64 * 1024, 'm')))), "accepted");
  EXPECT_EQ(refused(chat(R"("model":)" + quoted(std::string(64 * 1024 + 1, 'm')))), "invalid_value model");
}

TEST(ParseChat, RefusesFeaturesThatAreNotThere) {
  const refused_case cases[] = {
      {R"("response_format":{"type":"json_object"})", "unsupported_value response_format.type"},
      {R"("response_format":{"type":"json_schema","json_schema":{"name":"x","schema":{}}})",
       "unsupported_value response_format.type"},
      {R"("tool_choice":"required")", "unsupported_value tool_choice"},
      {R"("tool_choice":{"type":"function","function":{"name":"f"}})", "unsupported_value tool_choice"},
      {R"("modalities":["text","audio"])", "unsupported_value modalities"},
      {R"("grammar":"root ::= x")", "unsupported_value grammar"},
      {R"("guided_json":{})", "unsupported_value guided_json"},
      {R"("return_token_ids":true)", "unsupported_value return_token_ids"},
  };
  for (const refused_case& c : cases) EXPECT_EQ(refused(chat(c.members)), c.expected) << c.members;
  EXPECT_EQ(refused(chat(R"("modalities":["text"],"audio":{"voice":"x","format":"wav"})")), "accepted");
}

TEST(ParseChat, FlattensMessagesAndKeepsTheObject) {
  const call got = good(parse_chat(R"({"messages":[
      {"role":"developer","content":[{"type":"text","text":"be "},{"type":"text","text":"kind","cache_control":{}}]},
      {"role":"user","content":"hi","name":"bob"},
      {"role":"assistant","content":null,"reasoning":"hm","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]},
      {"role":"tool","tool_call_id":"1","content":"42"},
      {"role":"assistant","content":[{"type":"refusal","refusal":"no"}]},
      {"role":"user","content":"so"}]})",
                                   {}));
  const auto& m = got.generate.prompt.messages;
  ASSERT_EQ(m.size(), 6u);
  EXPECT_EQ(m[0].role, "system");
  EXPECT_EQ(m[0].content, "be kind");
  EXPECT_EQ(m[0].object_json, R"({"role":"system","content":"be kind"})");
  EXPECT_EQ(m[1].object_json, R"({"role":"user","content":"hi","name":"bob"})");
  EXPECT_EQ(m[2].content, "");
  EXPECT_NE(m[2].object_json.find(R"("reasoning_content":"hm")"), std::string::npos);
  EXPECT_NE(m[2].object_json.find(R"("arguments":"{}")"), std::string::npos);
  EXPECT_EQ(m[3].role, "tool");
  EXPECT_EQ(m[4].content, "no");
}

/// The second of two messages, as templates see it.
std::string replayed(const std::string& message) {
  const auto got = parse_chat(R"({"messages":[{"role":"user","content":"q"},)" + message + "]}", {});
  return got ? got.value().generate.prompt.messages[1].object_json : got.error().message;
}

TEST(ParseChat, WhatIsNullOrEmptyInAReplayedMessageIsNotThere) {
  EXPECT_EQ(replayed(R"({"role":"assistant","content":"A","refusal":null,"annotations":[],"audio":null,)"
                     R"("function_call":null,"tool_calls":null,"reasoning_content":null,"reasoning":"hm"})"),
            R"({"role":"assistant","content":"A","annotations":[],"reasoning":"hm","reasoning_content":"hm"})");
  EXPECT_EQ(replayed(R"({"role":"assistant","content":null,"tool_calls":[]})"), R"({"role":"assistant","content":""})");
  EXPECT_EQ(replayed(R"({"role":"assistant","content":"A","reasoning_details":[{"type":"reasoning.text","text":"a"},)"
                     R"({"type":"reasoning.summary","summary":"b"},{"type":"reasoning.encrypted","data":"c"},7]})"),
            R"({"role":"assistant","content":"A","reasoning_details":[{"type":"reasoning.text","text":"a"},)"
            R"({"type":"reasoning.summary","summary":"b"},{"type":"reasoning.encrypted","data":"c"},7],)"
            R"("reasoning_content":"ab"})");
}

TEST(ParseChat, ACallWithoutArgumentsHasAnEmptyObjectOfThem) {
  for (const char* const arguments : {R"(,"arguments":"")", R"(,"arguments":" \n")", R"(,"arguments":null)", ""}) {
    EXPECT_EQ(
        replayed(std::string(R"({"role":"assistant","tool_calls":[{"function":{"name":"f")") + arguments + "}}]}"),
        R"({"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"{}"}}],"content":null})")
        << arguments;
  }
}

TEST(ParseChat, CallsOfTheOlderFormAreCallsOfTools) {
  EXPECT_EQ(replayed(R"({"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{\"a\":1}"}})"),
            R"({"role":"assistant","content":null,"tool_calls":[{"id":"call_f","type":"function",)"
            R"("function":{"name":"f","arguments":"{\"a\":1}"}}]})");
  EXPECT_EQ(replayed(R"({"role":"function","name":"f","content":"2"})"),
            R"({"role":"tool","name":"f","content":"2","tool_call_id":"call_f"})");
  EXPECT_EQ(replayed(R"({"role":"function","name":"f","content":null})"),
            R"({"role":"tool","name":"f","content":"","tool_call_id":"call_f"})");
}

TEST(ParseChat, NamesTheMessageAtFault) {
  const auto with = [](const std::string& messages) {
    return refused(parse_chat("{\"messages\":" + messages + "}", {}));
  };
  EXPECT_EQ(refused(parse_chat("{}", {})), "invalid_value messages");
  EXPECT_EQ(with("[]"), "invalid_value messages");
  EXPECT_EQ(with("\"hi\""), "invalid_value messages");
  EXPECT_EQ(with("[3]"), "invalid_value messages[0]");
  EXPECT_EQ(with(R"([{"role":"user","content":"a"},{"role":"king","content":"b"}])"), "invalid_value messages[1].role");
  EXPECT_EQ(with(R"([{"content":"b"}])"), "invalid_value messages[0].role");
  EXPECT_EQ(with(R"([{"role":"user"}])"), "invalid_value messages[0].content");
  EXPECT_EQ(with(R"([{"role":"user","content":null}])"), "invalid_value messages[0].content");
  EXPECT_EQ(with(R"([{"role":"user","content":7}])"), "invalid_value messages[0].content");
  EXPECT_EQ(with(R"([{"role":"user","content":[{"type":"text"}]}])"), "invalid_value messages[0].content[0].text");
  EXPECT_EQ(with(R"([{"role":"user","content":[{"text":"x"}]}])"), "invalid_value messages[0].content[0].type");
  EXPECT_EQ(
      with(
          R"([{"role":"user","content":[{"type":"text","text":"x"},{"type":"image_url","image_url":{"url":"data:"}}]}])"),
      "unsupported_value messages[0].content[1]");
  EXPECT_EQ(with(R"([{"role":"user","content":[{"type":"input_audio"}]}])"),
            "unsupported_value messages[0].content[0]");
}

TEST(ParseChat, ContinuesTheAssistantsMessage) {
  const std::string messages = R"("messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}])";
  const msg::prompt last = good(parse_chat("{" + messages + "}", {})).generate.prompt;
  EXPECT_TRUE(last.continue_last);
  EXPECT_FALSE(last.add_generation_prompt);
  const msg::prompt opened = good(parse_chat("{" + messages + R"(,"add_generation_prompt":true})", {})).generate.prompt;
  EXPECT_FALSE(opened.continue_last);
  EXPECT_TRUE(opened.add_generation_prompt);
  EXPECT_EQ(refused(parse_chat("{" + messages + R"(,"add_generation_prompt":true,"continue_final_message":true})", {})),
            "invalid_value continue_final_message");
  EXPECT_FALSE(good(chat(R"("add_generation_prompt":false)")).generate.prompt.add_generation_prompt);
}

TEST(ParseChat, RendersToolsAndDropsForeignTypes) {
  const call got = good(chat(R"("tools":[{"type":"web_search"},{"type":"function","function":{"name":"a.b","extra":1}}],
                                "tool_choice":"auto","parallel_tool_calls":false)"));
  EXPECT_EQ(got.generate.prompt.tools_json,
            R"([{"type":"function","function":{"name":"a.b","extra":1,"parameters":{}}}])");
  EXPECT_EQ(good(chat(R"("functions":[{"name":"f","parameters":{"type":"object"}}],"function_call":"none")"))
                .generate.prompt.tools_json,
            R"([{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}])");
  EXPECT_EQ(good(chat(R"("tools":[])")).generate.prompt.tools_json, "");
  EXPECT_EQ(good(chat(R"("tools":[{"type":"custom","custom":{"name":"f"}},
                                  {"type":"function","function":{"name":"g","strict":true,"parameters":{}}}])"))
                .generate.prompt.tools_json,
            R"([{"type":"function","function":{"name":"g","strict":true,"parameters":{}}}])");
}

TEST(ParseChat, PassesReasoningEffortToTheTemplate) {
  EXPECT_EQ(good(chat(R"("reasoning_effort":"low")")).generate.prompt.template_kwargs_json,
            R"({"reasoning_effort":"low","enable_thinking":true,"thinking":true})");
  EXPECT_EQ(good(chat(R"("reasoning_effort":"minimal")")).generate.prompt.template_kwargs_json,
            R"({"reasoning_effort":"minimal"})");
  EXPECT_EQ(good(chat(R"("reasoning_effort":"none","chat_template_kwargs":{"enable_thinking":true})"))
                .generate.prompt.template_kwargs_json,
            R"({"enable_thinking":true,"reasoning_effort":"none","thinking":false})");
}

TEST(ParseChat, ThinkingIsSetApartUnlessItIsWantedAsText) {
  EXPECT_TRUE(good(chat("\"n\":1")).generate.split_reasoning);
  EXPECT_TRUE(good(chat(R"("reasoning_format":"deepseek")")).generate.split_reasoning);
  EXPECT_FALSE(good(chat(R"("reasoning_format":"none")")).generate.split_reasoning);
  EXPECT_EQ(refused(chat(R"("reasoning_format":"xml")")), "invalid_value reasoning_format");
}

TEST(ParseChat, BodyMustBeAnObject) {
  EXPECT_EQ(refused(parse_chat("[]", {})), "invalid_json ");
  EXPECT_EQ(refused(parse_chat("", {})), "invalid_json ");
  EXPECT_EQ(refused(parse_chat("{", {})), "invalid_json ");
}

parsed<call> completion(const std::string& members) {
  return parse_completion("{" + members + "}", {});
}

TEST(ParseCompletion, ReadsPromptsAndLimits) {
  const call text = good(completion(R"("prompt":"once","stream":true)"));
  EXPECT_EQ(text.kind, call_kind::completion);
  EXPECT_EQ(text.generate.prompt.kind, msg::prompt_kind::text);
  EXPECT_EQ(text.generate.prompt.text, "once");
  EXPECT_TRUE(text.generate.prompt.add_special);
  EXPECT_TRUE(text.generate.prompt.parse_special) << "who writes a template by hand writes its control tokens";
  EXPECT_FALSE(good(completion(R"("prompt":"once","parse_special":false)")).generate.prompt.parse_special);
  EXPECT_EQ(text.generate.max_tokens, 16u);
  EXPECT_FALSE(text.generate.logprobs);
  EXPECT_EQ(good(completion(R"("prompt":["once"],"parse_special":true)")).generate.prompt.text, "once");
  const call ids = good(completion(R"("prompt":[1,2,3],"max_tokens":0,"logprobs":0)"));
  EXPECT_EQ(ids.generate.prompt.kind, msg::prompt_kind::ids);
  EXPECT_EQ(ids.generate.prompt.ids, (std::vector<std::int32_t>{1, 2, 3}));
  EXPECT_EQ(ids.generate.max_tokens, 0u);
  EXPECT_TRUE(ids.generate.logprobs);
  EXPECT_EQ(good(completion(R"("prompt":[[4]])")).generate.prompt.ids, std::vector<std::int32_t>{4});
  EXPECT_EQ(refused(completion(R"("prompt":"x","echo":false,"suffix":"","best_of":2,"n":2)")), "accepted");
}

TEST(ParseCompletion, RefusesWithThePath) {
  const refused_case cases[] = {
      {R"("x":1)", "invalid_value prompt"},
      {R"("prompt":[])", "invalid_value prompt"},
      {R"("prompt":{})", "invalid_value prompt"},
      {R"("prompt":[1,-2])", "invalid_value prompt[1]"},
      {R"("prompt":["a",[]])", "invalid_value prompt[1]"},
      {R"("prompt":["a",7])", "invalid_value prompt[1]"},
      {R"("prompt":"x","logprobs":6)", "invalid_value logprobs"},
      {R"("prompt":"x","echo":1)", "invalid_value echo"},
      {R"("prompt":"x","echo":true,"suffix":"y")", "unsupported_value suffix"},
      {R"("prompt":[1,2],"suffix":"y")", "unsupported_value suffix"},
      {R"("prompt":"x","best_of":3,"stream":true)", "invalid_value best_of"},
      {R"("prompt":["a","b","c","d","e","f","g","h","i"],"n":128)", "invalid_value prompt"},
      {R"("prompt":"x","n_predict":-2)", "invalid_value n_predict"},
      {R"("prompt":"x","best_of":1,"n":2)", "invalid_value best_of"},
      {R"("prompt":"x","max_tokens":-3)", "invalid_value max_tokens"},
      {R"("prompt":"x","parse_special":1)", "invalid_value parse_special"},
  };
  for (const refused_case& c : cases) EXPECT_EQ(refused(completion(c.members)), c.expected) << c.members;
}

TEST(ParseCompletion, TakesSeveralPromptsEchoSuffixAndBestOf) {
  const call several = good(completion(R"("prompt":["a",[1,2],"c"],"n":2,"echo":true,"parse_special":true)"));
  EXPECT_EQ(several.prompts(), 3u);
  EXPECT_EQ(several.generate.prompt.text, "a");
  EXPECT_EQ(several.generate.more_prompts[0].ids, (std::vector<std::int32_t>{1, 2}));
  EXPECT_TRUE(several.generate.more_prompts[0].want_text) << "the echo of ids is their text";
  EXPECT_EQ(several.generate.more_prompts[1].text, "c");
  EXPECT_TRUE(several.generate.more_prompts[1].parse_special);
  EXPECT_TRUE(several.generate.echo);
  EXPECT_EQ(several.generate.choices, 2u);
  const call infill = good(completion(R"("prompt":"def f(","suffix":"return x")"));
  EXPECT_EQ(infill.generate.prompt.kind, msg::prompt_kind::infill);
  EXPECT_EQ(infill.generate.prompt.suffix, "return x");
  const std::string large = R"("suffix":")" + std::string(1 << 20, 'x') + R"(","prompt":["a")";
  const std::string others = repeated(R"(,"a")", 63);
  EXPECT_EQ(refused(completion(large + others + "]")), "accepted");
  EXPECT_EQ(refused(completion(large + others + R"(,"a"])")), "invalid_value suffix");
  EXPECT_FALSE(infill.generate.prompt.parse_special) << "it is a file's text";
  EXPECT_TRUE(good(completion(R"("prompt":"x","echo":true)")).generate.prompt.parse_special);
  const call best = good(completion(R"("prompt":"x","n":2,"best_of":5)"));
  EXPECT_EQ(best.generate.choices, 5u);
  EXPECT_EQ(best.kept, 2u);
  EXPECT_TRUE(best.generate.logprobs) << "they say which is best";
  EXPECT_FALSE(best.show_logprobs);
  EXPECT_EQ(good(completion(R"("prompt":"x","n_predict":-1)")).generate.max_tokens, msg::no_limit);
  EXPECT_EQ(good(completion(R"("prompt":"x","n_predict":7)")).generate.max_tokens, 7u);
  EXPECT_EQ(good(completion(R"("prompt":"x","max_tokens":-1)")).generate.max_tokens, msg::no_limit);
}

TEST(ParseInfill, ReadsBothSidesAndFiles) {
  const call got = good(parse_infill(
      R"({"input_prefix":"a","prompt":"b","input_suffix":"c","input_extra":[{"filename":"f.h","text":"t"},{"text":"u"}]})",
      {}));
  EXPECT_EQ(got.kind, call_kind::infill);
  const msg::prompt& prompt = got.generate.prompt;
  EXPECT_EQ(prompt.kind, msg::prompt_kind::infill);
  EXPECT_EQ(prompt.text, "ab");
  EXPECT_EQ(prompt.suffix, "c");
  ASSERT_EQ(prompt.files.size(), 2u);
  EXPECT_EQ(prompt.files[0].name, "f.h");
  EXPECT_EQ(prompt.files[1].text, "u");
  EXPECT_EQ(got.generate.max_tokens, msg::no_limit);
  EXPECT_EQ(refused(parse_infill(R"({"input_prefix":"a"})", {})), "invalid_value input_suffix");
  EXPECT_EQ(refused(parse_infill(R"({"input_suffix":"a"})", {})), "invalid_value input_prefix");
  EXPECT_EQ(refused(parse_infill(R"({"input_prefix":"","input_suffix":"","input_extra":[{}]})", {})),
            "invalid_value input_extra[0].text");
}

parsed<call> embeddings(const std::string& members) {
  return parse_embeddings("{" + members + "}", {});
}

TEST(ParseEmbeddings, TakesAllFourFormsOfInput) {
  EXPECT_EQ(good(embeddings(R"("input":"a")")).generate.prompt.text, "a");
  EXPECT_EQ(good(embeddings(R"("input":["a","b"])")).prompts(), 2u);
  EXPECT_EQ(good(embeddings(R"("input":[1,2])")).generate.prompt.ids, (std::vector<std::int32_t>{1, 2}));
  EXPECT_EQ(good(embeddings(R"("input":[[1],[2,3]])")).generate.more_prompts[0].ids, (std::vector<std::int32_t>{2, 3}));
  const call got =
      good(embeddings(R"("input":"a","encoding_format":"base64","dimensions":8,"pooling":"last","model":"m")"));
  EXPECT_EQ(got.kind, call_kind::embeddings);
  EXPECT_EQ(got.generate.task, msg::request_task::embed);
  EXPECT_EQ(got.generate.model, "m");
  EXPECT_EQ(got.generate.pooling, msg::pooling::last);
  EXPECT_EQ(got.dimensions, 8u);
  EXPECT_TRUE(got.base64);
  EXPECT_FALSE(good(embeddings(R"("input":"a")")).base64);
  EXPECT_EQ(good(embeddings(R"("input":"a")")).generate.pooling, msg::pooling::mean);
}

TEST(ParseEmbeddings, RefusesWithThePath) {
  const refused_case cases[] = {
      {R"("x":1)", "invalid_value input"},
      {R"("input":"")", "invalid_value input"},
      {R"("input":[])", "invalid_value input"},
      {R"("input":["a",""])", "invalid_value input[1]"},
      {R"("input":[[]])", "invalid_value input[0]"},
      {R"("input":"a","encoding_format":"hex")", "invalid_value encoding_format"},
      {R"("input":"a","dimensions":0)", "invalid_value dimensions"},
      {R"("input":"a","pooling":"rank")", "invalid_value pooling"},
  };
  for (const refused_case& c : cases) EXPECT_EQ(refused(embeddings(c.members)), c.expected) << c.members;
}

TEST(ParseApplyTemplate, IsAChatThatIsOnlyRendered) {
  const call got = good(parse_apply_template("{" + std::string(hello) + R"(,"stream":true})"));
  EXPECT_EQ(got.kind, call_kind::apply_template);
  EXPECT_EQ(got.generate.task, msg::request_task::encode);
  EXPECT_TRUE(got.generate.prompt.render_only);
  EXPECT_FALSE(got.stream);
}

TEST(ParseTokenize, HasLlamaServersDefaults) {
  const call got = good(parse_tokenize(R"({"content":"hi"})"));
  EXPECT_EQ(got.generate.task, msg::request_task::encode);
  EXPECT_EQ(got.generate.prompt.text, "hi");
  EXPECT_FALSE(got.generate.prompt.add_special);
  EXPECT_TRUE(got.generate.prompt.parse_special);
  EXPECT_FALSE(got.generate.prompt.want_pieces);
  EXPECT_TRUE(good(parse_tokenize(R"({"content":"hi","with_pieces":true})")).generate.prompt.want_pieces);
  EXPECT_EQ(refused(parse_tokenize("{}")), "invalid_value content");
}

TEST(ParseDetokenize, ReadsIds) {
  const call got = good(parse_detokenize(R"({"tokens":[5,6]})"));
  EXPECT_EQ(got.generate.task, msg::request_task::decode_ids);
  EXPECT_EQ(got.generate.prompt.ids, (std::vector<std::int32_t>{5, 6}));
  EXPECT_EQ(refused(parse_detokenize(R"({"tokens":[5,"a"]})")), "invalid_value tokens[1]");
  EXPECT_EQ(refused(parse_detokenize("{}")), "invalid_value tokens");
}

}  // namespace
}  // namespace infer::http
