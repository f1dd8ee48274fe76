// Initialisation, versions, errors, procedure addresses, devices.
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "driver.h"

TEST(Init, version_needs_no_initialisation) {
  int version = 0;
  CU_OK(drv::cuDriverGetVersion(&version));
  EXPECT_GE(version, 13000);
  CU_EXPECT(drv::cuDriverGetVersion(nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST(Init, calls_before_cuInit_are_refused) {
  // In a child, since this process may have called cuInit already.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        int count = 0;
        std::_Exit(drv::cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST(Init, flags_must_be_0) {
  CU_EXPECT(drv::cuInit(1), CUDA_ERROR_INVALID_VALUE);
  CU_EXPECT(drv::cuInit(0), CUDA_SUCCESS);
  CU_EXPECT(drv::cuInit(0), CUDA_SUCCESS);
}

TEST(Init, child_after_fork_gets_an_error) {
  CU_OK(drv::cuInit(0));
  const pid_t child = fork();
  if (child == 0) {
    int count = 0;
    _exit(drv::cuDeviceGetCount(&count) == CUDA_SUCCESS && drv::is_heddle() ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(Error, names_and_texts) {
  const char* text = nullptr;
  CU_OK(drv::cuGetErrorName(CUDA_ERROR_INVALID_PTX, &text));
  EXPECT_STREQ(text, "CUDA_ERROR_INVALID_PTX");
  CU_OK(drv::cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text));
  EXPECT_STREQ(text, "out of memory");
  CU_EXPECT(drv::cuGetErrorName(static_cast<CUresult>(12345), &text), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(text, nullptr);
}

TEST(ProcAddress, finds_the_newest_form_that_fits) {
  void* pointer = nullptr;
  CUdriverProcAddressQueryResult status;
  CU_OK(drv::cuGetProcAddress_v2("cuMemAlloc", &pointer, 13000, 0, &status));
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SUCCESS);
  EXPECT_EQ(pointer, drv::find("cuMemAlloc_v2"));
  CU_OK(drv::cuGetProcAddress_v2("cuStreamSynchronize", &pointer, 13000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM,
                                 &status));
  EXPECT_EQ(pointer, drv::find("cuStreamSynchronize_ptsz"));
  CU_OK(drv::cuGetProcAddress_v2("cuNoSuchThing", &pointer, 13000, 0, &status));
  EXPECT_EQ(pointer, nullptr);
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  CU_OK(drv::cuGetProcAddress_v2("cuMemPoolCreate", &pointer, 10000, 0, &status));
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  if (drv::is_heddle()) {
    CU_EXPECT(drv::cuGetProcAddress_v2(nullptr, &pointer, 13000, 0, &status), CUDA_ERROR_INVALID_VALUE);
  }
}

TEST(ExportTable, unknown_ids_are_refused) {
  const void* table = &table;
  CUuuid id = {};
  CU_EXPECT(drv::cuGetExportTable(&table, &id), CUDA_ERROR_INVALID_VALUE);
}

TEST(Device, reports_what_programs_compute_with) {
  CU_OK(drv::cuInit(0));
  int count = 0;
  CU_OK(drv::cuDeviceGetCount(&count));
  ASSERT_GE(count, 1);
  CUdevice device = -1;
  CU_OK(drv::cuDeviceGet(&device, 0));
  CU_EXPECT(drv::cuDeviceGet(&device, count), CUDA_ERROR_INVALID_DEVICE);
  CU_EXPECT(drv::cuDeviceGet(&device, -1), CUDA_ERROR_INVALID_DEVICE);
  const auto value = [&](CUdevice_attribute attribute) {
    int v = -1;
    EXPECT_EQ(drv::cuDeviceGetAttribute(&v, attribute, 0), CUDA_SUCCESS);
    return v;
  };
  EXPECT_EQ(value(CU_DEVICE_ATTRIBUTE_WARP_SIZE), 32);
  EXPECT_EQ(value(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 1024);
  EXPECT_EQ(value(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z), 64);
  EXPECT_EQ(value(CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING), 1);
  EXPECT_EQ(value(CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY), 1);
  EXPECT_EQ(value(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH), 1);
  EXPECT_EQ(value(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED), 1);
  EXPECT_GE(value(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT), 1);
  EXPECT_GE(value(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR), 7);
  int v = 0;
  CU_EXPECT(drv::cuDeviceGetAttribute(&v, static_cast<CUdevice_attribute>(9999), 0), CUDA_ERROR_INVALID_VALUE);
  CU_EXPECT(drv::cuDeviceGetAttribute(nullptr, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0), CUDA_ERROR_INVALID_VALUE);
  CU_EXPECT(drv::cuDeviceGetAttribute(&v, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 99), CUDA_ERROR_INVALID_DEVICE);
  size_t bytes = 0;
  CU_OK(drv::cuDeviceTotalMem_v2(&bytes, 0));
  EXPECT_GT(bytes, size_t{1} << 20);
}

TEST(Device, bus_ids_and_uuids_find_their_device) {
  CU_OK(drv::cuInit(0));
  int count = 0;
  CU_OK(drv::cuDeviceGetCount(&count));
  std::vector<std::string> uuids;
  for (int i = 0; i < count; ++i) {
    char bus[32];
    CU_OK(drv::cuDeviceGetPCIBusId(bus, sizeof bus, i));
    CUdevice found = -1;
    CU_OK(drv::cuDeviceGetByPCIBusId(&found, bus));
    EXPECT_EQ(found, i);
    CUuuid id;
    CU_OK(drv::cuDeviceGetUuid_v2(&id, i));
    for (const auto& other : uuids) EXPECT_NE(other, std::string(id.bytes, 16));
    uuids.emplace_back(id.bytes, 16);
  }
}
