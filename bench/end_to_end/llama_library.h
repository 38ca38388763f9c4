// llama.cpp's shared libraries through their plain C interface, opened at run time: the program that ours is measured
// against.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace infer::bench {

/// One model in one context, at default settings but for the number of threads and the context.
/// Errors of every function: std::runtime_error.
/// Threads: one caller; the library computes on `threads` threads of its own.
class llama_library {
 public:
  /// `folder` holds the libraries of npm's @node-llama-cpp/linux-x64 (bins/linux-x64).
  llama_library(const std::filesystem::path& folder, const std::filesystem::path& model, std::uint32_t context,
                std::uint32_t threads);
  ~llama_library();
  llama_library(const llama_library&) = delete;
  llama_library& operator=(const llama_library&) = delete;

  /// The version in the library's file name, and the CPU back end that it chose.
  std::string description() const;
  std::uint32_t vocabulary() const { return vocabulary_; }

  std::vector<std::int32_t> tokenize(std::string_view text) const;
  std::string piece_of(std::int32_t id) const;

  /// Forgets all positions.
  void clear();
  /// Feeds ids in batches of at most 512 and waits for the last one's logits; returns the most likely next id.
  std::int32_t feed(std::span<const std::int32_t> ids);
  /// Puts its threads to sleep until it is fed again: after work they would spin, and disturb who comes next.
  void rest();
  /// As `feed`, without looking at the logits but for one.
  void feed_blindly(std::span<const std::int32_t> ids);

 private:
  struct functions;
  std::unique_ptr<functions> call_;
  void* model_ = nullptr;
  void* context_ = nullptr;
  void* pool_ = nullptr;
  const void* vocab_ = nullptr;
  std::uint32_t vocabulary_ = 0;
};

}  // namespace infer::bench
