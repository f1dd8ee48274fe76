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

#undef HEDDLE_DEVICE_FN
