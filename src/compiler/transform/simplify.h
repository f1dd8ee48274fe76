// Cheap clean-ups that keep what follows small: constants and address arithmetic, copies, block parameters that always
// get the same value, dead code, chains of blocks. LLVM would do most of it, but on code that is many times larger, and
// the analyses of shapes and uniformity see what is left here. Tested by transform/transform_test.cc.
#pragma once

#include "compiler/ir/ir.h"

namespace heddle::transform {

void simplify(ir::Program* program);

}  // namespace heddle::transform
