// The switch over value types, once for scalars and once for arrays.
#include "engine/formats/gguf_value.h"

#include <utility>
#include <vector>

namespace infer::formats {
namespace {

auto unknown_type(const byte_cursor& from, const place& where, std::uint32_t type) {
  return from.error_at(fault::malformed, where.text() + " has the unknown value type " + std::to_string(type) +
                                             " (0 to 12 are known); the file is damaged");
}

auto bad_bool(const byte_cursor& from, const place& where, unsigned value) {
  return from.error_at(fault::malformed, where.text() + " holds a bool of " + std::to_string(value) +
                                             " where only 0 and 1 are possible; the file is damaged");
}

template <class Wide, class Stored>
result<metadata_value> scalar(byte_cursor& from, const place& where) {
  INFER_TRY(const auto value, from.number<Stored>(where));
  return metadata_value(static_cast<Wide>(value));
}

result<metadata_value> boolean(byte_cursor& from, const place& where) {
  INFER_TRY(const auto value, from.number<std::uint8_t>(where));
  if (value > 1) return bad_bool(from, where, value);
  return metadata_value(value == 1);
}

template <class Wide, class Stored>
result<metadata_value> numbers(byte_cursor& from, std::uint64_t count, const place& where) {
  INFER_TRYV(from.fits(count, sizeof(Stored), "elements", where));
  std::vector<Wide> values(count);
  for (Wide& value : values) value = static_cast<Wide>(from.unchecked_number<Stored>());
  return metadata_value(std::move(values));
}

result<metadata_value> booleans(byte_cursor& from, std::uint64_t count, const place& where) {
  INFER_TRYV(from.fits(count, 1, "elements", where));
  std::vector<std::uint64_t> values(count);
  for (std::uint64_t& value : values) {
    value = from.unchecked_number<std::uint8_t>();
    if (value > 1) return bad_bool(from, where, static_cast<unsigned>(value));
  }
  return metadata_value(std::move(values));
}

result<metadata_value> strings(byte_cursor& from, std::uint64_t count, const place& where) {
  INFER_TRYV(from.fits(count, sizeof(std::uint64_t), "strings", where));
  std::vector<std::string_view> values(count);
  for (std::string_view& value : values) {
    INFER_TRY(value, from.string(where));
  }
  return metadata_value(std::move(values));
}

result<metadata_value> array(byte_cursor& from, const place& where) {
  INFER_TRY(const auto type, from.number<std::uint32_t>(where));
  INFER_TRY(const auto count, from.number<std::uint64_t>(where));
  if (count > most_array_elements && count <= from.file_bytes()) {
    return from.error_at(fault::unsupported, where.text() + " holds an array of " + std::to_string(count) +
                                                 " elements; at most " + std::to_string(most_array_elements) +
                                                 " are read");
  }
  switch (static_cast<value_type>(type)) {
    case value_type::u8:
      return numbers<std::uint64_t, std::uint8_t>(from, count, where);
    case value_type::i8:
      return numbers<std::int64_t, std::int8_t>(from, count, where);
    case value_type::u16:
      return numbers<std::uint64_t, std::uint16_t>(from, count, where);
    case value_type::i16:
      return numbers<std::int64_t, std::int16_t>(from, count, where);
    case value_type::u32:
      return numbers<std::uint64_t, std::uint32_t>(from, count, where);
    case value_type::i32:
      return numbers<std::int64_t, std::int32_t>(from, count, where);
    case value_type::u64:
      return numbers<std::uint64_t, std::uint64_t>(from, count, where);
    case value_type::i64:
      return numbers<std::int64_t, std::int64_t>(from, count, where);
    case value_type::f32:
      return numbers<float, float>(from, count, where);
    case value_type::f64:
      return numbers<float, double>(from, count, where);
    case value_type::boolean:
      return booleans(from, count, where);
    case value_type::string:
      return strings(from, count, where);
    case value_type::array:
      return from.error_at(fault::unsupported, where.text() + " holds an array of arrays, which is not read");
  }
  return unknown_type(from, where, type);
}

}  // namespace

result<metadata_value> read_value(byte_cursor& from, std::string_view key) {
  const place where{"the metadata key", key};
  INFER_TRY(const auto type, from.number<std::uint32_t>(where));
  switch (static_cast<value_type>(type)) {
    case value_type::u8:
      return scalar<std::uint64_t, std::uint8_t>(from, where);
    case value_type::i8:
      return scalar<std::int64_t, std::int8_t>(from, where);
    case value_type::u16:
      return scalar<std::uint64_t, std::uint16_t>(from, where);
    case value_type::i16:
      return scalar<std::int64_t, std::int16_t>(from, where);
    case value_type::u32:
      return scalar<std::uint64_t, std::uint32_t>(from, where);
    case value_type::i32:
      return scalar<std::int64_t, std::int32_t>(from, where);
    case value_type::u64:
      return scalar<std::uint64_t, std::uint64_t>(from, where);
    case value_type::i64:
      return scalar<std::int64_t, std::int64_t>(from, where);
    case value_type::f32:
      return scalar<double, float>(from, where);
    case value_type::f64:
      return scalar<double, double>(from, where);
    case value_type::boolean:
      return boolean(from, where);
    case value_type::string: {
      INFER_TRY(const auto text, from.string(where));
      return metadata_value(text);
    }
    case value_type::array:
      return array(from, where);
  }
  return unknown_type(from, where, type);
}

}  // namespace infer::formats
