// Text to ids and back, through a model's port.
#pragma once

#include "protocol/messages/scalars.h"

namespace infer::msg {

/// One message of a conversation. `content` is flat text; `object_json` is the whole message as the client sent it, for
/// templates that read more than role and content (empty: nothing more).
struct chat_message {
  std::string role;
  std::string content;
  std::string object_json;
};

enum class prompt_kind : std::uint8_t {
  chat,
  text,
  ids,
  infill,  // what stands between `text` and `suffix`, by the vocabulary's fill-in-the-middle tokens
};

/// Another file that a model is shown before the one that is to be filled in.
struct prompt_file {
  std::string name, text;
};

/// What a model is to continue, before it is ids.
struct prompt {
  prompt_kind kind = prompt_kind::text;
  std::vector<chat_message> messages;  // chat
  std::string text;                    // text, infill
  std::string suffix;                  // infill
  std::vector<prompt_file> files;      // infill
  std::vector<std::int32_t> ids;       // ids
  std::string tools_json;              // chat: JSON array, empty: none
  std::string template_kwargs_json;    // chat: JSON object, empty: none
  bool add_generation_prompt = true;   // chat: open the assistant's turn
  bool continue_last = false;          // chat: the last (assistant) message is to be continued, not closed
  bool add_special = true;             // text: add BOS/EOS as the model is used to
  bool parse_special = false;          // text: control tokens may be written in the text
  bool want_pieces = false;            // answer with the bytes of every token too
  bool want_text = false;              // ids: answer with their text too
  bool render_only = false;            // chat: answer with the rendered text, not with ids
};

/// request → port.
struct encode_prompt {
  std::uint64_t request_id = 0;
  infer::msg::prompt prompt;
};

/// port → request.
struct prompt_encoded {
  std::uint64_t request_id = 0;
  std::vector<std::int32_t> ids;
  std::vector<std::string> pieces;  // bytes of each id, where asked for
  std::string text;                 // the rendered prompt or the ids' text, where asked for
  std::uint32_t context = 0;        // positions a sequence of this model may hold
  bool opens_reasoning = false;     // chat: it ends inside a block of thinking
};

/// port → request.
struct prompt_refused {
  std::uint64_t request_id = 0;
  refusal code{};
  std::string message;
  std::string param;
};

/// request → port: ids to bytes.
struct decode_ids {
  std::uint64_t request_id = 0;
  std::vector<std::int32_t> ids;
};

/// port → request.
struct ids_decoded {
  std::uint64_t request_id = 0;
  std::string text;
};

template <class I>
auto inspect(I& f, chat_message& x) {
  return f(x.role, x.content, x.object_json);
}
template <class I>
auto inspect(I& f, prompt_file& x) {
  return f(x.name, x.text);
}
template <class I>
auto inspect(I& f, prompt& x) {
  return f(x.kind, x.messages, x.text, x.suffix, x.files, x.ids, x.tools_json, x.template_kwargs_json,
           x.add_generation_prompt, x.continue_last, x.add_special, x.parse_special, x.want_pieces, x.want_text,
           x.render_only);
}
template <class I>
auto inspect(I& f, encode_prompt& x) {
  return f(x.request_id, x.prompt);
}
template <class I>
auto inspect(I& f, prompt_encoded& x) {
  return f(x.request_id, x.ids, x.pieces, x.text, x.context, x.opens_reasoning);
}
template <class I>
auto inspect(I& f, prompt_refused& x) {
  return f(x.request_id, x.code, x.message, x.param);
}
template <class I>
auto inspect(I& f, decode_ids& x) {
  return f(x.request_id, x.ids);
}
template <class I>
auto inspect(I& f, ids_decoded& x) {
  return f(x.request_id, x.text);
}

}  // namespace infer::msg
