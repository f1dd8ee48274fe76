// cuGetProcAddress's table: the newest form that is not newer than the version asked for, twins by flag, and what is
// said of names and versions that aren't there. The exports are expanded here with every row as Missing, so that the
// test needs no driver. Right answers were recorded from NVIDIA's driver 580 (cuGetProcAddress against dlsym).
#include "api/entry.h"
#undef HEDDLE_API_KIND_Done
#define HEDDLE_API_KIND_Done Missing
#include <gtest/gtest.h>

#include "api/driver_exports.h"

namespace heddle::driver {

CUresult admit(api::Needs) noexcept { return CUDA_SUCCESS; }
void failed(const api::Entry&, CUresult) noexcept {}

namespace {

template <class Function>
void* address(Function* function) {
  return reinterpret_cast<void*>(function);
}

TEST(ProcAddress, newest_form_that_is_old_enough) {
  EXPECT_EQ(find_proc_address("cuMemAlloc", 3020, false).pointer, address(&cuMemAlloc_v2));
  EXPECT_EQ(find_proc_address("cuMemAlloc", 13000, false).pointer, address(&cuMemAlloc_v2));
  EXPECT_EQ(find_proc_address("cuMemAlloc", 3010, false).pointer, address(&cuMemAlloc));
  EXPECT_EQ(find_proc_address("cuCtxSynchronize", 2000, false).pointer, address(&cuCtxSynchronize));
  EXPECT_EQ(find_proc_address("cuCtxSynchronize", 13000, false).pointer, address(&cuCtxSynchronize_v2));
  EXPECT_EQ(find_proc_address("cuCtxCreate", 12040, false).pointer, address(&cuCtxCreate_v3));
}

TEST(ProcAddress, per_thread_flag_gives_twins) {
  EXPECT_EQ(find_proc_address("cuMemcpyHtoDAsync", 7000, true).pointer, address(&cuMemcpyHtoDAsync_v2_ptsz));
  EXPECT_EQ(find_proc_address("cuMemcpy", 7000, true).pointer, address(&cuMemcpy_ptds));
  EXPECT_EQ(find_proc_address("cuMemAlloc", 13000, true).pointer, address(&cuMemAlloc_v2));
  EXPECT_EQ(find_proc_address("cuMemcpy", 6999, true).status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  EXPECT_EQ(find_proc_address("cuStreamGetCtx", 12040, true).pointer, address(&cuStreamGetCtx_ptsz));
}

TEST(ProcAddress, says_what_is_wrong) {
  EXPECT_EQ(find_proc_address("cuNoSuchFunction", 13000, false).status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  EXPECT_EQ(find_proc_address("", 13000, false).status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  EXPECT_EQ(find_proc_address("cuMemAlloc_v2", 13000, false).status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  EXPECT_EQ(find_proc_address("cuMemGetAttribute", 13000, false).status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  EXPECT_EQ(find_proc_address("cuInit", 1000, false).status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  EXPECT_EQ(find_proc_address("cuMemAlloc", 0, false).status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  const ProcAddress found = find_proc_address("cuLibraryLoadData", 11080, false);
  EXPECT_EQ(found.status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  EXPECT_EQ(found.pointer, nullptr);
}

TEST(Exports, missing_functions_return_not_supported) {
  CUdeviceptr pointer = 1;
  EXPECT_EQ(cuMemAlloc_v2(&pointer, 16), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(pointer, 1u);
}

}  // namespace
}  // namespace heddle::driver
