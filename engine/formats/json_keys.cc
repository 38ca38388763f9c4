// JSON values to metadata values.
#include "engine/formats/json_keys.h"

#include <boost/json.hpp>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/json/read.h"

namespace infer::formats {
namespace {

namespace json = boost::json;

class flattener {
 public:
  flattener(metadata& keys, std::deque<std::string>& texts) : keys_(keys), texts_(texts) {}

  void take(const json::object& object, const std::string& prefix, std::string_view but = {}) {
    for (const auto& member : object) {
      const std::string_view key(member.key().data(), member.key().size());
      if (!but.empty() && key == but) continue;
      take(member.value(), prefix + std::string(key));
    }
  }

 private:
  std::string_view kept(std::string text) { return texts_.emplace_back(std::move(text)); }

  void insert(const std::string& name, metadata_value value) { keys_.insert(kept(name), std::move(value)); }

  void take(const json::value& value, const std::string& name) {
    switch (value.kind()) {
      case json::kind::null:
        return keys_.insert_none(kept(name));
      case json::kind::object:
        return take(value.get_object(), name + ".");
      case json::kind::array:
        return take_array(value.get_array(), name);
      case json::kind::bool_:
        return insert(name, value.get_bool());
      case json::kind::int64:
        return value.get_int64() < 0 ? insert(name, std::int64_t{value.get_int64()})
                                     : insert(name, static_cast<std::uint64_t>(value.get_int64()));
      case json::kind::uint64:
        return insert(name, std::uint64_t{value.get_uint64()});
      case json::kind::double_:
        return insert(name, value.get_double());
      case json::kind::string:
        return insert(name, kept(std::string(value.get_string())));
    }
  }

  void take_array(const json::array& array, const std::string& name) {
    const auto all = [&](auto is) {
      for (const json::value& item : array)
        if (!is(item)) return false;
      return true;
    };
    if (array.empty()) return;
    if (all([](const json::value& v) { return v.is_bool() || v.is_int64(); })) {
      std::vector<std::int64_t> values;
      for (const json::value& item : array) values.push_back(item.is_bool() ? item.get_bool() : item.get_int64());
      insert(name, std::move(values));
    } else if (all([](const json::value& v) { return v.is_number(); })) {
      std::vector<float> values;
      for (const json::value& item : array) values.push_back(static_cast<float>(item.to_number<double>()));
      insert(name, std::move(values));
    } else if (all([](const json::value& v) { return v.is_string(); })) {
      std::vector<std::string_view> values;
      for (const json::value& item : array) values.push_back(kept(std::string(item.get_string())));
      insert(name, std::move(values));
    }
  }

  metadata& keys_;
  std::deque<std::string>& texts_;
};

}  // namespace

result<json_keys> json_keys::parse(std::string_view text, std::string_view name, std::string_view lift) {
  boost::system::error_code wrong;
  const json::value root = read_json(text, wrong);
  if (wrong) return fail(fault::malformed, std::string(name) + ": this is not JSON: " + wrong.message());
  if (!root.is_object()) return fail(fault::malformed, std::string(name) + ": this is JSON, but not an object");
  json_keys out;
  out.texts_ = std::make_unique<std::deque<std::string>>();
  flattener flat(out.keys, *out.texts_);
  const json::value* inner = lift.empty() ? nullptr : root.get_object().if_contains({lift.data(), lift.size()});
  if (inner != nullptr && inner->is_object()) flat.take(inner->get_object(), "");
  flat.take(root.get_object(), "", lift);
  return out;
}

}  // namespace infer::formats
