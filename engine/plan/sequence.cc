// Growing, going back and forking.
#include "engine/plan/sequence.h"

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>

namespace infer::plan {
namespace {

constexpr state_group one_paged_group{};

}  // namespace

sequence::sequence(page_source& source, std::uint32_t context) : sequence(source, {&one_paged_group, 1}, context) {}

sequence::sequence(page_source& source, std::span<const state_group> groups, std::uint32_t context)
    : source_(&source), context_(context), kinds_(groups.begin(), groups.end()) {
  groups_.reserve(groups.size());
  for (std::uint32_t group = 0; group < groups.size(); ++group) {
    if (groups[group].kind == state_kind::recurrent)
      groups_.emplace_back(recurrent_state(source, group));
    else
      groups_.emplace_back(
          position_pages(source, group, groups[group].kind == state_kind::windowed ? groups[group].window : 0));
  }
}

std::span<const page_index> sequence::pages(std::uint32_t group) const {
  return std::visit([](const auto& state) { return state.table(); }, groups_[group]);
}

/// Windowed groups take no more than the step needs: what lies further ahead would push out what is still seen.
std::uint32_t sequence::needs(std::uint32_t group, std::uint32_t more, std::uint32_t ahead) const {
  if (const auto* recurrent = std::get_if<recurrent_state>(&groups_[group]))
    return more == 0 ? 0 : recurrent->fresh_needed();
  const bool windowed = kinds_[group].kind == state_kind::windowed;
  const std::uint32_t most = std::min(std::max(more, windowed ? 0 : ahead), context_ - length_);
  return std::get<position_pages>(groups_[group]).fresh_needed(length_, most);
}

result<void> sequence::reserve(std::uint32_t more, std::uint32_t ahead) {
  if (more > context_ - length_) {
    return fail(fault::past_context, "the sequence holds " + std::to_string(length_) + " positions and cannot take " +
                                         std::to_string(more) + " more in a context of " + std::to_string(context_));
  }
  std::vector<page_index> fresh;
  for (std::uint32_t group = 0; group < groups(); ++group) {
    for (std::uint32_t needed = needs(group, more, ahead); needed > 0; --needed) {
      const auto page = source_->take(group);
      if (!page) {
        for (const page_index taken : fresh) source_->release(taken);
        return fail(fault::no_pages);
      }
      fresh.push_back(*page);
    }
  }
  std::span<const page_index> rest(fresh);
  for (std::uint32_t group = 0; group < groups(); ++group) {
    const auto part = rest.first(needs(group, more, ahead));
    rest = rest.subspan(part.size());
    if (auto* recurrent = std::get_if<recurrent_state>(&groups_[group]))
      recurrent->extend(part);
    else
      std::get<position_pages>(groups_[group]).extend(length_, part);
  }
  return success();
}

bool sequence::has_room(std::uint32_t more) const {
  if (more > context_ - length_) return false;
  for (std::uint32_t group = 0; group < groups(); ++group) {
    if (needs(group, more) != 0) return false;
  }
  return true;
}

void sequence::commit(std::uint32_t more) {
  length_ += more;
  for (group_state& group : groups_) {
    if (auto* recurrent = std::get_if<recurrent_state>(&group))
      recurrent->commit();
    else
      std::get<position_pages>(group).commit(length_);
  }
}

std::uint32_t sequence::restorable_now(std::uint32_t at_most) const {
  std::uint32_t cut = std::min(at_most, length_);
  for (const group_state& group : groups_) {
    if (const auto* pages = std::get_if<position_pages>(&group))
      cut = pages->restorable(cut);
    else if (cut < length_)
      cut = 0;
  }
  return cut;
}

std::uint32_t sequence::restorable(std::uint32_t at_most) const {
  std::uint32_t cut = restorable_now(at_most);
  for (const saved_state& saved : checkpoints_) {
    if (saved.length <= at_most) cut = std::max(cut, saved.length);
  }
  return cut;
}

sequence::group_state sequence::fork_of(const group_state& state, std::uint32_t at) {
  if (const auto* pages = std::get_if<position_pages>(&state)) return pages->fork(at);
  recurrent_state out = std::get<recurrent_state>(state).fork();
  if (at == 0) out.clear();
  return out;
}

std::uint32_t sequence::truncate(std::uint32_t to) {
  const std::uint32_t cut = restorable(to);
  const bool direct = restorable_now(cut) == cut;
  const auto saved = std::ranges::find(checkpoints_, cut, &saved_state::length);
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    if (!direct && saved->groups[group]) {
      groups_[group] = fork_of(*saved->groups[group], cut);
    } else if (auto* pages = std::get_if<position_pages>(&groups_[group])) {
      pages->truncate(cut);
    } else if (cut == 0) {
      std::get<recurrent_state>(groups_[group]).clear();
    }
  }
  length_ = cut;
  std::erase_if(checkpoints_, [&](const saved_state& s) { return s.length > cut; });
  return cut;
}

result<sequence> sequence::fork(std::uint32_t at) const {
  if (at > length_ || restorable(at) != at) {
    return fail(fault::not_restorable, "a sequence of " + std::to_string(length_) + " positions cannot fork at " +
                                           std::to_string(at) + "; the nearest below is " +
                                           std::to_string(restorable(at)));
  }
  const bool direct = restorable_now(at) == at;
  const auto saved = std::ranges::find(checkpoints_, at, &saved_state::length);
  sequence out(*source_, kinds_, context_);
  out.length_ = at;
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    const bool from_saved = !direct && saved->groups[group];
    out.groups_[group] = fork_of(from_saved ? *saved->groups[group] : groups_[group], at);
  }
  return out;
}

void sequence::checkpoint() {
  if (std::ranges::find(checkpoints_, length_, &saved_state::length) != checkpoints_.end()) return;
  saved_state saved{length_, {}};
  bool anything = false;
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    const bool moves_on = kinds_[group].kind == state_kind::windowed || kinds_[group].kind == state_kind::recurrent;
    saved.groups.emplace_back(moves_on ? std::optional(fork_of(groups_[group], length_)) : std::nullopt);
    anything |= moves_on;
  }
  if (!anything || length_ == 0) return;
  if (checkpoints_.size() == max_checkpoints) checkpoints_.erase(checkpoints_.begin());
  checkpoints_.push_back(std::move(saved));
}

void sequence::attach(std::uint32_t length, std::span<const std::vector<page_index>> tables) {
  assert(length_ == 0 && tables.size() == groups_.size() && "an empty sequence takes one table for each group");
  truncate(0);
  for (std::size_t group = 0; group < tables.size(); ++group) {
    for (const page_index page : tables[group]) {
      if (page != no_page) source_->share(page);
    }
    if (auto* pages = std::get_if<position_pages>(&groups_[group]))
      pages->adopt(tables[group]);
    else if (!tables[group].empty())
      std::get<recurrent_state>(groups_[group]).adopt(tables[group].front());
  }
  length_ = length;
}

void sequence::replace(std::uint32_t group, std::size_t at, page_index page) {
  std::get<position_pages>(groups_[group]).replace(at, page);
}

}  // namespace infer::plan
