// Arrays and texture descriptors between the runtime's words and the driver's. Tested by tests/api/runtime.
#pragma once

#include "runtime/state.h"

namespace heddle::runtime {

inline CUarray to_driver(cudaArray_const_t array) { return reinterpret_cast<CUarray>(const_cast<cudaArray_t>(array)); }

/// Bytes of one element.
std::size_t element_bytes(CUarray_format format, unsigned channels);
cudaError_t element_bytes_of(cudaArray_const_t array, std::size_t* bytes);

/// The driver's format of a channel descriptor. Error: cudaErrorInvalidChannelDescriptor.
cudaError_t to_driver(const cudaChannelFormatDesc& descriptor, CUarray_format* format, unsigned* channels);
cudaChannelFormatDesc to_runtime(CUarray_format format, unsigned channels);

/// Shaped copies (copy.cc), for the graph nodes too.
cudaError_t to_driver(const cudaMemcpy3DParms& parameters, CUDA_MEMCPY3D* copy);

}  // namespace heddle::runtime
