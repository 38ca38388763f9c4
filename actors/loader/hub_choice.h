// Which files of a repository are the model that a reference means.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
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

/// What is taken where no quantization is said: the lowest of all, then the smallest file. Q4_K_M is the lowest;
/// a name without a type is before the types of 16 and 32 bits. `cannot_run`: tensors of no type that this program
/// reads.
inline constexpr std::size_t cannot_run = ~std::size_t{0};
std::size_t preference_of(std::string_view quant);

/// A GGUF repository without a quantization said: the model that is preferred and can run. With safetensors and no
/// quantization said: configuration, tokenizer, chat template and weights. The tag is the quantization in the name of
/// the file or its folder; where models share it, the file's name; where they share that, the file's path.
/// Errors:  fault::not_found, naming what there is.
result<chosen_model> choose_files(const reference& of, const std::vector<hub_file>& files);

}  // namespace infer::hub
