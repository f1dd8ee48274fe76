// Conversions, bit casts and arithmetic with an explicit rounding mode. Tested by exact_test.cc.
#include "libdevice/core.h"

using namespace heddle::libdevice;

// One function per rounding mode: name_rn, name_rz, name_rd, name_ru.
#define MODES(result, name, params, call, args)                              \
  HEDDLE_NV(result, name##_rn) params { return call<Round::kNearest> args; } \
  HEDDLE_NV(result, name##_rz) params { return call<Round::kZero> args; }    \
  HEDDLE_NV(result, name##_rd) params { return call<Round::kDown> args; }    \
  HEDDLE_NV(result, name##_ru) params { return call<Round::kUp> args; }

MODES(float, fadd, (float a, float b), add_r, (a, b))
MODES(float, fsub, (float a, float b), add_r, (a, -b))
MODES(float, fmul, (float a, float b), mul_r, (a, b))
MODES(float, fdiv, (float a, float b), div_r, (a, b))
MODES(float, fmaf, (float a, float b, float c), fma_r, (a, b, c))
MODES(float, fmaf_ieee, (float a, float b, float c), fma_ieee_r, (a, b, c))
MODES(float, frcp, (float a), rcp_r, (a))
MODES(float, fsqrt, (float a), sqrt_r, (a))
MODES(double, dadd, (double a, double b), add_r, (a, b))
MODES(double, dsub, (double a, double b), add_r, (a, -b))
MODES(double, dmul, (double a, double b), mul_r, (a, b))
MODES(double, ddiv, (double a, double b), div_r, (a, b))
MODES(double, fma, (double a, double b, double c), fma_r, (a, b, c))
MODES(double, drcp, (double a), rcp_r, (a))
MODES(double, dsqrt, (double a), sqrt_r, (a))

MODES(int, float2int, (float a), to_s32, (a))
MODES(unsigned, float2uint, (float a), to_u32, (a))
MODES(long long, float2ll, (float a), to_s64, (a))
MODES(unsigned long long, float2ull, (float a), to_u64, (a))
MODES(int, double2int, (double a), to_s32, (a))
MODES(unsigned, double2uint, (double a), to_u32, (a))
MODES(long long, double2ll, (double a), to_s64, (a))
MODES(unsigned long long, double2ull, (double a), to_u64, (a))
MODES(float, double2float, (double a), to_f32, (a))
MODES(float, int2float, (int a), to_f32, (a))
MODES(float, uint2float, (unsigned a), to_f32, (a))
MODES(float, ll2float, (long long a), to_f32, (a))
MODES(float, ull2float, (unsigned long long a), to_f32, (a))
MODES(double, ll2double, (long long a), to_f64, (a))
MODES(double, ull2double, (unsigned long long a), to_f64, (a))

HEDDLE_NV(double, int2double_rn)(int a) { return a; }
HEDDLE_NV(double, uint2double_rn)(unsigned a) { return a; }
HEDDLE_NV(float, frsqrt_rn)(float a) {
  // 1/sqrt in double precision is exact enough for one correct rounding to single: an argument whose result lies that
  // near to the middle between two floats doesn't exist.
  return to_f32<Round::kNearest>(rcp_r<Round::kNearest>(sqrt_r<Round::kNearest>(static_cast<double>(a))));
}
HEDDLE_NV(double, rcp64h)(double a) { return approx_rcp64h(a); }
HEDDLE_NV(float, saturatef)(float a) { return saturate(a); }
HEDDLE_NV(unsigned short, float2half_rn)(float a) { return to_half(a); }
HEDDLE_NV(float, half2float)(unsigned short a) { return from_half(a); }

HEDDLE_NV(int, float_as_int)(float a) { return static_cast<int>(bits(a)); }
HEDDLE_NV(unsigned, float_as_uint)(float a) { return bits(a); }
HEDDLE_NV(float, int_as_float)(int a) { return from_bits(static_cast<u32>(a)); }
HEDDLE_NV(float, uint_as_float)(unsigned a) { return from_bits(a); }
HEDDLE_NV(unsigned long long, double_as_longlong)(double a) { return bits(a); }
HEDDLE_NV(double, longlong_as_double)(long long a) { return from_bits(static_cast<u64>(a)); }
HEDDLE_NV(int, double2hiint)(double a) { return static_cast<int>(bits(a) >> 32); }
HEDDLE_NV(int, double2loint)(double a) { return static_cast<int>(bits(a)); }
HEDDLE_NV(double, hiloint2double)(int hi, int lo) {
  return from_bits((static_cast<u64>(static_cast<u32>(hi)) << 32) | static_cast<u32>(lo));
}
