// A model folder as on the Hugging Face hub: config.json, safetensors in one file or many, tokenizer and templates.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "engine/formats/model_file.h"

namespace infer::formats {

/// Names of tensors lose the prefixes that only say in which wrapper the text model was saved: "model.",
/// "transformer.", "language_model." and their combinations. Members of `text_config` count as config.json's own.
/// Errors:  as of `open_model`.
class hub_folder final : public model_file {
 public:
  static result<hub_folder> open(const std::filesystem::path& folder);

  /// A config.json and one safetensors file that lie in memory. `weights` must outlive the result. The fuzzers' way in.
  static result<hub_folder> from_memory(std::string_view config, byte_view weights);

  hub_folder(hub_folder&&) noexcept;
  hub_folder& operator=(hub_folder&&) noexcept;
  ~hub_folder() override;

  file_format format() const override { return file_format::hub; }
  std::string format_name() const override { return "safetensors"; }
  const metadata& keys() const override;
  std::span<const tensor_info> tensors() const override;
  const tensor_info* find(std::string_view name) const override;
  byte_view data(const tensor_info& tensor) const override;
  std::size_t parts() const override;
  std::uint64_t file_bytes() const override;
  void release(byte_view bytes) const override;
  /// Reads no file above 64 MiB.
  std::string_view side_file(std::string_view name) const override;

 private:
  struct impl;
  explicit hub_folder(std::unique_ptr<impl> state);
  std::unique_ptr<impl> impl_;
};

}  // namespace infer::formats
