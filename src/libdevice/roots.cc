// Roots and lengths of vectors. Tested by accuracy_test.cc.
#include "libdevice/core.h"

namespace heddle::libdevice {
namespace {

// |x| = a * 8^k, 1 <= a < 8, and y ~ a^(-1/3) to working precision, for finite x other than 0.
template <typename T>
struct CubeRoot {
  T a, y;
  s32 k;
};
template <typename T>
inline CubeRoot<T> cube_root(T x) {
  constexpr bool kSingle = sizeof(T) == 4;
  constexpr int kMantissa = kSingle ? 23 : 52, kBias = kSingle ? 127 : 1023, kShift = kSingle ? 24 : 54;
  constexpr T kTiniest = kSingle ? T(0x1p-126) : T(0x1p-1022), kUp = kSingle ? T(0x1p24) : T(0x1p54);
  T b = fabs(x);
  const bool tiny = b < kTiniest;
  b = tiny ? b * kUp : b;
  const s32 e = static_cast<s32>(bits(b) >> kMantissa) - kBias - (tiny ? kShift : 0);
  const auto one = bits(T(1));
  const auto mask = (static_cast<decltype(one)>(1) << kMantissa) - 1;
  const T m = from_bits((bits(b) & mask) | one);
  // The division by 3 as a product, which keeps it in 32 bits.
  const s32 k = static_cast<s32>((static_cast<u32>(e + 3072) * 43691) >> 17) - 1024, j = e - 3 * k;
  const T a = j == 0 ? m : j == 1 ? 2 * m : 4 * m;
  T y;
  if constexpr (kSingle) {
    y = poly<kRcbrtF>(m);
  } else {
    y = poly<kRcbrt>(m);
  }
  y *= j == 0 ? T(1) : j == 1 ? T(0x1.965fea53d6e3dp-1) : T(0x1.428a2f98d728bp-1);  // 2^(-j/3)
  for (int i = 0; i < (kSingle ? 1 : 2); ++i) {
    const T rest = fma(-a * y, y * y, T(1));
    y = fma(y * rest, fma(rest, T(2) / 9, T(1) / 3), y);
  }
  return {a, y, k};
}

template <typename T>
inline T cbrt_of(T x) {
  const CubeRoot<T> r = cube_root(x);
  const T square = r.y * r.y, t = mul(r.a, square);
  const Pair<T> t2 = two_prod(t, t), t3 = two_prod(t2.hi, t);
  const T rest = add(add(r.a, -t3.hi), -fma(t2.lo, t, t3.lo));
  const T root = fma(rest * square, T(1) / 3, t) * exp2i<T>(r.k);
  const T twice = x + x, signed_root = copysign(root, x);
  return ((x == 0) | !is_finite(x)) ? twice : signed_root;
}
template <typename T>
inline T rcbrt_of(T x) {
  const CubeRoot<T> r = cube_root(x);
  const T root = copysign(r.y * exp2i<T>(-r.k), x);
  const T infinite = copysign(T(kInf), x), zero = copysign(T(0), x);
  return x == 0 ? infinite : is_inf(x) ? zero : is_nan(x) ? x : root;
}

// The sum of the squares of numbers scaled by 2^-exponent, which brings the largest near 1.
template <typename T>
struct Length {
  Pair<T> square;
  T largest;
  T unit;
  s32 exponent;
};
template <typename T>
inline Length<T> start_length(T largest) {
  constexpr int kMantissa = sizeof(T) == 4 ? 23 : 52, kBias = sizeof(T) == 4 ? 127 : 1023;
  s32 e = static_cast<s32>(bits(largest) >> kMantissa) - kBias;
  e = e > kBias - 1 ? kBias - 1 : e < 1 - kBias ? 1 - kBias : e;
  return {{T(0), T(0)}, largest, exp2i<T>(-e), e};
}
// Exact: with the sum's rounding errors, which only the inverse in double precision needs.
template <bool Exact, typename T>
inline void add_square(Length<T>& l, T x) {
  const T scaled = mul(x, l.unit);
  if constexpr (!Exact) {
    l.square.hi = fma(scaled, scaled, l.square.hi);
    return;
  }
  const Pair<T> square = two_prod(scaled, scaled), sum = two_sum(l.square.hi, square.hi);
  l.square = {sum.hi, l.square.lo + (sum.lo + square.lo)};
}
template <typename T>
inline T finish_length(Length<T> l) {
  return pick(l.largest == T(kInf), T(kInf), scale(sqrt(l.square.hi), l.exponent));
}
template <typename T>
inline T finish_inverse(Length<T> l) {
  T q;
  if constexpr (sizeof(T) == 4) {
    q = div(T(1), sqrt(l.square.hi));
  } else {
    const Pair<T> r = sqrt_pair(fast_two_sum(l.square.hi, l.square.lo));
    q = div(T(1), r.hi);
    q = fma(q, fma(-q, r.lo, fma(-q, r.hi, T(1))), q);
  }
  const T inverse = scale(q, -l.exponent);
  return l.largest == T(kInf) ? T(0) : l.square.hi == 0 ? T(kInf) : inverse;
}

template <typename T>
inline T larger(T a, T b) {
  const T c = fabs(b);
  return a < c ? c : a;  // ignores a NaN in b: an infinite component makes the length infinite
}
template <bool Exact, typename T, typename... Rest>
inline Length<T> length_of(T first, Rest... rest) {
  T largest = larger(T(0), first);
  ((largest = larger(largest, rest)), ...);
  Length<T> l = start_length(largest);
  add_square<Exact>(l, first);
  (add_square<Exact>(l, rest), ...);
  return l;
}
template <bool Exact, typename T>
inline Length<T> length_of_array(int n, const T* values) {
  T largest = 0;
  for (int i = 0; i < n; ++i) largest = larger(largest, values[i]);
  Length<T> l = start_length(largest);
  for (int i = 0; i < n; ++i) add_square<Exact>(l, values[i]);
  return l;
}

}  // namespace
}  // namespace heddle::libdevice

using namespace heddle::libdevice;

HEDDLE_NV(double, cbrt)(double a) { return cbrt_of(a); }
HEDDLE_NV(float, cbrtf)(float a) { return cbrt_of(a); }
HEDDLE_NV(double, rcbrt)(double a) { return rcbrt_of(a); }
HEDDLE_NV(float, rcbrtf)(float a) { return rcbrt_of(a); }
HEDDLE_NV(double, rsqrt)(double a) { return div(1.0, sqrt(a)); }
HEDDLE_NV(float, rsqrtf)(float a) { return approx_rsqrt(a); }
HEDDLE_NV(double, hypot)(double a, double b) { return finish_length(length_of<false>(a, b)); }
HEDDLE_NV(float, hypotf)(float a, float b) { return finish_length(length_of<false>(a, b)); }
HEDDLE_NV(double, rhypot)(double a, double b) { return finish_inverse(length_of<true>(a, b)); }
HEDDLE_NV(float, rhypotf)(float a, float b) { return finish_inverse(length_of<false>(a, b)); }
HEDDLE_NV(double, norm3d)(double a, double b, double c) { return finish_length(length_of<false>(a, b, c)); }
HEDDLE_NV(float, norm3df)(float a, float b, float c) { return finish_length(length_of<false>(a, b, c)); }
HEDDLE_NV(double, rnorm3d)(double a, double b, double c) { return finish_inverse(length_of<true>(a, b, c)); }
HEDDLE_NV(float, rnorm3df)(float a, float b, float c) { return finish_inverse(length_of<false>(a, b, c)); }
HEDDLE_NV(double, norm4d)(double a, double b, double c, double d) {
  return finish_length(length_of<false>(a, b, c, d));
}
HEDDLE_NV(float, norm4df)(float a, float b, float c, float d) { return finish_length(length_of<false>(a, b, c, d)); }
HEDDLE_NV(double, rnorm4d)(double a, double b, double c, double d) {
  return finish_inverse(length_of<true>(a, b, c, d));
}
HEDDLE_NV(float, rnorm4df)(float a, float b, float c, float d) { return finish_inverse(length_of<false>(a, b, c, d)); }
HEDDLE_NV(double, norm)(int n, const double* values) { return finish_length(length_of_array<false>(n, values)); }
HEDDLE_NV(float, normf)(int n, const float* values) { return finish_length(length_of_array<false>(n, values)); }
HEDDLE_NV(double, rnorm)(int n, const double* values) { return finish_inverse(length_of_array<true>(n, values)); }
HEDDLE_NV(float, rnormf)(int n, const float* values) { return finish_inverse(length_of_array<false>(n, values)); }
