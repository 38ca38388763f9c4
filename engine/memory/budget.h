// The account of memory: what may be used, what is, and by what. Grants are synchronous; waiting is the ledger's.
//
//   free ──try_take──► lease ──destructor──► free
//   free ──earmark──► set aside for a claim ──take_earmarked──► lease
//
// Hazards: a lease lives inside the owner of the memory and must end after the memory is unmapped, never before.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace infer::memory {

enum class memory_kind : std::uint8_t { weights, load_transient, scratch, kv, prompt_cache, buffers, count_ };

std::string_view name_of(memory_kind kind);

class budget;

/// Bytes that are taken until this object ends. Move-only.
class memory_lease {
 public:
  memory_lease() = default;
  memory_lease(memory_lease&& other) noexcept;
  memory_lease& operator=(memory_lease&& other) noexcept;
  ~memory_lease();

  std::uint64_t bytes() const { return bytes_; }
  memory_kind kind() const { return kind_; }

 private:
  friend class budget;
  memory_lease(std::shared_ptr<budget> owner, memory_kind kind, std::uint64_t bytes)
      : owner_(std::move(owner)), kind_(kind), bytes_(bytes) {}

  std::shared_ptr<budget> owner_;
  memory_kind kind_ = memory_kind::weights;
  std::uint64_t bytes_ = 0;
};

struct budget_numbers {
  std::uint64_t total = 0, free = 0, earmarked = 0;
  std::uint64_t awaited = 0;  // by claims in line
  /// Free bytes that no claim waits for.
  std::uint64_t spare() const { return free > awaited ? free - awaited : 0; }
  std::array<std::uint64_t, static_cast<std::size_t>(memory_kind::count_)> taken{};
};

/// Threads: any. Lives in a shared_ptr: leases keep it.
class budget : public std::enable_shared_from_this<budget> {
 public:
  static std::shared_ptr<budget> make(std::uint64_t total_bytes);

  /// Takes `bytes`, or nothing where they are not free.
  std::optional<memory_lease> try_take(memory_kind kind, std::uint64_t bytes);

  /// As `try_take`, but leaves alone what claims wait for: for what can do with less.
  std::optional<memory_lease> try_take_spare(memory_kind kind, std::uint64_t bytes);
  /// Says how many bytes claims wait for.
  void set_awaited(std::uint64_t bytes);

  /// Sets `bytes` aside for a claim; false where they are not free.
  bool earmark(std::uint64_t claim_id, std::uint64_t bytes);
  /// Turns part of a claim's earmark into a lease; nothing where the earmark is gone or smaller.
  std::optional<memory_lease> take_earmarked(std::uint64_t claim_id, memory_kind kind, std::uint64_t bytes);
  /// Gives back what is left of an earmark; returns how much that was.
  std::uint64_t drop_earmark(std::uint64_t claim_id);

  budget_numbers numbers() const;

  /// Called without the lock, on whichever thread freed bytes, whenever some became free.
  void on_freed(std::function<void(std::uint64_t)> listener);

 private:
  friend class memory_lease;
  explicit budget(std::uint64_t total) { numbers_.total = numbers_.free = total; }
  void give_back(memory_kind kind, std::uint64_t bytes);
  void notify(std::uint64_t bytes);

  mutable std::mutex mutex_;
  budget_numbers numbers_;
  std::unordered_map<std::uint64_t, std::uint64_t> earmarks_;
  std::function<void(std::uint64_t)> listener_;
};

}  // namespace infer::memory
