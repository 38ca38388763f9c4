// Boost.JSON's grammar with a handler that reads the text of doubles once more.
#include "engine/json/read.h"

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/value_stack.hpp>
#include <charconv>
#include <cstdint>
#include <system_error>

namespace infer {
namespace {

namespace json = boost::json;

// Builds values as json::parser does.
class value_builder {
 public:
  static constexpr std::size_t max_object_size = json::object::max_size();
  static constexpr std::size_t max_array_size = json::array::max_size();
  static constexpr std::size_t max_key_size = json::string::max_size();
  static constexpr std::size_t max_string_size = json::string::max_size();

  value_builder(unsigned char* room, std::size_t bytes) : stack_(json::storage_ptr(), room, bytes) {
    stack_.reset(json::storage_ptr());
  }

  json::value release() { return stack_.release(); }

  bool on_document_begin(json::error_code&) { return true; }
  bool on_document_end(json::error_code&) { return true; }
  bool on_object_begin(json::error_code&) { return true; }
  bool on_array_begin(json::error_code&) { return true; }
  bool on_object_end(std::size_t members, json::error_code&) {
    stack_.push_object(members);
    return true;
  }
  bool on_array_end(std::size_t items, json::error_code&) {
    stack_.push_array(items);
    return true;
  }
  bool on_key_part(json::string_view part, std::size_t, json::error_code&) {
    stack_.push_chars(part);
    return true;
  }
  bool on_key(json::string_view end, std::size_t, json::error_code&) {
    stack_.push_key(end);
    return true;
  }
  bool on_string_part(json::string_view part, std::size_t, json::error_code&) {
    stack_.push_chars(part);
    return true;
  }
  bool on_string(json::string_view end, std::size_t, json::error_code&) {
    stack_.push_string(end);
    return true;
  }
  bool on_int64(std::int64_t number, json::string_view, json::error_code&) {
    stack_.push_int64(number);
    return true;
  }
  bool on_uint64(std::uint64_t number, json::string_view, json::error_code&) {
    stack_.push_uint64(number);
    return true;
  }
  // The text is whole: nothing comes in parts.
  bool on_double(double number, json::string_view text, json::error_code&) {
    double exact = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), exact);
    stack_.push_double(read.ec == std::errc{} ? exact : number);
    return true;
  }
  bool on_bool(bool flag, json::error_code&) {
    stack_.push_bool(flag);
    return true;
  }
  bool on_null(json::error_code&) {
    stack_.push_null();
    return true;
  }
  bool on_number_part(json::string_view, json::error_code&) { return true; }
  bool on_comment_part(json::string_view, json::error_code&) { return true; }
  bool on_comment(json::string_view, json::error_code&) { return true; }

 private:
  json::value_stack stack_;
};

}  // namespace

json_prefix read_json_prefix(std::string_view text, json::error_code& code, std::size_t max_depth) {
  unsigned char room[4096];
  json::parse_options options;
  options.max_depth = max_depth;
  json::basic_parser<value_builder> parser(options, room, sizeof room);
  json_prefix read;
  read.bytes = parser.write_some(false, text.data(), text.size(), code);
  if (!code) read.value = parser.handler().release();
  return read;
}

json::value read_json(std::string_view text, json::error_code& code, std::size_t max_depth) {
  json_prefix read = read_json_prefix(text, code, max_depth);
  if (!code && read.bytes < text.size()) code = json::error::extra_data;
  return code ? json::value() : std::move(read.value);
}

}  // namespace infer
