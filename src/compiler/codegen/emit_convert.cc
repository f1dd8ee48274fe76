// cvt in all its forms. Judged by tests/ptx and tests/fuzz.
#include "compiler/codegen/emit_pure_detail.h"

namespace heddle::codegen {
namespace {

using ir::Rounding;
using ir::Type;

bool is_directed(Rounding r) { return r == Rounding::kRz || r == Rounding::kRm || r == Rounding::kRp; }

/// cvt between integers with .sat: clamp to what both the source and the destination can say, then cut or extend.
Value* clamp_integer(LaneBuilder& lane, Value* x, Type from, Type to) {
  const unsigned from_bits = static_cast<unsigned>(ir::bits_of(from)), to_bits = static_cast<unsigned>(ir::bits_of(to));
  const bool from_signed = ir::is_signed(from), to_signed = ir::is_signed(to);
  const unsigned wide_bits = 2 * std::max(from_bits, to_bits);
  Value* wide = from_signed ? lane.sext(x, wide_bits) : lane.zext(x, wide_bits);
  llvm::APInt high = to_signed ? llvm::APInt::getSignedMaxValue(to_bits).sext(wide_bits)
                               : llvm::APInt::getMaxValue(to_bits).zext(wide_bits);
  llvm::APInt low =
      to_signed ? llvm::APInt::getSignedMinValue(to_bits).sext(wide_bits) : llvm::APInt::getZero(wide_bits);
  Value* bounded = lane.intrinsic(llvm::Intrinsic::smin, {wide, llvm::ConstantInt::get(wide->getType(), high)});
  bounded = lane.intrinsic(llvm::Intrinsic::smax, {bounded, llvm::ConstantInt::get(wide->getType(), low)});
  return lane.zext(bounded, to_bits);
}

Value* round_to_integral(LaneBuilder& lane, Value* x, Rounding rounding) {
  switch (rounding) {
    case Rounding::kRni: return lane.intrinsic(llvm::Intrinsic::roundeven, {x});
    case Rounding::kRzi: return lane.intrinsic(llvm::Intrinsic::trunc, {x});
    case Rounding::kRmi: return lane.intrinsic(llvm::Intrinsic::floor, {x});
    case Rounding::kRpi: return lane.intrinsic(llvm::Intrinsic::ceil, {x});
    default: return x;
  }
}

/// To an integer: rounded as asked, kept inside the destination's range; NaN gives what the manual's table says.
Value* float_to_integer(LaneBuilder& lane, const ir::Inst& inst, Value* x) {
  auto& b = lane.b;
  const unsigned bits = static_cast<unsigned>(ir::bits_of(inst.type));
  const bool is_signed = ir::is_signed(inst.type);
  Value* rounded = inst.mods.rounding == Rounding::kRzi ? x : round_to_integral(lane, x, inst.mods.rounding);
  llvm::Type* integer = lane.int_type(bits);
  Value* result = b.CreateIntrinsic(is_signed ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat,
                                    {integer, x->getType()}, {rounded});
  if (inst.from == Type::kF64 || bits == 64) {
    result = b.CreateSelect(b.CreateFCmpUNO(x, x), lane.int_const(bits, 1ull << (bits - 1)), result);
  }
  return result;
}

/// A 64-bit integer as a double rounded to odd: two exact halves, added.
Value* integer_to_odd_double(LaneBuilder& lane, Value* x, bool is_signed) {
  auto& b = lane.b;
  llvm::Type* f64 = lane.float_type(Type::kF64);
  Value* high_part = is_signed ? b.CreateAShr(x, lane.int_const(64, 32)) : b.CreateLShr(x, lane.int_const(64, 32));
  Value* high = b.CreateFMul(b.CreateSIToFP(high_part, f64), lane.float_const(Type::kF64, 0x1p32));
  Value* low = b.CreateUIToFP(b.CreateAnd(x, lane.int_const(64, 0xffffffff)), f64);
  return add_to_odd(lane, high, low);
}

/// To storage of inst.type.
Value* integer_to_float(LaneBuilder& lane, const ir::Inst& inst, Value* x) {
  auto& b = lane.b;
  const bool is_signed = ir::is_signed(inst.from);
  const unsigned from_bits = static_cast<unsigned>(ir::bits_of(inst.from));
  const Rounding rounding = inst.mods.rounding;
  auto convert = [&](Type to) {
    llvm::Type* type = lane.float_type(to);
    return is_signed ? b.CreateSIToFP(x, type) : b.CreateUIToFP(x, type);
  };
  if (inst.type == Type::kF64) {
    if (from_bits < 64 || !is_directed(rounding)) return lane.as_int(convert(Type::kF64), 64);
    // The nearest double, moved one step where it lies on the wrong side of the integer, in 128 bits.
    Value* nearest = convert(Type::kF64);
    Value* wide = is_signed ? lane.sext(x, 128) : lane.zext(x, 128);
    Value* back = b.CreateFPToSI(nearest, lane.int_type(128));
    Value* bits = lane.as_int(nearest, 64);
    Value* negative = b.CreateICmpSLT(bits, lane.int_const(64, 0));
    Value* above = b.CreateICmpSGT(back, wide);
    Value* below = b.CreateICmpSLT(back, wide);
    Value* minus_one = lane.int_const(64, ~0ull);
    Value* one = lane.int_const(64, 1);
    Value* zero = lane.int_const(64, 0);
    Value* step;
    if (rounding == Rounding::kRz) {
      step = b.CreateSelect(b.CreateSelect(negative, below, above), minus_one, zero);
    } else if (rounding == Rounding::kRm) {
      step = b.CreateSelect(above, b.CreateSelect(negative, one, minus_one), zero);
    } else {
      step = b.CreateSelect(below, b.CreateSelect(negative, minus_one, one), zero);
    }
    return b.CreateAdd(bits, step);
  }
  if (inst.type == Type::kF32) {
    if (!is_directed(rounding)) return lane.as_int(convert(Type::kF32), 32);
    Value* wide = from_bits < 64 ? convert(Type::kF64) : integer_to_odd_double(lane, x, is_signed);
    return lane.as_int(narrow_to_f32(lane, wide, rounding), 32);
  }
  Value* wide = from_bits < 64 ? convert(Type::kF64) : integer_to_odd_double(lane, x, is_signed);
  Value* odd = narrow_to_odd(lane, wide);
  return inst.type == Type::kF16 ? round_to_f16(lane, odd, rounding) : round_to_bf16(lane, odd, rounding);
}

/// Rounds the significand of an f32 pattern to `kept` bits after the point (tf32: 10).
Value* round_significand(LaneBuilder& lane, Value* f32, unsigned kept, Rounding rounding) {
  auto& b = lane.b;
  const unsigned dropped = 23 - kept;
  Value* bits = lane.as_int(f32, 32);
  Value* up = lane.int_const(32, 1u << (dropped - 1));
  if (rounding == Rounding::kRn) {
    Value* last = b.CreateAnd(b.CreateLShr(bits, lane.int_const(32, dropped)), lane.int_const(32, 1));
    up = b.CreateAdd(lane.int_const(32, (1u << (dropped - 1)) - 1), last);
  } else if (rounding == Rounding::kRz) {
    up = lane.int_const(32, 0);
  }
  Value* rounded = b.CreateAnd(b.CreateAdd(bits, up), lane.int_const(32, ~((1u << dropped) - 1)));
  Value* special = b.CreateICmpEQ(b.CreateAnd(bits, lane.int_const(32, 0x7f800000)), lane.int_const(32, 0x7f800000));
  return b.CreateSelect(special, bits, rounded);
}

Value* relu(LaneBuilder& lane, Value* x) {
  // NaN stays: the manual gives canonical NaN for it.
  auto* zero = llvm::ConstantFP::get(x->getType(), 0.0);
  return lane.b.CreateSelect(lane.b.CreateFCmpOLT(x, zero), zero, x);
}

/// f32 (or f64) to 16-bit storage.
Value* narrow_to_16(LaneBuilder& lane, Value* x, Type from, Type to, const ir::Mods& mods) {
  if (from == Type::kF64) x = narrow_to_odd(lane, x);
  if (mods.sat) x = saturate(lane, x);
  if (mods.relu) x = relu(lane, x);
  return to == Type::kF16 ? round_to_f16(lane, x, mods.rounding) : round_to_bf16(lane, x, mods.rounding);
}

Value* float_to_float(LaneBuilder& lane, const ir::Inst& inst, Value* operand) {
  auto& b = lane.b;
  const ir::Mods& mods = inst.mods;
  const unsigned from_bits = static_cast<unsigned>(ir::bits_of(inst.from));
  Value* x = from_bits == 16 ? widen_from_16(lane, operand, inst.from) : lane.as_float(operand, inst.from);
  if (mods.ftz && inst.from == Type::kF32) x = flush(lane, x);
  if (inst.type == Type::kTF32) return round_significand(lane, mods.relu ? relu(lane, x) : x, 10, mods.rounding);

  x = round_to_integral(lane, x, mods.rounding);
  const unsigned to_bits = static_cast<unsigned>(ir::bits_of(inst.type));
  if (to_bits == 16) {
    if (inst.from == inst.type && !mods.sat && !mods.relu && mods.rounding == Rounding::kNone) return operand;
    return narrow_to_16(lane, x, from_bits == 16 ? Type::kF32 : inst.from, inst.type, mods);
  }
  if (inst.type == Type::kF32) {
    if (inst.from == Type::kF64) x = narrow_to_f32(lane, x, mods.rounding);
    if (mods.sat) x = saturate(lane, x);
    if (mods.ftz) x = flush(lane, x);
    return lane.as_int(x, 32);
  }
  if (inst.from != Type::kF64) x = b.CreateFPExt(x, lane.float_type(Type::kF64));
  if (mods.sat) x = saturate(lane, x);
  return lane.as_int(x, 64);
}

}  // namespace

Value* emit_convert(LaneBuilder& lane, const ir::Inst& inst, Value* operand) {
  const auto from_class = ir::class_of(inst.from), to_class = ir::class_of(inst.type);
  if (from_class == ir::TypeClass::kPacked || to_class == ir::TypeClass::kPacked) return nullptr;
  if (inst.from == Type::kE4M3 || inst.from == Type::kE5M2 || inst.type == Type::kE4M3 || inst.type == Type::kE5M2)
    return nullptr;
  const bool from_float = from_class == ir::TypeClass::kFloat, to_float = to_class == ir::TypeClass::kFloat;
  if (from_float && to_float) return float_to_float(lane, inst, operand);
  if (to_float) {
    Value* result = integer_to_float(lane, inst, operand);
    if (!inst.mods.sat) return result;
    const unsigned bits = static_cast<unsigned>(ir::bits_of(inst.type));
    if (bits == 16) return nullptr;
    return lane.as_int(saturate(lane, lane.as_float(result, inst.type)), bits);
  }
  if (from_float) {
    Value* x =
        ir::bits_of(inst.from) == 16 ? widen_from_16(lane, operand, inst.from) : lane.as_float(operand, inst.from);
    if (inst.mods.ftz && inst.from == Type::kF32) x = flush(lane, x);
    return float_to_integer(lane, inst, x);
  }
  if (inst.mods.sat) return clamp_integer(lane, operand, inst.from, inst.type);
  const unsigned bits = static_cast<unsigned>(ir::bits_of(inst.type));
  return ir::is_signed(inst.from) ? lane.sext(operand, bits) : lane.zext(operand, bits);
}

Value* emit_convert_pack(LaneBuilder& lane, const ir::Inst& inst, std::span<Value* const> operands) {
  if (inst.type != Type::kF16x2 && inst.type != Type::kBF16x2) return nullptr;
  if (inst.from != Type::kF32) return nullptr;
  const Type element = inst.type == Type::kF16x2 ? Type::kF16 : Type::kBF16;
  Value* halves[2];
  for (unsigned i = 0; i < 2; ++i) {
    halves[i] =
        lane.zext(narrow_to_16(lane, lane.as_float(operands[i], Type::kF32), Type::kF32, element, inst.mods), 32);
  }
  return lane.b.CreateOr(lane.b.CreateShl(halves[0], lane.int_const(32, 16)), halves[1]);
}

}  // namespace heddle::codegen
