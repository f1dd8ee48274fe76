// The loader asks for the form of each function that its pointer's type has, and leaves a stub where there is none.
#include "api/driver_table.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <tuple>

namespace heddle::api {
namespace {

TEST(DriverTable, functions_not_found_ask_for_a_newer_driver) {
  DriverTable table;
  table.load([](const char*, const char*, int, bool) -> void* { return nullptr; });
  EXPECT_EQ(table.cuInit(0), CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER);
  EXPECT_EQ(table.cuMemcpyHtoDAsync_v2_ptsz(0, nullptr, 0, nullptr), CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER);
}

CUresult some_alloc(CUdeviceptr* pointer, size_t bytes) {
  *pointer = bytes;
  return CUDA_SUCCESS;
}

// Right values: the names and versions that NVIDIA's runtime asks its driver for.
TEST(DriverTable, asks_by_base_name_version_and_flag) {
  std::map<std::string, std::tuple<std::string, int, bool>> asked;
  DriverTable table;
  table.load([&](const char* base, const char* exported, int version, bool per_thread) -> void* {
    asked[exported] = {base, version, per_thread};
    return std::string(exported) == "cuMemAlloc_v2" ? reinterpret_cast<void*>(&some_alloc) : nullptr;
  });
  using Asked = std::tuple<std::string, int, bool>;
  EXPECT_EQ(asked.at("cuMemAlloc_v2"), Asked("cuMemAlloc", 3020, false));
  EXPECT_EQ(asked.at("cuMemcpy"), Asked("cuMemcpy", 4000, false));
  EXPECT_EQ(asked.at("cuMemcpy_ptds"), Asked("cuMemcpy", 7000, true));
  EXPECT_EQ(asked.at("cuCtxSynchronize_v2"), Asked("cuCtxSynchronize", 13000, false));
  EXPECT_EQ(asked.at("cuStreamGetCaptureInfo_v2_ptsz"), Asked("cuStreamGetCaptureInfo", 11030, true));
  EXPECT_EQ(asked.at("cuLaunchKernelEx_ptsz"), Asked("cuLaunchKernelEx", 11060, true));
  CUdeviceptr pointer = 0;
  EXPECT_EQ(table.cuMemAlloc_v2(&pointer, 7), CUDA_SUCCESS);
  EXPECT_EQ(pointer, 7u);
}

}  // namespace
}  // namespace heddle::api
