#include "runtime/state.h"

#include <dlfcn.h>
#include <pthread.h>

#include <cstdlib>
#include <deque>
#include <memory>

#include "api/describe.h"
#include "base/log.h"

namespace heddle::runtime {
namespace {

constexpr int kDriverVersionNeeded = 13000;

enum class Phase : int { kNew, kReady, kFailed };

struct State {
  Mutex mutex;
  std::atomic<Phase> driver_phase{Phase::kNew}, phase{Phase::kNew};
  cudaError_t driver_error = cudaSuccess, error = cudaSuccess;  // written before the phase is
  api::DriverTable driver;
  int device_count = 0;
  std::deque<std::atomic<CUcontext>> primary;
  std::atomic<std::uint64_t> generation{1};
  std::atomic<bool> exiting{false}, forked{false};
};

/// Leaked on purpose: static destructors and exit handlers of the program may still call us.
State& state() {
  static State* const kState = new State;
  return *kState;
}

struct ThreadState {
  int device = 0;
  cudaError_t last_error = cudaSuccess;
};
[[gnu::tls_model("initial-exec")]] thread_local constinit ThreadState thread_state;

cudaError_t load_driver_locked(State& s) {
  void* library = ::dlopen("libcuda.so.1", RTLD_NOW);
  if (!library) {
    LOG_WARNING(
        "no CUDA driver: %s. Start the program with `heddle run`, or put a folder with libcuda.so.1 into "
        "LD_LIBRARY_PATH",
        ::dlerror());
    return cudaErrorInsufficientDriver;
  }
  auto get = reinterpret_cast<decltype(&::cuGetProcAddress_v2)>(::dlsym(library, "cuGetProcAddress_v2"));
  s.driver.load([&](const char* base, const char* exported, int version, bool per_thread) -> void* {
    if (!get) return ::dlsym(library, exported);
    void* function = nullptr;
    CUdriverProcAddressQueryResult found;
    const cuuint64_t flags = per_thread ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM : CU_GET_PROC_ADDRESS_DEFAULT;
    return get(base, &function, version, flags, &found) == CUDA_SUCCESS ? function : nullptr;
  });
  return cudaSuccess;
}

cudaError_t initialise_locked(State& s) {
  // The version comes first: a driver that is too old must not be initialised.
  int version = 0;
  if (s.driver.cuDriverGetVersion(&version) != CUDA_SUCCESS) return cudaErrorInsufficientDriver;
  if (version < kDriverVersionNeeded) {
    LOG_WARNING("the CUDA driver is version %d.%d; this runtime needs %d.%d", version / 1000, version % 1000 / 10,
                kDriverVersionNeeded / 1000, kDriverVersionNeeded % 1000 / 10);
    return cudaErrorInsufficientDriver;
  }
  CUDA_TRY(s.driver.cuInit(0));
  CUDA_TRY(s.driver.cuDeviceGetCount(&s.device_count));
  if (s.device_count == 0) return cudaErrorNoDevice;
  for (int i = 0; i < s.device_count; ++i) s.primary.emplace_back(nullptr);
  // Handlers registered later run earlier, so calls from the program's own handlers mostly still succeed.
  std::atexit([] { state().exiting.store(true, std::memory_order_relaxed); });
  ::pthread_atfork(nullptr, nullptr, [] { state().forked.store(true, std::memory_order_relaxed); });
  return cudaSuccess;
}

/// Runs `work` once under the mutex and latches its result.
template <class Work>
cudaError_t once(State& s, std::atomic<Phase>& phase, cudaError_t& error, Work work) {
  Phase now = phase.load(std::memory_order_acquire);
  if (now == Phase::kNew) {
    MutexLock lock(s.mutex);
    now = phase.load(std::memory_order_relaxed);
    if (now == Phase::kNew) {
      error = work(s);
      now = error == cudaSuccess ? Phase::kReady : Phase::kFailed;
      phase.store(now, std::memory_order_release);
    }
  }
  return now == Phase::kReady ? cudaSuccess : error;
}

}  // namespace

const api::DriverTable& driver() { return state().driver; }

cudaError_t to_runtime(CUresult result) { return api::runtime_error_of(result); }

cudaError_t load_driver() {
  State& s = state();
  return once(s, s.driver_phase, s.driver_error, load_driver_locked);
}

cudaError_t initialise() {
  State& s = state();
  if (s.phase.load(std::memory_order_acquire) == Phase::kReady) [[likely]]
    return cudaSuccess;
  CUDA_TRY(load_driver());
  return once(s, s.phase, s.error, initialise_locked);
}

int device_count() { return state().device_count; }

int current_device() {
  CUdevice device;
  if (driver().cuCtxGetDevice(&device) == CUDA_SUCCESS) return device;
  return thread_state.device;
}

cudaError_t use_primary_context(int device) {
  State& s = state();
  if (device < 0 || device >= s.device_count) return cudaErrorInvalidDevice;
  std::atomic<CUcontext>& slot = s.primary[static_cast<std::size_t>(device)];
  CUcontext context = slot.load(std::memory_order_acquire);
  if (!context) {
    MutexLock lock(s.mutex);
    context = slot.load(std::memory_order_relaxed);
    if (!context) {
      CUDA_TRY(s.driver.cuDevicePrimaryCtxRetain(&context, device));
      slot.store(context, std::memory_order_release);
    }
  }
  CUDA_TRY(s.driver.cuCtxSetCurrent(context));
  thread_state.device = device;
  return cudaSuccess;
}

cudaError_t ensure_context() {
  CUcontext context = nullptr;
  CUDA_TRY(driver().cuCtxGetCurrent(&context));
  return context ? cudaSuccess : use_primary_context(thread_state.device);
}

void forget_primary_context(int device) {
  State& s = state();
  s.primary[static_cast<std::size_t>(device)].store(nullptr, std::memory_order_release);
  s.generation.fetch_add(1, std::memory_order_acq_rel);
  thread_state.device = device;
}

std::uint64_t context_generation() { return state().generation.load(std::memory_order_acquire); }

cudaError_t& last_error() { return thread_state.last_error; }

bool unloading() {
  const State& s = state();
  return s.exiting.load(std::memory_order_relaxed) || s.forked.load(std::memory_order_relaxed);
}

cudaError_t admit(api::Needs needs) noexcept {
  State& s = state();
  if (s.exiting.load(std::memory_order_relaxed)) [[unlikely]]
    return cudaErrorCudartUnloading;
  if (s.forked.load(std::memory_order_relaxed)) [[unlikely]] {
    LOG_ERROR(
        "CUDA was initialised before fork(), so this child process can't use it: call CUDA only after forking, or "
        "start "
        "the child with exec");
    return cudaErrorInitializationError;
  }
  CUDA_TRY(initialise());
  return needs == api::Needs::kContext ? ensure_context() : cudaSuccess;
}

void failed(const api::Entry& entry, cudaError_t result) noexcept {
  // "Not ready" is an answer, not an error.
  if (result == cudaErrorNotReady) return;
  thread_state.last_error = result;
  LOG_INFO("%s: %s (%d): %s", entry.name, api::runtime_error_name(result), static_cast<int>(result),
           api::runtime_error_text(result));
}

}  // namespace heddle::runtime
