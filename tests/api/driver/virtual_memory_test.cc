// Reserved addresses, memory handles and mappings.
#include "driver.h"

TEST_F(ContextTest, virtual_memory) {
  int supported = 0;
  CU_OK(drv::cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, device));
  if (!supported) GTEST_SKIP();
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
  size_t granularity = 0;
  CU_OK(drv::cuMemGetAllocationGranularity(&granularity, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  CUdeviceptr base = 0;
  CU_OK(drv::cuMemAddressReserve(&base, 4 * granularity, 0, 0, 0));
  CUmemGenericAllocationHandle handle = 0;
  CU_OK(drv::cuMemCreate(&handle, granularity, &properties, 0));
  CU_EXPECT(drv::cuMemCreate(&handle, granularity + 1, &properties, 0), CUDA_ERROR_INVALID_VALUE);
  CU_OK(drv::cuMemMap(base, granularity, 0, handle, 0));
  CU_OK(drv::cuMemMap(base + granularity, granularity, 0, handle, 0));  // the same memory at a second address
  CU_EXPECT(drv::cuMemMap(base, granularity, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
  CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, device}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  CU_OK(drv::cuMemSetAccess(base, 2 * granularity, &access, 1));
  CUfunction fill = function(load(kKernels), "fill");
  unsigned value = 21, n = 1000;
  CU_OK(launch(fill, 4, 256, {&base, &value, &n}));
  EXPECT_EQ(read<unsigned>(base + granularity, 1000)[999], 21u);
  CU_OK(drv::cuMemRelease(handle));  // the mappings keep the memory
  EXPECT_EQ(read<unsigned>(base, 1)[0], 21u);
  CU_EXPECT(drv::cuMemAddressFree(base, 4 * granularity), CUDA_ERROR_INVALID_VALUE);
  CU_OK(drv::cuMemUnmap(base, 2 * granularity));
  CU_OK(drv::cuMemAddressFree(base, 4 * granularity));
}
