/* make_int4(x, y, z, w) and its relatives: a short vector from its elements. Tested by tests/abi. */
#ifndef __VECTOR_FUNCTIONS_H__
#define __VECTOR_FUNCTIONS_H__

#include "host_defines.h"
#include "vector_types.h"

#define HEDDLE_MAKE static __inline__ __host__ __device__
#define HEDDLE_MAKE_4(name, type)                                \
  HEDDLE_MAKE name make_##name(type x, type y, type z, type w) { \
    name v;                                                      \
    v.x = x;                                                     \
    v.y = y;                                                     \
    v.z = z;                                                     \
    v.w = w;                                                     \
    return v;                                                    \
  }
#define HEDDLE_MAKE_1_TO_4(name, type)                         \
  HEDDLE_MAKE name##1 make_##name##1(type x) {                 \
    name##1 v;                                                 \
    v.x = x;                                                   \
    return v;                                                  \
  }                                                            \
  HEDDLE_MAKE name##2 make_##name##2(type x, type y) {         \
    name##2 v;                                                 \
    v.x = x;                                                   \
    v.y = y;                                                   \
    return v;                                                  \
  }                                                            \
  HEDDLE_MAKE name##3 make_##name##3(type x, type y, type z) { \
    name##3 v;                                                 \
    v.x = x;                                                   \
    v.y = y;                                                   \
    v.z = z;                                                   \
    return v;                                                  \
  }                                                            \
  HEDDLE_MAKE_4(name##4, type)

HEDDLE_MAKE_1_TO_4(char, signed char)
HEDDLE_MAKE_1_TO_4(uchar, unsigned char)
HEDDLE_MAKE_1_TO_4(short, short)
HEDDLE_MAKE_1_TO_4(ushort, unsigned short)
HEDDLE_MAKE_1_TO_4(int, int)
HEDDLE_MAKE_1_TO_4(uint, unsigned int)
HEDDLE_MAKE_1_TO_4(long, long)
HEDDLE_MAKE_1_TO_4(ulong, unsigned long)
HEDDLE_MAKE_1_TO_4(longlong, long long)
HEDDLE_MAKE_1_TO_4(ulonglong, unsigned long long)
HEDDLE_MAKE_1_TO_4(float, float)
HEDDLE_MAKE_1_TO_4(double, double)
HEDDLE_MAKE_4(long4_16a, long)
HEDDLE_MAKE_4(long4_32a, long)
HEDDLE_MAKE_4(ulong4_16a, unsigned long)
HEDDLE_MAKE_4(ulong4_32a, unsigned long)
HEDDLE_MAKE_4(longlong4_16a, long long)
HEDDLE_MAKE_4(longlong4_32a, long long)
HEDDLE_MAKE_4(ulonglong4_16a, unsigned long long)
HEDDLE_MAKE_4(ulonglong4_32a, unsigned long long)
HEDDLE_MAKE_4(double4_16a, double)
HEDDLE_MAKE_4(double4_32a, double)

#undef HEDDLE_MAKE_1_TO_4
#undef HEDDLE_MAKE_4
#undef HEDDLE_MAKE

#endif /* __VECTOR_FUNCTIONS_H__ */
