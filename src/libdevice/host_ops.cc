// Host emulation of the device's special operations (device_ops.h), so that the unit tests can run the library on a
// CPU. Not part of the device library. Tested by exact_test.cc.
#if !defined(__NVPTX__)
#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>

#include "libdevice/device_ops.h"

namespace heddle::libdevice {
namespace {

class RoundingMode {
 public:
  explicit RoundingMode(Round r) : saved_(std::fegetround()) {
    constexpr int kModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    std::fesetround(kModes[static_cast<int>(r)]);
  }
  ~RoundingMode() { std::fesetround(saved_); }

 private:
  int saved_;
};

// Conversions clamp to the target's range. NaN gives the top bit alone, but single precision to 32 bits gives 0 (as
// recorded on a GPU).
template <typename I, typename F>
I to_integer(Round r, F a) {
  RoundingMode mode(r);
  volatile F value = a;
  const F rounded = std::nearbyint(value);
  if (std::isnan(rounded)) {
    return sizeof(I) == 4 && sizeof(F) == 4 ? 0 : static_cast<I>(static_cast<I>(1) << (8 * sizeof(I) - 1));
  }
  if (rounded >= std::ldexp(F(1), std::numeric_limits<I>::digits)) return std::numeric_limits<I>::max();
  if (rounded <= static_cast<F>(std::numeric_limits<I>::min())) return std::numeric_limits<I>::min();
  return static_cast<I>(rounded);
}

}  // namespace

#define ROUNDED2(T, name, op)                 \
  template <Round R>                          \
  T name(T a, T b) {                          \
    RoundingMode mode(R);                     \
    volatile T x = a, y = b, result = x op y; \
    return result;                            \
  }
#define INSTANTIATE(result, name, ...)                \
  template result name<Round::kNearest>(__VA_ARGS__); \
  template result name<Round::kZero>(__VA_ARGS__);    \
  template result name<Round::kDown>(__VA_ARGS__);    \
  template result name<Round::kUp>(__VA_ARGS__);
#define ARITHMETIC(T)                               \
  ROUNDED2(T, add_r, +)                             \
  ROUNDED2(T, mul_r, *)                             \
  ROUNDED2(T, div_r, /)                             \
  template <Round R>                                \
  T fma_r(T a, T b, T c) {                          \
    RoundingMode mode(R);                           \
    volatile T x = a, y = b, z = c;                 \
    volatile T result = std::fma(T(x), T(y), T(z)); \
    return result;                                  \
  }                                                 \
  template <Round R>                                \
  T rcp_r(T a) {                                    \
    return div_r<R>(T(1), a);                       \
  }                                                 \
  template <Round R>                                \
  T sqrt_r(T a) {                                   \
    RoundingMode mode(R);                           \
    volatile T x = a;                               \
    volatile T result = std::sqrt(T(x));            \
    return result;                                  \
  }                                                 \
  template <Round R>                                \
  s32 to_s32(T a) {                                 \
    return to_integer<s32>(R, a);                   \
  }                                                 \
  template <Round R>                                \
  u32 to_u32(T a) {                                 \
    return to_integer<u32>(R, a);                   \
  }                                                 \
  template <Round R>                                \
  s64 to_s64(T a) {                                 \
    return to_integer<s64>(R, a);                   \
  }                                                 \
  template <Round R>                                \
  u64 to_u64(T a) {                                 \
    return to_integer<u64>(R, a);                   \
  }                                                 \
  INSTANTIATE(T, add_r, T, T)                       \
  INSTANTIATE(T, mul_r, T, T)                       \
  INSTANTIATE(T, div_r, T, T)                       \
  INSTANTIATE(T, fma_r, T, T, T)                    \
  INSTANTIATE(T, rcp_r, T)                          \
  INSTANTIATE(T, sqrt_r, T)                         \
  INSTANTIATE(s32, to_s32, T)                       \
  INSTANTIATE(u32, to_u32, T)                       \
  INSTANTIATE(s64, to_s64, T)                       \
  INSTANTIATE(u64, to_u64, T)
ARITHMETIC(float)
ARITHMETIC(double)

#define CONVERSION(To, name, From)           \
  template <Round R>                         \
  To name(From a) {                          \
    RoundingMode mode(R);                    \
    volatile From x = a;                     \
    volatile To result = static_cast<To>(x); \
    return result;                           \
  }                                          \
  INSTANTIATE(To, name, From)
// 64-bit unsigned integers become floats in two steps on x86, so those go by way of the exact long double.
#define CONVERSION_EXACT(To, name, From)                  \
  template <Round R>                                      \
  To name(From a) {                                       \
    volatile long double x = static_cast<long double>(a); \
    RoundingMode mode(R);                                 \
    volatile To result = static_cast<To>(x);              \
    return result;                                        \
  }                                                       \
  INSTANTIATE(To, name, From)
CONVERSION(float, to_f32, s32)
CONVERSION(float, to_f32, u32)
CONVERSION(float, to_f32, double)
CONVERSION_EXACT(float, to_f32, s64)
CONVERSION_EXACT(float, to_f32, u64)
CONVERSION_EXACT(double, to_f64, s64)
CONVERSION_EXACT(double, to_f64, u64)

u16 to_half(float a) {
  u32 bits;
  std::memcpy(&bits, &a, 4);
  const u16 sign = static_cast<u16>((bits >> 16) & 0x8000);
  const float magnitude = std::fabs(a);
  if (std::isnan(a)) return 0x7fff;
  if (magnitude >= 65520.0f) return sign | 0x7c00;
  // In units of the half's last place the value is an integer after rounding to nearest even.
  int exponent = magnitude < 0x1p-14f ? -14 : std::ilogb(magnitude);
  const int units = static_cast<int>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
  return static_cast<u16>(sign | (((exponent + 14) << 10) + units));
}
float from_half(u16 a) {
  const int exponent = (a >> 10) & 31, mantissa = a & 1023;
  float value = exponent == 31 ? (mantissa ? NAN : INFINITY)
                : exponent     ? std::ldexp(static_cast<float>(1024 + mantissa), exponent - 25)
                               : std::ldexp(static_cast<float>(mantissa), -24);
  return a & 0x8000 ? -value : value;
}
s32 mul_24(s32 a, s32 b) { return static_cast<s32>(static_cast<s64>((a << 8) >> 8) * ((b << 8) >> 8)); }
u32 mul_24(u32 a, u32 b) { return (a & 0xffffff) * (b & 0xffffff); }
u32 abs_diff_add(s32 a, s32 b, u32 c) {
  return (a > b ? static_cast<u32>(a) - static_cast<u32>(b) : static_cast<u32>(b) - static_cast<u32>(a)) + c;
}
u32 abs_diff_add(u32 a, u32 b, u32 c) { return (a > b ? a - b : b - a) + c; }
u32 permute(u32 a, u32 b, u32 selector) {
  const u64 pool = (static_cast<u64>(b) << 32) | a;
  u32 result = 0;
  for (int i = 0; i < 4; ++i) {
    const u32 nibble = (selector >> (4 * i)) & 15;
    u32 byte = static_cast<u32>(pool >> (8 * (nibble & 7))) & 255;
    if (nibble & 8) byte = byte & 128 ? 255 : 0;
    result |= byte << (8 * i);
  }
  return result;
}
u32 reverse_bits(u32 a) {
  u32 r = 0;
  for (int i = 0; i < 32; ++i) r |= ((a >> i) & 1) << (31 - i);
  return r;
}
u64 reverse_bits(u64 a) {
  return (static_cast<u64>(reverse_bits(static_cast<u32>(a))) << 32) | reverse_bits(static_cast<u32>(a >> 32));
}
float saturate(float a) { return a > 0 ? (a < 1 ? a : 1.0f) : 0.0f; }
float approx_sin(float a) { return std::sin(a); }
float approx_cos(float a) { return std::cos(a); }
float approx_exp2(float a) { return std::exp2(a); }
float approx_log2(float a) { return std::log2(a); }
float approx_rsqrt(float a) { return static_cast<float>(1 / std::sqrt(static_cast<double>(a))); }
float approx_div(float a, float b) { return a / b; }
double approx_rcp64h(double a) {
  double r = 1 / a;
  u64 bits;
  std::memcpy(&bits, &r, 8);
  bits &= 0xffffffff00000000ull;
  std::memcpy(&r, &bits, 8);
  return std::fabs(r) < 0x1p-1022 ? std::copysign(0.0, r) : r;
}

}  // namespace heddle::libdevice
#endif
