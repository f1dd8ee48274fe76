// Warp match and sleep, of compute capability 7.0. clang's __clang_cuda_intrinsics.h asks for this file after it
// has defined the 32- and 64-bit primitives; the overloads per type are left to it.
// Tested by tests/programs/warp.cu.
#ifndef __SM_70_RT_HPP__
#define __SM_70_RT_HPP__
#if defined(__CUDA__) && defined(__clang__) && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700)

#define HEDDLE_MATCH(type, bits, as)                                                                           \
  static __device__ __forceinline__ unsigned int __match_any_sync(unsigned mask, type value) {                 \
    return __match##bits##_any_sync(mask, as);                                                                 \
  }                                                                                                            \
  static __device__ __forceinline__ unsigned int __match_all_sync(unsigned mask, type value, int* predicate) { \
    return __match##bits##_all_sync(mask, as, predicate);                                                      \
  }
HEDDLE_MATCH(unsigned, 32, value)
HEDDLE_MATCH(int, 32, (unsigned)value)
HEDDLE_MATCH(unsigned long, 64, (unsigned long long)value)
HEDDLE_MATCH(long, 64, (unsigned long long)value)
HEDDLE_MATCH(unsigned long long, 64, value)
HEDDLE_MATCH(long long, 64, (unsigned long long)value)
HEDDLE_MATCH(float, 32, (unsigned)__float_as_int(value))
HEDDLE_MATCH(double, 64, (unsigned long long)__double_as_longlong(value))
#undef HEDDLE_MATCH

static __device__ __forceinline__ void __nanosleep(unsigned int nanoseconds) {
  asm volatile("nanosleep.u32 %0;" : : "r"(nanoseconds));
}

#endif
#endif
