// Integer functions of the device math library. Tested by exact_test.cc.
#include "libdevice/core.h"

namespace ld = heddle::libdevice;
using ld::s32, ld::s64, ld::u32, ld::u64;

HEDDLE_NV(int, abs)(int a) { return a < 0 ? static_cast<int>(0u - static_cast<u32>(a)) : a; }
HEDDLE_NV(long long, llabs)(long long a) { return a < 0 ? static_cast<s64>(0ull - static_cast<u64>(a)) : a; }
HEDDLE_NV(int, min)(int a, int b) { return a < b ? a : b; }
HEDDLE_NV(int, max)(int a, int b) { return a > b ? a : b; }
HEDDLE_NV(unsigned, umin)(unsigned a, unsigned b) { return a < b ? a : b; }
HEDDLE_NV(unsigned, umax)(unsigned a, unsigned b) { return a > b ? a : b; }
HEDDLE_NV(long long, llmin)(long long a, long long b) { return a < b ? a : b; }
HEDDLE_NV(long long, llmax)(long long a, long long b) { return a > b ? a : b; }
HEDDLE_NV(unsigned long long, ullmin)(unsigned long long a, unsigned long long b) { return a < b ? a : b; }
HEDDLE_NV(unsigned long long, ullmax)(unsigned long long a, unsigned long long b) { return a > b ? a : b; }

HEDDLE_NV(int, brev)(int a) { return static_cast<int>(ld::reverse_bits(static_cast<u32>(a))); }
HEDDLE_NV(long long, brevll)(long long a) { return static_cast<s64>(ld::reverse_bits(static_cast<u64>(a))); }
HEDDLE_NV(int, popc)(unsigned a) { return __builtin_popcount(a); }
HEDDLE_NV(int, popcll)(unsigned long long a) { return __builtin_popcountll(a); }
HEDDLE_NV(int, clz)(int a) { return a ? __builtin_clz(static_cast<u32>(a)) : 32; }
HEDDLE_NV(int, clzll)(long long a) { return a ? __builtin_clzll(static_cast<u64>(a)) : 64; }
HEDDLE_NV(int, ffs)(int a) { return a ? __builtin_ctz(static_cast<u32>(a)) + 1 : 0; }
HEDDLE_NV(int, ffsll)(long long a) { return a ? __builtin_ctzll(static_cast<u64>(a)) + 1 : 0; }
HEDDLE_NV(int, byte_perm)(int a, int b, int c) {
  // The function ignores the sign-replication bit that the instruction has.
  return static_cast<int>(ld::permute(static_cast<u32>(a), static_cast<u32>(b), static_cast<u32>(c) & 0x7777));
}

HEDDLE_NV(int, mul24)(int a, int b) { return ld::mul_24(a, b); }
HEDDLE_NV(unsigned, umul24)(unsigned a, unsigned b) { return ld::mul_24(a, b); }
HEDDLE_NV(int, mulhi)(int a, int b) { return ld::mul_hi(a, b); }
HEDDLE_NV(unsigned, umulhi)(unsigned a, unsigned b) { return ld::mul_hi(a, b); }
HEDDLE_NV(long long, mul64hi)(long long a, long long b) { return ld::mul_hi(a, b); }
HEDDLE_NV(unsigned long long, umul64hi)(unsigned long long a, unsigned long long b) { return ld::mul_hi(a, b); }

HEDDLE_NV(int, sad)(int a, int b, int c) { return static_cast<int>(ld::abs_diff_add(a, b, static_cast<u32>(c))); }
HEDDLE_NV(unsigned, usad)(unsigned a, unsigned b, unsigned c) { return ld::abs_diff_add(a, b, c); }
// Averages without overflow: the common bits plus half of the differing ones.
HEDDLE_NV(int, hadd)(int a, int b) { return (a & b) + ((a ^ b) >> 1); }
HEDDLE_NV(int, rhadd)(int a, int b) { return (a | b) - ((a ^ b) >> 1); }
HEDDLE_NV(int, uhadd)(unsigned a, unsigned b) { return static_cast<int>((a & b) + ((a ^ b) >> 1)); }
HEDDLE_NV(unsigned, urhadd)(unsigned a, unsigned b) { return (a | b) - ((a ^ b) >> 1); }
