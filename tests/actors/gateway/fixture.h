// A server on a free port, a gateway actor, and scripted actors in the places of requests and zoo. Free of CAF and
// Asio, so that tests compile quickly.
//
// What the fake request does is the last message's (or the prompt's) text:
//   say N       accept, start, N tokens "w0 w1 …" within credit, finish
//   flood       accept, start, tokens of 1 KiB for ever within credit
//   recite N    accept, start, one token of N blocks "<0>xxx…<1>xxx…" of 1 MiB, finish
//   hold        accept, then nothing
//   start hold  accept, start, one token, then nothing
//   refuse      request_failed{model_loading, retry 1500 ms}
//   break       request_failed{internal}
//   die         accept, then the request actor ends
//   start die   accept, start, one token, then the request actor ends
//   wait        accept, request_waiting, then go on as "say 2" when released
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "actors/gateway/gateway_config.h"
#include "tests/actors/gateway/raw_client.h"

namespace infer::actors {

class gateway_fixture : public testing::Test {
 protected:
  gateway_fixture();
  ~gateway_fixture() override;

  /// Starts everything; `change` may set shorter limits. Without a gateway actor where `with_gateway` is false.
  void start(const std::function<void(gateway_config&)>& change = {}, bool with_gateway = true);

  raw_client connect(int receive_buffer = 0) { return raw_client(port_, receive_buffer); }
  /// One request on a connection of its own.
  raw_answer ask(const std::string& request, bool head_only = false) {
    raw_client client = connect();
    client.send(request);
    return client.answer(head_only);
  }

  /// Waits until the fakes have noted `what`: "generate", "token", "cancelled", "sink down", "gone" (it ended).
  bool noted(const std::string& what, int times = 1);
  int count(const std::string& what);
  /// Waits until no token was made for a while; how many there were.
  int tokens_when_quiet();
  void release_waiting();
  void silence_zoo();
  void start_gateway();
  void kill_gateway();
  void stop_accepting();
  bool drain(int milliseconds);
  void stop_server();

  std::uint16_t port_ = 0;

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

/// {"messages": [{"role": "user", "content": `script`}]} and `more` members.
std::string chat_body(const std::string& script, const std::string& more = "");

}  // namespace infer::actors
