// Right values for the accuracy test: glibc's long double functions for single precision and its binary128 functions
// for double precision, and what those don't have, by definition or by series in the same wide types.
#pragma once

#include <cmath>

namespace heddle::libdevice::reference {

using Wide = long double;  // for float
using Quad = __float128;   // for double

#define HEDDLE_REFERENCE1(name)                     \
  extern "C" __float128 name##f128(__float128);     \
  inline Wide name(Wide x) { return ::name##l(x); } \
  inline Quad name(Quad x) { return name##f128(x); }
#define HEDDLE_REFERENCE2(name)                                \
  extern "C" __float128 name##f128(__float128, __float128);    \
  inline Wide name(Wide x, Wide y) { return ::name##l(x, y); } \
  inline Quad name(Quad x, Quad y) { return name##f128(x, y); }

HEDDLE_REFERENCE1(exp)
HEDDLE_REFERENCE1(exp2)
HEDDLE_REFERENCE1(expm1)
HEDDLE_REFERENCE1(log)
HEDDLE_REFERENCE1(log2)
HEDDLE_REFERENCE1(log10)
HEDDLE_REFERENCE1(log1p)
HEDDLE_REFERENCE1(sin)
HEDDLE_REFERENCE1(cos)
HEDDLE_REFERENCE1(tan)
HEDDLE_REFERENCE1(asin)
HEDDLE_REFERENCE1(acos)
HEDDLE_REFERENCE1(atan)
HEDDLE_REFERENCE2(atan2)
HEDDLE_REFERENCE1(sinh)
HEDDLE_REFERENCE1(cosh)
HEDDLE_REFERENCE1(tanh)
HEDDLE_REFERENCE1(asinh)
HEDDLE_REFERENCE1(acosh)
HEDDLE_REFERENCE1(atanh)
HEDDLE_REFERENCE1(cbrt)
HEDDLE_REFERENCE1(sqrt)
HEDDLE_REFERENCE1(fabs)
HEDDLE_REFERENCE1(floor)
HEDDLE_REFERENCE2(pow)
HEDDLE_REFERENCE2(hypot)
HEDDLE_REFERENCE1(erf)
HEDDLE_REFERENCE1(erfc)
HEDDLE_REFERENCE1(lgamma)
HEDDLE_REFERENCE1(tgamma)
HEDDLE_REFERENCE1(j0)
HEDDLE_REFERENCE1(j1)
HEDDLE_REFERENCE1(y0)
HEDDLE_REFERENCE1(y1)
extern "C" __float128 jnf128(int, __float128);
extern "C" __float128 ynf128(int, __float128);
extern "C" __float128 exp10f128(__float128);
inline Quad jn(int n, Quad x) { return jnf128(n, x); }
inline Quad yn(int n, Quad x) { return ynf128(n, x); }
inline Quad exp10(Quad x) { return exp10f128(x); }
inline Wide exp10(Wide x) { return static_cast<Wide>(exp10f128(static_cast<Quad>(x))); }

template <typename R>
R pi() {
  static const R value = atan(R(1)) * 4;
  return value;
}
template <typename R>
R rcbrt(R x) {
  return 1 / cbrt(x);
}
template <typename R>
R rsqrt(R x) {
  return 1 / sqrt(x);
}
// Of a turn's half: exact reduction, then the nearer of sine and cosine.
template <typename R>
R sinpi(R x) {
  if (x - x != 0) return x - x;
  const bool negative = std::signbit(static_cast<double>(x));
  if (negative) x = -x;
  const R r = x - 2 * floor(x / 2);  // [0, 2)
  if (r == 0 || r == 1) return negative ? -R(0) : R(0);
  const R sign = (r > 1) != negative ? -1 : 1, s = r > 1 ? r - 1 : r;
  return sign * (s > R(0.25) && s < R(0.75) ? cos(pi<R>() * (s - R(0.5))) : sin(pi<R>() * (s > R(0.5) ? 1 - s : s)));
}
template <typename R>
R cospi(R x) {
  if (x - x != 0) return x - x;
  const R r = x - 2 * floor(x / 2);
  const R s = r > 1 ? 2 - r : r;  // even around 1
  if (s == R(0.5)) return 0;
  return s > R(0.25) && s < R(0.75) ? sin(pi<R>() * (R(0.5) - s)) : cos(pi<R>() * s);
}
template <typename R>
R erfcx(R x) {
  if (x < 20) return exp(x * x) * erfc(x);
  R term = 1, sum = 1;
  for (int k = 1; k < 40 && term != 0; ++k) {
    const R next = term * -(2 * k - 1) / (2 * x * x);
    if (fabs(next) > fabs(term)) break;
    term = next;
    sum += term;
  }
  return sum / (x * sqrt(pi<R>()));
}
template <typename R>
R normcdf(R x) {
  return erfc(-x / sqrt(R(2))) / 2;
}
// Newton's method; the start is any rough value, found by bisection on the decreasing erfc.
template <typename R>
R erfcinv(R q) {
  if (!(q >= 0 && q <= 2)) return std::nan("");
  if (q == 0 || q == 2) return q == 0 ? R(HUGE_VALL) : -R(HUGE_VALL);
  if (q == 1) return 0;
  R low = -7, high = 28;
  for (int i = 0; i < 20; ++i) {
    const R middle = (low + high) / 2;
    (erfc(middle) > q ? low : high) = middle;
  }
  R y = (low + high) / 2;
  for (int i = 0; i < 5; ++i) {
    const R d = (erfc(y) - q) * sqrt(pi<R>()) / 2 * exp(y * y);
    y += d / (1 - y * d);
  }
  return y;
}
template <typename R>
R erfinv(R x) {
  if (x == 0) return x;
  if (fabs(x) > R(0.5)) return x > 0 ? erfcinv(1 - x) : -erfcinv(1 + x);
  R y = x * sqrt(pi<R>()) / 2;
  for (int i = 0; i < 7; ++i) y -= (erf(y) - x) * sqrt(pi<R>()) / 2 * exp(y * y);
  return y;
}
template <typename R>
R normcdfinv(R p) {
  return -sqrt(R(2)) * erfcinv(2 * p);
}
template <typename R>
R bessel_i(int order, R x) {
  if (x - x != 0) return order ? x : fabs(x);
  const R z = x * x / 4;
  R term = order ? x / 2 : R(1), sum = term;
  for (int k = 1; k < 2000; ++k) {
    term *= z / k / (k + order);
    sum += term;
    if (fabs(term) <= fabs(sum) * R(1e-36L)) break;
  }
  return sum;
}
template <typename R>
R i0(R x) {
  return bessel_i(0, x);
}
template <typename R>
R i1(R x) {
  return bessel_i(1, x);
}

}  // namespace heddle::libdevice::reference
