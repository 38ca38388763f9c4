// The head of an HTTP request, free of any library's types.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace infer::actors {

struct request_head {
  std::string method;
  std::string target;
  std::vector<std::pair<std::string, std::string>> fields;  // names in lower case
  std::optional<std::uint64_t> content_length;
  bool chunked = false;
  bool keep_alive = true;
  bool is_http_1_1 = true;

  /// The first field of this (lower case) name; empty where there is none.
  std::string_view find(std::string_view name) const {
    for (const auto& [key, value] : fields) {
      if (key == name) return value;
    }
    return {};
  }
  bool has_body() const { return chunked || content_length.value_or(0) > 0; }
};

}  // namespace infer::actors
