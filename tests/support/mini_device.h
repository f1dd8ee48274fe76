// The smallest host that runs a grid of a compiled kernel, for tests of the compiler alone: one thread, CTA after CTA,
// warps in turn. It is independent of src/exec, so a bug there can't hide one here. A kernel that ends early (trap,
// assert, misaligned access) is caught; a wild address is not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error_code.h"
#include "compiler/compile.h"

namespace heddle::test {

struct Dim {
  std::uint32_t x = 1, y = 1, z = 1;
  std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};

struct LaunchSpec {
  Dim grid, block;
  std::vector<std::byte> params;
  std::uint32_t dynamic_shared = 0;
  std::vector<void*> globals;  ///< as CompiledKernel::globals names them
  bool use_range = false;      ///< through CompiledKernel::range if it is there
  bool cooperative = false;    ///< grid barriers work: all CTAs are in flight at once
};

struct LaunchResult {
  ErrorCode code = ErrorCode::kSuccess;  ///< kLaunchTimeout: no progress; kLaunchFailed: trap or a hung barrier
  std::string what;
  std::uint32_t thread = 0, ptx_line = 0;
  std::uint64_t address = 0;
  std::string printed;  ///< what printf wrote
  bool ok() const { return code == ErrorCode::kSuccess; }
};

LaunchResult run_grid(const compiler::CompiledKernel& kernel, const LaunchSpec& spec);

}  // namespace heddle::test
