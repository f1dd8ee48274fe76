// Floating-point arithmetic and all conversions, on exact numbers (soft_float.h).
//
// Approximate functions: the C library's double (or long double) result rounded once to the type, so well inside every
// bound that the manual gives. Of these, rcp and rsqrt of f64 have only the upper 32 bits, as the manual says.
// Tested by interp_test.cc and tests/ptx.
#include <bit>
#include <cmath>

#include "compiler/interp/evaluate.h"
#include "compiler/interp/soft_float.h"

namespace heddle::interp {
namespace {

using ir::Compare;
using ir::Op;
using ir::Rounding;
using ir::TestpMode;
using ir::Type;

std::uint64_t sign_bit(Type type) { return 1ull << (ir::bits_of(type) - 1); }

Encoding encoding_of(const ir::Inst& inst) {
  Encoding encoding;
  if (inst.mods.rounding != Rounding::kNone) encoding.rounding = inst.mods.rounding;
  encoding.ftz = inst.mods.ftz;
  encoding.sat = inst.mods.sat;
  encoding.relu = inst.mods.relu;
  return encoding;
}

/// +0 is above -0; a NaN loses unless mods.nan.
std::uint64_t min_or_max(const ir::Inst& inst, std::uint64_t a, std::uint64_t b) {
  const std::uint64_t sign = sign_bit(inst.type);
  const std::uint64_t xor_sign = (a ^ b) & sign;
  if (inst.mods.xorsign) {
    a &= ~sign;
    b &= ~sign;
  }
  const Number x = decode(inst.type, a, inst.mods.ftz), y = decode(inst.type, b, inst.mods.ftz);
  const Encoding encoding{.ftz = inst.mods.ftz};
  std::uint64_t result;
  if ((x.is_nan() && y.is_nan()) || (inst.mods.nan && (x.is_nan() || y.is_nan()))) {
    return encode(inst.type, Number::nan(), {});
  } else if (x.is_nan() || y.is_nan()) {
    result = encode(inst.type, x.is_nan() ? y : x, encoding);
  } else {
    int order = compare(x, y);
    if (order == 0) order = x.negative == y.negative ? 0 : x.negative ? -1 : 1;
    result = encode(inst.type, (order < 0) == (inst.op == Op::kMin) ? x : y, encoding);
  }
  if (inst.mods.xorsign) result |= xor_sign;
  return result;
}

bool compare_floats(Compare compare_mode, const Number& a, const Number& b) {
  const bool unordered = a.is_nan() || b.is_nan();
  const int order = unordered ? 0 : compare(a, b);
  switch (compare_mode) {
    case Compare::kEq: return !unordered && order == 0;
    case Compare::kNe: return !unordered && order != 0;
    case Compare::kLt:
    case Compare::kLo: return !unordered && order < 0;
    case Compare::kLe:
    case Compare::kLs: return !unordered && order <= 0;
    case Compare::kGt:
    case Compare::kHi: return !unordered && order > 0;
    case Compare::kGe:
    case Compare::kHs: return !unordered && order >= 0;
    case Compare::kEqu: return unordered || order == 0;
    case Compare::kNeu: return unordered || order != 0;
    case Compare::kLtu: return unordered || order < 0;
    case Compare::kLeu: return unordered || order <= 0;
    case Compare::kGtu: return unordered || order > 0;
    case Compare::kGeu: return unordered || order >= 0;
    case Compare::kNum: return !unordered;
    case Compare::kNan: return unordered;
  }
  return false;
}

bool has_property(TestpMode mode, Type type, std::uint64_t bits) {
  const Number number = decode(type, bits);
  const bool subnormal = number.kind == Number::Kind::kFinite && decode(type, bits, true).is_zero();
  switch (mode) {
    case TestpMode::kFinite: return !number.is_nan() && !number.is_infinite();
    case TestpMode::kInfinite: return number.is_infinite();
    case TestpMode::kNumber: return !number.is_nan();
    case TestpMode::kNotANumber: return number.is_nan();
    case TestpMode::kNormal: return number.is_zero() || (number.kind == Number::Kind::kFinite && !subnormal);
    case TestpMode::kSubnormal: return subnormal;
  }
  return false;
}

/// Functions that the manual only bounds.
double approximate(Op op, double x) {
  switch (op) {
    case Op::kRsqrt: return 1 / std::sqrt(x);
    case Op::kSin: return std::sin(x);
    case Op::kCos: return std::cos(x);
    case Op::kEx2: return std::exp2(x);
    case Op::kLg2: return std::log2(x);
    default: return std::tanh(x);
  }
}

}  // namespace

bool evaluate_float(const ir::Inst& inst, const Bits* in, Bits* out) {
  const Type type = inst.type;
  const bool ftz = inst.mods.ftz;
  const Encoding encoding = encoding_of(inst);
  const auto number = [&](int index) { return decode(type, in[index].lo, ftz); };
  const auto give = [&](const Number& result) {
    out[0] = {encode(type, result, encoding), 0};
    return true;
  };
  switch (inst.op) {
    case Op::kAdd: return give(add(number(0), number(1), encoding.rounding));
    case Op::kSub: return give(add(number(0), negate(number(1)), encoding.rounding));
    case Op::kMul: return give(multiply(number(0), number(1)));
    case Op::kFma: return give(add(multiply(number(0), number(1)), number(2), encoding.rounding));
    case Op::kDiv: return give(divide(number(0), number(1)));
    case Op::kSqrt: return give(square_root(number(0)));
    case Op::kRcp:
      give(divide(from_unsigned(1), number(0)));
      if (inst.mods.approx && type == Type::kF64) out[0].lo &= ~0xffffffffull;
      return true;
    case Op::kRsqrt:
    case Op::kSin:
    case Op::kCos:
    case Op::kEx2:
    case Op::kLg2:
    case Op::kTanh:
      give(from_double(approximate(inst.op, to_double(number(0)))));
      if (inst.op == Op::kRsqrt && type == Type::kF64 && ftz) out[0].lo &= ~0xffffffffull;
      return true;
    // Signs are bits, but a NaN becomes the canonical one, as in the rest of arithmetic below 64 bits.
    case Op::kAbs:
    case Op::kNeg: {
      std::uint64_t bits = in[0].lo;
      if (type != Type::kF64 && number(0).is_nan()) return give(Number::nan());
      if (ftz && decode(type, bits, true).is_zero()) bits &= sign_bit(type);
      out[0] = {inst.op == Op::kAbs ? bits & ~sign_bit(type) : bits ^ sign_bit(type), 0};
      return true;
    }
    case Op::kCopysign: out[0] = {(in[0].lo & sign_bit(type)) | (in[1].lo & ~sign_bit(type)), 0}; return true;
    case Op::kMin:
    case Op::kMax: {
      std::uint64_t result = min_or_max(inst, in[0].lo, in[1].lo);
      if (inst.operands.size() > 2) result = min_or_max(inst, result, in[2].lo);
      if (inst.mods.relu) result = encode(type, decode(type, result), {.relu = true});
      out[0] = {result, 0};
      return true;
    }
    case Op::kSetp: out[0] = {compare_floats(inst.mods.compare, number(0), number(1)), 0}; return true;
    case Op::kTestp: out[0] = {has_property(inst.mods.testp, type, in[0].lo), 0}; return true;
    default: return false;
  }
}

namespace {

std::uint64_t float_to_integer(const ir::Inst& inst, std::uint64_t bits) {
  const int width = ir::bits_of(inst.type);
  const Number number = decode(inst.from, bits, inst.mods.ftz);
  if (number.is_nan()) {
    // Zero, or for f64 sources and 64-bit results only the highest bit.
    return inst.from == Type::kF64 || width == 64 ? 1ull << (width - 1) : 0;
  }
  const Rounding rounding = inst.mods.rounding == Rounding::kNone ? Rounding::kRzi : inst.mods.rounding;
  return to_integer(round_to_integral(number, rounding), width, ir::is_signed(inst.type));
}

std::uint64_t integer_to_integer(const ir::Inst& inst, std::uint64_t bits) {
  const int from = ir::bits_of(inst.from), to = ir::bits_of(inst.type);
  bits &= mask_of(from);
  const bool negative = ir::is_signed(inst.from) && (bits >> (from - 1) & 1);
  if (!inst.mods.sat) return (negative ? static_cast<std::uint64_t>(sign_extend(bits, from)) : bits) & mask_of(to);
  const Number number = negative ? from_signed(sign_extend(bits, from)) : from_unsigned(bits);
  return to_integer(number, to, ir::is_signed(inst.type));
}

std::uint64_t float_to_float(const ir::Inst& inst, std::uint64_t bits) {
  Number number = decode(inst.from, bits, inst.mods.ftz && inst.from == Type::kF32);
  Encoding encoding = encoding_of(inst);
  encoding.ftz = inst.mods.ftz && inst.type == Type::kF32;
  switch (encoding.rounding) {
    case Rounding::kRni:
    case Rounding::kRzi:
    case Rounding::kRmi:
    case Rounding::kRpi: number = round_to_integral(number, encoding.rounding); break;
    default: break;
  }
  if (inst.type == Type::kE4M3 || inst.type == Type::kE5M2) {
    encoding.satfinite = true;
    encoding.sat = false;
  }
  return encode(inst.type, number, encoding);
}

}  // namespace

bool evaluate_cvt(const ir::Inst& inst, const Bits* in, Bits* out) {
  const bool from_float = ir::is_float(inst.from), to_float = ir::is_float(inst.type);
  const std::uint64_t bits = in[0].lo;
  if (inst.from == Type::kBF16 && inst.type == Type::kF32 && !inst.mods.sat && !inst.mods.ftz) {
    out[0] = {bits << 16, 0};  // bf16 is the upper half of f32, NaNs included
  } else if (inst.type == Type::kTF32 && inst.mods.rounding == Rounding::kRna && decode(inst.from, bits).is_nan()) {
    out[0] = {bits & 0xffffe000, 0};  // as an H200: rounding by an addition leaves NaNs alone
  } else if (from_float && to_float) {
    out[0] = {float_to_float(inst, bits), 0};
  } else if (from_float) {
    out[0] = {float_to_integer(inst, bits), 0};
  } else if (to_float) {
    const int width = ir::bits_of(inst.from);
    const Number number =
        ir::is_signed(inst.from) ? from_signed(sign_extend(bits, width)) : from_unsigned(bits & mask_of(width));
    out[0] = {encode(inst.type, number, encoding_of(inst)), 0};
  } else {
    out[0] = {integer_to_integer(inst, bits), 0};
  }
  return true;
}

}  // namespace heddle::interp
