// Faults in kernels: a bad address, a division that the machine traps, an illegal instruction, a trap or an assert ends
// the grid and not the process. One guarded region per worker and grid, one signal handler per process; without a fault
// a region costs a few nanoseconds. Faults outside a region go to the handler that was there before.
// Tested by exec/grid_test.cc.
#pragma once

#include <setjmp.h>

#include <cstdint>

#include "base/error_code.h"
#include "exec/kernel_abi.h"

namespace heddle::exec {

inline constexpr std::uint32_t kUnknownThread = ~0u;

struct Fault {
  ErrorCode code = ErrorCode::kSuccess;
  const char* what = "";       ///< a literal: "illegal address", "trap", ...
  std::uintptr_t address = 0;  ///< the memory address, if `has_address`
  bool has_address = false;
  std::uintptr_t pc = 0;  ///< 0: unknown
  std::uint32_t block[3] = {0, 0, 0};
  std::uint64_t block_linear = 0;
  std::uint32_t warp = 0;
  std::uint32_t thread = kUnknownThread;  ///< linear index in the block
  std::uint32_t ptx_line = 0;             ///< 0: unknown
};

struct GuardedRegion {
  sigjmp_buf jump;
  CtaContext* cta = nullptr;  ///< what runs; the handler takes the position from it
  Fault fault;
  GuardedRegion* outer = nullptr;
};

/// Installs the handler (once a process).
void install_fault_handler();
/// Gives the calling thread a signal stack, so that an overflow of its stack can be handled; cheap when repeated.
void prepare_thread_for_faults();
/// Ends the guarded region that the calling thread is in.
[[noreturn]] void raise_fault(CtaContext* cta, Fault fault);

/// Not to be touched outside fault.cc and run_guarded.
extern thread_local GuardedRegion* t_region __attribute__((tls_model("initial-exec")));

/// Runs body() in a guarded region; false if it ended in a fault (region.fault). Objects that body() created are not
/// destroyed then, so it must own nothing that has to be.
template <class Body>
[[gnu::noinline]] bool run_guarded(GuardedRegion& region, Body&& body) {
  region.outer = t_region;
  // No signal mask is saved: that would be a system call. The handler is installed with SA_NODEFER.
  if (sigsetjmp(region.jump, 0) == 0) {
    t_region = &region;
    body();
    t_region = region.outer;
    return true;
  }
  t_region = region.outer;
  return false;
}

}  // namespace heddle::exec
