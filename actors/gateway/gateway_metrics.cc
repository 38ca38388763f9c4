// Series of the gateway.
#include "actors/gateway/gateway_metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

namespace infer::actors {

namespace {

prometheus::Gauge& gauge(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(registry).Add({});
}

prometheus::Counter& counter(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry).Add({});
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

std::string gateway_metrics::text() const {
  return prometheus::TextSerializer().Serialize(registry_->Collect());
}

}  // namespace infer::actors
