// The table of routes.
#include "actors/gateway/routes.h"

#include <algorithm>
#include <charconv>

namespace infer::actors {
namespace {

struct row {
  route to;
  std::string_view path;
  const char* name;
  const char* methods;
};

constexpr const char* reads = "GET, HEAD, OPTIONS";
constexpr const char* writes = "POST, OPTIONS";

constexpr row rows[] = {
    {route::root, "", "root", reads},
    {route::health, "/health", "health", reads},
    {route::metrics, "/metrics", "metrics", reads},
    {route::models, "/models", "models", reads},
    {route::model, "/models/*", "model", reads},
    {route::chat, "/chat/completions", "chat_completions", writes},
    {route::completions, "/completions", "completions", writes},
    {route::embeddings, "/embeddings", "embeddings", writes},
    {route::infill, "/infill", "infill", writes},
    {route::apply_template, "/apply-template", "apply_template", writes},
    {route::props, "/props", "props", reads},
    {route::slots, "/slots", "slots", reads},
    {route::tokenize, "/tokenize", "tokenize", writes},
    {route::detokenize, "/detokenize", "detokenize", writes},
};

const row* row_of(route of) {
  for (const row& candidate : rows) {
    if (candidate.to == of) return &candidate;
  }
  return nullptr;
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    int byte = 0;
    if (text[i] == '%' && i + 2 < text.size()) {
      const char* const first = text.data() + i + 1;
      const auto [end, bad] = std::from_chars(first, first + 2, byte, 16);
      if (bad == std::errc{} && end == first + 2) {
        out += static_cast<char>(byte);
        i += 2;
        continue;
      }
    }
    out += text[i];
  }
  return out;
}

}  // namespace

std::string_view path_of(std::string_view target) {
  if (const auto scheme = target.find("://"); scheme != std::string_view::npos && target.find('/') == scheme + 1) {
    const auto slash = target.find('/', scheme + 3);
    target = slash == std::string_view::npos ? std::string_view("/") : target.substr(slash);
  }
  return target.substr(0, target.find_first_of("?#"));
}

std::string query_value(std::string_view target, std::string_view name) {
  const std::size_t mark = target.find('?');
  if (mark == std::string_view::npos) return {};
  std::string_view query = target.substr(mark + 1);
  query = query.substr(0, query.find('#'));
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    if (pair.size() > name.size() && pair.starts_with(name) && pair[name.size()] == '=')
      return percent_decoded(pair.substr(name.size() + 1));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
  }
  return {};
}

routed match_route(std::string_view target) {
  std::string_view path = path_of(target);
  while (path.ends_with('/')) path.remove_suffix(1);
  const bool versioned = path == "/v1" || path.starts_with("/v1/");
  if (versioned) path.remove_prefix(3);
  if (versioned && path.empty()) return {};
  for (const row& candidate : rows) {
    if (candidate.to != route::model && candidate.path == path) return {candidate.to, {}};
  }
  constexpr std::string_view one_model = "/models/";
  if (path.starts_with(one_model)) return {route::model, percent_decoded(path.substr(one_model.size()))};
  return {};
}

const char* route_name(route of) noexcept {
  const row* const found = row_of(of);
  return found != nullptr ? found->name : "unknown";
}

const char* allowed_methods(route of) noexcept {
  const row* const found = row_of(of);
  return found != nullptr ? found->methods : "OPTIONS";
}

bool allows(route of, std::string_view method) noexcept {
  const std::string_view list = allowed_methods(of);
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find(", ", at), list.size());
    if (list.substr(at, end - at) == method) return true;
    at = end + 2;
  }
  return false;
}

bool is_open(route of) noexcept {
  return of == route::health || of == route::root;
}

}  // namespace infer::actors
