// UTF-8 stepping by Unicode's table 3-7.
#include "engine/tokenize/utf8.h"

#include <cstdint>
#include <cstring>

namespace infer::tokenize {

utf8_step utf8_first(std::string_view bytes) noexcept {
  using kind = utf8_step::kind;
  const auto at = [&](std::size_t i) { return static_cast<std::uint8_t>(bytes[i]); };
  const std::uint8_t lead = at(0);
  if (lead < 0x80) return {kind::character, 1};
  if (lead < 0xC2 || lead > 0xF4) return {kind::invalid, 1};
  const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  std::uint8_t low = 0x80, high = 0xBF;  // bounds of the second byte; narrower after four leads
  if (lead == 0xE0) low = 0xA0;
  if (lead == 0xED) high = 0x9F;
  if (lead == 0xF0) low = 0x90;
  if (lead == 0xF4) high = 0x8F;
  for (std::size_t i = 1; i < length; ++i) {
    if (i == bytes.size()) return {kind::incomplete, i};
    if (at(i) < low || at(i) > high) return {kind::invalid, i};
    low = 0x80;
    high = 0xBF;
  }
  return {kind::character, length};
}

bool utf8_valid(std::string_view bytes) noexcept {
  std::size_t i = 0;
  while (i < bytes.size()) {
    std::uint64_t eight;
    if (bytes.size() - i >= sizeof eight) {  // eight ASCII bytes at a time
      std::memcpy(&eight, bytes.data() + i, sizeof eight);
      if ((eight & 0x8080808080808080u) == 0) {
        i += sizeof eight;
        continue;
      }
    }
    const utf8_step step = utf8_first(bytes.substr(i));
    if (step.what != utf8_step::kind::character) return false;
    i += step.length;
  }
  return true;
}

}  // namespace infer::tokenize
