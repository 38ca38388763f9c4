// What a model file's keys say, in the terms of a family's descriptor.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/formats/model_file.h"
#include "engine/models/descriptor.h"

namespace infer::models {

/// The keys of a file by GGUF's names without the architecture, whatever the file's format calls them.
class key_view {
 public:
  key_view(const formats::model_file& file, std::string_view architecture) : file_(file), architecture_(architecture) {}

  bool is_hub() const { return file_.format() == formats::file_format::hub; }
  /// The file's own table.
  const formats::metadata& raw() const { return file_.keys(); }
  /// The file's name of a key: of several the one it has, else the first; empty where the format has none.
  std::string name_of(std::string_view key) const;
  bool has(std::string_view key) const;
  /// Whether a folder has the key and says that it has no value.
  bool is_none(std::string_view key) const;
  /// The value that a folder's configuration class has for a member of config.json; none of other files.
  std::optional<double> class_default(std::string_view member) const;
  /// The value that a folder's configuration class has for a key that the folder does not name.
  std::optional<double> class_value(std::string_view key) const;
  /// Flags count as 0 and 1. Errors: of metadata::real.
  result<double> real(std::string_view key) const;
  /// The value, or `otherwise` where the key is absent.
  result<double> real_or(std::string_view key, double otherwise) const;

 private:
  const formats::model_file& file_;
  std::string architecture_;
};

/// Which layers have a window and which turn queries and keys.
struct layer_lists {
  std::vector<bool> windowed, turned;
};

/// The family a file belongs to. Errors: missing_key; unsupported for one that this program does not know.
result<const family_descriptor*> family_of(const formats::model_file& file);

/// Rows of the token embedding, which are the tokens a model knows. None where the file has no embedding or is of no
/// family.
std::optional<std::size_t> embedding_rows(const formats::model_file& file);

/// Errors:  keys that are missing, out of range or contradict each other or the family (quantization).
result<hyper_values> read_hyper(const family_descriptor& family, const formats::model_file& file, const key_view& keys);

/// The activation that a folder's configuration names, else the family's.
/// Errors:  one that this program does not compute.
result<plan::activation> read_activation(const family_descriptor& family, const key_view& keys);

/// Errors:  lists of another length than there are layers; kinds of layers that the family does not have.
result<layer_lists> read_layer_lists(const family_descriptor& family, const hyper_values& h, const key_view& keys);

/// Whether a folder means the embedding to be the output head, too. One that has another head all the same means that.
bool says_tied(const family_descriptor& family, const key_view& keys);

}  // namespace infer::models
