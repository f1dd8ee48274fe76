// Checks a Program against the invariants at the top of ir.h, and each instruction against its row in opcodes.def:
// numbers and widths of operands and results. Run after every transform; a failure is a bug of Heddle, never of the
// user's PTX. Tested by compiler/ir/verify_test.cc.
#pragma once

#include <string>

#include "base/status.h"
#include "compiler/ir/ir.h"

namespace heddle::ir {

/// On failure (kUnknown) `message` says "function f, block b3, instruction 2 (v5:b32 = add.s32 v1, v2): why".
/// `barriers_split`: also demand that barriers end their block (false before transform/split_barriers has run).
Status verify(const Program& program, std::string* message, bool barriers_split = true);
Status verify(const Program& program, const Function& function, std::string* message, bool barriers_split = true);

/// Immediate dominator of each block of `function` (the entry's is itself; unreachable: ~0u).
std::vector<BlockId> compute_immediate_dominators(const Function& function);

}  // namespace heddle::ir
