// String operations that filters and methods share, with their cost accounted for.
#pragma once

#include <optional>
#include <vector>

#include "engine/templates/budget.h"
#include "engine/templates/evaluated.h"
#include "engine/templates/text.h"
#include "engine/templates/value.h"

namespace infer::templates {

/// `of` without leading and trailing white space, or characters of `set` where it is given.
text strip(const text& of, const text* set, bool left, bool right);

/// Python's str.replace; a negative count means all.
evaluated<text> replace(budget& spent, const text& of, const text& from, const text& to, std::int64_t count);

/// Python's str.split and rsplit: at white space where `separator` is null; at most `count` cuts if not negative.
/// Errors: evaluation, for an empty separator.
evaluated<std::vector<text>> split(budget& spent, const text& of, const text* separator, std::int64_t count,
                                   bool from_right);

/// Lines, without their ends unless asked.
std::vector<text> split_lines(const text& of, bool keep_ends);

/// `of` as markup: & < > ' " become entities, of their byte's provenance; nothing changes where it is markup already.
evaluated<text> escaped(budget& spent, const text& of);

/// Python's str.join over texts.
evaluated<text> join(budget& spent, const text& separator, const std::vector<text>& parts);

/// Python's str.format.
evaluated<text> format(budget& spent, const text& pattern, const std::vector<value>& positional,
                       const std::vector<std::pair<std::string, value>>& named);

}  // namespace infer::templates
