// Device, pinned, registered and managed memory; what an address is; pools.
#include <algorithm>
#include <cstdlib>

#include "driver.h"

TEST_F(ContextTest, device_memory) {
  CUdeviceptr pointer = 0, base = 0;
  size_t size = 0, free_bytes = 0, total = 0, after = 0;
  CU_OK(drv::cuMemGetInfo_v2(&free_bytes, &total));
  EXPECT_LE(free_bytes, total);
  CU_OK(drv::cuMemAlloc_v2(&pointer, size_t{32} << 20));
  EXPECT_EQ(pointer % 256, 0u);
  CU_OK(drv::cuMemGetInfo_v2(&after, &total));
  EXPECT_LT(after, free_bytes);
  CU_OK(drv::cuMemGetAddressRange_v2(&base, &size, pointer + 1000));
  EXPECT_EQ(base, pointer);
  EXPECT_EQ(size, size_t{32} << 20);
  CU_OK(drv::cuMemFree_v2(pointer));
  CU_OK(drv::cuMemFree_v2(0));
  CU_EXPECT(drv::cuMemFree_v2(pointer), CUDA_ERROR_INVALID_VALUE);
  CU_EXPECT(drv::cuMemFree_v2(12345), CUDA_ERROR_INVALID_VALUE);
  CU_EXPECT(drv::cuMemAlloc_v2(&pointer, 0), CUDA_ERROR_INVALID_VALUE);
  CU_EXPECT(drv::cuMemAlloc_v2(nullptr, 4), CUDA_ERROR_INVALID_VALUE);
  CU_EXPECT(drv::cuMemAlloc_v2(&pointer, total * 2), CUDA_ERROR_OUT_OF_MEMORY);
  CU_OK(drv::cuMemAlloc_v2(&pointer, 4));  // and goes on
}

TEST_F(ContextTest, pitched_memory) {
  CUdeviceptr pointer = 0;
  size_t pitch = 0;
  CU_OK(drv::cuMemAllocPitch_v2(&pointer, &pitch, 100, 10, 4));
  EXPECT_GE(pitch, 100u);
  EXPECT_EQ(pitch % 32, 0u);
  CU_OK(drv::cuMemFree_v2(pointer));
  CU_EXPECT(drv::cuMemAllocPitch_v2(&pointer, &pitch, 100, 10, 3), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ContextTest, pinned_and_registered_memory) {
  void* pinned = nullptr;
  CU_OK(drv::cuMemHostAlloc(&pinned, 4096, CU_MEMHOSTALLOC_DEVICEMAP));
  CUdeviceptr mapped = 0;
  CU_OK(drv::cuMemHostGetDevicePointer_v2(&mapped, pinned, 0));
  CUfunction fill = function(load(kKernels), "fill");
  unsigned value = 9, n = 1024;
  CU_OK(launch(fill, 4, 256, {&mapped, &value, &n}));
  CU_OK(drv::cuCtxSynchronize());
  EXPECT_EQ(static_cast<unsigned*>(pinned)[1023], 9u);
  CUmemorytype type;
  CU_OK(drv::cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, reinterpret_cast<CUdeviceptr>(pinned)));
  EXPECT_EQ(type, CU_MEMORYTYPE_HOST);
  CU_OK(drv::cuMemFreeHost(pinned));
  CU_EXPECT(drv::cuMemFreeHost(pinned), CUDA_ERROR_INVALID_VALUE);

  void* ordinary = std::aligned_alloc(4096, 8192);
  CU_OK(drv::cuMemHostRegister_v2(ordinary, 8192, 0));
  CU_EXPECT(drv::cuMemHostRegister_v2(ordinary, 8192, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  CU_OK(drv::cuMemHostUnregister(ordinary));
  CU_EXPECT(drv::cuMemHostUnregister(ordinary), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  std::free(ordinary);
}

TEST_F(ContextTest, managed_memory) {
  CUdeviceptr pointer = 0;
  CU_OK(drv::cuMemAllocManaged(&pointer, 4096, CU_MEM_ATTACH_GLOBAL));
  auto* const host = reinterpret_cast<unsigned*>(pointer);
  std::fill(host, host + 1024, 1u);
  CUfunction fill = function(load(kKernels), "fill");
  unsigned value = 5, n = 1000;
  CU_OK(launch(fill, 4, 256, {&pointer, &value, &n}));
  CU_OK(drv::cuCtxSynchronize());
  EXPECT_EQ(host[999], 5u);
  EXPECT_EQ(host[1000], 1u);
  int managed = 0;
  CU_OK(drv::cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, pointer));
  EXPECT_EQ(managed, 1);
  CU_OK(drv::cuMemFree_v2(pointer));
  CU_EXPECT(drv::cuMemAllocManaged(&pointer, 4096, 77), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ContextTest, pointer_attributes) {
  CUdeviceptr pointer = alloc(1000);
  CUmemorytype type;
  CU_OK(drv::cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, pointer + 999));
  EXPECT_EQ(type, CU_MEMORYTYPE_DEVICE);
  int ordinal = -1;
  CU_OK(drv::cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, pointer));
  EXPECT_EQ(ordinal, device);
  CUcontext owner = nullptr;
  CU_OK(drv::cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, pointer));
  EXPECT_EQ(owner, context);
  int on_stack = 0;
  CU_EXPECT(
      drv::cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, reinterpret_cast<CUdeviceptr>(&on_stack)),
      CUDA_ERROR_INVALID_VALUE);
  // Several at once: unknown addresses give zeros and success.
  CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_POINTER};
  CUdeviceptr device_pointer = 1;
  unsigned kind = 1;
  void* data[] = {&kind, &device_pointer};
  CU_OK(drv::cuPointerGetAttributes(2, attributes, data, reinterpret_cast<CUdeviceptr>(&on_stack)));
  EXPECT_EQ(kind, 0u);
  EXPECT_EQ(device_pointer, 0u);
  CU_OK(drv::cuMemFree_v2(pointer));
}

TEST_F(ContextTest, stream_ordered_allocation) {
  CUstream stream = nullptr;
  CU_OK(drv::cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CUfunction fill = function(load(kKernels), "fill");
  unsigned value = 3, n = 1000;
  for (int round = 0; round < 10; ++round) {
    CUdeviceptr a = 0, b = 0;
    CU_OK(drv::cuMemAllocAsync(&a, n * 4, stream));
    CU_OK(drv::cuMemAllocAsync(&b, n * 4, stream));
    EXPECT_NE(a, b);
    CU_OK(launch(fill, 4, 256, {&a, &value, &n}, stream));
    CU_OK(drv::cuMemcpyDtoDAsync_v2(b, a, n * 4, stream));
    unsigned last = 0;
    CU_OK(drv::cuMemcpyDtoHAsync_v2(&last, b + 4 * (n - 1), 4, stream));
    CU_OK(drv::cuMemFreeAsync(a, stream));
    CU_OK(drv::cuMemFreeAsync(b, stream));
    CU_OK(drv::cuStreamSynchronize(stream));
    EXPECT_EQ(last, 3u);
  }
  CU_OK(drv::cuStreamDestroy_v2(stream));
}

TEST_F(ContextTest, pools) {
  CUmemoryPool standard = nullptr, own = nullptr, current = nullptr;
  CU_OK(drv::cuDeviceGetDefaultMemPool(&standard, device));
  CU_OK(drv::cuDeviceGetMemPool(&current, device));
  EXPECT_EQ(current, standard);
  CUmemPoolProps properties = {};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
  CU_OK(drv::cuMemPoolCreate(&own, &properties));
  cuuint64_t threshold = 1 << 20, used = 0;
  CU_OK(drv::cuMemPoolSetAttribute(own, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
  CUdeviceptr pointer = 0;
  CU_OK(drv::cuMemAllocFromPoolAsync(&pointer, 4096, own, nullptr));
  CU_OK(drv::cuMemPoolGetAttribute(own, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
  EXPECT_GE(used, 4096u);
  CU_OK(drv::cuMemFreeAsync(pointer, nullptr));
  CU_OK(drv::cuStreamSynchronize(nullptr));
  CU_OK(drv::cuMemPoolGetAttribute(own, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
  EXPECT_EQ(used, 0u);
  CU_OK(drv::cuMemPoolTrimTo(own, 0));
  CU_OK(drv::cuMemPoolDestroy(own));
  CU_EXPECT(drv::cuMemPoolDestroy(standard), CUDA_ERROR_INVALID_VALUE);
  CU_OK(drv::cuMemFreeAsync(0, nullptr));
  CU_EXPECT(drv::cuMemFreeAsync(12345, nullptr), CUDA_ERROR_INVALID_VALUE);
}
