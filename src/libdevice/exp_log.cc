// Exponentials, logarithms and powers. Tested by accuracy_test.cc.
#include "libdevice/exp_log.h"

namespace heddle::libdevice {
namespace {

inline double exp2_of(double x) {
  const double c = clamp(x, -1080.0, 1025.0), n = rint(c), r = c - n;
  const Pair<double> p = two_prod(r, kLn2);
  const Pair<double> e = exp_core(Pair<double>{p.hi, fma(r, kLn2Lo, p.lo)});
  return scale(e.hi + e.lo, to_int(n));
}
inline float exp2_of(float x) {
  const float c = clamp(x, -155.0f, 129.0f), n = rint(c), r = c - n;
  return scale(fma(r, poly<kExp2F>(r), 1.0f), to_int(n));
}
inline double exp10_of(double x) {
  const double c = clamp(x, -326.0, 310.0), n = rint(c * kLog2Of10);
  const Pair<double> r = fast_two_sum(fma(-n, kLog10Of2, c), -n * kLog10Of2Lo);
  const Pair<double> e = exp_core(r * Pair<double>{kLn10, kLn10Lo});
  return scale(e.hi + e.lo, to_int(n));
}
inline float exp10_of(float x) {
  const float c = clamp(x, -47.0f, 39.0f), n = rint(c * kLog2Of10F);
  const float r = fma(-n, kLog10Of2LoF, fma(-n, kLog10Of2F, c));
  const float s = r * kLn10F;
  return scale(fma(s * s, poly<kExpF>(s), fma(r, kLn10LoF, s)) + 1.0f, to_int(n));
}

// (exponent + log m / ln base) from a pair: unit is 1 / ln base, step is ln 2 / ln base.
template <typename T>
inline T log_base(T x, Pair<T> unit, Pair<T> step) {
  const Normal<T> n = normalise(x);
  const T e = static_cast<T>(n.exponent);
  const Pair<T> l = log_core(n.m - 1);
  const Pair<T> part = two_prod(l.hi, unit.hi), whole = two_prod(e, step.hi);
  const Pair<T> sum = fast_two_sum(whole.hi, part.hi);
  const T low = fma(l.lo, unit.hi, fma(l.hi, unit.lo, part.lo)) + fma(e, step.lo, whole.lo);
  return log_limits(x, sum.hi + (sum.lo + low));
}

template <typename T>
inline T power(T x, T y) {
  constexpr T kBig = sizeof(T) == 4 ? T(0x1p34) : T(0x1p66), kInfinity = T(kInf);
  const T a = fabs(x), c = clamp(y, -kBig, kBig);
  const T r = exp_of(log_pair(a) * c);
  const bool end = (a == 0) | (a == kInfinity);
  const T magnitude = end ? ((a == 0) == (y < 0) ? kInfinity : T(0)) : r;
  const bool integer = trunc(y) == y, odd = integer & (trunc(y * T(0.5)) * 2 != y);
  T result = odd ? copysign(magnitude, x) : magnitude;
  result = ((x < 0) & !end & !integer) ? T(kNan) : result;
  const T sum = x + y;
  result = either_nan(x, y) ? sum : result;
  return ((x == 1) | (y == 0)) ? T(1) : result;
}

// The binary method: exact as long as the products are, like the power of an integer ought to be.
template <typename T>
inline T integer_power(T x, int n) {
  return power(x, static_cast<T>(n));
}
template <>
inline float integer_power(float x, int n) {
  return static_cast<float>(power(static_cast<double>(x), static_cast<double>(n)));
}

}  // namespace
}  // namespace heddle::libdevice

using namespace heddle::libdevice;

HEDDLE_NV(double, exp)(double a) { return exp_of(Pair<double>{a, 0.0}); }
HEDDLE_NV(float, expf)(float a) { return exp_of_float(a); }
HEDDLE_NV(double, exp2)(double a) { return exp2_of(a); }
HEDDLE_NV(float, exp2f)(float a) { return exp2_of(a); }
HEDDLE_NV(double, exp10)(double a) { return exp10_of(a); }
HEDDLE_NV(float, exp10f)(float a) { return exp10_of(a); }
HEDDLE_NV(double, expm1)(double a) { return expm1_of(a); }
HEDDLE_NV(float, expm1f)(float a) { return expm1_of(a); }
HEDDLE_NV(double, log)(double a) { return log_of(a); }
HEDDLE_NV(float, logf)(float a) { return log_of(a); }
HEDDLE_NV(double, log2)(double a) { return log_base(a, Pair<double>{kLog2e, kLog2eLo}, Pair<double>{1.0, 0.0}); }
HEDDLE_NV(float, log2f)(float a) { return log_base(a, Pair<float>{kLog2eF, kLog2eLoF}, Pair<float>{1.0f, 0.0f}); }
HEDDLE_NV(double, log10)(double a) {
  return log_base(a, Pair<double>{kLog10e, kLog10eLo}, Pair<double>{kLog10Of2, kLog10Of2Lo});
}
HEDDLE_NV(float, log10f)(float a) {
  return log_base(a, Pair<float>{kLog10eF, kLog10eLoF}, Pair<float>{kLog10Of2F, kLog10Of2LoF});
}
HEDDLE_NV(double, log1p)(double a) { return log1p_of(a); }
HEDDLE_NV(float, log1pf)(float a) { return log1p_of(a); }
HEDDLE_NV(double, pow)(double a, double b) { return power(a, b); }
HEDDLE_NV(float, powf)(float a, float b) { return power(a, b); }
HEDDLE_NV(double, powi)(double a, int n) { return integer_power(a, n); }
HEDDLE_NV(float, powif)(float a, int n) { return integer_power(a, n); }
