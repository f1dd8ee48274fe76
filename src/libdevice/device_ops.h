// The operations that C++ has no spelling for: rounding modes, saturating conversions, bit permutations, approximate
// instructions. For a device build each is the compiler's builtin for one PTX instruction; for a host build (the unit
// tests) it is emulated by host_ops.cc. Tested by accuracy_test.cc and exact_test.cc.
#pragma once

namespace heddle::libdevice {

using s32 = int;
using u32 = unsigned;
using s64 = long long;
using u64 = unsigned long long;
using u16 = unsigned short;

enum class Round { kNearest, kZero, kDown, kUp };

#if defined(__NVPTX__)

// The compiler pass nvvm-reflect replaces the call by a constant: 1 where f32 denormals are flushed.
extern "C" u32 heddle_reflect(const char* key) __asm__("__nvvm_reflect");
inline bool flushes_denormals() { return heddle_reflect("__CUDA_FTZ") != 0; }

// One function per rounding mode, from the builtins x_rn, x_rz, x_rm and x_rp; kFtz where a flushing form exists.
#define HEDDLE_ROUNDED_FTZ(result, name, params, args, builtin, suffix)                                         \
  template <Round R>                                                                                            \
  inline result name params {                                                                                   \
    if constexpr (R == Round::kNearest)                                                                         \
      return flushes_denormals() ? __nvvm_##builtin##_rn_ftz##suffix args : __nvvm_##builtin##_rn##suffix args; \
    if constexpr (R == Round::kZero)                                                                            \
      return flushes_denormals() ? __nvvm_##builtin##_rz_ftz##suffix args : __nvvm_##builtin##_rz##suffix args; \
    if constexpr (R == Round::kDown)                                                                            \
      return flushes_denormals() ? __nvvm_##builtin##_rm_ftz##suffix args : __nvvm_##builtin##_rm##suffix args; \
    if constexpr (R == Round::kUp)                                                                              \
      return flushes_denormals() ? __nvvm_##builtin##_rp_ftz##suffix args : __nvvm_##builtin##_rp##suffix args; \
  }
#define HEDDLE_ROUNDED(result, name, params, args, builtin, suffix)                \
  template <Round R>                                                               \
  inline result name params {                                                      \
    if constexpr (R == Round::kNearest) return __nvvm_##builtin##_rn##suffix args; \
    if constexpr (R == Round::kZero) return __nvvm_##builtin##_rz##suffix args;    \
    if constexpr (R == Round::kDown) return __nvvm_##builtin##_rm##suffix args;    \
    if constexpr (R == Round::kUp) return __nvvm_##builtin##_rp##suffix args;      \
  }
HEDDLE_ROUNDED_FTZ(float, add_r, (float a, float b), (a, b), add, _f)
HEDDLE_ROUNDED_FTZ(float, mul_r, (float a, float b), (a, b), mul, _f)
HEDDLE_ROUNDED_FTZ(float, fma_r, (float a, float b, float c), (a, b, c), fma, _f)
// LLVM turns these intrinsics into its own division and square root, which the command line may ask to be approximate,
// and the fma without .ftz into one that flushes where the rest does. As text they stay what they are.
#define HEDDLE_EXACT(name, params, format, ...)                                   \
  template <Round R>                                                              \
  inline float name params {                                                      \
    float r;                                                                      \
    const bool ftz = flushes_denormals();                                         \
    if constexpr (R == Round::kNearest) HEDDLE_EITHER(".rn", format, __VA_ARGS__) \
    if constexpr (R == Round::kZero) HEDDLE_EITHER(".rz", format, __VA_ARGS__)    \
    if constexpr (R == Round::kDown) HEDDLE_EITHER(".rm", format, __VA_ARGS__)    \
    if constexpr (R == Round::kUp) HEDDLE_EITHER(".rp", format, __VA_ARGS__)      \
    return r;                                                                     \
  }
#define HEDDLE_EITHER(mode, format, ...)                    \
  {                                                         \
    if (ftz) {                                              \
      __asm__(format(mode ".ftz") : "=f"(r) : __VA_ARGS__); \
    } else {                                                \
      __asm__(format(mode) : "=f"(r) : __VA_ARGS__);        \
    }                                                       \
  }
#define HEDDLE_DIV(mode) "div" mode ".f32 %0, %1, %2;"
#define HEDDLE_RCP(mode) "rcp" mode ".f32 %0, %1;"
#define HEDDLE_SQRT(mode) "sqrt" mode ".f32 %0, %1;"
HEDDLE_EXACT(div_r, (float a, float b), HEDDLE_DIV, "f"(a), "f"(b))
HEDDLE_EXACT(rcp_r, (float a), HEDDLE_RCP, "f"(a))
HEDDLE_EXACT(sqrt_r, (float a), HEDDLE_SQRT, "f"(a))
template <Round R>
inline float fma_ieee_r(float a, float b, float c) {
  float r;
  if constexpr (R == Round::kNearest) __asm__("fma.rn.f32 %0, %1, %2, %3;" : "=f"(r) : "f"(a), "f"(b), "f"(c));
  if constexpr (R == Round::kZero) r = __nvvm_fma_rz_f(a, b, c);
  if constexpr (R == Round::kDown) r = __nvvm_fma_rm_f(a, b, c);
  if constexpr (R == Round::kUp) r = __nvvm_fma_rp_f(a, b, c);
  return r;
}
#undef HEDDLE_EXACT
#undef HEDDLE_EITHER
#undef HEDDLE_DIV
#undef HEDDLE_RCP
#undef HEDDLE_SQRT
HEDDLE_ROUNDED(double, add_r, (double a, double b), (a, b), add, _d)
HEDDLE_ROUNDED(double, mul_r, (double a, double b), (a, b), mul, _d)
HEDDLE_ROUNDED(double, div_r, (double a, double b), (a, b), div, _d)
HEDDLE_ROUNDED(double, fma_r, (double a, double b, double c), (a, b, c), fma, _d)
HEDDLE_ROUNDED(double, rcp_r, (double a), (a), rcp, _d)
HEDDLE_ROUNDED(double, sqrt_r, (double a), (a), sqrt, _d)
// Conversions toward zero are written as instructions: LLVM turns those intrinsics into its own conversions, which are
// undefined out of range, and between integers and floats round to nearest.
#define HEDDLE_CONVERT(result, name, type, builtin, format, to, from)    \
  template <Round R>                                                     \
  inline result name(type a) {                                           \
    if constexpr (R == Round::kNearest) return __nvvm_##builtin##_rn(a); \
    if constexpr (R == Round::kDown) return __nvvm_##builtin##_rm(a);    \
    if constexpr (R == Round::kUp) return __nvvm_##builtin##_rp(a);      \
    result r;                                                            \
    __asm__("cvt." format " %0, %1;" : "=" to(r) : from(a));             \
    return r;                                                            \
  }
#define HEDDLE_CONVERT_FTZ(result, name, builtin, suffix, to)                                                 \
  template <Round R>                                                                                          \
  inline result name(float a) {                                                                               \
    const bool ftz = flushes_denormals();                                                                     \
    if constexpr (R == Round::kNearest) return ftz ? __nvvm_##builtin##_rn_ftz(a) : __nvvm_##builtin##_rn(a); \
    if constexpr (R == Round::kDown) return ftz ? __nvvm_##builtin##_rm_ftz(a) : __nvvm_##builtin##_rm(a);    \
    if constexpr (R == Round::kUp) return ftz ? __nvvm_##builtin##_rp_ftz(a) : __nvvm_##builtin##_rp(a);      \
    result r;                                                                                                 \
    if (ftz) {                                                                                                \
      __asm__("cvt.rzi.ftz." suffix ".f32 %0, %1;" : "=" to(r) : "f"(a));                                     \
    } else {                                                                                                  \
      __asm__("cvt.rzi." suffix ".f32 %0, %1;" : "=" to(r) : "f"(a));                                         \
    }                                                                                                         \
    return r;                                                                                                 \
  }
HEDDLE_CONVERT_FTZ(s32, to_s32, f2i, "s32", "r")
HEDDLE_CONVERT_FTZ(u32, to_u32, f2ui, "u32", "r")
HEDDLE_CONVERT_FTZ(s64, to_s64, f2ll, "s64", "l")
HEDDLE_CONVERT_FTZ(u64, to_u64, f2ull, "u64", "l")
HEDDLE_CONVERT(s32, to_s32, double, d2i, "rzi.s32.f64", "r", "d")
HEDDLE_CONVERT(u32, to_u32, double, d2ui, "rzi.u32.f64", "r", "d")
HEDDLE_CONVERT(s64, to_s64, double, d2ll, "rzi.s64.f64", "l", "d")
HEDDLE_CONVERT(u64, to_u64, double, d2ull, "rzi.u64.f64", "l", "d")
HEDDLE_CONVERT(float, to_f32, s32, i2f, "rz.f32.s32", "f", "r")
HEDDLE_CONVERT(float, to_f32, u32, ui2f, "rz.f32.u32", "f", "r")
HEDDLE_CONVERT(float, to_f32, s64, ll2f, "rz.f32.s64", "f", "l")
HEDDLE_CONVERT(float, to_f32, u64, ull2f, "rz.f32.u64", "f", "l")
HEDDLE_CONVERT(double, to_f64, s64, ll2d, "rz.f64.s64", "d", "l")
HEDDLE_CONVERT(double, to_f64, u64, ull2d, "rz.f64.u64", "d", "l")
#undef HEDDLE_CONVERT
#undef HEDDLE_CONVERT_FTZ
HEDDLE_ROUNDED_FTZ(float, to_f32, (double a), (a), d2f, )
#undef HEDDLE_ROUNDED
#undef HEDDLE_ROUNDED_FTZ

inline u16 to_half(float a) { return static_cast<u16>(flushes_denormals() ? __nvvm_f2h_rn_ftz(a) : __nvvm_f2h_rn(a)); }
inline float from_half(u16 a) {
  float result;
  __asm__("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(a));
  return result;
}
// Products and sums that no later stage may fuse into an fma: error-free transformations depend on it.
inline float mul(float a, float b) { return __nvvm_mul_rn_f(a, b); }
inline double mul(double a, double b) { return __nvvm_mul_rn_d(a, b); }
inline float add(float a, float b) { return __nvvm_add_rn_f(a, b); }
inline double add(double a, double b) { return __nvvm_add_rn_d(a, b); }
// Correctly rounded whatever the command line says about division.
inline float div(float a, float b) { return div_r<Round::kNearest>(a, b); }
inline double div(double a, double b) { return __nvvm_div_rn_d(a, b); }
inline s32 mul_hi(s32 a, s32 b) { return __nvvm_mulhi_i(a, b); }
inline u32 mul_hi(u32 a, u32 b) { return __nvvm_mulhi_ui(a, b); }
inline s64 mul_hi(s64 a, s64 b) { return __nvvm_mulhi_ll(a, b); }
inline u64 mul_hi(u64 a, u64 b) { return __nvvm_mulhi_ull(a, b); }
inline s32 mul_24(s32 a, s32 b) { return __nvvm_mul24_i(a, b); }
inline u32 mul_24(u32 a, u32 b) { return __nvvm_mul24_ui(a, b); }
inline u32 abs_diff_add(s32 a, s32 b, u32 c) { return __nvvm_sad_i(a, b, static_cast<s32>(c)); }
inline u32 abs_diff_add(u32 a, u32 b, u32 c) { return __nvvm_sad_ui(a, b, c); }
inline u32 permute(u32 a, u32 b, u32 selector) { return __nvvm_prmt(a, b, selector); }
inline u32 reverse_bits(u32 a) { return __builtin_bitreverse32(a); }
inline u64 reverse_bits(u64 a) { return __builtin_bitreverse64(a); }
inline float saturate(float a) { return flushes_denormals() ? __nvvm_saturate_ftz_f(a) : __nvvm_saturate_f(a); }
#define HEDDLE_APPROXIMATE(name, builtin) \
  inline float name(float a) { return flushes_denormals() ? __nvvm_##builtin##_ftz_f(a) : __nvvm_##builtin##_f(a); }
HEDDLE_APPROXIMATE(approx_sin, sin_approx)
HEDDLE_APPROXIMATE(approx_cos, cos_approx)
HEDDLE_APPROXIMATE(approx_exp2, ex2_approx)
HEDDLE_APPROXIMATE(approx_log2, lg2_approx)
HEDDLE_APPROXIMATE(approx_rsqrt, rsqrt_approx)
#undef HEDDLE_APPROXIMATE
inline float approx_div(float a, float b) {
  return flushes_denormals() ? __nvvm_div_approx_ftz_f(a, b) : __nvvm_div_approx_f(a, b);
}
inline double approx_rcp64h(double a) { return __nvvm_rcp_approx_ftz_d(a); }

#else  // host

// Defined for the combinations that the device has, in host_ops.cc.
template <Round R>
float add_r(float a, float b);
template <Round R>
float mul_r(float a, float b);
template <Round R>
float div_r(float a, float b);
template <Round R>
float fma_r(float a, float b, float c);
template <Round R>
float rcp_r(float a);
template <Round R>
float sqrt_r(float a);
template <Round R>
double add_r(double a, double b);
template <Round R>
double mul_r(double a, double b);
template <Round R>
double div_r(double a, double b);
template <Round R>
double fma_r(double a, double b, double c);
template <Round R>
double rcp_r(double a);
template <Round R>
double sqrt_r(double a);
template <Round R>
s32 to_s32(float a);
template <Round R>
u32 to_u32(float a);
template <Round R>
s64 to_s64(float a);
template <Round R>
u64 to_u64(float a);
template <Round R>
s32 to_s32(double a);
template <Round R>
u32 to_u32(double a);
template <Round R>
s64 to_s64(double a);
template <Round R>
u64 to_u64(double a);
template <Round R>
float to_f32(s32 a);
template <Round R>
float to_f32(u32 a);
template <Round R>
float to_f32(s64 a);
template <Round R>
float to_f32(u64 a);
template <Round R>
float to_f32(double a);
template <Round R>
double to_f64(s64 a);
template <Round R>
double to_f64(u64 a);
template <Round R>
float fma_ieee_r(float a, float b, float c) {
  return fma_r<R>(a, b, c);
}

u16 to_half(float a);
float from_half(u16 a);
inline float mul(float a, float b) { return a * b; }
inline double mul(double a, double b) { return a * b; }
inline float add(float a, float b) { return a + b; }
inline double add(double a, double b) { return a + b; }
inline float div(float a, float b) { return a / b; }
inline double div(double a, double b) { return a / b; }
inline s32 mul_hi(s32 a, s32 b) { return static_cast<s32>((static_cast<s64>(a) * b) >> 32); }
inline u32 mul_hi(u32 a, u32 b) { return static_cast<u32>((static_cast<u64>(a) * b) >> 32); }
inline s64 mul_hi(s64 a, s64 b) { return static_cast<s64>((static_cast<__int128>(a) * b) >> 64); }
inline u64 mul_hi(u64 a, u64 b) { return static_cast<u64>((static_cast<unsigned __int128>(a) * b) >> 64); }
s32 mul_24(s32 a, s32 b);
u32 mul_24(u32 a, u32 b);
u32 abs_diff_add(s32 a, s32 b, u32 c);
u32 abs_diff_add(u32 a, u32 b, u32 c);
u32 permute(u32 a, u32 b, u32 selector);
u32 reverse_bits(u32 a);
u64 reverse_bits(u64 a);
float saturate(float a);
float approx_sin(float a);
float approx_cos(float a);
float approx_exp2(float a);
float approx_log2(float a);
float approx_rsqrt(float a);
float approx_div(float a, float b);
double approx_rcp64h(double a);

#endif

}  // namespace heddle::libdevice
