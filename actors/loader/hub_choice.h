// Which files of a repository are the model that a reference means.
#pragma once

#include <string>
#include <vector>

#include "actors/loader/hub_repository.h"

namespace infer::hub {

struct chosen_model {
  std::string tag;  // "Q4_K_M", "safetensors": tells models of one repository apart
  bool is_gguf = false;
  std::vector<hub_file> files;  // a split model's parts in order
  std::string remark;           // what was chosen of several, for people; empty where there was no choice

  std::uint64_t bytes() const;
};

/// The quantization in a GGUF file's name, in capitals: "Q4_K_M", "IQ3_XXS", "UD-Q4_K_XL", "BF16"; empty: none.
std::string quant_of(std::string_view file_name);

/// A GGUF repository without a quantization said: Q4_K_M, else Q4_0, else the smallest. With safetensors and no
/// quantization said: configuration, tokenizer, chat template and weights.
/// Errors:  fault::not_found, naming what there is.
result<chosen_model> choose_files(const reference& of, const std::vector<hub_file>& files);

}  // namespace infer::hub
