// Which prefixes of which texts lie in pages already: sealed pages under the chained hash of their runs of 32 ids.
//
//   key ──hash──► run 0 ──hash──► run 1 ──hash──► run 2          each run: its ids, and of every group its page
//                    └──────────► run 1'
//
// Hazards: only sealed pages enter, those whose 32 positions are all committed: nobody writes to them any more. The
// index holds a reference to each, so that they outlive the sequence that computed them; a page that only the index
// holds is given back when room is needed. Hashes are not trusted: a hit compares the ids themselves, and the run
// before.
#pragma once

#include <cstdint>
#include <list>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/core/ids.h"
#include "engine/plan/kv_layout.h"
#include "engine/plan/page_source.h"
#include "engine/plan/plan.h"
#include "engine/plan/sequence.h"

namespace infer::memory {

/// All that stored keys and values depend on beside the ids, and the salt that keeps strangers apart.
struct prefix_key {
  std::uint64_t adapter = 0;
  std::uint64_t rope_variant = 0;
  std::uint64_t salt = 0;  // per API key: nobody learns by timing what another has asked
  plan::kv_type keys = plan::kv_type::f16, values = plan::kv_type::f16;
  std::uint32_t numerics_version = plan::numerics_version;
  friend bool operator==(const prefix_key&, const prefix_key&) = default;
};

struct hash_128 {
  std::uint64_t low = 0, high = 0;
  friend bool operator==(const hash_128&, const hash_128&) = default;
};
using hash_fn = hash_128 (*)(const void* bytes, std::size_t size);
/// XXH3.
hash_128 hash_of(const void* bytes, std::size_t size);

struct prefix_hit {
  std::uint32_t length = 0;                     // whole pages
  std::vector<std::vector<page_index>> tables;  // of each group, as `sequence::attach` takes them
};

struct prefix_counts {
  std::uint64_t hits = 0, misses = 0;  // of look-ups
  std::uint64_t hit_positions = 0, evicted_pages = 0;
};

/// Threads: one owner at a time, the same as its pages'.
class prefix_index {
 public:
  /// `pages` must outlive the index.
  prefix_index(plan::page_source& pages, std::vector<plan::state_group> groups, hash_fn hash = hash_of);
  ~prefix_index();
  prefix_index(const prefix_index&) = delete;
  prefix_index& operator=(const prefix_index&) = delete;

  /// The longest kept prefix of `ids` from which a sequence can go on in every group, at most `at_most` positions.
  /// A use, but not counted. The pages stay where they are only until the next `evict`: share them.
  prefix_hit find(const prefix_key& key, std::span<const token_id> ids, std::uint32_t at_most);
  /// Counts a look-up whose result was taken: a hit, or a miss where it is empty.
  void count(const prefix_hit& taken);
  /// The length that `find` would answer; not a use.
  std::uint32_t match(const prefix_key& key, std::span<const token_id> ids, std::uint32_t at_most) const;

  /// Keeps the sealed pages of `from` that hold the first of `ids`, no more than there are ids for. Where a run is kept
  /// already `from` takes that page in place of its own equal one.
  void insert(const prefix_key& key, std::span<const token_id> ids, plan::sequence& from);

  /// Gives back the page of `group` that only the index holds and that was used longest ago. False: there is none.
  bool evict(std::uint32_t group);
  /// How often `evict` would succeed.
  std::uint32_t evictable(std::uint32_t group) const;
  std::uint32_t pages(std::uint32_t group) const;
  const prefix_counts& counts() const { return counts_; }

 private:
  struct run {
    prefix_key key;
    hash_128 hash;
    run* before = nullptr;
    std::uint32_t after = 0;  // runs that follow it
    token_id ids[plan::page_positions];
    std::vector<page_index> pages;  // of each group; `no_page` where not kept
  };
  struct take_low {
    std::size_t operator()(const hash_128& h) const { return static_cast<std::size_t>(h.low); }
  };
  using run_list = std::list<run>;

  hash_128 root_hash(const prefix_key& key) const;
  hash_128 next_hash(const hash_128& before, std::span<const token_id> ids) const;
  /// The kept runs of `ids`, at most `most` of them.
  std::vector<run*> chain(const prefix_key& key, std::span<const token_id> ids, std::size_t most) const;
  /// How many runs of the chain a sequence can start from.
  std::size_t restorable(std::span<run* const> chain) const;
  void use(std::span<run* const> chain);
  bool is_windowed(std::uint32_t group) const { return groups_[group].kind == plan::state_kind::windowed; }
  bool is_droppable(const run& r, std::uint32_t group) const;
  void drop(run_list::iterator at);

  plan::page_source& source_;
  std::vector<plan::state_group> groups_;
  hash_fn hash_;
  run_list runs_;  // used longest ago last; of one chain the later runs come after the earlier ones
  std::unordered_map<hash_128, run_list::iterator, take_low> by_hash_;
  prefix_counts counts_;
};

}  // namespace infer::memory
