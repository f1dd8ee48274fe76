// Dot products of small integers with accumulation (compute capability 6.1), as PTX dp4a and dp2a.
// clang's CUDA wrapper includes this file with __CUDA_ARCH__ hidden, so nothing here may test it.
#ifndef __SM_61_INTRINSICS_HPP__
#define __SM_61_INTRINSICS_HPP__
#if defined(__CUDA__) && defined(__clang__)

#define HEDDLE_DP(name, instruction, word)                                  \
  static __device__ __forceinline__ word name(word a, word b, word c) {     \
    word d;                                                                 \
    asm(instruction " %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); \
    return d;                                                               \
  }
#define HEDDLE_DP_VECTOR(name, word, first, second)                        \
  static __device__ __forceinline__ word name(first a, second b, word c) { \
    word a_bits, b_bits;                                                   \
    __builtin_memcpy(&a_bits, &a, sizeof a_bits);                          \
    __builtin_memcpy(&b_bits, &b, sizeof b_bits);                          \
    return name(a_bits, b_bits, c);                                        \
  }

HEDDLE_DP(__dp4a, "dp4a.s32.s32", int)
HEDDLE_DP(__dp4a, "dp4a.u32.u32", unsigned int)
HEDDLE_DP(__dp2a_lo, "dp2a.lo.s32.s32", int)
HEDDLE_DP(__dp2a_lo, "dp2a.lo.u32.u32", unsigned int)
HEDDLE_DP(__dp2a_hi, "dp2a.hi.s32.s32", int)
HEDDLE_DP(__dp2a_hi, "dp2a.hi.u32.u32", unsigned int)
HEDDLE_DP_VECTOR(__dp4a, int, char4, char4)
HEDDLE_DP_VECTOR(__dp4a, unsigned int, uchar4, uchar4)
HEDDLE_DP_VECTOR(__dp2a_lo, int, short2, char4)
HEDDLE_DP_VECTOR(__dp2a_lo, unsigned int, ushort2, uchar4)
HEDDLE_DP_VECTOR(__dp2a_hi, int, short2, char4)
HEDDLE_DP_VECTOR(__dp2a_hi, unsigned int, ushort2, uchar4)

#undef HEDDLE_DP
#undef HEDDLE_DP_VECTOR
#endif
#endif
