// Shapes of the address arithmetic that compilers emit, and divergence on small graphs; the answers are worked out by
// hand from what %tid is in each lane.
#include "compiler/analysis/shape.h"

#include <gtest/gtest.h>

#include "compiler/analysis/graph_for_test.h"

namespace heddle::analysis {
namespace {

using ir::Op;
using ir::Special;
using ir::Type;

constexpr LaunchShape kFlat256{{256, 1, 1}};
constexpr LaunchShape kSquare16{{16, 16, 1}};

Shapes shapes(const ir::Function& f, const LaunchShape& launch) { return compute_shapes(f, compute_cfg(f), launch); }

/// ctaid.x * ntid.x + tid.x
ir::ValueId global_index(ir::Function& f) {
  const auto product =
      op(f, 0, Op::kMul, Type::kU32, {special(f, 0, Special::kCtaidX), special(f, 0, Special::kNtidX)});
  return op(f, 0, Op::kAdd, Type::kU32, {product, special(f, 0, Special::kTidX)});
}

TEST(Shape, global_index_is_unit_stride_and_survives_widening) {
  ir::Function f = graph({{}});
  const auto index = global_index(f);
  const auto wide = op(f, 0, Op::kMulWide, Type::kS32, {index, define(f, 0, 4)}, Type::kB64);
  const Shapes s = shapes(f, kFlat256);
  ASSERT_TRUE(s.values[wide].has_offsets());
  for (int l = 0; l < kWarpSize; ++l) EXPECT_EQ(s.offsets_of(s.values[wide])[static_cast<std::size_t>(l)], 4 * l);
  EXPECT_EQ(s.values[wide].assumption_count, 0) << "a base aligned to 32 can't wrap inside a warp";
}

TEST(Shape, widening_an_unaligned_index_needs_a_test) {
  ir::Function f = graph({{}});
  const auto before = op(f, 0, Op::kSub, Type::kU32, {global_index(f), define(f, 0, 1)});
  const auto wide = op(f, 0, Op::kZext, Type::kU64, {before}, Type::kB64, Type::kU32);
  const Shapes s = shapes(f, kFlat256);
  ASSERT_TRUE(s.values[wide].has_offsets());
  ASSERT_EQ(s.values[wide].assumption_count, 1);  // warp 0 wraps in lane 0
  EXPECT_EQ(s.values[wide].assumptions[0], (Assumption{before, false}));
}

TEST(Shape, a_shared_tile_index_stays_in_range) {
  ir::Function f = graph({{}});
  const auto next = op(f, 0, Op::kAdd, Type::kU32, {special(f, 0, Special::kTidX), define(f, 0, 1)});
  const auto wide = op(f, 0, Op::kSext, Type::kU64, {next}, Type::kB64, Type::kU32);
  EXPECT_EQ(shapes(f, kFlat256).values[wide].assumption_count, 0);
}

TEST(Shape, two_rows_of_sixteen) {
  ir::Function f = graph({{}});
  const auto x = special(f, 0, Special::kTidX), y = special(f, 0, Special::kTidY);
  const auto row = op(f, 0, Op::kShl, Type::kB32, {y, define(f, 0, 4)});
  const auto index = op(f, 0, Op::kAdd, Type::kU32, {row, x});
  const Shapes s = shapes(f, kSquare16);
  EXPECT_EQ(s.offsets_of(s.values[x])[17], 1);
  EXPECT_EQ(s.offsets_of(s.values[y])[17], 1);
  EXPECT_EQ(s.offsets_of(s.values[index])[17], 17);
}

TEST(Shape, lane_and_warp_of_a_flat_block) {
  ir::Function f = graph({{}});
  const auto x = special(f, 0, Special::kTidX);
  const auto lane = op(f, 0, Op::kAnd, Type::kB32, {x, define(f, 0, 31)});
  const auto warp = op(f, 0, Op::kShr, Type::kU32, {x, define(f, 0, 5)});
  const Shapes s = shapes(f, kFlat256);
  EXPECT_TRUE(s.values[warp].uniform());
  ASSERT_TRUE(s.values[lane].has_offsets());
  EXPECT_EQ(s.offsets_of(s.values[lane])[31], 31);
  EXPECT_EQ(s.values[lane].high, 0) << "the base is zero in every warp";
}

TEST(Shape, unknown_block_shape_varies) {
  ir::Function f = graph({{}});
  const auto x = special(f, 0, Special::kTidX);
  EXPECT_TRUE(shapes(f, LaunchShape{}).values[x].varying());
  EXPECT_TRUE(shapes(f, LaunchShape{{0, 1, 1}}).values[x].has_offsets());
}

ir::ValueId compare_tid(ir::Function& f, ir::BlockId b) {
  return op(f, b, Op::kSetp, Type::kU32, {special(f, b, Special::kTidX), define(f, b, 7)}, Type::kPred);
}

TEST(Divergence, parameters_of_the_join_vary) {
  ir::Function f = graph({{1, 2}, {3}, {3}, {}});
  const auto p = compare_tid(f, 0);
  condition(f, 0, p);
  const auto a = define(f, 1), b = define(f, 2, 2);
  f.blocks[3].parameters = {f.add_value(Type::kB32)};
  f.blocks[1].insts.back().targets[0].arguments = {a};
  f.blocks[2].insts.back().targets[0].arguments = {b};
  use(f, 3, f.blocks[3].parameters[0]);
  const Shapes s = shapes(f, kFlat256);
  EXPECT_TRUE(s.divergent_branch[0]);
  EXPECT_TRUE(s.values[f.blocks[3].parameters[0]].varying());
  EXPECT_TRUE(s.partial[1]);
  EXPECT_FALSE(s.partial[3]);
}

/// entry 0 -> header 1 (counter parameter) -> exit 3 or body 2 -> header.
struct CountedLoop {
  ir::Function f = graph({{1}, {3, 2}, {1}, {}});
  ir::ValueId counter, next, after;
  CountedLoop(bool divergent) {
    const auto zero = define(f, 0, 0);
    const auto x = special(f, 0, Special::kTidX);
    counter = f.add_value(Type::kB32);
    f.blocks[1].parameters = {counter};
    f.blocks[0].insts.back().targets[0].arguments = {zero};
    const auto bound = divergent ? x : define(f, 1, 16);
    condition(f, 1, op(f, 1, Op::kSetp, Type::kU32, {counter, bound}, Type::kPred));
    next = op(f, 2, Op::kAdd, Type::kU32, {counter, define(f, 2, 1)});
    f.blocks[2].insts.back().targets[0].arguments = {next};
    use(f, 3, counter);
  }
};

TEST(Divergence, a_counter_read_after_a_divergent_loop_varies) {
  CountedLoop uniform(false), divergent(true);
  EXPECT_TRUE(shapes(uniform.f, kFlat256).values[uniform.counter].uniform());
  const Shapes s = shapes(divergent.f, kFlat256);
  EXPECT_TRUE(s.divergent_branch[1]);
  EXPECT_TRUE(s.values[divergent.counter].varying());
}

TEST(Divergence, a_uniform_loop_inside_a_guard_stays_uniform) {
  // 0: if (tid < 7) { for (...) 1,2,3 } 4: return
  ir::Function f = graph({{1, 4}, {2}, {4, 3}, {2}, {}});
  condition(f, 0, compare_tid(f, 0));
  const auto zero = define(f, 1, 0);
  const auto counter = f.add_value(Type::kB32);
  f.blocks[2].parameters = {counter};
  f.blocks[1].insts.back().targets[0].arguments = {zero};
  condition(f, 2, op(f, 2, Op::kSetp, Type::kU32, {counter, define(f, 2, 9)}, Type::kPred));
  f.blocks[3].insts.back().targets[0].arguments = {op(f, 3, Op::kAdd, Type::kU32, {counter, define(f, 3, 1)})};
  const Shapes s = shapes(f, kFlat256);
  EXPECT_TRUE(s.values[counter].uniform());
  EXPECT_FALSE(s.divergent_branch[2]);
  EXPECT_TRUE(s.partial[2]);
}

TEST(Divergence, a_barrier_under_an_early_exit_is_not_apart_but_one_under_a_guard_is) {
  auto barrier = [](ir::Function& f, ir::BlockId b) {
    ir::Inst inst;
    inst.op = Op::kBarrier;
    inst.operands = {define(f, b, 0), define(f, b, 0)};
    auto& insts = f.blocks[b].insts;
    insts.insert(insts.end() - 1, inst);
  };
  ir::Function early_exit = graph({{1, 3}, {2}, {3}, {}});
  condition(early_exit, 0, compare_tid(early_exit, 0));
  barrier(early_exit, 1);
  EXPECT_FALSE(shapes(early_exit, kFlat256).desynchronised);

  ir::Function guard = graph({{1, 2}, {2}, {3}, {}});
  condition(guard, 0, compare_tid(guard, 0));
  barrier(guard, 1);
  barrier(guard, 2);
  EXPECT_TRUE(shapes(guard, kFlat256).desynchronised);
}

TEST(Shape, local_memory_and_broadcasts) {
  ir::Function f = graph({{}});
  const auto x = special(f, 0, Special::kTidX);
  ir::Inst load;
  load.op = Op::kLoad;
  load.mods.space = ir::Space::kLocal;
  load.operands = {define(f, 0, 0)};
  const auto local = add_inst(f, 0, load);
  load.mods.space = ir::Space::kGlobal;
  const auto global = add_inst(f, 0, load);
  ir::Inst shfl;
  shfl.op = Op::kShfl;
  shfl.mods.shfl = ir::ShflMode::kIdx;
  shfl.operands = {x, define(f, 0, 0), define(f, 0, 0x1f), define(f, 0, 0xffffffff)};
  const auto broadcast = add_inst(f, 0, shfl);
  const Shapes s = shapes(f, kFlat256);
  EXPECT_TRUE(s.values[local].varying());
  EXPECT_TRUE(s.values[global].uniform());
  EXPECT_TRUE(s.values[broadcast].uniform());
}

}  // namespace
}  // namespace heddle::analysis
