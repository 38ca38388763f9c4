// Which path means what.
#pragma once

#include <string>
#include <string_view>

namespace infer::actors {

enum class route {
  unknown,
  root,
  health,
  metrics,
  models,
  model,
  chat,
  completions,
  embeddings,
  infill,
  apply_template,
  props,
  slots,
  tokenize,
  detokenize
};

struct routed {
  route to = route::unknown;
  std::string model;  // of route::model, decoded
};

/// Every path works with and without /v1 and with a trailing slash; what follows "?" does not matter.
routed match_route(std::string_view target);

/// Name for metrics; one of a fixed set.
const char* route_name(route of) noexcept;
/// The methods it takes, as an Allow header has them.
const char* allowed_methods(route of) noexcept;
bool allows(route of, std::string_view method) noexcept;
/// May be asked without a key.
bool is_open(route of) noexcept;

/// The value of a query's field, decoded; empty where there is none.
std::string query_value(std::string_view target, std::string_view name);

/// The path of a target, without query, and without scheme and host where it has them.
std::string_view path_of(std::string_view target);

}  // namespace infer::actors
