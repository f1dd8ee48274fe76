// The IR as readable text, for logs, error messages and tests. One way only: tests build IR from PTX or by hand.
// Tested by compiler/ir/verify_test.cc.
#pragma once

#include <string>

#include "compiler/ir/ir.h"

namespace heddle::ir {

/// "v12:b32 = add.rn.ftz.f32 v3, v4". `locations` adds "  // ptx 17".
std::string print_inst(const Function& function, const Inst& inst, bool locations = false);
std::string print_function(const Function& function, bool locations = true);
/// Symbols, the kernel and its callees.
std::string print_program(const Program& program, bool locations = true);

/// Mnemonics of modifiers, as PTX spells them (no dot).
const char* name_of(Space space);
const char* name_of(Rounding rounding);
const char* name_of(Compare compare);
const char* name_of(AtomicOp op);
const char* name_of(Special special);

}  // namespace heddle::ir
