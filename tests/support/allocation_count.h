// How often this process has allocated through operator new: what may not allocate is watched with it.
#pragma once

#include <cstdint>

// Sanitizers bring their own operators and suffer no others.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define INFER_COUNTS_ALLOCATIONS 0
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define INFER_COUNTS_ALLOCATIONS 0
#endif
#endif
#ifndef INFER_COUNTS_ALLOCATIONS
#define INFER_COUNTS_ALLOCATIONS 1
#endif

namespace infer::test_support {

/// Calls of any operator new so far, by all threads; 0 where they are not counted. Programs that link this replace the
/// global operators.
std::uint64_t allocations();

}  // namespace infer::test_support
