// bfloat16: __nv_bfloat16 (the upper half of a float), __nv_bfloat162, and what CUDA's math API does with them.
// Arithmetic is float, rounded; fused multiply-adds are PTX bf16 where the target has them.
// What both 16-bit types have in common is in heddle/small_float.inc. Tested by tests/programs/half.cu.
#ifndef __CUDA_BF16_H__
#define __CUDA_BF16_H__
#ifdef __cplusplus
#if defined(__CUDA__) && defined(__clang__)
#include <cuda_runtime.h>
#endif
#include <math.h>
#include <string.h>

#include "crt/host_defines.h"
#include "vector_types.h"

#define HEDDLE_BFLOAT_FN __host__ __device__ __forceinline__

// float -> bfloat16, to nearest even.
static HEDDLE_BFLOAT_FN unsigned short heddle_bfloat_from_float(float value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  unsigned short bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
#else
  unsigned int word;
  memcpy(&word, &value, 4);
  if ((word & 0x7fffffffu) > 0x7f800000u) return 0x7fffu;
  return (unsigned short)((word + 0x7fffu + (word >> 16 & 1u)) >> 16);
#endif
}
static HEDDLE_BFLOAT_FN float heddle_bfloat_to_float(unsigned short bits) {
  unsigned int word = (unsigned int)bits << 16;
  float value;
  memcpy(&value, &word, 4);
  return value;
}
// double -> bfloat16 rounds once: through float rounded to odd, which keeps what the second rounding needs to know.
static HEDDLE_BFLOAT_FN unsigned short heddle_bfloat_from_double(double value) {
  float nearest = (float)value;
  unsigned int word;
  memcpy(&word, &nearest, 4);
  if ((double)nearest != value && value == value && (word & 1u) == 0) {
    double magnitude = value < 0 ? -value : value, taken = nearest < 0 ? -(double)nearest : (double)nearest;
    word += taken > magnitude ? 0xffffffffu : 1u;
    memcpy(&nearest, &word, 4);
  }
  return heddle_bfloat_from_float(nearest);
}

struct __nv_bfloat16_raw {
  unsigned short x;
};
struct __nv_bfloat162_raw {
  unsigned short x, y;
};

struct __nv_bfloat16 {
 protected:
  unsigned short bits_;

 public:
  __nv_bfloat16() = default;
  HEDDLE_BFLOAT_FN constexpr __nv_bfloat16(const __nv_bfloat16_raw& raw) : bits_(raw.x) {}
  HEDDLE_BFLOAT_FN operator __nv_bfloat16_raw() const { return __nv_bfloat16_raw{bits_}; }
  HEDDLE_BFLOAT_FN __nv_bfloat16(float value) : bits_(heddle_bfloat_from_float(value)) {}
  HEDDLE_BFLOAT_FN __nv_bfloat16(double value) : bits_(heddle_bfloat_from_double(value)) {}
  HEDDLE_BFLOAT_FN operator float() const { return heddle_bfloat_to_float(bits_); }
#define HEDDLE_INTEGER(type)                                                                      \
  HEDDLE_BFLOAT_FN __nv_bfloat16(type value) : bits_(heddle_bfloat_from_double((double)value)) {} \
  HEDDLE_BFLOAT_FN __nv_bfloat16& operator=(type value) { return *this = __nv_bfloat16(value); }  \
  HEDDLE_BFLOAT_FN operator type() const { return (type)heddle_bfloat_to_float(bits_); }
  HEDDLE_INTEGER(short)
  HEDDLE_INTEGER(unsigned short)
  HEDDLE_INTEGER(int)
  HEDDLE_INTEGER(unsigned int)
  HEDDLE_INTEGER(long)
  HEDDLE_INTEGER(unsigned long)
  HEDDLE_INTEGER(long long)
  HEDDLE_INTEGER(unsigned long long)
#undef HEDDLE_INTEGER
  HEDDLE_BFLOAT_FN operator signed char() const { return (signed char)heddle_bfloat_to_float(bits_); }
  HEDDLE_BFLOAT_FN operator unsigned char() const { return (unsigned char)heddle_bfloat_to_float(bits_); }
  HEDDLE_BFLOAT_FN operator char() const { return (char)heddle_bfloat_to_float(bits_); }
  HEDDLE_BFLOAT_FN operator bool() const { return (bits_ & 0x7fffu) != 0; }
  HEDDLE_BFLOAT_FN __nv_bfloat16& operator=(const __nv_bfloat16_raw& raw) {
    bits_ = raw.x;
    return *this;
  }
  HEDDLE_BFLOAT_FN __nv_bfloat16& operator=(float value) { return *this = __nv_bfloat16(value); }
  HEDDLE_BFLOAT_FN __nv_bfloat16& operator=(double value) { return *this = __nv_bfloat16(value); }
};

struct __align__(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;
  __nv_bfloat162() = default;
  HEDDLE_BFLOAT_FN __nv_bfloat162(const __nv_bfloat16& low, const __nv_bfloat16& high) : x(low), y(high) {}
  HEDDLE_BFLOAT_FN __nv_bfloat162(const __nv_bfloat162_raw& raw)
      : x(__nv_bfloat16_raw{raw.x}), y(__nv_bfloat16_raw{raw.y}) {}
  HEDDLE_BFLOAT_FN operator __nv_bfloat162_raw() const {
    return __nv_bfloat162_raw{((__nv_bfloat16_raw)x).x, ((__nv_bfloat16_raw)y).x};
  }
};

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

#define HEDDLE_T __nv_bfloat16
#define HEDDLE_T2 __nv_bfloat162
#define HEDDLE_RAW(bits) (__nv_bfloat16_raw{(unsigned short)(bits)})
#define HEDDLE_BITS(value) (((__nv_bfloat16_raw)(value)).x)
#define HEDDLE_TO_FLOAT(value) heddle_bfloat_to_float(HEDDLE_BITS(value))
#define HEDDLE_FROM_FLOAT(value) __nv_bfloat16(HEDDLE_RAW(heddle_bfloat_from_float(value)))
#define HEDDLE_ARITHMETIC(a, op, b) HEDDLE_FROM_FLOAT(HEDDLE_TO_FLOAT(a) op HEDDLE_TO_FLOAT(b))
#define HEDDLE_ARITHMETIC2(a, op, b) __nv_bfloat162(HEDDLE_ARITHMETIC(a.x, op, b.x), HEDDLE_ARITHMETIC(a.y, op, b.y))
static HEDDLE_BFLOAT_FN __nv_bfloat16 heddle_bfloat_fused(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  unsigned short bits;
  asm("fma.rn.bf16 %0, %1, %2, %3;" : "=h"(bits) : "h"(HEDDLE_BITS(a)), "h"(HEDDLE_BITS(b)), "h"(HEDDLE_BITS(c)));
  return __nv_bfloat16(HEDDLE_RAW(bits));
#else
  return __nv_bfloat16((double)HEDDLE_TO_FLOAT(a) * (double)HEDDLE_TO_FLOAT(b) + (double)HEDDLE_TO_FLOAT(c));
#endif
}
#define HEDDLE_FUSED(a, b, c) heddle_bfloat_fused(a, b, c)
#define HEDDLE_FUSED2(a, b, c) __nv_bfloat162(heddle_bfloat_fused(a.x, b.x, c.x), heddle_bfloat_fused(a.y, b.y, c.y))
#include "heddle/small_float.inc"

#define HEDDLE_HD static __host__ __device__ __forceinline__

HEDDLE_HD __nv_bfloat16 __float2bfloat16(float value) { return __nv_bfloat16(value); }
HEDDLE_HD __nv_bfloat16 __float2bfloat16_rn(float value) { return __nv_bfloat16(value); }
// The directed roundings: step from the nearest value where that lies on the wrong side.
HEDDLE_HD __nv_bfloat16 heddle_bfloat_step(__nv_bfloat16 value, bool up) {
  unsigned short bits = HEDDLE_BITS(value);
  if ((bits & 0x7fffu) == 0) return __nv_bfloat16(HEDDLE_RAW(up ? 0x0001u : 0x8001u));
  bool away = up == ((bits & 0x8000u) == 0);
  return __nv_bfloat16(HEDDLE_RAW(away ? bits + 1u : bits - 1u));
}
HEDDLE_HD __nv_bfloat16 __float2bfloat16_ru(float value) {
  __nv_bfloat16 nearest(value);
  return HEDDLE_TO_FLOAT(nearest) < value ? heddle_bfloat_step(nearest, true) : nearest;
}
HEDDLE_HD __nv_bfloat16 __float2bfloat16_rd(float value) {
  __nv_bfloat16 nearest(value);
  return HEDDLE_TO_FLOAT(nearest) > value ? heddle_bfloat_step(nearest, false) : nearest;
}
HEDDLE_HD __nv_bfloat16 __float2bfloat16_rz(float value) {
  return value < 0.0f ? __float2bfloat16_ru(value) : __float2bfloat16_rd(value);
}
HEDDLE_HD __nv_bfloat16 __double2bfloat16(double value) { return __nv_bfloat16(value); }
HEDDLE_HD float __bfloat162float(__nv_bfloat16 value) { return HEDDLE_TO_FLOAT(value); }
HEDDLE_HD __nv_bfloat162 __float2bfloat162_rn(float value) {
  return __nv_bfloat162(__nv_bfloat16(value), __nv_bfloat16(value));
}
HEDDLE_HD __nv_bfloat162 __floats2bfloat162_rn(float low, float high) {
  return __nv_bfloat162(__nv_bfloat16(low), __nv_bfloat16(high));
}
HEDDLE_HD __nv_bfloat162 __float22bfloat162_rn(float2 value) {
  return __nv_bfloat162(__nv_bfloat16(value.x), __nv_bfloat16(value.y));
}
HEDDLE_HD float2 __bfloat1622float2(__nv_bfloat162 value) {
  float2 result;
  result.x = HEDDLE_TO_FLOAT(value.x);
  result.y = HEDDLE_TO_FLOAT(value.y);
  return result;
}
HEDDLE_HD float __low2float(__nv_bfloat162 value) { return HEDDLE_TO_FLOAT(value.x); }
HEDDLE_HD float __high2float(__nv_bfloat162 value) { return HEDDLE_TO_FLOAT(value.y); }
HEDDLE_HD __nv_bfloat16 __low2bfloat16(__nv_bfloat162 value) { return value.x; }
HEDDLE_HD __nv_bfloat16 __high2bfloat16(__nv_bfloat162 value) { return value.y; }
HEDDLE_HD __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 value) { return __nv_bfloat162(value, value); }
HEDDLE_HD __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 low, __nv_bfloat16 high) { return __nv_bfloat162(low, high); }
HEDDLE_HD __nv_bfloat162 make_bfloat162(__nv_bfloat16 low, __nv_bfloat16 high) { return __nv_bfloat162(low, high); }
HEDDLE_HD __nv_bfloat162 __low2bfloat162(__nv_bfloat162 value) { return __nv_bfloat162(value.x, value.x); }
HEDDLE_HD __nv_bfloat162 __high2bfloat162(__nv_bfloat162 value) { return __nv_bfloat162(value.y, value.y); }
HEDDLE_HD __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(a.x, b.x); }
HEDDLE_HD __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(a.y, b.y); }
HEDDLE_HD __nv_bfloat162 __lowhigh2highlow(__nv_bfloat162 value) { return __nv_bfloat162(value.y, value.x); }
HEDDLE_HD unsigned short __bfloat16_as_ushort(__nv_bfloat16 value) { return HEDDLE_BITS(value); }
HEDDLE_HD short __bfloat16_as_short(__nv_bfloat16 value) { return (short)HEDDLE_BITS(value); }
HEDDLE_HD __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) { return __nv_bfloat16(HEDDLE_RAW(bits)); }
HEDDLE_HD __nv_bfloat16 __short_as_bfloat16(short bits) { return __nv_bfloat16(HEDDLE_RAW((unsigned short)bits)); }
HEDDLE_HD int __hisinf(__nv_bfloat16 value) {
  unsigned short bits = HEDDLE_BITS(value);
  return (bits & 0x7fffu) == 0x7f80u ? (bits & 0x8000u ? -1 : 1) : 0;
}

// To and from integers. Conversions to integers saturate; NaN becomes 0.
#define HEDDLE_INTEGER(name, type, smallest, largest)                                                 \
  HEDDLE_HD __nv_bfloat16 __##name##2bfloat16_rn(type value) { return __nv_bfloat16((double)value); } \
  HEDDLE_HD type heddle_bfloat_to_##name(float value) {                                               \
    return value != value               ? (type)0                                                     \
           : value <= (float)(smallest) ? smallest                                                    \
           : value >= (float)(largest)  ? largest                                                     \
                                        : (type)value;                                                 \
  }                                                                                                   \
  HEDDLE_HD type __bfloat162##name##_rz(__nv_bfloat16 value) {                                        \
    return heddle_bfloat_to_##name(HEDDLE_TO_FLOAT(value));                                           \
  }                                                                                                   \
  HEDDLE_HD type __bfloat162##name##_rn(__nv_bfloat16 value) {                                        \
    return heddle_bfloat_to_##name(rintf(HEDDLE_TO_FLOAT(value)));                                    \
  }                                                                                                   \
  HEDDLE_HD type __bfloat162##name##_rd(__nv_bfloat16 value) {                                        \
    return heddle_bfloat_to_##name(floorf(HEDDLE_TO_FLOAT(value)));                                   \
  }                                                                                                   \
  HEDDLE_HD type __bfloat162##name##_ru(__nv_bfloat16 value) {                                        \
    return heddle_bfloat_to_##name(ceilf(HEDDLE_TO_FLOAT(value)));                                    \
  }
HEDDLE_INTEGER(short, short, (short)-32768, (short)32767)
HEDDLE_INTEGER(ushort, unsigned short, (unsigned short)0, (unsigned short)65535)
HEDDLE_INTEGER(int, int, (-2147483647 - 1), 2147483647)
HEDDLE_INTEGER(uint, unsigned int, 0u, 4294967295u)
HEDDLE_INTEGER(ll, long long, (-9223372036854775807ll - 1), 9223372036854775807ll)
HEDDLE_INTEGER(ull, unsigned long long, 0ull, 18446744073709551615ull)
#undef HEDDLE_INTEGER

#define CUDART_INF_BF16 __ushort_as_bfloat16((unsigned short)0x7F80u)
#define CUDART_NAN_BF16 __ushort_as_bfloat16((unsigned short)0x7FFFu)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x0000u)
#define CUDART_ONE_BF16 __ushort_as_bfloat16((unsigned short)0x3F80u)

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
#undef HEDDLE_BFLOAT_FN
#endif
#endif
