// The gateway's parts that need neither sockets nor actors.
// Mirrors: routes.cc, edge_checks.cc, exchange.cc, link.cc, request_reader.cc, answer_bytes.cc
#include <gtest/gtest.h>

#include "actors/gateway/answer_bytes.h"
#include "actors/gateway/edge_checks.h"
#include "actors/gateway/link.h"
#include "actors/gateway/request_reader.h"
#include "actors/gateway/routes.h"

namespace infer::actors {
namespace {

TEST(Routes, KnowPathsAndMethods) {
  EXPECT_EQ(match_route("/v1/chat/completions?beta=true").to, route::chat);
  EXPECT_EQ(match_route("/chat/completions/").to, route::chat);
  EXPECT_EQ(match_route("http://host:1/tokenize").to, route::tokenize);
  EXPECT_EQ(match_route("http://host").to, route::root);
  EXPECT_EQ(match_route("/v1").to, route::unknown);
  EXPECT_EQ(match_route("/v1/v1/models").to, route::unknown);
  EXPECT_EQ(match_route("/v1x/models").to, route::unknown);
  EXPECT_EQ(match_route("*").to, route::unknown);
  EXPECT_EQ(match_route("").to, route::root);
  EXPECT_EQ(match_route("/v1/models/a%2Fb:c@d").model, "a/b:c@d");
  EXPECT_EQ(match_route("/v1/models/50%").model, "50%");
  EXPECT_EQ(match_route("/v1/models/%4").model, "%4");
  EXPECT_EQ(match_route("/v1/embeddings").to, route::embeddings);
  EXPECT_EQ(match_route("/infill").to, route::infill);
  EXPECT_EQ(match_route("/slots?model=x").to, route::slots);
  EXPECT_EQ(query_value("/slots?a=b&model=x%2Fy&c", "model"), "x/y");
  EXPECT_EQ(query_value("/slots?model=x#model=y", "model"), "x");
  EXPECT_EQ(query_value("/slots?models=x&&model", "model"), "");
  EXPECT_EQ(query_value("/slots", "model"), "");
  EXPECT_TRUE(allows(route::root, "HEAD"));
  EXPECT_FALSE(allows(route::chat, "GET"));
  EXPECT_FALSE(allows(route::chat, "POS"));
}

TEST(EdgeChecks, NumberCallersByTheirKey) {
  const std::vector<std::string> keys{"one", "two"};
  request_head head;
  EXPECT_EQ(caller_of(head, {}), 0u);
  EXPECT_FALSE(caller_of(head, keys));
  head.fields = {{"authorization", "Bearer two"}};
  EXPECT_EQ(caller_of(head, keys), 2u);
  head.fields = {{"x-api-key", "one"}};
  EXPECT_EQ(caller_of(head, keys), 1u);
  head.fields = {{"api-key", "three"}};
  EXPECT_FALSE(caller_of(head, keys));
}

struct recording_control final : exchange_control {
  void taken(std::uint32_t choice, std::uint32_t upto) override { credits.emplace_back(choice, upto); }
  void cancel() override { ++cancels; }
  std::vector<std::pair<std::uint32_t, std::uint32_t>> credits;
  int cancels = 0;
};

TEST(Exchange, WakesOncePerBatchAndNeverAfterItsEnd) {
  int wakes = 0;
  exchange one(msg::list_models{7}, [&] { ++wakes; });
  one.post(adaptor_ended{});
  one.post(adaptor_ended{});
  EXPECT_EQ(wakes, 1);
  EXPECT_EQ(one.take().size(), 2u);
  one.post(adaptor_ended{});
  EXPECT_EQ(wakes, 2);
  one.close(false);
  one.post(adaptor_ended{});
  EXPECT_EQ(wakes, 2);
  EXPECT_TRUE(one.take().empty());
}

TEST(Exchange, CancelsWhoeverAttachesLate) {
  const auto early = std::make_shared<recording_control>(), late = std::make_shared<recording_control>();
  exchange one(msg::list_models{7}, [] {});
  EXPECT_FALSE(one.attached());
  one.attach(early);
  EXPECT_TRUE(one.attached());
  one.taken(1, 9);
  EXPECT_EQ(early->credits.size(), 1u);
  one.close(true);
  one.close(true);
  EXPECT_EQ(early->cancels, 1);
  one.attach(late);
  EXPECT_EQ(late->cancels, 1);
}

TEST(Link, KeepsExchangesUntilSomebodyTakesThem) {
  gateway_link link;
  const auto gone = std::make_shared<exchange>(msg::list_models{1}, [] {});
  const auto waiting = std::make_shared<exchange>(msg::list_models{2}, [] {});
  link.submit(gone);
  gone->close(true);
  link.submit(waiting);
  int wakes = 0, owner = 0, stranger = 0;
  link.connect(&owner, [&] { ++wakes; });
  EXPECT_EQ(wakes, 1) << "there already was something";
  EXPECT_EQ(link.take().size(), 1u) << "closed ones are dropped";
  link.disconnect(&stranger);
  link.submit(waiting);
  EXPECT_EQ(wakes, 2);
  link.disconnect(&owner);
  link.submit(waiting);
  EXPECT_EQ(wakes, 2);
}

TEST(RequestReader, StopsAtTheEndOfOneRequest) {
  request_reader reader(1000);
  const std::string bytes = "POST /a HTTP/1.1\r\nX-One: 1\r\nContent-Length: 3\r\n\r\nabcGET";
  std::size_t used = 0, at = 0;
  ASSERT_EQ(reader.feed(bytes, used), request_reader::progress::head);
  at += used;
  EXPECT_EQ(reader.head().find("x-one"), "1");
  EXPECT_TRUE(reader.head().has_body());
  ASSERT_EQ(reader.feed(std::string_view(bytes).substr(at), used), request_reader::progress::complete);
  EXPECT_EQ(reader.body(), "abc");
  EXPECT_EQ(bytes.substr(at + used), "GET");
}

TEST(RequestReader, RefusesSmuggledLengths) {
  request_reader reader(1000);
  std::size_t used = 0;
  EXPECT_EQ(reader.feed("POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", used),
            request_reader::progress::failed);
  EXPECT_EQ(reader.error().status, 400);
}

TEST(RequestReader, RefusesBodiesWhoseEndItCannotTell) {
  request_reader reader(1000);
  std::size_t used = 0;
  EXPECT_EQ(reader.feed("POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\nGET /secret HTTP/1.1\r\n\r\n", used),
            request_reader::progress::failed);
  EXPECT_EQ(reader.error().status, 501);
}

TEST(AnswerBytes, RoundsRetryAfterUp) {
  http::http_error error;
  error.retry_after_ms = 1001;
  EXPECT_EQ(retry_fields(error).front().second, "2");
  EXPECT_EQ(chunk_of("0123456789abcdef!"), "11\r\n0123456789abcdef!\r\n");
  EXPECT_EQ(chunk_of(""), "");
}

}  // namespace
}  // namespace infer::actors
