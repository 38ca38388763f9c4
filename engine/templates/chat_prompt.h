// From a conversation to the text a model continues: the variables that templates expect, and the cut behind a message
// that is to be continued.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/templates/abilities.h"
#include "engine/templates/chat_template.h"

namespace infer::templates {

/// One message. `object_json` is the whole message as a JSON object, empty where role and content are all there is.
struct chat_turn {
  std::string role;
  std::string content;
  std::string object_json;
};

struct chat_input {
  std::vector<chat_turn> turns;
  std::string tools_json;   // a JSON array, empty: none
  std::string kwargs_json;  // a JSON object of further variables, empty: none
  bool add_generation_prompt = true;
  bool continue_last = false;  // the last message is left open for the model to go on with
  std::string bos_token, eos_token;
};

/// Errors: those of `chat_template::render`; `evaluation` for JSON that does not parse or a message that the template
///         does not show and that therefore cannot be continued.
/// The conversation is changed to what `abilities` says the template can do.
result<std::vector<rendered_span>> render_chat(const chat_template& chat, const chat_input& input,
                                               const template_abilities& abilities = {});

}  // namespace infer::templates
