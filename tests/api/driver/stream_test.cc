// Streams and events: order, the default streams, waiting, timing, host functions, memory operations.
#include <atomic>
#include <chrono>
#include <thread>

#include "driver.h"

namespace {

/// A kernel that runs until the host lets it end.
class HeldKernel {
 public:
  HeldKernel(ContextTest*, CUfunction spin, CUstream stream) {
    EXPECT_EQ(drv::cuMemHostAlloc(reinterpret_cast<void**>(&flag_), 4, CU_MEMHOSTALLOC_DEVICEMAP), CUDA_SUCCESS);
    *flag_ = 0;
    CUdeviceptr pointer = 0;
    EXPECT_EQ(drv::cuMemHostGetDevicePointer_v2(&pointer, flag_, 0), CUDA_SUCCESS);
    void* arguments[] = {&pointer};
    EXPECT_EQ(drv::cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr), CUDA_SUCCESS);
  }
  void let_go() { __atomic_store_n(flag_, 1u, __ATOMIC_RELEASE); }
  ~HeldKernel() { let_go(); }

 private:
  unsigned* flag_ = nullptr;
};

}  // namespace

class StreamTest : public ContextTest {
 protected:
  void SetUp() override {
    ContextTest::SetUp();
    module = load(kKernels);
    spin = function(module, "spin");
    store = function(module, "store");
    p = alloc(4);
    CU_OK(drv::cuMemsetD32_v2(p, 0, 1));
    CU_OK(drv::cuCtxSynchronize());
    CU_OK(drv::cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    CU_OK(drv::cuStreamCreate(&other, CU_STREAM_DEFAULT));
    CU_OK(drv::cuStreamCreate(&free_stream, CU_STREAM_NON_BLOCKING));
    // Kernels are loaded at their first launch, which may wait for the device; so that comes first.
    unsigned zero = 0, *warm = nullptr;
    CU_OK(drv::cuMemHostAlloc(reinterpret_cast<void**>(&warm), 4, 0));
    *warm = 1;
    CU_OK(launch(store, 1, 1, {&p, &zero}));
    CU_OK(launch(spin, 1, 1, {&warm}));
    CU_OK(drv::cuCtxSynchronize());
  }
  CUmodule module = nullptr;
  CUfunction spin = nullptr, store = nullptr;
  CUdeviceptr p = 0;
  CUstream blocking = nullptr, other = nullptr, free_stream = nullptr;
};

TEST_F(StreamTest, kernel_that_waits_for_the_host_does_not_hold_the_caller) {
  HeldKernel held(this, spin, blocking);
  CU_EXPECT(drv::cuStreamQuery(blocking), CUDA_ERROR_NOT_READY);
  CU_EXPECT(drv::cuStreamQuery(other), CUDA_SUCCESS);
  held.let_go();
  CU_OK(drv::cuStreamSynchronize(blocking));
  CU_EXPECT(drv::cuStreamQuery(blocking), CUDA_SUCCESS);
}

TEST_F(StreamTest, legacy_stream_waits_for_blocking_streams_and_they_for_it) {
  unsigned one = 1, two = 2;
  {
    HeldKernel held(this, spin, blocking);
    CU_OK(launch(store, 1, 1, {&p, &one}));         // legacy: waits for the held kernel
    CU_OK(launch(store, 1, 1, {&p, &two}, other));  // waits for the legacy stream
    CU_EXPECT(drv::cuStreamQuery(nullptr), CUDA_ERROR_NOT_READY);
    CU_EXPECT(drv::cuStreamQuery(other), CUDA_ERROR_NOT_READY);
    // A non-blocking stream goes on.
    CUdeviceptr q = 0;
    CU_OK(drv::cuMemAllocAsync(&q, 4, free_stream));
    CU_OK(launch(store, 1, 1, {&q, &one}, free_stream));
    CU_OK(drv::cuStreamSynchronize(free_stream));
  }
  CU_OK(drv::cuCtxSynchronize());
  EXPECT_EQ(read<unsigned>(p, 1)[0], 2u);
}

TEST_F(StreamTest, per_thread_default_stream_is_blocking_and_of_the_thread) {
  using Launch = decltype(drv::cuLaunchKernel);
  const auto launch_ptsz = reinterpret_cast<Launch>(drv::find("cuLaunchKernel_ptsz"));
  const auto query_ptsz = reinterpret_cast<decltype(drv::cuStreamQuery)>(drv::find("cuStreamQuery_ptsz"));
  ASSERT_NE(launch_ptsz, nullptr);
  HeldKernel held(this, spin, CU_STREAM_PER_THREAD);
  CU_EXPECT(query_ptsz(nullptr), CUDA_ERROR_NOT_READY);
  CU_EXPECT(drv::cuStreamQuery(CU_STREAM_PER_THREAD), CUDA_ERROR_NOT_READY);
  std::thread([&] {
    CU_EXPECT(drv::cuCtxSetCurrent(context), CUDA_SUCCESS);
    CU_EXPECT(query_ptsz(nullptr), CUDA_SUCCESS);  // its own
  }).join();
  unsigned one = 1;
  CU_OK(launch(store, 1, 1, {&p, &one}));  // the legacy stream waits for it
  CU_EXPECT(drv::cuStreamQuery(nullptr), CUDA_ERROR_NOT_READY);
  held.let_go();
  CU_OK(drv::cuCtxSynchronize());
}

TEST_F(StreamTest, events_order_streams_and_measure) {
  CUevent begin = nullptr, end = nullptr, untimed = nullptr;
  CU_OK(drv::cuEventCreate(&begin, 0));
  CU_OK(drv::cuEventCreate(&end, 0));
  CU_OK(drv::cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING));
  CU_EXPECT(drv::cuEventQuery(begin), CUDA_SUCCESS);  // never recorded
  float milliseconds = -1;
  CU_EXPECT(drv::cuEventElapsedTime_v2(&milliseconds, begin, end), CUDA_ERROR_INVALID_HANDLE);
  CU_OK(drv::cuEventRecord(begin, free_stream));
  unsigned seven = 7;
  {
    HeldKernel held(this, spin, free_stream);
    CU_OK(drv::cuEventRecord(end, free_stream));
    CU_EXPECT(drv::cuEventQuery(end), CUDA_ERROR_NOT_READY);
    CU_OK(drv::cuEventSynchronize(begin));
    CU_EXPECT(drv::cuEventElapsedTime_v2(&milliseconds, begin, end), CUDA_ERROR_NOT_READY);
    CU_OK(drv::cuStreamWaitEvent(blocking, end, 0));
    CU_OK(launch(store, 1, 1, {&p, &seven}, blocking));
    CU_EXPECT(drv::cuStreamQuery(blocking), CUDA_ERROR_NOT_READY);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    CU_EXPECT(drv::cuStreamQuery(blocking), CUDA_ERROR_NOT_READY);
  }
  CU_OK(drv::cuStreamSynchronize(blocking));
  CU_EXPECT(drv::cuEventQuery(end), CUDA_SUCCESS);
  CU_OK(drv::cuEventElapsedTime_v2(&milliseconds, begin, end));
  EXPECT_GE(milliseconds, 19.f);
  EXPECT_LT(milliseconds, 10'000.f);
  CU_OK(drv::cuEventRecord(untimed, nullptr));
  CU_OK(drv::cuEventSynchronize(untimed));
  CU_EXPECT(drv::cuEventElapsedTime_v2(&milliseconds, begin, untimed), CUDA_ERROR_INVALID_HANDLE);
  for (CUevent event : {begin, end, untimed}) {
    CU_OK(drv::cuEventDestroy_v2(event));
  }
}

TEST_F(StreamTest, host_functions_run_in_order_on_another_thread) {
  struct State {
    std::atomic<int> calls{0};
    std::thread::id thread;
    CUresult status = CUDA_ERROR_UNKNOWN;
  } state;
  CU_OK(drv::cuLaunchHostFunc(
      blocking,
      [](void* data) {
        auto* s = static_cast<State*>(data);
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        s->calls = 1;
      },
      &state));
  CU_OK(drv::cuStreamAddCallback(
      blocking,
      [](CUstream, CUresult status, void* data) {
        auto* s = static_cast<State*>(data);
        s->status = status;
        if (s->calls == 1) s->calls = 2;
      },
      &state, 0));
  CU_OK(drv::cuStreamSynchronize(blocking));
  EXPECT_EQ(state.calls, 2);
  EXPECT_EQ(state.status, CUDA_SUCCESS);
  CU_EXPECT(drv::cuLaunchHostFunc(blocking, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(StreamTest, waits_and_writes_on_memory) {
  unsigned* flag = nullptr;
  CU_OK(drv::cuMemHostAlloc(reinterpret_cast<void**>(&flag), 64, 0));
  flag[0] = flag[1] = 0;
  const auto at = reinterpret_cast<CUdeviceptr>(flag);
  CU_OK(drv::cuStreamWaitValue32_v2(free_stream, at, 5, CU_STREAM_WAIT_VALUE_GEQ));
  CU_OK(drv::cuStreamWriteValue32_v2(free_stream, at + 4, 77, 0));
  CU_EXPECT(drv::cuStreamQuery(free_stream), CUDA_ERROR_NOT_READY);
  __atomic_store_n(flag, 6u, __ATOMIC_RELEASE);
  CU_OK(drv::cuStreamSynchronize(free_stream));
  EXPECT_EQ(flag[1], 77u);
  CU_EXPECT(drv::cuStreamWaitValue32_v2(free_stream, at + 2, 5, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(StreamTest, pageable_sources_may_change_after_the_call) {
  HeldKernel held(this, spin, free_stream);
  unsigned value = 11;
  std::thread release([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    held.let_go();
  });
  CU_OK(drv::cuMemcpyHtoDAsync_v2(p, &value, 4, free_stream));
  value = 12;
  CU_OK(drv::cuStreamSynchronize(free_stream));
  release.join();
  EXPECT_EQ(read<unsigned>(p, 1)[0], 11u);
}

TEST_F(StreamTest, properties) {
  unsigned flags = 9;
  int priority = 9;
  CU_OK(drv::cuStreamGetFlags(free_stream, &flags));
  EXPECT_EQ(flags, static_cast<unsigned>(CU_STREAM_NON_BLOCKING));
  int least = -1, greatest = 1;
  CU_OK(drv::cuCtxGetStreamPriorityRange(&least, &greatest));
  EXPECT_LE(greatest, least);
  CUstream urgent = nullptr;
  CU_OK(drv::cuStreamCreateWithPriority(&urgent, 0, greatest - 10));  // cut to the range
  CU_OK(drv::cuStreamGetPriority(urgent, &priority));
  EXPECT_EQ(priority, greatest);
  CUcontext owner = nullptr;
  CU_OK(drv::cuStreamGetCtx(urgent, &owner));
  EXPECT_EQ(owner, context);
  unsigned long long a = 0, b = 0;
  CU_OK(drv::cuStreamGetId(urgent, &a));
  CU_OK(drv::cuStreamGetId(blocking, &b));
  EXPECT_NE(a, b);
  CU_EXPECT(drv::cuStreamCreate(&urgent, 77), CUDA_ERROR_INVALID_VALUE);
  CU_EXPECT(drv::cuStreamCreate(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(StreamTest, stream_may_be_destroyed_while_it_works) {
  unsigned five = 5;
  {
    HeldKernel held(this, spin, free_stream);
    CU_OK(launch(store, 1, 1, {&p, &five}, free_stream));
    CU_OK(drv::cuStreamDestroy_v2(free_stream));
  }
  CU_OK(drv::cuCtxSynchronize());
  EXPECT_EQ(read<unsigned>(p, 1)[0], 5u);
}

TEST_F(StreamTest, many_threads_many_streams) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      ASSERT_EQ(drv::cuCtxSetCurrent(context), CUDA_SUCCESS);
      CUstream mine = nullptr;
      ASSERT_EQ(drv::cuStreamCreate(&mine, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
      CUdeviceptr q = 0;
      ASSERT_EQ(drv::cuMemAlloc_v2(&q, 4), CUDA_SUCCESS);
      for (unsigned i = 1; i <= 200; ++i) {
        unsigned value = i * 10 + static_cast<unsigned>(t), got = 0;
        void* arguments[] = {&q, &value};
        ASSERT_EQ(drv::cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, mine, arguments, nullptr), CUDA_SUCCESS);
        ASSERT_EQ(drv::cuMemcpyDtoHAsync_v2(&got, q, 4, mine), CUDA_SUCCESS);
        ASSERT_EQ(drv::cuStreamSynchronize(mine), CUDA_SUCCESS);
        ASSERT_EQ(got, value);
      }
      ASSERT_EQ(drv::cuStreamDestroy_v2(mine), CUDA_SUCCESS);
    });
  for (auto& thread : threads) thread.join();
}
