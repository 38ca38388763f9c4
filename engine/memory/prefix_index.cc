// Look-up, insertion and eviction of runs.
#include "engine/memory/prefix_index.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace infer::memory {

using plan::no_page;
using plan::page_positions;

hash_128 hash_of(const void* bytes, std::size_t size) {
  const XXH128_hash_t h = XXH3_128bits(bytes, size);
  return {h.low64, h.high64};
}

prefix_index::prefix_index(plan::page_source& pages, std::vector<plan::state_group> groups, hash_fn hash)
    : source_(pages), groups_(std::move(groups)), hash_(hash) {}

prefix_index::~prefix_index() {
  for (const run& r : runs_) {
    for (const page_index page : r.pages) {
      if (page != no_page) source_.release(page);
    }
  }
}

hash_128 prefix_index::root_hash(const prefix_key& key) const {
  const std::uint64_t fields[] = {key.adapter,
                                  key.rope_variant,
                                  key.salt,
                                  static_cast<std::uint64_t>(key.keys),
                                  static_cast<std::uint64_t>(key.values),
                                  key.numerics_version};
  return hash_(fields, sizeof fields);
}

hash_128 prefix_index::next_hash(const hash_128& before, std::span<const token_id> ids) const {
  struct {
    hash_128 before;
    token_id ids[page_positions];
  } link;
  link.before = before;
  std::ranges::copy(ids.first(page_positions), link.ids);
  return hash_(&link, sizeof link);
}

std::vector<prefix_index::run*> prefix_index::chain(const prefix_key& key, std::span<const token_id> ids,
                                                    std::size_t most) const {
  std::vector<run*> out;
  hash_128 hash = root_hash(key);
  most = std::min(most, ids.size() / page_positions);
  while (out.size() < most) {
    const auto part = ids.subspan(out.size() * page_positions, page_positions);
    hash = next_hash(hash, part);
    const auto at = by_hash_.find(hash);
    if (at == by_hash_.end()) break;
    run& r = *at->second;
    run* const before = out.empty() ? nullptr : out.back();
    if (r.before != before || r.key != key || !std::ranges::equal(r.ids, part)) break;
    out.push_back(&r);
  }
  return out;
}

std::size_t prefix_index::restorable(std::span<run* const> chain) const {
  std::size_t best = 0;
  std::vector<std::size_t> whole_from(groups_.size(), 0);  // pages [whole_from, n) are all kept
  for (std::size_t n = 1; n <= chain.size(); ++n) {
    bool every = true;
    for (std::uint32_t group = 0; group < groups_.size(); ++group) {
      const plan::state_group& kind = groups_[group];
      if (chain[n - 1]->pages[group] == no_page) whole_from[group] = n;
      const std::uint32_t window = is_windowed(group) ? kind.window : 0;
      const std::size_t seen = plan::first_page_seen(static_cast<std::uint32_t>(n) * page_positions, window);
      every = every && kind.kind != plan::state_kind::recurrent && whole_from[group] <= seen;
    }
    if (every) best = n;
  }
  return best;
}

/// The earlier runs of a chain end up nearer to the front: what follows goes first.
void prefix_index::use(std::span<run* const> chain) {
  for (std::size_t n = chain.size(); n-- > 0;) runs_.splice(runs_.begin(), runs_, by_hash_.at(chain[n]->hash));
}

std::uint32_t prefix_index::match(const prefix_key& key, std::span<const token_id> ids, std::uint32_t at_most) const {
  return static_cast<std::uint32_t>(restorable(chain(key, ids, at_most / page_positions))) * page_positions;
}

prefix_hit prefix_index::find(const prefix_key& key, std::span<const token_id> ids, std::uint32_t at_most) {
  auto found = chain(key, ids, at_most / page_positions);
  found.resize(restorable(found));
  prefix_hit out;
  out.length = static_cast<std::uint32_t>(found.size()) * page_positions;
  use(found);
  for (std::uint32_t group = 0; group < groups_.size(); ++group) {
    const std::uint32_t window = is_windowed(group) ? groups_[group].window : 0;
    std::vector<page_index> table(found.size(), no_page);
    for (std::size_t n = plan::first_page_seen(out.length, window); n < found.size(); ++n)
      table[n] = found[n]->pages[group];
    out.tables.push_back(std::move(table));
  }
  return out;
}

void prefix_index::count(const prefix_hit& taken) {
  ++(taken.length == 0 ? counts_.misses : counts_.hits);
  counts_.hit_positions += taken.length;
}

void prefix_index::insert(const prefix_key& key, std::span<const token_id> ids, plan::sequence& from) {
  const std::size_t sealed = std::min<std::size_t>(from.length(), ids.size()) / page_positions;
  std::vector<run*> kept = chain(key, ids.first(sealed * page_positions), sealed);
  hash_128 hash = kept.empty() ? root_hash(key) : kept.back()->hash;
  for (std::size_t n = 0; n < sealed; ++n) {
    if (n == kept.size()) {
      const auto part = ids.subspan(n * page_positions, page_positions);
      hash = next_hash(hash, part);
      if (by_hash_.contains(hash)) break;  // another text has this hash: it stays
      run& r = runs_.emplace_front();
      r.key = key;
      r.hash = hash;
      r.before = kept.empty() ? nullptr : kept.back();
      if (r.before != nullptr) ++r.before->after;
      std::ranges::copy(part, r.ids);
      r.pages.assign(groups_.size(), no_page);
      by_hash_.emplace(hash, runs_.begin());
      kept.push_back(&r);
    }
    for (std::uint32_t group = 0; group < groups_.size(); ++group) {
      if (groups_[group].kind == plan::state_kind::recurrent) continue;
      page_index& page = kept[n]->pages[group];
      const page_index own = from.pages(group)[n];
      if (own == no_page || own == page) continue;
      if (page == no_page)
        source_.share(page = own);
      else
        from.replace(group, n, page);
    }
  }
  use(kept);
}

/// Pages of groups that keep everything go with their run, those of a windowed group alone.
bool prefix_index::is_droppable(const run& r, std::uint32_t group) const {
  return r.pages[group] != no_page && !source_.is_shared(r.pages[group]) && (is_windowed(group) || r.after == 0);
}

void prefix_index::drop(run_list::iterator at) {
  for (const page_index page : at->pages) {
    if (page == no_page) continue;
    source_.release(page);
    ++counts_.evicted_pages;
  }
  if (at->before != nullptr) --at->before->after;
  by_hash_.erase(at->hash);
  runs_.erase(at);
}

bool prefix_index::evict(std::uint32_t group) {
  for (auto at = runs_.end(); at != runs_.begin();) {
    --at;
    if (!is_droppable(*at, group)) continue;
    if (is_windowed(group)) {
      source_.release(std::exchange(at->pages[group], no_page));
      ++counts_.evicted_pages;
    } else {
      drop(at);
    }
    return true;
  }
  return false;
}

std::uint32_t prefix_index::evictable(std::uint32_t group) const {
  // Whoever holds a run's page holds those before it, so that a run that only the index holds has only such after it.
  return static_cast<std::uint32_t>(std::ranges::count_if(
      runs_, [&](const run& r) { return r.pages[group] != no_page && !source_.is_shared(r.pages[group]); }));
}

std::uint32_t prefix_index::pages(std::uint32_t group) const {
  return static_cast<std::uint32_t>(
      std::ranges::count_if(runs_, [&](const run& r) { return r.pages[group] != no_page; }));
}

}  // namespace infer::memory
