// The metadata table of a model file: typed look-ups, nothing about where the bytes came from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

#include "engine/core/result.h"
#include "engine/formats/fault.h"

namespace infer::formats {

/// One value. Integers of every width are widened; strings are views into the memory of the file that made the table.
using metadata_value =
    std::variant<std::uint64_t, std::int64_t, double, bool, std::string_view, std::vector<std::uint64_t>,
                 std::vector<std::int64_t>, std::vector<float>, std::vector<std::string_view>>;

/// What a value is, for a person: `"llama"`, `2048`, `49152 strings: "<a>", "<b>", …`. Texts are cut after `limit`
/// bytes.
std::string summary(const metadata_value& value, std::size_t limit = 60);

/// Key → value, in the file's order.
/// Errors:  `missing_key` and `wrong_type`, both with the key's name and, for the second, what it holds instead.
/// Threads: immutable once built; any thread may read.
/// Memory:  views live as long as the file object that owns the bytes.
class metadata {
 public:
  /// Adds a key; false where it is there already.
  bool insert(std::string_view key, metadata_value value);

  /// Notes that the file has the key without a value (JSON's null). It is not contained.
  void insert_none(std::string_view key) { none_.insert(key); }
  bool is_none(std::string_view key) const { return none_.contains(key) && !contains(key); }

  bool contains(std::string_view key) const;
  const metadata_value* find(std::string_view key) const;
  /// Keys in the file's order.
  std::span<const std::string_view> keys() const { return order_; }

  result<std::string_view> text(std::string_view key) const;
  /// Any integer type that holds a value ≥ 0.
  result<std::uint64_t> count(std::string_view key) const;
  result<std::int64_t> integer(std::string_view key) const;
  /// f32, f64 or any integer.
  result<double> real(std::string_view key) const;
  /// bool, or an integer 0 or 1.
  result<bool> boolean(std::string_view key) const;
  result<std::span<const std::string_view>> texts(std::string_view key) const;
  result<std::span<const float>> reals(std::string_view key) const;
  /// An integer or bool array of any width and sign.
  result<std::vector<std::int64_t>> integers(std::string_view key) const;

 private:
  std::vector<std::string_view> order_;
  std::unordered_map<std::string_view, metadata_value> values_;
  std::unordered_set<std::string_view> none_;
};

}  // namespace infer::formats
