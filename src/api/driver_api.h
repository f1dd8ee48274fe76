// The driver's bodies: include this in src/driver and define `CUresult impl::cuMemAlloc_v2(...)` for each row of
// driver.def that says Done. The names here are the exported ones (cuda.h's renames are off).
//
// A body for a row that says Missing does not compile (it is deleted here); a row that says Done without a body does
// not link. Policy is not a body's business: see entry.h.
#pragma once

#ifndef __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_VERSION_INTERNAL
#elif defined(HEDDLE_DRIVER_RENAMES_H)
#error "include api/driver_api.h before cuda.h"
#endif
#include <cuda.h>

#include "api/entry.h"

namespace heddle::driver {

// ---- What src/driver defines besides the bodies ----

/// Whether a call may begin: CUDA_ERROR_DEINITIALIZED once exit handlers have started, an error in a child after fork,
/// CUDA_ERROR_NOT_INITIALIZED before cuInit, and for Needs::kContext CUDA_ERROR_INVALID_CONTEXT without a current one.
/// On the path of every call: keep it to a few loads.
CUresult admit(api::Needs needs) noexcept;
/// Told of every call that fails; for the log. Must not change anything that the program can see.
void failed(const api::Entry& entry, CUresult result) noexcept;

struct Policy {
  using Result = CUresult;
  static constexpr CUresult kSuccess = CUDA_SUCCESS;
  static constexpr CUresult kOutOfMemory = CUDA_ERROR_OUT_OF_MEMORY;
  static constexpr CUresult kUnknown = CUDA_ERROR_UNKNOWN;
  static CUresult admit(api::Needs needs) noexcept { return driver::admit(needs); }
  static void failed(const api::Entry& entry, CUresult result) noexcept { driver::failed(entry, result); }
  static CUresult missing(const api::Entry& entry) {
    api::warn_not_implemented(entry);
    return CUDA_ERROR_NOT_SUPPORTED;
  }
};

/// What cuGetProcAddress answers: the newest form of `base` that is not newer than `version`. Defined by
/// api/driver_exports.h. `pointer` is null unless `status` is CU_GET_PROC_ADDRESS_SUCCESS. Around it, the body does as
/// driver 580 was seen to do: a version above the driver's own and flags above 3 are CUDA_ERROR_INVALID_VALUE and leave
/// the results alone; a name or version that isn't there is CUDA_SUCCESS, a null pointer and the status.
struct ProcAddress {
  void* pointer;
  CUdriverProcAddressQueryResult status;
};
ProcAddress find_proc_address(const char* base, int version, bool per_thread) noexcept;

namespace impl {

#define HEDDLE_API_BODY_Done(function, parameters) CUresult function parameters;
#define HEDDLE_API_BODY_Missing(function, parameters) CUresult function parameters = delete;
#define HEDDLE_DRIVER(base, suffix, version, needs, stream, coverage, parameters, names) \
  HEDDLE_API_BY_COVERAGE(HEDDLE_API_BODY_, coverage)(base##suffix, parameters)
#define HEDDLE_DRIVER_NAME(base, suffix, version, stream, coverage)
#include "heddle/driver.def"
#undef HEDDLE_API_BODY_Done
#undef HEDDLE_API_BODY_Missing

}  // namespace impl
}  // namespace heddle::driver
