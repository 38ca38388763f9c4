// Columns of text; widths follow the longest entry.
#include "engine/formats/describe.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string_view>
#include <vector>

#include "engine/core/bytes.h"
#include "engine/formats/quote.h"

namespace infer::formats {
namespace {

constexpr std::size_t rows_without_all = 12;

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

std::string right(std::string text, std::size_t width) {
  if (text.size() < width) text.insert(0, width - text.size(), ' ');
  return text;
}

/// A name from the file without its quotes.
std::string plain(std::string_view name) {
  const std::string text = quote(name, 96);
  return text.substr(1, text.size() - 2);
}

std::string shape_text(const tensor_info& tensor) {
  std::string text = "[";
  for (std::uint32_t axis = 0; axis < tensor.rank; ++axis) {
    text += (axis == 0 ? "" : ", ") + std::to_string(tensor.shape[axis]);
  }
  return text + "]";
}

}  // namespace

/// 134515008 → "134,515,008".
std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
  return text;
}

std::map<tensor_type, type_sum> sums_by_type(const model_file& file) {
  std::map<tensor_type, type_sum> sums;
  for (const tensor_info& tensor : file.tensors()) {
    type_sum& sum = sums[tensor.type];
    ++sum.tensors;
    sum.elements += tensor.elements();
    sum.bytes += tensor.bytes;
  }
  return sums;
}

std::string describe_summary(const model_file& file) {
  std::string out;
  type_sum all;
  for (const auto& [type, sum] : sums_by_type(file)) {
    all.tensors += sum.tensors;
    all.elements += sum.elements;
    all.bytes += sum.bytes;
  }
  out += "format        " + file.format_name() + ", " + format_bytes(file.file_bytes());
  if (file.parts() > 1) out += " in " + std::to_string(file.parts()) + " parts";
  out += '\n';
  for (const auto& [label, key] :
       {std::pair{"architecture", "general.architecture"}, {"architecture", "model_type"}, {"name", "general.name"}}) {
    const metadata_value* value = file.keys().find(key);
    if (value != nullptr) out += padded(label, 14) + summary(*value) + '\n';
  }
  out += "tensors       " + grouped(all.tensors) + ", " + grouped(all.elements) + " parameters, " +
         format_bytes(all.bytes) + '\n';
  return out;
}

std::string describe_keys(const model_file& file) {
  const metadata& keys = file.keys();
  std::string out = "keys (" + std::to_string(keys.keys().size()) + ")\n";
  std::size_t width = 0;
  for (const std::string_view key : keys.keys()) width = std::max(width, std::min<std::size_t>(plain(key).size(), 48));
  for (const std::string_view key : keys.keys()) {
    out += "  " + padded(plain(key), width) + "  " + summary(*keys.find(key)) + '\n';
  }
  return out;
}

std::string describe_types(const model_file& file) {
  const auto sums = sums_by_type(file);
  std::uint64_t total = 0;
  for (const auto& [type, sum] : sums) total += sum.bytes;
  std::string out = "types\n";
  for (const auto& [type, sum] : sums) {
    std::array<char, 16> share{};
    std::snprintf(share.data(), share.size(), "%5.1f %%", 100.0 * static_cast<double>(sum.bytes) / total);
    out += "  " + padded(std::string(info_of(type).name), 8) + right(grouped(sum.tensors), 7) +
           (sum.tensors == 1 ? " tensor " : " tensors") + right(format_bytes(sum.bytes), 11) + "  " + share.data() +
           '\n';
  }
  return out;
}

std::string describe_tensors(const model_file& file, bool all_tensors) {
  const std::span<const tensor_info> tensors = file.tensors();
  std::string out = "tensors\n";
  const std::size_t shown = all_tensors ? tensors.size() : std::min(tensors.size(), rows_without_all);
  std::size_t name_width = 0, shape_width = 0;
  for (const tensor_info& tensor : tensors.first(shown)) {
    name_width = std::max(name_width, plain(tensor.name).size());
    shape_width = std::max(shape_width, shape_text(tensor).size());
  }
  for (const tensor_info& tensor : tensors.first(shown)) {
    out += "  " + padded(plain(tensor.name), name_width) + "  " + padded(std::string(info_of(tensor.type).name), 8) +
           padded(shape_text(tensor), shape_width) + right(format_bytes(tensor.bytes), 11) + '\n';
  }
  if (shown < tensors.size()) out += "  and " + grouped(tensors.size() - shown) + " more\n";
  return out;
}

std::string describe(const model_file& file, bool all_tensors) {
  return describe_summary(file) + '\n' + describe_keys(file) + '\n' + describe_types(file) + '\n' +
         describe_tensors(file, all_tensors);
}

}  // namespace infer::formats
