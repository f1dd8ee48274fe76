// Modules, functions, libraries, kernels, variables, and images that are broken.
#include <cstring>

#include "driver.h"

namespace {

const char* const kVariables = R"(
.version 6.4
.target sm_75
.address_size 64
.visible .global .align 4 .u32 counter = 41;
.global .align 8 .u64 pointer_to_counter = generic(counter);
.visible .const .align 4 .u32 table[4] = {10, 20, 30};
.visible .entry read(.param .u64 out) {
  .reg .b64 %d<5>; .reg .b32 %r<4>;
  ld.param.u64 %d1, [out]; cvta.to.global.u64 %d2, %d1;
  ld.global.u64 %d3, [pointer_to_counter];
  ld.u32 %r1, [%d3];
  ld.const.u32 %r2, [table+8];
  add.u32 %r3, %r1, %r2;
  st.global.u32 [%d2], %r3;
  ret;
}
)";

}  // namespace

TEST_F(ContextTest, functions_by_name) {
  CUmodule module = load(kKernels);
  CUfunction add = function(module, "add"), again = function(module, "add"), other = nullptr;
  EXPECT_EQ(add, again);
  CU_EXPECT(drv::cuModuleGetFunction(&other, module, "subtract"), CUDA_ERROR_NOT_FOUND);
  CU_EXPECT(drv::cuModuleGetFunction(&other, module, ""), CUDA_ERROR_INVALID_VALUE);
  CU_EXPECT(drv::cuModuleGetFunction(&other, module, nullptr), CUDA_ERROR_INVALID_VALUE);
  int value = 0;
  CU_OK(drv::cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, add));
  EXPECT_EQ(value, 1024);
  CU_OK(drv::cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, add));
  EXPECT_EQ(value, 0);
  CU_OK(drv::cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_PTX_VERSION, add));
  EXPECT_EQ(value, 75);
  size_t offset = 0, size = 0;
  CU_OK(drv::cuFuncGetParamInfo(add, 3, &offset, &size));
  EXPECT_EQ(offset, 24u);
  EXPECT_EQ(size, 4u);
  CU_EXPECT(drv::cuFuncGetParamInfo(add, 4, &offset, &size), CUDA_ERROR_INVALID_VALUE);
  const char* name = nullptr;
  CU_OK(drv::cuFuncGetName(&name, add));
  EXPECT_STREQ(name, "add");
  unsigned count = 0;
  CU_OK(drv::cuModuleGetFunctionCount(&count, module));
  EXPECT_EQ(count, 5u);
  CU_OK(drv::cuModuleUnload(module));
  if (drv::is_heddle()) {
    CU_EXPECT(launch(add, 1, 1, {}), CUDA_ERROR_INVALID_HANDLE);
  }
}

TEST_F(ContextTest, variables) {
  CUmodule module = load(kVariables);
  CUdeviceptr counter = 0;
  size_t bytes = 0;
  CU_OK(drv::cuModuleGetGlobal_v2(&counter, &bytes, module, "counter"));
  EXPECT_EQ(bytes, 4u);
  EXPECT_EQ(read<unsigned>(counter, 1)[0], 41u);
  CUdeviceptr out = alloc(4);
  CUfunction kernel = function(module, "read");
  CU_OK(launch(kernel, 1, 1, {&out}));
  EXPECT_EQ(read<unsigned>(out, 1)[0], 71u);
  unsigned value = 100;
  CU_OK(drv::cuMemcpyHtoD_v2(counter, &value, 4));
  CUdeviceptr table = 0;
  CU_OK(drv::cuModuleGetGlobal_v2(&table, nullptr, module, "table"));
  value = 7;
  CU_OK(drv::cuMemcpyHtoD_v2(table + 8, &value, 4));
  CU_OK(launch(kernel, 1, 1, {&out}));
  EXPECT_EQ(read<unsigned>(out, 1)[0], 107u);
  CU_EXPECT(drv::cuModuleGetGlobal_v2(&table, &bytes, module, "nothing"), CUDA_ERROR_NOT_FOUND);
  // Two modules of the same text have variables of their own.
  CUmodule second = load(kVariables);
  CU_OK(drv::cuModuleGetGlobal_v2(&counter, &bytes, second, "counter"));
  EXPECT_EQ(read<unsigned>(counter, 1)[0], 41u);
}

TEST_F(ContextTest, broken_ptx_is_explained) {
  char log[2048] = "", info[512] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_INFO_LOG_BUFFER,
                            CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
  const auto attempt = [&](const char* text) {
    void* values[] = {log, reinterpret_cast<void*>(sizeof log), info, reinterpret_cast<void*>(sizeof info)};
    log[0] = 0;
    CUmodule module = nullptr;
    const CUresult result = drv::cuModuleLoadDataEx(&module, text, 4, options, values);
    EXPECT_LT(reinterpret_cast<size_t>(values[1]), sizeof log);
    return result;
  };
  CU_EXPECT(attempt(".version 6.4\n.target sm_75\n.address_size 64\n.entry k() { add.u32 %r1, %r2; }\n"),
            CUDA_ERROR_INVALID_PTX);
  EXPECT_TRUE(std::strstr(log, "4") != nullptr) << log;
  CU_EXPECT(attempt(".version 6.4\n.target sm_75\n.address_size 64\n.entry k() { frobnicate.u32 %r1, %r2; }\n"),
            CUDA_ERROR_INVALID_PTX);
  EXPECT_NE(std::strstr(log, "frobnicate"), nullptr) << log;
  CU_EXPECT(attempt(".version 99.9\n.target sm_75\n.address_size 64\n.entry k() { ret; }\n"),
            CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  CU_EXPECT(attempt(".version 6.4\n.target sm_75\n.address_size 64\n.entry k() { ret;\n"), CUDA_ERROR_INVALID_PTX);
  // An error that is longer than the buffer is cut.
  char small[8];
  CUjit_option two[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {small, reinterpret_cast<void*>(sizeof small)};
  CUmodule module = nullptr;
  CU_EXPECT(drv::cuModuleLoadDataEx(&module, ".version 6.4\n.target sm_75\nbroken", 2, two, values),
            CUDA_ERROR_INVALID_PTX);
  EXPECT_LT(std::strlen(small), sizeof small);
}

TEST_F(ContextTest, images_that_are_no_ptx) {
  CUmodule module = nullptr;
  alignas(8) char nonsense[64] = "this is neither PTX nor a fatbin";
  CU_EXPECT(drv::cuModuleLoadData(&module, nonsense), CUDA_ERROR_INVALID_IMAGE);
  CU_EXPECT(drv::cuModuleLoadData(&module, nullptr), CUDA_ERROR_INVALID_VALUE);
  CU_EXPECT(drv::cuModuleLoadData(nullptr, kKernels), CUDA_ERROR_INVALID_VALUE);
  CU_EXPECT(drv::cuModuleLoad(&module, "/no/such/file"), CUDA_ERROR_FILE_NOT_FOUND);
  // A container that announces more than there is.
  alignas(8) unsigned char container[64] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0, 0xff, 0xff, 0xff, 0xff, 0x7f};
  const CUresult damaged = drv::cuModuleLoadFatBinary(&module, container);
  EXPECT_EQ(damaged, drv::is_heddle() ? CUDA_ERROR_INVALID_IMAGE : CUDA_ERROR_NO_BINARY_FOR_GPU);
}

TEST_F(ContextTest, libraries_and_kernels) {
  CUlibrary library = nullptr;
  CU_OK(drv::cuLibraryLoadData(&library, kVariables, nullptr, nullptr, 0, nullptr, nullptr, 0));
  CUkernel kernel = nullptr;
  CU_OK(drv::cuLibraryGetKernel(&kernel, library, "read"));
  CU_EXPECT(drv::cuLibraryGetKernel(&kernel, library, "write"), CUDA_ERROR_NOT_FOUND);
  CU_OK(drv::cuLibraryGetKernel(&kernel, library, "read"));
  unsigned count = 0;
  CU_OK(drv::cuLibraryGetKernelCount(&count, library));
  EXPECT_EQ(count, 1u);
  CUfunction found = nullptr;
  CU_OK(drv::cuKernelGetFunction(&found, kernel));
  CUdeviceptr out = alloc(4);
  CU_OK(launch(found, 1, 1, {&out}));
  EXPECT_EQ(read<unsigned>(out, 1)[0], 71u);
  // A kernel's handle may stand for a function's.
  CU_OK(launch(reinterpret_cast<CUfunction>(kernel), 1, 1, {&out}));
  CUdeviceptr counter = 0;
  size_t bytes = 0;
  CU_OK(drv::cuLibraryGetGlobal(&counter, &bytes, library, "counter"));
  EXPECT_EQ(bytes, 4u);
  const char* name = nullptr;
  CU_OK(drv::cuKernelGetName(&name, kernel));
  EXPECT_STREQ(name, "read");
  CU_OK(drv::cuCtxSynchronize());
  CU_OK(drv::cuLibraryUnload(library));
  if (drv::is_heddle()) {
    CU_EXPECT(drv::cuLibraryUnload(library), CUDA_ERROR_INVALID_HANDLE);
  }
}

TEST_F(ContextTest, linking_one_text) {
  CUlinkState state = nullptr;
  CU_OK(drv::cuLinkCreate_v2(0, nullptr, nullptr, &state));
  CU_OK(drv::cuLinkAddData_v2(state, CU_JIT_INPUT_PTX, const_cast<char*>(kKernels), std::strlen(kKernels) + 1,
                              "kernels", 0, nullptr, nullptr));
  void* image = nullptr;
  size_t size = 0;
  CU_OK(drv::cuLinkComplete(state, &image, &size));
  CUmodule module = nullptr;
  CU_OK(drv::cuModuleLoadData(&module, image));
  CU_OK(drv::cuLinkDestroy(state));
  CU_OK(launch(function(module, "nothing"), 1, 32, {}));
  CU_OK(drv::cuCtxSynchronize());
}

TEST_F(ContextTest, occupancy) {
  CUfunction add = function(load(kKernels), "add");
  int blocks = 0, grid = 0, block = 0;
  CU_OK(drv::cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 256, 0));
  EXPECT_GE(blocks, 4);
  CU_OK(drv::cuOccupancyMaxPotentialBlockSize(&grid, &block, add, nullptr, 0, 0));
  EXPECT_GE(block, 128);
  EXPECT_LE(block, 1024);
  EXPECT_GE(grid, 1);
  CU_EXPECT(drv::cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 0, 0), CUDA_ERROR_INVALID_VALUE);
  CU_OK(drv::cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 1024, size_t{1} << 30));
  EXPECT_EQ(blocks, 0);
}
