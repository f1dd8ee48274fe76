// Cores of the exponentials and logarithms, in working precision and as pairs; the other families build on them.
// Tested by accuracy_test.cc through the functions that use them.
#pragma once
#include "libdevice/core.h"

namespace heddle::libdevice {

// e^s = 1 + s + s^2 q(s) for |s.hi| <= ln2/2, as hi + lo where lo is not normalised (up to 0.07).
inline Pair<double> exp_core(Pair<double> s) {
  const double q = s.hi * s.hi * poly<kExp>(s.hi);
  const Pair<double> one = fast_two_sum(1.0, s.hi);
  return {one.hi, one.lo + (q + fma(s.lo, s.hi, s.lo))};
}
inline Pair<float> exp_core(Pair<float> s) {
  const float q = s.hi * s.hi * poly<kExpF>(s.hi);
  const Pair<float> one = fast_two_sum(1.0f, s.hi);
  return {one.hi, one.lo + (q + fma(s.lo, s.hi, s.lo))};
}

template <typename T>
struct Scaled {
  Pair<T> value;
  s32 exponent;
};
// x = exponent * ln2 + value. The first fma is exact: the remainder has few enough bits.
inline Scaled<double> reduce_exp(double x, double low) {
  const double n = rint(x * kLog2e);
  return {fast_two_sum(fma(-n, kLn2, x), fma(-n, kLn2Lo, low)), to_int(n)};
}
inline Scaled<float> reduce_exp(float x, float low) {
  const float n = rint(x * kLog2eF);
  return {fast_two_sum(fma(-n, kLn2F, x), fma(-n, kLn2LoF, low)), to_int(n)};
}

template <typename T>
inline constexpr T kExpLow = sizeof(T) == 4 ? T(-105) : T(-747);
template <typename T>
inline constexpr T kExpHigh = sizeof(T) == 4 ? T(89) : T(711);

// e^(hi + lo) for any hi: overflows and underflows as the format does.
template <typename T>
inline T exp_of(Pair<T> x) {
  const T hi = clamp(x.hi, kExpLow<T>, kExpHigh<T>);
  const Scaled<T> r = reduce_exp(hi, hi == x.hi ? x.lo : T(0));
  const Pair<T> e = exp_core(r.value);
  return scale(e.hi + e.lo, r.exponent);
}

// e^x alone, without the pair: about one ulp.
inline float exp_of_float(float x) {
  const float c = clamp(x, kExpLow<float>, kExpHigh<float>), n = rint(c * kLog2eF);
  const float s = fma(-n, kLn2LoF, fma(-n, kLn2F, c));
  return scale(fma(s * s, poly<kExpF>(s), s) + 1.0f, to_int(n));
}

// x = m * 2^exponent with m in [sqrt(1/2), sqrt 2), for positive finite x; denormals included.
template <typename T>
struct Normal {
  T m;
  s32 exponent;
};
inline Normal<double> normalise(double x) {
  const bool tiny = x < 0x1p-1022;
  const u64 b = bits(tiny ? x * 0x1p54 : x);
  const s64 e = static_cast<s64>(b - bits(kSqrtHalf)) >> 52;
  return {from_bits(b - (static_cast<u64>(e) << 52)), static_cast<s32>(e) - (tiny ? 54 : 0)};
}
inline Normal<float> normalise(float x) {
  const bool tiny = x < 0x1p-126f;
  const u32 b = bits(tiny ? x * 0x1p25f : x);
  const s32 e = static_cast<s32>(b - bits(2.0f / 3.0f)) >> 23;
  return {from_bits(b - (static_cast<u32>(e) << 23)), e - (tiny ? 25 : 0)};
}

// log(1 + f) for f as normalise() gives it; lo is not normalised.
inline Pair<float> log_core(float f) { return {f, f * f * fma(f, poly<kLogF>(f), -0.5f)}; }
inline Pair<double> log_core(double f) {
  const double s = div(f, 2.0 + f), z = s * s, half_square = 0.5 * f * f;
  return {f, fma(s, fma(z, poly<kLog>(z), half_square), -half_square)};
}

// log m to nearly twice the working precision, for m as normalise() gives it.
inline Pair<double> log_core_pair(double m) {
  const double f = m - 1.0;
  const Pair<double> s = Pair<double>{f, 0.0} / two_sum(1.0, m);
  const Pair<double> z = s * s;
  const double u = z.hi * poly<kLogTail>(z.hi);
  const Pair<double> inner = fast_two_sum(kTwoThirds, u);
  const Pair<double> cube = s * z * Pair<double>{inner.hi, inner.lo + kTwoThirdsLo};
  return Pair<double>{2 * s.hi, 2 * s.lo} + cube;
}
inline Pair<float> log_core_pair(float m) {
  const float f = m - 1.0f;
  const Pair<float> s = Pair<float>{f, 0.0f} / two_sum(1.0f, m);
  const float z = s.hi * s.hi;
  return fast_two_sum(2 * s.hi, fma(s.hi * z, poly<kLogTailF>(z), 2 * s.lo));
}
// log x as a pair, for positive finite x.
inline Pair<double> log_pair(double x) {
  const Normal<double> n = normalise(x);
  const double e = n.exponent;
  const Pair<double> whole = two_prod(e, kLn2);
  return Pair<double>{whole.hi, fma(e, kLn2Lo, whole.lo)} + log_core_pair(n.m);
}
inline Pair<float> log_pair(float x) {
  const Normal<float> n = normalise(x);
  const float e = static_cast<float>(n.exponent);
  const Pair<float> whole = two_prod(e, kLn2F);
  return Pair<float>{whole.hi, fma(e, kLn2LoF, whole.lo)} + log_core_pair(n.m);
}

// r for positive finite x; the limits elsewhere.
template <typename T>
inline T log_limits(T x, T r) {
  const T inf = T(kInf);
  return x > 0 ? (x < inf ? r : x) : x == 0 ? -inf : T(kNan);
}

inline double log_of(double x) {
  const Normal<double> n = normalise(x);
  const Pair<double> l = log_core(n.m - 1.0);
  const double e = n.exponent;
  return log_limits(x, fma(e, kLn2, l.hi + fma(e, kLn2Lo, l.lo)));
}
inline float log_of(float x) {
  const Normal<float> n = normalise(x);
  const Pair<float> l = log_core(n.m - 1.0f);
  const float e = static_cast<float>(n.exponent);
  return log_limits(x, fma(e, kLn2F, l.hi + fma(e, kLn2LoF, l.lo)));
}

// log(1 + x). With 1 + x ~ m 2^e the core's argument is x 2^-e + (2^-e - 1), kept with its rounding error.
template <typename T>
inline T log1p_of(T x) {
  const T u = add(T(1), x);
  const s32 e = normalise(u).exponent;
  const T four = exp2i<T>(2 - (x < T(kInf) ? e : 2));
  const Pair<T> f = fast_two_sum(fma(four, T(0.25), T(-1)), mul(mul(x, T(0.25)), four));
  const Pair<T> l = log_core(f.hi);
  const T ef = static_cast<T>(e);
  constexpr T kHi = sizeof(T) == 4 ? T(kLn2F) : T(kLn2), kLo = sizeof(T) == 4 ? T(kLn2LoF) : T(kLn2Lo);
  const T r = fma(ef, kHi, l.hi + fma(ef, kLo, l.lo + f.lo));
  constexpr T kTiny = sizeof(T) == 4 ? T(0x1p-26) : T(0x1p-55);
  return fabs(x) < kTiny ? x : x > -1 ? (x < T(kInf) ? r : x) : x == -1 ? -T(kInf) : T(kNan);
}

// e^x - 1 = 2^n (e^s - 1) + (2^n - 1), the sum carried as a pair.
template <typename T>
inline T expm1_of(T x) {
  constexpr T kLow = sizeof(T) == 4 ? T(-20) : T(-40), kTiny = sizeof(T) == 4 ? T(0x1p-26) : T(0x1p-55);
  const Scaled<T> r = reduce_exp(clamp(x, kLow, kExpHigh<T>), T(0));
  const T s = r.value.hi;
  T q;
  if constexpr (sizeof(T) == 4) {
    q = s * s * poly<kExpF>(s);
  } else {
    q = s * s * poly<kExp>(s);
  }
  const Pair<T> core = fast_two_sum(s, q + fma(r.value.lo, s, r.value.lo));
  const T half = exp2i<T>(plus(r.exponent, -1));  // half the scale: 2^1024 itself would overflow
  const Pair<T> sum = two_sum(mul(half, core.hi), add(half, T(-0.5)));
  const T result = 2 * (sum.hi + fma(half, core.lo, sum.lo));
  // Past the logarithm of the largest number the sum's parts are infinite, and their difference isn't a number.
  constexpr T kLast = sizeof(T) == 4 ? T(0x1.62e42ep+6) : T(0x1.62e42fefa39efp+9);
  return fabs(x) < kTiny ? x : x > kLast ? T(kInf) : result;
}

}  // namespace heddle::libdevice
