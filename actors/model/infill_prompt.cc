// The parts in the order that models were trained with.
#include "actors/model/infill_prompt.h"

#include <initializer_list>
#include <string>
#include <string_view>

namespace infer::actors {
namespace {

/// The token that the file names, else the first special one of these texts.
std::optional<token_id> first_found(const tokenize::tokenizer& vocabulary, std::optional<token_id> named,
                                    std::initializer_list<std::string_view> texts) {
  if (named) return named;
  for (const std::string_view text : texts) {
    const auto id = vocabulary.find(text);
    if (id && vocabulary.type_of(*id) != tokenize::token_type::normal) return id;
  }
  return std::nullopt;
}

}  // namespace

std::optional<infill_tokens> find_infill_tokens(const tokenize::tokenizer& vocabulary) {
  const tokenize::infill_marks& named = vocabulary.infill();
  const auto prefix = first_found(vocabulary, named.prefix,
                                  {"<|fim_prefix|>", "<fim-prefix>", "<fim_prefix>", "<PRE>", "▁<PRE>",
                                   "<｜fim▁begin｜>", "<|code_prefix|>", "[PREFIX]"});
  const auto suffix = first_found(vocabulary, named.suffix,
                                  {"<|fim_suffix|>", "<fim-suffix>", "<fim_suffix>", "<SUF>", "▁<SUF>",
                                   "<｜fim▁hole｜>", "<|code_suffix|>", "[SUFFIX]"});
  const auto middle = first_found(vocabulary, named.middle,
                                  {"<|fim_middle|>", "<fim-middle>", "<fim_middle>", "<MID>", "▁<MID>", "<｜fim▁end｜>",
                                   "<|code_middle|>", "[MIDDLE]"});
  if (!prefix || !suffix || !middle) return std::nullopt;
  return infill_tokens{
      *prefix, *suffix, *middle,
      first_found(vocabulary, named.repository, {"<|fim_repo|>", "<|repo_name|>", "<fim-repo>", "<reponame>"}),
      first_found(vocabulary, named.file, {"<|file_sep|>", "<|file_separator|>"})};
}

std::optional<std::vector<token_id>> infill_ids(const tokenize::tokenizer& vocabulary, const msg::prompt& prompt) {
  const auto marks = find_infill_tokens(vocabulary);
  if (!marks) return std::nullopt;
  std::vector<token_id> out;
  const auto add = [&](std::string_view text) {
    const auto ids = vocabulary.encode(text, prompt.parse_special);
    out.insert(out.end(), ids.begin(), ids.end());
  };
  if (vocabulary.adds_bos() && vocabulary.bos()) out.push_back(*vocabulary.bos());
  if (!prompt.files.empty()) {
    if (marks->repository) {
      out.push_back(*marks->repository);
      add("repository\n");
    }
    for (const msg::prompt_file& file : prompt.files) {
      if (marks->file) out.push_back(*marks->file);
      add(marks->file ? file.name + "\n" : "\n\n");
      add(file.text);
    }
    if (marks->file) {
      out.push_back(*marks->file);
      add("filename\n");
    }
  }
  out.push_back(marks->prefix);
  add(prompt.text);
  out.push_back(marks->suffix);
  add(prompt.suffix);
  out.push_back(marks->middle);
  return out;
}

}  // namespace infer::actors
