// One key in GGUF; three places on the hub.
#include "engine/formats/chat_source.h"

#include <boost/json.hpp>

#include "engine/formats/fault.h"

namespace infer::formats {
namespace {

namespace json = boost::json;

constexpr const char* gguf_key = "tokenizer.chat_template";

/// The default one of a list of {"name", "template"}.
std::string default_of(const json::array& list) {
  for (const json::value& item : list) {
    if (!item.is_object()) continue;
    const json::value* name = item.get_object().if_contains("name");
    const json::value* text = item.get_object().if_contains("template");
    if (name != nullptr && text != nullptr && name->is_string() && text->is_string() && name->get_string() == "default")
      return std::string(text->get_string());
  }
  return {};
}

}  // namespace

result<std::string> chat_template_of(const model_file& file) {
  if (file.format() == file_format::gguf) {
    if (!file.keys().contains(gguf_key)) return std::string();
    INFER_TRY(const auto text, file.keys().text(gguf_key));
    return std::string(text);
  }
  if (const auto text = file.side_file("chat_template.jinja"); !text.empty()) return std::string(text);
  for (const char* name : {"tokenizer_config.json", "chat_template.json"}) {
    const std::string_view text = file.side_file(name);
    if (text.empty()) continue;
    boost::system::error_code wrong;
    const json::value root = json::parse({text.data(), text.size()}, wrong);
    if (wrong) return fail(fault::malformed, std::string(name) + ": this is not JSON: " + wrong.message());
    const json::value* found = root.is_object() ? root.get_object().if_contains("chat_template") : nullptr;
    if (found == nullptr) continue;
    if (found->is_string()) return std::string(found->get_string());
    if (found->is_array()) return default_of(found->get_array());
  }
  return std::string();
}

}  // namespace infer::formats
