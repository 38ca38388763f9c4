// Descriptor × file → plan.
#include "engine/models/builder.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/models/plan_writer.h"
#include "engine/quant/blocks.h"

namespace infer::models {
namespace {

std::string name_in_layer(std::string_view pattern, std::uint32_t layer) {
  std::string name(pattern);
  if (const auto at = name.find("{layer}"); at != std::string::npos) name.replace(at, 7, std::to_string(layer));
  return name;
}

bool is_per_layer(const tensor_row& row) {
  return row.name.find("{layer}") != std::string_view::npos;
}

result<hyper_values> read_hyper(const family_descriptor& family, std::string_view architecture,
                                const formats::gguf_file& file) {
  hyper_values values;
  for (const hyper unit : {hyper::one, hyper::embedding_scale, hyper::residual_scale, hyper::logit_factor})
    values[unit] = 1;
  if (const auto* embedding = file.find("token_embd.weight"))
    values[hyper::vocabulary] = static_cast<double>(embedding->shape[1]);
  for (const hyper_row& row : family.hyper) {
    const std::string key = std::string(architecture) + "." + std::string(row.key);
    if (!row.key.empty() && file.keys().contains(key)) {
      INFER_TRY(const double value, file.keys().real(key));
      values[row.field] = value;
    } else if (row.otherwise != nullptr) {
      values[row.field] = row.otherwise(values);
    } else {
      return fail(formats::fault::missing_key,
                  "the key " + key + " is missing; a " + std::string(family.name) + " model needs it");
    }
    const double value = values[row.field];
    if (!std::isfinite(value) || value < row.low || value > row.high)
      return fail(formats::fault::wrong_type, "the key " + key + " is " + std::to_string(value) + ", outside what a " +
                                                  std::string(family.name) + " model can have");
  }
  return values;
}

/// The kinds of rope scaling this program computes: none, and linear (llama3's comes as divisors in a tensor).
result<void> read_rope_scaling(std::string_view architecture, const formats::gguf_file& file, hyper_values& h) {
  const std::string key = std::string(architecture) + ".rope.scaling.type";
  if (!file.keys().contains(key)) return success();
  INFER_TRY(const std::string_view type, file.keys().text(key));
  if (type == "none") h[hyper::rope_factor] = 1;
  if (type == "none" || type == "linear") return success();
  return fail(formats::fault::unsupported, "the key " + key + " is '" + std::string(type) +
                                               "'; of rope scalings only none and linear are supported");
}

/// Checks that hold between hyperparameters whatever the family.
result<void> check_hyper(const hyper_values& h) {
  if (h.size(hyper::kv_heads) == 0 || h.size(hyper::heads) % h.size(hyper::kv_heads) != 0)
    return fail(formats::fault::wrong_type, "attention.head_count (" + std::to_string(h.size(hyper::heads)) +
                                                ") is not a multiple of attention.head_count_kv (" +
                                                std::to_string(h.size(hyper::kv_heads)) + ")");
  if (h.size(hyper::rope_dims) % 2 != 0 || h.size(hyper::rope_dims) > h.size(hyper::head_dim))
    return fail(formats::fault::wrong_type, "rope.dimension_count (" + std::to_string(h.size(hyper::rope_dims)) +
                                                ") must be even and at most the head size (" +
                                                std::to_string(h.size(hyper::head_dim)) + ")");
  return success();
}

/// Collects what is wrong with tensors, so that one error names all of it.
struct tensor_check {
  std::vector<std::string> problems;
  std::set<std::string> seen;

  /// Several parts of one tensor have one and the same problem.
  void add(const std::string& name, const std::string& what) {
    std::string problem = name + " " + what;
    if (seen.insert(problem).second) problems.push_back(std::move(problem));
  }

  result<void> verdict() const {
    if (problems.empty()) return success();
    std::string text;
    const std::size_t shown = std::min<std::size_t>(problems.size(), 8);
    for (std::size_t i = 0; i < shown; ++i) text += (i == 0 ? "" : "; ") + problems[i];
    if (shown < problems.size()) text += "; and " + std::to_string(problems.size() - shown) + " more";
    return fail(formats::fault::missing_tensor, text);
  }
};

plan::weight_source source_of(const formats::gguf_file& file, const formats::tensor_info& info, const tensor_row& row,
                              const hyper_values& h) {
  plan::weight_source weight;
  weight.name = std::string(info.name);
  weight.type = info.type;
  weight.columns = static_cast<std::uint32_t>(info.shape[0]);
  weight.rows = h.size(row.rows);
  const std::size_t row_bytes =
      std::size_t{weight.columns} / info_of(info.type).block_elements * info_of(info.type).block_bytes;
  weight.bytes = file.data(info).subspan(h.size(row.first_row) * row_bytes, weight.rows * row_bytes);
  weight.order = row.order;
  weight.head_dim = h.size(hyper::head_dim);
  weight.place = row.place;
  return weight;
}

}  // namespace

result<model> build(std::shared_ptr<const formats::gguf_file> file) {
  INFER_TRY(const std::string_view architecture, file->keys().text("general.architecture"));
  const family_descriptor* family = find_family(architecture);
  if (family == nullptr)
    return fail(formats::fault::unsupported,
                "the architecture '" + std::string(architecture) + "' is not one this program knows");

  model built;
  built.family = family;
  INFER_TRY(built.hyper, read_hyper(*family, architecture, *file));
  INFER_TRYV(read_rope_scaling(architecture, *file, built.hyper));
  INFER_TRYV(check_hyper(built.hyper));
  const hyper_values& h = built.hyper;

  weight_index index;
  tensor_check check;
  std::set<std::string_view> known;
  for (const tensor_row& row : family->tensors) {
    const std::uint32_t copies = is_per_layer(row) ? h.size(hyper::layers) : 1;
    for (std::uint32_t layer = 0; layer < copies; ++layer) {
      const std::string name = name_in_layer(row.name, layer);
      const formats::tensor_info* info = file->find(name);
      if (info == nullptr) {
        if (!row.optional) check.add(name, "is missing");
        continue;
      }
      known.insert(info->name);
      const std::uint64_t columns = h.size(row.columns) / (row.half_columns ? 2 : 1);
      const std::uint64_t rows = h.size(row.rows_in_file == hyper::zero ? row.rows : row.rows_in_file);
      if (info->shape[0] != columns || info->shape[1] != rows || info->shape[2] != 1 || info->shape[3] != 1) {
        check.add(name, "has shape [" + std::to_string(info->shape[0]) + ", " + std::to_string(info->shape[1]) +
                            "] where [" + std::to_string(columns) + ", " + std::to_string(rows) + "] is expected");
        continue;
      }
      const bool floating = quant::form_of(info->type) == quant::canonical_form::floating;
      if (!quant::supported(info->type) || (row.types == allowed::floats && !floating)) {
        check.add(name, "has type " + std::string(info_of(info->type).name) + ", which is not supported there");
        continue;
      }
      index[{row.role, is_per_layer(row) ? layer : 0}] = static_cast<std::uint32_t>(built.weights.weights.size());
      built.weights.weights.push_back(source_of(*file, *info, row, h));
    }
  }
  // A part of the model that would be left out makes another model of it.
  for (const formats::tensor_info& info : file->tensors()) {
    if (!known.contains(info.name))
      check.add(std::string(info.name), "is not a part of a " + std::string(family->name) + " model of " +
                                            std::to_string(h.size(hyper::layers)) + " layers");
  }
  INFER_TRYV(check.verdict());
  INFER_TRY(built.plan, write_plan(*family, h, index, built.weights));
  built.weights.owner = file;
  built.weights.drop = [file](const plan::weight_source& weight) {
    if (const formats::tensor_info* tensor = file->find(weight.name)) file->release(*tensor);
  };
  return built;
}

}  // namespace infer::models
