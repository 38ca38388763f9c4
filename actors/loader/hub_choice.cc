// Choosing files.
#include "actors/loader/hub_choice.h"

#include <algorithm>
#include <array>
#include <map>

#include "engine/formats/shard_name.h"

namespace infer::hub {
namespace {

/// Files beside the weights that a model folder is read with.
constexpr std::array<std::string_view, 12> side_files{"config.json",
                                                      "generation_config.json",
                                                      "tokenizer.json",
                                                      "tokenizer_config.json",
                                                      "special_tokens_map.json",
                                                      "vocab.json",
                                                      "merges.txt",
                                                      "tokenizer.model",
                                                      "added_tokens.json",
                                                      "chat_template.jinja",
                                                      "chat_template.json",
                                                      "model.safetensors.index.json"};

std::string name_of(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

std::string in_capitals(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) { return c >= 'a' && c <= 'z' ? char(c - 32) : c; });
  return out;
}

bool is_quant(std::string_view piece) {
  constexpr std::array<std::string_view, 8> whole{"F16", "F32", "BF16", "FP16", "FP32", "F64", "MXFP4", "NVFP4"};
  if (std::ranges::find(whole, piece) != whole.end() || piece.starts_with("MXFP4_")) return true;
  for (const std::string_view start : {"Q", "IQ", "TQ"}) {
    if (piece.size() > start.size() + 1 && piece.starts_with(start) && piece[start.size()] >= '1' &&
        piece[start.size()] <= '8' && piece[start.size() + 1] == '_')
      return true;
  }
  return false;
}

/// The file's name without its ending and its number as a part.
std::string stem_of(std::string_view file_name) {
  if (const auto part = formats::parse_shard_name(file_name)) return name_of(part->prefix);
  return std::string(file_name.substr(0, file_name.size() - std::string_view(".gguf").size()));
}

struct gguf_group {
  std::string tag, stem;
  std::vector<hub_file> files;
  std::uint32_t parts = 1;

  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const hub_file& f : files) sum += f.bytes;
    return sum;
  }
};

/// GGUF models by their path without the number as a part; parts in order.
std::vector<gguf_group> gguf_groups(const std::vector<hub_file>& files) {
  std::map<std::string, gguf_group> groups;
  for (const hub_file& f : files) {
    const std::string name = name_of(f.path);
    const std::string capitals = in_capitals(name);
    if (!f.path.ends_with(".gguf") || capitals.starts_with("MMPROJ") || capitals.find("IMATRIX") != std::string::npos)
      continue;
    const std::string folder = f.path.substr(0, f.path.size() - name.size());
    gguf_group& group = groups[folder + stem_of(name)];
    group.stem = stem_of(name);
    group.tag = quant_of(name);
    if (const auto part = formats::parse_shard_name(name)) group.parts = part->count;
    group.files.push_back(f);
  }
  std::vector<gguf_group> out;
  for (auto& [path, group] : groups) {
    std::ranges::sort(group.files, {}, &hub_file::path);
    out.push_back(std::move(group));
  }
  return out;
}

std::string listed(const std::vector<gguf_group>& groups) {
  std::string out;
  for (const gguf_group& g : groups) out += (out.empty() ? "" : ", ") + (g.tag.empty() ? g.files.front().path : g.tag);
  return out;
}

result<chosen_model> take(const reference& of, const gguf_group& group, bool tag_is_unique, std::string remark) {
  if (group.files.size() != group.parts)
    return fail(fault::not_found, of.repository() + ": " + group.stem + " has " + std::to_string(group.files.size()) +
                                      " of its " + std::to_string(group.parts) + " parts");
  return chosen_model{tag_is_unique && !group.tag.empty() ? group.tag : group.stem, true, group.files,
                      std::move(remark)};
}

result<chosen_model> choose_gguf(const reference& of, const std::vector<gguf_group>& groups) {
  const auto with_tag = [&](std::string_view tag) {
    std::vector<const gguf_group*> out;
    for (const gguf_group& g : groups)
      if (g.tag == tag || in_capitals(g.stem) == tag) out.push_back(&g);
    return out;
  };
  if (!of.file.empty()) {
    for (const gguf_group& g : groups)
      if (std::ranges::any_of(g.files, [&](const hub_file& f) { return f.path == of.file; }))
        return take(of, g, with_tag(g.tag).size() == 1, {});
    return fail(fault::not_found, of.repository() + " has no file " + of.file + "; it has " + listed(groups));
  }
  if (!of.quant.empty()) {
    const auto found = with_tag(in_capitals(of.quant));
    if (found.size() == 1) return take(of, *found.front(), true, {});
    if (found.empty())
      return fail(fault::not_found, of.repository() + " has no " + of.quant + "; it has " + listed(groups));
    return fail(fault::not_found, of.repository() + " has several models of type " + of.quant +
                                      ": name the file, like " + of.repository() + "/" +
                                      found.front()->files.front().path);
  }
  const gguf_group* chosen = nullptr;
  for (const std::string_view tag : {"Q4_K_M", "Q4_0"})
    if (const auto found = with_tag(tag); chosen == nullptr && found.size() == 1) chosen = found.front();
  if (chosen == nullptr) chosen = &*std::ranges::min_element(groups, {}, &gguf_group::bytes);
  const std::string what = chosen->tag.empty() ? chosen->stem : chosen->tag;
  return take(of, *chosen, with_tag(chosen->tag).size() == 1,
              groups.size() == 1 ? "" : "taking " + what + " of " + listed(groups));
}

result<chosen_model> choose_folder(const std::vector<hub_file>& files) {
  chosen_model out{"safetensors", false, {}, {}};
  const auto at_root = [](const hub_file& f) { return f.path.find('/') == std::string::npos; };
  const auto is_weights = [&](const hub_file& f) { return at_root(f) && f.path.ends_with(".safetensors"); };
  const bool usual =
      std::ranges::any_of(files, [&](const hub_file& f) { return is_weights(f) && f.path.starts_with("model"); });
  for (const hub_file& f : files) {
    const bool weights = is_weights(f) && (!usual || f.path.starts_with("model"));
    if (weights || (at_root(f) && std::ranges::find(side_files, f.path) != side_files.end())) out.files.push_back(f);
  }
  return out;
}

}  // namespace

std::uint64_t chosen_model::bytes() const {
  std::uint64_t sum = 0;
  for (const hub_file& f : files) sum += f.bytes;
  return sum;
}

std::string quant_of(std::string_view file_name) {
  if (!file_name.ends_with(".gguf")) return {};
  const std::string stem = in_capitals(stem_of(file_name));
  const std::size_t cut = stem.find_last_of("-.");
  if (cut == std::string::npos) return {};
  const std::string piece = stem.substr(cut + 1);
  if (!is_quant(piece)) return {};
  return std::string_view(stem).substr(0, cut).ends_with("-UD") ? "UD-" + piece : piece;
}

result<chosen_model> choose_files(const reference& of, const std::vector<hub_file>& files) {
  const auto has = [&](auto&& which) { return std::ranges::any_of(files, which); };
  const bool folder = has([](const hub_file& f) { return f.path == "config.json"; }) && has([](const hub_file& f) {
                        return f.path.ends_with(".safetensors") && f.path.find('/') == std::string::npos;
                      });
  const std::vector<gguf_group> groups = gguf_groups(files);
  if (folder && of.file.empty() && (of.quant.empty() || of.quant == "safetensors")) return choose_folder(files);
  if (groups.empty())
    return fail(fault::not_found, of.repository() + (folder ? " has no GGUF file; name it without a quantization"
                                                            : " has neither GGUF files nor safetensors"));
  return choose_gguf(of, groups);
}

}  // namespace infer::hub
