// The trie of special texts: children are linked lists, since only the first level is ever wide.
#include "engine/tokenize/special_texts.h"

namespace infer::tokenize {

special_texts::special_texts() : nodes_(1) {}

std::int32_t special_texts::find_child(std::int32_t parent, char byte) const {
  std::int32_t at = nodes_[parent].child;
  while (at >= 0 && nodes_[at].byte != byte) at = nodes_[at].sibling;
  return at;
}

void special_texts::add(std::string_view text, token_id id, bool restricted) {
  if (text.empty()) return;
  starts_[static_cast<std::uint8_t>(text.front())] = true;
  std::int32_t at = 0;
  for (const char byte : text) {
    std::int32_t next = find_child(at, byte);
    if (next < 0) {
      next = static_cast<std::int32_t>(nodes_.size());
      nodes_.push_back(node{.sibling = nodes_[at].child, .byte = byte});
      nodes_[at].child = next;
    }
    at = next;
  }
  if (nodes_[at].id >= 0) return;
  nodes_[at].id = id;
  nodes_[at].restricted = restricted;
}

std::optional<special_texts::match> special_texts::longest(std::string_view text, std::size_t at,
                                                           std::size_t allowed_end) const {
  std::optional<match> best;
  std::int32_t where = 0;
  for (std::size_t i = at; i < text.size(); ++i) {
    where = find_child(where, text[i]);
    if (where < 0) break;
    const node& here = nodes_[where];
    if (here.id >= 0 && (!here.restricted || i + 1 <= allowed_end)) best = match{here.id, i + 1 - at};
  }
  return best;
}

}  // namespace infer::tokenize
