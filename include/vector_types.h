/* The short vectors (char1 ... double4) and dim3. Sizes and alignments are checked by tests/abi. */
#ifndef __VECTOR_TYPES_H__
#define __VECTOR_TYPES_H__

#include "host_defines.h"

#define HEDDLE_VECTOR_1(name, type) \
  struct name##1 { type x; };       \
  typedef struct name##1 name##1;
#define HEDDLE_VECTOR_2(name, type, alignment) \
  struct __align__(alignment) name##2 {        \
    type x;                                    \
    type y;                                    \
  };                                           \
  typedef struct name##2 name##2;
#define HEDDLE_VECTOR_3(name, type) \
  struct name##3 {                  \
    type x;                         \
    type y;                         \
    type z;                         \
  };                                \
  typedef struct name##3 name##3;
#define HEDDLE_VECTOR_4(name, type, alignment) \
  struct __align__(alignment) name {           \
    type x;                                    \
    type y;                                    \
    type z;                                    \
    type w;                                    \
  };                                           \
  typedef struct name name;
#define HEDDLE_VECTORS(name, type, alignment2, alignment4) \
  HEDDLE_VECTOR_1(name, type)                              \
  HEDDLE_VECTOR_2(name, type, alignment2)                  \
  HEDDLE_VECTOR_3(name, type)                              \
  HEDDLE_VECTOR_4(name##4, type, alignment4)

HEDDLE_VECTORS(char, signed char, 2, 4)
HEDDLE_VECTORS(uchar, unsigned char, 2, 4)
HEDDLE_VECTORS(short, short, 4, 8)
HEDDLE_VECTORS(ushort, unsigned short, 4, 8)
HEDDLE_VECTORS(int, int, 8, 16)
HEDDLE_VECTORS(uint, unsigned int, 8, 16)
HEDDLE_VECTORS(long, long, 16, 16)
HEDDLE_VECTORS(ulong, unsigned long, 16, 16)
HEDDLE_VECTORS(longlong, long long, 16, 16)
HEDDLE_VECTORS(ulonglong, unsigned long long, 16, 16)
HEDDLE_VECTORS(float, float, 8, 16)
HEDDLE_VECTORS(double, double, 16, 16)
/* Since 13.0, 32-byte vectors also come with their alignment in their name. */
HEDDLE_VECTOR_4(long4_16a, long, 16)
HEDDLE_VECTOR_4(long4_32a, long, 32)
HEDDLE_VECTOR_4(ulong4_16a, unsigned long, 16)
HEDDLE_VECTOR_4(ulong4_32a, unsigned long, 32)
HEDDLE_VECTOR_4(longlong4_16a, long long, 16)
HEDDLE_VECTOR_4(longlong4_32a, long long, 32)
HEDDLE_VECTOR_4(ulonglong4_16a, unsigned long long, 16)
HEDDLE_VECTOR_4(ulonglong4_32a, unsigned long long, 32)
HEDDLE_VECTOR_4(double4_16a, double, 16)
HEDDLE_VECTOR_4(double4_32a, double, 32)

#undef HEDDLE_VECTOR_1
#undef HEDDLE_VECTOR_2
#undef HEDDLE_VECTOR_3
#undef HEDDLE_VECTOR_4
#undef HEDDLE_VECTORS

#if defined(__cplusplus) && __cplusplus >= 201103L
#define HEDDLE_CONSTEXPR constexpr
#else
#define HEDDLE_CONSTEXPR
#endif

/* The size of a grid or a block: what is left out is 1. */
struct dim3 {
  unsigned int x, y, z;
#ifdef __cplusplus
  __host__ __device__ HEDDLE_CONSTEXPR dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1)
      : x(vx), y(vy), z(vz) {}
  __host__ __device__ HEDDLE_CONSTEXPR dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
#if __cplusplus >= 201103L
  __host__ __device__ constexpr operator uint3() const { return uint3{x, y, z}; }
#else
  __host__ __device__ operator uint3() const {
    uint3 v;
    v.x = x, v.y = y, v.z = z;
    return v;
  }
#endif
#endif
};
typedef struct dim3 dim3;

#endif /* __VECTOR_TYPES_H__ */
