// Hyperbolic functions and their inverses. Tested by accuracy_test.cc.
#include "libdevice/exp_log.h"

namespace heddle::libdevice {
namespace {

inline double sinh_small(double a) { return fma(a * a * a, poly<kSinh>(a * a), a); }
inline float sinh_small(float a) { return fma(a * a * a, poly<kSinhF>(a * a), a); }
inline double tanh_small(double a) { return fma(a * a * a, poly<kTanh>(a * a), a); }
inline float tanh_small(float a) { return fma(a * a * a, poly<kTanhF>(a * a), a); }

// (e^a + Sign e^-a) / 2 for a >= 0.
template <int Sign, typename T>
inline T half_sum(T a) {
  const Scaled<T> r = reduce_exp(clamp(a, T(0), kExpHigh<T> + 2), T(0));
  const Pair<T> e = exp_core(r.value);
  // e^-a in units of 2^exponent; past 2^-60 of e^a it no longer counts.
  constexpr s32 kFar = sizeof(T) == 4 ? 30 : 60;
  const s32 n = r.exponent < kFar ? r.exponent : kFar;
  const T hi = e.hi + e.lo, lo = (e.hi - hi) + e.lo, inverse = div(T(1), hi);
  const T small = mul(inverse, exp2i<T>(static_cast<s32>(0u - 2u * static_cast<u32>(n))));
  const Pair<T> sum = two_sum(hi, Sign * small);
  const T value = scale(sum.hi + (sum.lo + lo), plus(r.exponent, -1));
  return is_nan(a) ? a : value;
}

template <typename T>
inline T sinh_of(T x) {
  const T a = fabs(x);
  return copysign(pick(a < 1, sinh_small(a), half_sum<-1>(a)), x);
}

// 1 - 2 / (e^2a + 1)
inline float tanh_large(float a) { return 1.0f - div(2.0f, exp_of_float(clamp(2 * a, 0.0f, 45.0f)) + 1.0f); }
inline double tanh_large(double a) {
  const Scaled<double> r = reduce_exp(clamp(2 * a, 0.0, 45.0), 0.0);
  const Pair<double> e = exp_core(r.value);
  const double unit = exp2i<double>(r.exponent);
  const Pair<double> bottom = Pair<double>{mul(e.hi, unit), mul(e.lo, unit)} + 1.0;
  const Pair<double> q = Pair<double>{2.0, 0.0} / bottom, one = fast_two_sum(1.0, -q.hi);
  return one.hi + (one.lo - q.lo);
}
template <typename T>
inline T tanh_of(T x) {
  const T a = fabs(x), large = tanh_large(a);
  return copysign(pick(a < T(0.55), tanh_small(a), large), x);
}

template <typename T>
inline constexpr T kHuge = sizeof(T) == 4 ? T(0x1p13) : T(0x1p28);
template <typename T>
inline T ln2() {
  return sizeof(T) == 4 ? T(kLn2F) : T(kLn2);
}

template <typename T>
inline T asinh_of(T x) {
  const T a = fabs(x);
  const bool large = a > kHuge<T>;
  const T c = large ? T(1) : a, square = c * c;
  const T small = log1p_of(c + div(square, 1 + sqrt(1 + square)));
  return copysign(pick(large, log_of(a) + ln2<T>(), small), x);
}
template <typename T>
inline T acosh_of(T x) {
  const bool large = x > kHuge<T>;
  const T t = large ? T(1) : x - 1;
  const T small = log1p_of(t + sqrt(fma(t, t, 2 * t)));
  return pick(large, log_of(x) + ln2<T>(), pick(x < 1, T(kNan), small));
}
template <typename T>
inline T atanh_of(T x) {
  const T a = fabs(x);
  return copysign(T(0.5) * log1p_of(div(2 * a, 1 - a)), x);
}

}  // namespace
}  // namespace heddle::libdevice

using namespace heddle::libdevice;

HEDDLE_NV(double, sinh)(double a) { return sinh_of(a); }
HEDDLE_NV(float, sinhf)(float a) { return sinh_of(a); }
HEDDLE_NV(double, cosh)(double a) { return half_sum<1>(fabs(a)); }
HEDDLE_NV(float, coshf)(float a) { return half_sum<1>(fabs(a)); }
HEDDLE_NV(double, tanh)(double a) { return tanh_of(a); }
HEDDLE_NV(float, tanhf)(float a) { return tanh_of(a); }
HEDDLE_NV(double, asinh)(double a) { return asinh_of(a); }
HEDDLE_NV(float, asinhf)(float a) { return asinh_of(a); }
HEDDLE_NV(double, acosh)(double a) { return acosh_of(a); }
HEDDLE_NV(float, acoshf)(float a) { return acosh_of(a); }
HEDDLE_NV(double, atanh)(double a) { return atanh_of(a); }
HEDDLE_NV(float, atanhf)(float a) { return atanh_of(a); }
