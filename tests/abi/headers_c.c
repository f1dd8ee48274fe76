/* The headers are C, too: compiled by the C compiler with warnings as errors, never run. */
#include <cuda.h>
#include <cudaProfiler.h>
#include <cuda_device_runtime_api.h>
#include <cuda_occupancy.h>
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <library_types.h>

_Static_assert(sizeof(struct cudaDeviceProp) == 1008, "cudaDeviceProp");
_Static_assert(sizeof(CUgraphNodeParams) == 256, "CUgraphNodeParams");

CUresult headers_are_c(void) {
  CUdeviceptr pointer = 0;
  struct cudaExtent extent = make_cudaExtent(1, 1, 1);
  float4 v = make_float4(1.0f, 2.0f, 3.0f, 4.0f);
  (void)extent;
  (void)v;
  (void)cudaMemcpyAsync(0, 0, 0, cudaMemcpyDefault, 0);
  return cuMemAlloc(&pointer, 16);
}
