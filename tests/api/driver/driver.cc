#include "driver.h"

#include <dlfcn.h>

#include <cstdlib>

namespace drv {
namespace {

void* library() {
  static void* const kLibrary = [] {
    const char* name = std::getenv("HEDDLE_TEST_LIBCUDA");
    void* handle = dlopen(name ? name : HEDDLE_LIBCUDA, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
      std::fprintf(stderr, "%s\n", dlerror());
      std::exit(1);
    }
    return handle;
  }();
  return kLibrary;
}

struct Loader : ::testing::Environment {
  void SetUp() override {
#define HEDDLE_DRIVER(base, suffix, version, needs, stream, coverage, parameters, names) \
  base##suffix = reinterpret_cast<decltype(&::base##suffix)>(dlsym(library(), #base #suffix));
#define HEDDLE_DRIVER_NAME(base, suffix, version, stream, coverage)
#include "heddle/driver.def"
  }
};
const auto* const kLoader = ::testing::AddGlobalTestEnvironment(new Loader);

}  // namespace

void* find(const char* name) { return dlsym(library(), name); }

bool is_heddle() {
  char name[256] = "";
  CUdevice device = 0;
  return cuInit(0) == CUDA_SUCCESS && cuDeviceGet(&device, 0) == CUDA_SUCCESS &&
         cuDeviceGetName(name, sizeof name, device) == CUDA_SUCCESS && std::string(name).starts_with("Heddle");
}

}  // namespace drv

void ContextTest::SetUp() {
  CU_OK(drv::cuInit(0));
  CU_OK(drv::cuDeviceGet(&device, 0));
  CU_OK(drv::cuCtxCreate_v4(&context, nullptr, 0, device));
}

void ContextTest::TearDown() {
  if (context) {
    EXPECT_EQ(drv::cuCtxDestroy_v2(context), CUDA_SUCCESS);
  }
}

CUmodule ContextTest::load(const char* ptx) {
  CUmodule module = nullptr;
  EXPECT_EQ(drv::cuModuleLoadData(&module, ptx), CUDA_SUCCESS);
  return module;
}
CUfunction ContextTest::function(CUmodule module, const char* name) {
  CUfunction found = nullptr;
  EXPECT_EQ(drv::cuModuleGetFunction(&found, module, name), CUDA_SUCCESS) << name;
  return found;
}
CUdeviceptr ContextTest::alloc(size_t bytes) {
  CUdeviceptr pointer = 0;
  EXPECT_EQ(drv::cuMemAlloc_v2(&pointer, bytes), CUDA_SUCCESS);
  return pointer;
}
CUresult ContextTest::launch(CUfunction kernel, unsigned blocks, unsigned threads, std::vector<void*> arguments,
                             CUstream stream) {
  return drv::cuLaunchKernel(kernel, blocks, 1, 1, threads, 1, 1, 0, stream, arguments.data(), nullptr);
}

const char* const kKernels = R"(
.version 6.4
.target sm_75
.address_size 64
.visible .entry add(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u32 pn) {
  .reg .pred %p; .reg .f32 %f<4>; .reg .b32 %r<6>; .reg .b64 %d<12>;
  ld.param.u64 %d1, [pa]; ld.param.u64 %d2, [pb]; ld.param.u64 %d3, [pc]; ld.param.u32 %r2, [pn];
  mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x;
  mad.lo.u32 %r1, %r3, %r4, %r5;
  setp.ge.u32 %p, %r1, %r2;
  @%p bra DONE;
  cvta.to.global.u64 %d4, %d1; cvta.to.global.u64 %d5, %d2; cvta.to.global.u64 %d6, %d3;
  mul.wide.u32 %d7, %r1, 4;
  add.s64 %d8, %d4, %d7; add.s64 %d9, %d5, %d7; add.s64 %d10, %d6, %d7;
  ld.global.f32 %f1, [%d8]; ld.global.f32 %f2, [%d9];
  add.f32 %f3, %f1, %f2;
  st.global.f32 [%d10], %f3;
DONE:
  ret;
}
.visible .entry fill(.param .u64 pp, .param .u32 pv, .param .u32 pn) {
  .reg .pred %p; .reg .b32 %r<7>; .reg .b64 %d<5>;
  ld.param.u64 %d1, [pp]; ld.param.u32 %r2, [pv]; ld.param.u32 %r3, [pn];
  mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ntid.x; mov.u32 %r6, %tid.x;
  mad.lo.u32 %r1, %r4, %r5, %r6;
  setp.ge.u32 %p, %r1, %r3;
  @%p bra DONE;
  cvta.to.global.u64 %d2, %d1; mul.wide.u32 %d3, %r1, 4; add.s64 %d4, %d2, %d3;
  st.global.u32 [%d4], %r2;
DONE:
  ret;
}
.visible .entry spin(.param .u64 pflag) {
  .reg .pred %p; .reg .b32 %r; .reg .b64 %d<3>;
  ld.param.u64 %d1, [pflag]; cvta.to.global.u64 %d2, %d1;
AGAIN:
  ld.volatile.global.u32 %r, [%d2];
  setp.eq.u32 %p, %r, 0;
  @%p bra AGAIN;
  ret;
}
.visible .entry store(.param .u64 pp, .param .u32 pv) {
  .reg .b32 %r; .reg .b64 %d<3>;
  ld.param.u64 %d1, [pp]; cvta.to.global.u64 %d2, %d1; ld.param.u32 %r, [pv];
  st.global.u32 [%d2], %r;
  ret;
}
.visible .entry nothing() { ret; }
)";
