// Listener and threads.
#include <spdlog/spdlog.h>

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "actors/gateway/gateway.h"
#include "actors/gateway/session.h"

namespace infer::actors {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr int io_threads = 2;
constexpr std::size_t most_refusals = 64;  // connections beyond the limit that are told so at the same time

/// Handlers until the server stops. What one of them throws costs its connection, not the others.
void serve_io(server_core& core) {
  while (true) {
    try {
      core.io.run();
      return;
    } catch (const std::exception& e) {
      spdlog::error("a connection failed: {}", e.what());
    }
  }
}

}  // namespace

const char* fault_sentence(gateway_fault) noexcept {
  return "the address cannot be listened on";
}

struct http_server::parts {
  explicit parts(gateway_config config) : core(std::make_shared<server_core>(std::move(config))) {}

  void accept();
  void welcome(tcp::socket socket);
  void try_welcome(tcp::socket socket);

  std::shared_ptr<server_core> core;
  asio::executor_work_guard<asio::io_context::executor_type> work{core->io.get_executor()};
  tcp::acceptor acceptor{asio::make_strand(core->io)};
  asio::steady_timer retry{acceptor.get_executor()};
  std::vector<std::thread> threads;
};

void http_server::parts::accept() {
  acceptor.async_accept(asio::make_strand(core->io), [this](error_code bad, tcp::socket socket) {
    if (!acceptor.is_open()) return;
    if (!bad) try_welcome(std::move(socket));
    if (!bad || bad == asio::error::connection_aborted) return accept();
    // Out of descriptors, most likely: try again when some may have been closed.
    retry.expires_after(std::chrono::milliseconds(100));
    retry.async_wait([this](error_code cancelled) {
      if (!cancelled && acceptor.is_open()) accept();
    });
  });
}

void http_server::parts::welcome(tcp::socket socket) {
  const std::size_t open = core->count();
  if (open >= core->config.max_connections + most_refusals) return;
  auto one = std::make_shared<session>(std::move(socket), core);
  const bool full = open >= core->config.max_connections;
  const auto executor = one->executor();
  asio::post(executor, [one, full] { full ? one->start_refusing() : one->start(); });
}

/// A connection that cannot be taken up is dropped; the next one may be.
void http_server::parts::try_welcome(tcp::socket socket) {
  try {
    welcome(std::move(socket));
  } catch (const std::exception& e) {
    spdlog::error("a connection cannot be taken up: {}", e.what());
  }
}

http_server::http_server(gateway_config config) : parts_(std::make_unique<parts>(std::move(config))) {}

http_server::~http_server() {
  stop();
}

result<std::uint16_t> http_server::start() {
  const gateway_config& config = parts_->core->config;
  const auto refuse = [&](const error_code& why) {
    return fail(gateway_fault::cannot_listen,
                "cannot listen on " + config.address + ":" + std::to_string(config.port) + ": " + why.message());
  };
  error_code bad;
  const asio::ip::address address =
      asio::ip::make_address(config.address == "localhost" ? "127.0.0.1" : config.address, bad);
  if (bad)
    return fail(gateway_fault::cannot_listen, "cannot listen: '" + config.address +
                                                  "' is not an IP address; write one, such as 127.0.0.1 or 0.0.0.0");
  tcp::acceptor& acceptor = parts_->acceptor;
  const tcp::endpoint wanted(address, config.port);
  if (acceptor.open(wanted.protocol(), bad)) return refuse(bad);
  if (acceptor.set_option(asio::socket_base::reuse_address(true), bad)) return refuse(bad);
  if (acceptor.bind(wanted, bad)) return refuse(bad);
  if (acceptor.listen(asio::socket_base::max_listen_connections, bad)) return refuse(bad);
  const std::uint16_t port = acceptor.local_endpoint(bad).port();
  if (bad) return refuse(bad);
  asio::post(acceptor.get_executor(), [parts = parts_.get()] { parts->accept(); });
  for (int i = 0; i < io_threads; ++i) parts_->threads.emplace_back([core = parts_->core] { serve_io(*core); });
  return port;
}

std::shared_ptr<gateway_link> http_server::link() const {
  return parts_->core->link;
}

std::shared_ptr<prometheus::Registry> http_server::metrics() const {
  return parts_->core->metrics.registry();
}

void http_server::stop_accepting() {
  if (parts_->core->draining.exchange(true)) return;
  asio::post(parts_->acceptor.get_executor(), [parts = parts_.get()] {
    error_code ignored;
    parts->acceptor.close(ignored);
    parts->retry.cancel();
  });
  for (const auto& one : parts_->core->all()) one->start_drain();
}

bool http_server::drain(std::chrono::milliseconds deadline) {
  return parts_->core->wait_until_none_runs(deadline);
}

void http_server::stop() {
  stop_accepting();
  for (const auto& one : parts_->core->all()) one->shut();
  parts_->work.reset();
  parts_->core->parser.join();
  for (std::thread& thread : std::exchange(parts_->threads, {})) thread.join();
}

}  // namespace infer::actors
