// Where a string stands in another, in time of both lengths added: templates may search as they like.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace infer::templates {

/// The offset of the first occurrence of `part` that begins at `from` or behind it; npos where there is none. An empty
/// part is everywhere.
std::size_t find_first(std::string_view in, std::string_view part, std::size_t from = 0);

/// The offset of the last occurrence.
std::size_t find_last(std::string_view in, std::string_view part);

/// How many occurrences that do not overlap there are, from the left. `part` is not empty.
std::size_t count_occurrences(std::string_view in, std::string_view part);

/// Their offsets, ascending; those found first from the left or from the right, at most `most`. `part` is not empty.
std::vector<std::size_t> occurrences(std::string_view in, std::string_view part, std::size_t most, bool from_right);

}  // namespace infer::templates
