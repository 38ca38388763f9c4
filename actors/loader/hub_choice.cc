// Choosing files.
#include "actors/loader/hub_choice.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

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

/// Types as GGUF names them, those that this program runs, by what is taken first: about 4 bits a weight, then more,
/// then fewer, then a name without a type, then what is as large as it was trained. "Q4" stands in some repositories'
/// names.
constexpr std::array<std::string_view, 41> preferred{
    "Q4_K_M",  "Q4_K",   "Q4_0",    "Q4",      "Q4_K_L",  "Q4_K_XL", "Q4_K_S", "IQ4_NL", "IQ4_XS", "Q4_1",   "Q5_K_M",
    "Q5_K",    "Q5_K_L", "Q5_K_XL", "Q5_K_S",  "Q5_0",    "Q5",      "Q5_1",   "MXFP4",  "Q6_K",   "Q6",     "Q6_K_L",
    "Q6_K_XL", "Q8_0",   "Q8",      "Q8_K_XL", "Q3_K_XL", "Q3_K_L",  "Q3_K_M", "Q3_K",   "Q3",     "Q3_K_S", "Q2_K",
    "Q2",      "Q2_K_L", "Q2_K_XL", "Q2_K_S",  "",        "BF16",    "F16",    "F32"};

bool is_quant(std::string_view piece) {
  constexpr std::array<std::string_view, 8> whole{"F16", "F32", "BF16", "FP16", "FP32", "F64", "MXFP4", "NVFP4"};
  if (std::ranges::find(whole, piece) != whole.end() || piece.starts_with("MXFP4_")) return true;
  for (const std::string_view start : {"Q", "IQ", "TQ"}) {
    if (!piece.starts_with(start)) continue;
    const std::string_view bits = piece.substr(start.size());
    if (!bits.empty() && bits[0] >= '1' && bits[0] <= '8' && (bits.size() == 1 || bits[1] == '_')) return true;
  }
  return false;
}

/// The type at the end of a name without its ending, or the whole of it.
std::string quant_of_stem(std::string_view text) {
  const std::string stem = in_capitals(text);
  const std::size_t cut = stem.find_last_of("-.");
  const std::string piece = cut == std::string::npos ? stem : stem.substr(cut + 1);
  if (!is_quant(piece)) return {};
  const std::string_view before = std::string_view(stem).substr(0, cut == std::string::npos ? 0 : cut);
  return before == "UD" || before.ends_with("-UD") ? "UD-" + piece : piece;
}

/// The file's name without its ending and its number as a part.
std::string stem_of(std::string_view file_name) {
  if (const auto part = formats::parse_shard_name(file_name)) return name_of(part->prefix);
  return std::string(file_name.substr(0, file_name.size() - std::string_view(".gguf").size()));
}

bool is_letter(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/// Whether a path in capitals has `word` in it, with no letter before and after it.
bool has_word(std::string_view path, std::string_view word) {
  for (std::size_t at = path.find(word); at != std::string_view::npos; at = path.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_letter(path[at - 1])) && (end == path.size() || !is_letter(path[end]))) return true;
  }
  return false;
}

/// Vision projectors and importance matrices are GGUF files, but no models.
bool is_beside_a_model(const std::string& path) {
  const std::string capitals = in_capitals(path);
  return has_word(capitals, "MMPROJ") || name_of(capitals).starts_with("MMPROJ") ||
         name_of(capitals).find("IMATRIX") != std::string::npos;
}

struct gguf_group {
  std::string quant, stem, folder;  // the folder ends in "/"; empty: the repository's own
  std::string tag;                  // no other group has it
  std::vector<hub_file> files;
  std::uint32_t parts = 1;

  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const hub_file& f : files) sum += f.bytes;
    return sum;
  }
  std::string shown() const { return quant.empty() ? files.front().path : quant; }
};

/// The type in the name of the file, else in that of the nearest folder that has one.
std::string quant_of_path(std::string_view folder, std::string_view file_name) {
  std::string out = quant_of(file_name);
  while (out.empty() && !folder.empty()) {
    folder.remove_suffix(1);
    out = quant_of_stem(name_of(folder));
    folder = folder.substr(0, folder.rfind('/') + 1);
  }
  return out;
}

/// `text` without what a model's name or folder could not have in it: what follows an @ there is a revision.
std::string as_tag(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '/' || c == '@' ? std::string("--") : std::string(1, c);
  return out;
}

/// A tag for each: its type, else its name, else its path, whichever no other has; else a number after it.
void give_tags(std::vector<gguf_group>& groups) {
  const auto is_alone = [&](const std::string& text, const auto& of) {
    return std::ranges::count_if(groups,
                                 [&](const gguf_group& g) { return in_capitals(of(g)) == in_capitals(text); }) == 1;
  };
  const auto quant = [](const gguf_group& g) { return g.quant; };
  const auto stem = [](const gguf_group& g) { return g.stem; };
  for (gguf_group& g : groups) {
    if (!g.quant.empty() && is_alone(g.quant, quant)) {
      g.tag = g.quant;
    } else if (is_alone(g.stem, stem)) {
      g.tag = as_tag(g.stem);
    } else {
      g.tag = as_tag(g.folder + g.stem);
    }
  }
  std::set<std::string> taken;
  for (gguf_group& g : groups) {
    for (int number = 2; !taken.insert(in_capitals(g.tag)).second; ++number) g.tag += "--" + std::to_string(number);
  }
}

/// GGUF models by their path without the number as a part; parts in order.
std::vector<gguf_group> gguf_groups(const std::vector<hub_file>& files) {
  std::map<std::string, gguf_group> groups;
  for (const hub_file& f : files) {
    if (!f.path.ends_with(".gguf") || is_beside_a_model(f.path)) continue;
    const std::string name = name_of(f.path);
    // Of what is hidden or has nothing before its number no folder could be called.
    if (f.path.starts_with('.') || f.path.find("/.") != std::string::npos || stem_of(name).empty()) continue;
    const auto part = formats::parse_shard_name(name);
    const std::string folder = f.path.substr(0, f.path.size() - name.size());
    gguf_group& group = groups[folder + stem_of(name) + "/" + std::to_string(part ? part->count : 0)];
    group.stem = stem_of(name);
    group.folder = folder;
    group.quant = quant_of_path(folder, name);
    if (part) group.parts = part->count;
    group.files.push_back(f);
  }
  std::vector<gguf_group> out;
  for (auto& [path, group] : groups) {
    std::ranges::sort(group.files, {}, &hub_file::path);
    out.push_back(std::move(group));
  }
  give_tags(out);
  return out;
}

std::string listed(const std::vector<gguf_group>& groups) {
  std::string out;
  for (const gguf_group& g : groups) out += (out.empty() ? "" : ", ") + g.shown();
  return out;
}

result<chosen_model> take(const reference& of, const gguf_group& group, std::string remark) {
  if (group.files.size() != group.parts)
    return fail(fault::not_found, of.repository() + ": " + group.stem + " has " + std::to_string(group.files.size()) +
                                      " of its " + std::to_string(group.parts) + " parts");
  return chosen_model{group.tag, true, group.files, std::move(remark)};
}

result<chosen_model> choose_by_quant(const reference& of, const std::vector<gguf_group>& groups) {
  const std::string wanted = in_capitals(of.quant);
  std::vector<const gguf_group*> found;
  for (const gguf_group& g : groups)
    if (g.quant == wanted || in_capitals(g.stem) == wanted || in_capitals(g.tag) == wanted) found.push_back(&g);
  if (found.size() == 1) return take(of, *found.front(), {});
  if (found.empty())
    return fail(fault::not_found, of.repository() + " has no " + of.quant + "; it has " + listed(groups));
  return fail(fault::not_found, of.repository() + " has several models of type " + of.quant + ": name the file, like " +
                                    of.repository() + "/" + found.front()->files.front().path);
}

/// The most preferred; the smallest of equals.
result<chosen_model> choose_usual(const reference& of, const std::vector<gguf_group>& groups) {
  const auto order = [](const gguf_group& g) { return std::pair(preference_of(g.quant), g.bytes()); };
  const gguf_group& chosen = *std::ranges::min_element(groups, {}, order);
  if (preference_of(chosen.quant) == cannot_run)
    return fail(fault::not_found,
                of.repository() + " has only types that this program does not run: " + listed(groups) +
                    "; name one to fetch it all the same, like " + of.repository() + ":" + chosen.tag);
  return take(of, chosen, groups.size() == 1 ? "" : "taking " + chosen.tag + " of " + listed(groups));
}

result<chosen_model> choose_gguf(const reference& of, const std::vector<gguf_group>& groups) {
  if (!of.quant.empty()) return choose_by_quant(of, groups);
  if (of.file.empty()) return choose_usual(of, groups);
  for (const gguf_group& g : groups)
    if (std::ranges::any_of(g.files, [&](const hub_file& f) { return f.path == of.file; })) return take(of, g, {});
  return fail(fault::not_found, of.repository() + " has no file " + of.file + "; it has " + listed(groups));
}

/// "model-00001-of-00003.safetensors" and "model.safetensors-00001-of-00003.safetensors": names as in an index.
bool is_part_of_index(std::string_view name) {
  const auto part = formats::parse_shard_name(name, ".safetensors");
  return part && (part->prefix == "model" || part->prefix == "model.safetensors");
}

result<chosen_model> choose_folder(const std::vector<hub_file>& files) {
  chosen_model out{"safetensors", false, {}, {}};
  const auto at_root = [](const hub_file& f) { return f.path.find('/') == std::string::npos; };
  const auto is_weights = [&](const hub_file& f) { return at_root(f) && f.path.ends_with(".safetensors"); };
  // The best name there is says which files are the weights: variants in other types lie beside them.
  const auto rank = [&](const hub_file& f) {
    if (!is_weights(f)) return 0;
    const std::string_view name = f.path;
    if (name == "model.safetensors") return 4;
    if (is_part_of_index(name)) return 3;
    return name.starts_with("model") ? 2 : 1;
  };
  int best = 0;
  for (const hub_file& f : files) best = std::max(best, rank(f));
  for (const hub_file& f : files) {
    const bool weights = best > 0 && rank(f) == best;
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
  return file_name.ends_with(".gguf") ? quant_of_stem(stem_of(file_name)) : std::string();
}

std::size_t preference_of(std::string_view quant) {
  const bool mixed = quant.starts_with("UD-");  // of one publisher, with parts in other types
  std::string plain(mixed ? quant.substr(3) : quant);
  if (plain.starts_with("FP")) plain.erase(1, 1);
  if (plain.starts_with("MXFP4_")) plain = "MXFP4";
  const auto* const found = std::ranges::find(preferred, plain);
  return found == preferred.end() ? cannot_run
                                  : 2 * static_cast<std::size_t>(found - preferred.begin()) + (mixed ? 1 : 0);
}

result<chosen_model> choose_files(const reference& of, const std::vector<hub_file>& files) {
  const auto has = [&](auto&& which) { return std::ranges::any_of(files, which); };
  const bool folder = has([](const hub_file& f) { return f.path == "config.json"; }) && has([](const hub_file& f) {
                        return f.path.ends_with(".safetensors") && f.path.find('/') == std::string::npos;
                      });
  const std::vector<gguf_group> groups = gguf_groups(files);
  if (folder && of.file.empty() && (of.quant.empty() || in_capitals(of.quant) == "SAFETENSORS"))
    return choose_folder(files);
  if (groups.empty())
    return fail(fault::not_found, of.repository() + (folder ? " has no GGUF file; name it without a quantization"
                                                            : " has neither GGUF files nor safetensors"));
  return choose_gguf(of, groups);
}

}  // namespace infer::hub
