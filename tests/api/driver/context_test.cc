// Contexts: stack, current per thread, primary contexts, handles that are not (or no longer) valid.
#include <thread>

#include "driver.h"

TEST_F(ContextTest, stack_and_current) {
  CUcontext current = nullptr, popped = nullptr, second = nullptr;
  CU_OK(drv::cuCtxGetCurrent(&current));
  EXPECT_EQ(current, context);
  CU_OK(drv::cuCtxCreate_v4(&second, nullptr, 0, device));
  CU_OK(drv::cuCtxGetCurrent(&current));
  EXPECT_EQ(current, second);
  CU_OK(drv::cuCtxPopCurrent_v2(&popped));
  EXPECT_EQ(popped, second);
  CU_OK(drv::cuCtxGetCurrent(&current));
  EXPECT_EQ(current, context);
  CU_OK(drv::cuCtxPushCurrent_v2(second));
  CU_OK(drv::cuCtxDestroy_v2(second));  // was current: the one below is current again
  CU_OK(drv::cuCtxGetCurrent(&current));
  EXPECT_EQ(current, context);
  CUdevice where = -1;
  CU_OK(drv::cuCtxGetDevice(&where));
  EXPECT_EQ(where, device);
}

TEST_F(ContextTest, other_threads_have_none) {
  CUcontext current = context;
  CUdeviceptr pointer = 0;
  std::thread([&] {
    CU_EXPECT(drv::cuCtxGetCurrent(&current), CUDA_SUCCESS);
    CU_EXPECT(drv::cuMemAlloc_v2(&pointer, 4), CUDA_ERROR_INVALID_CONTEXT);
    CU_EXPECT(drv::cuCtxSetCurrent(context), CUDA_SUCCESS);
    CU_EXPECT(drv::cuMemAlloc_v2(&pointer, 4), CUDA_SUCCESS);
  }).join();
  EXPECT_EQ(current, nullptr);
  CU_EXPECT(drv::cuMemFree_v2(pointer), CUDA_SUCCESS);
}

TEST_F(ContextTest, destroyed_context_is_refused) {
  CUcontext second = nullptr;
  CU_OK(drv::cuCtxCreate_v4(&second, nullptr, 0, device));
  CU_OK(drv::cuCtxDestroy_v2(second));
  if (drv::is_heddle()) {  // NVIDIA's driver dereferences stale handles
    CU_EXPECT(drv::cuCtxDestroy_v2(second), CUDA_ERROR_INVALID_CONTEXT);
    CU_EXPECT(drv::cuCtxSetCurrent(second), CUDA_ERROR_INVALID_CONTEXT);
    int something = 0;
    CU_EXPECT(drv::cuCtxPushCurrent_v2(reinterpret_cast<CUcontext>(&something)), CUDA_ERROR_INVALID_CONTEXT);
  }
  CU_EXPECT(drv::cuCtxPushCurrent_v2(nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ContextTest, limits) {
  size_t value = 0;
  CU_OK(drv::cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
  EXPECT_EQ(value, 1024u);
  CU_OK(drv::cuCtxGetLimit(&value, CU_LIMIT_MALLOC_HEAP_SIZE));
  EXPECT_EQ(value, 8u << 20);
  CU_EXPECT(drv::cuCtxGetLimit(&value, static_cast<CUlimit>(99)), CUDA_ERROR_INVALID_VALUE);
  CU_OK(drv::cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));
  CU_OK(drv::cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
  EXPECT_EQ(value, 4096u);
}

TEST(PrimaryContext, is_shared_counted_and_reset) {
  CU_OK(drv::cuInit(0));
  unsigned flags = 1;
  int active = 1;
  CUcontext first = nullptr, second = nullptr;
  CU_OK(drv::cuDevicePrimaryCtxRetain(&first, 0));
  CU_OK(drv::cuDevicePrimaryCtxRetain(&second, 0));
  EXPECT_EQ(first, second);
  CU_OK(drv::cuDevicePrimaryCtxGetState(0, &flags, &active));
  EXPECT_EQ(active, 1);
  CU_OK(drv::cuCtxPushCurrent_v2(first));
  CUdeviceptr pointer = 0;
  CU_OK(drv::cuMemAlloc_v2(&pointer, 1024));
  CU_EXPECT(drv::cuCtxDestroy_v2(first), CUDA_ERROR_INVALID_CONTEXT);
  CU_OK(drv::cuDevicePrimaryCtxRelease_v2(0));
  CU_OK(drv::cuMemFree_v2(pointer));
  CU_OK(drv::cuCtxPopCurrent_v2(nullptr));
  CU_OK(drv::cuDevicePrimaryCtxRelease_v2(0));
  CU_OK(drv::cuDevicePrimaryCtxGetState(0, &flags, &active));
  EXPECT_EQ(active, 0);
  CU_EXPECT(drv::cuDevicePrimaryCtxRelease_v2(0), CUDA_ERROR_INVALID_CONTEXT);
  CU_EXPECT(drv::cuDevicePrimaryCtxRetain(&first, 99), CUDA_ERROR_INVALID_DEVICE);
}

TEST_F(ContextTest, null_and_foreign_handles_are_refused) {
  CUfunction no_function = nullptr;
  CU_EXPECT(launch(no_function, 1, 1, {}), CUDA_ERROR_INVALID_HANDLE);
  CU_EXPECT(drv::cuEventDestroy_v2(nullptr), CUDA_ERROR_INVALID_HANDLE);
  CU_EXPECT(drv::cuEventQuery(nullptr), CUDA_ERROR_INVALID_HANDLE);
  if (!drv::is_heddle()) return;  // NVIDIA's driver dereferences stale handles
  CUstream stream = nullptr;
  CU_OK(drv::cuStreamCreate(&stream, 0));
  CU_OK(drv::cuStreamDestroy_v2(stream));
  CU_EXPECT(drv::cuStreamSynchronize(stream), CUDA_ERROR_INVALID_HANDLE);
  CU_EXPECT(drv::cuStreamDestroy_v2(stream), CUDA_ERROR_INVALID_HANDLE);
  CUevent event = nullptr;
  CU_OK(drv::cuEventCreate(&event, 0));
  // A handle of another kind is no stream.
  CU_EXPECT(drv::cuStreamSynchronize(reinterpret_cast<CUstream>(event)), CUDA_ERROR_INVALID_HANDLE);
  CU_OK(drv::cuEventDestroy_v2(event));
  CU_EXPECT(drv::cuEventRecord(event, nullptr), CUDA_ERROR_INVALID_HANDLE);
  CU_EXPECT(drv::cuModuleUnload(reinterpret_cast<CUmodule>(this)), CUDA_ERROR_INVALID_HANDLE);
}

TEST(Peers, devices_reach_each_other) {
  CU_OK(drv::cuInit(0));
  int count = 0;
  CU_OK(drv::cuDeviceGetCount(&count));
  if (count < 2) GTEST_SKIP() << "needs two devices";
  int possible = 0;
  CU_OK(drv::cuDeviceCanAccessPeer(&possible, 0, 1));
  if (!possible) GTEST_SKIP() << "no peer access";
  CUcontext a = nullptr, b = nullptr;
  CU_OK(drv::cuCtxCreate_v4(&b, nullptr, 0, 1));
  CUdeviceptr on_b = 0, on_a = 0;
  CU_OK(drv::cuMemAlloc_v2(&on_b, 4096));
  CU_OK(drv::cuMemsetD32_v2(on_b, 7, 1024));
  CU_OK(drv::cuCtxSynchronize());
  CU_OK(drv::cuCtxCreate_v4(&a, nullptr, 0, 0));
  CU_OK(drv::cuCtxEnablePeerAccess(b, 0));
  CU_EXPECT(drv::cuCtxEnablePeerAccess(b, 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
  CU_OK(drv::cuMemAlloc_v2(&on_a, 4096));
  CU_OK(drv::cuMemcpyPeer(on_a, a, on_b, b, 4096));
  CU_OK(drv::cuCtxSynchronize());
  int value = 0;
  CU_OK(drv::cuMemcpyDtoH_v2(&value, on_a + 4092, 4));
  EXPECT_EQ(value, 7);
  CU_OK(drv::cuCtxDisablePeerAccess(b));
  CU_EXPECT(drv::cuCtxDisablePeerAccess(b), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
  CU_OK(drv::cuCtxDestroy_v2(a));
  CU_OK(drv::cuCtxDestroy_v2(b));
}
