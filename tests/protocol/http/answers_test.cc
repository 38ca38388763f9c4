// Shapes of everything that is answered: whole bodies, streams in their order, errors and the small native routes.
// Mirrors: answer_parts.cc, embeddings_body.cc, envelope.cc, sse.cc, status.cc, stream_writer.cc, whole_answer.cc
#include <gtest/gtest.h>

#include <limits>

#include "protocol/http/embeddings_body.h"
#include "protocol/http/envelope.h"
#include "protocol/http/json_text.h"
#include "protocol/http/sse.h"
#include "protocol/http/status.h"
#include "protocol/http/stream_writer.h"
#include "protocol/http/whole_answer.h"

namespace infer::http {
namespace {

call make_call(call_kind kind, std::uint32_t choices = 1, bool logprobs = false, bool usage = false) {
  call out;
  out.kind = kind;
  out.generate.choices = choices;
  out.generate.logprobs = out.show_logprobs = logprobs;
  out.kept = choices;
  out.include_usage = usage;
  return out;
}

answer_head head() {
  return {"id-1", 1700000000, "asked", "fp"};
}

msg::request_finished finished() {
  return {1, 5, 3, 2, 100000, 200000};
}

const std::string chunk_start =
    R"(data: {"id":"id-1","object":"chat.completion.chunk","created":1700000000,"model":"real","system_fingerprint":"fp",)";

TEST(StreamWriter, SendsRoleTextFinishUsageDoneInThisOrder) {
  stream_writer writer(make_call(call_kind::chat, 1, false, true), head());
  EXPECT_EQ(
      writer.started({1, "real", 5, 2, 9}),
      chunk_start +
          R"("choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],"usage":null})"
          "\n\n");
  EXPECT_EQ(
      writer.text({1, 0, "hé\n", {}, 1}),
      chunk_start +
          R"("choices":[{"index":0,"delta":{"content":"hé\n"},"logprobs":null,"finish_reason":null}],"usage":null})"
          "\n\n");
  EXPECT_EQ(writer.choice_finished({1, 0, msg::finish_reason::length, "", 3}),
            chunk_start + R"("choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"length"}],"usage":null})"
                          "\n\n");
  const std::string end = writer.finished(finished());
  EXPECT_TRUE(end.starts_with(
      chunk_start +
      R"("choices":[],"usage":{"prompt_tokens":5,"completion_tokens":3,"total_tokens":8,"prompt_tokens_details":{"cached_tokens":2,)"))
      << end;
  EXPECT_NE(end.find(R"("timings":{"cache_n":2,)"), std::string::npos) << end;
  EXPECT_TRUE(end.ends_with("}\n\ndata: [DONE]\n\n"));
}

TEST(StreamWriter, SaysNothingOfUsageUnlessAsked) {
  stream_writer writer(make_call(call_kind::chat), head());
  EXPECT_EQ(writer.started({1, "real", 5, 2, 9}).find("usage"), std::string::npos);
  EXPECT_EQ(writer.choice_finished({1, 0, msg::finish_reason::stop, "", 3}), "") << "its frame waits for the timings";
  const std::string end = writer.finished(finished());
  EXPECT_EQ(end.find("usage"), std::string::npos) << end;
  EXPECT_TRUE(end.starts_with(chunk_start +
                              R"("choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}],)"
                              R"("timings":{"cache_n":2,)"))
      << end;
  EXPECT_TRUE(end.ends_with("}}\n\ndata: [DONE]\n\n")) << end;
}

TEST(StreamWriter, EveryChoiceEndsOnceAndTheLastOneWithTheTimings) {
  for (const call_kind kind : {call_kind::chat, call_kind::completion}) {
    stream_writer writer(make_call(kind, 3), head());
    std::string two = writer.choice_finished({1, 2, msg::finish_reason::stop, "", 3});
    two += writer.choice_finished({1, 0, msg::finish_reason::length, "", 3});
    EXPECT_EQ(writer.choice_finished({1, 1, msg::finish_reason::stop, "", 3}), "");
    EXPECT_EQ(two.find("timings"), std::string::npos) << two;
    EXPECT_LT(two.find(R"("index":2)"), two.find(R"("index":0)")) << two;
    const std::string last = writer.finished(finished());
    EXPECT_LT(last.find(R"("index":1)"), last.find(R"("timings")")) << last;
  }
}

TEST(StreamWriter, GivesEveryChoiceItsRoleOnce) {
  stream_writer writer(make_call(call_kind::chat, 2), head());
  const std::string roles = writer.started({1, "real", 5, 2, 9});
  EXPECT_NE(roles.find(R"("index":0,"delta":{"role")"), std::string::npos);
  EXPECT_NE(roles.find(R"("index":1,"delta":{"role")"), std::string::npos);
  EXPECT_EQ(writer.text({1, 1, "x", {}, 1}).find("role"), std::string::npos);
  EXPECT_EQ(writer.text({1, 2, "x", {}, 1}), "") << "a choice that was not asked for";
  EXPECT_EQ(writer.text({1, 0, "", {}, 1}), "") << "nothing to show yet";
}

std::vector<msg::text_token> tokens() {
  const float infinity = std::numeric_limits<float>::infinity();
  return {{7, "é", -0.5f, {{7, "é", -0.5f}, {8, "\xff", -infinity}}},
          {9, "b", std::numeric_limits<float>::quiet_NaN(), {}}};
}

TEST(StreamWriter, PutsLogprobsBesideTheirText) {
  stream_writer writer(make_call(call_kind::chat, 1, true), head());
  EXPECT_NE(
      writer.text({1, 0, "éb", tokens(), 2})
          .find(R"("logprobs":{"content":[{"token":"é","logprob":-0.5,"bytes":[195,169],"top_logprobs":[)"
                R"({"token":"é","logprob":-0.5,"bytes":[195,169]},{"token":"�","logprob":-9999.0,"bytes":[255]}]},)"
                R"({"token":"b","logprob":-9999.0,"bytes":[98],"top_logprobs":[]}],"refusal":null})"),
      std::string::npos);
}

TEST(StreamWriter, ThinkingComesBesideTheAnswerAndBeforeIt) {
  stream_writer writer(make_call(call_kind::chat), head());
  EXPECT_NE(writer.text({1, 0, "", {}, 1, "hm"}).find(R"("delta":{"reasoning_content":"hm"},"logprobs":null)"),
            std::string::npos);
  const std::string both = writer.text({1, 0, "Yes", {}, 3, " so"});
  EXPECT_LT(both.find(R"("delta":{"reasoning_content":" so"})"), both.find(R"("delta":{"content":"Yes"})"));
  EXPECT_NE(both.find(R"("delta":{"content":"Yes"})"), std::string::npos);
  whole_answer whole(make_call(call_kind::chat), head());
  whole.text({1, 0, "", {}, 1, "hm"});
  whole.text({1, 0, "Yes", {}, 3, " so"});
  msg::request_finished end = finished();
  end.reasoning_tokens = 2;
  const std::string body = whole.body(end);
  EXPECT_NE(body.find(R"("content":"Yes","reasoning_content":"hm so")"), std::string::npos) << body;
  EXPECT_NE(body.find(R"("reasoning_tokens":2)"), std::string::npos) << body;
}

TEST(StreamWriter, TheTakenTokenIsAmongTheLikelyOnesOfACompletion) {
  stream_writer writer(make_call(call_kind::completion, 1, true), head());
  const std::string chunk = writer.text({1, 0, "ab", {{1, "a", -3, {{2, "z", -1}}}, {3, "b", -2, {}}}, 2});
  EXPECT_NE(chunk.find(R"("top_logprobs":[{"z":-1.0,"a":-3.0},{"b":-2.0}])"), std::string::npos) << chunk;
  const std::string control = writer.text({1, 0, "", {{9, "", -3, {{2, "z", -1}, {9, "<end>", -3}}}}, 3});
  EXPECT_NE(control.find(R"("top_logprobs":[{"z":-1.0,"<end>":-3.0}])"), std::string::npos) << control;
}

TEST(StreamWriter, CompletionsHaveTextAndRunningOffsets) {
  stream_writer writer(make_call(call_kind::completion, 1, true), head());
  EXPECT_EQ(writer.started({1, "real", 5, 2, 9}), "");
  EXPECT_NE(
      writer.text({1, 0, "éb", tokens(), 2})
          .find(
              R"("choices":[{"text":"éb","index":0,"logprobs":{"tokens":["é","b"],"token_logprobs":[-0.5,null],)"
              R"("top_logprobs":[{"é":-0.5,"bytes:\\xff":-9999.0},null],"text_offset":[0,1]},"finish_reason":null}])"),
      std::string::npos);
  EXPECT_NE(writer.text({1, 0, "éb", tokens(), 4}).find(R"("text_offset":[2,3])"), std::string::npos);
  writer.choice_finished({1, 0, msg::finish_reason::stop, "", 3});
  const std::string end = writer.finished(finished());
  EXPECT_NE(end.find(R"("object":"text_completion")"), std::string::npos);
  EXPECT_NE(end.find(R"({"text":"","index":0,"logprobs":null,"finish_reason":"stop"})"), std::string::npos);
}

TEST(StreamWriter, ErrorsAreOneFrame) {
  EXPECT_EQ(stream_writer::failed(to_http({1, msg::refusal::internal, "it broke", "", 0})),
            "data: {\"error\":{\"message\":\"it broke\",\"type\":\"server_error\",\"param\":null,\"code\":null}}\n\n");
}

TEST(WholeAnswer, GathersEveryChoice) {
  whole_answer answer(make_call(call_kind::chat, 2), head());
  answer.started({1, "real", 5, 2, 9});
  answer.text({1, 1, "b", {}, 1});
  answer.text({1, 0, "a", {}, 1});
  answer.text({1, 0, "c", {}, 2});
  answer.choice_finished({1, 0, msg::finish_reason::stop, "", 2});
  answer.choice_finished({1, 1, msg::finish_reason::length, "", 1});
  const std::string body = answer.body(finished());
  EXPECT_TRUE(body.starts_with(
      R"({"id":"id-1","object":"chat.completion","created":1700000000,"model":"real","system_fingerprint":"fp","choices":[)"
      R"({"index":0,"message":{"role":"assistant","content":"ac","refusal":null,"annotations":[]},"logprobs":null,"finish_reason":"stop"},)"
      R"({"index":1,"message":{"role":"assistant","content":"b","refusal":null,"annotations":[]},"logprobs":null,"finish_reason":"length"}],)"
      R"("usage":{"prompt_tokens":5,"completion_tokens":3,"total_tokens":8,)"))
      << body;
  EXPECT_NE(body.find(R"("predicted_per_second":15.0)"), std::string::npos) << body;
}

TEST(WholeAnswer, CompletionsHaveLegacyLogprobs) {
  whole_answer answer(make_call(call_kind::completion, 1, true), head());
  answer.started({1, "real", 5, 2, 9});
  answer.text({1, 0, "éb", tokens(), 2});
  answer.choice_finished({1, 0, msg::finish_reason::stop, "", 2});
  EXPECT_NE(answer.body(finished()).find(R"("choices":[{"text":"éb","index":0,"logprobs":{"tokens":["é","b"],)"),
            std::string::npos);
}

TEST(WholeAnswer, ShowsTheMostLikelyOfMoreChoicesOfEveryPrompt) {
  call asked = make_call(call_kind::completion, 3, true);
  asked.kept = 1;
  asked.show_logprobs = false;
  asked.generate.more_prompts.resize(1);
  whole_answer answer(asked, head());
  answer.started({1, "real", 5, 2, 9});
  const float likely[] = {-2, -0.5f, -1, -3, -4, -0.25f};
  for (std::uint32_t choice = 0; choice < 6; ++choice) {
    answer.text({1, choice, "prompt", {{1, "prompt", -100.0f, {}}}, 0});
    answer.text({1, choice, std::to_string(choice), {{1, "t", likely[choice], {}}}, 1});
    answer.choice_finished({1, choice, msg::finish_reason::stop, "", 1});
  }
  const std::string body = answer.body(finished());
  EXPECT_NE(body.find(R"("choices":[{"text":"prompt1","index":0,"logprobs":null,"finish_reason":"stop"},)"
                      R"({"text":"prompt5","index":1,"logprobs":null,"finish_reason":"stop"}])"),
            std::string::npos)
      << body;
}

TEST(WholeAnswer, GivesBackWhatClientsSendToGetBack) {
  answer_head with = head();
  with.service_tier = true;
  with.metadata = {{"a", "b"}};
  whole_answer answer(make_call(call_kind::chat), with);
  const std::string body = answer.body(finished());
  EXPECT_NE(body.find(R"("service_tier":"default","metadata":{"a":"b"})"), std::string::npos) << body;
  boost::json::value nested = "x";
  for (int i = 0; i < 250; ++i) nested = boost::json::object{{"a", std::move(nested)}};
  with.metadata = nested.get_object();
  EXPECT_NE(whole_answer(make_call(call_kind::chat), with).body(finished()).find(R"({"a":{"a":)"), std::string::npos);
}

TEST(Infill, AnswersAsLlamaServerDoes) {
  whole_answer whole(make_call(call_kind::infill), head());
  whole.started({1, "real", 5, 2, 9});
  whole.text({1, 0, "middle", {}, 1});
  whole.choice_finished({1, 0, msg::finish_reason::stop, "STOP", 1});
  EXPECT_TRUE(
      whole.body(finished())
          .starts_with(
              R"({"index":0,"content":"middle","stop":true,"model":"real","stop_type":"word","stopping_word":"STOP",)"
              R"("truncated":false,"tokens_predicted":3,"tokens_evaluated":5,"tokens_cached":2,"timings":{)"))
      << whole.body(finished());
  stream_writer stream(make_call(call_kind::infill), head());
  EXPECT_EQ(stream.started({1, "real", 5, 2, 9}), "");
  EXPECT_EQ(stream.text({1, 0, "mid", {}, 1}), "data: {\"index\":0,\"content\":\"mid\",\"stop\":false}\n\n");
  EXPECT_EQ(stream.choice_finished({1, 0, msg::finish_reason::length, "", 1}), "");
  const std::string end = stream.finished(finished());
  EXPECT_NE(end.find(R"("stop_type":"limit")"), std::string::npos) << end;
  EXPECT_EQ(end.find("[DONE]"), std::string::npos);
}

msg::text_transformed embeddings() {
  msg::text_transformed event;
  event.model = "real";
  for (const float x : {0.6f, 0.8f, 0.0f, -1.0f, 0.0f, 0.0f}) event.embeddings.emplace_back(x);
  event.prompt_tokens = 7;
  return event;
}

TEST(Embeddings, AreNumbersOrBase64InOrder) {
  call asked = make_call(call_kind::embeddings);
  asked.generate.more_prompts.resize(1);
  const std::string numbers = write_json(embeddings_body(asked, embeddings()).value());
  EXPECT_TRUE(numbers.starts_with(R"({"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.6)"));
  EXPECT_TRUE(numbers.ends_with(
      R"({"object":"embedding","index":1,"embedding":[-1.0,0.0,0.0]}],"model":"real","usage":{"prompt_tokens":7,"total_tokens":7}})"))
      << numbers;
  asked.base64 = true;
  EXPECT_NE(
      write_json(embeddings_body(asked, embeddings()).value()).find(R"("index":1,"embedding":"AACAvwAAAAAAAAAA"})"),
      std::string::npos);
  asked.dimensions = 1;
  asked.base64 = false;
  EXPECT_NE(write_json(embeddings_body(asked, embeddings()).value()).find(R"("embedding":[1.0]})"), std::string::npos)
      << "shorter ones have length 1 again";
  asked.dimensions = 4;
  ASSERT_FALSE(embeddings_body(asked, embeddings()));
  EXPECT_EQ(embeddings_body(asked, embeddings()).error().param, "dimensions");
}

TEST(Embeddings, Base64IsThatOfTheStandard) {
  const std::pair<const char*, const char*> vectors[] = {{"", ""},
                                                         {"f", "Zg=="},
                                                         {"fo", "Zm8="},
                                                         {"foo", "Zm9v"},
                                                         {"foob", "Zm9vYg=="},
                                                         {"fooba", "Zm9vYmE="},
                                                         {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : vectors) EXPECT_EQ(base64_of(bytes), text);
}

TEST(Status, MapsEveryRefusal) {
  struct expected {
    msg::refusal code;
    int status;
    const char* type;
    const char* text;
    std::uint32_t retry;
    bool give_up;
  };
  const expected rows[] = {
      {msg::refusal::invalid_value, 400, "invalid_request_error", "invalid_value", 0, false},
      {msg::refusal::unsupported_value, 400, "invalid_request_error", "unsupported_value", 0, false},
      {msg::refusal::context_length_exceeded, 400, "invalid_request_error", "context_length_exceeded", 0, false},
      {msg::refusal::model_not_found, 404, "invalid_request_error", "model_not_found", 0, false},
      {msg::refusal::model_failed, 503, "server_error", "model_failed", 0, true},
      {msg::refusal::no_memory, 503, "server_error", "no_memory", 0, true},
      {msg::refusal::overloaded, 429, "rate_limit_error", "rate_limit_exceeded", 1000, false},
      {msg::refusal::model_loading, 503, "server_error", "model_loading", 1000, false},
      {msg::refusal::deadline_exceeded, 504, "server_error", "deadline_exceeded", 0, false},
      {msg::refusal::shutting_down, 503, "server_error", "shutting_down", 1000, false},
      {msg::refusal::internal, 500, "server_error", "", 0, true},
  };
  for (const expected& row : rows) {
    const http_error got = to_http({1, row.code, "why", "field", 0});
    EXPECT_EQ(got.status, row.status);
    EXPECT_EQ(got.type, row.type);
    EXPECT_EQ(got.code, row.text);
    EXPECT_EQ(got.retry_after_ms, row.retry);
    EXPECT_EQ(got.give_up, row.give_up);
    EXPECT_EQ(got.message, "why");
    EXPECT_EQ(got.param, "field");
  }
  const http_error later = to_http({1, msg::refusal::model_failed, "why", "", 2500});
  EXPECT_EQ(later.retry_after_ms, 2500u);
  EXPECT_FALSE(later.give_up);
}

msg::model_list models() {
  msg::model_list list;
  msg::model_row a, b;
  a.id = "org/a:q4@1";
  a.aliases = {"gpt-4"};
  a.state = msg::model_state::ready;
  a.context = 4096;
  a.created = 1700000000;
  b.id = "b";
  b.state = msg::model_state::loading;
  b.percent = 40;
  list.models = {a, b};
  return list;
}

TEST(Envelope, ModelsHaveBothDialectsMembers) {
  const std::string body = write_json(models_body(models()));
  EXPECT_TRUE(body.starts_with(
      R"({"object":"list","data":[{"id":"org/a:q4@1","object":"model","created":1700000000,"owned_by":"infer-node","shutdown_date":null,"type":"model","display_name":"org/a:q4@1","created_at":"2023-11-14T22:13:20Z","max_input_tokens":4096,"max_tokens":4096,"capabilities":null,"aliases":["gpt-4"],"status":{"value":"ready"}})"))
      << body;
  EXPECT_NE(body.find(R"("status":{"value":"loading","percent":40})"), std::string::npos);
  EXPECT_TRUE(body.ends_with(R"("has_more":false,"first_id":"org/a:q4@1","last_id":"b"})")) << body;
  EXPECT_EQ(find_model(models(), "gpt-4") != nullptr, true);
  EXPECT_EQ(find_model(models(), "nope"), nullptr);
}

TEST(Envelope, HealthWaitsForTheFirstModel) {
  bool ok = false;
  EXPECT_EQ(
      write_json(health_body(models(), ok)),
      R"({"status":"ok","models":[{"id":"org/a:q4@1","status":"ready"},{"id":"b","status":"loading","percent":40}]})");
  EXPECT_TRUE(ok);
  msg::model_list loading = models();
  loading.models.erase(loading.models.begin());
  EXPECT_NE(write_json(health_body(loading, ok)).find(R"("message":"Loading model","type":"unavailable_error")"),
            std::string::npos);
  EXPECT_FALSE(ok);
  EXPECT_EQ(write_json(health_body({}, ok)), R"({"status":"ok","models":[]})");
  EXPECT_TRUE(ok);
}

TEST(Envelope, TokensAsLlamaServerAnswersThem) {
  const msg::text_transformed event{1, "m", {5, 6}, {"a", "\xC3"}, "text"};
  EXPECT_EQ(write_json(tokenize_body(event, false)), R"({"tokens":[5,6]})");
  EXPECT_EQ(write_json(tokenize_body(event, true)), R"({"tokens":[{"id":5,"piece":"a"},{"id":6,"piece":[195]}]})");
  EXPECT_EQ(write_json(detokenize_body(event)), R"({"content":"text"})");
}

TEST(Envelope, PropsAndSlotsAsLlamaServerAnswersThem) {
  msg::model_row row = models().models[0];
  row.path = "a.gguf";
  row.facts = {2, 100, "{{ x }}", "<s>", "</s>"};
  row.busy = {{77, 1, 10, 12, 3}};
  const std::string props = write_json(props_body(row, {}, "build"));
  for (const char* part :
       {R"("default_generation_settings":{"n_ctx":4096,"params":{"temperature":1.0,)", R"("total_slots":2)",
        R"("model_path":"a.gguf")", R"("chat_template":"{{ x }}","bos_token":"<s>","eos_token":"</s>")",
        R"("modalities":{"vision":false,"audio":false})", R"("build_info":"build")", R"("xtc_threshold":0.1,)",
        R"("samplers":["penalties","dry","top_n_sigma","top_k","typ_p","top_p","min_p","xtc","temperature"])"})
    EXPECT_NE(props.find(part), std::string::npos) << part << "\n" << props;
  EXPECT_EQ(
      write_json(slots_body(row)),
      R"([{"id":0,"id_task":77,"n_ctx":4096,"speculative":false,"is_processing":true,"choice":1,"prompt_tokens":10,"n_past":12,"next_token":{"has_next_token":true,"n_decoded":3}},)"
      R"({"id":1,"id_task":-1,"n_ctx":4096,"speculative":false,"is_processing":false}])");
  EXPECT_EQ(write_json(apply_template_body({1, "m", {}, {}, "<user>"})), R"({"prompt":"<user>"})");
}

TEST(Sse, FramesEndWithAnEmptyLine) {
  EXPECT_EQ(sse_data(boost::json::value("a\nb")), "data: \"a\\nb\"\n\n");
  EXPECT_EQ(sse_ping(), ": ping\n\n");
  EXPECT_EQ(sse_done(), "data: [DONE]\n\n");
}

TEST(AnswerParts, IdsAreUniqueAndNamed) {
  const std::string one = new_answer_id(call_kind::chat), two = new_answer_id(call_kind::completion);
  EXPECT_TRUE(one.starts_with("chatcmpl-"));
  EXPECT_TRUE(two.starts_with("cmpl-"));
  EXPECT_NE(one.substr(9), new_answer_id(call_kind::chat).substr(9));
}

}  // namespace
}  // namespace infer::http
