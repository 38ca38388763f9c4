// Where a model file keeps its chat template.
#pragma once

#include <string>

#include "engine/formats/model_file.h"

namespace infer::formats {

/// The text of the template, or nothing where the file has none. Of several named ones in a hub folder the default.
/// Errors: wrong_type; malformed JSON.
result<std::string> chat_template_of(const model_file& file);

}  // namespace infer::formats
