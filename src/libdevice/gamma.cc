// The gamma function and its logarithm. Single precision goes by way of double. Tested by accuracy_test.cc.
#include "libdevice/exp_log.h"
#include "libdevice/trig.h"

namespace heddle::libdevice {
namespace {

constexpr double kShifted = 12;  // Stirling's formula holds from here on

// log Gamma(y) by Stirling's formula, y >= 12, as a pair.
inline Pair<double> stirling(Pair<double> y) {
  const double inverse = div(1.0, y.hi);
  const Pair<double> log_y = log_pair(y.hi) + y.lo * inverse;
  const Pair<double> main = (y + -0.5) * log_y + -y;
  return main + (Pair<double>{kHalfLog2Pi, kHalfLog2PiLo} + inverse * poly<kStirling>(inverse * inverse));
}

// Gamma(a) = value * 2^exponent for 0 < a <= 200: shifts a upwards, divides by the factors in between.
inline Scaled<double> gamma_positive(double a) {
  Pair<double> product{1.0, 0.0}, y{a, 0.0};
  while (y.hi < kShifted) {
    product = product * y;
    y = y + 1.0;
  }
  const Pair<double> l = stirling(y);
  const Scaled<double> r = reduce_exp(l.hi, l.lo);
  const Pair<double> e = exp_core(r.value);
  return {fast_two_sum(e.hi, e.lo) / product, r.exponent};
}

inline double tgamma_of(double x) {
  const double a = clamp(fabs(x), 0x1p-1020, 200.0);
  const Scaled<double> g = gamma_positive(a);
  double result;
  if (x > 0) {
    result = scale(g.value.hi, g.exponent);
  } else {
    // Gamma(-a) = -pi / (a sin(pi a) Gamma(a))
    const double s = sine(reduce_pi(a), 0);
    result = scale(div(-kPi, mul(mul(a, s), g.value.hi)), negate(g.exponent));
    result = x == trunc(x) ? kNan : result;
  }
  const double inf = kInf;
  result = fabs(x) < 0x1p-60 ? div(1.0, x) : result;  // and 0 gives an infinity with its sign
  return is_nan(x) ? x : x == inf ? x : result;
}

// log Gamma(a) for a > 0.
inline double lgamma_positive(double a) {
  if (a >= kShifted) {
    const Pair<double> l = stirling(Pair<double>{a < 0x1p60 ? a : 0x1p60, 0.0});
    return a < 0x1p60 ? l.hi + l.lo : a * (log_of(a) - 1);
  }
  double r = a, product = 1;
  while (r >= 2.5) {
    r -= 1;
    product *= r;
  }
  // A polynomial on [1.25, 2.5], with the zeros at 1 and 2 as factors; below it one or two factors are divided off.
  const bool one = r < 1.25, zero = r < 0.5;
  const double t = zero ? r : one ? r - 1 : r - 2;
  const double base = t * (one ? t + 1 : r - 1) * poly<kLgamma>(t + 0.125);
  const double factor = one ? log1p_of(t) : 0.0;
  const double rest = log_of(zero ? r : product);
  return zero ? (base - factor) - rest : (base - factor) + rest;
}

inline double lgamma_of(double x) {
  const double a = fabs(x);
  const double positive = lgamma_positive(a);
  const double s = sine(reduce_pi(a), 0);
  const double mirrored = a < 0x1p-60 ? -log_of(a) : log_of(div(kPi, a * fabs(s))) - positive;
  const double inf = kInf;
  const double result = x < 0 ? (x == trunc(x) ? inf : mirrored) : positive;
  return is_nan(x) ? x : x == 0 || is_inf(x) ? inf : result;
}

}  // namespace
}  // namespace heddle::libdevice

using namespace heddle::libdevice;

HEDDLE_NV(double, tgamma)(double a) { return tgamma_of(a); }
HEDDLE_NV(float, tgammaf)(float a) { return static_cast<float>(tgamma_of(a)); }
HEDDLE_NV(double, lgamma)(double a) { return lgamma_of(a); }
HEDDLE_NV(float, lgammaf)(float a) { return static_cast<float>(lgamma_of(a)); }
