// One request and its answer.
#include "actors/gateway/transaction.h"

#include <spdlog/spdlog.h>

#include <ctime>
#include <exception>
#include <future>
#include <utility>

#include "actors/gateway/edge_checks.h"
#include "protocol/http/embeddings_body.h"
#include "protocol/http/envelope.h"
#include "protocol/http/json_text.h"
#include "protocol/http/sse.h"
#include "protocol/http/status.h"

namespace infer::actors {
namespace {

constexpr const char* json_type = "application/json; charset=utf-8";
constexpr int client_closed = 499;  // log only

http::call_kind kind_of(route to) {
  switch (to) {
    case route::chat:
      return http::call_kind::chat;
    case route::completions:
      return http::call_kind::completion;
    case route::tokenize:
      return http::call_kind::tokenize;
    case route::embeddings:
      return http::call_kind::embeddings;
    case route::infill:
      return http::call_kind::infill;
    case route::apply_template:
      return http::call_kind::apply_template;
    default:
      return http::call_kind::detokenize;
  }
}

http::http_error later(std::string message) {
  http::http_error error = http::edge_error(503, "unavailable", std::move(message));
  error.retry_after_ms = 1000;
  return error;
}

}  // namespace

transaction::transaction(transaction_host& host, server_shared& shared, request_head head)
    : host_(host),
      shared_(shared),
      head_(std::move(head)),
      route_(match_route(head_.target)),
      request_id_(request_id_of(head_)) {
  shared_.exchange_began();
}

transaction::~transaction() {
  gone();
  shared_.exchange_ended();
}

bool transaction::check_head() {
  if (!is_allowed_origin(head_, shared_.config.allowed_origins, shared_.config.address)) {
    fail(http::edge_error(403, "origin_not_allowed",
                          "requests from this origin are not allowed; the server allows it with --allow-origin"));
  } else if (head_.method == "OPTIONS") {
    respond(204, {}, {}, preflight_fields(head_));
  } else if (!is_open(route_.to) && !caller_of(head_, shared_.config.api_keys)) {
    fail(http::edge_error(401, "invalid_api_key", "the API key is missing or wrong"));
  } else if (route_.to == route::unknown) {
    fail(http::edge_error(404, "unknown_url",
                          "unknown URL: " + head_.method + " " + std::string(path_of(head_.target))));
  } else if (!allows(route_.to, head_.method)) {
    fail(http::edge_error(405, "method_not_allowed", head_.method + " is not allowed here"));
  } else if (head_.method == "POST" && !is_readable_type(head_)) {
    fail(http::edge_error(415, "unsupported_media_type", "the body must be JSON without a content coding"));
  } else if (head_.content_length.value_or(0) > shared_.config.max_body) {
    fail(http::edge_error(413, "request_too_large",
                          "the body exceeds " + std::to_string(shared_.config.max_body) + " bytes"));
  }
  return !ended_;
}

/// A fault in here costs its request, not the server and whatever else it answers.
template <class Step>
void transaction::guard(const Step& step) {
  try {
    step();
  } catch (const std::exception& e) {
    spdlog::error("{} {} failed: {} {}", head_.method, path_of(head_.target), e.what(), request_id_);
    apologize();
  }
}

/// An error for what nobody expected, where it can still be told: not without a head or behind an end.
void transaction::apologize() {
  if (!ended_ && (!streaming_ || bytes_sent_ > 0)) {
    try {
      return fail(http::edge_error(500, {}, "the server failed at this request; its log says why"));
    } catch (const std::exception& e) {
      spdlog::error("{} cannot be told: {}", request_id_, e.what());
    }
  }
  if (!ended_) finish(client_closed, false, {});
  host_.end(false);
}

void transaction::run(std::string body) {
  if (head_.method != "POST") return guard([this] { answer_now(); });
  const http::call_kind kind = kind_of(route_.to);
  if (body.size() <= shared_.config.parse_threshold)
    return guard([&] { parsed_call(http::parse_call(kind, std::move(body), shared_.config.defaults)); });
  const auto result = std::make_shared<std::packaged_task<http::parsed<http::call>()>>(
      [kind, text = std::move(body), defaults = shared_.config.defaults]() mutable {
        return http::parse_call(kind, std::move(text), defaults);
      });
  host_.run_aside([result] { (*result)(); },
                  [this, result] { guard([&] { parsed_call(result->get_future().get()); }); });
}

void transaction::answer_now() {
  switch (route_.to) {
    case route::root:
      return respond(200, json_type, "{\"name\":\"infer-node\",\"status\":\"ok\"}");
    default:
      return ask(msg::list_models{msg::next_request_id()});
  }
}

void transaction::parsed_call(http::parsed<http::call> call) {
  if (ended_) return;
  if (!call) return fail(call.error());
  call_ = std::move(call.value());
  call_->generate.request_id = msg::next_request_id();
  call_->generate.cache_salt = caller_of(head_, shared_.config.api_keys).value_or(0);
  http::answer_head head{http::new_answer_id(call_->kind),
                         static_cast<std::uint64_t>(std::time(nullptr)),
                         call_->generate.model,
                         shared_.config.fingerprint,
                         call_->metadata,
                         call_->service_tier};
  if (call_->stream)
    stream_.emplace(*call_, std::move(head));
  else
    whole_.emplace(*call_, std::move(head));
  ask(call_->generate);
}

void transaction::ask(exchange_order order) {
  exchange_ = std::make_shared<exchange>(std::move(order), host_.waker());
  asked_ = last_sent_ = clock::now();
  shared_.link->submit(exchange_);
}

void transaction::wake() {
  if (!exchange_) return;
  for (const exchange_event& event : exchange_->take()) {
    if (ended_) return;
    guard([&] { std::visit([this](const auto& e) { on(e); }, event); });
  }
}

void transaction::on(const msg::request_waiting&) {}

void transaction::on(const msg::request_started& event) {
  if (whole_) return whole_->started(event);
  if (!stream_) return;
  send_frames(stream_->started(event), {});
}

void transaction::on(const msg::text_made& event) {
  if (whole_) {
    whole_->text(event);
    exchange_->taken(event.choice, event.upto);
  } else if (stream_) {
    send_frames(stream_->text(event), {{event.choice, event.upto}});
  }
}

void transaction::on(const msg::choice_finished& event) {
  if (whole_) return whole_->choice_finished(event);
  if (stream_) send_frames(stream_->choice_finished(event), {});
}

void transaction::on(const msg::request_finished& event) {
  answered_ = true;
  shared_.metrics.tokens(event.prompt_tokens, event.completion_tokens);
  if (whole_) return respond(200, json_type, whole_->body(event));
  if (!stream_) return;
  end_stream(stream_->finished(event), true);
}

void transaction::on(const msg::request_failed& event) {
  http::http_error error = http::to_http(event);
  // The field has another name there.
  if (call_ && call_->kind == http::call_kind::infill && error.param == "suffix") error.param = "input_suffix";
  fail(error);
}

void transaction::on(const msg::text_transformed& event) {
  answered_ = true;
  if (!call_) return;
  switch (call_->kind) {
    case http::call_kind::tokenize:
      return respond(200, json_type, http::write_json(http::tokenize_body(event, call_->generate.prompt.want_pieces)));
    case http::call_kind::apply_template:
      return respond(200, json_type, http::write_json(http::apply_template_body(event)));
    case http::call_kind::embeddings: {
      shared_.metrics.tokens(event.prompt_tokens, 0);
      const auto body = http::embeddings_body(*call_, event);
      return body ? respond(200, json_type, http::write_json(body.value())) : fail(body.error());
    }
    default:
      return respond(200, json_type, http::write_json(http::detokenize_body(event)));
  }
}

void transaction::on(const msg::model_list& event) {
  answered_ = true;
  if (route_.to == route::metrics) return respond_metrics(event);
  if (route_.to == route::models) return respond(200, json_type, http::write_json(http::models_body(event)));
  if (route_.to == route::model) {
    const msg::model_row* const found = http::find_model(event, route_.model);
    if (found == nullptr) return fail(http::model_not_found(http::to_valid_utf8(route_.model)));
    return respond(200, json_type, http::write_json(http::model_body(*found)));
  }
  if (route_.to == route::props || route_.to == route::slots) return respond_about(event);
  bool ok = false;
  const std::string body = http::write_json(http::health_body(event, ok));
  respond(ok ? 200 : 503, json_type, body);
}

/// /props and /slots of the model that the query names, else of the default one.
void transaction::respond_about(const msg::model_list& models) {
  const std::string name = query_value(head_.target, "model");
  const msg::model_row* row = models.models.empty() ? nullptr : &models.models.front();
  if (!name.empty()) row = http::find_model(models, name);
  if (row == nullptr) return fail(http::model_not_found(http::to_valid_utf8(name)));
  if (route_.to == route::slots) return respond(200, json_type, http::write_json(http::slots_body(*row)));
  respond(200, json_type,
          http::write_json(http::props_body(*row, shared_.config.defaults.sampling, shared_.config.fingerprint)));
}

void transaction::on(const adaptor_ended&) {
  answered_ = true;
  if (route_.to == route::metrics) return respond_metrics({});
  if (shared_.draining)
    return fail(http::to_http(
        {0, msg::refusal::shutting_down, "the server shuts down; please repeat the request when it is back", {}, 0}));
  if (!call_) return fail(later("the models are not known at the moment; please repeat the request"));
  fail(http::edge_error(500, {}, "the request was lost inside the server; please repeat it"));
}

void transaction::fail(const http::http_error& error) {
  if (ended_) return;
  if (streaming_) return end_stream(http::stream_writer::failed(error), false);
  header_fields more = retry_fields(error);
  if (error.status == 401) more.emplace_back("WWW-Authenticate", "Bearer");
  if (error.status == 405) more.emplace_back("Allow", allowed_methods(route_.to));
  respond(error.status, json_type, http::write_json(http::error_body(error)), std::move(more));
}

answer_start transaction::start_of(int status) const {
  answer_start start;
  start.status = status;
  start.keep_alive = head_.keep_alive && host_.can_keep_alive() && !shared_.draining;
  start.keep_alive_seconds =
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(shared_.config.idle_timeout).count());
  start.more.emplace_back("x-request-id", request_id_);
  return start;
}

void transaction::respond(int status, std::string content_type, std::string body, header_fields more) {
  answer_start start = start_of(status);
  start.content_type = std::move(content_type);
  if (status != 204) start.length = body.size();
  if (status != 403 && head_.method != "OPTIONS") {
    for (auto& field : cors_fields(head_)) start.more.push_back(std::move(field));
  }
  for (auto& field : more) start.more.push_back(std::move(field));
  const bool keep = start.keep_alive;
  finish(status, keep, render_head(start) + (head_.method == "HEAD" ? std::string() : body));
}

/// Without rows where the zoo does not answer: the gateway's own series are there all the same.
void transaction::respond_metrics(const msg::model_list& models) {
  respond(200, "text/plain; version=0.0.4; charset=utf-8", shared_.metrics.text(models));
}

void transaction::begin_stream() {
  answer_start start = start_of(200);
  start.content_type = http::sse_content_type;
  start.chunked = head_.is_http_1_1;
  if (!start.chunked) start.keep_alive = false;
  start.more.emplace_back("Cache-Control", "no-cache");
  start.more.emplace_back("X-Accel-Buffering", "no");
  for (auto& field : cors_fields(head_)) start.more.push_back(std::move(field));
  streaming_ = true;
  shared_.metrics.stream_opened();
  push(render_head(start), {});
}

void transaction::send_frames(std::string frames, std::vector<credit_mark> marks) {
  if (!streaming_) begin_stream();
  push(head_.is_http_1_1 ? chunk_of(frames) : std::move(frames), std::move(marks));
}

void transaction::end_stream(std::string frames, bool keep_alive) {
  if (!streaming_) begin_stream();
  std::string last = head_.is_http_1_1 ? chunk_of(frames) + last_chunk : std::move(frames);
  finish(200, keep_alive && head_.is_http_1_1 && head_.keep_alive && !shared_.draining, std::move(last));
}

void transaction::push(std::string bytes, std::vector<credit_mark> marks) {
  last_sent_ = clock::now();
  if (bytes_sent_ == 0) shared_.metrics.first_byte(std::chrono::duration<double>(last_sent_ - began_).count());
  const std::size_t size = bytes.size();
  host_.send(std::move(bytes), std::move(marks));
  bytes_sent_ += size;
}

void transaction::sent(const std::vector<credit_mark>& marks) {
  if (!exchange_) return;
  for (const credit_mark& mark : marks) exchange_->taken(mark.choice, mark.upto);
}

std::optional<transaction::clock::time_point> transaction::deadline() const {
  if (ended_ || !exchange_) return std::nullopt;
  std::optional<clock::time_point> out;
  const bool zoo_is_asked = !call_;
  if (zoo_is_asked || !exchange_->attached()) out = asked_ + shared_.config.answer_timeout;
  if (stream_ && (!out || last_sent_ + shared_.config.ping_interval < *out))
    out = last_sent_ + shared_.config.ping_interval;
  return out;
}

void transaction::on_deadline() {
  const auto now = clock::now();
  if (ended_ || !exchange_) return;
  const bool waits_for_answer = !call_ || !exchange_->attached();
  const bool too_long = waits_for_answer && now >= asked_ + shared_.config.answer_timeout;
  guard([&] {
    if (too_long && route_.to == route::metrics) return respond_metrics({});
    if (too_long) return fail(later("the server does not answer at the moment; please repeat the request"));
    if (stream_ && now >= last_sent_ + shared_.config.ping_interval) send_frames(http::sse_ping(), {});
  });
}

void transaction::gone() {
  if (!ended_) finish(client_closed, false, {});
}

/// Counts and logs first: a client that has its answer must find itself counted.
void transaction::finish(int logged_status, bool keep_alive, std::string last_bytes) {
  ended_ = true;
  if (exchange_) exchange_->close(!answered_);
  if (streaming_) shared_.metrics.stream_closed();
  shared_.metrics.request_done(route_name(route_.to), logged_status);
  const double ms = std::chrono::duration<double, std::milli>(clock::now() - began_).count();
  spdlog::info("{} {} {} {} bytes {:.1f} ms {}", head_.method, path_of(head_.target), logged_status,
               bytes_sent_ + last_bytes.size(), ms, request_id_);
  if (logged_status == client_closed) return;
  push(std::move(last_bytes), {});
  host_.end(keep_alive);
}

}  // namespace infer::actors
