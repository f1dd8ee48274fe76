// The runtime's bodies: include this in src/runtime and define `cudaError_t impl::cudaMalloc(...)` for each row of
// runtime.def that says Done.
//
// A body for a row that says Missing does not compile (it is deleted here); a row that says Done without a body does
// not link. Policy is not a body's business: see entry.h.
#pragma once

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#error "the runtime itself is compiled with the exported names"
#endif
#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>

#include "api/entry.h"

namespace heddle::runtime {

// ---- What src/runtime defines besides the bodies ----

/// Whether a call may begin: cudaErrorCudartUnloading once exit handlers have started, an error in a child after fork;
/// Needs::kInit loads and initialises the driver, Needs::kContext makes a context current where there is none (the
/// device's primary one). On the path of every call: keep it to a few loads.
cudaError_t admit(api::Needs needs) noexcept;
/// Told of every call that fails: keeps the thread's last error, and is the place for the log.
void failed(const api::Entry& entry, cudaError_t result) noexcept;

struct Policy {
  using Result = cudaError_t;
  static constexpr cudaError_t kSuccess = cudaSuccess;
  static constexpr cudaError_t kOutOfMemory = cudaErrorMemoryAllocation;
  static constexpr cudaError_t kUnknown = cudaErrorUnknown;
  static cudaError_t admit(api::Needs needs) noexcept { return runtime::admit(needs); }
  static void failed(const api::Entry& entry, cudaError_t result) noexcept { runtime::failed(entry, result); }
  static cudaError_t missing(const api::Entry& entry) {
    api::warn_not_implemented(entry);
    runtime::failed(entry, cudaErrorNotSupported);
    return cudaErrorNotSupported;
  }
};

namespace impl {

#define HEDDLE_API_BODY_Done(result, function, parameters) result function parameters;
#define HEDDLE_API_BODY_Missing(result, function, parameters) result function parameters = delete;
#define HEDDLE_RUNTIME(name, needs, stream, coverage, parameters, names) \
  HEDDLE_API_BY_COVERAGE(HEDDLE_API_BODY_, coverage)(cudaError_t, name, parameters)
#define HEDDLE_RUNTIME_PLAIN(result, name, coverage, parameters, names) \
  HEDDLE_API_BY_COVERAGE(HEDDLE_API_BODY_, coverage)(result, name, parameters)
#define HEDDLE_RUNTIME_NAME(name, stream, coverage)
#include "heddle/runtime.def"
#undef HEDDLE_API_BODY_Done
#undef HEDDLE_API_BODY_Missing

}  // namespace impl
}  // namespace heddle::runtime
