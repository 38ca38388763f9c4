// Text from outside, made fit for a sentence that a person reads.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace infer::formats {

/// `text` in double quotes, control bytes and bytes that are not UTF-8 as escapes, cut after `limit` bytes at a
/// character's edge ("…" then follows inside the quotes).
std::string quote(std::string_view text, std::size_t limit = 80);

}  // namespace infer::formats
