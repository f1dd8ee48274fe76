// What the value emitters (emit_pure.cc, emit_float.cc, emit_integer.cc, emit_convert.cc, emit_approximate.cc,
// emit_video.cc) share. All work on scalars and on <W x T> alike, through LaneBuilder.
#pragma once

#include <span>

#include "compiler/codegen/lane_builder.h"

namespace heddle::codegen {

using llvm::Value;

// ---- families: nullptr if there is no emitter for the form
Value* emit_float(LaneBuilder& lane, const ir::Inst& inst, std::span<Value* const> operands);
Value* emit_integer(LaneBuilder& lane, const ir::Inst& inst, std::span<Value* const> operands);
Value* emit_bits(LaneBuilder& lane, const ir::Inst& inst, std::span<Value* const> operands);
Value* emit_compare(LaneBuilder& lane, const ir::Inst& inst, std::span<Value* const> operands);
Value* emit_convert(LaneBuilder& lane, const ir::Inst& inst, Value* operand);
Value* emit_convert_pack(LaneBuilder& lane, const ir::Inst& inst, std::span<Value* const> operands);
Value* emit_video(LaneBuilder& lane, const ir::Inst& inst, std::span<Value* const> operands);

// ---- approximate functions on f32 (emit_approximate.cc): inside the manual's error bounds, all inputs
Value* approximate_ex2(LaneBuilder& lane, Value* x);
Value* approximate_lg2(LaneBuilder& lane, Value* x);
Value* approximate_sin(LaneBuilder& lane, Value* x, bool cosine);
Value* approximate_tanh(LaneBuilder& lane, Value* x);

// ---- floating helpers (emit_float.cc); values are LLVM floating ones unless said otherwise
/// Denormals to zeros of the same sign (f32).
Value* flush(LaneBuilder& lane, Value* x);
/// The same for an f16 value that has been widened to f32.
Value* flush_f16(LaneBuilder& lane, Value* x);
/// To [0, 1], NaN to +0.
Value* saturate(LaneBuilder& lane, Value* x);
/// PTX's min and max: a NaN loses to a number (or wins, with `nan`), -0 is less than +0.
Value* float_min_max(LaneBuilder& lane, Value* a, Value* b, unsigned bits, bool is_max, bool nan);
/// Rounds a double to f32 toward `rounding`. Exact results must be the double itself, inexact ones rounded to odd, or
/// have more bits than twice f32's, so that no second rounding can matter.
Value* narrow_to_f32(LaneBuilder& lane, Value* wide, ir::Rounding rounding);
/// a + b as a double rounded to odd: the last bit says "inexact", so a later rounding to f32 or f16 is right.
Value* add_to_odd(LaneBuilder& lane, Value* a, Value* b);
/// A double rounded to odd in f32, for a later rounding to f16 or bf16.
Value* narrow_to_odd(LaneBuilder& lane, Value* wide);
/// f32 to 16 bits and back. Storage (iN) on the 16-bit side.
Value* round_to_f16(LaneBuilder& lane, Value* f32, ir::Rounding rounding);
Value* round_to_bf16(LaneBuilder& lane, Value* f32, ir::Rounding rounding);
Value* widen_from_16(LaneBuilder& lane, Value* storage, ir::Type type);

}  // namespace heddle::codegen
