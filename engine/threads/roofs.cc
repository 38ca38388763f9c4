// Measured roofs.
#include "engine/threads/roofs.h"

#include <sys/mman.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <new>
#include <thread>

namespace infer::threads {
namespace {

using clock = std::chrono::steady_clock;

void pause() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

double seconds_since(clock::time_point start) {
  return std::chrono::duration<double>(clock::now() - start).count();
}

/// Runs `work(thread)` on `threads` threads, the caller among them, from a common start; returns the seconds of the
/// slowest.
double run_together(std::uint32_t threads, const std::function<void(std::uint32_t)>& work) {
  std::atomic<std::uint32_t> ready{0};
  std::atomic<bool> go{false};
  std::vector<std::thread> team;
  for (std::uint32_t thread = 1; thread < threads; ++thread) {
    team.emplace_back([&, thread] {
      ++ready;
      while (!go.load(std::memory_order_acquire)) pause();
      work(thread);
    });
  }
  while (ready.load() + 1 < threads) pause();
  const auto start = clock::now();
  go.store(true, std::memory_order_release);
  work(0);
  for (std::thread& t : team) t.join();
  return seconds_since(start);
}

std::atomic<std::uint64_t> sink{0};

#if defined(__x86_64__)
__attribute__((target("avx512f"))) std::uint64_t read_zmm(const std::byte* p, std::size_t bytes) {
  __m512i sum[4] = {};
  for (std::size_t at = 0; at < bytes; at += 512) {
    for (std::size_t line = 0; line < 8; ++line) {
      _mm_prefetch(reinterpret_cast<const char*>(p + at + 4096 + line * 64), _MM_HINT_T0);
      sum[line % 4] = _mm512_xor_si512(sum[line % 4], _mm512_load_si512(p + at + line * 64));
    }
  }
  alignas(64) std::uint64_t lanes[8];
  _mm512_store_si512(lanes, _mm512_xor_si512(_mm512_xor_si512(sum[0], sum[1]), _mm512_xor_si512(sum[2], sum[3])));
  return lanes[0] + lanes[7];
}

__attribute__((target("avx2"))) std::uint64_t read_ymm(const std::byte* p, std::size_t bytes) {
  __m256i sum[4] = {};
  for (std::size_t at = 0; at < bytes; at += 256) {
    for (std::size_t half = 0; half < 8; ++half) {
      if (half % 2 == 0) _mm_prefetch(reinterpret_cast<const char*>(p + at + 4096 + half * 32), _MM_HINT_T0);
      sum[half % 4] =
          _mm256_xor_si256(sum[half % 4], _mm256_load_si256(reinterpret_cast<const __m256i*>(p + at + half * 32)));
    }
  }
  alignas(32) std::uint64_t lanes[4];
  _mm256_store_si256(reinterpret_cast<__m256i*>(lanes),
                     _mm256_xor_si256(_mm256_xor_si256(sum[0], sum[1]), _mm256_xor_si256(sum[2], sum[3])));
  return lanes[0] + lanes[1] + lanes[2] + lanes[3];
}

#endif

std::uint64_t read_plain(const std::byte* p, std::size_t bytes) {
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at < bytes; at += 8) {
    std::uint64_t value;
    std::memcpy(&value, p + at, 8);
    sum ^= value;
  }
  return sum;
}

auto fastest_read() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return read_zmm;
  if (__builtin_cpu_supports("avx2")) return read_ymm;
#endif
  return read_plain;
}

constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t slack = 2 * huge_page;  // for alignment, and for prefetches past the end

#if defined(__x86_64__)
// Twelve independent accumulators: enough for the latency of every instruction here.
#define INFER_TWELVE(instruction, kind)                                                                              \
  asm volatile(instruction " %%" kind "14,%%" kind "15,%%" kind "0\n\t" instruction " %%" kind "14,%%" kind          \
                           "15,%%" kind "1\n\t" instruction " %%" kind "14,%%" kind "15,%%" kind "2\n\t" instruction \
                           " %%" kind "14,%%" kind "15,%%" kind "3\n\t" instruction " %%" kind "14,%%" kind          \
                           "15,%%" kind "4\n\t" instruction " %%" kind "14,%%" kind "15,%%" kind "5\n\t" instruction \
                           " %%" kind "14,%%" kind "15,%%" kind "6\n\t" instruction " %%" kind "14,%%" kind          \
                           "15,%%" kind "7\n\t" instruction " %%" kind "14,%%" kind "15,%%" kind "8\n\t" instruction \
                           " %%" kind "14,%%" kind "15,%%" kind "9\n\t" instruction " %%" kind "14,%%" kind          \
                           "15,%%" kind "10\n\t" instruction " %%" kind "14,%%" kind "15,%%" kind "11"               \
               :                                                                                                     \
               :                                                                                                     \
               : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11")

/// Clears every vector register, so that no accumulator holds a subnormal number.
void zero_registers() {
  asm volatile("vzeroall"
               :
               :
               : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
                 "xmm12", "xmm13", "xmm14", "xmm15");
}

void dot_zmm(std::uint64_t turns) {
  zero_registers();
  for (; turns > 0; --turns) INFER_TWELVE("vpdpbusd", "zmm");
}
void dot_ymm(std::uint64_t turns) {
  zero_registers();
  for (; turns > 0; --turns) INFER_TWELVE("vpdpbusd", "ymm");
}
void fma_zmm(std::uint64_t turns) {
  zero_registers();
  for (; turns > 0; --turns) INFER_TWELVE("vfmadd231ps", "zmm");
}
void fma_ymm(std::uint64_t turns) {
  zero_registers();
  for (; turns > 0; --turns) INFER_TWELVE("vfmadd231ps", "ymm");
}
#undef INFER_TWELVE

/// What stands in for the dot without VNNI: two multiplies and an add for 32 products.
void dot_maddubs(std::uint64_t turns) {
  zero_registers();
  for (; turns > 0; --turns) {
#define INFER_MADD(sum, temporary)                                                                       \
  "vpmaddubsw %%ymm14,%%ymm15,%%ymm" temporary "\n\tvpmaddwd %%ymm13,%%ymm" temporary ",%%ymm" temporary \
  "\n\tvpaddd %%ymm" temporary ",%%ymm" sum ",%%ymm" sum "\n\t"
    asm volatile(INFER_MADD("0", "6") INFER_MADD("1", "7") INFER_MADD("2", "8") INFER_MADD("3", "9")
                     INFER_MADD("4", "10") INFER_MADD("5", "11")
                 :
                 :
                 : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11");
#undef INFER_MADD
  }
}

#endif

}  // namespace

read_roof::read_roof(std::uint32_t threads, std::size_t bytes_per_thread)
    : bytes_((bytes_per_thread + huge_page - 1) / huge_page * huge_page), parts_(threads) {
  for (std::byte*& part : parts_) {
    void* memory = mmap(nullptr, bytes_ + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    madvise(memory, bytes_ + slack, MADV_HUGEPAGE);
    part = static_cast<std::byte*>(memory);
  }
  run_together(threads, [&](std::uint32_t thread) { std::memset(parts_[thread], 1, bytes_ + slack); });
}

read_roof::~read_roof() {
  for (std::byte* part : parts_) munmap(part, bytes_ + slack);
}

double read_roof::measure(double seconds) {
  const auto read = fastest_read();
  double total = 0, bytes = 0;
  while (total < seconds) {
    total += run_together(static_cast<std::uint32_t>(parts_.size()), [&](std::uint32_t thread) {
      const auto address = reinterpret_cast<std::uintptr_t>(parts_[thread]);
      const std::size_t shift = (huge_page - address % huge_page) % huge_page;
      sink += read(parts_[thread] + shift, bytes_);
    });
    bytes += static_cast<double>(bytes_) * static_cast<double>(parts_.size());
  }
  return bytes / total;
}

std::vector<peak_loop> peak_loops() {
  std::vector<peak_loop> out;
#if defined(__x86_64__)
  const bool wide = __builtin_cpu_supports("avx512f"), vnni = __builtin_cpu_supports("avx512vnni");
  if (vnni) out.push_back({"dot8 zmm", "GOP/s", 12 * 128, dot_zmm});
  if (vnni && __builtin_cpu_supports("avx512vl")) out.push_back({"dot8 ymm", "GOP/s", 12 * 64, dot_ymm});
  if (__builtin_cpu_supports("avx2")) out.push_back({"dot8 maddubs ymm", "GOP/s", 6 * 64, dot_maddubs});
  if (wide) out.push_back({"fma f32 zmm", "GFLOP/s", 12 * 32, fma_zmm});
  if (__builtin_cpu_supports("fma")) out.push_back({"fma f32 ymm", "GFLOP/s", 12 * 16, fma_ymm});
#endif
  return out;
}

double measure_peak(const peak_loop& loop, std::uint32_t threads, double seconds) {
  constexpr std::uint64_t turns = 1 << 20;
  double total = 0, operations = 0;
  while (total < seconds) {
    total += run_together(threads, [&](std::uint32_t) { loop.run(turns); });
    operations += loop.operations_per_turn * static_cast<double>(turns) * threads;
  }
  return operations / total;
}

}  // namespace infer::threads
