// What the runtime keeps: the driver it found, the result of its one initialisation, each thread's device and last
// error, and which primary contexts it holds.
//
// A driver context that is current on the calling thread is used as it is; else the primary context of the thread's
// device becomes current. Primary contexts are retained once per device for the whole process.
// Lock order: Registry::mutex (registration.h) before State::mutex. Tested by tests/api.
#pragma once

#include "api/driver_table.h"

// The driver's header first: it must be read with its internal (versioned) names.
#include <atomic>
#include <vector>

#include "api/runtime_api.h"
#include "base/mutex.h"

namespace heddle::runtime {

/// The driver's functions. Stubs that return an error until initialise() has succeeded.
const api::DriverTable& driver();
/// cudaError_t of a driver result; the numbers are the same but for a few.
cudaError_t to_runtime(CUresult result);

/// Loads the driver (no cuInit) on the first call; needed for cudaDriverGetVersion. Its result is latched.
cudaError_t load_driver();
/// load_driver, cuInit and the device count, once; a failure is latched and returned by every later call.
cudaError_t initialise();

int device_count();
/// The calling thread's device: that of its current context, else what cudaSetDevice chose, else 0.
int current_device();
/// Makes the primary context of `device` current on this thread, retaining it first if nobody here has.
cudaError_t use_primary_context(int device);
/// Makes sure that some context is current on this thread.
cudaError_t ensure_context();
/// Forgets the primary context of `device`: the next use retains it again.
void forget_primary_context(int device);
/// Grows whenever a primary context is reset, so that what was looked up in the old one is looked up again.
std::uint64_t context_generation();

/// The last error of this thread, as cudaGetLastError sees it.
cudaError_t& last_error();

/// True once exit handlers have started, or in a child after fork.
bool unloading();

/// The driver's handle for a stream argument: 0 means the per-thread stream in functions of that flavour.
inline CUstream stream_of(cudaStream_t stream) {
  return stream == nullptr && api::default_stream_is_per_thread() ? CU_STREAM_PER_THREAD
                                                                  : reinterpret_cast<CUstream>(stream);
}
inline CUdeviceptr address_of(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

}  // namespace heddle::runtime

/// Leaves the enclosing function with the cudaError_t of `expression` (a cudaError_t or a CUresult) if it failed.
#define CUDA_TRY(expression)                                                                                 \
  do {                                                                                                       \
    if (const cudaError_t error_ = ::heddle::runtime::detail::as_runtime(expression); error_ != cudaSuccess) \
      return error_;                                                                                         \
  } while (0)

namespace heddle::runtime::detail {
inline cudaError_t as_runtime(cudaError_t error) { return error; }
inline cudaError_t as_runtime(CUresult result) { return result == CUDA_SUCCESS ? cudaSuccess : to_runtime(result); }
}  // namespace heddle::runtime::detail
