// Bodies that are not generated text.
#include "protocol/http/envelope.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <ctime>
#include <utility>

#include "protocol/http/json_text.h"
#include "protocol/http/sampler_fields.h"

namespace infer::http {
namespace {

namespace json = boost::json;

json::value text_or_null(const std::string& text) {
  return text.empty() ? json::value(nullptr) : json::value(text);
}

json::value count_or_null(std::uint32_t count) {
  return count == 0 ? json::value(nullptr) : json::value(count);
}

constexpr std::array state_names = {"absent", "claiming", "loading",  "cancelling",
                                    "ready",  "closing",  "draining", "failed"};

const char* state_name(msg::model_state state) {
  const auto index = static_cast<std::size_t>(state);
  return index < state_names.size() ? state_names[index] : "unknown";
}

std::string rfc3339(std::uint64_t seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  gmtime_r(&time, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

bool is_valid_utf8(const std::string& text) {
  return to_valid_utf8(text) == text;
}

json::object status_of(const msg::model_row& row) {
  json::object out;
  out["value"] = state_name(row.state);
  if (row.state == msg::model_state::loading) out["percent"] = row.percent;
  if (!row.detail.empty()) out["detail"] = row.detail;
  return out;
}

}  // namespace

json::object error_body(const http_error& error) {
  json::object inner;
  inner["message"] = error.message;
  inner["type"] = error.type;
  inner["param"] = text_or_null(error.param);
  inner["code"] = text_or_null(error.code);
  json::object out;
  out["error"] = std::move(inner);
  return out;
}

json::object model_body(const msg::model_row& row) {
  const std::uint32_t context = row.context != 0 ? row.context : row.trained_context;
  json::object out;
  out["id"] = row.id;
  out["object"] = "model";
  out["created"] = row.created;
  out["owned_by"] = "infer-node";
  out["shutdown_date"] = nullptr;
  out["type"] = "model";
  out["display_name"] = row.id;
  out["created_at"] = rfc3339(row.created);
  out["max_input_tokens"] = count_or_null(context);
  out["max_tokens"] = count_or_null(context);
  out["capabilities"] = nullptr;
  json::array aliases;
  for (const std::string& alias : row.aliases) aliases.emplace_back(alias);
  out["aliases"] = std::move(aliases);
  out["status"] = status_of(row);
  return out;
}

json::object models_body(const msg::model_list& list) {
  json::array data;
  for (const msg::model_row& row : list.models) data.emplace_back(model_body(row));
  json::object out;
  out["object"] = "list";
  out["data"] = std::move(data);
  out["has_more"] = false;
  out["first_id"] = list.models.empty() ? json::value(nullptr) : json::value(list.models.front().id);
  out["last_id"] = list.models.empty() ? json::value(nullptr) : json::value(list.models.back().id);
  return out;
}

const msg::model_row* find_model(const msg::model_list& list, std::string_view name) {
  for (const msg::model_row& row : list.models) {
    if (row.id == name) return &row;
  }
  for (const msg::model_row& row : list.models) {
    if (std::find(row.aliases.begin(), row.aliases.end(), name) != row.aliases.end()) return &row;
  }
  return nullptr;
}

json::object health_body(const msg::model_list& list, bool& ok) {
  bool ready = false, busy = false;
  json::array models;
  for (const msg::model_row& row : list.models) {
    ready = ready || row.state == msg::model_state::ready;
    busy = busy || row.state == msg::model_state::loading || row.state == msg::model_state::claiming;
    json::object entry;
    entry["id"] = row.id;
    entry["status"] = state_name(row.state);
    if (row.state == msg::model_state::loading) entry["percent"] = row.percent;
    models.emplace_back(std::move(entry));
  }
  ok = ready || !busy;
  json::object out;
  if (ok) {
    out["status"] = "ok";
  } else {
    out["status"] = "loading model";
    out["error"] = error_body({503, "unavailable_error", "model_loading", "Loading model", {}})["error"];
  }
  out["models"] = std::move(models);
  return out;
}

json::object tokenize_body(const msg::text_transformed& event, bool with_pieces) {
  json::array tokens;
  tokens.reserve(event.ids.size());
  for (std::size_t i = 0; i < event.ids.size(); ++i) {
    if (!with_pieces) {
      tokens.emplace_back(event.ids[i]);
      continue;
    }
    const std::string piece = i < event.pieces.size() ? event.pieces[i] : std::string();
    json::object entry;
    entry["id"] = event.ids[i];
    if (is_valid_utf8(piece)) {
      entry["piece"] = piece;
    } else {
      json::array bytes;
      for (const char c : piece) bytes.emplace_back(static_cast<std::int64_t>(static_cast<unsigned char>(c)));
      entry["piece"] = std::move(bytes);
    }
    tokens.emplace_back(std::move(entry));
  }
  json::object out;
  out["tokens"] = std::move(tokens);
  return out;
}

json::object apply_template_body(const msg::text_transformed& event) {
  json::object out;
  out["prompt"] = event.text;
  return out;
}

json::object props_body(const msg::model_row& row, const msg::sampling& defaults, const std::string& build) {
  json::object settings, modalities, out;
  settings["n_ctx"] = row.context;
  settings["params"] = sampling_body(defaults);
  modalities["vision"] = false;
  modalities["audio"] = false;
  out["default_generation_settings"] = std::move(settings);
  out["total_slots"] = row.facts.slots;
  out["model_alias"] = row.id;
  out["model_path"] = row.path;
  out["chat_template"] = row.facts.template_text;
  out["bos_token"] = row.facts.bos_text;
  out["eos_token"] = row.facts.eos_text;
  out["modalities"] = std::move(modalities);
  out["build_info"] = build;
  out["status"] = status_of(row);
  return out;
}

json::array slots_body(const msg::model_row& row) {
  json::array out;
  for (std::size_t id = 0; id < std::max<std::size_t>(row.facts.slots, row.busy.size()); ++id) {
    const bool busy = id < row.busy.size();
    json::object slot;
    slot["id"] = id;
    slot["id_task"] = busy ? json::value(row.busy[id].request_id) : json::value(-1);
    slot["n_ctx"] = row.context;
    slot["speculative"] = false;
    slot["is_processing"] = busy;
    if (busy) {
      json::object next;
      next["has_next_token"] = true;
      next["n_decoded"] = row.busy[id].made;
      slot["choice"] = row.busy[id].choice;
      slot["prompt_tokens"] = row.busy[id].prompt_tokens;
      slot["n_past"] = row.busy[id].held;
      slot["next_token"] = std::move(next);
    }
    out.emplace_back(std::move(slot));
  }
  return out;
}

json::object detokenize_body(const msg::text_transformed& event) {
  json::object out;
  out["content"] = event.text;
  return out;
}

}  // namespace infer::http
