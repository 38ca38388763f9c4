// A JSON object as a metadata table: nested names joined by dots.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "engine/core/result.h"
#include "engine/formats/metadata.h"

namespace infer::formats {

/// A table and the text it looks into.
struct json_keys {
  metadata keys;

  /// Objects become prefixes: {"a": {"b": 1}} is a.b = 1. Arrays of numbers, flags or texts are kept, others
  /// are left out, and null is noted as none. Where the object has a member `lift` that is an object, its members count
  /// as the outer object's own and win over those of the same name.
  /// Errors:  malformed with what the parser says; `name` begins the sentence.
  static result<json_keys> parse(std::string_view text, std::string_view name, std::string_view lift = {});

 private:
  std::unique_ptr<std::deque<std::string>> texts_;  // what the table's views look into
};

}  // namespace infer::formats
