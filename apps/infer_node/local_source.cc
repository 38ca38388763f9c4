// A node in this process, asked with the same request as a server would be.
#include <boost/json/serialize.hpp>
#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <utility>

#include "actors/tree/client.h"
#include "apps/infer_node/answer_source.h"
#include "engine/decode/kernel_choice.h"
#include "protocol/http/parse_call.h"

namespace infer::apps {
namespace {

auto failed(std::string why) {
  return fail(error{std::make_error_code(std::errc::invalid_argument), std::move(why)});
}

/// CAF's configuration, complete before its system is made of it.
struct node_system_config : caf::actor_system_config {
  node_system_config() { configure(*this); }
};

class local final : public answer_source {
 public:
  explicit local(const model_options& model) : system_(config_) {
    decode::tune_kernels(decode::default_tuning_file());
    node_config nodes;
    nodes.models.push_back(model.zoo_model(model.path));
    nodes.compute_threads = model.threads;
    id_ = nodes.models.front().source.id;
    node_ = spawn_node(system_, std::move(nodes));
  }
  ~local() override {
    stop_node(system_, node_);
    node_ = {};
  }

  msg::model_changed load() { return load_model(system_, node_, id_); }

  std::string name() const override { return id_; }

  answer_report answer(const question& asked, bool split, const sink& show, const std::atomic<bool>* cancel) override {
    answer_report report;
    auto request = request_of(asked);
    if (!request) {
      report.failure = request.error().message();
      return report;
    }
    request.value().split_reasoning = split && !asked.raw;
    piece_stream pieces(false, false, show);
    client_callbacks callbacks;
    callbacks.on_text = [&](const msg::text_made& event) {
      pieces.reasoning(event.reasoning);
      pieces.text(event.text);
    };
    const client_result got = run_request(system_, node_, std::move(request.value()), callbacks, cancel);
    const auto since_first = pieces.since_first_s();
    pieces.finish();
    report.cancelled = got.cancelled;
    if (!got.ok && !got.cancelled) {
      report.failure = got.failure.message;
      report.too_long = got.failure.code == msg::refusal::context_length_exceeded;
    }
    report.model = got.answer.model;
    if (got.ok)
      report.finish_reason = got.answer.choices.front().reason == msg::finish_reason::stop ? "stop" : "length";
    answer_stats& stats = report.stats;
    if (!got.answer.model.empty()) {
      stats.prompt_tokens = got.answer.prompt_tokens;
      stats.cached_tokens = got.answer.cached_tokens;
      stats.completion_tokens = got.answer.completion_tokens;
    }
    stats.first_token_s = pieces.first_s();
    // A time that rounds to nothing gives no rate.
    if (!got.ok)
      stats.decode_s = since_first;
    else if (got.answer.decode_us > 0)
      stats.decode_s = static_cast<double>(got.answer.decode_us) / 1e6;
    return report;
  }

 private:
  static result<msg::generate> request_of(const question& asked) {
    msg::generate request;
    if (asked.raw) {
      request.prompt.kind = msg::prompt_kind::text;
      request.prompt.text = asked.turns.front().content;
      request.prompt.parse_special = true;
      if (asked.settings.max_tokens >= 0) request.max_tokens = static_cast<std::uint32_t>(asked.settings.max_tokens);
    } else {
      auto call = http::parse_chat(boost::json::serialize(chat_body(asked.turns, asked.settings)), {});
      if (!call) return failed(call.error().message);
      request = std::move(call.value().generate);
    }
    request.sampling = asked.settings.sampling;
    request.seed_given = asked.settings.seed >= 0;
    if (request.seed_given) request.sampling.seed = static_cast<std::uint64_t>(asked.settings.seed);
    return request;
  }

  node_system_config config_;
  caf::actor_system system_;
  node node_;
  std::string id_;
};

}  // namespace

result<std::unique_ptr<answer_source>> local_source(const model_options& model) {
  auto source = std::make_unique<local>(model);
  const msg::model_changed changed = source->load();
  if (!changed.done) return failed(changed.message);
  return std::unique_ptr<answer_source>(std::move(source));
}

}  // namespace infer::apps
