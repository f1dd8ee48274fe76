// The error function's family and the normal distribution. Tested by accuracy_test.cc.
#include "libdevice/exp_log.h"

namespace heddle::libdevice {
namespace {

// e^(a^2) erfc(a) for 0 <= a: one polynomial over the whole half line, in (a-4)/(a+4).
inline double erfcx_core(double a) { return div(poly<kErfcx>(div(a - 4, a + 4)), fma(2.0, a, 1.0)); }
inline float erfcx_core(float a) { return div(poly<kErfcxF>(div(a - 4, a + 4)), fma(2.0f, a, 1.0f)); }
inline double erf_small(double a) { return fma(a, poly<kErf>(a * a), a); }
inline float erf_small(float a) { return fma(a, poly<kErfF>(a * a), a); }

template <typename T>
inline constexpr T kErfcEnd = sizeof(T) == 4 ? T(11) : T(28);  // erfc is 0 beyond

template <typename T>
inline Pair<T> square(T a, T sign) {
  const Pair<T> p = two_prod(a, a);
  return {sign * p.hi, sign * p.lo};
}

template <typename T>
inline T erfc_positive(T a) {
  const T c = clamp(a, T(0), kErfcEnd<T>);
  return exp_of(square(c, T(-1))) * erfcx_core(c);
}
template <typename T>
inline T erfc_of(T x) {
  const T a = fabs(x), r = erfc_positive(a);
  return pick(a < T(0.5), 1 - erf_small(x), pick(x < 0, 2 - r, r));
}
inline double erf_large(double a) { return 1 - erfc_positive(a); }
// From 1 on a few digits of erfc are enough.
inline float erf_large(float a) { return 1 - exp_of_float(-poly<kErfTailF>(clamp(a, 1.0f, 4.0f))); }
template <typename T>
inline T erf_of(T x) {
  const T a = fabs(x), large = erf_large(a);
  return copysign(pick(a < 1, erf_small(a), large), x);
}
template <typename T>
inline T erfcx_of(T x) {
  const T a = fabs(x);
  const T c = clamp(a, T(0), sizeof(T) == 4 ? T(0x1p100) : T(0x1p1000));
  const T r = erfcx_core(c);
  // The function of a large argument is 1 / (x sqrt pi), down to denormals.
  constexpr T kTail = T(0x1.20dd750429b6dp-1);
  const T positive = pick(a > T(0x1p90), div(kTail, a), r);
  const T grown = exp_of(square(clamp(a, T(0), T(30)), T(1)));
  return pick(a < T(0.5), grown * (1 - erf_small(x)), pick(x < 0, fma(T(2), grown, -r), positive));
}
// The square of x / sqrt 2 is exact; erfcx itself bends little.
template <typename T>
inline T normcdf_of(T x) {
  const T a = clamp(fabs(x), T(0), sizeof(T) == 4 ? T(15) : T(39.5));
  const Pair<T> p = two_prod(a, a);
  const T tail = T(0.5) * exp_of(Pair<T>{T(-0.5) * p.hi, T(-0.5) * p.lo}) * erfcx_core(a * T(kSqrtHalf));
  const T middle = fma(T(0.5), erf_small(x * T(kSqrtHalf)), T(0.5));
  return a < T(0.7) ? middle : x > 0 ? 1 - tail : tail;
}

// erfcinv(q) for 0 < q <= 1/2 to about 27 bits, in terms of sqrt(-log q).
inline double erfcinv_guess(double log_q) {
  const double s = sqrt(-log_q);
  return s * poly<kErfcinvGuess>(div(s - 3, s + 3));
}
inline double erfcinv_tail(double q) {
  const Pair<double> log_q = log_pair(q);
  const double g = erfcinv_guess(log_q.hi);
  // One step of Halley's method on erfc(g) - q, divided by e^(-g^2) so that nothing underflows.
  const double d = (erfcx_core(g) - exp_of(square(g, 1.0) + log_q)) * kHalfSqrtPi;
  return fma(d, fma(g, d, 1.0), g);
}
inline double erfinv_small(double x) { return x * poly<kErfinv>(x * x); }

// Rough: for single precision, where the first guess is near enough.
template <bool Rough>
inline double tail(double q) {
  const double inf = kInf;
  const double r = Rough ? erfcinv_guess(log_of(q)) : erfcinv_tail(q);
  return q > 0 ? r : q == 0 ? inf : kNan;
}
template <bool Rough>
inline double erfinv_of(double x) {
  const double a = fabs(x);
  return copysign(pick(a <= 0.5, erfinv_small(a), tail<Rough>(1 - a)), x);
}
template <bool Rough>
inline double erfcinv_of(double x) {
  const bool small = x <= 0.5, large = x >= 1.5;
  const double t = tail<Rough>(large ? 2 - x : x);
  return pick(small, t, pick(large, -t, erfinv_small(1 - x)));
}

}  // namespace
}  // namespace heddle::libdevice

using namespace heddle::libdevice;

HEDDLE_NV(double, erf)(double a) { return erf_of(a); }
HEDDLE_NV(float, erff)(float a) { return erf_of(a); }
HEDDLE_NV(double, erfc)(double a) { return erfc_of(a); }
HEDDLE_NV(float, erfcf)(float a) { return erfc_of(a); }
HEDDLE_NV(double, erfcx)(double a) { return erfcx_of(a); }
HEDDLE_NV(float, erfcxf)(float a) { return erfcx_of(a); }
HEDDLE_NV(double, normcdf)(double a) { return normcdf_of(a); }
HEDDLE_NV(float, normcdff)(float a) { return normcdf_of(a); }
HEDDLE_NV(double, erfinv)(double a) { return erfinv_of<false>(a); }
HEDDLE_NV(float, erfinvf)(float a) { return static_cast<float>(erfinv_of<true>(a)); }
HEDDLE_NV(double, erfcinv)(double a) { return erfcinv_of<false>(a); }
HEDDLE_NV(float, erfcinvf)(float a) { return static_cast<float>(erfcinv_of<true>(a)); }
HEDDLE_NV(double, normcdfinv)(double a) { return -kSqrt2 * erfcinv_of<false>(2 * a); }
HEDDLE_NV(float, normcdfinvf)(float a) {
  return static_cast<float>(-kSqrt2 * erfcinv_of<true>(2 * static_cast<double>(a)));
}
