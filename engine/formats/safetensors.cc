// Eight bytes of length, a JSON object, the data.
#include "engine/formats/safetensors.h"

#include <algorithm>
#include <boost/json.hpp>
#include <optional>
#include <utility>

#include "engine/formats/fault.h"
#include "engine/formats/foreign_file.h"
#include "engine/formats/quote.h"

namespace infer::formats {
namespace {

namespace json = boost::json;

std::optional<tensor_type> type_named(std::string_view dtype) {
  constexpr std::pair<std::string_view, tensor_type> types[] = {
      {"F32", tensor_type::f32}, {"F16", tensor_type::f16}, {"BF16", tensor_type::bf16}, {"F64", tensor_type::f64},
      {"I8", tensor_type::i8},   {"U8", tensor_type::i8},   {"BOOL", tensor_type::i8},   {"I16", tensor_type::i16},
      {"U16", tensor_type::i16}, {"I32", tensor_type::i32}, {"U32", tensor_type::i32},   {"I64", tensor_type::i64},
      {"U64", tensor_type::i64},
  };
  for (const auto& [name, type] : types)
    if (name == dtype) return type;
  return std::nullopt;
}

/// What is wrong with an entry, to follow its name.
using problem = std::optional<std::string>;

const json::value* member(const json::object& object, const char* name) {
  return object.if_contains(name);
}

problem read_shape(const json::object& entry, safetensors_entry& into) {
  tensor_info& info = into.info;
  const json::value* shape = member(entry, "shape");
  if (shape == nullptr || !shape->is_array()) return "has no shape";
  const json::array& axes = shape->get_array();
  const std::size_t most = info.shape.size();
  if (axes.size() > most) into.fault = "has " + std::to_string(axes.size()) + " axes; at most 4 are supported";
  info.rank = static_cast<std::uint32_t>(std::min(axes.size(), most));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const json::value& axis = axes[axes.size() - 1 - i];  // the file has the slowest axis first
    if (!axis.is_int64() || axis.get_int64() < 0) return std::string("has a shape that is not a list of counts");
    std::uint64_t& length = info.shape[std::min(i, most - 1)];
    if (__builtin_mul_overflow(length, static_cast<std::uint64_t>(axis.get_int64()), &length))
      return std::string("has a shape that is too large");
  }
  return std::nullopt;
}

/// `sized`: the bytes must be those of the shape.
problem read_place(const json::object& entry, std::uint64_t data_bytes, bool sized, tensor_info& info) {
  const json::value* offsets = member(entry, "data_offsets");
  if (offsets == nullptr || !offsets->is_array() || offsets->get_array().size() != 2)
    return "has no pair of data_offsets";
  const json::value& begin = offsets->get_array()[0];
  const json::value& end = offsets->get_array()[1];
  if (!begin.is_int64() || !end.is_int64() || begin.get_int64() < 0 || end.get_int64() < begin.get_int64())
    return "has data_offsets that are not a range";
  info.offset = static_cast<std::uint64_t>(begin.get_int64());
  info.bytes = static_cast<std::uint64_t>(end.get_int64()) - info.offset;
  if (static_cast<std::uint64_t>(end.get_int64()) > data_bytes)
    return "ends at byte " + std::to_string(end.get_int64()) + " of " + std::to_string(data_bytes) +
           " bytes of data; the file is incomplete";
  if (!sized) return std::nullopt;
  std::uint64_t bytes = info_of(info.type).block_bytes;
  for (const std::uint64_t axis : info.shape)
    if (__builtin_mul_overflow(bytes, axis, &bytes)) return "has a shape that is too large";
  if (bytes != info.bytes)
    return "takes " + std::to_string(info.bytes) + " bytes where its shape asks for " + std::to_string(bytes);
  return std::nullopt;
}

problem read_entry(const json::value& value, std::uint64_t data_bytes, safetensors_entry& into) {
  if (!value.is_object()) return "is not described by an object";
  const json::object& entry = value.get_object();
  const json::value* dtype = member(entry, "dtype");
  if (dtype == nullptr || !dtype->is_string()) return "has no dtype";
  const std::string_view name(dtype->get_string().data(), dtype->get_string().size());
  const auto type = type_named(name);
  into.info.type = type.value_or(tensor_type::i8);
  if (auto wrong = read_shape(entry, into)) return wrong;
  if (!type)
    into.fault = "has the type " + quote(name) + ", which is not supported; use a checkpoint in F32, F16 or BF16";
  return read_place(entry, data_bytes, type.has_value(), into.info);
}

/// Checks that the tensors lie one behind the other and fill the data.
problem check_cover(std::vector<const safetensors_entry*> by_offset, std::uint64_t data_bytes) {
  std::ranges::sort(by_offset, {}, [](const safetensors_entry* e) { return std::pair(e->info.offset, e->info.bytes); });
  std::uint64_t at = 0;
  for (const safetensors_entry* entry : by_offset) {
    if (entry->info.offset != at)
      return "the tensor " + quote(entry->name) + " begins at byte " + std::to_string(entry->info.offset) +
             " where the one before it ends at " + std::to_string(at);
    at += entry->info.bytes;
  }
  if (at != data_bytes)
    return "the tensors take " + std::to_string(at) + " bytes of " + std::to_string(data_bytes) + " bytes of data";
  return std::nullopt;
}

}  // namespace

result<std::vector<safetensors_entry>> parse_safetensors(byte_view file, std::string_view file_name) {
  const std::string name(file_name);
  constexpr std::uint64_t length_bytes = 8;
  if (file.size() <= length_bytes)
    return fail(fault::truncated, name + ": the file has " + std::to_string(file.size()) + " bytes and no header");
  const auto header_bytes = load_le<std::uint64_t>(file.data());
  if (header_bytes > most_safetensors_header_bytes || file[length_bytes] != std::byte{'{'})
    return fail(fault::not_a_model, name + ": " + describe_foreign(file, wanted_format::safetensors));
  if (header_bytes > file.size() - length_bytes)
    return fail(fault::truncated, name + ": the header takes " + std::to_string(header_bytes) +
                                      " bytes, but the file ends before; download it again");
  const std::string_view text(reinterpret_cast<const char*>(file.data()) + length_bytes, header_bytes);
  boost::system::error_code wrong;
  const json::value root = json::parse({text.data(), text.size()}, wrong);
  if (wrong) return fail(fault::malformed, name + ": the header is not JSON: " + wrong.message());
  if (!root.is_object()) return fail(fault::malformed, name + ": the header is not a JSON object");
  const std::uint64_t data_bytes = file.size() - length_bytes - header_bytes;
  std::vector<safetensors_entry> out;
  for (const auto& member : root.get_object()) {
    const std::string_view key(member.key().data(), member.key().size());
    if (key == "__metadata__") continue;
    safetensors_entry entry{std::string(key), {}, {}};
    if (auto why = read_entry(member.value(), data_bytes, entry))
      return fail(fault::malformed, name + ": the tensor " + quote(key) + " " + *why);
    out.push_back(std::move(entry));
  }
  std::vector<const safetensors_entry*> by_offset;
  for (const safetensors_entry& entry : out) by_offset.push_back(&entry);
  if (auto why = check_cover(std::move(by_offset), data_bytes)) return fail(fault::malformed, name + ": " + *why);
  for (safetensors_entry& entry : out) entry.info.offset += length_bytes + header_bytes;
  return out;
}

}  // namespace infer::formats
