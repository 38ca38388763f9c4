// One line of progress, as long as the terminal is wide.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace infer::apps {

struct progress {
  std::uint64_t bytes = 0, of_bytes = 0;
  double bytes_per_second = 0;  // 0: not known
  std::string file;             // in work

  std::uint64_t percent() const { return of_bytes == 0 ? 100 : bytes * 100 / of_bytes; }
};

/// "1.20 GiB of 4.00 GiB  30%  12.00 MiB/s  3m58s left", as far as it is known.
std::string progress_text(const progress& p);

/// A bar, progress_text and the file's name in at most `columns` columns. What does not fit is left out: first the
/// middle of the name, then a part of the bar, the name, the bar, the rate, the time left.
std::string progress_line(const progress& p, std::size_t columns);

/// The columns of the terminal `file`; 80 where it does not say.
std::size_t columns_of(int file);

}  // namespace infer::apps
