// The reference interpreter of the IR: the oracle that generated code is tested against, the engine of
// Variant::interpret, and the forensic tool that finds which thread made an illegal access, and where.
//
// It is plain: lanes one by one, exact arithmetic (evaluate.h), and a scheduler that always runs the group of lanes
// that is furthest behind (machine.h). Tested by compiler/interp/interp_test.cc and tests/ptx.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

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

using compiler::AccessCheck;
using compiler::FaultReport;

/// compiler::find_fault on a program.
Result<FaultReport> find_fault(const ir::Program& program, const exec::LaunchContext& launch, std::uint64_t linear,
                               AccessCheck check, void* user, std::chrono::nanoseconds limit);

}  // namespace heddle::interp
