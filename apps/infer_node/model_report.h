// What is known of a model before it is loaded: its file, family, texts, how it would be packed and what memory it
// takes.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/model/footprint.h"
#include "engine/decode/weight_layout.h"
#include "engine/formats/model_file.h"
#include "engine/templates/abilities.h"

namespace infer::apps {

/// The vocabulary's algorithm and size.
struct tokenizer_report {
  std::string kind, splitting;  // "gpt2", "smollm"; of a folder "BPE", ""
  std::uint64_t tokens = 0;
  std::string fault;  // why it cannot be used; empty: it can
};

/// What a template lets a model do about thinking.
enum class thinking : std::uint8_t { none, opened, switchable };

struct template_report {
  std::uint64_t bytes = 0;  // 0: there is none
  std::string fault;        // why it cannot be read; empty: it can
  templates::template_abilities abilities;
  thinking thinks = thinking::none;
};

struct memory_report {
  std::uint64_t weights = 0, load_transient = 0, scratch = 0, text = 0;
  std::uint64_t kv_1000 = 0;  // of the first 1,000 positions of a sequence
  std::uint32_t context = 0;  // positions of a sequence as it would be served
  std::uint64_t kv_context = 0;
  std::uint32_t trained_context = 0;
  std::uint64_t kv_trained = 0;
};

struct model_report {
  std::string path;
  std::shared_ptr<const formats::model_file> file;
  std::string architecture, family;  // family: empty where there is none for the architecture
  std::string fault;                 // why the model cannot run; empty: it can
  tokenizer_report tokenizer;
  template_report chat;
  // Where there is no fault:
  std::vector<decode::layout_sum> layouts;
  memory_report memory;
};

/// Errors: a file that cannot be opened; options that are none. What else is wrong with the model is in the report.
result<model_report> report_of(const msg::model_source& source);

/// Lines for people.
std::string report_text(const model_report& report, bool all_tensors);
/// The same as one document; keys whose values are long arrays have their lengths alone.
boost::json::object report_json(const model_report& report, bool all_tensors);

}  // namespace infer::apps
