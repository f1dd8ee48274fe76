#include "compiler/transform/build_ssa.h"

#include "compiler/transform/build_for_test.h"

namespace heddle::transform {
namespace {

using ir::Op;

TEST(BuildSsa, LoopCountersBecomeBlockParameters) {
  ir::Program p = build_kernel(R"(
  ld.param.u32 %r1, [n]; mov.u32 %r2, 0; mov.u32 %r3, 1;
L: add.u32 %r2, %r2, %r3; setp.lt.u32 %p1, %r2, %r1; @%p1 bra L;
  ld.param.u64 %rd1, [a]; st.global.u32 [%rd1], %r2; ret;)");
  int parameters = 0;
  for (const ir::Block& b : p.kernel.blocks) parameters += static_cast<int>(b.parameters.size());
  EXPECT_EQ(parameters, 1);  // %r2 alone; %r1 and %r3 don't change, %p1 is dead at the join
}

// Two entries into a cycle: neither block dominates the other.
TEST(BuildSsa, IrreducibleControlFlow) {
  ir::Program p = build_kernel(R"(
  ld.param.u32 %r1, [n]; setp.eq.u32 %p1, %r1, 0; mov.u32 %r2, 5; @%p1 bra B;
A: add.u32 %r2, %r2, 1; setp.gt.u32 %p2, %r2, 100; @%p2 bra E;
B: add.u32 %r2, %r2, 2; setp.gt.u32 %p3, %r2, 90; @!%p3 bra A;
E: ld.param.u64 %rd1, [a]; st.global.u32 [%rd1], %r2; ret;)");
  int with_parameters = 0;
  for (const ir::Block& b : p.kernel.blocks) with_parameters += !b.parameters.empty();
  EXPECT_EQ(with_parameters, 3);  // A, B and E
}

TEST(BuildSsa, EntryThatIsABranchTarget) {
  ir::Program p = build_kernel("L: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 4; @%p1 bra L; ret;");
  EXPECT_TRUE(p.kernel.blocks[0].parameters.empty());
  EXPECT_EQ(count(p.kernel, Op::kUndef), 1);
}

TEST(BuildSsa, GuardedPureInstructionsSelect) {
  ir::Program p = build_kernel(
      "setp.eq.u32 %p1, %r1, 0; mov.u32 %r2, 1; @%p1 add.u32 %r2, %r2, 4; @!%p1 mov.u32 %r2, 9; "
      "st.global.u32 [%rd1], %r2; ret;");
  EXPECT_EQ(count(p.kernel, Op::kSelect), 2);
  EXPECT_EQ(p.kernel.blocks.size(), 1u);
  // Under @!%p1 the old value is the one taken if %p1 holds.
  const ir::Inst* store = find(p.kernel, Op::kStore);
  const ir::ValueId stored = store->operands[1];
  const auto definition = [&](ir::ValueId v) {
    for (const ir::Inst& inst : p.kernel.blocks[0].insts)
      if (!inst.results.empty() && inst.results[0] == v) return &inst;
    return static_cast<const ir::Inst*>(nullptr);
  };
  ASSERT_EQ(definition(stored)->op, Op::kSelect);
  EXPECT_EQ(definition(definition(stored)->operands[2])->imm, 9u);
}

TEST(BuildSsa, GuardedMemoryKeepsItsGuard) {
  ir::Program p = build_kernel(
      "setp.eq.u32 %p1, %r1, 0; @%p1 st.global.u32 [%rd1+8], %r2; @!%p1 ld.global.u32 %r3, [%rd1]; "
      "st.global.u32 [%rd2], %r3; ret;");
  const ir::Inst* store = find(p.kernel, Op::kStore);
  ASSERT_TRUE(store);
  EXPECT_NE(store->guard, ir::kNoValue);
  EXPECT_EQ(store->imm, 8u);
  EXPECT_NE(find(p.kernel, Op::kLoad)->guard, ir::kNoValue);
}

TEST(BuildSsa, GuardedEffectsBranchAround) {
  ir::Program p = build_kernel("setp.eq.u32 %p1, %r1, 0; @%p1 bar.sync 0; @%p1 exit; ret;");
  EXPECT_EQ(count(p.kernel, Op::kCondBranch), 2);
  EXPECT_EQ(count(p.kernel, Op::kBarrier), 1);
}

TEST(BuildSsa, CarryChain) {
  ir::Program p = build_kernel(R"(
  add.cc.u32 %r1, %r2, %r3; addc.cc.u32 %r4, %r5, %r6; addc.u32 %r7, %r7, 0;
  mad.lo.cc.u32 %r1, %r2, %r3, %r4; madc.hi.u32 %r2, %r2, %r3, 0; sub.cc.u32 %r3, %r4, %r5; subc.u32 %r6, %r6, %r7;
  st.global.v4.u32 [%rd1], {%r1, %r2, %r3, %r6}; st.global.u32 [%rd1+16], %r7; ret;)");
  const auto& insts = p.kernel.blocks[0].insts;
  std::vector<const ir::Inst*> carries;
  for (const ir::Inst& i : insts)
    if (i.op == Op::kAddCarry || i.op == Op::kSubBorrow) carries.push_back(&i);
  ASSERT_EQ(carries.size(), 7u);
  EXPECT_EQ(carries[1]->operands[2], carries[0]->results[1]);
  EXPECT_EQ(carries[2]->operands[2], carries[1]->results[1]);
  EXPECT_EQ(carries[4]->operands[2], carries[3]->results[1]);
  EXPECT_EQ(carries[6]->operands[2], carries[5]->results[1]);
}

TEST(BuildSsa, NarrowLoadsAndStores) {
  ir::Program p = build_kernel(
      "ld.global.s8 %r1, [%rd1]; ld.global.u8 %rs1, [%rd1]; st.global.u8 [%rd1], %r1; "
      "st.global.u16 [%rd1], %rs1; ret;");
  EXPECT_EQ(find(p.kernel, Op::kLoad)->type, ir::Type::kS8);
  EXPECT_EQ(count(p.kernel, Op::kSext), 1);
  EXPECT_EQ(count(p.kernel, Op::kZext), 2);  // the u8 load, and the cut before the store
}

TEST(BuildSsa, KernelParametersAreLaidOut) {
  ir::Program p =
      build(".visible .entry k(.param .u8 c, .param .u64 p, .param .align 4 .b8 s[6], .param .f64 d) { ret; }");
  ASSERT_EQ(p.kernel.parameters.size(), 4u);
  EXPECT_EQ(p.kernel.parameters[0].offset, 0u);
  EXPECT_EQ(p.kernel.parameters[1].offset, 8u);
  EXPECT_EQ(p.kernel.parameters[2].offset, 16u);
  EXPECT_EQ(p.kernel.parameters[3].offset, 24u);
  EXPECT_EQ(p.param_bytes, 32u);
}

TEST(BuildSsa, CallsPassWords) {
  ir::Program p = build(R"(
.func (.param .align 8 .b8 r[12]) f(.param .b32 x, .param .align 8 .b8 s[16]) {
  .reg .b32 %r<3>; .reg .b64 %rd<3>;
  ld.param.b32 %r1, [x]; ld.param.b32 %r2, [s+12]; ld.param.b64 %rd1, [s];
  st.param.b64 [r], %rd1; st.param.b32 [r+8], %r2; ret; }
.visible .entry k() {
  .reg .b32 %r<9>; .reg .b64 %rd<3>;
  { .param .b32 p0; .param .align 8 .b8 p1[16]; .param .align 8 .b8 q[12];
    st.param.b32 [p0], %r1; st.param.v2.b32 [p1], {%r1, %r2}; st.param.b64 [p1+8], %rd1;
    call (q), f, (p0, p1);
    ld.param.b64 %rd2, [q]; ld.param.b32 %r3, [q+8]; }
  st.global.u32 [%rd2], %r3; ret; })");
  ASSERT_EQ(p.functions.size(), 1u);
  EXPECT_EQ(p.functions[0].arguments.size(), 3u);
  EXPECT_EQ(p.functions[0].result_types.size(), 2u);
  EXPECT_EQ(count(p.kernel, Op::kCall), 1);
  EXPECT_EQ(count(p.kernel, Op::kLocalAlloc), 0);
}

TEST(BuildSsa, ParameterWhoseAddressIsTakenLiesInMemory) {
  ir::Program p = build(R"(
.func f(.param .align 8 .b8 s[16]) { .reg .b64 %rd<3>; .reg .b32 %r<2>; mov.b64 %rd1, s; cvta.local.u64 %rd2, %rd1;
  ld.u32 %r1, [%rd2+4]; st.global.u32 [%rd2], %r1; ret; }
.visible .entry k() { { .param .align 8 .b8 p[16]; call f, (p); } ret; })");
  EXPECT_EQ(count(p.functions[0], Op::kLocalAlloc), 1);
}

TEST(BuildSsa, IndirectCallsCompareAddresses) {
  ir::Program p = build(R"(
.func (.param .b32 r) f(.param .b32 x) { .reg .b32 a; ld.param.b32 a, [x]; st.param.b32 [r], a; ret; }
.func (.param .b32 r) g(.param .b32 x) { ret; }
.func h(.param .b64 x) { ret; }
.global .u64 t[3] = {f, g, h};
.visible .entry k() { .reg .b64 %rd<2>; .reg .b32 %r<2>;
  { .param .b32 p; .param .b32 q; st.param.b32 [p], %r1; ld.global.u64 %rd1, [t];
    pr: .callprototype (.param .b32 _) _ (.param .b32 _); call (q), %rd1, (p), pr; ld.param.b32 %r1, [q]; }
  st.global.u32 [%rd1], %r1; ret; })");
  EXPECT_EQ(count(p.kernel, Op::kCall), 2);  // f and g, not h
  EXPECT_EQ(count(p.kernel, Op::kCallIndirect), 0);
  EXPECT_EQ(p.functions.size(), 2u);
}

TEST(BuildSsa, UnknownFunctionsAndWrongWidthsAreNamed) {
  std::string log;
  EXPECT_FALSE(try_build(".extern .func f; .visible .entry k() { call f; ret; }", &log));
  EXPECT_NE(log.find("ptx:4:45: error: call of undefined function 'f'"), std::string::npos) << log;
  log.clear();
  EXPECT_FALSE(try_build(".visible .entry k() { .reg .b32 a; .reg .b64 b; add.s32 a, a, b; ret; }", &log));
  EXPECT_NE(log.find("register 'b' of type .b64 doesn't fit an operand of type .s32"), std::string::npos) << log;
}

// Kernels with instructions for other devices load; running into them is a fault.
TEST(BuildSsa, WhatNoEngineHasBecomesATrap) {
  ir::Program p = build_kernel("setp.eq.u32 %p1, %r1, 0; @%p1 movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r2; ret;");
  const ir::Inst* trap = find(p.kernel, Op::kTrap);
  ASSERT_TRUE(trap);
  EXPECT_EQ(trap->mods.trap, ir::TrapKind::kUnsupported);
  EXPECT_EQ(count(p.kernel, Op::kReturn), 1);
}

TEST(BuildSsa, PackAndUnpack) {
  ir::Program p = build_kernel(
      "mov.b64 %rd1, {%r1, %r2}; mov.b64 {%r3, _}, %rd2; mov.b32 %r4, {%rs1, %rs2}; "
      "st.global.v2.b64 [%rd1], {%rd1, %rd1}; st.global.v2.b32 [%rd1], {%r3, %r4}; ret;");
  EXPECT_EQ(count(p.kernel, Op::kPack), 2);
  EXPECT_EQ(count(p.kernel, Op::kUnpack), 1);
}

}  // namespace
}  // namespace heddle::transform
