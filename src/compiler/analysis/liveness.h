// Which values are live where a block begins: what a warp must keep when it is suspended there.
// Backward data flow over the blocks. Tested by analysis/cfg_test.cc.
#pragma once

#include <vector>

#include "compiler/analysis/cfg.h"

namespace heddle::analysis {

struct Liveness {
  /// By block: values defined before the block and read in it or after it, ascending. A block's own parameters are not
  /// among them.
  std::vector<std::vector<ir::ValueId>> live_in;
};

Liveness compute_liveness(const ir::Function& function, const Cfg& cfg);

}  // namespace heddle::analysis
