// How often this process has allocated through operator new: what may not allocate is watched with it.
#pragma once

#include <cstdint>

namespace infer::test_support {

/// Calls of any operator new so far, by all threads. Programs that link this replace the global operators.
std::uint64_t allocations();

}  // namespace infer::test_support
