// What functions (per context) and kernels (per library) report alike. Tested by tests/api/driver/module_test.cc.
#pragma once

#include <cstddef>

#include "compiler/compile.h"
#include "driver/state.h"

namespace heddle::driver {

// A CPU has no such limits; these numbers are what a device of compute capability 12.0 has, and programs compute with.
inline constexpr int kRegistersPerThread = 32;
inline constexpr int kMaxSharedPerBlock = 101376;
inline constexpr int kSharedPerMultiprocessor = 102400;
inline constexpr int kReservedShared = 1024;
inline constexpr int kMaxThreadsPerMultiprocessor = 1536;
inline constexpr int kMaxBlocksPerMultiprocessor = 24;

Result<int> function_attribute(const compiler::KernelInfo& info, int attribute);
Status check_attribute_change(const compiler::KernelInfo& info, int attribute, int value);
Status parameter_info(const compiler::KernelInfo& info, std::size_t index, std::size_t* offset, std::size_t* size);
/// Blocks of the kernel that fit on one multiprocessor at a time; the model is in occupancy.cc.
int resident_blocks(const compiler::KernelInfo& info, unsigned threads, std::size_t dynamic_shared);

}  // namespace heddle::driver
