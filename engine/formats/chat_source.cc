// Two keys in GGUF; three places on the hub.
#include "engine/formats/chat_source.h"

#include <boost/json.hpp>

#include "engine/formats/fault.h"

namespace infer::formats {
namespace {

namespace json = boost::json;

constexpr const char* gguf_key = "tokenizer.chat_template";
constexpr const char* gguf_tool_key = "tokenizer.chat_template.tool_use";

/// Of a list of {"name", "template"}; the first of a name counts.
chat_templates named(const json::array& list) {
  chat_templates out;
  for (const json::value& item : list) {
    if (!item.is_object()) continue;
    const json::value* name = item.get_object().if_contains("name");
    const json::value* text = item.get_object().if_contains("template");
    if (name == nullptr || text == nullptr || !name->is_string() || !text->is_string()) continue;
    const std::string_view as = name->get_string();
    if (as == "default" && out.text.empty()) out.text = text->get_string();
    if (as == "tool_use" && out.tool_use.empty()) out.tool_use = text->get_string();
  }
  return out;
}

result<std::string> text_at(const model_file& file, const char* key) {
  if (!file.keys().contains(key)) return std::string();
  INFER_TRY(const auto text, file.keys().text(key));
  return std::string(text);
}

}  // namespace

result<chat_templates> chat_templates_of(const model_file& file) {
  chat_templates out;
  if (file.format() == file_format::gguf) {
    INFER_TRY(out.text, text_at(file, gguf_key));
    INFER_TRY(out.tool_use, text_at(file, gguf_tool_key));
    return out;
  }
  if (const auto text = file.side_file("chat_template.jinja"); !text.empty()) {
    out.text = text;
    return out;
  }
  for (const char* name : {"tokenizer_config.json", "chat_template.json"}) {
    const std::string_view text = file.side_file(name);
    if (text.empty()) continue;
    boost::system::error_code wrong;
    const json::value root = json::parse({text.data(), text.size()}, wrong);
    if (wrong) return fail(fault::malformed, std::string(name) + ": this is not JSON: " + wrong.message());
    const json::value* found = root.is_object() ? root.get_object().if_contains("chat_template") : nullptr;
    if (found == nullptr) continue;
    if (found->is_array()) return named(found->get_array());
    if (!found->is_string()) continue;
    out.text = found->get_string();
    return out;
  }
  return out;
}

result<std::string> chat_template_of(const model_file& file) {
  INFER_TRY(chat_templates all, chat_templates_of(file));
  return std::move(all.text);
}

}  // namespace infer::formats
