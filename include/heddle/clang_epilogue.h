// Device functions of CUDA C++ that clang 19's headers leave out. Included last by clang's wrapper (through
// curand_mtgp32_kernel.h), with dim3 and uint3 renamed by macros: don't mention them here.
// Tested by tests/programs/device_functions.cu.
#pragma once

#include <new>  // placement new in device code; programs expect it without asking

#define HEDDLE_DEVICE_FN static __device__ __forceinline__

// min and max with mixed signs compare as unsigned; clang has the types of equal signs.
#define HEDDLE_MINMAX(type, left, right)                                                       \
  HEDDLE_DEVICE_FN type min(left a, right b) { return (type)b < (type)a ? (type)b : (type)a; } \
  HEDDLE_DEVICE_FN type max(left a, right b) { return (type)a < (type)b ? (type)b : (type)a; }
HEDDLE_MINMAX(unsigned int, int, unsigned int)
HEDDLE_MINMAX(unsigned int, unsigned int, int)
HEDDLE_MINMAX(unsigned long, long, unsigned long)
HEDDLE_MINMAX(unsigned long, unsigned long, long)
HEDDLE_MINMAX(unsigned long long, long long, unsigned long long)
HEDDLE_MINMAX(unsigned long long, unsigned long long, long long)
HEDDLE_MINMAX(long, long, long)
HEDDLE_MINMAX(unsigned long, unsigned long, unsigned long)
HEDDLE_MINMAX(long long, long long, long long)
HEDDLE_MINMAX(unsigned int, unsigned int, unsigned int)
HEDDLE_MINMAX(unsigned long long, unsigned long long, unsigned long long)
#undef HEDDLE_MINMAX
#define HEDDLE_FMINMAX(type, left, right, smaller, larger)                         \
  HEDDLE_DEVICE_FN type min(left a, right b) { return smaller((type)a, (type)b); } \
  HEDDLE_DEVICE_FN type max(left a, right b) { return larger((type)a, (type)b); }
HEDDLE_FMINMAX(float, float, float, fminf, fmaxf)
HEDDLE_FMINMAX(double, double, double, fmin, fmax)
HEDDLE_FMINMAX(double, float, double, fmin, fmax)
HEDDLE_FMINMAX(double, double, float, fmin, fmax)
#undef HEDDLE_FMINMAX

// C++ overloads for float that clang declares (__clang_cuda_math_forward_declares.h) and leaves to the toolkit's
// headers to define. Without them a call compiles and the module has an undefined function.
#define HEDDLE_OVERLOAD(type, name, function) \
  HEDDLE_DEVICE_FN type name(float x) { return function(x); }
HEDDLE_OVERLOAD(float, acosh, acoshf)
HEDDLE_OVERLOAD(float, asinh, asinhf)
HEDDLE_OVERLOAD(float, atanh, atanhf)
HEDDLE_OVERLOAD(float, cbrt, cbrtf)
HEDDLE_OVERLOAD(float, erfc, erfcf)
HEDDLE_OVERLOAD(float, erf, erff)
HEDDLE_OVERLOAD(float, exp2, exp2f)
HEDDLE_OVERLOAD(float, expm1, expm1f)
HEDDLE_OVERLOAD(float, lgamma, lgammaf)
HEDDLE_OVERLOAD(float, log1p, log1pf)
HEDDLE_OVERLOAD(float, log2, log2f)
HEDDLE_OVERLOAD(float, logb, logbf)
HEDDLE_OVERLOAD(float, nearbyint, nearbyintf)
HEDDLE_OVERLOAD(float, rint, rintf)
HEDDLE_OVERLOAD(float, round, roundf)
HEDDLE_OVERLOAD(float, tgamma, tgammaf)
HEDDLE_OVERLOAD(float, trunc, truncf)
HEDDLE_OVERLOAD(int, ilogb, ilogbf)
HEDDLE_OVERLOAD(long long, llrint, llrintf)
HEDDLE_OVERLOAD(long long, llround, llroundf)
HEDDLE_OVERLOAD(long, lrint, lrintf)
HEDDLE_OVERLOAD(long, lround, lroundf)
#undef HEDDLE_OVERLOAD
#define HEDDLE_OVERLOAD(name, function) \
  HEDDLE_DEVICE_FN float name(float x, float y) { return function(x, y); }
HEDDLE_OVERLOAD(copysign, copysignf)
HEDDLE_OVERLOAD(fdim, fdimf)
HEDDLE_OVERLOAD(fmax, fmaxf)
HEDDLE_OVERLOAD(fmin, fminf)
HEDDLE_OVERLOAD(hypot, hypotf)
HEDDLE_OVERLOAD(nextafter, nextafterf)
HEDDLE_OVERLOAD(remainder, remainderf)
#undef HEDDLE_OVERLOAD
HEDDLE_DEVICE_FN float fma(float x, float y, float z) { return fmaf(x, y, z); }
HEDDLE_DEVICE_FN float remquo(float x, float y, int* quotient) { return remquof(x, y, quotient); }
HEDDLE_DEVICE_FN float scalbln(float x, long exponent) { return scalblnf(x, exponent); }
HEDDLE_DEVICE_FN float scalbn(float x, int exponent) { return scalbnf(x, exponent); }
HEDDLE_DEVICE_FN double nan(const char*) { return __builtin_nan(""); }
HEDDLE_DEVICE_FN float nanf(const char*) { return __builtin_nanf(""); }

#undef HEDDLE_DEVICE_FN
