// PTX's approximate functions on f32. The manual gives error bounds, not values; these are more exact than it asks
// (about 2^-23 relative, sin and cos 2^-23 absolute), from the functions' own power series on reduced arguments.
// The bounds are checked by tests/ptx against values recorded from a GPU.
#include <cmath>
#include <numbers>

#include "compiler/codegen/emit_pure_detail.h"

namespace heddle::codegen {
namespace {

using ir::Type;

Value* f(LaneBuilder& lane, double value) { return lane.float_const(Type::kF32, value); }

Value* fma_of(LaneBuilder& lane, Value* a, Value* b, Value* c) {
  return lane.intrinsic(llvm::Intrinsic::fma, {a, b, c});
}

/// Horner's rule, highest coefficient first.
Value* polynomial(LaneBuilder& lane, Value* x, std::initializer_list<double> coefficients) {
  Value* sum = nullptr;
  for (double c : coefficients) sum = sum ? fma_of(lane, sum, x, f(lane, c)) : f(lane, c);
  return sum;
}

/// x * 2^n for integers n (i32) in [-252, 254]: two factors, so that a denormal result is rounded once.
Value* scale(LaneBuilder& lane, Value* x, Value* n) {
  auto& b = lane.b;
  Value* first = b.CreateAShr(n, lane.int_const(32, 1));
  Value* second = b.CreateSub(n, first);
  auto power = [&](Value* e) {
    Value* bits = b.CreateShl(b.CreateAdd(e, lane.int_const(32, 127)), lane.int_const(32, 23));
    return lane.as_float(bits, Type::kF32);
  };
  return b.CreateFMul(b.CreateFMul(x, power(first)), power(second));
}

}  // namespace

Value* approximate_ex2(LaneBuilder& lane, Value* x) {
  auto& b = lane.b;
  // Beyond these 2^x is infinite or zero; NaN passes both tests and comes out of the polynomial.
  Value* bounded = b.CreateSelect(b.CreateFCmpOGT(x, f(lane, 130)), f(lane, 130), x);
  bounded = b.CreateSelect(b.CreateFCmpOLT(bounded, f(lane, -160)), f(lane, -160), bounded);
  Value* whole = lane.intrinsic(llvm::Intrinsic::rint, {bounded});
  Value* part = b.CreateFSub(bounded, whole);  // exact, in [-1/2, 1/2]
  // 2^t = sum (t ln 2)^k / k!
  const double l = std::numbers::ln2;
  Value* power = polynomial(lane, part,
                            {std::pow(l, 7) / 5040, std::pow(l, 6) / 720, std::pow(l, 5) / 120, std::pow(l, 4) / 24,
                             std::pow(l, 3) / 6, l * l / 2, l, 1.0});
  Value* finite = b.CreateSelect(b.CreateFCmpUNO(whole, whole), f(lane, 0), whole);
  return scale(lane, power, b.CreateFPToSI(finite, lane.int_type(32)));
}

Value* approximate_lg2(LaneBuilder& lane, Value* x) {
  auto& b = lane.b;
  Value* tiny = b.CreateFCmpOLT(x, f(lane, 0x1p-126));
  Value* normal = b.CreateSelect(tiny, b.CreateFMul(x, f(lane, 0x1p24)), x);
  // x = m * 2^e with m in [sqrt(1/2), sqrt(2)): add the distance from sqrt(1/2) to 1, take the exponent, give it back.
  Value* bits = lane.as_int(normal, 32);
  constexpr std::uint32_t kOne = 0x3f800000, kRootHalf = 0x3f3504f3;
  Value* moved = b.CreateAdd(bits, lane.int_const(32, kOne - kRootHalf));
  Value* exponent = b.CreateSub(b.CreateLShr(moved, lane.int_const(32, 23)), lane.int_const(32, 127));
  Value* mantissa_bits = b.CreateAdd(b.CreateAnd(moved, lane.int_const(32, 0x007fffff)), lane.int_const(32, kRootHalf));
  Value* m = lane.as_float(mantissa_bits, Type::kF32);
  // log2(m) = 2/ln 2 * artanh(s), s = (m - 1) / (m + 1)
  Value* s = b.CreateFDiv(b.CreateFSub(m, f(lane, 1)), b.CreateFAdd(m, f(lane, 1)));
  Value* s2 = b.CreateFMul(s, s);
  const double k = 2.0 / std::numbers::ln2;
  Value* series = polynomial(lane, s2, {k / 9, k / 7, k / 5, k / 3});
  Value* fraction = fma_of(lane, b.CreateFMul(series, s2), s, b.CreateFMul(s, f(lane, k)));
  Value* whole = b.CreateSIToFP(exponent, lane.float_type(Type::kF32));
  whole = b.CreateSelect(tiny, b.CreateFSub(whole, f(lane, 24)), whole);
  Value* result = b.CreateFAdd(whole, fraction);
  const double infinity = std::numeric_limits<double>::infinity();
  result = b.CreateSelect(b.CreateFCmpOEQ(x, f(lane, 0)), f(lane, -infinity), result);
  result = b.CreateSelect(b.CreateFCmpOEQ(x, f(lane, infinity)), f(lane, infinity), result);
  Value* undefined = b.CreateFCmpULT(x, f(lane, 0));
  return b.CreateSelect(undefined, llvm::ConstantFP::getNaN(lane.float_type(Type::kF32)), result);
}

Value* approximate_sin(LaneBuilder& lane, Value* x, bool cosine) {
  auto& b = lane.b;
  // x = k * pi/2 + r. pi/2 in three parts whose products with k are exact or small (Cody and Waite).
  Value* k = lane.intrinsic(llvm::Intrinsic::rint, {b.CreateFMul(x, f(lane, 2 / std::numbers::pi))});
  constexpr float kFirst = 0x1.92p+0f;
  const float second = static_cast<float>(std::numbers::pi / 2 - kFirst);
  const float third = static_cast<float>(std::numbers::pi / 2 - kFirst - second);
  Value* r = fma_of(lane, k, f(lane, -kFirst), x);
  r = fma_of(lane, k, f(lane, -second), r);
  r = fma_of(lane, k, f(lane, -third), r);
  Value* r2 = b.CreateFMul(r, r);
  Value* sine =
      fma_of(lane, b.CreateFMul(polynomial(lane, r2, {1.0 / 362880, -1.0 / 5040, 1.0 / 120, -1.0 / 6}), r2), r, r);
  Value* cos = polynomial(lane, r2, {-1.0 / 3628800, 1.0 / 40320, -1.0 / 720, 1.0 / 24, -0.5, 1.0});
  // The quadrant is k mod 4, computed in floats because k may be past the integers.
  Value* rounds = lane.intrinsic(llvm::Intrinsic::floor, {b.CreateFMul(k, f(lane, 0.25))});
  Value* quadrant_f = fma_of(lane, rounds, f(lane, -4), k);
  Value* regular = b.CreateFCmpORD(quadrant_f, quadrant_f);
  Value* quadrant = b.CreateFPToSI(b.CreateSelect(regular, quadrant_f, f(lane, 0)), lane.int_type(32));
  if (cosine) quadrant = b.CreateAdd(quadrant, lane.int_const(32, 1));
  Value* odd = b.CreateICmpNE(b.CreateAnd(quadrant, lane.int_const(32, 1)), lane.int_const(32, 0));
  Value* chosen = b.CreateSelect(odd, cos, sine);
  Value* sign = b.CreateShl(b.CreateAnd(quadrant, lane.int_const(32, 2)), lane.int_const(32, 30));
  Value* value = lane.as_float(b.CreateXor(lane.as_int(chosen, 32), sign), Type::kF32);
  // Past 2^25 the reduction has lost its bits; keep the value inside [-1, 1] as the hardware does.
  Value* big = b.CreateFCmpOGT(lane.intrinsic(llvm::Intrinsic::fabs, {value}), f(lane, 1));
  Value* one = lane.intrinsic(llvm::Intrinsic::copysign, {f(lane, 1), value});
  value = b.CreateSelect(big, one, value);
  Value* infinite =
      b.CreateFCmpOEQ(lane.intrinsic(llvm::Intrinsic::fabs, {x}), f(lane, std::numeric_limits<double>::infinity()));
  return b.CreateSelect(infinite, llvm::ConstantFP::getNaN(lane.float_type(Type::kF32)), value);
}

Value* approximate_tanh(LaneBuilder& lane, Value* x) {
  auto& b = lane.b;
  // |x| >= 1/4: (1 - e) / (1 + e) with e = exp(-2|x|); below, the series, whose relative error stays small.
  Value* magnitude = lane.intrinsic(llvm::Intrinsic::fabs, {x});
  Value* e = approximate_ex2(lane, b.CreateFMul(magnitude, f(lane, -2 / std::numbers::ln2)));
  Value* large = b.CreateFDiv(b.CreateFSub(f(lane, 1), e), b.CreateFAdd(f(lane, 1), e));
  Value* x2 = b.CreateFMul(x, x);
  Value* series = polynomial(lane, x2, {62.0 / 2835, -17.0 / 315, 2.0 / 15, -1.0 / 3});
  Value* small = fma_of(lane, b.CreateFMul(series, x2), magnitude, magnitude);
  Value* result = b.CreateSelect(b.CreateFCmpOLT(magnitude, f(lane, 0.25)), small, large);
  return lane.intrinsic(llvm::Intrinsic::copysign, {result, x});
}

}  // namespace heddle::codegen
