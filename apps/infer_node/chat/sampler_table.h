// The numbers that say how tokens are picked: one row each, for flags and for the settings of a chat.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "protocol/messages/streams.h"

namespace infer::apps {

struct sampler_number {
  std::string_view name;  // of the setting
  std::string_view flag;  // with its dashes
  std::variant<msg::f32_bits msg::sampling::*, std::uint32_t msg::sampling::*, std::int32_t msg::sampling::*,
               std::uint8_t msg::sampling::*>
      member;
  double low = 0, high = 0;  // both included
  std::string_view help;

  bool is_whole() const { return member.index() != 0; }
  double value_of(const msg::sampling& sampling) const;
  /// `value` lies in the range and is whole where the member is.
  void set(msg::sampling& sampling, double value) const;
  /// The present value as short as it can be read back.
  std::string text_of(const msg::sampling& sampling) const;
};

std::span<const sampler_number> sampler_numbers();

/// The shortest text of a float.
std::string short_text(float value);

}  // namespace infer::apps
