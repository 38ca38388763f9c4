// Requests that reach the actors: shapes on the wire, order of streams, refusals, credit, and everybody's end.
// Mirrors: transaction.cc, event_adaptor.cc, gateway_actor.cc
#include <chrono>
#include <thread>

#include "tests/actors/gateway/fixture.h"

namespace infer::actors {
namespace {

class ExchangeFlow : public gateway_fixture {};

constexpr const char* chat = "/v1/chat/completions";

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

TEST_F(ExchangeFlow, AnswersChatInOnePiece) {
  start();
  const raw_answer answer = ask(post(chat, chat_body("say 2", R"("n":2)")));
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.fields.at("content-type"), "application/json; charset=utf-8");
  EXPECT_NE(answer.body.find(R"("object":"chat.completion")"), std::string::npos);
  EXPECT_NE(answer.body.find(R"("model":"the-model")"), std::string::npos);
  EXPECT_EQ(times(answer.body, R"("content":"w0 w1 ")"), 2u);
  EXPECT_NE(answer.body.find(R"("prompt_tokens":5,"completion_tokens":4,"total_tokens":9)"), std::string::npos);
}

TEST_F(ExchangeFlow, AnswersCompletionsAndTheNativeRoutes) {
  start();
  EXPECT_NE(ask(post("/completions", R"({"prompt":"say 1"})")).body.find(R"("text":"w0 ")"), std::string::npos);
  EXPECT_EQ(ask(post("/tokenize", R"({"content":"abc"})")).body, R"({"tokens":[1,2,3]})");
  EXPECT_EQ(ask(post("/detokenize", R"({"tokens":[1]})")).body, R"({"content":"decoded"})");
}

TEST_F(ExchangeFlow, AnswersEmbeddingsInfillsAndTemplates) {
  start();
  EXPECT_EQ(ask(post("/v1/embeddings", R"({"input":["a","b"],"encoding_format":"float"})")).body,
            R"({"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.5,0.5]},)"
            R"({"object":"embedding","index":1,"embedding":[0.5,0.5]}],"model":"the-model",)"
            R"("usage":{"prompt_tokens":3,"total_tokens":3}})");
  const raw_answer wide = ask(post("/embeddings", R"({"input":"a","dimensions":3})"));
  EXPECT_EQ(wide.status, 400);
  EXPECT_NE(wide.body.find(R"("param":"dimensions")"), std::string::npos);
  EXPECT_NE(ask(post("/infill", R"({"input_prefix":"say 2","input_suffix":""})"))
                .body.find(R"("content":"w0 w1 ","stop":true,"model":"the-model","stop_type":"eos")"),
            std::string::npos);
  const raw_answer streamed = ask(post("/infill", R"({"input_prefix":"say 2","input_suffix":"","stream":true})"));
  EXPECT_TRUE(streamed.body.starts_with("data: {\"index\":0,\"content\":\"w0 \",\"stop\":false}\n\n")) << streamed.body;
  EXPECT_EQ(ask(post("/apply-template", chat_body("x"))).body, R"({"prompt":"decoded"})");
}

TEST_F(ExchangeFlow, TellsOfPropertiesAndSlots) {
  start();
  const raw_answer props = ask(get("/props"));
  EXPECT_EQ(props.status, 200);
  EXPECT_NE(props.body.find(R"("model_alias":"org/the-model:q4@1")"), std::string::npos) << props.body;
  EXPECT_EQ(ask(get("/props?model=org%2Fthe-model:q4@1")).status, 200);
  EXPECT_EQ(ask(get("/props?model=nobody")).status, 404);
  EXPECT_EQ(ask(get("/slots?x=y")).body, "[]") << "a model that does not run has none";
}

TEST_F(ExchangeFlow, SeveralPromptsCountTheirChoicesOn) {
  start();
  const std::string body = ask(post("/completions", R"({"prompt":["say 1","b"],"n":2})")).body;
  EXPECT_EQ(times(body, R"("text":)"), 4u) << body;
  EXPECT_NE(body.find(R"("index":3)"), std::string::npos);
}

TEST_F(ExchangeFlow, StreamsInOrderAndKeepsTheConnection) {
  start();
  raw_client client = connect();
  client.send(post(chat, chat_body("say 3", R"("stream":true,"stream_options":{"include_usage":true})")) + get("/"));
  const raw_answer answer = client.answer();
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.fields.at("content-type"), "text/event-stream; charset=utf-8");
  EXPECT_EQ(answer.fields.at("cache-control"), "no-cache");
  EXPECT_EQ(answer.fields.at("x-accel-buffering"), "no");
  EXPECT_TRUE(answer.complete);
  const std::string& body = answer.body;
  std::size_t at = 0;
  for (const char* part :
       {R"("delta":{"role":"assistant","content":""})", R"("delta":{"content":"w0 "})", R"("delta":{"content":"w1 "})",
        R"("delta":{"content":"w2 "})", R"("delta":{},"logprobs":null,"finish_reason":"stop")",
        R"("choices":[],"usage":{"prompt_tokens":5)", "data: [DONE]\n\n"}) {
    const std::size_t found = body.find(part, at);
    ASSERT_NE(found, std::string::npos) << part << "\n" << body;
    at = found;
  }
  EXPECT_EQ(times(body, "role"), 1u);
  EXPECT_EQ(times(body, R"("usage":null)"), 5u);
  EXPECT_TRUE(body.ends_with("data: [DONE]\n\n"));
  EXPECT_EQ(client.answer().status, 200) << "the pipelined request after the stream";
}

TEST_F(ExchangeFlow, StreamsToHttp10UntilTheEnd) {
  start();
  const std::string body = chat_body("say 1", R"("stream":true)");
  const raw_answer answer =
      ask("POST /v1/chat/completions HTTP/1.0\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  EXPECT_EQ(answer.fields.count("transfer-encoding"), 0u);
  EXPECT_TRUE(answer.body.ends_with("data: [DONE]\n\n"));
}

TEST_F(ExchangeFlow, RefusalsBeforeTheStartAreStatuses) {
  start();
  for (const char* stream : {"false", "true"}) {
    const std::string more = std::string("\"stream\":") + stream;
    const raw_answer loading = ask(post(chat, chat_body("refuse", more)));
    EXPECT_EQ(loading.status, 503);
    EXPECT_EQ(loading.fields.at("retry-after"), "2");
    EXPECT_EQ(loading.fields.at("retry-after-ms"), "1500");
    EXPECT_EQ(loading.fields.count("x-should-retry"), 0u);
    EXPECT_NE(loading.body.find(R"("code":"model_loading")"), std::string::npos);
    const raw_answer broken = ask(post(chat, chat_body("break", more)));
    EXPECT_EQ(broken.status, 500);
    EXPECT_EQ(broken.fields.at("x-should-retry"), "false");
    EXPECT_EQ(ask(post(chat, chat_body("die", more))).status, 500) << "whoever computed has died";
  }
  EXPECT_EQ(ask(post(chat, R"({"messages":[]})")).status, 400);
}

TEST_F(ExchangeFlow, PingsWhileItWaitsAndPutsErrorsIntoTheStream) {
  start([](gateway_config& c) { c.ping_interval = std::chrono::milliseconds(30); });
  raw_client client = connect();
  client.send(post(chat, chat_body("wait", R"("stream":true)")));
  EXPECT_NE(client.read_until(": ping\n\n").find("HTTP/1.1 200 OK"), std::string::npos);
  release_waiting();
  const std::string rest = client.read_until("data: [DONE]");
  EXPECT_NE(rest.find(R"("content":"w1 ")"), std::string::npos);
  raw_client dying = connect();
  dying.send(post(chat, chat_body("hold", R"("stream":true)")));
  dying.read_until(": ping\n\n");
  kill_gateway();
  const std::string error = dying.read_until("0\r\n\r\n");
  EXPECT_NE(error.find(R"(data: {"error":{"message":)"), std::string::npos) << error;
  EXPECT_EQ(error.find("[DONE]"), std::string::npos);
  EXPECT_TRUE(dying.ended());
}

TEST_F(ExchangeFlow, SendsNothingBeforeTheStart) {
  start();
  raw_client client = connect();
  client.send(post(chat, chat_body("wait", R"("stream":true)")));
  ASSERT_TRUE(noted("waiting"));
  release_waiting();
  EXPECT_TRUE(client.answer().complete);
}

TEST_F(ExchangeFlow, ARequestThatDiesInTheMiddleIsAnErrorInTheStream) {
  start();
  raw_client client = connect();
  client.send(post(chat, chat_body("start die", R"("stream":true)")));
  const raw_answer answer = client.answer();
  EXPECT_EQ(answer.status, 200);
  EXPECT_NE(answer.body.find(R"("content":"w0 ")"), std::string::npos);
  EXPECT_NE(answer.body.find(R"(data: {"error":{)"), std::string::npos);
  EXPECT_EQ(answer.body.find("[DONE]"), std::string::npos);
  EXPECT_TRUE(client.ended());
  EXPECT_EQ(ask(post(chat, chat_body("start die"))).status, 500) << "nothing was sent yet";
}

TEST_F(ExchangeFlow, AClientThatLeavesCancelsInEveryPhase) {
  start();
  int cancelled = 0;
  for (const char* script : {"hold", "start hold", "wait"}) {
    for (const char* more : {R"("stream":true)", R"("stream":false)"}) {
      const int before = count("generate");
      raw_client client = connect();
      client.send(post(chat, chat_body(script, more)));
      ASSERT_TRUE(noted("generate", before + 1));
      if (std::string(script) == "start hold" && std::string(more).find("true") != std::string::npos)
        client.read_until("w0 ");
      client.close();
      EXPECT_TRUE(noted("gone", ++cancelled)) << script << " " << more;
    }
  }
}

TEST_F(ExchangeFlow, ACancelledRequestHearsOfIt) {
  start();
  raw_client client = connect();
  client.send(post(chat, chat_body("start hold", R"("stream":true)")));
  client.read_until("w0 ");
  client.close();
  EXPECT_TRUE(noted("cancelled"));
}

TEST_F(ExchangeFlow, HalfClosedIsGone) {
  start();
  raw_client client = connect();
  client.send(post(chat, chat_body("start hold", R"("stream":true)")));
  client.read_until("w0 ");
  client.half_close();
  EXPECT_TRUE(noted("cancelled"));
  EXPECT_TRUE(client.read_until("never").find("never") == std::string::npos);
}

TEST_F(ExchangeFlow, AFinishedRequestIsNotCancelled) {
  start();
  ask(post(chat, chat_body("say 5", R"("stream":true)")));
  ask(post(chat, chat_body("say 5")));
  EXPECT_EQ(count("cancelled"), 0);
  EXPECT_EQ(count("sink down"), 0);
}

TEST_F(ExchangeFlow, AReaderThatStopsStopsTheTokens) {
  start();
  raw_client client = connect(4096);
  client.send(post(chat, chat_body("flood", R"("stream":true)")));
  client.read_until("HTTP/1.1 200");
  const int made = tokens_when_quiet();
  EXPECT_LT(made, 20'000) << "bounded by socket buffers and the window";
  for (int i = 64; i < made; ++i) client.read_until("\"content\":\"x");
  EXPECT_TRUE(noted("token", made + 1)) << "reading on gives credit";
  raw_client other = connect();
  other.send(post(chat, chat_body("say 2")));
  EXPECT_EQ(other.answer().status, 200) << "nobody else waits";
}

TEST_F(ExchangeFlow, AReaderThatIsSlowGetsAllAndOneThatStopsIsLetGo) {
  start([](gateway_config& c) { c.write_timeout = std::chrono::milliseconds(400); });
  raw_client slow = connect(65536), stopped = connect(65536);
  constexpr int blocks = 24;
  for (raw_client* const client : {&slow, &stopped})
    client->send(post(chat, chat_body("recite " + std::to_string(blocks))));
  EXPECT_TRUE(stopped.read_until("<0>").ends_with("<0>"));
  for (int block = 0; block < blocks; ++block) {
    const std::string mark = "<" + std::to_string(block) + ">";
    ASSERT_TRUE(slow.read_until(mark).ends_with(mark)) << "all of it takes longer than the client may stop";
    std::this_thread::sleep_for(std::chrono::milliseconds(40));
  }
  EXPECT_NE(slow.read_until("finish_reason").find("finish_reason"), std::string::npos);
  EXPECT_EQ(stopped.read_until("<23>").find("<23>"), std::string::npos);
}

TEST_F(ExchangeFlow, OutlivesItsGatewayActor) {
  start();
  raw_client streaming = connect(), next = connect();
  streaming.send(post(chat, chat_body("start hold", R"("stream":true)")));
  streaming.read_until("w0 ");
  kill_gateway();
  EXPECT_NE(streaming.read_until("0\r\n\r\n").find(R"(data: {"error":{)"), std::string::npos);
  next.send(post(chat, chat_body("say 1")));
  start_gateway();
  EXPECT_EQ(next.answer().status, 200) << "the request waited for the new one";
}

TEST_F(ExchangeFlow, SaysWhenNoGatewayActorComes) {
  start([](gateway_config& c) { c.answer_timeout = std::chrono::milliseconds(50); }, false);
  const raw_answer answer = ask(post(chat, chat_body("say 1")));
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.fields.at("retry-after"), "1");
}

TEST_F(ExchangeFlow, ParsesLargeBodiesAside) {
  start([](gateway_config& c) { c.parse_threshold = 1000; });
  const std::string body = chat_body("say 2", "\"user\":\"" + std::string(2'000'000, 'u') + "\"");
  EXPECT_NE(ask(post(chat, body)).body.find("w0 w1 "), std::string::npos);
  EXPECT_EQ(ask(post(chat, std::string(5000, '['))).status, 400);
}

TEST_F(ExchangeFlow, DrainsBeforeItStops) {
  start();
  raw_client busy = connect(), idle = connect();
  idle.send(get("/"));
  EXPECT_EQ(idle.answer().status, 200);
  busy.send(post(chat, chat_body("wait")));
  ASSERT_TRUE(noted("waiting"));
  stop_accepting();
  EXPECT_TRUE(idle.ended());
  EXPECT_FALSE(drain(50));
  release_waiting();
  const raw_answer answer = busy.answer();
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.fields.at("connection"), "close");
  EXPECT_TRUE(drain(10'000));
  EXPECT_TRUE(busy.ended());
}

TEST_F(ExchangeFlow, StopsWithStreamsUnderWay) {
  start();
  raw_client client = connect();
  client.send(post(chat, chat_body("start hold", R"("stream":true)")));
  client.read_until("w0 ");
  stop_server();
  EXPECT_TRUE(noted("cancelled"));
}

}  // namespace
}  // namespace infer::actors
