// What one divergent branch does to the control flow around it. Used by shape.cc, which finds the branches.
// Tested by analysis/shape_test.cc.
#pragma once

#include <vector>

#include "compiler/analysis/cfg.h"

namespace heddle::analysis {

struct Divergence {
  std::vector<ir::BlockId> region;  ///< blocks between the branch and its post-dominator: lanes may be parted there
  std::vector<ir::BlockId> joins;   ///< blocks where lanes that took different ways meet
  std::vector<int> left_loops;      ///< loops that some lanes leave while others stay
  /// A warp suspended in the region may have live lanes elsewhere, or lanes that waited there meet others later. False
  /// where one side only ends its lanes (`if (i >= n) return;`): what waits then is all that lives.
  bool apart = false;
};

Divergence compute_divergence(const ir::Function& function, const Cfg& cfg, ir::BlockId branch);

}  // namespace heddle::analysis
