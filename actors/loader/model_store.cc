// Reading and naming what was fetched.
#include "actors/loader/model_store.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cstdlib>

#include "actors/loader/part_file.h"
#include "engine/core/user_folders.h"

namespace infer::hub {
namespace {

std::string text_of(const boost::json::object& of, const char* key) {
  const auto* value = of.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

std::optional<stored_model> read_folder(const std::filesystem::path& folder) {
  boost::json::error_code code;
  const auto manifest = boost::json::parse(read_small(folder / manifest_name), code);
  if (code || !manifest.is_object()) return std::nullopt;
  const boost::json::object& o = manifest.get_object();
  stored_model out{text_of(o, "name"), text_of(o, "format"), 0, folder, folder, {}};
  const auto* files = o.if_contains("files");
  if (out.name.empty() || files == nullptr || !files->is_array() || files->get_array().empty()) return std::nullopt;
  for (const auto& f : files->get_array()) {
    if (!f.is_object() || !is_safe_path(text_of(f.get_object(), "name"))) return std::nullopt;
    const auto* bytes = f.get_object().if_contains("bytes");
    if (bytes != nullptr && bytes->is_int64()) out.bytes += static_cast<std::uint64_t>(bytes->get_int64());
    if (out.format == "GGUF" && out.path == folder) {
      out.path = folder / text_of(f.get_object(), "name");
      out.file = text_of(f.get_object(), "path");
    }
  }
  return out;
}

std::vector<std::filesystem::path> folders_in(const std::filesystem::path& path) {
  std::vector<std::filesystem::path> out;
  std::error_code code;
  for (std::filesystem::directory_iterator it(path, code), end; !code && it != end; it.increment(code))
    if (it->is_directory(code) && !it->path().filename().string().starts_with('.')) out.push_back(it->path());
  std::ranges::sort(out);
  return out;
}

std::string in_small_letters(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
  return text;
}

/// "Q4_K_M" of "owner/name:Q4_K_M@v1"; empty where the name has none.
std::string tag_of(const std::string& name) {
  const std::size_t colon = name.find(':');
  return colon == std::string::npos ? "" : name.substr(colon + 1, name.find('@') - colon - 1);
}

bool is_meant(const stored_model& model, const reference& of) {
  const std::string revision = of.revision == "main" ? "" : "@" + of.revision;
  const std::string start = of.repository();
  if (!model.name.starts_with(start)) return false;
  const std::string rest = model.name.substr(start.size());
  if (rest != revision && !(rest.starts_with(':') && rest.ends_with(revision))) return false;
  if (revision.empty() && rest.find('@') != std::string::npos) return false;
  if (!of.file.empty())
    return model.file.empty() ? model.path.filename() == std::filesystem::path(of.file).filename()
                              : model.file == of.file;
  if (of.quant.empty()) return true;
  const std::string tag = tag_of(model.name);
  return in_small_letters(of.quant) == in_small_letters(tag.empty() ? model.format : tag);
}

}  // namespace

std::filesystem::path models_folder(const std::string& given) {
  if (!given.empty()) return given;
  const char* const variable = std::getenv("INFER_MODELS");
  if (variable != nullptr && *variable != '\0') return variable;
  const auto data = data_folder();
  return data.empty() ? data : data / "models";
}

std::filesystem::path folder_of(const std::filesystem::path& models, const reference& of, const std::string& tag) {
  std::string leaf = of.revision == "main" ? tag : tag + "@" + of.revision;
  std::ranges::replace(leaf, '/', '+');
  return models / of.owner / of.name / leaf;
}

std::string model_name(const reference& of, const chosen_model& model) {
  return of.repository() + (model.is_gguf ? ":" + model.tag : "") + (of.revision == "main" ? "" : "@" + of.revision);
}

std::string manifest_text(const reference& of, const chosen_model& model) {
  boost::json::array files;
  for (const hub_file& f : model.files) {
    const std::string name = std::filesystem::path(f.path).filename();
    boost::json::object file{
        {"name", name}, {"bytes", f.bytes}, {"sha256", f.sum.sha256}, {"git_blob", f.sum.git_blob}};
    if (name != f.path) file["path"] = f.path;
    files.push_back(std::move(file));
  }
  return boost::json::serialize(boost::json::object{{"name", model_name(of, model)},
                                                    {"format", model.is_gguf ? "GGUF" : "safetensors"},
                                                    {"files", std::move(files)}}) +
         "\n";
}

std::vector<hub_file> stored_files(const std::filesystem::path& folder) {
  boost::json::error_code code;
  const auto manifest = boost::json::parse(read_small(folder / manifest_name), code);
  const auto* files = code ? nullptr : manifest.find_pointer("/files", code);
  std::vector<hub_file> out;
  if (files == nullptr || !files->is_array()) return out;
  for (const auto& f : files->get_array()) {
    if (!f.is_object()) continue;
    const auto* bytes = f.get_object().if_contains("bytes");
    hub_file file{
        text_of(f.get_object(), "name"), 0, {text_of(f.get_object(), "sha256"), text_of(f.get_object(), "git_blob")}};
    if (bytes == nullptr || !bytes->is_int64() || bytes->get_int64() < 0 || !is_safe_path(file.path)) continue;
    file.bytes = static_cast<std::uint64_t>(bytes->get_int64());
    out.push_back(std::move(file));
  }
  return out;
}

std::vector<stored_model> list_models(const std::filesystem::path& models) {
  std::vector<stored_model> out;
  for (const auto& owner : folders_in(models))
    for (const auto& name : folders_in(owner))
      for (const auto& tag : folders_in(name))
        if (auto model = read_folder(tag)) out.push_back(std::move(*model));
  std::ranges::sort(out, {}, &stored_model::name);
  return out;
}

std::optional<stored_model> stored_at(const std::filesystem::path& path) {
  std::error_code none;
  return read_folder(std::filesystem::is_directory(path, none) ? path : path.parent_path());
}

std::optional<stored_model> find_model(const std::filesystem::path& models, const std::string& text) {
  const auto of = parse_reference(text);
  if (!of) return std::nullopt;
  std::vector<stored_model> meant;
  for (const auto& tag : folders_in(models / of.value().owner / of.value().name)) {
    auto model = read_folder(tag);
    if (model && is_meant(*model, of.value())) meant.push_back(std::move(*model));
  }
  if (meant.empty()) return std::nullopt;
  const auto order = [](const stored_model& model) {
    return std::pair(preference_of(quant_of(tag_of(model.name) + ".gguf")), model.bytes);
  };
  return *std::ranges::min_element(meant, {}, order);
}

}  // namespace infer::hub
