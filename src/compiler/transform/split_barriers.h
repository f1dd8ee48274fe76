// Ends blocks after barriers, so that a warp is suspended at block boundaries only (the invariant in ir/ir.h).
// Tested by transform/transform_test.cc.
#pragma once

#include "compiler/ir/ir.h"

namespace heddle::transform {

void split_barriers(ir::Program* program);

}  // namespace heddle::transform
