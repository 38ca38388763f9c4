// Which format a path names.
#include "engine/formats/model_file.h"

#include <system_error>

#include "engine/formats/gguf.h"
#include "engine/formats/hub_folder.h"

namespace infer::formats {

result<std::shared_ptr<const model_file>> open_model(const std::filesystem::path& path) {
  std::error_code ignored;
  const bool folder = std::filesystem::is_directory(path, ignored);
  const std::string name = path.filename().string();
  if (folder || name == "config.json" || name.ends_with(".safetensors") || name.ends_with(".safetensors.index.json")) {
    INFER_TRY(auto opened, hub_folder::open(folder ? path : path.parent_path()));
    return std::make_shared<const hub_folder>(std::move(opened));
  }
  INFER_TRY(auto opened, gguf_file::open(path));
  return std::make_shared<const gguf_file>(std::move(opened));
}

}  // namespace infer::formats
