// Packed matrices: panels of 16 rows that SIMD lanes walk side by side, in records of whole 64-byte lines.
//
//   panel  = records along the columns; a lane of a vector is a row, a 32-bit lane holds 4 neighbouring columns
//   g32    : record of 64 columns  = codes of 32 | codes of 32 | d of each | m of each
//   g256   : record of 256 columns = codes | integer scales | d (| dmin)
//   floats : column after column, 16 rows each
//
// Packing is lossless: what the file says comes back to the bit. The last panel is padded with rows of zero scale, the
// last record with columns that nothing reads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/core/bytes.h"
#include "engine/core/tensor_type.h"

namespace infer::quant {

/// How the bytes of a matrix lie.
enum class pack_kind : std::uint8_t {
  rows,   // row after row, as files have them
  r16k4,  // the panels described above
};

inline constexpr std::uint32_t panel_rows = 16;

/// Record geometry of a type. Offsets inside a record are fixed by the type:
///   q4_0  512 codes | 64 d               q4_1  512 codes | 64 d | 64 m      q5_0  512 codes | 128 fifth bits | 64 d
///   q8_0  1024 codes + 128 | 64 d        q4_k  2048 codes | 128 sc | 128 mn | 32 d | 32 dmin
///   q6_k  8 × (256 low | 128 high) | 256 sc | 32 d | 32 nothing
/// Types without a layout of their own keep a byte for each code:
///   g32   1024 codes | 128 d | 128 m as f32                        q5_1, iq4_nl, mxfp4
///   g256  4096 codes | 256 sc | 256 mn | 32 d | 32 dmin            q2_k, q3_k, q5_k, iq4_xs
/// with 128 added where codes may be negative.
/// Nibbles: byte (v·16 + row)·4 + j of a 32-column group holds column 4v + j low and column 16 + 4v + j high.
/// Fifth bits: a 32-bit lane per row, bit 8j + v for column 4v + j. High pairs of q6_k: bits 2v of byte j for column 4v
/// + j of a run of 16. sc and mn of q4_k: per pair of neighbouring runs of 32, a byte pair per row.
struct record_format {
  std::uint32_t columns;
  std::uint32_t bytes;
};
/// Whether the codes of a supported quantized type are packed as one byte each for want of a layout of their own.
bool packs_as_bytes(tensor_type type) noexcept;
record_format record_format_of(tensor_type type) noexcept;

/// Bytes of one panel, a multiple of 64.
std::size_t panel_bytes(tensor_type type, std::uint32_t columns) noexcept;
/// Bytes of a whole packed matrix.
std::size_t packed_bytes(tensor_type type, std::uint32_t rows, std::uint32_t columns) noexcept;

/// Packs 16 rows, each a run of the file's blocks; a null row is padding.
/// Shapes: out [panel_bytes], all of it written.
void pack_panel(tensor_type type, const std::array<const std::byte*, panel_rows>& rows, std::uint32_t columns,
                std::byte* out);

/// A whole matrix of the file's rows in panels: what tests and benches multiply; programs pack panel by panel.
/// Shapes: bytes [rows, row bytes]; out [packed_bytes].
std::vector<std::byte> pack_matrix(tensor_type type, byte_view bytes, std::uint32_t rows, std::uint32_t columns);

/// The f32 values of columns [from, from + count) of one row of a panel: the same bits as `dequantize`. `from` is a
/// multiple of 256, `count` of a block.
void unpack_panel_row(tensor_type type, const std::byte* panel, std::uint32_t lane, std::uint32_t from,
                      std::uint32_t count, float* out);

}  // namespace infer::quant
