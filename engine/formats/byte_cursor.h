// A reading position in the header of a model file, whose every step checks that the bytes are there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/core/bytes.h"
#include "engine/formats/fault.h"
#include "engine/formats/quote.h"

namespace infer::formats {

/// What is being read, for the sentence of an error: {"the metadata key", "general.name"}.
struct place {
  const char* what;
  std::string_view name = {};

  std::string text() const { return name.empty() ? what : std::string(what) + ' ' + quote(name); }
};

/// Errors:  truncated where the file ends before what is asked for; malformed where a length exceeds the whole file.
/// Threads: one reader. Memory: views it returns point into `file`.
class byte_cursor {
 public:
  byte_cursor(byte_view file, std::string_view file_name) : file_(file), file_name_(file_name) {}

  std::uint64_t position() const { return at_; }
  std::uint64_t remaining() const { return file_.size() - at_; }
  std::uint64_t file_bytes() const { return file_.size(); }

  /// An error that begins with the file's name.
  auto error_at(fault code, const std::string& sentence) const {
    return fail(code, std::string(file_name_) + ": " + sentence);
  }

  template <class T>
  result<T> number(const place& where) {
    if (remaining() < sizeof(T)) return ends_inside(where);
    const T value = load_le<T>(file_.data() + at_);
    at_ += sizeof(T);
    return value;
  }

  /// `count` numbers in a row, already checked by `fits`.
  template <class T>
  T unchecked_number() {
    const T value = load_le<T>(file_.data() + at_);
    at_ += sizeof(T);
    return value;
  }

  /// Checks that `count` things of at least `bytes_each` bytes can follow.
  result<void> fits(std::uint64_t count, std::uint64_t bytes_each, const char* things, const place& where) const {
    if (count <= remaining() / bytes_each) return success();
    if (count > file_bytes() / bytes_each) {
      return error_at(fault::malformed, where.text() + " claims " + std::to_string(count) + ' ' + things +
                                            ", more than the whole file of " + std::to_string(file_bytes()) +
                                            " bytes can hold; the file is damaged");
    }
    return ends_inside(where);
  }

  /// A u64 length and that many bytes.
  result<std::string_view> string(const place& where) {
    INFER_TRY(const auto length, number<std::uint64_t>(where));
    INFER_TRYV(fits(length, 1, "bytes of text", where));
    const std::string_view text(reinterpret_cast<const char*>(file_.data() + at_), length);
    at_ += length;
    return text;
  }

 private:
  error ends_inside_error(const place& where) const {
    return {make_error_code(fault::truncated), std::string(file_name_) + ": the file ends after " +
                                                   std::to_string(file_bytes()) + " bytes, inside " + where.text() +
                                                   "; download it again"};
  }
  auto ends_inside(const place& where) const -> decltype(fail(error{})) { return fail(ends_inside_error(where)); }

  byte_view file_;
  std::string_view file_name_;
  std::uint64_t at_ = 0;
};

}  // namespace infer::formats
