// Circular functions and their inverses. Tested by accuracy_test.cc.
#include "libdevice/trig.h"

namespace heddle::libdevice {
namespace {

template <typename T>
inline T keep_zero(T x, T result) {
  return x == 0 ? x : result;
}

inline float tan_of(float x) {
  const Angle<float> a = reduce(x);
  const float s = sin_core(a.value), c = fma(-a.value.hi, a.value.lo, cos_core(a.value));
  const bool odd = a.quadrant & 1;
  return keep_zero(x, div(odd ? -c : s, odd ? s : c));
}
// The quotient of two sums: each core's own rounding would cost an ulp.
inline double tan_of(double x) {
  const Angle<double> a = reduce(x);
  const Pair<double> r = a.value;
  const double z = r.hi * r.hi, half = 0.5 * z, one = 1.0 - half;
  const Pair<double> s = fast_two_sum(r.hi, fma(z * r.hi, poly<kSin>(z), r.lo * fma(-0.5, z, 1.0)));
  const Pair<double> c = fast_two_sum(one, ((1.0 - one) - half) + fma(z * z, poly<kCos>(z), -r.hi * r.lo));
  const bool odd = a.quadrant & 1;
  const Pair<double> top{odd ? -c.hi : s.hi, odd ? -c.lo : s.lo}, bottom{odd ? s.hi : c.hi, odd ? s.lo : c.lo};
  const Pair<double> q = top / bottom;
  return keep_zero(x, q.hi + q.lo);
}

inline double asin_core(double z) { return z * poly<kAsin>(z); }
inline float asin_core(float z) { return z * poly<kAsinF>(z); }
inline constexpr Pair<double> half_pi(double) { return {kPiOver2, kPiOver2Lo}; }
inline constexpr Pair<float> half_pi(float) { return {kPiOver2F, kPiOver2LoF}; }

// For |x| > 1/2, asin |x| = pi/2 - 2 asin(root) with root = sqrt((1 - |x|) / 2), and acos |x| = 2 asin(root).
template <typename T>
inline T asin_of(T x) {
  const T a = fabs(x), h = fma(T(-0.5), a, T(0.5)), root = sqrt(h);
  const bool small = a <= T(0.5);
  const T p = asin_core(small ? a * a : h);
  const Pair<T> quarter = half_pi(x);
  const Pair<T> high = fast_two_sum(quarter.hi, -2 * root);
  const T large = high.hi + (high.lo + fma(T(-2) * root, p, quarter.lo));
  return copysign(small ? fma(a, p, a) : large, x);
}
template <typename T>
inline T acos_of(T x) {
  const T a = fabs(x), h = fma(T(-0.5), a, T(0.5)), root = sqrt(h);
  const bool small = a <= T(0.5);
  const T p = asin_core(small ? a * a : h);
  const Pair<T> quarter = half_pi(x);
  const Pair<T> middle = fast_two_sum(quarter.hi, -x);
  const T central = middle.hi + (middle.lo + fma(-x, p, quarter.lo));
  const T tail = 2 * fma(root, p, root);
  const T mirrored = 2 * quarter.hi - (tail - 2 * quarter.lo);
  return small ? central : x < 0 ? mirrored : tail;
}

inline double atan_core(double t) {
  const double z = t * t;
  return z * t * poly<kAtan>(z);
}
inline float atan_core(float t) {
  const float z = t * t;
  return z * t * poly<kAtanF>(z);
}
template <typename T>
inline T atan_of(T x) {
  const T a = fabs(x);
  const bool large = a > 1;
  const T t = large ? div(T(1), a) : a;
  const T p = atan_core(t);
  const Pair<T> quarter = half_pi(x);
  const Pair<T> high = fast_two_sum(quarter.hi, -t);
  return copysign(pick(large, high.hi + (high.lo + (quarter.lo - p)), t + p), x);
}
template <typename T>
inline T atan2_of(T y, T x) {
  const T a = fabs(y), b = fabs(x), inf = T(kInf);
  const bool steep = a > b;
  T top = steep ? b : a, bottom = steep ? a : b;
  // Both infinite: an eighth of a turn. Both zero: none. Near the ends of the range both are scaled.
  const bool both = (bottom == inf) & (top == inf), none = bottom == 0;
  constexpr T kHigh = sizeof(T) == 4 ? T(0x1p126) : T(0x1p1021), kLow = sizeof(T) == 4 ? T(0x1p-100) : T(0x1p-960);
  const T factor = bottom >= kHigh ? T(0.25) : bottom < kLow ? (sizeof(T) == 4 ? T(0x1p25) : T(0x1p54)) : T(1);
  top = both ? T(1) : top * factor;
  bottom = (both | none) ? T(1) : bottom * factor;
  const T t = div(top, bottom);
  const T p = atan_core(t);
  // angle = quarters * pi/2 +- (t + p)
  const bool left = sign_bit(x);
  const T quarters = steep ? T(1) : left ? T(2) : T(0);
  const bool minus = steep != left;
  const Pair<T> quarter = half_pi(x);
  const Pair<T> high = fast_two_sum(quarters * quarter.hi, minus ? -t : t);
  const T turned = high.hi + (high.lo + fma(quarters, quarter.lo, minus ? -p : p));
  const T result = copysign((steep | left) ? turned : t + p, y);
  const T sum = x + y;
  return either_nan(x, y) ? sum : result;
}

}  // namespace
}  // namespace heddle::libdevice

using namespace heddle::libdevice;

HEDDLE_NV(double, sin)(double a) { return keep_zero(a, sine(reduce_quickly(a), 0)); }
HEDDLE_NV(float, sinf)(float a) { return keep_zero(a, sine(reduce_quickly(a), 0)); }
HEDDLE_NV(double, cos)(double a) { return sine(reduce_quickly(a), 1); }
HEDDLE_NV(float, cosf)(float a) { return sine(reduce_quickly(a), 1); }
HEDDLE_NV(double, tan)(double a) { return tan_of(a); }
HEDDLE_NV(float, tanf)(float a) { return tan_of(a); }
HEDDLE_NV(void, sincos)(double a, double* s, double* c) {
  const SinCos<double> r = sin_cos(reduce_quickly(a));
  *s = keep_zero(a, r.sin);
  *c = r.cos;
}
HEDDLE_NV(void, sincosf)(float a, float* s, float* c) {
  const SinCos<float> r = sin_cos(reduce_quickly(a));
  *s = keep_zero(a, r.sin);
  *c = r.cos;
}
// The sine of a whole number of half turns is a zero with the argument's sign.
HEDDLE_NV(double, sinpi)(double a) { return pick(a == trunc(a), copysign(0.0 * a, a), sine(reduce_pi(a), 0)); }
HEDDLE_NV(float, sinpif)(float a) { return pick(a == trunc(a), copysign(0.0f * a, a), sine(reduce_pi(a), 0)); }
HEDDLE_NV(double, cospi)(double a) { return sine(reduce_pi(a), 1) + 0.0; }
HEDDLE_NV(float, cospif)(float a) { return sine(reduce_pi(a), 1) + 0.0f; }
HEDDLE_NV(void, sincospi)(double a, double* s, double* c) {
  const SinCos<double> r = sin_cos(reduce_pi(a));
  *s = a == trunc(a) ? copysign(0.0 * a, a) : r.sin;
  *c = r.cos + 0.0;
}
HEDDLE_NV(void, sincospif)(float a, float* s, float* c) {
  const SinCos<float> r = sin_cos(reduce_pi(a));
  *s = a == trunc(a) ? copysign(0.0f * a, a) : r.sin;
  *c = r.cos + 0.0f;
}
HEDDLE_NV(double, asin)(double a) { return asin_of(a); }
HEDDLE_NV(float, asinf)(float a) { return asin_of(a); }
HEDDLE_NV(double, acos)(double a) { return acos_of(a); }
HEDDLE_NV(float, acosf)(float a) { return acos_of(a); }
HEDDLE_NV(double, atan)(double a) { return atan_of(a); }
HEDDLE_NV(float, atanf)(float a) { return atan_of(a); }
HEDDLE_NV(double, atan2)(double a, double b) { return atan2_of(a, b); }
HEDDLE_NV(float, atan2f)(float a, float b) { return atan2_of(a, b); }
