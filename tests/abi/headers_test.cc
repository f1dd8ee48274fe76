// What programs rely on in the headers, seen by the project's own C++ compiler: sizes and offsets (recorded from
// NVIDIA's headers of CUDA 13.0), guard macros that programs test, default arguments, overloads and templates. The
// complete comparison of values, layouts and function types is compare.sh.
#include <cuda.h>
#include <cudaProfiler.h>
#include <cuda_device_runtime_api.h>
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <type_traits>

static_assert(CUDA_VERSION == 13000 && CUDART_VERSION == 13000);
#if !defined(__cuda_cuda_h__) || !defined(__DRIVER_TYPES_H__) || !defined(__HOST_DEFINES_H__) ||               \
    !defined(__CUDA_RUNTIME_H__) || !defined(__CUDA_RUNTIME_API_H__) || !defined(__VECTOR_TYPES_H__) ||        \
    !defined(__VECTOR_FUNCTIONS_H__) || !defined(__CHANNEL_DESCRIPTOR_H__) || !defined(__LIBRARY_TYPES_H__) || \
    !defined(__TEXTURE_TYPES_H__) || !defined(__SURFACE_TYPES_H__) || !defined(__BUILTIN_TYPES_H__)
#error "programs test these macros to learn which headers are there"
#endif

// Layouts, for compilers other than the one that compare.sh runs.
static_assert(sizeof(cudaDeviceProp) == 1008 && offsetof(cudaDeviceProp, totalGlobalMem) == 288);
static_assert(offsetof(cudaDeviceProp, major) == 360 && offsetof(cudaDeviceProp, multiProcessorCount) == 384);
static_assert(sizeof(cudaFuncAttributes) == 144 && sizeof(cudaPointerAttributes) == 88);
static_assert(sizeof(cudaMemcpy3DParms) == 160 && sizeof(cudaResourceDesc) == 144 && sizeof(cudaTextureDesc) == 72);
static_assert(sizeof(cudaLaunchAttribute) == 72 && sizeof(cudaLaunchConfig_t) == 56);
static_assert(sizeof(cudaGraphNodeParams) == 256 && offsetof(cudaGraphNodeParams, reserved2) == 248);
static_assert(sizeof(CUDA_MEMCPY2D) == 128 && sizeof(CUDA_MEMCPY3D) == 200 && sizeof(CUDA_MEMCPY3D_PEER) == 200);
static_assert(sizeof(CUDA_RESOURCE_DESC) == 144 && sizeof(CUDA_TEXTURE_DESC) == 104);
static_assert(sizeof(CUlaunchConfig) == 56 && sizeof(CUlaunchAttribute) == 72);
static_assert(sizeof(CUgraphNodeParams) == 256 && sizeof(CUmemPoolProps) == 88);
static_assert(sizeof(CUtensorMap) == 128 && alignof(CUtensorMap) == 128);
static_assert(sizeof(dim3) == 12 && alignof(float4) == 16 && alignof(double4) == 16 && sizeof(float3) == 12);
static_assert(alignof(double4_32a) == 32 && alignof(longlong2) == 16 && alignof(uchar4) == 4);
static_assert(cudaErrorApiFailureBase == 10000 && CUDA_ERROR_UNKNOWN == 999 && cudaDevAttrMax == 148);

namespace {

void kernel(int, float*) {}

// Never called: that it compiles is the test.
[[maybe_unused]] void overloads_and_defaults() {
  float* typed = nullptr;
  void* untyped = nullptr;
  int n = 0, m = 0;
  cudaMalloc(&typed, 4);
  cudaMalloc(&untyped, 4);
  cudaMallocHost(&typed, 4);
  cudaMallocHost(&untyped, 4);
  cudaMallocHost(&untyped, 4, cudaHostAllocMapped);
  cudaMallocManaged(&typed, 4);
  cudaMallocManaged(&untyped, 4);
  cudaMallocAsync(&typed, 4, cudaStream_t());
  cudaMallocAsync(&untyped, 4, cudaMemPool_t(), cudaStream_t());
  cudaMemcpyAsync(untyped, typed, 4, cudaMemcpyDefault);
  cudaMemcpyAsync(untyped, typed, 4, cudaMemcpyDefault, nullptr);
  cudaEvent_t event;
  cudaEventCreate(&event);
  cudaEventCreate(&event, cudaEventDisableTiming);
  cudaEventRecord(event);
  cudaStreamWaitEvent(nullptr, event);
  cudaOccupancyMaxPotentialBlockSize(&n, &m, kernel);
  cudaOccupancyMaxPotentialBlockSize(&n, &m, reinterpret_cast<const void*>(kernel), 0, 128);
  cudaOccupancyMaxPotentialBlockSizeVariableSMem(&n, &m, kernel, [](int block) { return size_t(block) * 4; });
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, kernel, 32, 0);
  cudaLaunchConfig_t configuration = {};
  cudaLaunchKernelEx(&configuration, kernel, 3, typed);
  cudaLaunchKernelEx(&configuration, cudaKernel_t(), 3, typed);
  void* arguments[] = {&n, &typed};
  cudaLaunchKernel(kernel, dim3(1), dim3(1), arguments);
  cudaLaunchKernel(reinterpret_cast<const void*>(kernel), 1, 1, arguments, 0, nullptr);
  cudaFuncAttributes attributes;
  cudaFuncGetAttributes(&attributes, kernel);
  cudaGraphExec_t executable;
  cudaGraphInstantiate(&executable, nullptr);
  cudaGraphInstantiate(&executable, nullptr, nullptr, nullptr, 0);
  cudaUserObject_t object;
  cudaUserObjectCreate(&object, new int, 1, cudaUserObjectNoDestructorSync);
  cudaGraphKernelNodeSetAttribute(nullptr, cudaKernelNodeAttributePriority, nullptr);
}

TEST(Headers, vectors_and_dimensions) {
  const int4 v = make_int4(1, 2, 3, 4);
  EXPECT_EQ(v.w, 4);
  constexpr dim3 grid(7, 2);
  static_assert(grid.x == 7 && grid.y == 2 && grid.z == 1);
  const uint3 u = grid;
  EXPECT_EQ(dim3(u).y, 2u);
  static_assert(std::is_convertible_v<int, dim3>);
}

}  // namespace
