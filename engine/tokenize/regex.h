// Regular expressions over UTF-8, as tokenizers use them: all matches from left to right.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/result.h"
#include "engine/tokenize/fault.h"

namespace infer::tokenize {

struct byte_range {
  std::size_t begin, end;
  friend bool operator==(const byte_range&, const byte_range&) = default;
};

/// A compiled expression.
/// Threads: immutable; copies share it; any thread may search with a scratch of its own.
class regex {
 public:
  /// Memory that successive searches share.
  class scratch {
   public:
    scratch();
    ~scratch();
    scratch(const scratch&) = delete;
    scratch& operator=(const scratch&) = delete;

   private:
    friend class regex;
    void* data_;
  };

  /// Compiles Oniguruma's Ruby syntax.
  /// Errors: unsupported, with the expression, for what cannot be said or is no expression.
  static result<regex> make(std::string_view pattern);
  /// Matches `text` itself.
  static result<regex> literal(std::string_view text);

  /// Appends all matches in `text`, well-formed UTF-8. An empty match directly behind another match does not count.
  /// A search that exceeds the engine's limits counts as none.
  void find_all(std::string_view text, scratch& with, std::vector<byte_range>& matches) const;

 private:
  struct compiled;
  static result<regex> compile(std::string_view pattern, unsigned options, std::string_view shown);
  std::shared_ptr<const compiled> code_;
};

}  // namespace infer::tokenize
