// Texts and token ids.
#include "protocol/http/prompt_fields.h"

#include <boost/json/array.hpp>
#include <limits>
#include <utility>

#include "protocol/http/status.h"

namespace infer::http {
namespace {

namespace json = boost::json;

parsed<msg::prompt> read_prompt(const json::value& value, const std::string& path) {
  msg::prompt out;
  if (value.is_string()) {
    out.kind = msg::prompt_kind::text;
    out.text = std::string(value.get_string());
    return out;
  }
  if (!value.is_array() || value.get_array().empty())
    return refuse(invalid_value(path, "'" + path + "' must be a string or an array of token ids"));
  INFER_TRY(out.ids, read_ids(value.get_array(), path));
  out.kind = msg::prompt_kind::ids;
  return out;
}

}  // namespace

parsed<std::vector<std::int32_t>> read_ids(const json::array& items, const std::string& path) {
  std::vector<std::int32_t> out;
  out.reserve(items.size());
  for (const json::value& item : items) {
    const auto id = as_integer(item);
    if (!id || *id < 0 || *id > std::numeric_limits<std::int32_t>::max()) {
      const std::string place = path + "[" + std::to_string(out.size()) + "]";
      return refuse(invalid_value(place, "'" + place + "' must be a token id"));
    }
    out.push_back(static_cast<std::int32_t>(*id));
  }
  return out;
}

parsed<std::vector<msg::prompt>> read_prompts(const fields& from, std::string_view name, std::size_t most) {
  const std::string path = from.path_of(name);
  const json::value* const value = from.find(name);
  if (value == nullptr) return refuse(invalid_value(path, "'" + path + "' is missing"));
  std::vector<msg::prompt> out;
  const json::array* const list = value->if_array();
  if (list == nullptr || list->empty() || list->front().is_number()) {
    INFER_TRY(auto one, read_prompt(*value, path));
    out.push_back(std::move(one));
    return out;
  }
  if (list->size() > most)
    return refuse(invalid_value(path, "'" + path + "' holds " + std::to_string(list->size()) + " entries; at most " +
                                          std::to_string(most) + " are allowed"));
  for (const json::value& item : *list) {
    INFER_TRY(auto one, read_prompt(item, path + "[" + std::to_string(out.size()) + "]"));
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace infer::http
