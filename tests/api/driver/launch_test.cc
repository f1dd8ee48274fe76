// Launches: argument passing, limits, barriers, cooperative grids, and kernels that fault.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <string>

#include "driver.h"

TEST_F(ContextTest, arguments_by_array_and_by_buffer) {
  constexpr unsigned kN = 1000;
  CUfunction add = function(load(kKernels), "add");
  std::vector<float> a(kN), b(kN, 0.5f);
  std::iota(a.begin(), a.end(), 0.f);
  CUdeviceptr da = alloc(kN * 4), db = alloc(kN * 4), dc = alloc(kN * 4);
  CU_OK(drv::cuMemcpyHtoD_v2(da, a.data(), kN * 4));
  CU_OK(drv::cuMemcpyHtoD_v2(db, b.data(), kN * 4));
  unsigned n = kN;
  CU_OK(launch(add, 8, 128, {&da, &db, &dc, &n}));
  EXPECT_EQ(read<float>(dc, kN)[999], 999.5f);
  CU_OK(drv::cuMemsetD32_v2(dc, 0, kN));
  struct {
    CUdeviceptr a, b, c;
    unsigned n;
  } packed = {da, db, dc, kN};
  size_t bytes = 28;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  CU_OK(drv::cuLaunchKernel(add, 8, 1, 1, 128, 1, 1, 0, nullptr, nullptr, extra));
  EXPECT_EQ(read<float>(dc, kN)[998], 998.5f);
  bytes = 20;  // too small: NVIDIA's driver reads past the end
  if (drv::is_heddle()) {
    CU_EXPECT(drv::cuLaunchKernel(add, 8, 1, 1, 128, 1, 1, 0, nullptr, nullptr, extra), CUDA_ERROR_INVALID_VALUE);
  }
  CU_EXPECT(drv::cuLaunchKernel(add, 8, 1, 1, 128, 1, 1, 0, nullptr, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  CUlaunchConfig configuration = {};
  configuration.gridDimX = 8;
  configuration.blockDimX = 128;
  configuration.gridDimY = configuration.gridDimZ = configuration.blockDimY = configuration.blockDimZ = 1;
  void* arguments[] = {&da, &db, &dc, &n};
  CU_OK(drv::cuLaunchKernelEx(&configuration, add, arguments, nullptr));
  CU_OK(drv::cuCtxSynchronize());
}

TEST_F(ContextTest, launch_limits) {
  CUfunction nothing = function(load(kKernels), "nothing");
  const auto attempt = [&](unsigned gx, unsigned gy, unsigned bx, unsigned by, unsigned bz, unsigned shared) {
    return drv::cuLaunchKernel(nothing, gx, gy, 1, bx, by, bz, shared, nullptr, nullptr, nullptr);
  };
  CU_EXPECT(attempt(1, 1, 1024, 1, 1, 0), CUDA_SUCCESS);
  CU_EXPECT(attempt(1, 1, 2048, 1, 1, 0), CUDA_ERROR_INVALID_VALUE);
  CU_EXPECT(attempt(1, 1, 64, 64, 1, 0), CUDA_ERROR_INVALID_VALUE);
  CU_EXPECT(attempt(1, 1, 1, 1, 65, 0), CUDA_ERROR_INVALID_VALUE);
  CU_EXPECT(attempt(0, 1, 32, 1, 1, 0), CUDA_ERROR_INVALID_VALUE);
  CU_EXPECT(attempt(1, 1, 0, 1, 1, 0), CUDA_ERROR_INVALID_VALUE);
  CU_EXPECT(attempt(1, 65536, 32, 1, 1, 0), CUDA_ERROR_INVALID_VALUE);
  CU_EXPECT(attempt(1, 1, 32, 1, 1, 48 << 10), CUDA_SUCCESS);
  CU_EXPECT(attempt(1, 1, 32, 1, 1, (48 << 10) + 4), CUDA_ERROR_INVALID_VALUE);
  CU_OK(drv::cuFuncSetAttribute(nothing, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 64 << 10));
  CU_EXPECT(attempt(1, 1, 32, 1, 1, 64 << 10), CUDA_SUCCESS);
  CU_EXPECT(drv::cuFuncSetAttribute(nothing, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 30),
            CUDA_ERROR_INVALID_VALUE);
  CU_OK(drv::cuCtxSynchronize());
}

namespace {

// Each block reverses 256 numbers through dynamic shared memory.
const char* const kReverse = R"(
.version 6.4
.target sm_75
.address_size 64
.extern .shared .align 4 .b8 buffer[];
.visible .entry reverse(.param .u64 pp) {
  .reg .b32 %r<12>; .reg .b64 %d<6>;
  ld.param.u64 %d1, [pp]; cvta.to.global.u64 %d2, %d1;
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
  mad.lo.u32 %r4, %r2, %r3, %r1;
  mul.wide.u32 %d3, %r4, 4; add.s64 %d4, %d2, %d3;
  ld.global.u32 %r5, [%d4];
  shl.b32 %r6, %r1, 2; mov.u32 %r7, buffer; add.u32 %r8, %r7, %r6;
  st.shared.u32 [%r8], %r5;
  bar.sync 0;
  sub.u32 %r9, %r3, 1; sub.u32 %r9, %r9, %r1; shl.b32 %r9, %r9, 2; add.u32 %r10, %r7, %r9;
  ld.shared.u32 %r11, [%r10];
  st.global.u32 [%d4], %r11;
  ret;
}
)";

const char* const kFaults = R"(
.version 6.4
.target sm_75
.address_size 64
.visible .entry trap_it() { trap; ret; }
.visible .entry wild(.param .u64 pp) {
  .reg .pred %p; .reg .b32 %r<3>; .reg .b64 %d<3>;
  ld.param.u64 %d1, [pp];
  mov.u32 %r1, %ctaid.x; setp.ne.u32 %p, %r1, 5;
  @%p bra DONE;
  st.global.u32 [%d1], %r1;
DONE:
  ret;
}
.visible .entry misaligned(.param .u64 pp) {
  .reg .b32 %r; .reg .b64 %d<3>;
  ld.param.u64 %d1, [pp]; cvta.to.global.u64 %d2, %d1;
  ld.global.u32 %r, [%d2+2];
  st.global.u32 [%d2], %r;
  ret;
}
// Block 2: thread 37 writes to a bad address.
.visible .entry poke(.param .u64 pp) {
  .reg .pred %p<3>; .reg .b32 %r<3>; .reg .b64 %d<3>;
  ld.param.u64 %d1, [pp];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x;
  setp.ne.u32 %p1, %r1, 2; @%p1 bra DONE;
  setp.ne.u32 %p2, %r2, 37; @%p2 bra DONE;
  st.global.u32 [%d1], %r2;  // poke
DONE:
  ret;
}
// Every thread writes past the end of the 400 bytes at pp, in the same page. Then thread 0 passes on the bad address
// through shared memory, and the threads from 37 on, which is (5,4,0) in a block of 8x8, write there, side by side.
.visible .entry overrun(.param .u64 pp, .param .u64 pbad) {
  .reg .pred %p; .reg .b32 %r<6>; .reg .b64 %d<7>;
  .shared .align 8 .b64 passed;
  ld.param.u64 %d1, [pp]; ld.param.u64 %d2, [pbad];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mad.lo.u32 %r3, %r2, 8, %r1;
  mul.wide.u32 %d3, %r3, 4; add.s64 %d4, %d1, %d3;
  st.global.u32 [%d4+400], %r3;
  setp.eq.u32 %p, %r3, 0;
  @%p st.shared.u64 [passed], %d2;
  bar.sync 0;
  ld.shared.u64 %d5, [passed];
  setp.lt.u32 %p, %r3, 37; @%p bra DONE;
  add.s64 %d6, %d5, %d3;
  st.global.u32 [%d6], %r3;  // overrun
DONE:
  ret;
}
// Thread 5 writes to the bad address if the flag was 0 and sets it, else it waits for ever.
.visible .entry once(.param .u64 pflag, .param .u64 pbad) {
  .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %d<3>;
  ld.param.u64 %d1, [pflag]; ld.param.u64 %d2, [pbad];
  mov.u32 %r1, %tid.x; setp.ne.u32 %p, %r1, 5; @%p bra DONE;
  atom.global.exch.b32 %r2, [%d1], 1;
  setp.ne.u32 %p, %r2, 0; @%p bra AGAIN;
  st.global.u32 [%d2], %r1;  // once
  bra DONE;
AGAIN:
  ld.volatile.global.u32 %r3, [%d1];
  setp.ne.u32 %p, %r3, 7; @%p bra AGAIN;
DONE:
  ret;
}
)";

/// The line of the text that ends in the given comment, as "PTX line N".
std::string ptx_line(const char* comment) {
  const std::string text = kFaults;
  const auto at = text.find(comment);
  return "PTX line " + std::to_string(1 + std::count(text.begin(), text.begin() + static_cast<long>(at), '\n'));
}

/// What the given case of this program writes to stderr in a process of its own. (The log's options are read once a
/// process.)
std::string log_of(const char* test) {
  char self[4096] = "";
  EXPECT_GT(readlink("/proc/self/exe", self, sizeof self - 1), 0);
  const std::string command =
      "HEDDLE_LOG=info HEDDLE_LOG_FILE= '" + std::string(self) + "' --gtest_filter=" + test + " 2>&1 >/dev/null";
  FILE* const pipe = popen(command.c_str(), "r");
  if (!pipe) return "no process could be started";
  std::string text;
  char part[4096];
  while (const size_t bytes = fread(part, 1, sizeof part, pipe)) text.append(part, bytes);
  EXPECT_EQ(pclose(pipe), 0) << text;
  return text;
}

}  // namespace

TEST_F(ContextTest, dynamic_shared_memory_and_barrier) {
  CUfunction reverse = function(load(kReverse), "reverse");
  std::vector<unsigned> values(256 * 20);
  std::iota(values.begin(), values.end(), 0u);
  CUdeviceptr p = alloc(values.size() * 4);
  CU_OK(drv::cuMemcpyHtoD_v2(p, values.data(), values.size() * 4));
  void* arguments[] = {&p};
  CU_OK(drv::cuLaunchKernel(reverse, 20, 1, 1, 256, 1, 1, 1024, nullptr, arguments, nullptr));
  const auto result = read<unsigned>(p, values.size());
  for (unsigned i = 0; i < values.size(); ++i) ASSERT_EQ(result[i], i / 256 * 256 + 255 - i % 256);
}

TEST_F(ContextTest, cooperative_launch_size) {
  CUfunction nothing = function(load(kKernels), "nothing");
  CU_OK(drv::cuLaunchCooperativeKernel(nothing, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr));
  CU_EXPECT(drv::cuLaunchCooperativeKernel(nothing, 1u << 20, 1, 1, 1024, 1, 1, 0, nullptr, nullptr),
            CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
  CU_OK(drv::cuCtxSynchronize());
}

TEST_F(ContextTest, many_block_shapes) {
  CUfunction fill = function(load(kKernels), "fill");
  unsigned n = 4096;
  CUdeviceptr p = alloc(n * 4);
  for (unsigned threads = 32; threads <= 1024; threads += 32) {
    CU_OK(launch(fill, (n + threads - 1) / threads, threads, {&p, &threads, &n}));
    EXPECT_EQ(read<unsigned>(p, n)[n - 1], threads);
  }
}

/// A fault poisons its context, and here no other. NVIDIA's driver refuses the whole process from then on (seen on an
/// H200), so there each case needs a process of its own.
class FaultTest : public ContextTest {
 protected:
  void SetUp() override {
    if (!drv::is_heddle() && GTEST_FLAG_GET(filter).find("FaultTest.") == std::string::npos)
      GTEST_SKIP() << "ends CUDA for this process: run with --gtest_filter=FaultTest.name";
    ContextTest::SetUp();
  }
  void expect_sticky(CUresult code) {
    CU_EXPECT(drv::cuCtxSynchronize(), code);
    CUdeviceptr p = 0;
    CU_EXPECT(drv::cuMemAlloc_v2(&p, 4), code);
    CU_EXPECT(drv::cuStreamSynchronize(nullptr), code);
    CU_EXPECT(drv::cuStreamQuery(nullptr), code);
    // What only asks about the context still answers.
    CUcontext current = nullptr;
    CU_OK(drv::cuCtxGetCurrent(&current));
    EXPECT_EQ(current, context);
    CU_OK(drv::cuCtxPopCurrent_v2(nullptr));
    CU_OK(drv::cuCtxPushCurrent_v2(context));
    CU_OK(drv::cuCtxDestroy_v2(context));
    context = nullptr;
    if (!drv::is_heddle()) return;
    CU_OK(drv::cuCtxCreate_v4(&context, nullptr, 0, device));
    CU_OK(drv::cuMemAlloc_v2(&p, 4));
    CU_OK(launch(function(load(kKernels), "nothing"), 1, 32, {}));
    CU_OK(drv::cuCtxSynchronize());
  }
};

TEST_F(FaultTest, illegal_address) {
  CUfunction wild = function(load(kFaults), "wild");
  CUdeviceptr bad = 64;
  CU_OK(launch(wild, 10, 64, {&bad}));
  expect_sticky(CUDA_ERROR_ILLEGAL_ADDRESS);
}
TEST_F(FaultTest, freed_memory) {
  CUfunction fill = function(load(kKernels), "fill");
  CUdeviceptr p = alloc(size_t{16} << 20);
  CU_OK(drv::cuMemFree_v2(p));
  unsigned value = 1, n = 1;
  CU_OK(launch(fill, 1, 32, {&p, &value, &n}));
  expect_sticky(CUDA_ERROR_ILLEGAL_ADDRESS);
}
TEST_F(FaultTest, trap) {
  CU_OK(launch(function(load(kFaults), "trap_it"), 1, 32, {}));
  const CUresult code = drv::cuCtxSynchronize();
  // A GPU says illegal instruction or launch failure, by its generation.
  EXPECT_TRUE(code == CUDA_ERROR_LAUNCH_FAILED || code == CUDA_ERROR_ILLEGAL_INSTRUCTION) << code;
  expect_sticky(code);
}
TEST_F(FaultTest, misaligned_address) {
  CUfunction misaligned = function(load(kFaults), "misaligned");
  CUdeviceptr p = alloc(64);
  CU_OK(launch(misaligned, 1, 1, {&p}));
  if (drv::is_heddle() && drv::cuCtxSynchronize() == CUDA_SUCCESS)
    GTEST_SKIP() << "generated code does not check alignment; the interpreter does";
  expect_sticky(CUDA_ERROR_MISALIGNED_ADDRESS);
}
TEST_F(FaultTest, one_thread) {
  CUdeviceptr bad = 64;
  CU_OK(launch(function(load(kFaults), "poke"), 4, 64, {&bad}));
  expect_sticky(CUDA_ERROR_ILLEGAL_ADDRESS);
}
TEST_F(FaultTest, overrun) {
  CUdeviceptr p = alloc(400), bad = 4096;
  void* arguments[] = {&p, &bad};
  CU_OK(drv::cuLaunchKernel(function(load(kFaults), "overrun"), 3, 1, 1, 8, 8, 1, 0, nullptr, arguments, nullptr));
  expect_sticky(CUDA_ERROR_ILLEGAL_ADDRESS);
}
TEST_F(FaultTest, no_canonical_address) {
  CUdeviceptr bad = 0x4000000000000000;
  CU_OK(launch(function(load(kFaults), "poke"), 4, 64, {&bad}));
  expect_sticky(CUDA_ERROR_ILLEGAL_ADDRESS);
}
TEST_F(FaultTest, not_twice) {
  CUdeviceptr flag = alloc(4), bad = 64;
  CU_OK(drv::cuMemsetD32_v2(flag, 0, 1));
  CU_OK(launch(function(load(kFaults), "once"), 1, 32, {&flag, &bad}));
  expect_sticky(CUDA_ERROR_ILLEGAL_ADDRESS);
}

/// What the log says of the cases above.
TEST(FaultLog, names_kernel_block_thread_address_and_line) {
  if (!drv::is_heddle()) GTEST_SKIP() << "the log is ours";
  const std::string poke = log_of("FaultTest.one_thread");
  EXPECT_NE(poke.find("kernel poke: illegal address at 0x40 in block (2,0,0), thread (37,0,0), " + ptx_line("// poke")),
            std::string::npos)
      << poke;
  // Which block is first depends on the workers.
  const std::string overrun = log_of("FaultTest.overrun");
  EXPECT_NE(overrun.find("kernel overrun: illegal address at 0x1094 in block ("), std::string::npos) << overrun;
  EXPECT_NE(overrun.find(", thread (5,4,0), " + ptx_line("// overrun")), std::string::npos) << overrun;
  const std::string wild = log_of("FaultTest.no_canonical_address");
  EXPECT_NE(wild.find("kernel poke: illegal address at 0x4000000000000000 in block (2,0,0), thread (37,0,0), " +
                      ptx_line("// poke")),
            std::string::npos)
      << wild;
}
TEST(FaultLog, names_the_warp_when_the_block_goes_another_way_the_second_time) {
  if (!drv::is_heddle()) GTEST_SKIP() << "the log is ours";
  const std::string log = log_of("FaultTest.not_twice");
  EXPECT_NE(log.find("kernel once: illegal address at 0x40 in block (0,0,0), threads 0 to 31 (warp 0)"),
            std::string::npos)
      << log;
}
TEST_F(FaultTest, other_contexts_go_on) {
  CUcontext other = nullptr;
  CU_OK(drv::cuCtxCreate_v4(&other, nullptr, 0, device));
  CUfunction nothing = function(load(kKernels), "nothing");
  CU_OK(drv::cuCtxPushCurrent_v2(context));
  CUdeviceptr bad = 64;
  CU_OK(launch(function(load(kFaults), "wild"), 10, 64, {&bad}));
  CU_EXPECT(drv::cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  CU_OK(drv::cuCtxPopCurrent_v2(nullptr));
  if (drv::is_heddle()) {
    CU_OK(launch(nothing, 1, 32, {}));
    CU_OK(drv::cuCtxSynchronize());
  }
  CU_OK(drv::cuCtxDestroy_v2(other));
}
