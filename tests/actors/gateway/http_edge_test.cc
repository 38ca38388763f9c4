// What a client meets before any actor does: routes, keys, origins, limits, and the ways of sending a request.
// Mirrors: session.cc, http_server.cc, gateway_metrics.cc, list_adaptor.cc
#include <chrono>
#include <thread>

#include "tests/actors/gateway/fixture.h"

namespace infer::actors {
namespace {

class HttpEdge : public gateway_fixture {};

TEST_F(HttpEdge, AnswersEveryReadableRouteWithAndWithoutVersion) {
  start();
  for (const char* path : {"/", "/health", "/v1/health", "/health/", "/v1/models", "/models", "/v1/models/", "/metrics",
                           "/v1/models?limit=5", "http://localhost/v1/models"})
    EXPECT_EQ(ask(get(path)).status, 200) << path;
  EXPECT_EQ(ask(get("/health")).body, R"({"status":"ok","models":[{"id":"org/the-model:q4@1","status":"ready"}]})");
  EXPECT_NE(ask(get("/v1/models")).body.find(R"("first_id":"org/the-model:q4@1")"), std::string::npos);
}

TEST_F(HttpEdge, FindsModelsByRawAndEncodedId) {
  start();
  for (const char* path :
       {"/v1/models/org/the-model:q4@1", "/v1/models/org%2Fthe-model%3Aq4%401", "/models/org/the-model:q4@1/"})
    EXPECT_EQ(ask(get(path)).status, 200) << path;
  const raw_answer unknown = ask(get("/v1/models/nobody"));
  EXPECT_EQ(unknown.status, 404);
  EXPECT_NE(unknown.body.find(R"("code":"model_not_found")"), std::string::npos);
  EXPECT_EQ(ask(get("/v1/models/%zz%")).status, 404);
}

TEST_F(HttpEdge, HeadHasTheFieldsButNoBody) {
  start();
  raw_client client = connect();
  client.send("HEAD / HTTP/1.1\r\nHost: x\r\n\r\nHEAD /v1/models HTTP/1.1\r\nHost: x\r\n\r\n" + get("/"));
  EXPECT_EQ(client.answer(true).status, 200);
  const raw_answer models = client.answer(true);
  EXPECT_EQ(models.status, 200);
  EXPECT_GT(std::stoi(models.fields.at("content-length")), 10);
  EXPECT_EQ(client.answer().status, 200);
}

TEST_F(HttpEdge, UnknownPathsAndMethods) {
  start();
  const raw_answer unknown = ask(get("/_stainless_unknown_path"));
  EXPECT_EQ(unknown.status, 404);
  EXPECT_EQ(
      unknown.body,
      R"({"error":{"message":"unknown URL: GET /_stainless_unknown_path","type":"invalid_request_error","param":null,"code":"unknown_url"}})");
  EXPECT_EQ(ask(get("/v1/v1/models")).status, 404);
  EXPECT_EQ(ask(post("/v1/nothing", "{}")).status, 404);
  const raw_answer wrong = ask(get("/v1/chat/completions"));
  EXPECT_EQ(wrong.status, 405);
  EXPECT_EQ(wrong.fields.at("allow"), "POST, OPTIONS");
  const raw_answer deleted = ask("DELETE /v1/models HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(deleted.status, 405);
  EXPECT_EQ(deleted.fields.at("allow"), "GET, HEAD, OPTIONS");
}

TEST_F(HttpEdge, AsksForTheKeyEverywhereButForHealth) {
  start([](gateway_config& c) { c.api_keys = {"first", "secret"}; });
  EXPECT_EQ(ask(get("/health")).status, 200);
  EXPECT_EQ(ask("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n", true).status, 200);
  const raw_answer missing = ask(get("/v1/models"));
  EXPECT_EQ(missing.status, 401);
  EXPECT_NE(missing.body.find(R"("code":"invalid_api_key")"), std::string::npos);
  for (const char* field : {"Authorization: Bearer secret\r\n", "authorization: bearer first\r\n",
                            "x-api-key: secret\r\n", "api-key: secret\r\n"})
    EXPECT_EQ(ask(get("/v1/models", field)).status, 200) << field;
  for (const char* field : {"Authorization: Bearer secre\r\n", "Authorization: Bearer secrets\r\n",
                            "Authorization: secret\r\n", "x-api-key: \r\n", "Authorization: Bearer \r\n"})
    EXPECT_EQ(ask(get("/v1/models", field)).status, 401) << field;
  EXPECT_EQ(ask(get("/metrics")).status, 401);
  EXPECT_EQ(ask("OPTIONS /v1/models HTTP/1.1\r\nHost: x\r\n\r\n").status, 204);
}

TEST_F(HttpEdge, RefusesForeignOrigins) {
  start([](gateway_config& c) { c.allowed_origins = {"https://app.example"}; });
  EXPECT_EQ(ask(get("/v1/models", "Origin: https://evil.example\r\n")).status, 403);
  EXPECT_EQ(ask(get("/v1/models", "Origin: null\r\n")).status, 403);
  EXPECT_EQ(ask(get("/v1/models", "Origin: http://localhost\r\n")).status, 200) << "the host itself";
  for (const char* const local : {"http://localhost:3000", "https://127.0.0.1:5173", "http://[::1]", "http://[::1]:80",
                                  "http://ui.localhost", "app://obsidian.md", "file://", "vscode-webview://x"})
    EXPECT_EQ(ask(get("/v1/models", std::string("Origin: ") + local + "\r\n")).status, 200) << local;
  for (const char* const foreign : {"http://localhost.evil.example", "http://127.0.0.1.evil.example", "https://[::2]",
                                    "chrome-extension://x", "moz-extension://x"})
    EXPECT_EQ(ask(get("/v1/models", std::string("Origin: ") + foreign + "\r\n")).status, 403) << foreign;
  const raw_answer allowed = ask(get("/v1/models", "Origin: https://app.example\r\n"));
  EXPECT_EQ(allowed.status, 200);
  EXPECT_EQ(allowed.fields.at("access-control-allow-origin"), "https://app.example");
  EXPECT_EQ(allowed.fields.at("vary"), "Origin");
  EXPECT_EQ(ask("OPTIONS /v1/chat/completions HTTP/1.1\r\nHost: x\r\nOrigin: https://evil.example\r\n\r\n").status,
            403);
}

TEST_F(HttpEdge, ANameThatWasMadeToPointHereIsNoOriginOfItsOwn) {
  const auto from = [&](const std::string& host, const std::string& origin) {
    return ask("GET /v1/models HTTP/1.1\r\nHost: " + host + "\r\nOrigin: " + origin + "\r\n\r\n").status;
  };
  start();
  EXPECT_EQ(from("evil.example:8080", "http://evil.example:8080"), 403);
  EXPECT_EQ(from("127.0.0.1.evil.example", "http://127.0.0.1.evil.example"), 403);
  EXPECT_EQ(from("[evil.example]", "http://[evil.example]"), 403);
  EXPECT_EQ(from("ui.localhost:8080", "http://ui.localhost:8080"), 200);
  EXPECT_EQ(from("192.168.1.7:8080", "http://192.168.1.7:8080"), 200) << "an address cannot be made to point elsewhere";
  EXPECT_EQ(from("[fe80::1]:8080", "http://[fe80::1]:8080"), 200);
}

TEST_F(HttpEdge, OnANetworkTheHostsNameIsAnOrigin) {
  start([](gateway_config& c) { c.address = "0.0.0.0"; });
  EXPECT_EQ(ask("GET /v1/models HTTP/1.1\r\nHost: box.lan\r\nOrigin: http://box.lan\r\n\r\n").status, 200);
}

TEST_F(HttpEdge, AnswersPreflightsOnAnyPath) {
  start([](gateway_config& c) { c.allowed_origins = {"*"}; });
  const raw_answer answer =
      ask("OPTIONS /any/path HTTP/1.1\r\nHost: x\r\nOrigin: https://a.b\r\nAccess-Control-Request-Method: POST\r\n"
          "Access-Control-Request-Headers: authorization,x-stainless-os\r\nAccess-Control-Request-Private-Network: "
          "true\r\n\r\n");
  EXPECT_EQ(answer.status, 204);
  EXPECT_EQ(answer.fields.at("access-control-allow-origin"), "https://a.b");
  EXPECT_EQ(answer.fields.at("access-control-allow-headers"), "authorization,x-stainless-os");
  EXPECT_EQ(answer.fields.at("access-control-allow-methods"), "GET, POST, DELETE, OPTIONS");
  EXPECT_EQ(answer.fields.at("access-control-allow-private-network"), "true");
  EXPECT_EQ(answer.fields.at("access-control-expose-headers"), "x-request-id, retry-after");
}

TEST_F(HttpEdge, TakesAnyTypeThatMayBeJson) {
  start();
  const std::string body = R"({"content":"hi"})";
  const auto with = [&](const std::string& field) {
    return ask("POST /tokenize HTTP/1.1\r\nHost: x\r\n" + field + "Content-Length: " + std::to_string(body.size()) +
               "\r\n\r\n" + body)
        .status;
  };
  for (const char* field : {"", "Content-Type: application/json; charset=utf-8\r\n", "Content-Type: text/plain\r\n",
                            "Content-Type: application/x-www-form-urlencoded\r\n", "Content-Encoding: identity\r\n"})
    EXPECT_EQ(with(field), 200) << field;
  for (const char* field : {"Content-Type: multipart/form-data; boundary=x\r\n", "Content-Type: text/xml\r\n",
                            "Content-Type: image/png\r\n", "Content-Encoding: gzip\r\n"})
    EXPECT_EQ(with(field), 415) << field;
}

TEST_F(HttpEdge, EchoesSaneRequestIdsAndMakesOthers) {
  start();
  EXPECT_EQ(ask(get("/", "x-request-id: abc-1\r\n")).fields.at("x-request-id"), "abc-1");
  EXPECT_TRUE(ask(get("/", "x-request-id: a b\r\n")).fields.at("x-request-id").starts_with("req_"));
  EXPECT_TRUE(ask(get("/nope")).fields.at("x-request-id").starts_with("req_"));
  const raw_answer answer = ask(get("/"));
  EXPECT_EQ(answer.fields.at("server"), "infer-node");
  EXPECT_EQ(answer.fields.at("keep-alive"), "timeout=90");
}

TEST_F(HttpEdge, ReadsARequestThatComesByteByByte) {
  start();
  raw_client client = connect();
  const std::string request = post("/tokenize", R"({"content":"four"})");
  for (const char byte : request) client.send(std::string_view(&byte, 1));
  EXPECT_EQ(client.answer().body, R"({"tokens":[1,2,4]})");
}

TEST_F(HttpEdge, AnswersPipelinedRequestsInOrder) {
  start();
  raw_client client = connect();
  std::string all;
  for (int i = 0; i < 20; ++i)
    all += i % 3 == 0 ? post("/tokenize", "{\"content\":\"" + std::string(static_cast<std::size_t>(i), 'a') + "\"}")
                      : get("/nothing" + std::to_string(i));
  client.send(all + get("/"));
  for (int i = 0; i < 20; ++i) {
    const raw_answer answer = client.answer();
    if (i % 3 == 0)
      EXPECT_EQ(answer.body, "{\"tokens\":[1,2," + std::to_string(i) + "]}");
    else
      EXPECT_NE(answer.body.find("/nothing" + std::to_string(i) + "\""), std::string::npos) << answer.body;
  }
  EXPECT_EQ(client.answer().status, 200);
}

TEST_F(HttpEdge, ReadsChunkedBodiesOfAnyGrain) {
  start();
  const std::string body = R"({"content":"abcde"})";
  for (const std::size_t grain : {std::size_t{1}, std::size_t{3}, body.size()}) {
    std::string request = "POST /tokenize HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (std::size_t at = 0; at < body.size(); at += grain) {
      const std::string piece = body.substr(at, grain);
      char size[8];
      std::snprintf(size, sizeof size, "%zx", piece.size());
      request += std::string(size) + ";ext=1\r\n" + piece + "\r\n";
    }
    request += "0\r\nTrailer: yes\r\n\r\n";
    raw_client client = connect();
    client.send(request + get("/"));
    EXPECT_EQ(client.answer().body, R"({"tokens":[1,2,5]})") << grain;
    EXPECT_EQ(client.answer().status, 200) << "the connection goes on";
  }
}

TEST_F(HttpEdge, TheOnlyTransferCodingIsChunked) {
  start();
  const auto with = [&](const std::string& fields) {
    return ask("POST /tokenize HTTP/1.1\r\nHost: x\r\n" + fields + "\r\n11\r\n{\"content\":\"abc\"}\r\n0\r\n\r\n")
        .status;
  };
  for (const char* const fields : {"Transfer-Encoding: chunked\r\n", "transfer-encoding:  Chunked \r\n"})
    EXPECT_EQ(with(fields), 200) << fields;
  for (const char* const fields :
       {"Transfer-Encoding: gzip, chunked\r\n", "Transfer-Encoding: gzip,chunked\r\n", "Transfer-Encoding: gzip\r\n",
        "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n", "Transfer-Encoding: chunked, chunked\r\n",
        "Transfer-Encoding: identity, chunked\r\n"})
    EXPECT_EQ(with(fields), 501) << fields;
}

TEST_F(HttpEdge, AnOldClientIsNotToldToContinue) {
  start();
  raw_client client = connect();
  client.send("POST /tokenize HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 17\r\n\r\n");
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  client.send(R"({"content":"abc"})");
  const raw_answer answer = client.answer();
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, R"({"tokens":[1,2,3]})");
}

TEST_F(HttpEdge, SaysContinueAtOnceOrRefuses) {
  start([](gateway_config& c) { c.api_keys = {"k"}; });
  const std::string body = R"({"content":"abc"})";
  raw_client client = connect();
  const std::string head =
      "POST /tokenize HTTP/1.1\r\nHost: x\r\nx-api-key: k\r\nExpect: 100-continue\r\nContent-Length: " +
      std::to_string(body.size()) + "\r\n\r\n";
  client.send(head);
  EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send(body);
  EXPECT_EQ(client.answer().body, R"({"tokens":[1,2,3]})");
  raw_client stranger = connect();
  stranger.send("POST /tokenize HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n");
  EXPECT_EQ(stranger.answer().status, 401);
  EXPECT_TRUE(stranger.ended());
}

TEST_F(HttpEdge, KeepsTheConnectionAfterARefusalWithAShortBody) {
  start();
  raw_client client = connect();
  client.send(post("/nowhere", std::string(1000, 'x')) + post("/tokenize", "not json") + get("/"));
  EXPECT_EQ(client.answer().status, 404);
  const raw_answer bad = client.answer();
  EXPECT_EQ(bad.status, 400);
  EXPECT_NE(bad.body.find(R"("code":"invalid_json")"), std::string::npos);
  EXPECT_EQ(client.answer().status, 200);
}

TEST_F(HttpEdge, RefusesOversizeHeads) {
  start();
  EXPECT_EQ(ask(get("/", "X-Codex-Turn-Metadata: " + std::string(60'000, 'm') + "\r\n")).status, 200);
  raw_client client = connect();
  client.send(get("/", "X-Long: " + std::string(70'000, 'm') + "\r\n"));
  const raw_answer answer = client.answer();
  EXPECT_EQ(answer.status, 431);
  EXPECT_EQ(answer.fields.at("connection"), "close");
  EXPECT_TRUE(client.ended());
}

TEST_F(HttpEdge, RefusesOversizeHeadsOfSmallFieldsThatComeBitByBit) {
  start();
  raw_client client = connect();
  client.send("GET / HTTP/1.1\r\n");
  for (int i = 0; i < 80; ++i) client.send("X-Field: " + std::string(1000, 'm') + "\r\n");
  client.send("\r\n");
  EXPECT_EQ(client.answer().status, 431);
  EXPECT_TRUE(client.ended());
}

TEST_F(HttpEdge, RefusesOversizeBodiesBeforeReadingThem) {
  start([](gateway_config& c) { c.max_body = 100'000; });
  raw_client client = connect();
  client.send("POST /tokenize HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n");
  const raw_answer answer = client.answer();
  EXPECT_EQ(answer.status, 413);
  EXPECT_NE(answer.body.find(R"("code":"request_too_large")"), std::string::npos);
  EXPECT_EQ(answer.fields.at("connection"), "close");
  EXPECT_TRUE(client.ended());

  raw_client chunked = connect();
  chunked.send("POST /tokenize HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
  for (int i = 0; i < 40; ++i) chunked.send("1000\r\n" + std::string(4096, ' ') + "\r\n");
  EXPECT_EQ(chunked.answer().status, 413);
}

TEST_F(HttpEdge, BoundsTheBodiesOfAllConnections) {
  start([](gateway_config& c) { c.max_buffered = 50'000; });
  raw_client first = connect();
  first.send("POST /tokenize HTTP/1.1\r\nHost: x\r\nContent-Length: 90000\r\n\r\n" + std::string(60'000, ' '));
  const raw_answer full = first.answer();
  EXPECT_EQ(full.status, 503);
  EXPECT_EQ(full.fields.at("retry-after"), "1");
  EXPECT_TRUE(first.ended());
  EXPECT_EQ(ask(post("/tokenize", R"({"content":"a"})")).status, 200) << "the bytes were given back";
}

TEST_F(HttpEdge, RefusesWhatIsNoHttp) {
  start();
  for (const char* nonsense : {"hello there\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "GET / HTTP/1.1\r\nbad header\r\n\r\n",
                               "POST /tokenize HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
                               "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"}) {
    raw_client client = connect();
    client.send(nonsense);
    const raw_answer answer = client.answer();
    EXPECT_EQ(answer.status, 400) << nonsense;
    EXPECT_TRUE(client.ended()) << nonsense;
  }
}

TEST_F(HttpEdge, LimitsConnections) {
  start([](gateway_config& c) { c.max_connections = 2; });
  raw_client first = connect(), second = connect();
  first.send(get("/"));
  second.send(get("/"));
  EXPECT_EQ(first.answer().status, 200);
  EXPECT_EQ(second.answer().status, 200);
  raw_client third = connect();
  const raw_answer answer = third.answer();
  EXPECT_EQ(answer.status, 503);
  EXPECT_NE(answer.body.find(R"("code":"too_many_connections")"), std::string::npos);
  EXPECT_TRUE(third.ended());
}

TEST_F(HttpEdge, EndsSlowHeadsSlowBodiesAndIdleConnections) {
  start([](gateway_config& c) {
    c.header_timeout = std::chrono::milliseconds(50);
    c.body_timeout = std::chrono::milliseconds(50);
    c.idle_timeout = std::chrono::milliseconds(50);
  });
  raw_client head = connect(), body = connect(), idle = connect();
  head.send("GET / HTTP/1.1\r\nHost:");
  body.send("POST /tokenize HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{");
  const raw_answer slow_head = head.answer(), slow_body = body.answer();
  EXPECT_EQ(slow_head.status, 408);
  EXPECT_TRUE(head.ended());
  EXPECT_EQ(slow_body.status, 408);
  EXPECT_TRUE(body.ended());
  EXPECT_TRUE(idle.ended());
}

TEST_F(HttpEdge, ServesHttp10AndCloseRequests) {
  start();
  raw_client old = connect();
  old.send("GET / HTTP/1.0\r\n\r\n");
  const raw_answer answer = old.answer();
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.fields.at("connection"), "close");
  EXPECT_TRUE(old.ended());
  raw_client closing = connect();
  closing.send(get("/", "Connection: close\r\n"));
  EXPECT_EQ(closing.answer().fields.at("connection"), "close");
  EXPECT_TRUE(closing.ended());
}

TEST_F(HttpEdge, AnswersAClientThatClosedItsSendingSide) {
  start();
  raw_client client = connect();
  client.send(get("/"));
  client.half_close();
  EXPECT_EQ(client.answer().status, 200);
}

TEST_F(HttpEdge, CountsWhatItDoes) {
  start();
  ask(get("/nope"));
  ask(post("/v1/completions", R"({"prompt":"say 3"})"));
  const std::string text = ask(get("/metrics")).body;
  EXPECT_NE(text.find("infer_http_requests_total{route=\"unknown\",status=\"404\"} 1"), std::string::npos) << text;
  EXPECT_NE(text.find("infer_http_requests_total{route=\"completions\",status=\"200\"} 1"), std::string::npos);
  EXPECT_NE(text.find("infer_tokens_in_total 5"), std::string::npos);
  EXPECT_NE(text.find("infer_tokens_out_total 3"), std::string::npos);
  EXPECT_NE(text.find("infer_http_first_byte_seconds_count"), std::string::npos);
  EXPECT_NE(text.find("infer_http_connections"), std::string::npos);
  EXPECT_NE(text.find("infer_http_streams 0"), std::string::npos);
  EXPECT_NE(text.find("infer_model_leases{model=\"org/the-model:q4@1\"} 2"), std::string::npos) << text;
  EXPECT_NE(text.find("infer_model_layers_total{model=\"org/the-model:q4@1\"} 30"), std::string::npos);
}

TEST_F(HttpEdge, HealthSaysSoWhereNobodyAnswers) {
  start([](gateway_config& c) { c.answer_timeout = std::chrono::milliseconds(50); });
  silence_zoo();
  EXPECT_EQ(ask(get("/health")).status, 503);
  EXPECT_EQ(ask(get("/v1/models")).fields.at("retry-after"), "1");
  const raw_answer metrics = ask(get("/metrics"));
  EXPECT_EQ(metrics.status, 200);
  // How many are open still depends on when the earlier connections close.
  EXPECT_NE(metrics.body.find("infer_http_connections "), std::string::npos) << metrics.body;
}

}  // namespace
}  // namespace infer::actors
