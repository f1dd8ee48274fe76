// Bessel functions of the first and second kind, and the modified ones of order 0 and 1. Below 8 each piece is
// expanded around a zero of the function, so that results keep their relative precision there; above, amplitude and
// phase. Single precision goes by way of double. Tested by accuracy_test.cc.
#include "libdevice/exp_log.h"
#include "libdevice/trig.h"

namespace heddle::libdevice {
namespace {

// J (kind 0) or Y (kind 1) of order 0 or 1 for x >= 8.
template <int Order, int Kind>
inline double large(double x) {
  const double inverse = div(1.0, x), z = 64 * inverse * inverse;
  double p, q;
  if constexpr (Order == 0) {
    p = poly<kP0>(z);
    q = poly<kQ0>(z) * inverse;
  } else {
    p = poly<kP1>(z);
    q = poly<kQ1>(z) * inverse;
  }
  const SinCos<double> t = sin_cos(reduce(x));
  // cos and sin of x - pi/4, times sqrt 2; order 1 lags by another quarter turn.
  const double sum = t.cos + t.sin, difference = t.sin - t.cos;
  const double c = Order == 0 ? sum : difference, s = Order == 0 ? difference : -sum;
  const double wave = Kind == 0 ? p * c - q * s : p * s + q * c;
  return is_inf(x) ? 0.0 : wave * sqrt(inverse * (1 / kPi));
}

template <int N, int M>
inline double piece(const double (&table)[M][N], const double (&centres)[M], int i, double x, double low) {
  const double t = x - centres[i];
  return low == 2 ? poly_row(table[i], t) : (t - low) * poly_row(table[i], t);
}

inline double j0_of(double x) {
  const double a = fabs(x);
  if (a >= 8) return large<0, 0>(a);
  if (a <= 2) return poly<kJ0Small>(a * a);
  const int i = a < 4 ? 0 : a < 7 ? 1 : 2;
  return is_nan(x) ? x : piece(kJ0, kJ0Centre, i, a, kJ0Low[i]);
}
inline double j1_of(double x) {
  const double a = fabs(x);
  double r;
  if (a >= 8) {
    r = large<1, 0>(a);
  } else if (a <= 2.5) {
    r = a * poly<kJ1Small>(a * a);
  } else {
    const int i = a < 5.4 ? 0 : 1;
    r = piece(kJ1, kJ1Centre, i, a, kJ1Low[i]);
  }
  return is_nan(x) ? x : copysign(1.0, x) * r;
}
inline double y0_of(double x) {
  if (!(x > 0)) return x == 0 ? -kInf : kNan;
  if (x >= 8) return large<0, 1>(x);
  if (x <= 2) {
    // log(x / zero): near the zero the difference is taken exactly, else log(1 / zero) is added.
    const double d = (x - kY0Zero) - kY0ZeroLow;
    const bool near = x > 0.5 && x < 1.7;
    const double l = near ? log1p_of(div(d, kY0Zero)) : log_of(x) + 0x1.cce4b73e6f025p-4;
    return fma(kTwoOverPi * l, poly<kJ0Small>(x * x), d * (x + kY0Zero) * poly<kY0Small>(x * x));
  }
  const int i = x < 3 ? 0 : x < 5 ? 1 : x < 6.3 ? 2 : 3;
  return piece(kY0, kY0Centre, i, x, i & 1 ? kY0Low[i] : 2);
}
inline double y1_of(double x) {
  if (!(x > 0)) return x == 0 ? -kInf : kNan;
  if (x >= 8) return large<1, 1>(x);
  if (x <= 1.6) {
    const double j = x * poly<kJ1Small>(x * x);
    return fma(kTwoOverPi * log_of(x), j, x * poly<kY1Small>(x * x)) - div(kTwoOverPi, x);
  }
  const int i = x < 2.8 ? 0 : x < 4.4 ? 1 : x < 6.5 ? 2 : 3;
  return piece(kY1, kY1Centre, i, x, i == 1 ? 2 : kY1Low[i]);
}

inline double jn_of(int order, double x) {
  if (is_nan(x)) return x;
  // J(-n, x) = J(n, -x) = (-1)^n J(n, x)
  const u32 n = order < 0 ? 0u - static_cast<u32>(order) : static_cast<u32>(order);
  const bool negative = (n & 1) && ((order < 0) != sign_bit(x));
  const double a = fabs(x);
  double result;
  if (n == 0) return j0_of(a);
  if (n == 1) {
    result = j1_of(a);
  } else if (a == 0 || is_inf(a)) {
    result = 0;
  } else if (a > n) {
    double before = j0_of(a), now = j1_of(a);
    const double unit = div(2.0, a);
    for (u32 k = 1; k < n; ++k) {
      const double next = fma(k * unit, now, -before);
      before = now;
      now = next;
    }
    result = now;
  } else if (a < 0x1p-27) {
    result = 1;
    for (u32 k = 1; k <= n && result != 0; ++k) result *= 0.5 * a / k;
  } else {
    // Downwards from an order where the function is negligible; the sum of the even ones gives the scale.
    const u32 start = 2 * ((n + static_cast<u32>(sqrt(160.0 * n))) / 2);
    const double unit = div(2.0, a);
    double above = 0, now = 1, sum = 0;
    result = 0;
    bool even = false;
    for (u32 k = start; k > 0; --k) {
      const double below = fma(k * unit, now, -above);
      above = now;
      now = below;
      if (fabs(now) > 0x1p300) {
        now *= 0x1p-300;
        above *= 0x1p-300;
        result *= 0x1p-300;
        sum *= 0x1p-300;
      }
      sum += even ? now : 0.0;
      even = !even;
      result = k == n ? above : result;
    }
    result = div(result, 2 * sum - now);
  }
  return negative ? -result : result;
}
inline double yn_of(int order, double x) {
  if (is_nan(x)) return x;
  const u32 n = order < 0 ? 0u - static_cast<u32>(order) : static_cast<u32>(order);
  const bool negative = order < 0 && (n & 1);
  if (!(x > 0)) return x == 0 ? (negative ? kInf : -kInf) : kNan;
  double result;
  if (n == 0) {
    result = y0_of(x);
  } else if (is_inf(x)) {
    result = 0;
  } else {
    double before = y0_of(x), now = y1_of(x);
    const double unit = div(2.0, x);
    for (u32 k = 1; k < n && is_finite(now); ++k) {
      const double next = fma(k * unit, now, -before);
      before = now;
      now = next;
    }
    result = now;
  }
  return negative ? -result : result;
}

// e^a / sqrt(a) * amplitude; near the top e^a alone would overflow.
inline double grown(double a, double amplitude) {
  const double c = clamp(a, 8.0, 720.0);
  const Scaled<double> r = reduce_exp(c, 0.0);
  const Pair<double> e = exp_core(r.value);
  return scale(div((e.hi + e.lo) * amplitude, sqrt(c)), r.exponent);
}
inline double i0_of(double x) {
  const double a = fabs(x), c = clamp(a, 0.0, 8.0);
  const double small = poly<kI0Small>(c * c * (1.0 / 64));
  return pick(a <= 8, small, pick(is_nan(x), x, grown(a, poly<kI0Large>(div(16.0, a) - 1))));
}
inline double i1_of(double x) {
  const double a = fabs(x), c = clamp(a, 0.0, 8.0);
  const double small = c * poly<kI1Small>(c * c * (1.0 / 64));
  return copysign(pick(a <= 8, small, pick(is_nan(x), x, grown(a, poly<kI1Large>(div(16.0, a) - 1)))), x);
}

}  // namespace
}  // namespace heddle::libdevice

using namespace heddle::libdevice;

#define HEDDLE_BOTH(name)                                    \
  HEDDLE_NV(double, name)(double a) { return name##_of(a); } \
  HEDDLE_NV(float, name##f)(float a) { return static_cast<float>(name##_of(static_cast<double>(a))); }
HEDDLE_BOTH(j0)
HEDDLE_BOTH(j1)
HEDDLE_BOTH(y0)
HEDDLE_BOTH(y1)
HEDDLE_NV(double, jn)(int n, double a) { return jn_of(n, a); }
HEDDLE_NV(float, jnf)(int n, float a) { return static_cast<float>(jn_of(n, static_cast<double>(a))); }
HEDDLE_NV(double, yn)(int n, double a) { return yn_of(n, a); }
HEDDLE_NV(float, ynf)(int n, float a) { return static_cast<float>(yn_of(n, static_cast<double>(a))); }
HEDDLE_NV(double, cyl_bessel_i0)(double a) { return i0_of(a); }
HEDDLE_NV(float, cyl_bessel_i0f)(float a) { return static_cast<float>(i0_of(static_cast<double>(a))); }
HEDDLE_NV(double, cyl_bessel_i1)(double a) { return i1_of(a); }
HEDDLE_NV(float, cyl_bessel_i1f)(float a) { return static_cast<float>(i1_of(static_cast<double>(a))); }
