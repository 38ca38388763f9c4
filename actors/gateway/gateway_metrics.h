// The gateway's series and the text of all of them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "protocol/messages/models.h"

namespace prometheus {
class Registry;
}

namespace infer::actors {

/// Threads: any.
class gateway_metrics {
 public:
  gateway_metrics();
  ~gateway_metrics();

  void connection_opened();
  void connection_closed();
  void stream_opened();
  void stream_closed();
  void first_byte(double seconds);
  void request_done(const char* route, int status);
  void tokens(std::uint32_t in, std::uint32_t out);

  /// Everything in the registry and the models' own series, as Prometheus reads it.
  std::string text(const msg::model_list& models) const;
  const std::shared_ptr<prometheus::Registry>& registry() const { return registry_; }

 private:
  struct series;
  std::shared_ptr<prometheus::Registry> registry_;
  std::unique_ptr<series> series_;
};

}  // namespace infer::actors
