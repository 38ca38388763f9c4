// What can be set in a chat: how tokens are picked, how many, whether the model thinks, what is shown.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/messages/streams.h"

namespace infer::apps {

/// Whether the template is told to let the model think; `automatic` leaves it to the template.
enum class think_mode : std::uint8_t { automatic, on, off };

struct chat_settings {
  msg::sampling sampling;
  std::int64_t seed = -1;        // below 0: a fresh one for each answer
  std::int64_t max_tokens = -1;  // below 0: as many as fit
  think_mode think = think_mode::automatic;
  bool stats = true, history = true;

  /// Changes one of them. Empty, or a sentence that says what is wrong.
  std::string set(std::string_view name, std::string_view value);
  /// The value of one of them; empty where there is none of this name.
  std::string get(std::string_view name) const;
};

/// All names, in the order in which they are shown.
std::vector<std::string_view> setting_names();
/// What `name` means and takes.
std::string_view setting_help(std::string_view name);

/// on, off and auto. False: none of them.
bool read_think(std::string_view text, think_mode& out);

}  // namespace infer::apps
