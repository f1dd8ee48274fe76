// Argument reduction and cores of the circular functions. Tested by accuracy_test.cc.
#pragma once
#include "libdevice/core.h"

namespace heddle::libdevice {

// x = quadrant * pi/2 + value (modulo whole turns), |value| a little above pi/4 at most.
template <typename T>
struct Angle {
  Pair<T> value;
  s32 quadrant;
};

// For |x| >= 2^30: multiplies x's mantissa by the 192 bits of 2/pi that matter for the quadrant and the fraction.
inline Angle<double> reduce_huge(double x) {
  const u64 b = bits(x);
  const s32 biased = static_cast<s32>((b >> 52) & 2047);
  const u64 mantissa = (b & 0xfffffffffffffull) | 0x10000000000000ull;
  // The product's integer part modulo 4 starts at bit e - 1 of 2/pi, e the exponent of the mantissa's last bit; the
  // table begins with 64 zero bits.
  const u32 first = static_cast<u32>(biased - 1075 - 2 + 64);
  const u32 word = first >> 6, shift = first & 63;
  const u64 w0 = kTwoOverPiBits[word], w1 = kTwoOverPiBits[word + 1], w2 = kTwoOverPiBits[word + 2],
            w3 = kTwoOverPiBits[word + 3];
  const u64 f2 = shift ? (w0 << shift) | (w1 >> (64 - shift)) : w0;
  const u64 f1 = shift ? (w1 << shift) | (w2 >> (64 - shift)) : w1;
  const u64 f0 = shift ? (w2 << shift) | (w3 >> (64 - shift)) : w2;
  // The low 192 bits of mantissa * (f2, f1, f0).
  const u64 p0 = mantissa * f0, h0 = mul_hi(mantissa, f0);
  const u64 p1 = mantissa * f1, h1 = mul_hi(mantissa, f1);
  const u64 r1 = p1 + h0;
  const u64 r2 = mantissa * f2 + h1 + (r1 < p1 ? 1 : 0);
  const s32 whole = static_cast<s32>(r2 >> 62);
  u64 high = (r2 << 2) | (r1 >> 62), low = (r1 << 2) | (p0 >> 62);
  const bool up = (high >> 63) != 0;  // a fraction of a half or more counts down from the next quadrant
  high = up ? ~high : high;
  low = up ? ~low : low;
  const Pair<double> top = fast_two_sum(static_cast<double>(high >> 21) * 0x1p-43,
                                        static_cast<double>(((high & 0x1fffff) << 22) | (low >> 42)) * 0x1p-86);
  const Pair<double> fraction = fast_two_sum(top.hi, top.lo + static_cast<double>(low & 0x3ffffffffffull) * 0x1p-128);
  const Pair<double> r = fraction * Pair<double>{kPiOver2, kPiOver2Lo};
  const bool negative = up != sign_bit(x);
  const s32 quadrant = whole + (up ? 1 : 0);
  return {negative ? -r : r, sign_bit(x) ? -quadrant : quadrant};
}

// For |x| < 2^30. The first fma is exact; the second product is carried as a pair.
inline Angle<double> reduce_common(double x) {
  const double n = rint(x * kTwoOverPi);
  const double r = fma(-n, kPiOver2, x);
  const Pair<double> second = two_prod(-n, kPiOver2Lo);
  const Pair<double> sum = two_sum(r, second.hi);
  return {fast_two_sum(sum.hi, fma(-n, kPiOver2Lowest, sum.lo + second.lo)), to_int(n)};
}

inline Angle<double> reduce(double x) {
  if (fabs(x) < 0x1p30) return reduce_common(x);
  return is_finite(x) ? reduce_huge(x) : Angle<double>{{kNan, kNan}, 0};
}

inline Angle<float> reduce_large(float x) {
  const Angle<double> wide = reduce(static_cast<double>(x));
  const float hi = static_cast<float>(wide.value.hi);
  return {{hi, static_cast<float>(wide.value.hi - hi)}, wide.quadrant};
}
inline Angle<float> reduce(float x) {
  if (!(fabs(x) < 0x1p15f)) return reduce_large(x);
  const float n = rint(x * kTwoOverPiF);
  const Pair<float> second = two_prod(-n, kPiOver2LoF);
  const Pair<float> sum = two_sum(fma(-n, kPiOver2F, x), second.hi);
  return {fast_two_sum(sum.hi, fma(-n, kPiOver2LowestF, sum.lo + second.lo)), to_int(n)};
}
// To half an ulp of the value only: enough for sine and cosine.
inline Angle<float> reduce_quickly(float x) {
  if (!(fabs(x) < 0x1p15f)) return reduce_large(x);
  const float n = rint(x * kTwoOverPiF);
  const float r = fma(-n, kPiOver2LowestF, fma(-n, kPiOver2LoF, fma(-n, kPiOver2F, x)));
  return {{r, 0.0f}, to_int(n)};
}
inline Angle<double> reduce_quickly(double x) { return reduce(x); }

// sin and cos of hi + lo, |hi| <= pi/4.
inline double sin_core(Pair<double> r) {
  const double z = r.hi * r.hi;
  return r.hi + fma(z * r.hi, poly<kSin>(z), r.lo * (1.0 - 0.5 * z));
}
inline double cos_core(Pair<double> r) {
  const double z = r.hi * r.hi, half = 0.5 * z, one = 1.0 - half;
  return one + fma(z * z, poly<kCos>(z), fma(-r.hi, r.lo, (1.0 - one) - half));
}
inline float sin_core(Pair<float> r) {
  const float z = r.hi * r.hi;
  return r.hi + fma(z * r.hi, poly<kSinF>(z), r.lo * (1.0f - 0.5f * z));
}
inline float cos_core(Pair<float> r) {
  const float z = r.hi * r.hi, half = 0.5f * z, one = 1.0f - half;
  return one + fma(z * z, poly<kCosF>(z), fma(-r.hi, r.lo, (1.0f - one) - half));
}

// The polynomial that takes its coefficients from C where other holds and from B elsewhere: one evaluation for both.
template <const auto& B, const auto& C, int I = 0, typename T>
inline T poly_either(bool other, T x) {
  const T c = other ? C[I] : B[I];
  if constexpr (I + 1 == sizeof(B) / sizeof(B[0])) {
    return c;
  } else {
    return fma(poly_either<B, C, I + 1>(other, x), x, c);
  }
}
// sin of the angle plus quarters quarter turns, without a branch between the two cores.
template <typename T>
inline T sine(Angle<T> a, s32 quarters) {
  const s32 q = a.quadrant + quarters;
  const bool odd = q & 1;
  const Pair<T> r = a.value;
  const T z = r.hi * r.hi, half = T(0.5) * z, one = T(1) - half;
  T p;
  if constexpr (sizeof(T) == 4) {
    p = poly_either<kSinF, kCosF>(odd, z);
  } else {
    p = poly_either<kSin, kCos>(odd, z);
  }
  const T low = fma(odd ? -r.hi : one, r.lo, odd ? (T(1) - one) - half : T(0));
  const T s = (odd ? one : r.hi) + fma(z * (odd ? z : r.hi), p, low);
  return q & 2 ? -s : s;
}

template <typename T>
struct SinCos {
  T sin, cos;
};
template <typename T>
inline SinCos<T> sin_cos(Angle<T> a) {
  const T s = sin_core(a.value), c = cos_core(a.value);
  const bool swap = a.quadrant & 1;
  const T sine = swap ? c : s, cosine = swap ? s : c;
  return {a.quadrant & 2 ? -sine : sine, (a.quadrant + 1) & 2 ? -cosine : cosine};
}

// x in half turns: value = pi * (x - quadrant / 2), exact up to the multiplication by pi.
inline Angle<double> reduce_pi(double x) {
  const double twice = x + x, n = fabs(x) < 0x1p53 ? rint(twice) : 0.0;
  const double r = fabs(x) < 0x1p53 ? fma(-0.5, n, x) : x - x;
  const Pair<double> p = two_prod(r, kPi);
  // The quadrant of a large n: its value modulo 4.
  const double mod = fma(-4.0, floor(n * 0.25), n);
  return {{p.hi, fma(r, kPiLo, p.lo)}, to_int(mod)};
}
inline Angle<float> reduce_pi(float x) {
  const float twice = x + x, n = fabs(x) < 0x1p24f ? rint(twice) : 0.0f;
  const float r = fabs(x) < 0x1p24f ? fma(-0.5f, n, x) : x - x;
  const Pair<float> p = two_prod(r, kPiF);
  return {{p.hi, fma(r, kPiLoF, p.lo)}, to_int(n)};
}

}  // namespace heddle::libdevice
