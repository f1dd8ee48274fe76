// Emitters for the Pure operations of the IR that compute a value from values: everything but constants, special
// registers, symbols and addresses, which depend on the plan (codegen's other files).
#pragma once

#include <span>

#include "compiler/codegen/lane_builder.h"

namespace heddle::codegen {

/// Emits `inst`. Operands are all scalars (lane.lanes() == 0) or all <W x iN> vectors, where N is the storage width of
/// the IR value (pred: i1); results are returned in the same form. Returns false if no emitter exists for the form,
/// which the caller reports as kNotSupported with the instruction's name and line.
bool emit_pure(LaneBuilder& lane, const ir::Inst& inst, std::span<llvm::Value* const> operands,
               std::span<llvm::Value*> results);

}  // namespace heddle::codegen
