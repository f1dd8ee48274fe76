// Puts the bodies of called functions in the place of the calls, so that barriers in them are the kernel's own,
// addresses are known and nothing is spilled around a call. What is recursive stays a function, and so does what would
// make the kernel too large, unless it has a barrier. Static local variables of inlined functions move into the
// kernel's local memory. Tested by transform/transform_test.cc.
#pragma once

#include "compiler/ir/ir.h"

namespace heddle::transform {

void inline_calls(ir::Program* program);

}  // namespace heddle::transform
