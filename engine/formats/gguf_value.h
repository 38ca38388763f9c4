// One typed metadata value of a GGUF file.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/formats/byte_cursor.h"
#include "engine/formats/metadata.h"

namespace infer::formats {

/// GGUF's numbers of value types.
enum class value_type : std::uint32_t {
  u8 = 0,
  i8 = 1,
  u16 = 2,
  i16 = 3,
  u32 = 4,
  i32 = 5,
  f32 = 6,
  boolean = 7,
  string = 8,
  array = 9,
  u64 = 10,
  i64 = 11,
  f64 = 12,
};

/// Longest array that is read. (The largest vocabularies have a few hundred thousand entries.)
inline constexpr std::uint64_t most_array_elements = std::uint64_t{1} << 26;

/// Reads a u32 type and the value that follows; widened as `metadata_value` says.
/// Errors:  malformed (unknown type, impossible length, a bool other than 0 or 1), truncated, unsupported (arrays of
///          arrays, arrays beyond `most_array_elements`); the sentence names the file and the key.
result<metadata_value> read_value(byte_cursor& from, std::string_view key);

}  // namespace infer::formats
