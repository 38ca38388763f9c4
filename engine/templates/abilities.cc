// Probing: small conversations, rendered.
#include "engine/templates/abilities.h"

#include <boost/json/parse.hpp>
#include <string>
#include <string_view>

namespace infer::templates {
namespace {

namespace json = boost::json;

constexpr std::string_view needle = "Ndl7q", second_needle = "Ndl8w";

class prober {
 public:
  explicit prober(const chat_template& chat) : chat_(chat) {}

  /// What the template makes of these messages (a JSON array); empty where it refuses them.
  std::string render(const std::string& messages, bool with_tools = false) const {
    json::object variables;
    variables["messages"] = json::parse(messages);
    variables["add_generation_prompt"] = true;
    variables["bos_token"] = "";
    variables["eos_token"] = "";
    if (with_tools) {
      variables["tools"] = json::parse(
          R"([{"type":"function","function":{"name":"probe","description":"d","parameters":{"type":"object",)"
          R"("properties":{"key":{"type":"string","description":"k"}},"required":["key"]}}}])");
    }
    const auto spans = chat_.render(variables);
    std::string out;
    if (!spans) return out;
    for (const rendered_span& span : spans.value()) out += span.text;
    return out;
  }

  bool shows(const std::string& messages, std::string_view text, bool with_tools = false) const {
    return render(messages, with_tools).find(text) != std::string::npos;
  }

 private:
  const chat_template& chat_;
};

std::string turn(std::string_view role, std::string_view text) {
  return R"({"role":")" + std::string(role) + R"(","content":")" + std::string(text) + R"("})";
}

/// A question, a call with these arguments and this content, its result, another question.
std::string tool_talk(std::string_view arguments, std::string_view content, std::string_view id) {
  std::string out = "[" + turn("user", "u") + R"(,{"role":"assistant","content":)" + std::string(content);
  out +=
      R"(,"tool_calls":[{"id":")" + std::string(id) + R"(","type":"function","function":{"name":"probe","arguments":)";
  out += std::string(arguments) + R"(}}]},{"role":"tool","name":"probe","tool_call_id":")" + std::string(id);
  return out + R"(","content":"Ndl8w"},)" + turn("assistant", "a") + "," + turn("user", "v") + "]";
}

void probe_tools(const prober& with, template_abilities& out) {
  const std::string question = "[" + turn("user", needle) + "]", with_tools = with.render(question, true);
  // A template that takes them may yet drop them.
  out.tools = with_tools.find(needle) != std::string::npos && with_tools.find("probe") != std::string::npos &&
              with.render(question).find("probe") == std::string::npos;
  const std::string object = R"({"key":"Ndl7q"})", text = R"("{\"key\": \"Ndl7q\"}")";
  const std::string short_id = "abcdef123", long_id = "call_probe_1";
  const std::string as_object = with.render(tool_talk(object, R"("")", short_id), out.tools);
  const std::string as_text = with.render(tool_talk(text, R"("")", short_id), out.tools);
  // Printed as Python prints a dictionary it is no JSON; a text that is quoted once more is no object.
  out.argument_objects = as_object.find(needle) != std::string::npos && as_object.find("'key'") == std::string::npos;
  out.argument_strings = as_text.find(needle) != std::string::npos && as_text.find(R"(\"key\")") == std::string::npos;
  out.tool_calls = out.argument_objects || out.argument_strings;
  const std::string& best = out.argument_strings ? text : object;
  if (!out.tool_calls) {
    out.tool_role =
        with.shows("[" + turn("user", "u") + "," + turn("assistant", "a") + "," + turn("tool", needle) + "]", needle);
    return;
  }
  out.tool_role = with.shows(tool_talk(best, R"("")", short_id), second_needle, out.tools);
  out.null_content = with.shows(tool_talk(best, "null", short_id), needle, out.tools);
  out.any_call_ids = with.shows(tool_talk(best, R"("")", long_id), needle, out.tools);
}

}  // namespace

template_abilities probe(const chat_template& chat) {
  const prober with(chat);
  template_abilities out;
  const std::string user = turn("user", "u"), assistant = turn("assistant", "a");
  if (!with.shows("[" + turn("user", needle) + "]", needle)) {
    out.text_content = !with.shows(R"([{"role":"user","content":[{"type":"text","text":"Ndl7q"}]}])", needle);
    // Of a template that shows no user's text nothing more is to be learned.
    return out;
  }
  out.system_role = with.shows("[" + turn("system", needle) + "," + user + "]", needle);
  out.late_system =
      out.system_role &&
      with.shows("[" + user + "," + assistant + "," + turn("system", needle) + "," + user + "]", needle) &&
      with.shows("[" + turn("system", needle) + "," + turn("system", "s") + "," + user + "]", needle) &&
      with.shows("[" + turn("system", "s") + "," + turn("system", needle) + "," + user + "]", needle);
  out.same_role_turns = with.shows("[" + turn("user", needle) + "," + turn("user", second_needle) + "]", needle) &&
                        with.shows("[" + user + "," + turn("user", second_needle) + "]", second_needle);
  probe_tools(with, out);
  return out;
}

}  // namespace infer::templates
