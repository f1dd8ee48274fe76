// The driver as a test sees it: every exported function, found by name in libcuda.so.1, and a context to work in.
#pragma once

#define __CUDA_API_VERSION_INTERNAL  // names as they are exported: cuMemAlloc_v2
#include <cuda.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace drv {

#define HEDDLE_DRIVER(base, suffix, version, needs, stream, coverage, parameters, names) \
  inline decltype(&::base##suffix) base##suffix = nullptr;
#define HEDDLE_DRIVER_NAME(base, suffix, version, stream, coverage)
#include "heddle/driver.def"

/// Any exported function by name.
void* find(const char* name);
/// True on Heddle's driver, false on NVIDIA's.
bool is_heddle();

}  // namespace drv

#define CU_OK(call) ASSERT_EQ(call, CUDA_SUCCESS)
#define CU_EXPECT(call, code) EXPECT_EQ(call, code)

/// A test with a context of its own on device 0, destroyed at the end (also after a sticky error).
class ContextTest : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  CUmodule load(const char* ptx);
  CUfunction function(CUmodule module, const char* name);
  CUdeviceptr alloc(size_t bytes);
  template <class T>
  std::vector<T> read(CUdeviceptr from, size_t count) {
    std::vector<T> to(count);
    EXPECT_EQ(drv::cuMemcpyDtoH_v2(to.data(), from, count * sizeof(T)), CUDA_SUCCESS);
    return to;
  }
  /// Launches over one dimension in the given stream.
  CUresult launch(CUfunction kernel, unsigned blocks, unsigned threads, std::vector<void*> arguments,
                  CUstream stream = nullptr);

  CUcontext context = nullptr;
  CUdevice device = 0;
};

/// Kernels that many cases use: vector addition `add(a, b, c, n)`, `fill(p, value, n)`, `spin(flag)` that waits until
/// *flag is not 0, `store(p, v)` by one thread, `nothing()`.
extern const char* const kKernels;
