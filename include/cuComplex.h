// Complex numbers as pairs: cuFloatComplex is float2, cuDoubleComplex is double2. C and C++, host and device.
// Division scales by the larger part of the divisor (Smith's method), absolute value by hypot: no overflow on the way.
#ifndef CU_COMPLEX_H_
#define CU_COMPLEX_H_

#include <math.h>

#include "crt/host_defines.h"
#include "vector_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

#define HEDDLE_COMPLEX_FN __host__ __device__ static __inline__

#define HEDDLE_COMPLEX(f, Complex, Real, absolute, magnitude)                                                   \
  HEDDLE_COMPLEX_FN Real cuCreal##f(Complex z) { return z.x; }                                                  \
  HEDDLE_COMPLEX_FN Real cuCimag##f(Complex z) { return z.y; }                                                  \
  HEDDLE_COMPLEX_FN Complex heddle_complex##f(Real re, Real im) {                                               \
    Complex z;                                                                                                  \
    z.x = re;                                                                                                   \
    z.y = im;                                                                                                   \
    return z;                                                                                                   \
  }                                                                                                             \
  HEDDLE_COMPLEX_FN Complex cuConj##f(Complex z) { return heddle_complex##f(z.x, -z.y); }                       \
  HEDDLE_COMPLEX_FN Complex cuCadd##f(Complex a, Complex b) { return heddle_complex##f(a.x + b.x, a.y + b.y); } \
  HEDDLE_COMPLEX_FN Complex cuCsub##f(Complex a, Complex b) { return heddle_complex##f(a.x - b.x, a.y - b.y); } \
  HEDDLE_COMPLEX_FN Complex cuCmul##f(Complex a, Complex b) {                                                   \
    return heddle_complex##f(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);                                     \
  }                                                                                                             \
  HEDDLE_COMPLEX_FN Complex cuCdiv##f(Complex a, Complex b) {                                                   \
    if (absolute(b.x) >= absolute(b.y)) {                                                                       \
      Real ratio = b.y / b.x, scale = 1 / (b.x + b.y * ratio);                                                  \
      return heddle_complex##f((a.x + a.y * ratio) * scale, (a.y - a.x * ratio) * scale);                       \
    } else {                                                                                                    \
      Real ratio = b.x / b.y, scale = 1 / (b.x * ratio + b.y);                                                  \
      return heddle_complex##f((a.x * ratio + a.y) * scale, (a.y * ratio - a.x) * scale);                       \
    }                                                                                                           \
  }                                                                                                             \
  HEDDLE_COMPLEX_FN Real cuCabs##f(Complex z) { return magnitude(z.x, z.y); }                                   \
  /* a * b + c */                                                                                               \
  HEDDLE_COMPLEX_FN Complex cuCfma##f(Complex a, Complex b, Complex c) {                                        \
    return heddle_complex##f(a.x * b.x - a.y * b.y + c.x, a.x * b.y + a.y * b.x + c.y);                         \
  }

HEDDLE_COMPLEX(f, cuFloatComplex, float, fabsf, hypotf)
HEDDLE_COMPLEX(, cuDoubleComplex, double, fabs, hypot)
#undef HEDDLE_COMPLEX

HEDDLE_COMPLEX_FN cuFloatComplex make_cuFloatComplex(float re, float im) { return heddle_complexf(re, im); }
HEDDLE_COMPLEX_FN cuDoubleComplex make_cuDoubleComplex(double re, double im) { return heddle_complex(re, im); }
HEDDLE_COMPLEX_FN cuComplex make_cuComplex(float re, float im) { return heddle_complexf(re, im); }
HEDDLE_COMPLEX_FN cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) { return heddle_complex(z.x, z.y); }
HEDDLE_COMPLEX_FN cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z) {
  return heddle_complexf((float)z.x, (float)z.y);
}
#undef HEDDLE_COMPLEX_FN

#ifdef __cplusplus
}
#endif
#endif
