// Runs the steps of a recipe that turn text into pieces.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/result.h"
#include "engine/tokenize/recipe.h"
#include "engine/tokenize/regex.h"

namespace infer::tokenize {

/// A text and the pieces it is cut into, in order.
struct piece_list {
  std::string_view text;  // the caller's, or `own` once a step has changed it
  std::string own;
  std::vector<byte_range> ranges;

  explicit piece_list(std::string_view whole) : text(whole) {
    if (!whole.empty()) ranges.push_back({0, whole.size()});
  }
  piece_list(const piece_list&) = delete;
  piece_list& operator=(const piece_list&) = delete;

  std::size_t size() const { return ranges.size(); }
  std::string_view operator[](std::size_t i) const {
    return text.substr(ranges[i].begin, ranges[i].end - ranges[i].begin);
  }
};

/// Steps, ready to run.
/// Threads: immutable; copies share the expressions; any thread may run.
class text_pipeline {
 public:
  /// Errors: unsupported for an expression that is not; malformed for a character map that is not one.
  static result<text_pipeline> make(std::span<const text_step> steps);

  bool empty() const { return steps_.empty(); }

  /// Runs all steps over well-formed UTF-8. `at_start`: the text begins where the whole input begins. Pieces that
  /// become empty are gone. Linear in the text where the expressions are.
  void run(piece_list& pieces, bool at_start) const;

 private:
  struct ready;
  std::vector<std::shared_ptr<const ready>> steps_;
};

}  // namespace infer::tokenize
