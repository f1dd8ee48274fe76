// Control flow, memory, barriers and faults of the interpreter, on small programs built by hand. Arithmetic is tested
// by soft_float_test.cc and, with values recorded on a GPU, by tests/ptx.
#include "compiler/interp/interp.h"

#include <gtest/gtest.h>

#include <cstring>

#include "compiler/interp/machine.h"
#include "compiler/ir/print.h"
#include "compiler/ir/verify.h"
#include "support/mini_device.h"

namespace heddle::interp {
namespace {

using ir::BlockId;
using ir::Inst;
using ir::Op;
using ir::Type;
using ir::ValueId;

/// A few lines to write programs with.
struct Writer {
  ir::Program program;
  BlockId at = 0;
  explicit Writer(std::uint32_t param_bytes = 8) {
    program.kernel.name = "k";
    program.kernel.is_kernel = true;
    program.kernel.blocks.resize(1);
    program.param_bytes = param_bytes;
  }
  ir::Function& f() { return program.kernel; }
  BlockId block(std::vector<Type> parameters = {}) {
    f().blocks.emplace_back();
    for (const Type type : parameters) f().blocks.back().parameters.push_back(f().add_value(type));
    return static_cast<BlockId>(f().blocks.size() - 1);
  }
  ValueId parameter(BlockId b, int i) { return f().blocks[b].parameters[i]; }
  Inst& emit(Op op, Type type, std::vector<ValueId> operands, std::vector<Type> results = {}) {
    Inst inst;
    inst.op = op;
    inst.type = inst.from = type;
    inst.operands = std::move(operands);
    for (const Type result : results) inst.results.push_back(f().add_value(result));
    f().blocks[at].insts.push_back(inst);
    return f().blocks[at].insts.back();
  }
  ValueId value(Op op, Type type, std::vector<ValueId> operands) {
    return emit(op, type, std::move(operands), {type}).results[0];
  }
  ValueId constant(Type type, std::uint64_t imm) {
    Inst& inst = emit(Op::kConst, type, {}, {type});
    inst.imm = imm;
    return inst.results[0];
  }
  ValueId special(ir::Special special) {
    Inst& inst = emit(Op::kSpecial, Type::kU32, {}, {Type::kU32});
    inst.mods.special = special;
    return inst.results[0];
  }
  ValueId compare(ir::Compare mode, ValueId a, ValueId b, Type type = Type::kU32) {
    Inst& inst = emit(Op::kSetp, type, {a, b}, {Type::kPred});
    inst.mods.compare = mode;
    return inst.results[0];
  }
  ValueId load_param(std::uint64_t offset) {
    Inst& inst = emit(Op::kLoad, Type::kU64, {constant(Type::kB64, 0)}, {Type::kU64});
    inst.mods.space = ir::Space::kParam;
    inst.imm = offset;
    return inst.results[0];
  }
  /// param0 + 4 * index
  ValueId slot(ValueId index) {
    const ValueId base = load_param(0);
    Inst& scaled = emit(Op::kMulWide, Type::kU32, {index, constant(Type::kB32, 4)}, {Type::kU64});
    const ValueId offset = f().blocks[at].insts.back().results[0];
    (void)scaled;
    return value(Op::kAdd, Type::kU64, {base, offset});
  }
  void store(ValueId address, ValueId v, ir::Space space = ir::Space::kGlobal) {
    emit(Op::kStore, Type::kB32, {address, v}).mods.space = space;
  }
  ValueId load(ValueId address, ir::Space space = ir::Space::kGlobal) {
    Inst& inst = emit(Op::kLoad, Type::kB32, {address}, {Type::kB32});
    inst.mods.space = space;
    return inst.results[0];
  }
  void branch(BlockId to, std::vector<ValueId> arguments = {}) {
    emit(Op::kBranch, Type::kB32, {}).targets = {{to, std::move(arguments)}};
  }
  void branch_if(ValueId pred, BlockId yes, std::vector<ValueId> yes_arguments, BlockId no,
                 std::vector<ValueId> no_arguments) {
    emit(Op::kCondBranch, Type::kB32, {pred}).targets = {{yes, std::move(yes_arguments)},
                                                         {no, std::move(no_arguments)}};
  }
  void ret() { emit(Op::kReturn, Type::kB32, {}); }
  std::shared_ptr<const ir::Program> done() {
    std::string message;
    EXPECT_TRUE(ir::verify(program, &message).ok()) << message << "\n" << ir::print_program(program);
    return std::make_shared<ir::Program>(program);
  }
};

std::vector<std::uint32_t> run(const std::shared_ptr<const ir::Program>& program, std::size_t count, test::Dim grid,
                               test::Dim block, test::LaunchResult* result = nullptr) {
  std::vector<std::uint32_t> out(count, 0);
  test::LaunchSpec spec{.grid = grid, .block = block, .params = {}, .globals = {}};
  const std::uint32_t* pointer = out.data();
  spec.params.resize(8);
  std::memcpy(spec.params.data(), &pointer, 8);
  const test::LaunchResult r = test::run_grid(*make_interpreted(program), spec);
  if (result) {
    *result = r;
  } else {
    EXPECT_TRUE(r.ok()) << r.what;
  }
  return out;
}

TEST(Interp, divergent_loop_counts_per_lane) {
  // out[tid] = 0 + 1 + ... + tid; the lanes meet again after the loop (activemask).
  Writer w;
  const ValueId tid = w.special(ir::Special::kTidX);
  const ValueId zero = w.constant(Type::kB32, 0), one = w.constant(Type::kB32, 1);
  const BlockId loop = w.block({Type::kU32, Type::kU32}), end = w.block({Type::kU32});
  w.branch(loop, {zero, zero});
  w.at = loop;
  const ValueId i = w.parameter(loop, 0), sum = w.parameter(loop, 1);
  const ValueId next_sum = w.value(Op::kAdd, Type::kU32, {sum, i}), next = w.value(Op::kAdd, Type::kU32, {i, one});
  w.branch_if(w.compare(ir::Compare::kLe, next, tid), loop, {next, next_sum}, end, {next_sum});
  w.at = end;
  const ValueId active = w.emit(Op::kActivemask, Type::kB32, {}, {Type::kB32}).results[0];
  const ValueId both = w.value(Op::kXor, Type::kB32, {w.parameter(end, 0), active});
  w.store(w.slot(tid), both);
  w.ret();
  const auto out = run(w.done(), 40, {}, {40});
  for (std::uint32_t t = 0; t < 40; ++t) EXPECT_EQ(out[t], (t * (t + 1) / 2) ^ (t < 32 ? ~0u : 0xffu)) << t;
}

TEST(Interp, barrier_exchanges_through_shared_memory) {
  // shared[tid] = tid; barrier; out[tid] = shared[n - 1 - tid]
  Writer w;
  w.program.shared_bytes = 4 * 96;
  const ValueId tid = w.special(ir::Special::kTidX), four = w.constant(Type::kB32, 4), zero = w.constant(Type::kB32, 0);
  w.store(w.value(Op::kMul, Type::kU32, {tid, four}), tid, ir::Space::kShared);
  const BlockId after = w.block();
  w.emit(Op::kBarrier, Type::kB32, {zero, zero});
  w.branch(after);
  w.at = after;
  const ValueId other = w.value(Op::kSub, Type::kU32, {w.constant(Type::kB32, 95), tid});
  w.store(w.slot(tid), w.load(w.value(Op::kMul, Type::kU32, {other, four}), ir::Space::kShared));
  w.ret();
  const auto out = run(w.done(), 96, {2}, {96});
  for (std::uint32_t t = 0; t < 96; ++t) EXPECT_EQ(out[t], 95 - t);
}

TEST(Interp, lanes_of_a_warp_take_turns_at_a_spin_lock) {
  // while (atomicCAS(lock, 0, 1) != 0); out[1] += 1 (not atomic); lock = 0
  Writer w;
  const ValueId zero = w.constant(Type::kB32, 0), one = w.constant(Type::kB32, 1);
  const ValueId lock = w.slot(zero), counter = w.slot(one);
  const BlockId loop = w.block(), critical = w.block();
  w.branch(loop);
  w.at = loop;
  Inst& cas = w.emit(Op::kAtomicCas, Type::kB32, {lock, zero, one}, {Type::kB32});
  cas.mods.space = ir::Space::kGlobal;
  const ValueId old = cas.results[0];
  w.branch_if(w.compare(ir::Compare::kNe, old, zero), loop, {}, critical, {});
  w.at = critical;
  w.store(counter, w.value(Op::kAdd, Type::kU32, {w.load(counter), one}));
  w.store(lock, zero);
  w.ret();
  const auto out = run(w.done(), 2, {}, {64});
  EXPECT_EQ(out[0], 0u);
  EXPECT_EQ(out[1], 64u);
}

TEST(Interp, recursive_calls_have_frames_of_their_own) {
  // f(n) = n == 0 ? 0 : n + f(n - 1), called with n = tid in diverged lanes
  Writer w;
  ir::Function callee;
  callee.name = "f";
  callee.result_types = {Type::kU32};
  {
    Writer c;
    c.f() = callee;
    c.f().blocks.resize(1);
    const ValueId n = c.f().add_value(Type::kU32);
    c.f().arguments = {n};
    const ValueId zero = c.constant(Type::kB32, 0), one = c.constant(Type::kB32, 1);
    const BlockId recurse = c.block(), end = c.block({Type::kU32});
    c.branch_if(c.compare(ir::Compare::kEq, n, zero), end, {zero}, recurse, {});
    c.at = recurse;
    const ValueId rest = c.value(Op::kCall, Type::kU32, {c.value(Op::kSub, Type::kU32, {n, one})});
    c.branch(end, {c.value(Op::kAdd, Type::kU32, {n, rest})});
    c.at = end;
    c.emit(Op::kReturn, Type::kB32, {c.parameter(end, 0)});
    callee = c.f();
  }
  w.program.functions.push_back(callee);
  const ValueId tid = w.special(ir::Special::kTidX);
  const ValueId sum = w.value(Op::kCall, Type::kU32, {tid});
  w.store(w.slot(tid), sum);
  w.ret();
  const auto out = run(w.done(), 32, {}, {32});
  for (std::uint32_t t = 0; t < 32; ++t) EXPECT_EQ(out[t], t * (t + 1) / 2);
}

TEST(Interp, misaligned_and_out_of_range_accesses_name_the_thread) {
  Writer w;
  const ValueId tid = w.special(ir::Special::kTidX);
  const ValueId seven = w.constant(Type::kB32, 7);
  const BlockId bad = w.block(), end = w.block();
  w.branch_if(w.compare(ir::Compare::kEq, tid, seven), bad, {}, end, {});
  w.at = bad;
  Inst& store = w.emit(Op::kStore, Type::kB32, {w.slot(tid), tid});
  store.imm = 2;
  store.location.ptx_line = 33;
  w.branch(end);
  w.at = end;
  w.ret();
  test::LaunchResult result;
  run(w.done(), 32, {}, {32}, &result);
  EXPECT_EQ(result.code, ErrorCode::kMisalignedAddress);
  EXPECT_EQ(result.thread, 7u);
  EXPECT_EQ(result.ptx_line, 33u);
}

TEST(FindFault, names_thread_line_and_address_and_writes_nothing) {
  // Every thread writes out[tid]; the checker allows 40 elements; block of 64: thread 40 is the first that is refused.
  Writer w;
  const ValueId tid = w.special(ir::Special::kTidX);
  const ValueId address = w.slot(tid);
  w.store(address, tid);
  w.f().blocks[0].insts.back().location = {12, 3, 0};
  w.ret();
  const auto program = w.done();
  std::vector<std::uint32_t> out(64, 5);
  std::uint32_t* pointer = out.data();
  exec::LaunchContext launch{};
  launch.params = &pointer;
  launch.grid_x = launch.grid_y = launch.grid_z = launch.block_y = launch.block_z = 1;
  launch.block_x = launch.threads = 64;
  launch.warps = 2;
  const auto check = [](void* user, std::uint64_t at, std::uint64_t bytes, bool) {
    const auto begin = reinterpret_cast<std::uint64_t>(user);
    return at >= begin && at + bytes <= begin + 160;
  };
  const auto report = find_fault(*program, launch, 0, check, out.data(), std::chrono::seconds(10));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->code, ErrorCode::kIllegalAddress);
  EXPECT_EQ(report->thread, 40u);
  EXPECT_EQ(report->address, reinterpret_cast<std::uint64_t>(&out[40]));
  EXPECT_TRUE(report->is_write);
  EXPECT_EQ(report->ptx_line, 12u);
  EXPECT_EQ(out[0], 5u);
  const auto all = [](void*, std::uint64_t, std::uint64_t, bool) { return true; };
  EXPECT_EQ(find_fault(*program, launch, 0, all, nullptr, std::chrono::seconds(10)).error().code(),
            ErrorCode::kNotFound);
}

// Nested loops with a break out of both: 0 -> 1 (outer) -> 2 (inner) -> {2, 3}, 2 -> 4 (exit), 3 -> {1, 4}.
TEST(BlockOrder, keeps_loops_together) {
  Writer w;
  const ValueId p = w.compare(ir::Compare::kEq, w.constant(Type::kB32, 0), w.constant(Type::kB32, 0));
  for (int i = 0; i < 5; ++i) w.block();
  w.branch(1);
  w.at = 1;
  w.branch(2);
  w.at = 2;
  w.emit(Op::kSwitch, Type::kB32, {w.constant(Type::kB32, 0)}).targets = {{4, {}}, {2, {}}, {3, {}}};
  w.at = 3;
  w.branch_if(p, 4, {}, 1, {});
  w.at = 4;
  w.ret();
  w.at = 5;
  w.ret();
  EXPECT_EQ(compute_block_order(w.program.kernel), (std::vector<std::uint32_t>{0, 1, 2, 3, 4, ~0u}));
}

}  // namespace
}  // namespace heddle::interp
