// Findings as lines, and as JSON.
#include <boost/json/array.hpp>
#include <utility>

#include "apps/infer_node/doctor/findings.h"

namespace infer::apps {
namespace {

namespace json = boost::json;

constexpr std::size_t name_width = 20;

std::string_view name_of(health state) {
  return state == health::ok ? "ok" : state == health::warn ? "warn" : "fail";
}

std::string mark(health state, bool colours) {
  std::string out(name_of(state));
  out.resize(5, ' ');
  if (!colours) return out;
  return (state == health::ok ? "\x1b[32m" : state == health::warn ? "\x1b[33m" : "\x1b[31m") + out + "\x1b[0m";
}

json::value number_or_null(const auto& value) {
  return value ? json::value(*value) : json::value(nullptr);
}

json::object machine_json(const threads::machine_report& m) {
  json::array features;
  for (const threads::cpu_feature& f : m.features) {
    if (f.present) features.push_back(json::value(f.name));
  }
  json::object cores{{"online", m.cores.online}, {"affinity", m.cores.affinity}, {"usable", m.cores.usable}};
  cores["quota"] = number_or_null(m.cores.quota);
  json::object memory{{"total", m.memory.total}, {"available", m.memory.available}};
  memory["group_limit"] = number_or_null(m.memory.group_limit);
  memory["group_used"] = number_or_null(m.memory.group_used);
  memory["address_limit"] = number_or_null(m.memory.address_limit);
  memory["overcommit"] = m.memory.overcommit;
  memory["huge_pages"] = m.memory.huge_pages;
  return {{"cpu", m.cpu},
          {"features", std::move(features)},
          {"cores", std::move(cores)},
          {"memory", std::move(memory)},
          {"open_files", m.open_files}};
}

json::array kernels_json(const std::vector<decode::kernel_check>& all) {
  json::array out;
  for (const decode::kernel_check& k : all) {
    json::array failures;
    for (const std::string& failure : k.failures) failures.emplace_back(failure);
    out.push_back(json::object{{"table", k.table},
                               {"used", k.chosen},
                               {"checks", k.checks},
                               {"failures", std::move(failures)},
                               {"seconds", k.seconds}});
  }
  return out;
}

}  // namespace

std::string findings_text(const std::vector<finding>& all, bool colours) {
  std::string out;
  std::string_view section;
  for (const finding& f : all) {
    if (f.section != section) {
      out += (out.empty() ? "" : "\n") + std::string(f.section) + "\n";
      section = f.section;
    }
    std::string name = f.name;
    if (name.size() < name_width) name.resize(name_width, ' ');
    out += "  " + mark(f.state, colours) + " " + name + " " + f.text + "\n";
    if (!f.advice.empty()) out += "        " + std::string(name_width, ' ') + " → " + f.advice + "\n";
  }
  return out;
}

json::object findings_json(const readings& r, const std::vector<finding>& all) {
  json::array findings;
  for (const finding& f : all) {
    json::object one{{"section", f.section}, {"name", f.name}, {"status", name_of(f.state)}, {"text", f.text}};
    if (!f.advice.empty()) one["advice"] = f.advice;
    findings.push_back(std::move(one));
  }
  json::array roofs;
  for (const roof& one : r.roofs)
    roofs.push_back(
        json::object{{"name", one.name}, {"threads", one.threads}, {"per_second", one.rate}, {"unit", one.unit}});
  const models_state& m = r.models;
  return {{"status", name_of(worst_of(all))},
          {"findings", std::move(findings)},
          {"machine", machine_json(r.machine)},
          {"kernels", kernels_json(r.kernels)},
          {"roofs", std::move(roofs)},
          {"budget_bytes", r.budget_bytes},
          {"gpu", nullptr},
          {"models", json::object{{"folder", m.folder},
                                  {"exists", m.exists},
                                  {"free_bytes", m.free_bytes},
                                  {"count", m.models},
                                  {"bytes", m.model_bytes},
                                  {"hub", m.hub},
                                  {"token", m.token}}}};
}

}  // namespace infer::apps
