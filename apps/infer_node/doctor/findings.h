// What `doctor` says about a machine: readings in, findings out. Reads nothing itself.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/decode/kernel_check.h"
#include "engine/threads/machine.h"

namespace infer::apps {

enum class health : std::uint8_t { ok, warn, fail };

struct finding {
  std::string_view section;  // "cpu", "kernels", …
  std::string name;
  health state = health::ok;
  std::string text;    // what was found
  std::string advice;  // what to do about it; empty: nothing

  friend bool operator==(const finding&, const finding&) = default;
};

/// A measured rate with so many threads.
struct roof {
  std::string name;  // "read", "dot8 zmm"
  std::uint32_t threads = 1;
  double rate = 0;   // per second
  std::string unit;  // "B", "OP", "FLOP"
};

/// The folder of models and the hub that they come from.
struct models_state {
  std::string folder;
  bool exists = false, is_folder = false, writable = false;  // the last of the folder, or of where it would be made
  std::uint64_t free_bytes = 0, models = 0, model_bytes = 0;
  std::string hub;
  bool token = false;
};

struct readings {
  threads::machine_report machine;
  std::vector<decode::kernel_check> kernels;
  std::vector<roof> roofs;
  std::uint64_t budget_bytes = 0;  // that a node would use
  models_state models;
};

std::vector<finding> findings_of(const readings& r);

/// The worst of all.
health worst_of(const std::vector<finding>& all);

/// Lines for people; `colours`: states in colour.
std::string findings_text(const std::vector<finding>& all, bool colours);
/// {"status", "findings": […], and the readings as numbers}.
boost::json::object findings_json(const readings& r, const std::vector<finding>& all);

}  // namespace infer::apps
