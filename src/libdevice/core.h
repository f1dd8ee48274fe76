// Shared pieces of the device math library: bit casts, polynomials, scaling by powers of two, and pairs of numbers
// (an unevaluated sum hi + lo) for the steps that need more than working precision. Everything is inline and free of
// branches, since the code runs in lane vectors. Tested by accuracy_test.cc.
#pragma once

#if defined(HEDDLE_LIBDEVICE_DECLARES)
// Clang's own declarations: the compiler checks each signature against them.
#define __DEVICE__
#define CUDA_VERSION 9000
#include HEDDLE_LIBDEVICE_DECLARES
#undef CUDA_VERSION
#endif

#include "libdevice/coefficients.h"
#include "libdevice/device_ops.h"

#define HEDDLE_NV(result, name) extern "C" result __nv_##name

namespace heddle::libdevice {

inline constexpr float kInfF = __builtin_huge_valf();
inline constexpr double kInf = __builtin_huge_val();
inline constexpr double kNan = __builtin_nan("");
inline constexpr float kNanF = __builtin_nanf("");

inline u32 bits(float x) { return __builtin_bit_cast(u32, x); }
inline u64 bits(double x) { return __builtin_bit_cast(u64, x); }
inline float from_bits(u32 x) { return __builtin_bit_cast(float, x); }
inline double from_bits(u64 x) { return __builtin_bit_cast(double, x); }

inline float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
inline float fabs(float x) { return from_bits(bits(x) & 0x7fffffffu); }
inline double fabs(double x) { return from_bits(bits(x) & 0x7fffffffffffffffull); }
inline float copysign(float x, float s) { return from_bits((bits(x) & 0x7fffffffu) | (bits(s) & 0x80000000u)); }
inline double copysign(double x, double s) {
  return from_bits((bits(x) & 0x7fffffffffffffffull) | (bits(s) & 0x8000000000000000ull));
}
inline float rint(float x) { return __builtin_rintf(x); }
inline double rint(double x) { return __builtin_rint(x); }
inline float trunc(float x) { return __builtin_truncf(x); }
inline double trunc(double x) { return __builtin_trunc(x); }
inline float floor(float x) { return __builtin_floorf(x); }
inline double floor(double x) { return __builtin_floor(x); }
inline float sqrt(float x) { return sqrt_r<Round::kNearest>(x); }
inline double sqrt(double x) { return sqrt_r<Round::kNearest>(x); }
inline bool is_nan(float x) { return (bits(x) & 0x7fffffffu) > 0x7f800000u; }
inline bool is_nan(double x) { return (bits(x) & 0x7fffffffffffffffull) > 0x7ff0000000000000ull; }
template <typename T>
inline bool either_nan(T x, T y) {
  return __builtin_isunordered(x, y);
}
inline bool is_inf(float x) { return (bits(x) & 0x7fffffffu) == 0x7f800000u; }
inline bool is_inf(double x) { return (bits(x) & 0x7fffffffffffffffull) == 0x7ff0000000000000ull; }
inline bool is_finite(float x) { return (bits(x) & 0x7fffffffu) < 0x7f800000u; }
inline bool is_finite(double x) { return (bits(x) & 0x7fffffffffffffffull) < 0x7ff0000000000000ull; }
template <typename T>
inline bool sign_bit(T x) {
  return (bits(x) >> (8 * sizeof(T) - 1)) != 0;
}
// Of a number that is an integer already, or of anything where the result doesn't matter.
inline s32 to_int(float x) { return to_s32<Round::kNearest>(x); }
inline s32 to_int(double x) { return to_s32<Round::kNearest>(x); }
// A choice between values that are both computed: a conditional expression with calls in it would branch.
template <typename T>
inline T pick(bool condition, T yes, T no) {
  return condition ? yes : no;
}
// NaN stays: a comparison with it is false.
template <typename T>
inline T clamp(T x, T low, T high) {
  x = x < low ? low : x;
  return x > high ? high : x;
}

// The polynomial whose coefficients (lowest power first) are the array C, by Horner's rule.
template <const auto& C, int I = 0, typename T>
inline T poly(T x) {
  if constexpr (I + 1 == sizeof(C) / sizeof(C[0])) {
    return C[I];
  } else {
    return fma(poly<C, I + 1>(x), x, C[I]);
  }
}
// The same with a run-time row of a table, for piecewise functions.
template <int N>
inline double poly_row(const double (&row)[N], double x) {
  double r = row[N - 1];
  for (int i = N - 2; i >= 0; --i) r = fma(r, x, row[i]);
  return r;
}

// Exponents that come from NaN are anything: sums of them wrap.
inline s32 plus(s32 a, s32 b) { return static_cast<s32>(static_cast<u32>(a) + static_cast<u32>(b)); }
inline s32 negate(s32 a) { return static_cast<s32>(0u - static_cast<u32>(a)); }
// 2^n for n in the range of normal numbers.
template <typename T>
inline T exp2i(s32 n) {
  if constexpr (sizeof(T) == 4) {
    return from_bits(static_cast<u32>(plus(n, 127)) << 23);
  } else {
    return from_bits(static_cast<u64>(plus(n, 1023)) << 52);
  }
}
// x * 2^n for x near 1 and n up to twice the exponent range: the first product is exact, the second rounds.
template <typename T>
inline T scale(T x, s32 n) {
  const s32 half = n >> 1;
  return mul(mul(x, exp2i<T>(half)), exp2i<T>(n - half));
}

// An unevaluated sum, |lo| at most half a unit in the last place of hi.
template <typename T>
struct Pair {
  T hi, lo;
};
// hi + lo == a + b exactly; fast_two_sum needs |a| >= |b| or a == 0.
template <typename T>
inline Pair<T> fast_two_sum(T a, T b) {
  const T s = add(a, b);
  return {s, add(b, -add(s, -a))};
}
template <typename T>
inline Pair<T> two_sum(T a, T b) {
  const T s = add(a, b);
  const T v = add(s, -a);
  return {s, add(add(a, -add(s, -v)), add(b, -v))};
}
template <typename T>
inline Pair<T> two_prod(T a, T b) {
  const T p = mul(a, b);
  return {p, fma(a, b, -p)};
}
template <typename T>
inline Pair<T> operator*(Pair<T> a, Pair<T> b) {
  const Pair<T> p = two_prod(a.hi, b.hi);
  return fast_two_sum(p.hi, add(p.lo, fma(a.hi, b.lo, mul(a.lo, b.hi))));
}
template <typename T>
inline Pair<T> operator*(Pair<T> a, T b) {
  const Pair<T> p = two_prod(a.hi, b);
  return fast_two_sum(p.hi, fma(a.lo, b, p.lo));
}
template <typename T>
inline Pair<T> operator+(Pair<T> a, Pair<T> b) {
  const Pair<T> s = two_sum(a.hi, b.hi);
  return fast_two_sum(s.hi, add(s.lo, add(a.lo, b.lo)));
}
template <typename T>
inline Pair<T> operator+(Pair<T> a, T b) {
  const Pair<T> s = two_sum(a.hi, b);
  return fast_two_sum(s.hi, add(s.lo, a.lo));
}
template <typename T>
inline Pair<T> operator-(Pair<T> a) {
  return {-a.hi, -a.lo};
}
template <typename T>
inline Pair<T> operator/(Pair<T> a, Pair<T> b) {
  const T inverse = div(T(1), b.hi);
  const T q = mul(a.hi, inverse);
  const T rest = fma(-q, b.lo, add(fma(-q, b.hi, a.hi), a.lo));
  return fast_two_sum(q, mul(rest, inverse));
}
template <typename T>
inline Pair<T> sqrt_pair(Pair<T> a) {
  const T r = sqrt(a.hi);
  const T rest = add(fma(-r, r, a.hi), a.lo);
  return fast_two_sum(r, r > 0 ? div(rest, mul(T(2), r)) : T(0));
}

}  // namespace heddle::libdevice
