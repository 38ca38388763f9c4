// One anonymous mapping that asks for huge pages: packed weights are read from end to end for every token.
#pragma once

#include <cstddef>

#include "engine/core/result.h"

namespace infer::memory {

/// Zeroed, aligned to 2 MiB. Threads: as plain memory. Memory: touched page by page as it is written.
class huge_buffer {
 public:
  /// Errors: the system refuses the mapping.
  static result<huge_buffer> make(std::size_t bytes);

  huge_buffer() = default;
  huge_buffer(huge_buffer&& other) noexcept;
  huge_buffer& operator=(huge_buffer&& other) noexcept;
  ~huge_buffer();

  std::byte* data() { return data_; }
  std::size_t size() const { return size_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::byte* mapping_ = nullptr;
  std::size_t mapped_ = 0;
};

}  // namespace infer::memory
