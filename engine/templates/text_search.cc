// The C library's linear search, which also looks from the right where both strings are turned around.
#include "engine/templates/text_search.h"

#include <algorithm>
#include <cstring>

namespace infer::templates {
namespace {

constexpr std::size_t npos = std::string_view::npos;

std::string turned(std::string_view bytes) {
  return std::string(bytes.rbegin(), bytes.rend());
}

}  // namespace

std::size_t find_first(std::string_view in, std::string_view part, std::size_t from) {
  if (from > in.size()) return npos;
  if (part.empty()) return from;
  const void* found = ::memmem(in.data() + from, in.size() - from, part.data(), part.size());
  return found == nullptr ? npos : static_cast<std::size_t>(static_cast<const char*>(found) - in.data());
}

std::size_t find_last(std::string_view in, std::string_view part) {
  if (part.size() <= 1) return in.rfind(part);
  const std::size_t found = find_first(turned(in), turned(part));
  return found == npos ? npos : in.size() - found - part.size();
}

std::size_t count_occurrences(std::string_view in, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = find_first(in, part, at)) != npos; at += part.size()) ++count;
  return count;
}

std::vector<std::size_t> occurrences(std::string_view in, std::string_view part, std::size_t most, bool from_right) {
  std::vector<std::size_t> found;
  if (from_right) {
    found = occurrences(turned(in), turned(part), most, false);
    for (std::size_t& at : found) at = in.size() - at - part.size();
    std::reverse(found.begin(), found.end());
    return found;
  }
  for (std::size_t at = 0; found.size() < most && (at = find_first(in, part, at)) != npos; at += part.size())
    found.push_back(at);
  return found;
}

}  // namespace infer::templates
