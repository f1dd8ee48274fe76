// Floating arithmetic as PTX defines it: f32 and f64 by the processor's own instructions, f16 and bf16 in f32 (whose
// precision makes the double rounding of + - * / sqrt harmless: Figueroa, "When is double rounding innocuous?", 1995),
// directed rounding in f32 through doubles rounded to odd (Boldo and Melquiond, "Emulation of FMA and correctly rounded
// sums", 2008), in f64 by the processor's rounding mode, one lane at a time. Judged by tests/ptx and tests/fuzz.
#include <llvm/IR/InlineAsm.h>

#include "compiler/codegen/emit_pure_detail.h"

namespace heddle::codegen {
namespace {

using ir::Op;
using ir::Rounding;
using ir::Type;

bool is_directed(Rounding r) { return r == Rounding::kRz || r == Rounding::kRm || r == Rounding::kRp; }

Value* is_nan(LaneBuilder& lane, Value* x) { return lane.b.CreateFCmpUNO(x, x); }

Value* fma_of(LaneBuilder& lane, Value* a, Value* b, Value* c) {
  return lane.intrinsic(llvm::Intrinsic::fma, {a, b, c});
}

Value* widen(LaneBuilder& lane, Value* x) { return lane.b.CreateFPExt(x, lane.float_type(Type::kF64)); }

/// Adds `step` to the bit patterns of lanes where `where`, as integers.
Value* adjust(LaneBuilder& lane, Value* bits, Value* where, Value* step) {
  return lane.b.CreateAdd(bits, lane.b.CreateSelect(where, step, llvm::Constant::getNullValue(step->getType())));
}

/// `rounded` is the nearest value to the exact one; `above` and `below` say where it lies beyond it. Moves it to the
/// neighbour that `rounding` asks for.
Value* direct(LaneBuilder& lane, Value* rounded, Value* above, Value* below, Rounding rounding, unsigned bits) {
  auto& b = lane.b;
  Value* pattern = lane.as_int(rounded, bits);
  Value* negative = b.CreateICmpSLT(pattern, lane.int_const(bits, 0));
  Value* one = lane.int_const(bits, 1);
  Value* minus_one = lane.int_const(bits, ~0ull);
  switch (rounding) {
    case Rounding::kRz: {  // too far from zero: one step back
      Value* too_far = b.CreateSelect(negative, below, above);
      return adjust(lane, pattern, too_far, minus_one);
    }
    case Rounding::kRm: return adjust(lane, pattern, above, b.CreateSelect(negative, one, minus_one));
    case Rounding::kRp: return adjust(lane, pattern, below, b.CreateSelect(negative, minus_one, one));
    default: return pattern;
  }
}

/// A sum that is exactly zero is -0 when rounding down, unless both terms are +0.
Value* zero_of_sum(LaneBuilder& lane, Value* sum, Value* a, Value* c, Rounding rounding, Value* result_bits) {
  if (rounding != Rounding::kRm) return result_bits;
  auto& b = lane.b;
  Value* zero = b.CreateFCmpOEQ(sum, llvm::ConstantFP::get(sum->getType(), 0.0));
  Value* sign = b.CreateAnd(b.CreateOr(lane.as_int(a, 64), lane.as_int(c, 64)), lane.int_const(64, 1ull << 63));
  Value* zero_bits = lane.zext(b.CreateLShr(sign, lane.int_const(64, 32)), 32);
  return b.CreateSelect(zero, zero_bits, result_bits);
}

/// f32 operations with directed rounding: the exact result as a double (rounded to odd where it does not fit).
Value* directed_f32(LaneBuilder& lane, Op op, std::span<Value* const> x, Rounding rounding) {
  auto& b = lane.b;
  Value* a = widen(lane, x[0]);
  Value* c = x.size() > 1 ? widen(lane, x[1]) : nullptr;
  switch (op) {
    case Op::kAdd:
    case Op::kSub: {
      if (op == Op::kSub) c = b.CreateFNeg(c);
      Value* sum = add_to_odd(lane, a, c);
      Value* bits = lane.as_int(narrow_to_f32(lane, sum, rounding), 32);
      return lane.as_float(zero_of_sum(lane, sum, a, c, rounding, bits), Type::kF32);
    }
    case Op::kMul: return narrow_to_f32(lane, b.CreateFMul(a, c), rounding);
    case Op::kDiv: return narrow_to_f32(lane, b.CreateFDiv(a, c), rounding);
    case Op::kRcp: return narrow_to_f32(lane, b.CreateFDiv(lane.float_const(Type::kF64, 1.0), a), rounding);
    case Op::kSqrt: return narrow_to_f32(lane, lane.intrinsic(llvm::Intrinsic::sqrt, {a}), rounding);
    case Op::kFma: {
      Value* product = b.CreateFMul(a, c);  // exact: 48 bits
      Value* addend = widen(lane, x[2]);
      Value* sum = add_to_odd(lane, product, addend);
      Value* bits = lane.as_int(narrow_to_f32(lane, sum, rounding), 32);
      return lane.as_float(zero_of_sum(lane, sum, product, addend, rounding, bits), Type::kF32);
    }
    default: return nullptr;
  }
}

/// f64 operations with directed rounding: the instruction itself under another MXCSR, one lane at a time. One asm block
/// holds the switch and the operation, so nothing else can be scheduled between.
Value* directed_f64(LaneBuilder& lane, Op op, std::span<Value* const> x, Rounding rounding) {
  const char* instruction;
  switch (op) {
    case Op::kAdd: instruction = "addsd $4, $0"; break;
    case Op::kSub: instruction = "subsd $4, $0"; break;
    case Op::kMul: instruction = "mulsd $4, $0"; break;
    case Op::kDiv:
    case Op::kRcp: instruction = "divsd $4, $0"; break;
    case Op::kSqrt: instruction = "sqrtsd $4, $0"; break;
    case Op::kFma: instruction = "vfmadd213sd $5, $4, $0"; break;
    default: return nullptr;
  }
  auto& b = lane.b;
  llvm::Type* f64 = b.getDoubleTy();
  llvm::Type* i32 = b.getInt32Ty();
  // 0x1f80: all exceptions masked; bits 13 and 14 are the rounding mode.
  const std::uint32_t mode = 0x1f80u | (rounding == Rounding::kRm   ? 0x2000u
                                        : rounding == Rounding::kRp ? 0x4000u
                                                                    : 0x6000u);
  auto& entry = b.GetInsertBlock()->getParent()->getEntryBlock();
  llvm::IRBuilder<> at_entry(&entry, entry.begin());
  Value* saved = at_entry.CreateAlloca(i32);
  Value* wanted = at_entry.CreateAlloca(i32);
  llvm::Type* pointer = wanted->getType();
  const std::string text = std::string("stmxcsr $1\n\tldmxcsr $2\n\t") + instruction + "\n\tldmxcsr $1";
  auto* type = llvm::FunctionType::get(f64, {pointer, pointer, f64, f64, f64}, false);
  auto* code = llvm::InlineAsm::get(type, text, "=&x,*m,*m,0,x,x,~{memory},~{dirflag},~{fpsr},~{flags}", true);
  b.CreateStore(b.getInt32(mode), wanted);
  auto one = [&](Value* p, Value* q, Value* r) {
    auto* call = b.CreateCall(code, {saved, wanted, p, q, r});
    for (unsigned i = 0; i < 2; ++i) {
      call->addParamAttr(i, llvm::Attribute::get(b.getContext(), llvm::Attribute::ElementType, i32));
    }
    return call;
  };
  auto element = [&](Value* v, unsigned i) { return lane.lanes() ? b.CreateExtractElement(v, i) : v; };
  const unsigned count = lane.lanes() ? lane.lanes() : 1;
  Value* result = lane.lanes() ? llvm::PoisonValue::get(lane.float_type(Type::kF64)) : nullptr;
  for (unsigned i = 0; i < count; ++i) {
    Value* first = op == Op::kRcp ? llvm::ConstantFP::get(f64, 1.0) : element(x[0], i);
    Value* second = op == Op::kRcp || op == Op::kSqrt ? element(x[0], i) : element(x[1], i);
    Value* third = op == Op::kFma ? element(x[2], i) : second;
    Value* value = one(first, second, third);
    result = lane.lanes() ? b.CreateInsertElement(result, value, i) : value;
  }
  return result;
}

/// f32 or f64 in, the same out.
Value* arithmetic(LaneBuilder& lane, const ir::Inst& inst, std::span<Value* const> x) {
  auto& b = lane.b;
  const ir::Mods& mods = inst.mods;
  if (is_directed(mods.rounding) && !mods.approx) {
    Value* exact = inst.type == Type::kF64 ? directed_f64(lane, inst.op, x, mods.rounding)
                                           : directed_f32(lane, inst.op, x, mods.rounding);
    if (exact) return exact;
  }
  switch (inst.op) {
    case Op::kAdd: return b.CreateFAdd(x[0], x[1]);
    case Op::kSub: return b.CreateFSub(x[0], x[1]);
    case Op::kMul: return b.CreateFMul(x[0], x[1]);
    case Op::kDiv: return b.CreateFDiv(x[0], x[1]);
    case Op::kFma: return fma_of(lane, x[0], x[1], x[2]);
    case Op::kRcp: return b.CreateFDiv(llvm::ConstantFP::get(x[0]->getType(), 1.0), x[0]);
    case Op::kSqrt: return lane.intrinsic(llvm::Intrinsic::sqrt, {x[0]});
    case Op::kRsqrt:
      return b.CreateFDiv(llvm::ConstantFP::get(x[0]->getType(), 1.0), lane.intrinsic(llvm::Intrinsic::sqrt, {x[0]}));
    case Op::kSin: return approximate_sin(lane, x[0], false);
    case Op::kCos: return approximate_sin(lane, x[0], true);
    case Op::kEx2: return approximate_ex2(lane, x[0]);
    case Op::kLg2: return approximate_lg2(lane, x[0]);
    case Op::kTanh: return approximate_tanh(lane, x[0]);
    default: return nullptr;
  }
}

/// f16 and bf16 arithmetic on values already widened to f32. The result is f32, for one final rounding.
Value* arithmetic_16(LaneBuilder& lane, const ir::Inst& inst, std::span<Value* const> x) {
  if (inst.op != Op::kFma) return arithmetic(lane, inst, x);
  // The product of two 11-bit significands is exact in a double; the sum is rounded to odd twice, then once for real.
  Value* product = lane.b.CreateFMul(widen(lane, x[0]), widen(lane, x[1]));
  return narrow_to_odd(lane, add_to_odd(lane, product, widen(lane, x[2])));
}

Value* testp(LaneBuilder& lane, ir::TestpMode mode, Value* x, Type type) {
  auto& b = lane.b;
  const unsigned bits = static_cast<unsigned>(ir::bits_of(type));
  const std::uint64_t infinity = type == Type::kF64 ? 0x7ff0000000000000ull : 0x7f800000ull;
  const std::uint64_t smallest_normal = type == Type::kF64 ? 0x0010000000000000ull : 0x00800000ull;
  Value* magnitude = b.CreateAnd(x, lane.int_const(bits, type == Type::kF64 ? ~0ull >> 1 : 0x7fffffffull));
  Value* inf = lane.int_const(bits, infinity);
  Value* normal = lane.int_const(bits, smallest_normal);
  switch (mode) {
    case ir::TestpMode::kFinite: return b.CreateICmpULT(magnitude, inf);
    case ir::TestpMode::kInfinite: return b.CreateICmpEQ(magnitude, inf);
    case ir::TestpMode::kNumber: return b.CreateICmpULE(magnitude, inf);
    case ir::TestpMode::kNotANumber: return b.CreateICmpUGT(magnitude, inf);
    case ir::TestpMode::kNormal: {  // zeros count as normal, as recorded from a GPU
      Value* usual = b.CreateAnd(b.CreateICmpULT(magnitude, inf), b.CreateICmpUGE(magnitude, normal));
      return b.CreateOr(usual, b.CreateICmpEQ(magnitude, lane.int_const(bits, 0)));
    }
    case ir::TestpMode::kSubnormal:
      return b.CreateAnd(b.CreateICmpULT(magnitude, normal), b.CreateICmpNE(magnitude, lane.int_const(bits, 0)));
  }
  return nullptr;
}

}  // namespace

Value* flush(LaneBuilder& lane, Value* x) {
  auto& b = lane.b;
  Value* bits = lane.as_int(x, 32);
  Value* zero_exponent = b.CreateICmpEQ(b.CreateAnd(bits, lane.int_const(32, 0x7f800000)), lane.int_const(32, 0));
  Value* kept = b.CreateSelect(zero_exponent, b.CreateAnd(bits, lane.int_const(32, 0x80000000)), bits);
  return lane.as_float(kept, Type::kF32);
}

Value* flush_f16(LaneBuilder& lane, Value* x) {
  auto& b = lane.b;
  Value* tiny = b.CreateFCmpOLT(lane.intrinsic(llvm::Intrinsic::fabs, {x}), lane.float_const(Type::kF32, 0x1p-14));
  Value* zero = lane.intrinsic(llvm::Intrinsic::copysign, {lane.float_const(Type::kF32, 0), x});
  return b.CreateSelect(tiny, zero, x);
}

Value* saturate(LaneBuilder& lane, Value* x) {
  auto& b = lane.b;
  llvm::Constant* zero = llvm::ConstantFP::get(x->getType(), 0.0);
  llvm::Constant* one = llvm::ConstantFP::get(x->getType(), 1.0);
  Value* positive = b.CreateSelect(b.CreateFCmpOGT(x, zero), x, zero);
  return b.CreateSelect(b.CreateFCmpOLT(positive, one), positive, one);
}

Value* float_min_max(LaneBuilder& lane, Value* a, Value* b, unsigned bits, bool is_max, bool nan) {
  auto& builder = lane.b;
  Value* less = is_max ? builder.CreateFCmpOGT(a, b) : builder.CreateFCmpOLT(a, b);
  Value* chosen = builder.CreateSelect(less, a, b);  // b if a is NaN
  // Equal values differ in the sign of zero at most: -0 is in the or, +0 in the and of the patterns.
  Value* a_bits = lane.as_int(a, bits);
  Value* b_bits = lane.as_int(b, bits);
  Value* both = is_max ? builder.CreateAnd(a_bits, b_bits) : builder.CreateOr(a_bits, b_bits);
  Value* result = builder.CreateSelect(builder.CreateFCmpOEQ(a, b), builder.CreateBitCast(both, a->getType()), chosen);
  if (!nan) return builder.CreateSelect(is_nan(lane, b), a, result);
  return builder.CreateSelect(builder.CreateFCmpUNO(a, b), llvm::ConstantFP::getNaN(a->getType()), result);
}

Value* narrow_to_f32(LaneBuilder& lane, Value* wide, Rounding rounding) {
  auto& b = lane.b;
  Value* nearest = b.CreateFPTrunc(wide, lane.float_type(Type::kF32));
  if (!is_directed(rounding)) return nearest;
  Value* back = widen(lane, nearest);
  Value* bits = direct(lane, nearest, b.CreateFCmpOGT(back, wide), b.CreateFCmpOLT(back, wide), rounding, 32);
  return lane.as_float(bits, Type::kF32);
}

Value* add_to_odd(LaneBuilder& lane, Value* a, Value* c) {
  auto& b = lane.b;
  // Knuth's two-sum: sum + error is a + c exactly.
  Value* sum = b.CreateFAdd(a, c);
  Value* c_part = b.CreateFSub(sum, a);
  Value* error = b.CreateFAdd(b.CreateFSub(a, b.CreateFSub(sum, c_part)), b.CreateFSub(c, c_part));
  Value* bits = lane.as_int(sum, 64);
  llvm::Constant* zero = lane.float_const(Type::kF64, 0.0);
  Value* inexact = b.CreateFCmpONE(error, zero);  // false for NaN: infinities stay as they are
  Value* away = b.CreateICmpSLT(b.CreateXor(bits, lane.as_int(error, 64)), lane.int_const(64, 0));
  Value* truncated = adjust(lane, bits, b.CreateAnd(inexact, away), lane.int_const(64, ~0ull));
  Value* odd = b.CreateOr(truncated, lane.zext(inexact, 64));
  return lane.as_float(odd, Type::kF64);
}

Value* narrow_to_odd(LaneBuilder& lane, Value* wide) {
  auto& b = lane.b;
  Value* truncated = lane.as_int(narrow_to_f32(lane, wide, Rounding::kRz), 32);
  Value* back = widen(lane, lane.as_float(truncated, Type::kF32));
  return lane.as_float(b.CreateOr(truncated, lane.zext(b.CreateFCmpONE(back, wide), 32)), Type::kF32);
}

Value* round_to_f16(LaneBuilder& lane, Value* f32, Rounding rounding) {
  auto& b = lane.b;
  Value* nearest = b.CreateFPTrunc(f32, lane.float_type(Type::kF16));
  Value* bits;
  if (is_directed(rounding)) {
    Value* back = b.CreateFPExt(nearest, lane.float_type(Type::kF32));
    bits = direct(lane, nearest, b.CreateFCmpOGT(back, f32), b.CreateFCmpOLT(back, f32), rounding, 16);
  } else {
    bits = lane.as_int(nearest, 16);
  }
  return b.CreateSelect(is_nan(lane, f32), lane.int_const(16, 0x7fff), bits);  // as GPUs give it
}

Value* round_to_bf16(LaneBuilder& lane, Value* f32, Rounding rounding) {
  // In integers: the processor's own conversion flushes denormals.
  auto& b = lane.b;
  Value* bits = lane.as_int(f32, 32);
  Value* upper = b.CreateLShr(bits, lane.int_const(32, 16));
  Value* rounded = upper;
  if (!is_directed(rounding)) {
    Value* half = b.CreateAdd(lane.int_const(32, 0x7fff), b.CreateAnd(upper, lane.int_const(32, 1)));
    rounded = b.CreateLShr(b.CreateAdd(bits, half), lane.int_const(32, 16));
  } else if (rounding != Rounding::kRz) {
    Value* inexact = b.CreateICmpNE(b.CreateAnd(bits, lane.int_const(32, 0xffff)), lane.int_const(32, 0));
    Value* negative = b.CreateICmpSLT(bits, lane.int_const(32, 0));
    Value* away = b.CreateAnd(inexact, rounding == Rounding::kRm ? negative : b.CreateNot(negative));
    rounded = b.CreateAdd(upper, lane.zext(away, 32));
  }
  return lane.zext(b.CreateSelect(is_nan(lane, f32), lane.int_const(32, 0x7fff), rounded), 16);
}

Value* widen_from_16(LaneBuilder& lane, Value* storage, Type type) {
  if (type == Type::kF16) return lane.b.CreateFPExt(lane.as_float(storage, type), lane.float_type(Type::kF32));
  return lane.as_float(lane.b.CreateShl(lane.zext(storage, 32), lane.int_const(32, 16)), Type::kF32);
}

Value* emit_float(LaneBuilder& lane, const ir::Inst& inst, std::span<Value* const> operands) {
  auto& b = lane.b;
  const Type type = inst.type;
  const unsigned bits = static_cast<unsigned>(ir::bits_of(type));
  const ir::Mods& mods = inst.mods;
  const bool narrow = bits == 16;
  llvm::Constant* sign = lane.int_const(bits, 1ull << (bits - 1));
  llvm::Constant* magnitude = lane.int_const(bits, ~0ull >> (65 - bits));
  const bool ftz = mods.ftz && type == Type::kF32;
  const bool ftz_f16 = mods.ftz && type == Type::kF16;

  // Sign operations work on the pattern and round nothing.
  if (inst.op == Op::kAbs || inst.op == Op::kNeg) {
    Value* x = operands[0];
    if (ftz) x = lane.as_int(flush(lane, lane.as_float(x, type)), bits);
    if (ftz_f16) x = round_to_f16(lane, flush_f16(lane, widen_from_16(lane, x, type)), Rounding::kRn);
    return inst.op == Op::kAbs ? b.CreateAnd(x, magnitude) : b.CreateXor(x, sign);
  }
  if (inst.op == Op::kCopysign) return b.CreateOr(b.CreateAnd(operands[1], magnitude), b.CreateAnd(operands[0], sign));
  if (inst.op == Op::kTestp) return testp(lane, mods.testp, operands[0], type);

  Value* x[3] = {};
  for (std::size_t i = 0; i < operands.size() && i < 3; ++i) {
    x[i] = narrow ? widen_from_16(lane, operands[i], type) : lane.as_float(operands[i], type);
    if (ftz) x[i] = flush(lane, x[i]);
    if (ftz_f16) x[i] = flush_f16(lane, x[i]);
  }
  const unsigned computed_bits = narrow ? 32 : bits;
  Value* result;
  if (inst.op == Op::kMin || inst.op == Op::kMax) {
    Value* a = x[0];
    Value* c = x[1];
    Value* product_sign = nullptr;
    if (mods.xorsign || mods.abs) {
      if (mods.xorsign) product_sign = b.CreateAnd(b.CreateXor(operands[0], operands[1]), sign);
      a = lane.intrinsic(llvm::Intrinsic::fabs, {a});
      c = lane.intrinsic(llvm::Intrinsic::fabs, {c});
    }
    result = float_min_max(lane, a, c, computed_bits, inst.op == Op::kMax, mods.nan);
    if (product_sign) {
      Value* wide_sign = narrow ? b.CreateShl(lane.zext(product_sign, 32), lane.int_const(32, 16)) : product_sign;
      Value* unsigned_bits =
          b.CreateAnd(lane.as_int(result, computed_bits), lane.int_const(computed_bits, ~0ull >> (65 - computed_bits)));
      result = lane.as_float(b.CreateOr(unsigned_bits, wide_sign), narrow ? Type::kF32 : type);
    }
  } else {
    result = narrow ? arithmetic_16(lane, inst, {x, operands.size()}) : arithmetic(lane, inst, {x, operands.size()});
  }
  if (!result) return nullptr;
  // rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 give the upper word only.
  if (type == Type::kF64 && mods.approx && (inst.op == Op::kRcp || inst.op == Op::kRsqrt) && mods.ftz) {
    return b.CreateAnd(lane.as_int(result, 64), lane.int_const(64, 0xffffffff00000000ull));
  }
  if (mods.sat) result = saturate(lane, result);
  if (mods.relu) {  // -0 becomes +0, NaN stays
    llvm::Constant* zero = llvm::ConstantFP::get(result->getType(), 0.0);
    result = b.CreateSelect(b.CreateFCmpOLE(result, zero), zero, result);
  }
  if (ftz) result = flush(lane, result);
  if (!narrow) return lane.as_int(result, bits);
  if (type == Type::kBF16) return round_to_bf16(lane, result, Rounding::kRn);
  Value* rounded = round_to_f16(lane, result, Rounding::kRn);
  if (!ftz_f16) return rounded;
  // What is subnormal is decided after rounding.
  Value* tiny = b.CreateICmpEQ(b.CreateAnd(rounded, lane.int_const(16, 0x7c00)), lane.int_const(16, 0));
  return b.CreateSelect(tiny, b.CreateAnd(rounded, sign), rounded);
}

}  // namespace heddle::codegen
