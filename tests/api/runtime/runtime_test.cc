// The runtime API over whatever libcuda.so.1 is found: the same cases can be run on a GPU (with HEDDLE_TEST_ON_GPU=1
// the few that rest on the CPU device's own promises are left out). Kernels come as PTX text through
// cudaLibraryLoadData and through hand-made registration, so the file needs no CUDA compiler.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "fatbin/pack.h"

// What compilers call; not in a public header.
extern "C" {
void** __cudaRegisterFatBinary(void* wrapper);
void __cudaRegisterFatBinaryEnd(void** handle);
void __cudaUnregisterFatBinary(void** handle);
void __cudaRegisterFunction(void** handle, const char* stub, char* device_function, const char* device_name,
                            int thread_limit, uint3* thread, uint3* block, dim3* block_size, dim3* grid_size,
                            int* warp_size);
void __cudaRegisterVar(void** handle, char* host_variable, char* device_address, const char* device_name, int external,
                       size_t bytes, int constant, int global);
unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, struct CUstream_st* stream);
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared_bytes, void* stream);
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* stub);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes,
                               cudaStream_t stream);
}

namespace fatbin = heddle::fatbin;

namespace {

constexpr const char* kPtx = R"(
.version 8.0
.target sm_52
.address_size 64
.global .align 4 .u32 counter;
.const .align 4 .f32 factor = 0f40000000;

.visible .entry scale(.param .u64 p_data, .param .u32 p_n, .param .f32 p_by) {
  .reg .pred %p;
  .reg .b32 %r<6>;
  .reg .f32 %f<4>;
  .reg .b64 %d<4>;
  ld.param.u64 %d1, [p_data];
  ld.param.u32 %r1, [p_n];
  ld.param.f32 %f1, [p_by];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.s32 %p, %r5, %r1;
  @%p ret;
  cvta.to.global.u64 %d2, %d1;
  mul.wide.s32 %d3, %r5, 4;
  add.s64 %d2, %d2, %d3;
  ld.global.f32 %f2, [%d2];
  mul.f32 %f3, %f2, %f1;
  st.global.f32 [%d2], %f3;
  ret;
}
.visible .entry count() {
  .reg .b32 %r<3>;
  .reg .b64 %d<2>;
  mov.u64 %d1, counter;
  atom.global.add.u32 %r1, [%d1], 1;
  ret;
}
.visible .entry poke(.param .u64 address) {
  .reg .b64 %d<2>;
  ld.param.u64 %d1, [address];
  st.global.u32 [%d1], 7;
  ret;
}
)";

#define OK(call) ASSERT_EQ(cudaSuccess, (call))

/// What a compiler's constructor would register: kPtx in a container, two kernels and two variables.
class Registered {
 public:
  Registered() {
    image_ = *fatbin::pack_ptx(kPtx, fatbin::Compression::kZstd);
    wrapper_ = {0x466243b1, 1, image_.data(), nullptr};
    handle_ = __cudaRegisterFatBinary(&wrapper_);
    __cudaRegisterFunction(handle_, &scale_stub, nullptr, "scale", -1, nullptr, nullptr, nullptr, nullptr, nullptr);
    __cudaRegisterFunction(handle_, &count_stub, nullptr, "count", -1, nullptr, nullptr, nullptr, nullptr, nullptr);
    __cudaRegisterFunction(handle_, &absent_stub, nullptr, "absent", -1, nullptr, nullptr, nullptr, nullptr, nullptr);
    __cudaRegisterVar(handle_, &counter, nullptr, "counter", 0, 4, 0, 0);
    __cudaRegisterVar(handle_, &factor, nullptr, "factor", 0, 4, 1, 0);
    __cudaRegisterFatBinaryEnd(handle_);
  }
  ~Registered() { __cudaUnregisterFatBinary(handle_); }

  char scale_stub = 0, count_stub = 0, absent_stub = 0, counter = 0, factor = 0;

 private:
  struct Wrapper {
    std::uint32_t magic, version;
    const void* data;
    const void* more;
  } wrapper_;
  std::string image_;
  void** handle_;
};

class Runtime : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaSuccess, cudaFree(nullptr));
    (void)cudaGetLastError();
  }
};

TEST_F(Runtime, versions_and_devices) {
  int runtime = 0, driver = 0, count = 0, device = -1;
  OK(cudaRuntimeGetVersion(&runtime));
  OK(cudaDriverGetVersion(&driver));
  EXPECT_EQ(runtime, CUDART_VERSION);
  EXPECT_GE(driver, runtime);
  OK(cudaGetDeviceCount(&count));
  ASSERT_GE(count, 1);
  OK(cudaGetDevice(&device));
  EXPECT_EQ(device, 0);
  EXPECT_EQ(cudaSetDevice(count), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);

  cudaDeviceProp properties;
  OK(cudaGetDeviceProperties(&properties, 0));
  int warp = 0, major = 0;
  OK(cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, 0));
  OK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  EXPECT_EQ(properties.warpSize, warp);
  EXPECT_EQ(properties.major, major);
  EXPECT_EQ(properties.maxThreadsPerBlock, 1024);
  EXPECT_EQ(properties.maxThreadsDim[2], 64);
  EXPECT_EQ(properties.maxGridSize[0], 0x7fffffff);
  EXPECT_GT(properties.totalGlobalMem, 0u);
  EXPECT_NE(properties.name[0], '\0');
}

TEST_F(Runtime, errors_are_kept_until_read) {
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(cudaMalloc(nullptr, 8), cudaErrorInvalidValue);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidValue);
  int count;
  OK(cudaGetDeviceCount(&count));                                          // success doesn't clear it
  std::thread([] { EXPECT_EQ(cudaGetLastError(), cudaSuccess); }).join();  // it belongs to the thread
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_STREQ(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument");
  EXPECT_STREQ(cudaGetErrorString(cudaSuccess), "no error");
}

TEST_F(Runtime, memory_copies_in_every_direction) {
  std::vector<int> in(1000), out(1000);
  std::iota(in.begin(), in.end(), 5);
  int *a, *b;
  OK(cudaMalloc(&a, 4000));
  OK(cudaMalloc(&b, 4000));
  OK(cudaMemcpy(a, in.data(), 4000, cudaMemcpyHostToDevice));
  OK(cudaMemcpy(b, a, 4000, cudaMemcpyDeviceToDevice));
  OK(cudaMemcpy(out.data(), b, 4000, cudaMemcpyDefault));
  EXPECT_EQ(in, out);
  OK(cudaMemset(b, 0xff, 400));
  OK(cudaMemcpy(out.data(), b, 4000, cudaMemcpyDeviceToHost));
  EXPECT_EQ(out[99], -1);
  EXPECT_EQ(out[100], in[100]);
  EXPECT_EQ(cudaMemcpy(a, in.data(), 4, static_cast<cudaMemcpyKind>(9)), cudaErrorInvalidMemcpyDirection);
  OK(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyDeviceToHost));
  OK(cudaFree(a));
  OK(cudaFree(b));
  OK(cudaFree(nullptr));
  int on_stack = 0;
  EXPECT_EQ(cudaFree(&on_stack), cudaErrorInvalidValue);
  (void)cudaGetLastError();
}

TEST_F(Runtime, two_and_three_dimensions) {
  constexpr std::size_t kWidth = 13, kHeight = 7, kDepth = 3;
  cudaPitchedPtr device;
  OK(cudaMalloc3D(&device, make_cudaExtent(kWidth, kHeight, kDepth)));
  EXPECT_GE(device.pitch, kWidth);
  EXPECT_EQ(device.pitch % 32, 0u);
  std::vector<unsigned char> in(kWidth * kHeight * kDepth), out(in.size());
  std::iota(in.begin(), in.end(), 0);
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(in.data(), kWidth, kWidth, kHeight);
  copy.dstPtr = device;
  copy.extent = make_cudaExtent(kWidth, kHeight, kDepth);
  copy.kind = cudaMemcpyHostToDevice;
  OK(cudaMemcpy3D(&copy));
  copy.srcPtr = device;
  copy.dstPtr = make_cudaPitchedPtr(out.data(), kWidth, kWidth, kHeight);
  copy.kind = cudaMemcpyDeviceToHost;
  OK(cudaMemcpy3D(&copy));
  EXPECT_EQ(in, out);

  // The second plane alone, as 2-D.
  std::fill(out.begin(), out.end(), 0);
  OK(cudaMemcpy2D(out.data(), kWidth, static_cast<char*>(device.ptr) + device.pitch * kHeight, device.pitch, kWidth,
                  kHeight, cudaMemcpyDeviceToHost));
  EXPECT_TRUE(std::equal(out.begin(), out.begin() + kWidth * kHeight, in.begin() + kWidth * kHeight));
  OK(cudaMemset2D(device.ptr, device.pitch, 9, 5, 2));
  OK(cudaMemcpy2D(out.data(), kWidth, device.ptr, device.pitch, kWidth, kHeight, cudaMemcpyDeviceToHost));
  EXPECT_EQ(out[kWidth + 4], 9);
  EXPECT_EQ(out[kWidth + 5], in[kWidth + 5]);
  EXPECT_EQ(cudaMemcpy2D(out.data(), 3, device.ptr, device.pitch, kWidth, kHeight, cudaMemcpyDeviceToHost),
            cudaErrorInvalidPitchValue);
  (void)cudaGetLastError();
  OK(cudaFree(device.ptr));
}

TEST_F(Runtime, pointer_attributes_tell_memory_apart) {
  void *device, *pinned, *managed;
  OK(cudaMalloc(&device, 64));
  OK(cudaMallocHost(&pinned, 64));
  OK(cudaMallocManaged(&managed, 64));
  int stack = 0;
  const std::array<std::pair<void*, cudaMemoryType>, 4> cases = {{{device, cudaMemoryTypeDevice},
                                                                  {pinned, cudaMemoryTypeHost},
                                                                  {managed, cudaMemoryTypeManaged},
                                                                  {&stack, cudaMemoryTypeUnregistered}}};
  for (const auto& [pointer, type] : cases) {
    cudaPointerAttributes attributes;
    OK(cudaPointerGetAttributes(&attributes, pointer));
    EXPECT_EQ(attributes.type, type);
  }
  std::memset(managed, 1, 64);  // the host may use it
  OK(cudaFree(device));
  OK(cudaFreeHost(pinned));
  OK(cudaFree(managed));
}

TEST_F(Runtime, registered_kernels_launch_by_both_protocols) {
  Registered module;
  float* data;
  OK(cudaMalloc(&data, 100 * sizeof(float)));
  std::vector<float> host(100, 3);
  OK(cudaMemcpy(data, host.data(), 400, cudaMemcpyHostToDevice));
  int n = 99;
  float by = 2;
  void* arguments[] = {&data, &n, &by};
  OK(cudaLaunchKernel(&module.scale_stub, dim3(4), dim3(32), arguments, 0, nullptr));
  cudaKernel_t kernel;
  OK(__cudaGetKernel(&kernel, &module.scale_stub));
  ASSERT_EQ(0u, __cudaPushCallConfiguration(dim3(1), dim3(128), 0, nullptr));
  dim3 grid, block;
  std::size_t shared;
  cudaStream_t stream;
  OK(__cudaPopCallConfiguration(&grid, &block, &shared, &stream));
  EXPECT_EQ(block.x, 128u);
  OK(__cudaLaunchKernel(kernel, grid, block, arguments, shared, stream));
  EXPECT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared, &stream), cudaErrorMissingConfiguration);
  OK(cudaMemcpy(host.data(), data, 400, cudaMemcpyDeviceToHost));
  EXPECT_EQ(host[98], 12);
  EXPECT_EQ(host[99], 3);
  OK(cudaFree(data));

  EXPECT_EQ(__cudaGetKernel(&kernel, &module.absent_stub), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(__cudaLaunchKernel(kernel, dim3(1), dim3(1), nullptr, 0, nullptr), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(cudaLaunchKernel(&module.absent_stub, dim3(1), dim3(1), nullptr, 0, nullptr),
            cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(cudaLaunchKernel(&data, dim3(1), dim3(1), nullptr, 0, nullptr), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(cudaLaunchKernel(&module.count_stub, dim3(1), dim3(2048), nullptr, 0, nullptr),
            cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaLaunchKernel(&module.count_stub, dim3(0), dim3(1), nullptr, 0, nullptr), cudaErrorInvalidConfiguration);
  (void)cudaGetLastError();
}

TEST_F(Runtime, symbols_need_not_be_visible) {
  Registered module;
  void* address;
  std::size_t bytes;
  OK(cudaGetSymbolAddress(&address, &module.counter));
  OK(cudaGetSymbolSize(&bytes, &module.counter));
  EXPECT_EQ(bytes, 4u);
  OK(cudaLaunchKernel(&module.count_stub, dim3(3), dim3(50), nullptr, 0, nullptr));
  std::uint32_t count = 0;
  OK(cudaMemcpyFromSymbol(&count, &module.counter, 4, 0, cudaMemcpyDeviceToHost));
  EXPECT_EQ(count, 150u);
  float factor = 0;
  OK(cudaMemcpyFromSymbol(&factor, &module.factor, 4, 0, cudaMemcpyDeviceToHost));
  EXPECT_EQ(factor, 2.0f);
  factor = 4;
  OK(cudaMemcpyToSymbol(&module.factor, &factor, 4, 0, cudaMemcpyHostToDevice));
  EXPECT_EQ(cudaMemcpyToSymbol(&module.factor, &factor, 4, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetSymbolAddress(&address, &count), cudaErrorInvalidSymbol);
  (void)cudaGetLastError();
}

TEST_F(Runtime, unregistering_forgets_kernels) {
  char stub_address_of_the_past;
  {
    Registered module;
    OK(cudaLaunchKernel(&module.count_stub, dim3(1), dim3(1), nullptr, 0, nullptr));
    OK(cudaDeviceSynchronize());
    std::memcpy(&stub_address_of_the_past, &module.count_stub, 1);
  }
  Registered again;  // most likely at the same addresses
  OK(cudaLaunchKernel(&again.count_stub, dim3(2), dim3(1), nullptr, 0, nullptr));
  std::uint32_t count = 0;
  OK(cudaMemcpyFromSymbol(&count, &again.counter, 4, 0, cudaMemcpyDeviceToHost));
  EXPECT_EQ(count, 2u) << "a new registration begins with fresh variables";
}

TEST_F(Runtime, libraries_and_function_attributes) {
  cudaLibrary_t library;
  OK(cudaLibraryLoadData(&library, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  unsigned count = 0;
  OK(cudaLibraryGetKernelCount(&count, library));
  EXPECT_EQ(count, 3u);
  cudaKernel_t kernel;
  OK(cudaLibraryGetKernel(&kernel, library, "scale"));
  EXPECT_EQ(cudaLibraryGetKernel(&kernel, library, "nothing"), cudaErrorSymbolNotFound);
  (void)cudaGetLastError();
  cudaFuncAttributes attributes;
  OK(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel)));
  EXPECT_EQ(attributes.maxThreadsPerBlock, 1024);
  std::size_t offset, size;
  OK(cudaFuncGetParamInfo(reinterpret_cast<const void*>(kernel), 2, &offset, &size));
  EXPECT_EQ(offset, 12u);
  EXPECT_EQ(size, 4u);
  int blocks = 0;
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, reinterpret_cast<const void*>(kernel), 128, 0));
  EXPECT_GT(blocks, 0);
  OK(cudaLibraryUnload(library));
}

TEST_F(Runtime, streams_events_and_host_functions) {
  Registered module;
  cudaStream_t stream;
  cudaEvent_t begin, end;
  OK(cudaStreamCreate(&stream));
  OK(cudaEventCreate(&begin));
  OK(cudaEventCreate(&end));
  float *data, *pinned;
  OK(cudaMalloc(&data, 4096));
  OK(cudaMallocHost(&pinned, 4096));
  for (int i = 0; i < 1024; ++i) pinned[i] = static_cast<float>(i);
  OK(cudaEventRecord(begin, stream));
  OK(cudaMemcpyAsync(data, pinned, 4096, cudaMemcpyHostToDevice, stream));
  int n = 1024;
  float by = 0.5f;
  void* arguments[] = {&data, &n, &by};
  OK(cudaLaunchKernel(&module.scale_stub, dim3(8), dim3(128), arguments, 0, stream));
  OK(cudaMemcpyAsync(pinned, data, 4096, cudaMemcpyDeviceToHost, stream));
  OK(cudaEventRecord(end, stream));
  std::atomic<int> called{0};
  OK(cudaLaunchHostFunc(stream, [](void* p) { static_cast<std::atomic<int>*>(p)->fetch_add(1); }, &called));
  OK(cudaStreamAddCallback(
      stream,
      [](cudaStream_t, cudaError_t status, void* p) {
        static_cast<std::atomic<int>*>(p)->fetch_add(status == cudaSuccess ? 10 : 0);
      },
      &called, 0));
  OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(called.load(), 11);
  EXPECT_EQ(pinned[100], 50.0f);
  OK(cudaEventQuery(end));
  float ms = -1;
  OK(cudaEventElapsedTime(&ms, begin, end));
  EXPECT_GE(ms, 0.0f);
  OK(cudaEventDestroy(begin));
  OK(cudaEventDestroy(end));
  OK(cudaStreamDestroy(stream));
  EXPECT_EQ(cudaStreamDestroy(nullptr), cudaErrorInvalidResourceHandle);
  (void)cudaGetLastError();
  OK(cudaFree(data));
  OK(cudaFreeHost(pinned));
}

TEST_F(Runtime, stream_ordered_allocation) {
  cudaStream_t stream;
  OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  void* pointer;
  OK(cudaMallocAsync(&pointer, 1 << 20, stream));
  OK(cudaMemsetAsync(pointer, 3, 1 << 20, stream));
  unsigned char byte = 0;
  OK(cudaMemcpyAsync(&byte, static_cast<char*>(pointer) + 4711, 1, cudaMemcpyDeviceToHost, stream));
  OK(cudaFreeAsync(pointer, stream));
  OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(byte, 3);
  cudaMemPool_t pool;
  OK(cudaDeviceGetDefaultMemPool(&pool, 0));
  std::uint64_t threshold = 1 << 20;
  OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  OK(cudaStreamDestroy(stream));
}

TEST_F(Runtime, many_threads_initialise_and_launch) {
  Registered module;
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        if (cudaLaunchKernel(&module.count_stub, dim3(1), dim3(32), nullptr, 0, cudaStreamPerThread) != cudaSuccess)
          return;
      }
      if (cudaStreamSynchronize(cudaStreamPerThread) == cudaSuccess) ++good;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(good.load(), 8);
  std::uint32_t count = 0;
  OK(cudaMemcpyFromSymbol(&count, &module.counter, 4, 0, cudaMemcpyDeviceToHost));
  EXPECT_EQ(count, 8u * 20 * 32);
}

TEST_F(Runtime, graphs_by_capture) {
  Registered module;
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  float* data;
  OK(cudaMalloc(&data, 4));
  float one = 1;
  OK(cudaMemcpy(data, &one, 4, cudaMemcpyHostToDevice));
  int n = 1;
  float by = 2;
  void* arguments[] = {&data, &n, &by};
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < 3; ++i) OK(cudaLaunchKernel(&module.scale_stub, dim3(1), dim3(32), arguments, 0, stream));
  cudaGraph_t graph;
  OK(cudaStreamEndCapture(stream, &graph));
  std::size_t nodes = 0;
  OK(cudaGraphGetNodes(graph, nullptr, &nodes));
  EXPECT_EQ(nodes, 3u);
  cudaGraphExec_t executable;
  OK(cudaGraphInstantiate(&executable, graph, 0));
  OK(cudaGraphLaunch(executable, stream));
  OK(cudaGraphLaunch(executable, stream));
  OK(cudaStreamSynchronize(stream));
  float result = 0;
  OK(cudaMemcpy(&result, data, 4, cudaMemcpyDeviceToHost));
  EXPECT_EQ(result, 64.0f);
  OK(cudaGraphExecDestroy(executable));
  OK(cudaGraphDestroy(graph));
  OK(cudaStreamDestroy(stream));
  OK(cudaFree(data));
}

TEST_F(Runtime, arrays_hold_what_was_copied_in) {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
  cudaArray_t array;
  OK(cudaMallocArray(&array, &format, 8, 4));
  std::vector<float> in(32), out(32);
  std::iota(in.begin(), in.end(), 1.0f);
  OK(cudaMemcpy2DToArray(array, 0, 0, in.data(), 32, 32, 4, cudaMemcpyHostToDevice));
  OK(cudaMemcpy2DFromArray(out.data(), 32, array, 0, 0, 32, 4, cudaMemcpyDeviceToHost));
  EXPECT_EQ(in, out);
  cudaChannelFormatDesc found;
  OK(cudaGetChannelDesc(&found, array));
  EXPECT_EQ(found.x, 32);
  EXPECT_EQ(found.f, cudaChannelFormatKindFloat);
  OK(cudaFreeArray(array));
  const cudaChannelFormatDesc wrong = cudaCreateChannelDesc(32, 8, 0, 0, cudaChannelFormatKindFloat);
  EXPECT_EQ(cudaMallocArray(&array, &wrong, 8, 4), cudaErrorInvalidChannelDescriptor);
  (void)cudaGetLastError();
}

// Last, since it loses the device: a bad address is sticky until the device is reset, and the process lives on.
TEST_F(Runtime, zz_an_illegal_address_is_sticky_until_reset) {
  cudaLibrary_t library;
  OK(cudaLibraryLoadData(&library, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  cudaKernel_t kernel;
  OK(cudaLibraryGetKernel(&kernel, library, "poke"));
  void* bad = reinterpret_cast<void*>(0x10);
  void* arguments[] = {&bad};
  OK(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1), dim3(1), arguments, 0, nullptr));
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
  void* pointer;
  EXPECT_EQ(cudaMalloc(&pointer, 16), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  if (std::getenv("HEDDLE_TEST_ON_GPU")) return;  // there only a new process helps
  OK(cudaDeviceReset());
  (void)cudaGetLastError();
  OK(cudaMalloc(&pointer, 16));
  OK(cudaFree(pointer));
}

}  // namespace
