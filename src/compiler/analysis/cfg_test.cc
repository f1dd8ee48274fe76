// Control-flow graphs drawn by hand, with the answers that the textbook gives.
#include "compiler/analysis/cfg.h"

#include <gtest/gtest.h>

#include "compiler/analysis/graph_for_test.h"
#include "compiler/analysis/liveness.h"

namespace heddle::analysis {
namespace {

TEST(Cfg, diamond) {
  const ir::Function f = graph({{1, 2}, {3}, {3}, {}});
  const Cfg cfg = compute_cfg(f);
  EXPECT_EQ(cfg.order, (std::vector<ir::BlockId>{0, 1, 2, 3}));
  EXPECT_EQ(cfg.idom[3], 0u);
  EXPECT_EQ(cfg.ipdom[0], 3u);
  EXPECT_EQ(cfg.ipdom[3], kNoBlock);
  EXPECT_TRUE(cfg.loops.empty());
  EXPECT_TRUE(cfg.dominates(0, 3));
  EXPECT_FALSE(cfg.dominates(1, 3));
}

TEST(Cfg, loops_are_contiguous_header_first) {
  // 1 is the header of a loop with an inner loop 2-3; 5 is the exit; 4 the outer latch, 6 unreachable.
  const ir::Function f = graph({{1}, {5, 2}, {3}, {2, 4}, {1}, {}, {5}});
  const Cfg cfg = compute_cfg(f);
  EXPECT_EQ(cfg.order, (std::vector<ir::BlockId>{0, 1, 2, 3, 4, 5}));
  ASSERT_EQ(cfg.loops.size(), 2u);
  EXPECT_EQ(cfg.loops[0].header, 1u);
  EXPECT_EQ(cfg.loops[0].blocks, (std::vector<ir::BlockId>{1, 2, 3, 4}));
  EXPECT_EQ(cfg.loops[1].parent, 0);
  EXPECT_EQ(cfg.loops[1].blocks, (std::vector<ir::BlockId>{2, 3}));
  EXPECT_EQ(cfg.loop_of[4], 0);
  EXPECT_EQ(cfg.loop_of[5], kNoLoop);
  EXPECT_FALSE(cfg.reachable(6));
  EXPECT_TRUE(cfg.retreating(4, 1));
  EXPECT_EQ(cfg.predecessors[5], (std::vector<ir::BlockId>{1}));
}

TEST(Cfg, irreducible_loop_has_an_order) {
  // 1 and 2 jump to each other and both are entered from 0.
  const ir::Function f = graph({{1, 2}, {2, 3}, {1}, {}});
  const Cfg cfg = compute_cfg(f);
  ASSERT_EQ(cfg.loops.size(), 1u);
  EXPECT_EQ(cfg.order.front(), 0u);
  EXPECT_EQ(cfg.order.back(), 3u);
  EXPECT_EQ(cfg.idom[1], 0u);
  EXPECT_EQ(cfg.idom[2], 0u);
}

TEST(Cfg, endless_loop_has_no_postdominator) {
  const ir::Function f = graph({{1, 2}, {1}, {}});
  const Cfg cfg = compute_cfg(f);
  EXPECT_EQ(cfg.ipdom[1], kNoBlock);
  EXPECT_EQ(cfg.loops.size(), 1u);
}

TEST(Cfg, deep_chains_do_not_overflow_the_stack) {
  std::vector<std::vector<ir::BlockId>> edges(200000);
  for (ir::BlockId b = 0; b + 1 < edges.size(); ++b) edges[b] = {b + 1};
  const ir::Function f = graph(edges);
  EXPECT_EQ(compute_cfg(f).order.size(), edges.size());
}

TEST(Liveness, a_value_lives_from_definition_to_last_use) {
  ir::Function f = graph({{1}, {2, 3}, {1}, {}});
  const ir::ValueId v = define(f, 0);
  condition(f, 1, define(f, 1));
  use(f, 3, v);
  const Cfg cfg = compute_cfg(f);
  const Liveness live = compute_liveness(f, cfg);
  EXPECT_TRUE(live.live_in[0].empty());
  EXPECT_EQ(live.live_in[1], (std::vector<ir::ValueId>{v}));
  EXPECT_EQ(live.live_in[2], (std::vector<ir::ValueId>{v}));  // around the loop
  EXPECT_EQ(live.live_in[3], (std::vector<ir::ValueId>{v}));
}

}  // namespace
}  // namespace heddle::analysis
