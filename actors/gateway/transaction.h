// One request and its answer: checks, parsing, the exchange with the actors, and the bytes that go back. Sockets are
// behind `transaction_host`.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "actors/gateway/answer_bytes.h"
#include "actors/gateway/exchange.h"
#include "actors/gateway/routes.h"
#include "actors/gateway/server_shared.h"
#include "protocol/http/stream_writer.h"
#include "protocol/http/whole_answer.h"

namespace infer::actors {

/// Credit that may go back once the bytes it came with have been taken.
struct credit_mark {
  std::uint32_t choice = 0;
  std::uint32_t upto = 0;
};

/// A connection, as its transaction sees it. Threads: the connection's strand, but for what waker() returns.
class transaction_host {
 public:
  virtual void send(std::string bytes, std::vector<credit_mark> marks) = 0;
  /// The answer is complete; the connection may take the next request, or closes.
  virtual void end(bool keep_alive) = 0;
  /// The connection can go on after this answer.
  virtual bool can_keep_alive() const = 0;
  /// Callable from any thread, also when the connection is gone: calls transaction::wake on its strand.
  virtual std::function<void()> waker() = 0;
  /// Runs `work` on another thread, then `done` on the strand unless the connection is gone.
  virtual void run_aside(std::function<void()> work, std::function<void()> done) = 0;

 protected:
  ~transaction_host() = default;
};

class transaction {
 public:
  using clock = std::chrono::steady_clock;

  transaction(transaction_host& host, server_shared& shared, request_head head);
  ~transaction();
  transaction(const transaction&) = delete;
  transaction& operator=(const transaction&) = delete;

  /// True: the body is wanted, then run(). False: the answer is already given.
  bool check_head();
  void run(std::string body);
  /// Answers with an error, unless an answer has begun.
  void fail(const http::http_error& error);
  /// Events of the exchange have come.
  void wake();
  /// The client has taken the bytes that these came with.
  void sent(const std::vector<credit_mark>& marks);
  /// When on_deadline() is to be called, if ever.
  std::optional<clock::time_point> deadline() const;
  void on_deadline();
  /// The client is gone.
  void gone();

 private:
  template <class Step>
  void guard(const Step& step);
  void apologize();
  void answer_now();
  void parsed_call(http::parsed<http::call> call);
  void ask(exchange_order order);
  void on(const msg::request_started& event);
  void on(const msg::text_made& event);
  void on(const msg::choice_finished& event);
  void on(const msg::request_finished& event);
  void on(const msg::request_failed& event);
  void on(const msg::request_waiting& event);
  void on(const msg::text_transformed& event);
  void on(const msg::model_list& event);
  void on(const adaptor_ended& event);
  void respond(int status, std::string content_type, std::string body, header_fields more = {});
  void respond_about(const msg::model_list& models);
  void respond_metrics(const msg::model_list& models);
  void begin_stream();
  void send_frames(std::string frames, std::vector<credit_mark> marks);
  void end_stream(std::string frames, bool keep_alive);
  void finish(int logged_status, bool keep_alive, std::string last_bytes);
  void push(std::string bytes, std::vector<credit_mark> marks);
  answer_start start_of(int status) const;

  transaction_host& host_;
  server_shared& shared_;
  const request_head head_;
  const routed route_;
  const std::string request_id_;
  const clock::time_point began_ = clock::now();
  std::optional<http::call> call_;
  std::optional<http::stream_writer> stream_;
  std::optional<http::whole_answer> whole_;
  std::shared_ptr<exchange> exchange_;
  clock::time_point asked_{}, last_sent_{};
  std::uint64_t bytes_sent_ = 0;
  bool answered_ = false;   // whoever computed is done
  bool streaming_ = false;  // the head of a stream is out
  bool ended_ = false;
};

}  // namespace infer::actors
