// The reference interpreter of the IR: the oracle that generated code is tested against, the engine of
// Variant::interpret, and the forensic tool that finds which thread made an illegal access, and where.
//
// It is plain: lanes one by one, exact arithmetic (evaluate.h), and a scheduler that always runs the group of lanes
// that is furthest behind (machine.h). Tested by compiler/interp/interp_test.cc and tests/ptx.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/error_code.h"
#include "base/status.h"
#include "compiler/compile.h"
#include "compiler/ir/ir.h"

namespace heddle::interp {

/// A kernel whose `warp` interprets `program`; `engine` must be put into LaunchContext::engine. Warps in flight are
/// kept in the kernel itself, by CtaContext and warp: they go when they end, when a new CTA starts in their place, or
/// with the kernel, so a CTA may be dropped at any time.
std::shared_ptr<const compiler::CompiledKernel> make_interpreted(std::shared_ptr<const ir::Program> program);

/// Where external (dynamic) shared memory begins: the end of the static part, aligned for each external symbol.
std::uint32_t dynamic_shared_offset(const ir::Program& program);

/// The first illegal access of a CTA.
struct FaultReport {
  ErrorCode code = ErrorCode::kSuccess;  ///< kIllegalAddress, kMisalignedAddress, kHardwareStackError, kInvalidPc,
                                         ///< or what ended the run instead: kAssert, kLaunchFailed (trap)
  std::uint32_t thread = 0;              ///< linear index in the block
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;
  bool is_write = false;
  ir::Location location;
  std::string function;
  std::string instruction;               ///< as ir/print.h writes it
};

/// Runs one CTA of `launch` (position by `linear`, x fastest) again, on its own shared and local memory and without
/// writing to global memory (reads see the CTA's own writes), until `check` refuses an access. `check` is asked for
/// accesses to global and constant memory only; shared, local and parameters are checked here.
/// Errors: kNotFound when the CTA ends, waits forever or takes more than `step_limit` instructions without one.
Result<FaultReport> find_fault(const ir::Program& program, const exec::LaunchContext& launch, std::uint64_t linear,
                               bool (*check)(void* user, std::uint64_t address, std::uint64_t bytes, bool is_write),
                               void* user, std::uint64_t step_limit);

}  // namespace heddle::interp
