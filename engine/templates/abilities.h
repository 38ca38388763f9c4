// What a template can do with a conversation, and the conversation changed to what it can do.
#pragma once

#include <boost/json/array.hpp>

#include "engine/templates/chat_template.h"

namespace infer::templates {

/// The defaults are a template that takes everything as OpenAI's API has it; nothing is changed for one.
struct template_abilities {
  bool text_content = true;      // content as a string, not only as a list of parts
  bool system_role = true;       // a system message at the beginning
  bool late_system = true;       // system messages anywhere, and several
  bool same_role_turns = true;   // neighbours of one role
  bool tools = true;             // definitions of tools
  bool tool_calls = true;        // in messages of the assistant
  bool tool_role = true;         // results of tools
  bool null_content = true;      // beside tool calls
  bool argument_strings = true;  // arguments of calls as the JSON text that clients send
  bool argument_objects = true;  // as objects
  bool any_call_ids = true;      // not only ids of nine letters and digits

  friend bool operator==(const template_abilities&, const template_abilities&) = default;
};

/// Renders small conversations and looks for their texts.
template_abilities probe(const chat_template& chat);

/// Puts the definitions into a system message at the front, for a template that cannot show them.
void describe_tools(boost::json::array& messages, const boost::json::value& tools);

/// The same conversation for a template of these abilities: system texts move to the front or into the first message
/// of the user, neighbours of one role are joined, calls and results that the template cannot show become text,
/// arguments and ids get the form it takes. Nothing is changed that need not be.
void shape_messages(boost::json::array& messages, const template_abilities& abilities);

}  // namespace infer::templates
