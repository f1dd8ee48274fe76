// cvt in all its forms. Judged by tests/ptx and tests/fuzz.
#include <cmath>

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
  // NaN stays; -0 becomes +0, as GPUs give it.
  auto* zero = llvm::ConstantFP::get(x->getType(), 0.0);
  return lane.b.CreateSelect(lane.b.CreateFCmpOLE(x, zero), zero, x);
}

/// The 8-bit formats: e4m3 has no infinity and ends at 448, e5m2 is the upper half of f16.
struct Fp8 {
  unsigned mantissa;
  unsigned bias;
  double largest;
};
Fp8 fp8_of(Type type) { return type == Type::kE4M3 ? Fp8{3, 7, 448} : Fp8{2, 15, 57344}; }

/// f32 to 8 bits, to nearest, never past the largest finite value (.satfinite is the only mode there is).
Value* narrow_to_fp8(LaneBuilder& lane, Value* f32, Type to) {
  auto& b = lane.b;
  const Fp8 format = fp8_of(to);
  const unsigned dropped = 23 - format.mantissa;
  Value* magnitude = lane.intrinsic(llvm::Intrinsic::fabs, {f32});
  Value* largest = lane.float_const(Type::kF32, format.largest);
  magnitude = b.CreateSelect(b.CreateFCmpOGT(magnitude, largest), largest, magnitude);
  // Normal values: round the significand, move the exponent's bias.
  Value* bits = lane.as_int(magnitude, 32);
  Value* last = b.CreateAnd(b.CreateLShr(bits, lane.int_const(32, dropped)), lane.int_const(32, 1));
  Value* rounded = b.CreateAdd(b.CreateAdd(bits, lane.int_const(32, (1u << (dropped - 1)) - 1)), last);
  Value* normal = b.CreateSub(b.CreateLShr(rounded, lane.int_const(32, dropped)),
                              lane.int_const(32, (127 - format.bias) << format.mantissa));
  // Subnormal ones are multiples of the smallest: the multiple is the code.
  const double per_unit = std::ldexp(1.0, static_cast<int>(format.bias + format.mantissa) - 1);
  Value* smallest_normal = lane.float_const(Type::kF32, std::ldexp(1.0, 1 - static_cast<int>(format.bias)));
  Value* is_subnormal = b.CreateFCmpOLT(magnitude, smallest_normal);
  Value* safe = b.CreateSelect(is_subnormal, magnitude, lane.float_const(Type::kF32, 0));
  Value* multiple =
      lane.intrinsic(llvm::Intrinsic::roundeven, {b.CreateFMul(safe, lane.float_const(Type::kF32, per_unit))});
  Value* subnormal = b.CreateFPToUI(multiple, lane.int_type(32));
  Value* code = b.CreateSelect(is_subnormal, subnormal, normal);
  Value* sign = b.CreateAnd(b.CreateLShr(lane.as_int(f32, 32), lane.int_const(32, 24)), lane.int_const(32, 0x80));
  code = b.CreateSelect(b.CreateFCmpUNO(f32, f32), lane.int_const(32, 0x7f), b.CreateOr(code, sign));
  return lane.zext(code, 8);
}

/// 8 bits to f32, exactly.
Value* widen_from_fp8(LaneBuilder& lane, Value* storage, Type from) {
  auto& b = lane.b;
  Value* code = lane.zext(storage, 16);
  if (from == Type::kE5M2) return widen_from_16(lane, b.CreateShl(code, lane.int_const(16, 8)), Type::kF16);
  // e4m3 in f16's places is too small by 2^(15 - 7).
  Value* magnitude = b.CreateAnd(code, lane.int_const(16, 0x7f));
  Value* sign = b.CreateShl(b.CreateAnd(code, lane.int_const(16, 0x80)), lane.int_const(16, 8));
  Value* placed = b.CreateOr(b.CreateShl(magnitude, lane.int_const(16, 7)), sign);
  Value* value = b.CreateFMul(widen_from_16(lane, placed, Type::kF16), lane.float_const(Type::kF32, 256));
  Value* nan = b.CreateICmpEQ(magnitude, lane.int_const(16, 0x7f));
  return b.CreateSelect(nan, llvm::ConstantFP::getNaN(value->getType()), value);
}

bool is_fp8(Type type) { return type == Type::kE4M3 || type == Type::kE5M2; }

Type element_of(Type type) {
  switch (type) {
    case Type::kF16x2: return Type::kF16;
    case Type::kBF16x2: return Type::kBF16;
    case Type::kE4M3x2: return Type::kE4M3;
    case Type::kE5M2x2: return Type::kE5M2;
    default: return type;
  }
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
  Value* x = is_fp8(inst.from) ? widen_from_fp8(lane, operand, inst.from)
             : from_bits == 16 ? widen_from_16(lane, operand, inst.from)
                               : lane.as_float(operand, inst.from);
  if (is_fp8(inst.type)) return narrow_to_fp8(lane, mods.relu ? relu(lane, x) : x, inst.type);
  if (mods.ftz && inst.from == Type::kF32) x = flush(lane, x);
  if (inst.type == Type::kTF32) return round_significand(lane, mods.relu ? relu(lane, x) : x, 10, mods.rounding);

  x = round_to_integral(lane, x, mods.rounding);
  const unsigned to_bits = static_cast<unsigned>(ir::bits_of(inst.type));
  if (to_bits == 16) {
    if (inst.from == inst.type && !mods.sat && !mods.relu && mods.rounding == Rounding::kNone) return operand;
    return narrow_to_16(lane, x, from_bits <= 16 ? Type::kF32 : inst.from, inst.type, mods);
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

/// Both halves of a packed value alike.
Value* convert_packed(LaneBuilder& lane, const ir::Inst& inst, Value* operand) {
  ir::Inst half = inst;
  half.type = element_of(inst.type);
  half.from = element_of(inst.from);
  if (half.type == inst.type || half.from == inst.from) return nullptr;
  const unsigned from_bits = static_cast<unsigned>(ir::bits_of(half.from)),
                 to_bits = static_cast<unsigned>(ir::bits_of(half.type));
  Value* halves[2];
  for (unsigned i = 0; i < 2; ++i) {
    Value* moved = i ? lane.b.CreateLShr(operand, lane.int_const(2 * from_bits, from_bits)) : operand;
    Value* converted = emit_convert(lane, half, lane.zext(moved, from_bits));
    if (!converted) return nullptr;
    halves[i] = lane.zext(converted, 2 * to_bits);
  }
  return lane.b.CreateOr(lane.b.CreateShl(halves[1], lane.int_const(2 * to_bits, to_bits)), halves[0]);
}

}  // namespace

Value* emit_convert(LaneBuilder& lane, const ir::Inst& inst, Value* operand) {
  const auto from_class = ir::class_of(inst.from), to_class = ir::class_of(inst.type);
  if (from_class == ir::TypeClass::kPacked || to_class == ir::TypeClass::kPacked)
    return convert_packed(lane, inst, operand);
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
  const Type element = element_of(inst.type);
  if (element == inst.type || inst.from != Type::kF32) return nullptr;
  const unsigned width = static_cast<unsigned>(ir::bits_of(inst.type));
  Value* halves[2];
  for (unsigned i = 0; i < 2; ++i) {
    Value* x = lane.as_float(operands[i], Type::kF32);
    Value* narrow = is_fp8(element) ? narrow_to_fp8(lane, inst.mods.relu ? relu(lane, x) : x, element)
                                    : narrow_to_16(lane, x, Type::kF32, element, inst.mods);
    halves[i] = lane.zext(narrow, width);
  }
  return lane.b.CreateOr(lane.b.CreateShl(halves[0], lane.int_const(width, width / 2)), halves[1]);
}

}  // namespace heddle::codegen
