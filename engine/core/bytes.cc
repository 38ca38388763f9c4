// Byte amounts for people.
#include "engine/core/bytes.h"

#include <array>
#include <cstdio>

namespace infer {

std::string format_bytes(std::uint64_t bytes) {
  static constexpr std::array<const char*, 5> units{"B", "KiB", "MiB", "GiB", "TiB"};
  double amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (amount >= 1024 && unit + 1 < units.size()) {
    amount /= 1024;
    ++unit;
  }
  std::array<char, 32> text{};
  const int digits = unit == 0 || amount >= 100 ? 0 : amount >= 10 ? 1 : 2;
  std::snprintf(text.data(), text.size(), "%.*f %s", digits, amount, units[unit]);
  return text.data();
}

}  // namespace infer
