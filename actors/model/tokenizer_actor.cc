// Encoding and its behaviour.
#include "actors/model/tokenizer_actor.h"

#include <algorithm>
#include <caf/all.hpp>
#include <span>

#include "actors/model/infill_prompt.h"
#include "actors/support/error_bridge.h"
#include "engine/templates/chat_prompt.h"
#include "engine/templates/reasoning_split.h"
#include "protocol/messages/type_ids.h"

namespace infer::actors {
namespace {

std::string text_of(const tokenize::tokenizer& vocabulary, std::optional<token_id> id) {
  return id ? std::string(vocabulary.bytes_of(*id)) : std::string();
}

/// With tools the one for them, if the model has one.
const talk_template& template_for(const model_core& core, const msg::prompt& prompt) {
  const bool has_own = core.tool_talk.chat || !core.tool_talk.fault.empty();
  return !prompt.tools_json.empty() && has_own ? core.tool_talk : core.talk;
}

result<std::vector<templates::rendered_span>> render(const model_core& core, const talk_template& talk,
                                                     const msg::prompt& prompt) {
  templates::chat_input input;
  for (const msg::chat_message& message : prompt.messages)
    input.turns.push_back({message.role, message.content, message.object_json});
  input.tools_json = prompt.tools_json;
  input.kwargs_json = prompt.template_kwargs_json;
  input.add_generation_prompt = prompt.add_generation_prompt;
  input.continue_last = prompt.continue_last;
  input.bos_token = text_of(*core.tokenizer, core.tokenizer->bos());
  input.eos_token = text_of(*core.tokenizer, core.tokenizer->eos());
  return templates::render_chat(*talk.chat, input, talk.abilities);
}

bool opens_reasoning(const msg::prompt& prompt, const std::vector<templates::rendered_span>& rendered) {
  if (prompt.continue_last) return templates::leaves_reasoning_open(prompt.messages.back().content);
  // The end is enough: a tag and the white space behind it.
  constexpr std::size_t enough = 64;
  std::string end;
  for (auto span = rendered.rbegin(); span != rendered.rend() && end.size() < enough; ++span)
    end.insert(0, span->text, span->text.size() - std::min(span->text.size(), enough));
  return templates::ends_in_reasoning(end);
}

std::vector<token_id> encode_spans(const tokenize::tokenizer& vocabulary,
                                   const std::vector<templates::rendered_span>& rendered) {
  std::vector<tokenize::text_span> spans;
  spans.reserve(rendered.size());
  for (const auto& span : rendered) spans.push_back({span.text, span.from_template});
  return vocabulary.encode(spans);
}

/// The text of ids as their echo has it.
std::string echo_of(const tokenize::tokenizer& vocabulary, std::span<const token_id> ids) {
  if (!ids.empty() && is_added_begin(vocabulary, ids.front())) ids = ids.subspan(1);
  return vocabulary.decode(ids, false);
}

}  // namespace

bool is_added_begin(const tokenize::tokenizer& vocabulary, token_id id) {
  return vocabulary.adds_bos() && vocabulary.bos() == id;
}

encoded_prompt encode(const model_core& core, const msg::encode_prompt& message) {
  const msg::prompt& prompt = message.prompt;
  encoded_prompt out;
  out.encoded.request_id = message.request_id;
  out.encoded.context = core.context;
  const auto refuse = [&](std::string why, std::string param) {
    out.refused = {message.request_id, msg::refusal::invalid_value, std::move(why), std::move(param)};
  };
  switch (prompt.kind) {
    case msg::prompt_kind::ids:
      out.encoded.ids = prompt.ids;
      if (prompt.want_text) out.encoded.text = echo_of(*core.tokenizer, prompt.ids);
      break;
    case msg::prompt_kind::infill: {
      auto ids = infill_ids(*core.tokenizer, prompt);
      if (ids)
        out.encoded.ids = std::move(*ids);
      else
        refuse("this model's vocabulary has no tokens for filling in the middle", "suffix");
      break;
    }
    case msg::prompt_kind::text:
      out.encoded.ids = core.tokenizer->encode(prompt.text, prompt.parse_special, {prompt.add_special});
      break;
    case msg::prompt_kind::chat: {
      const talk_template& talk = template_for(core, prompt);
      if (!talk.chat) {
        refuse(talk.fault.empty()
                   ? "this model has no chat template; use /v1/completions"
                   : "this model's chat template cannot be read: " + talk.fault + "; use /v1/completions",
               "messages");
        return out;
      }
      auto rendered = render(core, talk, prompt);
      if (!rendered) {
        refuse("the chat template refused the messages: " + rendered.error().message(), "messages");
        return out;
      }
      if (prompt.render_only) {
        for (const auto& span : rendered.value()) out.encoded.text += span.text;
        return out;
      }
      out.encoded.ids = encode_spans(*core.tokenizer, rendered.value());
      out.encoded.opens_reasoning = opens_reasoning(prompt, rendered.value());
      break;
    }
  }
  if (prompt.want_pieces) {
    for (const token_id id : out.encoded.ids) out.encoded.pieces.emplace_back(core.tokenizer->bytes_of(id));
  }
  return out;
}

tokenizer_state::tokenizer_state(tokenizer_actor::pointer self) : self_(self) {}

tokenizer_actor::behavior_type tokenizer_state::make(std::shared_ptr<model_core> core) {
  core_ = std::move(core);
  self_->set_exception_handler(crash_handler("tokenizer of " + core_->source.id));
  return {
      [this](const msg::encode_prompt& message) -> caf::result<msg::prompt_encoded, msg::prompt_refused> {
        encoded_prompt out = encode(*core_, message);
        return {std::move(out.encoded), std::move(out.refused)};
      },
      [this](const msg::decode_ids& message) {
        return msg::ids_decoded{message.request_id, core_->tokenizer->decode(message.ids, false)};
      },
  };
}

tokenizer_actor::behavior_type run_tokenizer(tokenizer_actor::stateful_pointer<tokenizer_state> self,
                                             std::shared_ptr<model_core> core) {
  static_assert(!std::is_aggregate_v<tokenizer_state>);
  return self->state.make(std::move(core));
}

}  // namespace infer::actors
