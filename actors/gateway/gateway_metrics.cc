// Series of the gateway.
#include "actors/gateway/gateway_metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <functional>
#include <utility>
#include <vector>

namespace infer::actors {

namespace {

prometheus::Gauge& gauge(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(registry).Add({});
}

prometheus::Counter& counter(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry).Add({});
}

/// One series per model.
prometheus::MetricFamily family(const msg::model_list& models, const char* name, const char* help,
                                prometheus::MetricType type,
                                const std::function<double(const msg::model_row&)>& value) {
  prometheus::MetricFamily out{name, help, type, {}};
  for (const msg::model_row& row : models.models) {
    prometheus::ClientMetric metric;
    metric.label.push_back({"model", row.id});
    (type == prometheus::MetricType::Gauge ? metric.gauge.value : metric.counter.value) = value(row);
    out.metric.push_back(std::move(metric));
  }
  return out;
}

void add_models(const msg::model_list& models, std::vector<prometheus::MetricFamily>& to) {
  const auto gauge_of = [&](const char* name, const char* help, const auto& value) {
    to.push_back(family(models, name, help, prometheus::MetricType::Gauge, value));
  };
  const auto counter_of = [&](const char* name, const char* help, const auto& value) {
    to.push_back(family(models, name, help, prometheus::MetricType::Counter, value));
  };
  using row = const msg::model_row&;
  gauge_of("infer_model_ready", "1 where the model takes requests at once.",
           [](row r) { return r.state == msg::model_state::ready ? 1.0 : 0.0; });
  gauge_of("infer_model_bytes",
           "Memory that the model took when it was loaded; its key-value cache may have grown since.",
           [](row r) { return static_cast<double>(r.bytes); });
  gauge_of("infer_model_leases", "Requests that hold the model.", [](row r) { return r.leases; });
  gauge_of("infer_model_waiters", "Requests that wait for the model.", [](row r) { return r.waiters; });
  gauge_of("infer_model_streams", "Sequences that are computed.", [](row r) { return r.work.streams_open; });
  gauge_of("infer_model_streams_waiting", "Sequences without a place in the batch.",
           [](row r) { return r.work.streams_waiting; });
  gauge_of("infer_model_pages_free",
           "Pages of the key-value cache, of all groups of layers, that are free or can be at once.",
           [](row r) { return r.work.pages_free; });
  gauge_of("infer_model_pages", "Pages of the key-value cache, of all groups of layers.",
           [](row r) { return r.work.pages_total; });
  counter_of("infer_model_prompt_tokens_total", "Prompt tokens computed.",
             [](row r) { return static_cast<double>(r.work.prompt_tokens); });
  counter_of("infer_model_cached_prompt_tokens_total", "Prompt tokens that did not have to be computed.",
             [](row r) { return static_cast<double>(r.work.cached_tokens); });
  counter_of("infer_model_parkings_total", "Sequences that gave their pages to others for a while.",
             [](row r) { return static_cast<double>(r.work.parkings); });
  counter_of("infer_model_tokens_total", "Tokens generated.",
             [](row r) { return static_cast<double>(r.work.tokens_made); });
  counter_of("infer_model_steps_total", "Steps computed.", [](row r) { return static_cast<double>(r.work.steps); });
  counter_of("infer_model_layers_total", "Layers computed in all steps.",
             [](row r) { return static_cast<double>(r.work.layers_run); });
  counter_of("infer_model_cancelled_rows_total", "Rows of steps that were cancelled under way.",
             [](row r) { return static_cast<double>(r.work.rows_cancelled); });
}

}  // namespace

struct gateway_metrics::series {
  explicit series(prometheus::Registry& registry)
      : requests(prometheus::BuildCounter()
                     .Name("infer_http_requests_total")
                     .Help("HTTP requests answered, by route and status.")
                     .Register(registry)),
        connections(gauge(registry, "infer_http_connections", "Open HTTP connections.")),
        streams(gauge(registry, "infer_http_streams", "Event streams under way.")),
        tokens_in(counter(registry, "infer_tokens_in_total", "Prompt tokens of finished requests.")),
        tokens_out(counter(registry, "infer_tokens_out_total", "Generated tokens of finished requests.")),
        first_byte(prometheus::BuildHistogram()
                       .Name("infer_http_first_byte_seconds")
                       .Help("From the end of a request's head to the first byte of its answer.")
                       .Register(registry)
                       .Add({}, prometheus::Histogram::BucketBoundaries{0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1,
                                                                        2.5, 5, 10, 30, 60, 120})) {}

  prometheus::Family<prometheus::Counter>& requests;
  prometheus::Gauge& connections;
  prometheus::Gauge& streams;
  prometheus::Counter& tokens_in;
  prometheus::Counter& tokens_out;
  prometheus::Histogram& first_byte;
};

gateway_metrics::gateway_metrics()
    : registry_(std::make_shared<prometheus::Registry>()), series_(std::make_unique<series>(*registry_)) {}
gateway_metrics::~gateway_metrics() = default;

void gateway_metrics::connection_opened() {
  series_->connections.Increment();
}
void gateway_metrics::connection_closed() {
  series_->connections.Decrement();
}
void gateway_metrics::stream_opened() {
  series_->streams.Increment();
}
void gateway_metrics::stream_closed() {
  series_->streams.Decrement();
}
void gateway_metrics::first_byte(double seconds) {
  series_->first_byte.Observe(seconds);
}

void gateway_metrics::request_done(const char* route, int status) {
  series_->requests.Add({{"route", route}, {"status", std::to_string(status)}}).Increment();
}

void gateway_metrics::tokens(std::uint32_t in, std::uint32_t out) {
  series_->tokens_in.Increment(in);
  series_->tokens_out.Increment(out);
}

std::string gateway_metrics::text(const msg::model_list& models) const {
  auto families = registry_->Collect();
  add_models(models, families);
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace infer::actors
