// The weight table: what each weight of a plan is and where its bytes lie before an executor packs them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/core/bytes.h"
#include "engine/core/tensor_type.h"
#include "engine/plan/plan.h"

namespace infer::plan {

/// How the rows of a matrix in the file relate to the canonical order.
/// `pairs_to_halves`: of each head the first d rows, those that rope turns, lie as (0, d/2, 1, d/2+1, …), as GGUF
/// stores q and k of some families; the rest of the head follows as it is.
enum class row_order : std::uint8_t { canonical, pairs_to_halves };

/// One weight: a matrix [rows, columns] (row-major, blocks along columns) or a vector [columns].
struct weight_source {
  std::string name;
  tensor_type type{};
  std::uint32_t rows = 1;
  std::uint32_t columns = 0;
  byte_view bytes;
  row_order order = row_order::canonical;
  std::uint32_t head_dim = 0;     // rows per head where `order` is not canonical
  std::uint32_t paired_rows = 0;  // and those of them that lie in pairs
  // Runs of `run_rows` rows begin `run_stride` rows of the file apart; 0: all rows lie together.
  std::uint32_t run_rows = 0, run_stride = 0;
  // The file has [columns, rows]: elements from one of its rows to the next; 0: it has [rows, columns]. Floats alone.
  std::uint32_t transposed_stride = 0;
  float plus = 0;  // of a vector: added to every value
  placement place = placement::resident;
};

struct weight_table {
  std::vector<weight_source> weights;
  std::shared_ptr<const void> owner;  // keeps the bytes mapped
  /// Lets the system take back pages of weights that were packed; empty where bytes are no mapped file.
  std::function<void(byte_view)> drop;
};

/// The row of the file that holds canonical row `row`.
/// The first d q and k rows of a head may lie in the file as pairs: file row 2i is canonical row i, 2i+1 is i + d/2.
inline std::uint32_t file_row(const weight_source& weight, std::uint32_t row) {
  if (weight.run_rows != 0) return row / weight.run_rows * weight.run_stride + row % weight.run_rows;
  if (weight.order == row_order::canonical) return row;
  const std::uint32_t head = row / weight.head_dim;
  const std::uint32_t inside = row % weight.head_dim;
  if (inside >= weight.paired_rows) return row;
  const std::uint32_t half = weight.paired_rows / 2;
  return head * weight.head_dim + (inside < half ? 2 * inside : 2 * (inside - half) + 1);
}

}  // namespace infer::plan
