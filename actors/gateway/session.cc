// One connection.
#include "actors/gateway/session.h"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <utility>

#include "protocol/http/status.h"

namespace infer::actors {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr std::size_t most_pipelined = std::size_t{64} << 10;   // bytes read ahead while an answer is under way
constexpr std::size_t most_discarded = std::size_t{256} << 10;  // of a refused body, to keep the connection
constexpr std::size_t body_step = std::size_t{64} << 10;        // that has to come within one body timeout
constexpr std::size_t write_step = std::size_t{64} << 10;       // that is written at a time
constexpr std::chrono::seconds linger_time{2};

}  // namespace

std::uint64_t server_core::add() {
  const std::lock_guard lock(sessions_mutex_);
  sessions_.emplace(++next_id_, std::weak_ptr<session>());
  return next_id_;
}

void server_core::announce(std::uint64_t id, std::weak_ptr<session> one) {
  const std::lock_guard lock(sessions_mutex_);
  sessions_[id] = std::move(one);
}

void server_core::remove(std::uint64_t id) {
  const std::lock_guard lock(sessions_mutex_);
  sessions_.erase(id);
}

std::size_t server_core::count() {
  const std::lock_guard lock(sessions_mutex_);
  return sessions_.size();
}

std::vector<std::shared_ptr<session>> server_core::all() {
  std::vector<std::shared_ptr<session>> out;
  const std::lock_guard lock(sessions_mutex_);
  for (const auto& [id, one] : sessions_) {
    if (auto strong = one.lock()) out.push_back(std::move(strong));
  }
  return out;
}

session::session(tcp::socket socket, std::shared_ptr<server_core> core)
    : socket_(std::move(socket)),
      core_(std::move(core)),
      id_(core_->add()),
      timer_(socket_.get_executor()),
      write_timer_(socket_.get_executor()) {
  core_->metrics.connection_opened();
}

session::~session() {
  transaction_.reset();
  release_body();
  core_->remove(id_);
  core_->metrics.connection_closed();
}

void session::start() {
  error_code ignored;
  socket_.set_option(tcp::no_delay(true), ignored);
  core_->announce(id_, weak_from_this());
  next_request();
  read();
}

void session::start_refusing() {
  core_->announce(id_, weak_from_this());
  read();
  http::http_error error = http::edge_error(503, "too_many_connections", "the server has too many open connections");
  error.retry_after_ms = 1000;
  refuse_and_close(error);
}

void session::start_drain() {
  asio::post(socket_.get_executor(), [self = shared_from_this()] {
    if (self->phase_ == phase::idle || self->phase_ == phase::head) self->close();
  });
}

void session::shut() {
  asio::post(socket_.get_executor(), [self = shared_from_this()] { self->close(); });
}

// --- reading ---

void session::read() {
  if (reading_ || phase_ == phase::closed) return;
  if (phase_ == phase::answering && in_.size() >= most_pipelined) return;
  reading_ = true;
  socket_.async_read_some(asio::buffer(scratch_), [self = shared_from_this()](error_code bad, std::size_t count) {
    self->reading_ = false;
    self->on_read(bad, count);
  });
}

void session::on_read(error_code bad, std::size_t count) {
  if (phase_ == phase::closed) return;
  if (bad) return client_gone();
  if (phase_ != phase::lingering) {
    in_.append(scratch_.data(), count);
    advance();
  }
  read();
}

/// Works on what has been read until it lacks bytes or an answer has to be waited for.
void session::advance() {
  while (phase_ == phase::idle || phase_ == phase::head || phase_ == phase::body) {
    if (phase_ == phase::idle) {
      in_.erase(0, std::min(in_.find_first_not_of("\r\n"), in_.size()));
      if (in_.empty()) return;
      set_phase(phase::head);
    }
    if (!feed()) return;
  }
}

/// One step of the reader; false where it needs more bytes.
bool session::feed() {
  std::size_t used = 0;
  const request_reader::progress state = reader_->feed(in_, used);
  in_.erase(0, used);
  switch (state) {
    case request_reader::progress::failed:
      refuse_and_close(reader_->error());
      return false;
    case request_reader::progress::head:
      return head_came();
    case request_reader::progress::complete:
      body_came(true);
      return true;
    case request_reader::progress::more:
      break;
  }
  if (phase_ == phase::body) body_came(false);
  if (in_.size() > core_->config.max_header + body_step)
    refuse_and_close(http::edge_error(400, "bad_request", "the request is not valid HTTP"));
  return false;
}

bool session::head_came() {
  request_head head = reader_->head();
  const std::string expect(head.is_http_1_1 ? head.find("expect") : std::string_view());
  const bool has_body = head.has_body();
  const bool is_short = !head.chunked && head.content_length.value_or(0) <= most_discarded;
  set_phase(phase::body);
  rejected_ = has_body && !(is_short && expect.empty());  // while the head is judged: a refusal closes
  transaction_ = std::make_unique<transaction>(*this, *core_, std::move(head));
  const bool wanted = transaction_->check_head();
  if (wanted) {
    rejected_ = false;
    if (has_body && !expect.empty() && in_.empty()) send("HTTP/1.1 100 Continue\r\n\r\n", {});
  } else {
    reader_->discard_body();
    if (close_after_) read_whole_ = true;
    rejected_ = true;
  }
  settle();
  return phase_ != phase::closed && phase_ != phase::lingering;
}

void session::body_came(bool complete) {
  if (!rejected_) {
    std::string& piece = reader_->body();
    const std::size_t buffered = core_->buffered.fetch_add(piece.size()) + piece.size();
    reserved_ += piece.size();
    if (buffered > core_->config.max_buffered) {
      http::http_error error = http::edge_error(503, "overloaded", "the server holds too many request bodies");
      error.retry_after_ms = 1000;
      return refuse_and_close(error);
    }
    if (body_.size() + piece.size() > core_->config.max_body)
      return refuse_and_close(http::edge_error(
          413, "request_too_large", "the body exceeds " + std::to_string(core_->config.max_body) + " bytes"));
    body_ += piece;
    piece.clear();
    if (!complete && body_.size() >= body_mark_ + body_step) {
      body_mark_ = body_.size();
      set_phase(phase::body);
    }
  }
  if (!complete) return;
  read_whole_ = true;
  set_phase(phase::answering);
  if (!rejected_) transaction_->run(std::move(body_));
  body_.clear();
  settle();
}

/// Answers what cannot be answered any better; nothing that follows on this connection can be trusted.
void session::refuse_and_close(const http::http_error& error) {
  rejected_ = true;
  read_whole_ = true;
  close_after_ = true;
  if (!transaction_) {
    request_head unknown;
    unknown.method = "-";
    unknown.target = "*";
    unknown.keep_alive = false;
    transaction_ = std::make_unique<transaction>(*this, *core_, std::move(unknown));
  }
  if (phase_ != phase::closed) set_phase(phase::answering);
  transaction_->fail(error);
  settle();
}

void session::client_gone() {
  if (answered_ && transaction_) {  // the answer is on its way to whoever closed one side only
    close_after_ = true;
    read_whole_ = true;
    return settle();
  }
  close();
}

// --- answering ---

bool session::can_keep_alive() const {
  return !close_after_ && !rejected_;
}

std::function<void()> session::waker() {
  return [weak = weak_from_this(), executor = socket_.get_executor(), serial = request_serial_] {
    asio::post(executor, [weak, serial] {
      const auto self = weak.lock();
      if (!self || self->request_serial_ != serial || !self->transaction_) return;
      self->transaction_->wake();
      self->settle();
    });
  };
}

void session::run_aside(std::function<void()> work, std::function<void()> done) {
  asio::post(core_->parser, [weak = weak_from_this(), executor = socket_.get_executor(), serial = request_serial_,
                             work = std::move(work), done = std::move(done)]() mutable {
    work();
    asio::post(executor, [weak, serial, done = std::move(done)] {
      const auto self = weak.lock();
      if (!self || self->request_serial_ != serial || !self->transaction_) return;
      done();
      self->settle();
    });
  });
}

void session::send(std::string bytes, std::vector<credit_mark> marks) {
  if (phase_ == phase::closed) return;
  out_ += bytes;
  marks_.insert(marks_.end(), marks.begin(), marks.end());
  write();
}

void session::end(bool keep_alive) {
  answered_ = true;
  if (!keep_alive) close_after_ = true;
}

void session::write() {
  if (writing_ || out_.empty() || phase_ == phase::closed) return;
  writing_ = true;
  under_way_ = std::exchange(out_, {});
  marks_under_way_ = std::exchange(marks_, {});
  // The client has taken something whenever more can be written.
  const auto next_step = [self = shared_from_this()](const error_code& bad, std::size_t) {
    if (!bad) self->arm_write();
    return bad ? std::size_t{0} : write_step;
  };
  asio::async_write(socket_, asio::buffer(under_way_), next_step,
                    [self = shared_from_this()](error_code bad, std::size_t) { self->on_write(bad); });
}

void session::arm_write() {
  if (phase_ == phase::closed) return;
  write_timer_.expires_after(core_->config.write_timeout);
  write_timer_.async_wait([weak = weak_from_this()](error_code cancelled) {
    const auto self = weak.lock();
    if (!cancelled && self && self->writing_ && self->write_timer_.expiry() <= std::chrono::steady_clock::now())
      self->close();
  });
}

void session::on_write(error_code bad) {
  writing_ = false;
  write_timer_.cancel();
  if (phase_ == phase::closed) return;
  if (bad) return close();
  if (transaction_) transaction_->sent(std::exchange(marks_under_way_, {}));
  write();
  settle();
}

/// What follows once an answer is complete and gone, or a deadline has moved.
void session::settle() {
  if (phase_ == phase::closed || phase_ == phase::lingering) return;
  if (!answered_ || writing_ || !out_.empty() || !(read_whole_ || close_after_)) return arm();
  if (close_after_) return linger();
  next_request();
  asio::post(socket_.get_executor(), [self = shared_from_this()] {
    self->advance();
    self->read();
  });
}

void session::next_request() {
  transaction_.reset();
  release_body();
  reader_ = std::make_unique<request_reader>(core_->config.max_header);
  body_mark_ = 0;
  ++request_serial_;
  read_whole_ = answered_ = rejected_ = false;
  set_phase(phase::idle);
  if (core_->draining) close();
}

/// Closes the sending side first and reads on for a while: an early close would take the answer with it.
void session::linger() {
  transaction_.reset();
  release_body();
  in_ = {};
  error_code ignored;
  socket_.shutdown(tcp::socket::shutdown_send, ignored);
  set_phase(phase::lingering);
  read();
}

void session::close() {
  if (phase_ == phase::closed) return;
  phase_ = phase::closed;
  transaction_.reset();
  release_body();
  error_code ignored;
  socket_.close(ignored);
  timer_.cancel();
  write_timer_.cancel();
}

void session::release_body() {
  core_->buffered -= std::exchange(reserved_, 0);
  body_ = {};
}

// --- time ---

void session::set_phase(phase to) {
  phase_ = to;
  phase_began_ = std::chrono::steady_clock::now();
  arm();
}

void session::arm() {
  std::optional<std::chrono::steady_clock::time_point> at;
  switch (phase_) {
    case phase::idle:
      at = phase_began_ + core_->config.idle_timeout;
      break;
    case phase::head:
      at = phase_began_ + core_->config.header_timeout;
      break;
    case phase::body:
      at = phase_began_ + core_->config.body_timeout;
      break;
    case phase::lingering:
      at = phase_began_ + linger_time;
      break;
    case phase::answering:
      if (transaction_ && !writing_) at = transaction_->deadline();
      break;
    case phase::closed:
      break;
  }
  const std::uint64_t serial = ++timer_serial_;
  if (!at) {
    timer_.cancel();
    return;
  }
  timer_.expires_at(*at);
  timer_.async_wait([weak = weak_from_this(), serial](error_code cancelled) {
    const auto self = weak.lock();
    if (!cancelled && self && self->timer_serial_ == serial) self->on_timer();
  });
}

void session::on_timer() {
  switch (phase_) {
    case phase::idle:
    case phase::lingering:
      return close();
    case phase::head:
      return refuse_and_close(http::edge_error(408, "request_timeout", "the request's head did not come in time"));
    case phase::body:
      return refuse_and_close(http::edge_error(408, "request_timeout", "the request's body did not come in time"));
    case phase::answering:
      if (transaction_) transaction_->on_deadline();
      return settle();
    case phase::closed:
      return;
  }
}

}  // namespace infer::actors
