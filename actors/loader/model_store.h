// The folder of fetched models: MODELS/OWNER/NAME/TAG with the files and a manifest, and names for them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "actors/loader/hub_choice.h"

namespace infer::hub {

struct stored_model {
  std::string name;    // "owner/name:Q4_K_M", "owner/name"; with "@revision" where that is not main
  std::string format;  // "GGUF" or "safetensors"
  std::uint64_t bytes = 0;
  std::filesystem::path path;    // what a model is opened by: the (first) GGUF file, or the folder
  std::filesystem::path folder;  // that holds all of it
  std::string file;              // GGUF: its path in the repository, where that is not the file's name alone
};

/// `given`, else $INFER_MODELS, else `models` in the data_folder(); empty where there is none of these.
std::filesystem::path models_folder(const std::string& given = {});

/// The folder of one model below `models`.
std::filesystem::path folder_of(const std::filesystem::path& models, const reference& of, const std::string& tag);

/// The name by which a fetched model is called.
std::string model_name(const reference& of, const chosen_model& model);

/// What a folder holds, as a text to write beside the files; equal for equal models.
std::string manifest_text(const reference& of, const chosen_model& model);
inline constexpr const char* manifest_name = "pulled.json";

/// The files that the manifest in `folder` names, with their names there as paths; none where there is no manifest.
std::vector<hub_file> stored_files(const std::filesystem::path& folder);

/// All models whose folder has a manifest, by name.
std::vector<stored_model> list_models(const std::filesystem::path& models);

/// The fetched model that `path` opens: its folder, or a file in it.
std::optional<stored_model> stored_at(const std::filesystem::path& path);

/// The fetched model that `text` (as of parse_reference) means. Without a quantization: the preferred of those that
/// there are, as preference_of has it.
std::optional<stored_model> find_model(const std::filesystem::path& models, const std::string& text);

}  // namespace infer::hub
