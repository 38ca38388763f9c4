// Where a model file keeps its chat template.
#pragma once

#include <string>

#include "engine/formats/model_file.h"

namespace infer::formats {

/// What a model brings; empty where it does not. Of several by name the default and the one for talks with tools count.
struct chat_templates {
  std::string text;
  std::string tool_use;
};

/// Errors: wrong_type; malformed JSON.
result<chat_templates> chat_templates_of(const model_file& file);

/// The default one.
/// Errors: as of chat_templates_of.
result<std::string> chat_template_of(const model_file& file);

}  // namespace infer::formats
