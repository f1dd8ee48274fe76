// Half precision: __half (IEEE binary16), __half2, and what CUDA's math API does with them.
// On the device arithmetic is clang's _Float16, which becomes PTX f16 and f16x2; on the host it is float, rounded.
// What both 16-bit types have in common is in heddle/small_float.inc. Tested by tests/programs/half.cu.
#ifndef __CUDA_FP16_H__
#define __CUDA_FP16_H__
#ifdef __cplusplus
#if defined(__CUDA__) && defined(__clang__)
#include <cuda_runtime.h>
#endif
#include <math.h>
#include <string.h>

#include "crt/host_defines.h"
#include "vector_types.h"

#define CUDA_FP16_H
#define HEDDLE_HALF_FN __host__ __device__ __forceinline__

// float -> half, to nearest even.
static HEDDLE_HALF_FN unsigned short heddle_half_from_float(float value) {
#if defined(__CUDA_ARCH__)
  _Float16 native = (_Float16)value;
  unsigned short bits;
  __builtin_memcpy(&bits, &native, 2);
  return bits;
#else
  unsigned int word;
  memcpy(&word, &value, 4);
  unsigned int sign = word >> 16 & 0x8000u, magnitude = word & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return 0x7fffu;
  if (magnitude >= 0x477ff000u) return (unsigned short)(sign | 0x7c00u);  // 65520 and above round to infinity
  if (magnitude >= 0x38800000u) {                                         // a normal half
    unsigned int rounded = magnitude + 0xfffu + (magnitude >> 13 & 1u);
    return (unsigned short)(sign | ((rounded - 0x38000000u) >> 13));
  }
  // Below 2^-14: adding 0.5 lets the processor round at 2^-24, the last bit of a subnormal half.
  float small;
  memcpy(&small, &magnitude, 4);
  small += 0.5f;
  memcpy(&word, &small, 4);
  return (unsigned short)(sign | (word - 0x3f000000u));
#endif
}
static HEDDLE_HALF_FN float heddle_half_to_float(unsigned short bits) {
#if defined(__CUDA_ARCH__)
  _Float16 native;
  __builtin_memcpy(&native, &bits, 2);
  return (float)native;
#else
  unsigned int sign = (unsigned int)(bits & 0x8000u) << 16, magnitude = bits & 0x7fffu, word;
  if (magnitude >= 0x7c00u) {
    word = sign | 0x7f800000u | (magnitude & 0x3ffu) << 13;
  } else if (magnitude >= 0x400u) {
    word = sign | ((magnitude << 13) + 0x38000000u);
  } else {
    float subnormal = (float)magnitude * 5.9604644775390625e-8f;  // 2^-24
    memcpy(&word, &subnormal, 4);
    word |= sign;
  }
  float value;
  memcpy(&value, &word, 4);
  return value;
#endif
}
// double -> half rounds once: through float rounded to odd, which keeps what the second rounding needs to know.
static HEDDLE_HALF_FN unsigned short heddle_half_from_double(double value) {
#if defined(__CUDA_ARCH__)
  _Float16 native = (_Float16)value;
  unsigned short bits;
  __builtin_memcpy(&bits, &native, 2);
  return bits;
#else
  float nearest = (float)value;
  unsigned int word;
  memcpy(&word, &nearest, 4);
  if ((double)nearest != value && value == value && (word & 1u) == 0) {
    double magnitude = value < 0 ? -value : value, taken = nearest < 0 ? -(double)nearest : (double)nearest;
    word += taken > magnitude ? 0xffffffffu : 1u;
    memcpy(&nearest, &word, 4);
  }
  return heddle_half_from_float(nearest);
#endif
}

struct __half_raw {
  unsigned short x;
};
struct __half2_raw {
  unsigned short x, y;
};

struct __half {
 protected:
  unsigned short bits_;

 public:
  __half() = default;
  HEDDLE_HALF_FN constexpr __half(const __half_raw& raw) : bits_(raw.x) {}
  HEDDLE_HALF_FN operator __half_raw() const { return __half_raw{bits_}; }
  HEDDLE_HALF_FN __half(float value) : bits_(heddle_half_from_float(value)) {}
  HEDDLE_HALF_FN __half(double value) : bits_(heddle_half_from_double(value)) {}
  HEDDLE_HALF_FN operator float() const { return heddle_half_to_float(bits_); }
#define HEDDLE_INTEGER(type)                                                           \
  HEDDLE_HALF_FN __half(type value) : bits_(heddle_half_from_double((double)value)) {} \
  HEDDLE_HALF_FN __half& operator=(type value) { return *this = __half(value); }       \
  HEDDLE_HALF_FN operator type() const { return (type)heddle_half_to_float(bits_); }
  HEDDLE_INTEGER(short)
  HEDDLE_INTEGER(unsigned short)
  HEDDLE_INTEGER(int)
  HEDDLE_INTEGER(unsigned int)
  HEDDLE_INTEGER(long)
  HEDDLE_INTEGER(unsigned long)
  HEDDLE_INTEGER(long long)
  HEDDLE_INTEGER(unsigned long long)
#undef HEDDLE_INTEGER
  HEDDLE_HALF_FN operator signed char() const { return (signed char)heddle_half_to_float(bits_); }
  HEDDLE_HALF_FN operator unsigned char() const { return (unsigned char)heddle_half_to_float(bits_); }
  HEDDLE_HALF_FN operator char() const { return (char)heddle_half_to_float(bits_); }
  HEDDLE_HALF_FN operator bool() const { return (bits_ & 0x7fffu) != 0; }
  HEDDLE_HALF_FN __half& operator=(const __half_raw& raw) {
    bits_ = raw.x;
    return *this;
  }
  HEDDLE_HALF_FN __half& operator=(float value) { return *this = __half(value); }
  HEDDLE_HALF_FN __half& operator=(double value) { return *this = __half(value); }
};

struct __align__(4) __half2 {
  __half x, y;
  __half2() = default;
  HEDDLE_HALF_FN __half2(const __half& low, const __half& high) : x(low), y(high) {}
  HEDDLE_HALF_FN __half2(const __half2_raw& raw) : x(__half_raw{raw.x}), y(__half_raw{raw.y}) {}
  HEDDLE_HALF_FN operator __half2_raw() const { return __half2_raw{((__half_raw)x).x, ((__half_raw)y).x}; }
};

typedef __half half;
typedef __half2 half2;
typedef __half nv_half;
typedef __half2 nv_half2;
typedef __half __nv_half;
typedef __half2 __nv_half2;
typedef __half_raw __nv_half_raw;
typedef __half2_raw __nv_half2_raw;

#define HEDDLE_T __half
#define HEDDLE_T2 __half2
#define HEDDLE_RAW(bits) (__half_raw{(unsigned short)(bits)})
#define HEDDLE_BITS(value) (((__half_raw)(value)).x)
#define HEDDLE_TO_FLOAT(value) heddle_half_to_float(HEDDLE_BITS(value))
#define HEDDLE_FROM_FLOAT(value) __half(HEDDLE_RAW(heddle_half_from_float(value)))
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 530
static __device__ __forceinline__ _Float16 heddle_half_native(const __half& value) {
  _Float16 native;
  __builtin_memcpy(&native, &value, 2);
  return native;
}
static __device__ __forceinline__ __half heddle_half_of(_Float16 native) {
  __half value;
  __builtin_memcpy(&value, &native, 2);
  return value;
}
typedef _Float16 heddle_half_pair __attribute__((ext_vector_type(2)));
static __device__ __forceinline__ heddle_half_pair heddle_half_native2(const __half2& value) {
  heddle_half_pair native;
  __builtin_memcpy(&native, &value, 4);
  return native;
}
static __device__ __forceinline__ __half2 heddle_half_of2(heddle_half_pair native) {
  __half2 value;
  __builtin_memcpy(&value, &native, 4);
  return value;
}
#define HEDDLE_ARITHMETIC(a, op, b) heddle_half_of(heddle_half_native(a) op heddle_half_native(b))
#define HEDDLE_ARITHMETIC2(a, op, b) heddle_half_of2(heddle_half_native2(a) op heddle_half_native2(b))
#define HEDDLE_FUSED(a, b, c) \
  heddle_half_of(__builtin_fmaf16(heddle_half_native(a), heddle_half_native(b), heddle_half_native(c)))
#define HEDDLE_FUSED2(a, b, c) \
  heddle_half_of2(__builtin_elementwise_fma(heddle_half_native2(a), heddle_half_native2(b), heddle_half_native2(c)))
#else
// The product of two halves is exact in float, and the sum of it with a third is exact in double.
static HEDDLE_HALF_FN __half heddle_half_fused(const __half& a, const __half& b, const __half& c) {
  return __half((double)HEDDLE_TO_FLOAT(a) * (double)HEDDLE_TO_FLOAT(b) + (double)HEDDLE_TO_FLOAT(c));
}
#define HEDDLE_ARITHMETIC(a, op, b) HEDDLE_FROM_FLOAT(HEDDLE_TO_FLOAT(a) op HEDDLE_TO_FLOAT(b))
#define HEDDLE_ARITHMETIC2(a, op, b) __half2(HEDDLE_ARITHMETIC(a.x, op, b.x), HEDDLE_ARITHMETIC(a.y, op, b.y))
#define HEDDLE_FUSED(a, b, c) heddle_half_fused(a, b, c)
#define HEDDLE_FUSED2(a, b, c) __half2(heddle_half_fused(a.x, b.x, c.x), heddle_half_fused(a.y, b.y, c.y))
#endif
#include "heddle/small_float.inc"

#define HEDDLE_HD static __host__ __device__ __forceinline__

HEDDLE_HD __half __float2half(float value) { return __half(value); }
HEDDLE_HD __half __float2half_rn(float value) { return __half(value); }
// The directed roundings: step from the nearest value where that lies on the wrong side.
HEDDLE_HD __half heddle_half_step(__half value, bool up) {
  unsigned short bits = HEDDLE_BITS(value);
  if ((bits & 0x7fffu) == 0) return __half(HEDDLE_RAW(up ? 0x0001u : 0x8001u));
  bool away = up == ((bits & 0x8000u) == 0);
  return __half(HEDDLE_RAW(away ? bits + 1u : bits - 1u));
}
HEDDLE_HD __half __float2half_ru(float value) {
  __half nearest(value);
  return HEDDLE_TO_FLOAT(nearest) < value ? heddle_half_step(nearest, true) : nearest;
}
HEDDLE_HD __half __float2half_rd(float value) {
  __half nearest(value);
  return HEDDLE_TO_FLOAT(nearest) > value ? heddle_half_step(nearest, false) : nearest;
}
HEDDLE_HD __half __float2half_rz(float value) { return value < 0.0f ? __float2half_ru(value) : __float2half_rd(value); }
HEDDLE_HD __half __double2half(double value) { return __half(value); }
HEDDLE_HD float __half2float(__half value) { return HEDDLE_TO_FLOAT(value); }
HEDDLE_HD __half2 __float2half2_rn(float value) { return __half2(__half(value), __half(value)); }
HEDDLE_HD __half2 __floats2half2_rn(float low, float high) { return __half2(__half(low), __half(high)); }
HEDDLE_HD __half2 __float22half2_rn(float2 value) { return __half2(__half(value.x), __half(value.y)); }
HEDDLE_HD float2 __half22float2(__half2 value) {
  float2 result;
  result.x = HEDDLE_TO_FLOAT(value.x);
  result.y = HEDDLE_TO_FLOAT(value.y);
  return result;
}
HEDDLE_HD float __low2float(__half2 value) { return HEDDLE_TO_FLOAT(value.x); }
HEDDLE_HD float __high2float(__half2 value) { return HEDDLE_TO_FLOAT(value.y); }
HEDDLE_HD __half __low2half(__half2 value) { return value.x; }
HEDDLE_HD __half __high2half(__half2 value) { return value.y; }
HEDDLE_HD __half2 __half2half2(__half value) { return __half2(value, value); }
HEDDLE_HD __half2 __halves2half2(__half low, __half high) { return __half2(low, high); }
HEDDLE_HD __half2 make_half2(__half low, __half high) { return __half2(low, high); }
HEDDLE_HD __half2 __low2half2(__half2 value) { return __half2(value.x, value.x); }
HEDDLE_HD __half2 __high2half2(__half2 value) { return __half2(value.y, value.y); }
HEDDLE_HD __half2 __lows2half2(__half2 a, __half2 b) { return __half2(a.x, b.x); }
HEDDLE_HD __half2 __highs2half2(__half2 a, __half2 b) { return __half2(a.y, b.y); }
HEDDLE_HD __half2 __lowhigh2highlow(__half2 value) { return __half2(value.y, value.x); }
HEDDLE_HD unsigned short __half_as_ushort(__half value) { return HEDDLE_BITS(value); }
HEDDLE_HD short __half_as_short(__half value) { return (short)HEDDLE_BITS(value); }
HEDDLE_HD __half __ushort_as_half(unsigned short bits) { return __half(HEDDLE_RAW(bits)); }
HEDDLE_HD __half __short_as_half(short bits) { return __half(HEDDLE_RAW((unsigned short)bits)); }
HEDDLE_HD int __hisinf(__half value) {
  unsigned short bits = HEDDLE_BITS(value);
  return (bits & 0x7fffu) == 0x7c00u ? (bits & 0x8000u ? -1 : 1) : 0;
}

// To and from integers. Conversions to integers saturate; NaN becomes 0.
#define HEDDLE_INTEGER(name, type, smallest, largest)                                                               \
  HEDDLE_HD __half __##name##2half_rn(type value) { return __half((double)value); }                                 \
  HEDDLE_HD type heddle_half_to_##name(float value) {                                                               \
    return value != value               ? (type)0                                                                   \
           : value <= (float)(smallest) ? smallest                                                                  \
           : value >= (float)(largest)  ? largest                                                                   \
                                        : (type)value;                                                               \
  }                                                                                                                 \
  HEDDLE_HD type __half2##name##_rz(__half value) { return heddle_half_to_##name(HEDDLE_TO_FLOAT(value)); }         \
  HEDDLE_HD type __half2##name##_rn(__half value) { return heddle_half_to_##name(rintf(HEDDLE_TO_FLOAT(value))); }  \
  HEDDLE_HD type __half2##name##_rd(__half value) { return heddle_half_to_##name(floorf(HEDDLE_TO_FLOAT(value))); } \
  HEDDLE_HD type __half2##name##_ru(__half value) { return heddle_half_to_##name(ceilf(HEDDLE_TO_FLOAT(value))); }
HEDDLE_INTEGER(short, short, (short)-32768, (short)32767)
HEDDLE_INTEGER(ushort, unsigned short, (unsigned short)0, (unsigned short)65535)
HEDDLE_INTEGER(int, int, (-2147483647 - 1), 2147483647)
HEDDLE_INTEGER(uint, unsigned int, 0u, 4294967295u)
HEDDLE_INTEGER(ll, long long, (-9223372036854775807ll - 1), 9223372036854775807ll)
HEDDLE_INTEGER(ull, unsigned long long, 0ull, 18446744073709551615ull)
#undef HEDDLE_INTEGER

#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7C00u)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7FFFu)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half((unsigned short)0x0001u)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7BFFu)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half((unsigned short)0x8000u)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0x0000u)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3C00u)

#undef HEDDLE_HD
#undef HEDDLE_T
#undef HEDDLE_T2
#undef HEDDLE_RAW
#undef HEDDLE_BITS
#undef HEDDLE_TO_FLOAT
#undef HEDDLE_FROM_FLOAT
#undef HEDDLE_ARITHMETIC
#undef HEDDLE_ARITHMETIC2
#undef HEDDLE_FUSED
#undef HEDDLE_FUSED2
#undef HEDDLE_HALF_FN
#endif
#endif
