// Reading and writing JSON lines.
#include "apps/infer_node/json_lines.h"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>

#include "apps/infer_node/model_options.h"

namespace infer::apps {
namespace {

result<boost::json::object> parse_line(const std::string& line) {
  boost::json::error_code code;
  auto value = boost::json::parse(line, code);
  if (code) return fail(error{std::make_error_code(std::errc::invalid_argument), "not JSON: " + code.message()});
  if (!value.is_object()) return fail(error{std::make_error_code(std::errc::invalid_argument), "not a JSON object"});
  return std::move(value.get_object());
}

}  // namespace

int for_each_json_line(const std::function<result<boost::json::object>(const boost::json::object&)>& answer) {
  std::string line;
  int exit_code = 0;
  while (std::getline(std::cin, line)) {
    if (line.empty()) continue;
    auto parsed = parse_line(line);
    auto out = parsed ? answer(parsed.value()) : result<boost::json::object>(parsed.as_failure());
    if (!out) {
      exit_code = 1;
      out = boost::json::object{{"error", out.error().message()}};
    }
    std::cout << boost::json::serialize(out.value()) << "\n" << std::flush;
  }
  if (std::ferror(stdin) != 0) return fail_with(std::string("standard input: ") + std::strerror(errno));
  return exit_code;
}

result<std::vector<std::int32_t>> ids_of(const boost::json::object& line) {
  const auto bad = [] {
    return fail(error{std::make_error_code(std::errc::invalid_argument), "\"ids\" must be an array of token ids"});
  };
  const auto* ids = line.if_contains("ids");
  if (ids == nullptr || !ids->is_array()) return bad();
  std::vector<std::int32_t> out;
  for (const auto& id : ids->get_array()) {
    boost::json::error_code code;
    const auto number = id.to_number<std::int32_t>(code);
    if (code) return bad();
    out.push_back(number);
  }
  return out;
}

}  // namespace infer::apps
