// Tests of inline_calls, simplify, lower_spin_loops and split_barriers.
#include "compiler/transform/build_for_test.h"
#include "compiler/transform/inline_calls.h"
#include "compiler/transform/lower_spin_loops.h"
#include "compiler/transform/simplify.h"
#include "compiler/transform/split_barriers.h"

namespace heddle::transform {
namespace {

using ir::Op;

int yields(const std::string& body) {
  ir::Program p = build_kernel(body);
  simplify(&p);
  lower_spin_loops(&p);
  split_barriers(&p);
  expect_valid(p, true);
  return count(p.kernel, Op::kYield);
}

TEST(InlineCalls, BarriersAndLocalsOfCallees) {
  ir::Program p = build(R"(
.func (.param .b32 r) f(.param .b32 x) { .reg .b32 a; .local .align 8 .b8 l[24]; .reg .b64 d;
  ld.param.b32 a, [x]; mov.b64 d, l; st.local.u32 [d], a; bar.sync 0; ld.local.u32 a, [d]; st.param.b32 [r], a; ret; }
.visible .entry k() { .reg .b32 %r<3>; .reg .b64 %rd<2>;
  { .param .b32 p; .param .b32 q; st.param.b32 [p], %r1; call (q), f, (p); ld.param.b32 %r2, [q]; }
  { .param .b32 p; .param .b32 q; st.param.b32 [p], %r2; call (q), f, (p); ld.param.b32 %r2, [q]; }
  st.global.u32 [%rd1], %r2; ret; })");
  inline_calls(&p);
  expect_valid(p);
  EXPECT_TRUE(p.functions.empty());
  EXPECT_EQ(count(p.kernel, Op::kCall), 0);
  EXPECT_EQ(count(p.kernel, Op::kBarrier), 2);
  EXPECT_EQ(count(p.kernel, Op::kLocalAlloc), 0);
  EXPECT_GE(p.local_bytes, 24u);
  split_barriers(&p);
  expect_valid(p, true);
}

TEST(InlineCalls, RecursionStaysAFunction) {
  ir::Program p = build(R"(
.func (.param .b32 r) g(.param .b32 x) { ret; }
.func (.param .b32 r) f(.param .b32 x) { .reg .b32 a; .reg .pred p; ld.param.b32 a, [x]; setp.eq.u32 p, a, 0; @p bra E;
  { .param .b32 s; .param .b32 t; st.param.b32 [s], a; call (t), f, (s); call (t), g, (s); ld.param.b32 a, [t]; }
E: st.param.b32 [r], a; ret; }
.visible .entry k() { .reg .b32 a; .reg .b64 d; { .param .b32 p; .param .b32 q; st.param.b32 [p], 3; call (q), f, (p);
  ld.param.b32 a, [q]; } st.global.u32 [d], a; ret; })");
  inline_calls(&p);
  simplify(&p);
  expect_valid(p);
  ASSERT_EQ(p.functions.size(), 1u);
  EXPECT_EQ(p.functions[0].name, "f");
  EXPECT_EQ(count(p.kernel, Op::kCall), 1);
}

TEST(Simplify, FoldsAddressesAndDropsWhatIsUnused) {
  ir::Program p = build_kernel(R"(
  ld.param.u64 %rd1, [a]; cvta.to.global.u64 %rd2, %rd1; add.s64 %rd3, %rd2, 16; mul.wide.u32 %rd4, 3, 4;
  add.s64 %rd5, %rd3, %rd4; mov.u32 %r1, 7; add.u32 %r2, %r1, 1; shl.b32 %r3, %r2, 2; ld.global.u32 %r7, [%rd1];
  st.global.u32 [%rd5+4], %r3; ret;)");
  simplify(&p);
  expect_valid(p);
  const ir::Inst* store = find(p.kernel, Op::kStore);
  EXPECT_EQ(store->imm, 16u + 12 + 4);
  EXPECT_EQ(count(p.kernel, Op::kAdd), 0);
  EXPECT_EQ(count(p.kernel, Op::kCvtaToSpace), 0);
  EXPECT_EQ(count(p.kernel, Op::kLoad), 1);  // the parameter; the unused load is gone
}

TEST(Simplify, KeepsVolatileLoadsAndConstantBranchesGo) {
  ir::Program p = build_kernel("ld.volatile.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, 1, 1; @%p1 bra L; trap; L: ret;");
  simplify(&p);
  expect_valid(p);
  EXPECT_EQ(count(p.kernel, Op::kLoad), 1);
  EXPECT_EQ(count(p.kernel, Op::kTrap), 0);
  EXPECT_EQ(p.kernel.blocks.size(), 1u);
}

TEST(SplitBarriers, EachBarrierEndsItsBlock) {
  ir::Program p = build_kernel("bar.sync 0; bar.sync 1; bar.red.popc.u32 %r1, 0, %p1; st.global.u32 [%rd1], %r1; ret;");
  split_barriers(&p);
  expect_valid(p, true);
  EXPECT_EQ(p.kernel.blocks.size(), 4u);
}

TEST(SpinLoops, WaitingForOthersYields) {
  // A lock, taken in the loop's condition.
  EXPECT_EQ(yields("L: atom.global.cas.b32 %r1, [%rd1], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra L; ret;"), 1);
  // A flag.
  EXPECT_EQ(yields("L: ld.acquire.gpu.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra L; ret;"), 1);
  EXPECT_EQ(yields("L: ld.volatile.shared.u32 %r1, [%r2]; setp.eq.u32 %p1, %r1, 0; @%p1 bra L; ret;"), 1);
  // The flag decides through a variable and a branch.
  EXPECT_EQ(yields("mov.u32 %r3, 0; L: atom.global.exch.b32 %r1, [%rd1], 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra N; "
                   "st.global.u32 [%rd2], 4; mov.u32 %r3, 1; N: setp.eq.u32 %p2, %r3, 0; @%p2 bra L; ret;"),
            1);
  // Sleeping is waiting.
  EXPECT_EQ(yields("L: nanosleep.u32 20; ld.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra L; ret;"), 1);
}

TEST(SpinLoops, LoopsThatEndByThemselvesDoNot) {
  // Counted, with a volatile load in it.
  EXPECT_EQ(
      yields("mov.u32 %r2, 0; L: ld.volatile.global.u32 %r1, [%rd1]; st.global.u32 [%rd2], %r1; add.u32 %r2, %r2, 1; "
             "setp.lt.u32 %p1, %r2, 9; @%p1 bra L; ret;"),
      0);
  // A work queue.
  EXPECT_EQ(yields("L: atom.global.add.u32 %r1, [%rd1], 1; setp.lt.u32 %p1, %r1, 100; @%p1 bra L; ret;"), 0);
  // The retry loop of a lock-free update: the expected value is what the last try found.
  EXPECT_EQ(yields("ld.global.u32 %r1, [%rd1]; L: add.u32 %r2, %r1, 5; mov.u32 %r3, %r1; "
                   "atom.global.cas.b32 %r1, [%rd1], %r3, %r2; setp.ne.u32 %p1, %r1, %r3; @%p1 bra L; ret;"),
            0);
}

}  // namespace
}  // namespace heddle::transform
