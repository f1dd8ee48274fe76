// What clang's CUDA wrapper expects right after cuda_runtime.h: the host side of the functions that CUDA C++ adds
// to the C library, and a few helpers its own headers name. The device side of each comes from clang.
// Formulas follow the definitions in the CUDA math API's reference; tested by tests/programs/device_functions.cu.
#ifndef __HEDDLE_HOST_RUNTIME_H__
#define __HEDDLE_HOST_RUNTIME_H__

#include <math.h>
#include <stdlib.h>

#include "crt/host_defines.h"

#if defined(__CUDA__) && defined(__clang__)
// The address of a shared-memory object inside the shared window, as inline PTX wants it.
extern "C" __device__ inline size_t __nv_cvta_generic_to_shared_impl(const void* pointer);
static __device__ __forceinline__ size_t __cvta_generic_to_shared(const void* pointer) {
  return __nv_cvta_generic_to_shared_impl(pointer);
}
extern "C" __device__ inline size_t __nv_cvta_generic_to_global_impl(const void* pointer);
static __device__ __forceinline__ size_t __cvta_generic_to_global(const void* pointer) {
  return __nv_cvta_generic_to_global_impl(pointer);
}
extern "C" __device__ inline void* __nv_cvta_shared_to_generic_impl(size_t address);
static __device__ __forceinline__ void* __cvta_shared_to_generic(size_t address) {
  return __nv_cvta_shared_to_generic_impl(address);
}
#endif

#define HEDDLE_HOST_FN static inline __host__

HEDDLE_HOST_FN double rsqrt(double x) { return 1.0 / sqrt(x); }
HEDDLE_HOST_FN float rsqrtf(float x) { return (float)(1.0 / sqrt((double)x)); }
HEDDLE_HOST_FN double rcbrt(double x) { return 1.0 / cbrt(x); }
HEDDLE_HOST_FN float rcbrtf(float x) { return (float)(1.0 / cbrt((double)x)); }

// sin and cos of pi x, exact at multiples of one half: reduce by 2 first, then to a quarter turn.
HEDDLE_HOST_FN double sinpi(double x) {
  double r = fmod(x, 2.0);
  if (fabs(r) == 1.0) return copysign(0.0, x);
  if (r > 1.0) r -= 2.0;
  if (r < -1.0) r += 2.0;
  if (r > 0.5) r = 1.0 - r;
  if (r < -0.5) r = -1.0 - r;
  return r == 0.0 ? copysign(0.0, x) : sin(M_PI * r);
}
HEDDLE_HOST_FN double cospi(double x) {
  double r = fabs(fmod(x, 2.0));
  if (r > 1.0) r = 2.0 - r;
  if (r == 0.5) return 0.0;
  return r < 0.5 ? cos(M_PI * r) : -cos(M_PI * (1.0 - r));
}
HEDDLE_HOST_FN float sinpif(float x) { return (float)sinpi((double)x); }
HEDDLE_HOST_FN float cospif(float x) { return (float)cospi((double)x); }
HEDDLE_HOST_FN void sincospi(double x, double* sine, double* cosine) {
  *sine = sinpi(x);
  *cosine = cospi(x);
}
HEDDLE_HOST_FN void sincospif(float x, float* sine, float* cosine) {
  *sine = sinpif(x);
  *cosine = cospif(x);
}

HEDDLE_HOST_FN double normcdf(double x) { return 0.5 * erfc(-x * M_SQRT1_2); }
HEDDLE_HOST_FN float normcdff(float x) { return (float)normcdf((double)x); }

// erfcinv by Newton's method on erfc, from the normal quantile's rational estimate 26.2.22 of Abramowitz and Stegun
// (good to three digits); y in (0, 2).
HEDDLE_HOST_FN double erfcinv(double y) {
  if (!(y >= 0.0 && y <= 2.0)) return NAN;
  if (y == 1.0) return 0.0;
  double tail = y < 1.0 ? y : 2.0 - y;
  if (tail == 0.0) return y == 0.0 ? HUGE_VAL : -HUGE_VAL;
  double t = sqrt(-2.0 * log(0.5 * tail));
  double quantile = t - (2.30753 + 0.27061 * t) / (1.0 + 0.99229 * t + 0.04481 * t * t);
  double x = M_SQRT1_2 * quantile;
  for (int step = 0; step < 6; step++) {
    double slope = -M_2_SQRTPI * exp(-x * x);
    x -= (erfc(x) - tail) / slope;
  }
  return y < 1.0 ? x : -x;
}
HEDDLE_HOST_FN float erfcinvf(float y) { return (float)erfcinv((double)y); }
HEDDLE_HOST_FN double erfinv(double y) {
  if (fabs(y) < 1e-5) return y / M_2_SQRTPI;  // erf(x) ~ 2x/sqrt(pi); 1 - y would lose its digits
  return y > 0.0 ? erfcinv(1.0 - y) : -erfcinv(1.0 + y);
}
HEDDLE_HOST_FN float erfinvf(float y) { return (float)erfinv((double)y); }
HEDDLE_HOST_FN double normcdfinv(double y) { return -M_SQRT2 * erfcinv(2.0 * y); }
HEDDLE_HOST_FN float normcdfinvf(float y) { return (float)normcdfinv((double)y); }

// exp(x^2) erfc(x): directly while both factors are finite, else by the continued fraction.
HEDDLE_HOST_FN double erfcx(double x) {
  if (x < 10.0) return exp(x * x) * erfc(x);
  double fraction = 0.0;
  for (int k = 24; k > 0; k--) fraction = 0.5 * k / (x + fraction);
  return 0.5 * M_2_SQRTPI / (x + fraction);
}
HEDDLE_HOST_FN float erfcxf(float x) { return (float)erfcx((double)x); }

HEDDLE_HOST_FN double rhypot(double x, double y) { return 1.0 / hypot(x, y); }
HEDDLE_HOST_FN float rhypotf(float x, float y) { return (float)(1.0 / hypot((double)x, (double)y)); }
HEDDLE_HOST_FN double norm3d(double a, double b, double c) { return hypot(hypot(a, b), c); }
HEDDLE_HOST_FN float norm3df(float a, float b, float c) { return (float)norm3d(a, b, c); }
HEDDLE_HOST_FN double rnorm3d(double a, double b, double c) { return 1.0 / norm3d(a, b, c); }
HEDDLE_HOST_FN float rnorm3df(float a, float b, float c) { return (float)rnorm3d(a, b, c); }
HEDDLE_HOST_FN double norm4d(double a, double b, double c, double d) { return hypot(hypot(a, b), hypot(c, d)); }
HEDDLE_HOST_FN float norm4df(float a, float b, float c, float d) { return (float)norm4d(a, b, c, d); }
HEDDLE_HOST_FN double rnorm4d(double a, double b, double c, double d) { return 1.0 / norm4d(a, b, c, d); }
HEDDLE_HOST_FN float rnorm4df(float a, float b, float c, float d) { return (float)rnorm4d(a, b, c, d); }

// min and max for the host: the device's come from clang. Mixed signedness compares as unsigned, like the C
// conversions would; float with double compares as double.
#ifdef __cplusplus
#define HEDDLE_MINMAX(type, left, right)                                                     \
  HEDDLE_HOST_FN type min(left a, right b) { return (type)b < (type)a ? (type)b : (type)a; } \
  HEDDLE_HOST_FN type max(left a, right b) { return (type)a < (type)b ? (type)b : (type)a; }
HEDDLE_MINMAX(int, int, int)
HEDDLE_MINMAX(unsigned int, unsigned int, unsigned int)
HEDDLE_MINMAX(unsigned int, int, unsigned int)
HEDDLE_MINMAX(unsigned int, unsigned int, int)
HEDDLE_MINMAX(long, long, long)
HEDDLE_MINMAX(unsigned long, unsigned long, unsigned long)
HEDDLE_MINMAX(unsigned long, long, unsigned long)
HEDDLE_MINMAX(unsigned long, unsigned long, long)
HEDDLE_MINMAX(long long, long long, long long)
HEDDLE_MINMAX(unsigned long long, unsigned long long, unsigned long long)
HEDDLE_MINMAX(unsigned long long, long long, unsigned long long)
HEDDLE_MINMAX(unsigned long long, unsigned long long, long long)
#undef HEDDLE_MINMAX
#define HEDDLE_FMINMAX(type, left, right)                                     \
  HEDDLE_HOST_FN type min(left a, right b) { return fmin((type)a, (type)b); } \
  HEDDLE_HOST_FN type max(left a, right b) { return fmax((type)a, (type)b); }
HEDDLE_FMINMAX(float, float, float)
HEDDLE_FMINMAX(double, double, double)
HEDDLE_FMINMAX(double, float, double)
HEDDLE_FMINMAX(double, double, float)
#undef HEDDLE_FMINMAX
#endif

#undef HEDDLE_HOST_FN
#endif
