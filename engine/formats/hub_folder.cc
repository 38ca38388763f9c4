// Opening a folder: its configuration, then every file that holds tensors.
#include "engine/formats/hub_folder.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <deque>
#include <map>
#include <set>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/formats/fault.h"
#include "engine/formats/json_keys.h"
#include "engine/formats/mapped_file.h"
#include "engine/formats/quote.h"
#include "engine/formats/safetensors.h"

namespace infer::formats {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_side_bytes = 64u << 20;
/// Files beside the weights that somebody may ask for.
constexpr std::array side_names{"tokenizer.json",          "tokenizer_config.json", "generation_config.json",
                                "special_tokens_map.json", "chat_template.jinja",   "chat_template.json"};

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

std::string_view text_of(const mapped_file& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

/// The name without what only says in which wrapper the model was saved.
std::string_view unwrapped(std::string_view name) {
  for (bool cut = true; cut;) {
    cut = false;
    for (const std::string_view prefix : {"model.", "transformer.", "language_model."}) {
      if (!name.starts_with(prefix)) continue;
      name.remove_prefix(prefix.size());
      cut = true;
    }
  }
  return name;
}

/// The files that an index names, in order.
result<std::vector<std::string>> files_of_index(std::string_view text, const std::string& name) {
  boost::system::error_code wrong;
  const auto root = boost::json::parse({text.data(), text.size()}, wrong);
  if (wrong) return fail(fault::malformed, name + ": this is not JSON: " + wrong.message());
  const auto* map = root.is_object() ? root.get_object().if_contains("weight_map") : nullptr;
  if (map == nullptr || !map->is_object())
    return fail(fault::malformed, name + ": the index has no weight_map; download it again");
  std::set<std::string> files;
  for (const auto& member : map->get_object()) {
    if (!member.value().is_string())
      return fail(fault::malformed,
                  name + ": the weight_map names no file for " + quote({member.key().data(), member.key().size()}));
    std::string file(member.value().get_string());
    if (file.empty() || file.find('/') != std::string::npos || file.starts_with('.'))
      return fail(fault::malformed,
                  name + ": the weight_map names the file " + quote(file) + ", which is no file beside it");
    files.insert(std::move(file));
  }
  return std::vector<std::string>(files.begin(), files.end());
}

/// The names of the files that hold the tensors.
result<std::vector<std::string>> weight_files(const fs::path& folder) {
  if (is_there(folder / "model.safetensors")) return std::vector<std::string>{"model.safetensors"};
  const fs::path index = folder / "model.safetensors.index.json";
  if (is_there(index)) {
    INFER_TRY(const auto file, mapped_file::open(index));
    return files_of_index(text_of(file), index.string());
  }
  const bool pickled = is_there(folder / "pytorch_model.bin") || is_there(folder / "pytorch_model.bin.index.json");
  return fail(fault::cannot_open,
              folder.string() + ": the folder has neither model.safetensors nor model.safetensors.index.json" +
                  (pickled ? "; its pytorch_model.bin is not read: convert it to safetensors" : ""));
}

}  // namespace

struct hub_folder::impl {
  json_keys config;
  std::vector<mapped_file> files;  // empty where the bytes are the caller's
  std::vector<byte_view> bytes;    // one per part
  std::deque<std::string> names;
  std::vector<tensor_info> tensors;
  std::unordered_map<std::string_view, std::size_t> by_name;
  std::map<std::string, mapped_file, std::less<>> side_files;

  /// Appends the tensors of the next part.
  result<void> add(byte_view part, const std::string& path) {
    INFER_TRY(auto entries, parse_safetensors(part, path));
    const auto shard = static_cast<std::uint32_t>(bytes.size());
    for (safetensors_entry& entry : entries) {
      tensor_info info = entry.info;
      info.name = unwrapped(names.emplace_back(std::move(entry.name)));
      if (!entry.fault.empty()) info.fault = names.emplace_back(std::move(entry.fault));
      info.shard = shard;
      if (!by_name.try_emplace(info.name, tensors.size()).second)
        return fail(fault::malformed, path + ": the tensor " + quote(info.name) + " is there twice");
      tensors.push_back(info);
    }
    bytes.push_back(part);
    return success();
  }

  result<void> add_weights(const fs::path& folder) {
    INFER_TRY(const auto parts, weight_files(folder));
    for (const std::string& part : parts) {
      const fs::path path = folder / part;
      if (!is_there(path))
        return fail(fault::missing_shard, path.string() + ": this file, which the index names, is missing");
      INFER_TRY(auto file, mapped_file::open(path));
      INFER_TRYV(add(file.bytes(), path.string()));
      files.push_back(std::move(file));
    }
    return success();
  }

  result<void> add_side_files(const fs::path& folder) {
    for (const char* name : side_names) {
      if (!is_there(folder / name)) continue;
      INFER_TRY(auto file, mapped_file::open(folder / name));
      if (file.bytes().size() > most_side_bytes)
        return fail(fault::malformed, (folder / name).string() + ": the file is larger than any of its kind");
      side_files.emplace(name, std::move(file));
    }
    return success();
  }
};

hub_folder::hub_folder(std::unique_ptr<impl> state) : impl_(std::move(state)) {}
hub_folder::hub_folder(hub_folder&&) noexcept = default;
hub_folder& hub_folder::operator=(hub_folder&&) noexcept = default;
hub_folder::~hub_folder() = default;

result<hub_folder> hub_folder::open(const fs::path& folder) {
  const fs::path path = folder / "config.json";
  if (!is_there(path))
    return fail(fault::cannot_open, folder.string() +
                                        ": the folder has no config.json; name a .gguf file inside it, or a folder as "
                                        "it is downloaded from the Hugging Face hub");
  auto state = std::make_unique<impl>();
  INFER_TRY(const auto config, mapped_file::open(path));
  INFER_TRY(state->config, json_keys::parse(text_of(config), path.string(), "text_config"));
  INFER_TRYV(state->add_weights(folder));
  INFER_TRYV(state->add_side_files(folder));
  return hub_folder(std::move(state));
}

result<hub_folder> hub_folder::from_memory(std::string_view config, byte_view weights) {
  auto state = std::make_unique<impl>();
  INFER_TRY(state->config, json_keys::parse(config, "config.json", "text_config"));
  INFER_TRYV(state->add(weights, "model.safetensors"));
  return hub_folder(std::move(state));
}

const metadata& hub_folder::keys() const {
  return impl_->config.keys;
}

std::span<const tensor_info> hub_folder::tensors() const {
  return impl_->tensors;
}

const tensor_info* hub_folder::find(std::string_view name) const {
  const auto at = impl_->by_name.find(name);
  return at == impl_->by_name.end() ? nullptr : &impl_->tensors[at->second];
}

byte_view hub_folder::data(const tensor_info& tensor) const {
  return impl_->bytes[tensor.shard].subspan(tensor.offset, tensor.bytes);
}

std::size_t hub_folder::parts() const {
  return impl_->bytes.size();
}

std::uint64_t hub_folder::file_bytes() const {
  std::uint64_t bytes = 0;
  for (const byte_view part : impl_->bytes) bytes += part.size();
  return bytes;
}

void hub_folder::release(byte_view bytes) const {
  for (const mapped_file& file : impl_->files) file.drop(bytes);
}

std::string_view hub_folder::side_file(std::string_view name) const {
  const auto at = impl_->side_files.find(name);
  return at == impl_->side_files.end() ? std::string_view() : text_of(at->second);
}

}  // namespace infer::formats
