#include "exec/fault.h"

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <atomic>
#include <cstdlib>

#include "base/log.h"

namespace heddle::exec {

thread_local GuardedRegion* t_region __attribute__((tls_model("initial-exec"))) = nullptr;

namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
struct sigaction g_previous[4];

constexpr std::size_t kSignalStack = 64u << 10;

void fill_position(Fault& fault, const CtaContext* cta) {
  if (!cta) return;
  fault.block[0] = cta->x;
  fault.block[1] = cta->y;
  fault.block[2] = cta->z;
  fault.block_linear = cta->linear;
  fault.warp = cta->current_warp;
}

void machine_state(const void* context, std::uintptr_t* pc, std::uintptr_t* sp) {
  const auto* state = static_cast<const ucontext_t*>(context);
#if defined(__x86_64__)
  *pc = static_cast<std::uintptr_t>(state->uc_mcontext.gregs[REG_RIP]);
  *sp = static_cast<std::uintptr_t>(state->uc_mcontext.gregs[REG_RSP]);
#elif defined(__aarch64__)
  *pc = state->uc_mcontext.pc;
  *sp = state->uc_mcontext.sp;
#else
#error "the fault handler needs this architecture's register names"
#endif
}

void chain(int signal, siginfo_t* info, void* context) {
  int index = 0;
  while (kSignals[index] != signal) ++index;
  const struct sigaction& previous = g_previous[index];
  if (previous.sa_flags & SA_SIGINFO) {
    previous.sa_sigaction(signal, info, context);
  } else if (previous.sa_handler == SIG_DFL || previous.sa_handler == SIG_IGN) {
    // The instruction runs again under the default action, which ends the process as it would have without us.
    ::signal(signal, SIG_DFL);
  } else {
    previous.sa_handler(signal);
  }
}

void handle(int signal, siginfo_t* info, void* context) {
  GuardedRegion* const region = t_region;
  // Signals that somebody sent (kill, raise) are not faults of a kernel.
  if (!region || info->si_code <= 0) {
    chain(signal, info, context);
    return;
  }
  Fault fault;
  std::uintptr_t sp = 0;
  machine_state(context, &fault.pc, &sp);
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  switch (signal) {
    case SIGSEGV: {
      fault.code = ErrorCode::kIllegalAddress;
      fault.what = "illegal address";
      // A general protection fault (a non-canonical address) comes without the address.
      fault.has_address = info->si_code != SI_KERNEL;
      // What can't be touched near the stack pointer is the stack's guard page: below it, or above it inside a large
      // frame (several frames, where the compiler has inlined a recursion).
      constexpr std::uintptr_t kNear = 256u << 10;
      if (fault.has_address && address + kNear > sp && address < sp + kNear) {
        fault.code = ErrorCode::kHardwareStackError;
        fault.what = "stack overflow";
      }
      break;
    }
    case SIGBUS:
      fault.code = info->si_code == BUS_ADRALN ? ErrorCode::kMisalignedAddress : ErrorCode::kIllegalAddress;
      fault.what = info->si_code == BUS_ADRALN ? "misaligned address" : "illegal address";
      fault.has_address = true;
      break;
    case SIGFPE:
      fault.code = ErrorCode::kLaunchFailed;
      fault.what = "arithmetic exception";
      break;
    default:
      fault.code = ErrorCode::kIllegalInstruction;
      fault.what = "illegal instruction";
      break;
  }
  if (fault.has_address) fault.address = address;
  fill_position(fault, region->cta);
  region->fault = fault;
  siglongjmp(region->jump, 1);
}

}  // namespace

void install_fault_handler() {
  static const bool kInstalled = [] {
    struct sigaction action = {};
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < 4; ++i) ::sigaction(kSignals[i], &action, &g_previous[i]);
    return true;
  }();
  (void)kInstalled;
}

void prepare_thread_for_faults() {
  // Owns the signal stack of a thread; the system must forget it before the memory goes.
  struct SignalStack {
    void* memory = nullptr;
    SignalStack() {
      stack_t current = {};
      if (::sigaltstack(nullptr, &current) == 0 && !(current.ss_flags & SS_DISABLE)) return;  // the program has its own
      memory = ::mmap(nullptr, kSignalStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (memory == MAP_FAILED) {
        memory = nullptr;
        return;
      }
      stack_t stack = {};
      stack.ss_sp = memory;
      stack.ss_size = kSignalStack;
      ::sigaltstack(&stack, nullptr);
    }
    ~SignalStack() {
      if (!memory) return;
      stack_t none = {};
      none.ss_flags = SS_DISABLE;
      ::sigaltstack(&none, nullptr);
      ::munmap(memory, kSignalStack);
    }
  };
  static thread_local SignalStack stack;
  (void)stack;
}

void raise_fault(CtaContext* cta, Fault fault) {
  GuardedRegion* const region = t_region;
  if (!region) {
    LOG_ERROR("a kernel's %s outside a guarded region: this is a bug in Heddle", fault.what);
    std::abort();
  }
  fill_position(fault, cta ? cta : region->cta);
  region->fault = fault;
  siglongjmp(region->jump, 1);
}

}  // namespace heddle::exec
