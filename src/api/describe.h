// Names and texts of errors and attributes: what errors.def and attributes.def say. Tested by describe_test.cc.
#pragma once

#ifndef __CUDA_API_VERSION_INTERNAL  // the exported names, as in the other headers of this folder
#define __CUDA_API_VERSION_INTERNAL
#endif
#include <cuda.h>
#include <cuda_runtime_api.h>

namespace heddle::api {

/// "CUDA_ERROR_INVALID_VALUE", or null for a number that is no CUresult.
const char* driver_error_name(CUresult error) noexcept;
/// "invalid argument", or null for a number that is no CUresult.
const char* driver_error_text(CUresult error) noexcept;

/// "cudaErrorInvalidValue", or "unrecognized error code".
const char* runtime_error_name(cudaError_t error) noexcept;
/// "invalid argument", or "unrecognized error code".
const char* runtime_error_text(cudaError_t error) noexcept;

/// What the runtime calls a driver's error: the same number, or cudaErrorUnknown where the runtime has none.
cudaError_t runtime_error_of(CUresult error) noexcept;

/// "CU_DEVICE_ATTRIBUTE_WARP_SIZE", or null.
const char* device_attribute_name(CUdevice_attribute attribute) noexcept;

}  // namespace heddle::api
