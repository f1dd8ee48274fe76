// The RuntimeTable: what kernels call. Everything here runs inside a guarded region and may fault on addresses that a
// kernel passes, so such addresses are read before any lock is taken. Tested by exec/grid_test.cc.
#include <sched.h>

#include <ctime>
#include <string>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "exec/cta.h"
#include "exec/device.h"
#include "exec/launch.h"
#include "exec/print.h"
#include "exec/texture.h"

namespace heddle::exec {
namespace {

constexpr std::size_t kTextBytes = 8192;

std::int32_t device_printf(const LaunchContext*, CtaContext*, std::uint32_t, const char* format,
                           const void* arguments) {
  char text[kTextBytes];
  std::size_t length = 0;
  const int used = format_device_text(format, arguments, text, sizeof text, &length);
  append_device_output(text, length);
  return used;
}

Fault fault_of(ErrorCode code, const char* what, std::uint32_t thread, std::uint32_t ptx_line = 0) {
  Fault fault;
  fault.code = code;
  fault.what = what;
  fault.thread = thread;
  fault.ptx_line = ptx_line;
  return fault;
}

void assert_fail(const LaunchContext* launch, CtaContext* cta, std::uint32_t thread, const char* message,
                 const char* file, std::uint32_t line, const char* function) {
  const std::uint32_t x = thread % launch->block_x;
  const std::uint32_t y = thread / launch->block_x % launch->block_y;
  const std::uint32_t z = thread / launch->block_x / launch->block_y;
  char text[kTextBytes];
  std::snprintf(text, sizeof text, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
                file ? file : "?", line, function ? function : "?", cta->x, cta->y, cta->z, x, y, z,
                message ? message : "?");
  std::fputs(text, stderr);
  raise_fault(cta, fault_of(ErrorCode::kAssert, "assertion failed", thread));
}

void trap(const LaunchContext*, CtaContext* cta, std::uint32_t thread, std::uint32_t kind, std::uint32_t ptx_line) {
  switch (kind) {  // ir::TrapKind
    case 0: raise_fault(cta, fault_of(ErrorCode::kLaunchFailed, "trap", thread, ptx_line));
    case 1: raise_fault(cta, fault_of(ErrorCode::kLaunchFailed, "breakpoint", thread, ptx_line));
    default:
      raise_fault(cta, fault_of(ErrorCode::kNotSupported, "instruction that this version can't run", thread, ptx_line));
  }
}

void engine_fault(const LaunchContext*, CtaContext* cta, std::uint32_t thread, std::int32_t code, std::uint64_t address,
                  std::uint32_t ptx_line) {
  Fault fault = fault_of(static_cast<ErrorCode>(code), "fault", thread, ptx_line);
  switch (fault.code) {
    case ErrorCode::kIllegalAddress: fault.what = "illegal address"; break;
    case ErrorCode::kMisalignedAddress: fault.what = "misaligned address"; break;
    case ErrorCode::kHardwareStackError: fault.what = "stack overflow"; break;
    case ErrorCode::kInvalidPc: fault.what = "call of an address that is no function"; break;
    default: break;
  }
  fault.address = address;
  fault.has_address = fault.code == ErrorCode::kIllegalAddress || fault.code == ErrorCode::kMisalignedAddress;
  raise_fault(cta, fault);
}

Grid& grid_of(const LaunchContext* launch) { return *static_cast<Grid*>(launch->device); }

void* device_malloc(const LaunchContext* launch, CtaContext*, std::uint64_t bytes) {
  Device* const device = grid_of(launch).device;
  return device ? device->heap().allocate(bytes) : nullptr;
}

void device_free(const LaunchContext* launch, CtaContext* cta, void* pointer) {
  Device* const device = grid_of(launch).device;
  if (!pointer || (device && device->heap().free(pointer))) return;
  Fault fault = fault_of(ErrorCode::kIllegalAddress, "free of a pointer that malloc did not give", kUnknownThread);
  fault.address = reinterpret_cast<std::uintptr_t>(pointer);
  fault.has_address = true;
  raise_fault(cta, fault);
}

void sleep_nanoseconds(const LaunchContext*, CtaContext*, std::uint32_t nanoseconds) {
  // PTX allows any time from 0 to twice the argument. Other warps of this worker wait while this one sleeps, so it
  // gives the core up instead.
  if (nanoseconds >= 500) ::sched_yield();
}

std::uint64_t clock64() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  timespec t;
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(t.tv_nsec);
#endif
}

std::uint64_t globaltimer() {
  timespec t;
  ::clock_gettime(CLOCK_REALTIME, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(t.tv_nsec);
}

void barrier_arrive(const LaunchContext*, CtaContext* cta, std::uint32_t id, std::uint32_t threads,
                    std::uint32_t lanes) {
  arrive_at_barrier(cta, id, threads, lanes);
}

}  // namespace

const RuntimeTable& runtime_table() {
  static const RuntimeTable kTable = [] {
    RuntimeTable table = {};
    table.vprintf = device_printf;
    table.assert_fail = assert_fail;
    table.fault = engine_fault;
    table.trap = trap;
    table.malloc = device_malloc;
    table.free = device_free;
    table.nanosleep = sleep_nanoseconds;
    table.clock = clock64;
    table.globaltimer = globaltimer;
    table.barrier_arrive = barrier_arrive;
    table.texture = sample_texture;
    return table;
  }();
  return kTable;
}

}  // namespace heddle::exec
