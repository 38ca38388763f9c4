// A server that speaks OpenAI's API.
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <utility>

#include "actors/gateway/http_client.h"
#include "apps/infer_node/answer_source.h"
#include "apps/infer_node/chat/event_reader.h"
#include "protocol/http/sampler_fields.h"

namespace infer::apps {
namespace {

class remote final : public answer_source {
 public:
  remote(std::string url, std::string api_key, std::string model)
      : url_(std::move(url)), api_key_(std::move(api_key)), model_(std::move(model)) {}

  std::string name() const override { return (model_.empty() ? "the default model" : model_) + " at " + url_; }

  answer_report answer(const question& asked, bool split, const sink& show, const std::atomic<bool>* cancel) override {
    const bool inside = split && !asked.raw && opens_reasoning(asked, cancel);
    // Where the prompt opens the thinking, an answer without any could not be told from one that is nothing else.
    const bool whole = !split || inside;
    answer_report report;
    piece_stream pieces(split, inside, show);
    event_reader events(
        {[&](std::string_view text) { pieces.text(text); }, [&](std::string_view text) { pieces.reasoning(text); }});
    const auto got = actors::http_post(
        url_, asked.raw ? "/v1/completions" : "/v1/chat/completions", boost::json::serialize(body_of(asked, whole)),
        api_key_, [&](std::string_view data) { events.push(data); }, cancel);
    const auto since_first = pieces.since_first_s();
    pieces.finish();
    report.model = events.model();
    report.finish_reason = events.finish_reason();
    report.stats = events.stats();
    report.stats.first_token_s = pieces.first_s();
    if (!report.stats.decode_s) report.stats.decode_s = since_first;
    if (!got) {
      report.cancelled = got.error().code == std::errc::operation_canceled;
      if (!report.cancelled) report.failure = got.error().message();
    } else if (got.value().status / 100 != 2) {
      report.failure =
          "the server answered " + std::to_string(got.value().status) + ": " + refusal_text(got.value().body);
      report.too_long = is_too_long(got.value().body);
    } else if (!events.failure().empty()) {
      report.failure = events.failure();
    } else if (!events.finished()) {
      report.failure = "the answer broke off";
    }
    return report;
  }

 private:
  /// `whole`: the server is to leave thinking in the text.
  boost::json::object body_of(const question& asked, bool whole) const {
    boost::json::object body = http::sampling_body(asked.settings.sampling);
    boost::json::object more = chat_body(asked.turns, asked.settings);
    if (asked.raw) {
      more.erase("messages");
      more.erase("chat_template_kwargs");
      more["prompt"] = asked.turns.front().content;
    }
    if (whole && !asked.raw) more["reasoning_format"] = "none";
    for (auto& member : more) body[member.key()] = std::move(member.value());
    if (!model_.empty()) body["model"] = model_;
    body["stream"] = true;
    body["stream_options"] = boost::json::object{{"include_usage", true}};
    return body;
  }

  /// Whether the template opens a block of thinking for the model; asked again where the answer may differ. A server
  /// that cannot say it has templates that do not.
  bool opens_reasoning(const question& asked, const std::atomic<bool>* cancel) {
    if (known_ && asked.settings.think == known_for_) return opens_;
    boost::json::object body = chat_body(asked.turns, asked.settings);
    if (!model_.empty()) body["model"] = model_;
    const auto got = actors::http_post(url_, "/apply-template", boost::json::serialize(body), api_key_, {}, cancel);
    if (!got) return false;
    known_ = true;
    known_for_ = asked.settings.think;
    boost::json::error_code code;
    const auto answer = boost::json::parse(got.value().body, code);
    const auto* const prompt = code ? nullptr : answer.find_pointer("/prompt", code);
    return opens_ = prompt != nullptr && prompt->is_string() && templates::ends_in_reasoning(prompt->get_string());
  }

  std::string url_, api_key_, model_;
  bool known_ = false, opens_ = false;
  think_mode known_for_{};
};

}  // namespace

std::unique_ptr<answer_source> remote_source(std::string url, std::string api_key, std::string model) {
  return std::make_unique<remote>(std::move(url), std::move(api_key), std::move(model));
}

}  // namespace infer::apps
