// The driver API alone, without the runtime library: a kernel from text. Where a libnvrtc is found the text is CUDA
// C++, compiled now; elsewhere it is the PTX below.
//   heddle c++ driver_api.cpp -o driver_api -lcuda -ldl && heddle run ./driver_api
#include <cuda.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#define CU_CHECK(call)                                                           \
  do {                                                                           \
    CUresult result_ = (call);                                                   \
    if (result_ != CUDA_SUCCESS) {                                               \
      const char* text_ = "unknown error";                                       \
      cuGetErrorString(result_, &text_);                                         \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, text_); \
      std::printf("FAILED %s\n", #call);                                         \
      std::exit(1);                                                              \
    }                                                                            \
  } while (0)

static const char kSource[] = R"(
extern "C" __global__ void saxpy(float a, const float* x, float* y, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) y[i] = a * x[i] + y[i];
})";

static const char kPtx[] = R"(
.version 7.0
.target sm_52
.address_size 64
.visible .entry saxpy(.param .f32 a, .param .u64 x, .param .u64 y, .param .u32 count)
{
  .reg .pred %p;
  .reg .b32 %i, %block, %threads, %thread, %n;
  .reg .f32 %a, %x, %y;
  .reg .b64 %px, %py, %offset;
  ld.param.u32 %n, [count];
  mov.u32 %block, %ctaid.x;
  mov.u32 %threads, %ntid.x;
  mov.u32 %thread, %tid.x;
  mad.lo.s32 %i, %block, %threads, %thread;
  setp.ge.s32 %p, %i, %n;
  @%p bra done;
  ld.param.f32 %a, [a];
  ld.param.u64 %px, [x];
  ld.param.u64 %py, [y];
  cvta.to.global.u64 %px, %px;
  cvta.to.global.u64 %py, %py;
  mul.wide.s32 %offset, %i, 4;
  add.s64 %px, %px, %offset;
  add.s64 %py, %py, %offset;
  ld.global.f32 %x, [%px];
  ld.global.f32 %y, [%py];
  fma.rn.f32 %y, %a, %x, %y;
  st.global.f32 [%py], %y;
done:
  ret;
}
)";

// Compiles kSource with NVRTC, which is loaded by name so that the program runs without it. "" where it isn't there.
static std::string compile_with_nvrtc() {
  void* library = nullptr;
  for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"})
    if (!library) library = dlopen(name, RTLD_NOW);
  if (!library) return "";
  using Program = struct _nvrtcProgram*;
  auto create =
      reinterpret_cast<int (*)(Program*, const char*, const char*, int, const char* const*, const char* const*)>(
          dlsym(library, "nvrtcCreateProgram"));
  auto compile = reinterpret_cast<int (*)(Program, int, const char* const*)>(dlsym(library, "nvrtcCompileProgram"));
  auto size = reinterpret_cast<int (*)(Program, size_t*)>(dlsym(library, "nvrtcGetPTXSize"));
  auto get = reinterpret_cast<int (*)(Program, char*)>(dlsym(library, "nvrtcGetPTX"));
  auto destroy = reinterpret_cast<int (*)(Program*)>(dlsym(library, "nvrtcDestroyProgram"));
  if (!create || !compile || !size || !get || !destroy) return "";
  Program program = nullptr;
  size_t bytes = 0;
  std::string ptx;
  if (create(&program, kSource, "saxpy.cu", 0, nullptr, nullptr) != 0) return "";
  const char* options[] = {"--gpu-architecture=compute_75"};
  if (compile(program, 1, options) == 0 && size(program, &bytes) == 0) {
    ptx.resize(bytes);
    if (get(program, ptx.data()) != 0) ptx.clear();
  }
  destroy(&program);
  return ptx;
}

int main() {
  constexpr int kCount = 10000;
  std::string compiled = compile_with_nvrtc();
  std::printf("the kernel comes from %s\n", compiled.empty() ? "PTX text" : "CUDA C++, compiled by NVRTC");

  CU_CHECK(cuInit(0));
  CUdevice device;
  CUcontext context;
  char name[100];
  CU_CHECK(cuDeviceGet(&device, 0));
  CU_CHECK(cuDeviceGetName(name, sizeof name, device));
  std::printf("device 0 is %s\n", name);
  CU_CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CU_CHECK(cuCtxSetCurrent(context));

  CUmodule module;
  CUfunction function;
  char log[2000] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  CUresult loaded = cuModuleLoadDataEx(&module, compiled.empty() ? kPtx : compiled.c_str(), 2, options, values);
  if (loaded != CUDA_SUCCESS) std::fprintf(stderr, "the kernel's text was refused:\n%s\n", log);
  CU_CHECK(loaded);
  CU_CHECK(cuModuleGetFunction(&function, module, "saxpy"));

  std::vector<float> x(kCount), y(kCount), result(kCount);
  for (int i = 0; i < kCount; i++) {
    x[i] = static_cast<float>(i);
    y[i] = static_cast<float>(2 * i);
  }
  CUdeviceptr device_x, device_y;
  CU_CHECK(cuMemAlloc(&device_x, kCount * sizeof(float)));
  CU_CHECK(cuMemAlloc(&device_y, kCount * sizeof(float)));
  CU_CHECK(cuMemcpyHtoD(device_x, x.data(), kCount * sizeof(float)));
  CU_CHECK(cuMemcpyHtoD(device_y, y.data(), kCount * sizeof(float)));

  float a = 0.5f;
  int count = kCount;
  void* arguments[] = {&a, &device_x, &device_y, &count};
  CU_CHECK(cuLaunchKernel(function, (kCount + 127) / 128, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr));
  CU_CHECK(cuMemcpyDtoH(result.data(), device_y, kCount * sizeof(float)));

  CU_CHECK(cuMemFree(device_x));
  CU_CHECK(cuMemFree(device_y));
  CU_CHECK(cuModuleUnload(module));
  CU_CHECK(cuDevicePrimaryCtxRelease(device));

  int wrong = 0;
  for (int i = 0; i < kCount; i++) wrong += result[i] != 2.5f * static_cast<float>(i);  // exact in float
  std::printf("%s driver_api\n", wrong == 0 ? "OK" : "FAILED");
  return wrong != 0;
}
