// Collecting the report.
#include "apps/infer_node/model_report.h"

#include <boost/json/parse.hpp>
#include <optional>
#include <utility>

#include "engine/formats/chat_source.h"
#include "engine/models/builder.h"
#include "engine/models/descriptor.h"
#include "engine/templates/chat_prompt.h"
#include "engine/templates/reasoning_split.h"
#include "engine/tokenize/model_tokenizer.h"

namespace infer::apps {
namespace {

std::string text_key(const formats::model_file& file, std::string_view key) {
  const auto text = file.keys().text(key);
  return text ? std::string(text.value()) : std::string();
}

tokenizer_report tokenizer_of(const formats::model_file& file, std::optional<std::size_t> rows) {
  tokenizer_report out;
  if (file.format() == formats::file_format::gguf) {
    out.kind = text_key(file, "tokenizer.ggml.model");
    out.splitting = text_key(file, "tokenizer.ggml.pre");
  } else if (const std::string_view text = file.side_file("tokenizer.json"); !text.empty()) {
    boost::json::error_code code;
    const auto value = boost::json::parse({text.data(), text.size()}, code);
    const auto* const kind = code ? nullptr : value.find_pointer("/model/type", code);
    if (kind != nullptr && kind->is_string()) out.kind = kind->get_string();
  }
  const auto made = tokenize::make_tokenizer(file, rows);
  if (made)
    out.tokens = made.value()->size();
  else
    out.fault = made.error().message();
  return out;
}

/// What the template makes of one question under these arguments; empty where it refuses.
std::string rendered(const templates::chat_template& chat, const std::string& kwargs) {
  templates::chat_input input;
  input.turns.push_back({"user", "u", {}});
  input.kwargs_json = kwargs;
  std::string out;
  const auto spans = templates::render_chat(chat, input);
  if (spans) {
    for (const auto& span : spans.value()) out += span.text;
  }
  return out;
}

template_report template_of(const formats::model_file& file) {
  template_report out;
  const auto text = formats::chat_template_of(file);
  if (!text) {
    out.fault = text.error().message();
    return out;
  }
  out.bytes = text.value().size();
  if (out.bytes == 0) return out;
  const auto compiled = templates::chat_template::compile(text.value());
  if (!compiled) {
    out.fault = compiled.error().message();
    return out;
  }
  const templates::chat_template& chat = compiled.value();
  out.abilities = templates::probe(chat);
  if (rendered(chat, R"({"enable_thinking":true,"thinking":true})") !=
      rendered(chat, R"({"enable_thinking":false,"thinking":false})"))
    out.thinks = thinking::switchable;
  else if (templates::ends_in_reasoning(rendered(chat, "")))
    out.thinks = thinking::opened;
  return out;
}

std::uint64_t kv_bytes(const models::model& model, const plan::program_options& options, std::uint32_t context) {
  std::uint64_t bytes = 0;
  for (const plan::state_group& group : model.plan.groups)
    bytes += std::uint64_t{plan::pages_of_context(group, context, options.max_batch_tokens)} *
             plan::page_bytes_of(group, options.keys, options.values);
  return bytes;
}

memory_report memory_of(const models::model& model, const msg::model_source& source,
                        const plan::program_options& options) {
  const actors::footprint f = actors::footprint_of(model, source, options);
  memory_report out;
  out.weights = f.weights;
  out.load_transient = f.transient;
  out.scratch = f.scratch;
  out.text = f.text;
  out.kv_1000 = kv_bytes(model, options, 1000);
  out.context = f.context;
  out.kv_context = f.kv_per_sequence;
  out.trained_context = model.plan.trained_context;
  out.kv_trained = kv_bytes(model, options, out.trained_context);
  return out;
}

}  // namespace

result<model_report> report_of(const msg::model_source& source) {
  INFER_TRY(const auto options, actors::options_of(source));
  model_report out;
  out.path = source.path;
  INFER_TRY(out.file, formats::open_model(source.path));
  const bool hub = out.file->format() == formats::file_format::hub;
  out.architecture = text_key(*out.file, hub ? "model_type" : "general.architecture");
  const models::family_descriptor* const family =
      hub ? models::find_hub_family(out.architecture) : models::find_family(out.architecture);
  if (family != nullptr) out.family = family->name;
  const auto model = models::build(out.file);
  out.tokenizer =
      tokenizer_of(*out.file, model ? std::optional<std::size_t>(model.value().plan.vocabulary) : std::nullopt);
  out.chat = template_of(*out.file);
  if (!model) {
    out.fault = model.error().message();
    return out;
  }
  if (!out.tokenizer.fault.empty()) {
    out.fault = "its tokenizer cannot be used: " + out.tokenizer.fault;
    return out;
  }
  out.layouts = decode::layouts_of(model.value().weights);
  out.memory = memory_of(model.value(), source, options);
  return out;
}

}  // namespace infer::apps
