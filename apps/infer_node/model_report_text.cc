// The report as lines, and as JSON.
#include <array>
#include <boost/json/array.hpp>
#include <cstdio>
#include <string_view>
#include <utility>
#include <variant>

#include "apps/infer_node/model_report.h"
#include "engine/formats/describe.h"
#include "engine/quant/blocks.h"

namespace infer::apps {
namespace {

namespace json = boost::json;
using formats::grouped;

constexpr std::size_t longest_array = 16;

using ability = std::pair<const char*, bool templates::template_abilities::*>;
constexpr std::array<ability, 6> shown_abilities{{
    {"system messages", &templates::template_abilities::system_role},
    {"system messages anywhere", &templates::template_abilities::late_system},
    {"neighbours of one role", &templates::template_abilities::same_role_turns},
    {"tools", &templates::template_abilities::tools},
    {"tool calls", &templates::template_abilities::tool_calls},
    {"tool results", &templates::template_abilities::tool_role},
}};

const char* name_of(thinking t) {
  return t == thinking::switchable ? "switchable" : t == thinking::opened ? "always" : "none";
}

std::string row(std::string_view label, const std::string& text) {
  std::string out(label);
  out.resize(14, ' ');
  return out + text + "\n";
}

std::string columns(std::string_view first, std::string_view second, const std::string& right) {
  char text[160];
  std::snprintf(text, sizeof text, "  %-34.*s %-18.*s %12s\n", static_cast<int>(first.size()), first.data(),
                static_cast<int>(second.size()), second.data(), right.c_str());
  return text;
}

std::string template_line(const template_report& chat) {
  if (!chat.fault.empty()) return "cannot be read: " + chat.fault;
  if (chat.bytes == 0) return "none; run --raw continues a text";
  std::string can, cannot;
  for (const auto& [name, member] : shown_abilities) {
    std::string& list = chat.abilities.*member ? can : cannot;
    list += (list.empty() ? "" : ", ") + std::string(name);
  }
  std::string out = can.empty() ? "plain turns" : can;
  if (!cannot.empty()) out += "; not: " + cannot;
  if (chat.thinks != thinking::none) out += std::string("; thinking: ") + name_of(chat.thinks);
  return out;
}

std::string tokenizer_line(const tokenizer_report& t) {
  std::string out = t.kind.empty() ? "of no stated kind" : t.kind;
  if (!t.splitting.empty()) out += ", " + t.splitting;
  return out + (t.fault.empty() ? ", " + grouped(t.tokens) + " tokens" : "; cannot be used: " + t.fault);
}

std::string memory_lines(const memory_report& m) {
  std::string out = "memory\n" + columns("weights, packed", "", format_bytes(m.weights)) +
                    columns("beside them while loading", "", format_bytes(m.load_transient)) +
                    columns("scratch", "", format_bytes(m.scratch)) + columns("tokenizer", "", format_bytes(m.text)) +
                    columns("keys and values", "1,000 tokens", format_bytes(m.kv_1000)) +
                    columns("keys and values", grouped(m.context) + " tokens", format_bytes(m.kv_context));
  if (m.trained_context != m.context)
    out += columns("keys and values", grouped(m.trained_context) + " tokens", format_bytes(m.kv_trained));
  return out + columns("one sequence of", grouped(m.context) + " tokens",
                       format_bytes(m.weights + m.scratch + m.text + m.kv_context));
}

json::value value_of(const formats::metadata_value& value) {
  return std::visit(
      [](const auto& v) -> json::value {
        using type = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<type, std::string_view>) {
          return json::string(v.data(), v.size());
        } else if constexpr (std::is_arithmetic_v<type>) {
          return v;
        } else {
          if (v.size() > longest_array) return json::object{{"length", v.size()}};
          json::array out;
          for (const auto& item : v) {
            if constexpr (std::is_same_v<std::decay_t<decltype(item)>, std::string_view>)
              out.push_back(json::string(item.data(), item.size()));
            else
              out.emplace_back(item);
          }
          return out;
        }
      },
      value);
}

json::object template_json(const template_report& chat) {
  json::object out{{"present", chat.bytes > 0}, {"readable", chat.bytes > 0 && chat.fault.empty()}};
  if (!chat.fault.empty()) out["fault"] = chat.fault;
  if (chat.bytes == 0 || !chat.fault.empty()) return out;
  out["bytes"] = chat.bytes;
  const templates::template_abilities& a = chat.abilities;
  out["system_messages"] = a.system_role;
  out["system_messages_anywhere"] = a.late_system;
  out["same_role_turns"] = a.same_role_turns;
  out["tools"] = a.tools;
  out["tool_calls"] = a.tool_calls;
  out["tool_results"] = a.tool_role;
  out["thinking"] = name_of(chat.thinks);
  return out;
}

json::array types_json(const formats::model_file& file) {
  const auto sums = formats::sums_by_type(file);
  std::uint64_t total = 0;
  for (const auto& [type, sum] : sums) total += sum.bytes;
  json::array out;
  for (const auto& [type, sum] : sums) {
    const double share = total == 0 ? 0 : static_cast<double>(sum.bytes) / static_cast<double>(total);
    out.push_back(json::object{{"type", info_of(type).name},
                               {"tensors", sum.tensors},
                               {"elements", sum.elements},
                               {"bytes", sum.bytes},
                               {"share", share},
                               {"supported", quant::supported(type)}});
  }
  return out;
}

json::array tensors_json(const formats::model_file& file) {
  json::array out;
  for (const formats::tensor_info& tensor : file.tensors()) {
    json::array shape;
    for (std::uint32_t axis = 0; axis < tensor.rank; ++axis) shape.emplace_back(tensor.shape[axis]);
    out.push_back(json::object{{"name", json::string(tensor.name.data(), tensor.name.size())},
                               {"type", info_of(tensor.type).name},
                               {"shape", std::move(shape)},
                               {"bytes", tensor.bytes},
                               {"part", tensor.shard}});
  }
  return out;
}

json::object memory_json(const memory_report& m) {
  return {{"weights", m.weights},       {"load_transient", m.load_transient},   {"scratch", m.scratch},
          {"tokenizer", m.text},        {"kv_1000_tokens", m.kv_1000},          {"context", m.context},
          {"kv_context", m.kv_context}, {"trained_context", m.trained_context}, {"kv_trained_context", m.kv_trained}};
}

}  // namespace

std::string report_text(const model_report& r, bool all_tensors) {
  std::string out = formats::describe_summary(*r.file);
  out += row("family", r.family.empty() ? "none of this program's" : r.family);
  out += row("runs",
             r.fault.empty() ? "yes, with the " + std::string(decode::kernels_name()) + " kernels" : "no: " + r.fault);
  if (r.fault.empty()) out += row("context", grouped(r.memory.trained_context) + " positions as trained");
  out += row("tokenizer", tokenizer_line(r.tokenizer));
  out += row("template", template_line(r.chat));
  out += "\n" + formats::describe_types(*r.file);
  if (r.fault.empty()) {
    out += "\npacked\n";
    for (const decode::layout_sum& sum : r.layouts)
      out += columns(grouped(sum.weights) + " of " + std::string(info_of(sum.type).name), name_of(sum.layout),
                     format_bytes(sum.bytes));
    out += "\n" + memory_lines(r.memory);
  }
  return out + "\n" + formats::describe_keys(*r.file) + "\n" + formats::describe_tensors(*r.file, all_tensors);
}

json::object report_json(const model_report& r, bool all_tensors) {
  json::object out{{"path", r.path},
                   {"format", r.file->format_name()},
                   {"file_bytes", r.file->file_bytes()},
                   {"parts", r.file->parts()},
                   {"architecture", r.architecture}};
  out["family"] = r.family.empty() ? json::value(nullptr) : json::value(r.family);
  out["runs"] = r.fault.empty();
  if (!r.fault.empty()) out["fault"] = r.fault;
  json::object tokenizer{{"kind", r.tokenizer.kind}, {"splitting", r.tokenizer.splitting}};
  if (r.tokenizer.fault.empty())
    tokenizer["tokens"] = r.tokenizer.tokens;
  else
    tokenizer["fault"] = r.tokenizer.fault;
  out["tokenizer"] = std::move(tokenizer);
  out["template"] = template_json(r.chat);
  out["types"] = types_json(*r.file);
  if (r.fault.empty()) {
    out["kernels"] = decode::kernels_name();
    json::array packed;
    for (const decode::layout_sum& sum : r.layouts)
      packed.push_back(json::object{{"type", info_of(sum.type).name},
                                    {"layout", name_of(sum.layout)},
                                    {"weights", sum.weights},
                                    {"elements", sum.elements},
                                    {"bytes", sum.bytes}});
    out["packed"] = std::move(packed);
    out["memory"] = memory_json(r.memory);
  }
  json::object keys;
  for (const std::string_view key : r.file->keys().keys())
    keys[json::string_view(key.data(), key.size())] = value_of(*r.file->keys().find(key));
  out["keys"] = std::move(keys);
  out["tensor_count"] = r.file->tensors().size();
  if (all_tensors) out["tensors"] = tensors_json(*r.file);
  return out;
}

}  // namespace infer::apps
