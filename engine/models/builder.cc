// Descriptor × file → plan.
#include "engine/models/builder.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/models/hub_names.h"
#include "engine/models/hyper_reader.h"
#include "engine/models/plan_writer.h"
#include "engine/models/rope_reader.h"
#include "engine/quant/blocks.h"
#include "engine/quant/dequantize.h"

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

/// Finds the tensors of a family in a file and makes the weight table of them.
class weight_finder {
 public:
  weight_finder(const family_descriptor& family, const hyper_values& h, const formats::model_file& file, bool tied)
      : family_(family), h_(h), file_(file), hub_(file.format() == formats::file_format::hub), tied_(tied) {}

  result<void> find_all(model& built) {
    for (const tensor_row& row : family_.tensors) {
      const std::uint32_t copies = is_per_layer(row) ? h_.size(hyper::layers) : 1;
      const std::string pattern = hub_ ? hub_tensor_name(family_, row.name) : std::string(row.name);
      if (pattern.empty()) continue;  // a tensor of GGUF's alone
      for (std::uint32_t layer = 0; layer < copies; ++layer) find(row, name_in_layer(pattern, layer), layer, built);
    }
    // A part of the model that would be left out makes another model of it.
    for (const formats::tensor_info& info : file_.tensors()) {
      if (known_.contains(info.name) || (hub_ && is_hub_extra(info.name, h_.size(hyper::layers)))) continue;
      check_.add(std::string(info.name), "is not a part of a " + std::string(family_.name) + " model of " +
                                             std::to_string(h_.size(hyper::layers)) + " layers");
    }
    return check_.verdict();
  }

  const weight_index& index() const { return index_; }

 private:
  void find(const tensor_row& row, const std::string& name, std::uint32_t layer, model& built) {
    const formats::tensor_info* info = file_.find(name);
    if (info == nullptr) {
      if (!row.optional) check_.add(name, "is missing");
      return;
    }
    known_.insert(info->name);
    if (!info->fault.empty()) return check_.add(name, std::string(info->fault));
    if (info->elements() == 0) return check_.add(name, "holds no values");
    if (row.role == role::output_head && tied_ && is_embedding(*info)) return file_.release(file_.data(*info));
    if (const std::string wrong = mismatch(row, *info); !wrong.empty()) return check_.add(name, wrong);
    const bool floating = quant::form_of(info->type) == quant::canonical_form::floating;
    if (!quant::supported(info->type) || (row.types == allowed::floats && !floating))
      return check_.add(name, "has type " + std::string(info_of(info->type).name) + ", which is not supported there");
    index_[{row.role, is_per_layer(row) ? layer : 0}] = static_cast<std::uint32_t>(built.weights.weights.size());
    built.weights.weights.push_back(source_of(row, *info));
  }

  /// Whether a tensor is the embedding once more, bit by bit.
  bool is_embedding(const formats::tensor_info& info) const {
    const auto* embedding = file_.find(hub_tensor_name(family_, "token_embd.weight"));
    return embedding != nullptr && embedding->type == info.type && embedding->shape == info.shape &&
           embedding->bytes == info.bytes && embedding->fault.empty() && info.fault.empty() &&
           std::memcmp(file_.data(*embedding).data(), file_.data(info).data(), info.bytes) == 0;
  }

  static bool is_vector(const tensor_row& row) { return row.rows == hyper::one; }
  bool is_transposed(const tensor_row& row) const {
    return hub_ && family_.hub.transposed && is_per_layer(row) && !is_vector(row);
  }
  hub_rows rows_of(const tensor_row& row) const { return hub_ ? hub_rows_of(family_, row.name) : hub_rows::all; }

  /// What is wrong with the shape; empty: nothing.
  std::string mismatch(const tensor_row& row, const formats::tensor_info& info) const {
    std::uint64_t columns = h_.size(row.columns) / (row.half_columns ? 2 : 1), rows = h_.size(row.rows);
    if (row.by_heads) rows = std::exchange(columns, h_.size(hyper::head_dim)) / h_.size(hyper::head_dim);
    if (row.rows_in_file != hyper::zero) (is_vector(row) ? columns : rows) = h_.size(row.rows_in_file);
    if (rows_of(row) != hub_rows::all)
      (is_vector(row) ? columns : rows) = h_.size(hyper::q_width) + 2 * h_.size(hyper::kv_width);
    if (is_transposed(row)) std::swap(columns, rows);
    if (info.shape[0] == columns && info.shape[1] == rows && info.shape[2] == 1 && info.shape[3] == 1) return {};
    return "has shape [" + std::to_string(info.shape[0]) + ", " + std::to_string(info.shape[1]) + "] where [" +
           std::to_string(columns) + ", " + std::to_string(rows) + "] is expected";
  }

  /// The rows of one kind among those of each key/value head in turn.
  void take_runs(hub_rows which, plan::weight_source& weight, std::size_t row_bytes) const {
    const std::uint32_t head = h_.size(hyper::head_dim);
    const std::uint32_t queries = h_.size(hyper::heads) / h_.size(hyper::kv_heads) * head;
    const std::uint32_t first = which == hub_rows::grouped_q   ? 0
                                : which == hub_rows::grouped_k ? queries
                                                               : queries + head;
    weight.run_rows = which == hub_rows::grouped_q ? queries : head;
    weight.run_stride = queries + 2 * head;
    weight.bytes = weight.bytes.subspan(first * row_bytes);
  }

  plan::weight_source source_of(const tensor_row& row, const formats::tensor_info& info) const {
    plan::weight_source weight;
    weight.name = std::string(info.name);
    weight.type = info.type;
    weight.columns = h_.size(row.columns) / (row.half_columns ? 2 : 1);
    weight.rows = h_.size(row.rows);
    weight.head_dim = h_.size(hyper::head_dim);
    weight.paired_rows = h_.size(hyper::rope_dims);
    weight.place = row.place;
    weight.order = hub_ && !family_.hub.paired_rows ? plan::row_order::canonical : row.order;
    weight.bytes = file_.data(info);
    const tensor_type_info& type = info_of(info.type);
    const std::size_t first = h_.size(row.first_row);
    if (is_vector(row) && rows_of(row) != hub_rows::all) {
      take_runs(rows_of(row), weight, type.block_bytes);
    } else if (is_vector(row)) {
      weight.bytes = weight.bytes.subspan(first * type.block_bytes, weight.columns * type.block_bytes);
      if (hub_ && family_.hub.norms_around_one && row.name.find("norm") != std::string_view::npos) weight.plus = 1;
    } else if (is_transposed(row)) {
      weight.transposed_stride = static_cast<std::uint32_t>(info.shape[0]);
      weight.bytes = weight.bytes.subspan(first * type.block_bytes);
    } else {
      const std::size_t row_bytes = std::size_t{weight.columns} / type.block_elements * type.block_bytes;
      if (const hub_rows which = rows_of(row); which != hub_rows::all)
        take_runs(which, weight, row_bytes);
      else
        weight.bytes = weight.bytes.subspan(first * row_bytes, weight.rows * row_bytes);
    }
    return weight;
  }

  const family_descriptor& family_;
  const hyper_values& h_;
  const formats::model_file& file_;
  bool hub_, tied_;
  weight_index index_;
  tensor_check check_;
  std::set<std::string_view> known_;
};

/// The values of a vector of divisors; empty where the file has none.
result<std::vector<float>> divisors_of(role which, const weight_index& index, const plan::weight_table& weights) {
  const auto at = index.find({which, 0});
  if (at == index.end()) return std::vector<float>{};
  const plan::weight_source& weight = weights.weights[at->second];
  std::vector<float> values(weight.columns);
  INFER_TRYV(quant::dequantize(weight.type, weight.bytes, values));
  for (const float value : values) {
    if (!std::isfinite(value) || value <= 0)
      return fail(formats::fault::malformed, weight.name + " holds a divisor that is not a positive number");
  }
  return values;
}

}  // namespace

result<model> build(std::shared_ptr<const formats::model_file> file) {
  INFER_TRY(const family_descriptor* family, family_of(*file));
  const key_view keys(*file, family->architectures.empty() || file->format() == formats::file_format::hub
                                 ? std::string_view()
                                 : file->keys().text("general.architecture").value());
  model built;
  built.family = family;
  INFER_TRY(built.hyper, read_hyper(*family, *file, keys));
  INFER_TRY(const layer_lists layers, read_layer_lists(*family, built.hyper, keys));
  weight_finder finder(*family, built.hyper, *file, says_tied(*family, keys));
  INFER_TRYV(finder.find_all(built));
  rope_divisors divisors;
  INFER_TRY(divisors.all, divisors_of(role::rope_divisors, finder.index(), built.weights));
  INFER_TRY(divisors.of_short, divisors_of(role::rope_short_divisors, finder.index(), built.weights));
  INFER_TRY(divisors.of_long, divisors_of(role::rope_long_divisors, finder.index(), built.weights));
  INFER_TRY(const model_ropes ropes, read_ropes(*family, built.hyper, keys, divisors));
  if (built.hyper[hyper::query_growth] != 0 &&
      (ropes.trained_context < 1 || built.hyper[hyper::rope_dims] != built.hyper[hyper::head_dim]))
    return fail(formats::fault::unsupported,
                "queries that grow with the position need the context before scaling and rope over whole heads");
  INFER_TRY(const plan::activation activation, read_activation(*family, keys));
  built.plan = write_plan(*family, built.hyper, finder.index(), layers, ropes, activation);
  built.weights.owner = file;
  built.weights.drop = [file](byte_view bytes) { file->release(bytes); };
  return built;
}

}  // namespace infer::models
