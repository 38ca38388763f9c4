// One connection: reads requests one after another, writes answers in order, watches for a client that leaves. A read
// is always pending, so that the end of the client is seen in every phase.
#pragma once

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <string>
#include <vector>

#include "actors/gateway/request_reader.h"
#include "actors/gateway/server_core.h"
#include "actors/gateway/transaction.h"

namespace infer::actors {

/// Threads: everything on the strand of its socket but start_drain() and shut().
class session final : public transaction_host, public std::enable_shared_from_this<session> {
 public:
  using tcp = boost::asio::ip::tcp;

  session(tcp::socket socket, std::shared_ptr<server_core> core);
  ~session();

  boost::asio::any_io_executor executor() { return socket_.get_executor(); }
  /// Begins to serve.
  void start();
  /// Begins only to say that there are too many connections.
  void start_refusing();
  /// Closes when idle, else after the answer under way. Any thread.
  void start_drain();
  /// Closes at once. Any thread.
  void shut();

  void send(std::string bytes, std::vector<credit_mark> marks) override;
  void end(bool keep_alive) override;
  bool can_keep_alive() const override;
  std::function<void()> waker() override;
  void run_aside(std::function<void()> work, std::function<void()> done) override;

 private:
  enum class phase {
    idle,       // between requests
    head,       // some bytes of a head are here
    body,       // the head was accepted
    answering,  // the request is complete
    lingering,  // all is said; waits for the client to close
    closed,
  };

  void read();
  void on_read(boost::system::error_code bad, std::size_t count);
  void advance();
  bool feed();
  bool head_came();
  void body_came(bool complete);
  void refuse_and_close(const http::http_error& error);
  void write();
  void arm_write();
  void on_write(boost::system::error_code bad);
  void settle();
  void next_request();
  void linger();
  void client_gone();
  void close();
  void set_phase(phase to);
  void arm();
  void on_timer();
  void release_body();

  tcp::socket socket_;
  const std::shared_ptr<server_core> core_;
  const std::uint64_t id_;
  boost::asio::steady_timer timer_, write_timer_;
  std::array<char, 16384> scratch_;
  std::string in_;
  std::unique_ptr<request_reader> reader_;
  std::unique_ptr<transaction> transaction_;
  std::string out_, under_way_;
  std::vector<credit_mark> marks_, marks_under_way_;
  std::string body_;
  std::size_t reserved_ = 0;   // of the shared bound, for body_
  std::size_t body_mark_ = 0;  // size of body_ when its timer was set
  std::uint64_t timer_serial_ = 0;
  std::uint64_t request_serial_ = 0;
  phase phase_ = phase::idle;
  std::chrono::steady_clock::time_point phase_began_{};
  bool reading_ = false, writing_ = false;
  bool read_whole_ = false;  // the request's last byte has come
  bool answered_ = false;    // the answer's last byte is in out_ or sent
  bool close_after_ = false;
  bool rejected_ = false;  // the body does not matter
};

}  // namespace infer::actors
