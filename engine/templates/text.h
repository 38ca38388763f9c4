// A string that knows, byte by byte, whether it came from the template's source or from data.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace infer::templates {

/// Bytes with provenance. Every operation that can keep it does; the others yield data.
class text {
 public:
  struct run {
    std::size_t bytes;
    bool from_template;
    friend bool operator==(const run&, const run&) = default;
  };

  text() = default;
  text(std::string bytes, bool from_template) : bytes_(std::move(bytes)), from_template_(from_template) {}

  std::string_view view() const { return bytes_; }
  std::size_t size() const { return bytes_.size(); }
  bool empty() const { return bytes_.empty(); }
  /// Marked as not to be escaped again (the safe and escape filters); `+` with such a text escapes the other side.
  bool is_markup() const { return markup_; }
  void mark_as_markup() { markup_ = true; }

  /// Maximal runs of equal provenance, in order; their lengths add up to size().
  std::vector<run> runs() const;

  /// Appends in amortized time of what is appended, which may be this very text.
  void append(const text& other);
  void append(std::string_view bytes, bool from_template);

  /// The bytes [begin, end), which must lie inside.
  text slice(std::size_t begin, std::size_t end) const;

  /// Every occurrence of `from`, at most `count` if that is not negative, becomes `to`. An empty `from` matches between
  /// all characters.
  text replace(std::string_view from, const text& to, long long count) const;

 private:
  friend class text_cutter;
  // Counts `bytes` more behind the `before` that runs_ knows of.
  void push_run(std::size_t before, std::size_t bytes, bool from_template);

  std::string bytes_;
  std::vector<run> runs_;       // empty where all bytes are of one provenance
  bool from_template_ = false;  // then that
  bool markup_ = false;
};

/// Slices one text many times: the way to where a slice begins is not the whole text each time. The text must stay.
class text_cutter {
 public:
  explicit text_cutter(const text& of);

  /// As text::slice.
  text cut(std::size_t begin, std::size_t end) const;

 private:
  const text& of_;
  std::vector<std::size_t> run_ends_;  // empty where there is but one run
};

}  // namespace infer::templates
