// Rows to panels and back.
#include "engine/quant/packed.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "engine/core/bytes.h"
#include "engine/core/half.h"
#include "engine/quant/unpack.h"

namespace infer::quant {
namespace {

constexpr std::size_t line = 64;

void put32(std::byte* at, std::uint32_t value) {
  std::memcpy(at, &value, sizeof value);
}

/// Fifth bits of 32 columns, column i at bit i, to bit 8·(i mod 4) + i/4.
std::uint32_t spread_fifth_bits(std::uint32_t bits) {
  std::uint32_t out = 0;
  for (std::uint32_t j = 0; j < 4; ++j) {
    std::uint32_t x = (bits >> j) & 0x11111111u;
    x = (x | x >> 3) & 0x03030303u;
    x = (x | x >> 6) & 0x000f000fu;
    x = (x | x >> 12) & 0xffu;
    out |= x << (8 * j);
  }
  return out;
}

/// Codes of 32 columns, a byte each, to one lane. `bias` makes them unsigned.
void put_bytes(const std::int8_t* q, int bias, std::uint32_t lane, std::byte* out) {
  for (std::size_t i = 0; i < 32; ++i)
    out[i / 4 * line + lane * 4 + i % 4] = static_cast<std::byte>(static_cast<unsigned>(q[i] + bias) & 255u);
}

void get_bytes(const std::byte* from, int bias, std::uint32_t lane, std::int8_t* q) {
  for (std::size_t i = 0; i < 32; ++i) {
    const int code = std::to_integer<int>(from[i / 4 * line + lane * 4 + i % 4]);
    q[i] = static_cast<std::int8_t>(code - bias);
  }
}

/// What is added to codes that are packed as bytes: those of types with a minimum are not negative.
int byte_bias(tensor_type type) {
  return has_minimum(type) ? 0 : 128;
}

void pack_g32_bytes(tensor_type type, const std::byte* block, std::uint32_t half, std::uint32_t lane,
                    std::byte* record) {
  g32_block b;
  unpack_g32(type, block, b);
  put_bytes(b.q.data(), byte_bias(type), lane, record + half * 512);
  std::memcpy(record + 1024 + half * line + lane * 4, &b.d, 4);
  std::memcpy(record + 1152 + half * line + lane * 4, &b.m, 4);
}

void pack_g256_bytes(tensor_type type, const std::byte* block, std::uint32_t lane, std::byte* record) {
  g256_block b;
  unpack_g256(type, block, b);
  for (std::size_t run = 0; run < 8; ++run) put_bytes(b.q.data() + 32 * run, byte_bias(type), lane, record + 512 * run);
  for (std::size_t sub = 0; sub < g256_subs; ++sub) {
    record[4096 + sub * 16 + lane] = static_cast<std::byte>(b.sc[sub]);
    record[4352 + sub * 16 + lane] = static_cast<std::byte>(b.mn[sub]);
  }
  const std::uint16_t d = f32_to_f16(b.d), dmin = f32_to_f16(b.dmin);
  std::memcpy(record + 4608 + lane * 2, &d, 2);
  std::memcpy(record + 4640 + lane * 2, &dmin, 2);
}

/// One block of a g32 type to its lane of group `half` of a record.
void pack_g32(tensor_type type, const std::byte* block, std::uint32_t half, std::uint32_t lane, std::byte* record) {
  switch (type) {
    case tensor_type::q4_0:
    case tensor_type::q4_1:
    case tensor_type::q5_0: {
      const std::size_t head = type == tensor_type::q4_0 ? 2 : type == tensor_type::q4_1 ? 4 : 6;
      for (std::size_t v = 0; v < 4; ++v)
        std::memcpy(record + half * 256 + v * line + lane * 4, block + head + v * 4, 4);
      std::size_t scales = 512;
      if (type == tensor_type::q5_0) {
        put32(record + 512 + half * line + lane * 4, spread_fifth_bits(load_le<std::uint32_t>(block + 2)));
        scales = 640;
      }
      std::memcpy(record + scales + half * 32 + lane * 2, block, 2);
      if (type == tensor_type::q4_1) std::memcpy(record + 576 + half * 32 + lane * 2, block + 2, 2);
      return;
    }
    case tensor_type::q8_0:
      for (std::size_t v = 0; v < 8; ++v)
        put32(record + half * 512 + v * line + lane * 4, load_le<std::uint32_t>(block + 2 + v * 4) ^ 0x80808080u);
      std::memcpy(record + 1024 + half * 32 + lane * 2, block, 2);
      return;
    default:
      pack_g32_bytes(type, block, half, lane, record);
  }
}

/// Codes of 32 columns, 0 to 15, as nibbles of one lane.
void put_nibbles(const std::uint8_t* q, std::uint32_t lane, std::byte* out) {
  for (std::size_t v = 0; v < 4; ++v) {
    const auto low = load_le<std::uint32_t>(q + 4 * v), high = load_le<std::uint32_t>(q + 16 + 4 * v);
    put32(out + v * line + lane * 4, low | high << 4);
  }
}

void pack_q4_k(const std::byte* block, std::uint32_t lane, std::byte* record) {
  g256_block b;
  unpack_q4_k(block, b);
  std::array<std::uint8_t, g256_elements> q;
  std::memcpy(q.data(), b.q.data(), q.size());
  for (std::size_t sub = 0; sub < 8; ++sub) {
    put_nibbles(q.data() + 32 * sub, lane, record + 256 * sub);
    record[2048 + sub / 2 * 32 + lane * 2 + sub % 2] = static_cast<std::byte>(b.sc[2 * sub]);
    record[2176 + sub / 2 * 32 + lane * 2 + sub % 2] = static_cast<std::byte>(b.mn[2 * sub]);
  }
  std::memcpy(record + 2304 + lane * 2, block, 2);
  std::memcpy(record + 2336 + lane * 2, block + 2, 2);
}

void pack_q6_k(const std::byte* block, std::uint32_t lane, std::byte* record) {
  g256_block b;
  unpack_q6_k(block, b);
  std::array<std::uint8_t, g256_elements> low, high;
  for (std::size_t i = 0; i < g256_elements; ++i) {
    const auto code = static_cast<std::uint8_t>(b.q[i] + 32);
    low[i] = code & 15;
    high[i] = code >> 4;
  }
  for (std::size_t sub = 0; sub < 8; ++sub) {
    std::byte* at = record + 384 * sub;
    put_nibbles(low.data() + 32 * sub, lane, at);
    for (std::size_t run = 0; run < 2; ++run) {
      const std::uint8_t* h = high.data() + 32 * sub + 16 * run;
      std::uint32_t lanes = 0;
      for (std::size_t v = 0; v < 4; ++v) lanes |= load_le<std::uint32_t>(h + 4 * v) << (2 * v);
      put32(at + 256 + run * line + lane * 4, lanes);
    }
    for (std::size_t run = 0; run < 2; ++run)
      record[3072 + (2 * sub + run) * 16 + lane] = static_cast<std::byte>(b.sc[2 * sub + run]);
  }
  std::memcpy(record + 3328 + lane * 2, block + 208, 2);
}

void pack_g256(tensor_type type, const std::byte* block, std::uint32_t lane, std::byte* record) {
  switch (type) {
    case tensor_type::q4_k:
      return pack_q4_k(block, lane, record);
    case tensor_type::q6_k:
      return pack_q6_k(block, lane, record);
    default:
      pack_g256_bytes(type, block, lane, record);
  }
}

/// The codes of one lane of a nibble group, 0 to 15.
void get_nibbles(const std::byte* from, std::uint32_t lane, std::int8_t* q) {
  for (std::size_t v = 0; v < 4; ++v) {
    for (std::size_t j = 0; j < 4; ++j) {
      const int both = std::to_integer<int>(from[v * line + lane * 4 + j]);
      q[4 * v + j] = static_cast<std::int8_t>(both & 15);
      q[16 + 4 * v + j] = static_cast<std::int8_t>(both >> 4);
    }
  }
}

float half_at(const std::byte* at) {
  return f16_to_f32(load_le<std::uint16_t>(at));
}

void unpack_g32_lane(tensor_type type, const std::byte* record, std::uint32_t half, std::uint32_t lane,
                     g32_block& out) {
  if (packs_as_bytes(type)) {
    get_bytes(record + half * 512, byte_bias(type), lane, out.q.data());
    std::memcpy(&out.d, record + 1024 + half * line + lane * 4, 4);
    std::memcpy(&out.m, record + 1152 + half * line + lane * 4, 4);
    return;
  }
  out.m = 0;
  if (type == tensor_type::q8_0) {
    for (std::size_t i = 0; i < g32_elements; ++i) {
      const int code = std::to_integer<int>(record[half * 512 + i / 4 * line + lane * 4 + i % 4]);
      out.q[i] = static_cast<std::int8_t>(code - 128);
    }
    out.d = half_at(record + 1024 + half * 32 + lane * 2);
    return;
  }
  get_nibbles(record + half * 256, lane, out.q.data());
  if (type == tensor_type::q5_0) {
    const auto bits = load_le<std::uint32_t>(record + 512 + half * line + lane * 4);
    for (std::size_t i = 0; i < g32_elements; ++i) {
      const int fifth = static_cast<int>((bits >> (8 * (i % 4) + i / 4)) & 1u);
      out.q[i] = static_cast<std::int8_t>(out.q[i] + 16 * fifth - 16);
    }
    out.d = half_at(record + 640 + half * 32 + lane * 2);
    return;
  }
  if (type == tensor_type::q4_0) {
    for (auto& q : out.q) q = static_cast<std::int8_t>(q - 8);
  } else {
    out.m = half_at(record + 576 + half * 32 + lane * 2);
  }
  out.d = half_at(record + 512 + half * 32 + lane * 2);
}

void unpack_g256_lane(tensor_type type, const std::byte* record, std::uint32_t lane, g256_block& out) {
  if (packs_as_bytes(type)) {
    for (std::size_t run = 0; run < 8; ++run)
      get_bytes(record + 512 * run, byte_bias(type), lane, out.q.data() + 32 * run);
    for (std::size_t sub = 0; sub < g256_subs; ++sub) {
      out.sc[sub] = static_cast<std::int8_t>(record[4096 + sub * 16 + lane]);
      out.mn[sub] = static_cast<std::int8_t>(record[4352 + sub * 16 + lane]);
    }
    out.d = half_at(record + 4608 + lane * 2);
    out.dmin = half_at(record + 4640 + lane * 2);
    return;
  }
  const bool q4 = type == tensor_type::q4_k;
  for (std::size_t sub = 0; sub < 8; ++sub) {
    const std::byte* at = record + (q4 ? 256 : 384) * sub;
    std::int8_t* q = out.q.data() + 32 * sub;
    get_nibbles(at, lane, q);
    if (q4) {
      const std::size_t pair = sub / 2 * 32 + lane * 2 + sub % 2;
      out.sc[2 * sub] = out.sc[2 * sub + 1] = static_cast<std::int8_t>(record[2048 + pair]);
      out.mn[2 * sub] = out.mn[2 * sub + 1] = static_cast<std::int8_t>(record[2176 + pair]);
      continue;
    }
    for (std::size_t i = 0; i < 32; ++i) {
      const int pairs = std::to_integer<int>(at[256 + i / 16 * line + lane * 4 + i % 4]);
      q[i] = static_cast<std::int8_t>((q[i] | ((pairs >> (2 * (i % 16 / 4))) & 3) << 4) - 32);
    }
    for (std::size_t run = 0; run < 2; ++run)
      out.sc[2 * sub + run] = static_cast<std::int8_t>(record[3072 + (2 * sub + run) * 16 + lane]);
  }
  out.d = half_at(record + (q4 ? 2304 : 3328) + lane * 2);
  out.dmin = q4 ? half_at(record + 2336 + lane * 2) : 0.0f;
  if (!q4) out.mn.fill(0);
}

}  // namespace

record_format record_format_of(tensor_type type) noexcept {
  switch (type) {
    case tensor_type::q4_0:
      return {64, 576};
    case tensor_type::q4_1:
      return {64, 640};
    case tensor_type::q5_0:
      return {64, 704};
    case tensor_type::q8_0:
      return {64, 1088};
    case tensor_type::q4_k:
      return {256, 2368};
    case tensor_type::q6_k:
      return {256, 3392};
    case tensor_type::f32:
      return {1, 64};
    case tensor_type::f16:
    case tensor_type::bf16:
      return {2, 64};
    default:
      return form_of(type) == canonical_form::g32 ? record_format{64, 1280} : record_format{256, 4672};
  }
}

bool packs_as_bytes(tensor_type type) noexcept {
  switch (type) {
    case tensor_type::q5_1:
    case tensor_type::iq4_nl:
    case tensor_type::mxfp4:
    case tensor_type::q2_k:
    case tensor_type::q3_k:
    case tensor_type::q5_k:
    case tensor_type::iq4_xs:
      return true;
    default:
      return false;
  }
}

std::size_t panel_bytes(tensor_type type, std::uint32_t columns) noexcept {
  const record_format f = record_format_of(type);
  return std::size_t{(columns + f.columns - 1) / f.columns} * f.bytes;
}

std::size_t packed_bytes(tensor_type type, std::uint32_t rows, std::uint32_t columns) noexcept {
  return (std::size_t{rows} + panel_rows - 1) / panel_rows * panel_bytes(type, columns);
}

void pack_panel(tensor_type type, const std::array<const std::byte*, panel_rows>& rows, std::uint32_t columns,
                std::byte* out) {
  const record_format f = record_format_of(type);
  const canonical_form form = form_of(type);
  const std::size_t bytes = panel_bytes(type, columns);
  const bool ragged = std::ranges::find(rows, nullptr) != rows.end();
  if (ragged || columns % f.columns != 0 || type == tensor_type::q6_k) std::memset(out, 0, bytes);
  for (std::uint32_t lane = 0; lane < panel_rows; ++lane) {
    const std::byte* row = rows[lane];
    if (row == nullptr) continue;
    if (form == canonical_form::floating) {
      const std::size_t size = info_of(type).block_bytes;
      for (std::uint32_t k = 0; k < columns; ++k)
        std::memcpy(out + (std::size_t{k} * panel_rows + lane) * size, row + k * size, size);
    } else if (form == canonical_form::g32) {
      const std::size_t block = info_of(type).block_bytes;
      for (std::uint32_t group = 0; group < columns / g32_elements; ++group)
        pack_g32(type, row + group * block, group % 2, lane, out + std::size_t{group / 2} * f.bytes);
    } else {
      const std::size_t block = info_of(type).block_bytes;
      for (std::uint32_t group = 0; group < columns / g256_elements; ++group)
        pack_g256(type, row + group * block, lane, out + std::size_t{group} * f.bytes);
    }
  }
}

std::vector<std::byte> pack_matrix(tensor_type type, byte_view bytes, std::uint32_t rows, std::uint32_t columns) {
  std::vector<std::byte> out(packed_bytes(type, rows, columns));
  const std::size_t row_bytes = bytes.size() / rows, stride = panel_bytes(type, columns);
  for (std::uint32_t row = 0; row < rows; row += panel_rows) {
    std::array<const std::byte*, panel_rows> from{};
    for (std::uint32_t lane = 0; lane < panel_rows && row + lane < rows; ++lane)
      from[lane] = bytes.data() + (row + lane) * row_bytes;
    pack_panel(type, from, columns, out.data() + row / panel_rows * stride);
  }
  return out;
}

void unpack_panel_row(tensor_type type, const std::byte* panel, std::uint32_t lane, std::uint32_t from,
                      std::uint32_t count, float* out) {
  const record_format f = record_format_of(type);
  const bool minimum = has_minimum(type);
  switch (form_of(type)) {
    case canonical_form::floating: {
      const std::size_t size = info_of(type).block_bytes;
      for (std::uint32_t i = 0; i < count; ++i) {
        const std::byte* at = panel + (std::size_t{from + i} * panel_rows + lane) * size;
        out[i] = type == tensor_type::f32   ? load_le<float>(at)
                 : type == tensor_type::f16 ? f16_to_f32(load_le<std::uint16_t>(at))
                                            : bf16_to_f32(load_le<std::uint16_t>(at));
      }
      return;
    }
    case canonical_form::g32:
      for (std::uint32_t i = 0; i < count; i += g32_elements) {
        g32_block b;
        const std::uint32_t group = (from + i) / g32_elements;
        unpack_g32_lane(type, panel + std::size_t{group / 2} * f.bytes, group % 2, lane, b);
        for (std::uint32_t j = 0; j < g32_elements; ++j) {
          const float value = b.d * static_cast<float>(b.q[j]);
          out[i + j] = minimum ? value + b.m : value;
        }
      }
      return;
    case canonical_form::g256:
      for (std::uint32_t i = 0; i < count; i += g256_elements) {
        g256_block b;
        unpack_g256_lane(type, panel + std::size_t{(from + i) / g256_elements} * f.bytes, lane, b);
        for (std::uint32_t j = 0; j < g256_elements; ++j) {
          const std::uint32_t sub = j / g256_sub_elements;
          const float value = (b.d * static_cast<float>(b.sc[sub])) * static_cast<float>(b.q[j]);
          out[i + j] = minimum ? value - b.dmin * static_cast<float>(b.mn[sub]) : value;
        }
      }
      return;
  }
}

}  // namespace infer::quant
