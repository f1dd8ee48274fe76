// The control-flow graph of a function: predecessors, an order in which loops are contiguous, dominators, loop nest.
//
// The order is the code generator's: it begins with the entry, puts a block after all its predecessors but those on
// retreating edges, and keeps the blocks of a loop together, header first. It exists for every graph, reducible or not:
// a loop is a strongly connected component, its header the first block in which it is entered; the component without
// the edges to its header is ordered in the same way. Tested by analysis/cfg_test.cc.
#pragma once

#include <vector>

#include "compiler/ir/ir.h"

namespace heddle::analysis {

inline constexpr ir::BlockId kNoBlock = ~0u;
inline constexpr std::uint32_t kUnreachable = ~0u;
inline constexpr int kNoLoop = -1;

struct Loop {
  ir::BlockId header = 0;
  int parent = kNoLoop;             ///< index of the loop around it
  int depth = 1;                    ///< 1: outermost
  std::vector<ir::BlockId> blocks;  ///< all of them, those of inner loops too, in Cfg::order
};

struct Cfg {
  std::vector<std::vector<ir::BlockId>> predecessors;  ///< by block; reachable ones only, each once per edge
  std::vector<ir::BlockId> order;                      ///< the reachable blocks
  std::vector<std::uint32_t> index;                    ///< by block: position in `order`, or kUnreachable
  std::vector<ir::BlockId> idom;                       ///< by block: immediate dominator; kNoBlock for the entry
  std::vector<ir::BlockId> ipdom;  ///< by block: immediate post-dominator; kNoBlock: leaves the function
  std::vector<Loop> loops;         ///< outer before inner
  std::vector<int> loop_of;        ///< by block: innermost loop, or kNoLoop

  bool reachable(ir::BlockId block) const { return index[block] != kUnreachable; }
  /// An edge against the order: to the same block or an earlier one.
  bool retreating(ir::BlockId from, ir::BlockId to) const { return index[to] <= index[from]; }
  bool dominates(ir::BlockId a, ir::BlockId b) const;
  /// Whether `block` is in `loop` or in a loop inside it.
  bool in_loop(ir::BlockId block, int loop) const;
};

Cfg compute_cfg(const ir::Function& function);

}  // namespace heddle::analysis
