// The functions of the device math library whose results are exact: against glibc's (fmod, remquo, frexp, ...), against
// plain definitions (integers, packed lanes), and against recorded values of PTX's conversions.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#define __DEVICE__
#define CUDA_VERSION 9000
#include HEDDLE_LIBDEVICE_DECLARES

namespace heddle::libdevice {
namespace {

template <typename T>
bool same(T a, T b) {
  return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}
template <typename T>
std::vector<T> numbers(int random_ones) {
  using L = std::numeric_limits<T>;
  std::vector<T> v;
  for (T x : {T(0),
              L::denorm_min(),
              3 * L::denorm_min(),
              std::nextafter(L::min(), T(0)),
              L::min(),
              L::epsilon(),
              T(0.25),
              T(0.5),
              std::nextafter(T(0.5), T(0)),
              std::nextafter(T(0.5), T(1)),
              T(0.75),
              T(1),
              T(1.5),
              T(2),
              T(2.5),
              T(3),
              T(3.5),
              T(7),
              T(8),
              T(100.5),
              T(1 / L::epsilon()),
              T(0.5 / L::epsilon()) + T(0.5),
              T(2147483648.0),
              T(9.3e18),
              T(1.9e19),
              T(1e30),
              L::max() / 4,
              L::max(),
              L::infinity()}) {
    v.push_back(x);
    v.push_back(-x);
  }
  v.push_back(L::quiet_NaN());
  std::mt19937_64 random(7);
  for (int i = 0; i < random_ones; ++i) {
    if constexpr (sizeof(T) == 4) {
      v.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
    } else {
      v.push_back(std::bit_cast<double>(random()));
    }
    v.push_back(static_cast<T>(static_cast<double>(static_cast<std::int64_t>(random())) * 0x1p-50));
  }
  return v;
}

#define UNARY(name)                                                                                           \
  for (float x : numbers<float>(2000)) EXPECT_TRUE(same(__nv_##name##f(x), std::name(x))) << #name "f " << x; \
  for (double x : numbers<double>(2000)) EXPECT_TRUE(same(__nv_##name(x), std::name(x))) << #name " " << x;
TEST(Exact,
     Rounding){UNARY(floor) UNARY(ceil) UNARY(trunc) UNARY(rint) UNARY(nearbyint) UNARY(round) UNARY(fabs) UNARY(logb)}
#define BINARY(name)                                                                               \
  for (float x : numbers<float>(60))                                                               \
    for (float y : numbers<float>(60))                                                             \
      EXPECT_TRUE(same(__nv_##name##f(x, y), std::name(x, y)))                                     \
          << #name "f " << x << ' ' << y << ' ' << __nv_##name##f(x, y) << ' ' << std::name(x, y); \
  for (double x : numbers<double>(60))                                                             \
    for (double y : numbers<double>(60))                                                           \
      EXPECT_TRUE(same(__nv_##name(x, y), std::name(x, y)))                                        \
          << #name " " << x << ' ' << y << ' ' << __nv_##name(x, y) << ' ' << std::name(x, y);
TEST(Exact, Binary) {
  BINARY(fmod)
  BINARY(nextafter)
  BINARY(copysign)
  BINARY(fdim)
  // A remainder of zero has the sign of x; glibc's has not always.
  for (double x : numbers<double>(60)) {
    for (double y : numbers<double>(60)) {
      const double r = __nv_remainder(x, y), expected = std::remainder(x, y);
      EXPECT_TRUE(r == 0 ? expected == 0 && std::signbit(r) == std::signbit(x) : same(r, expected)) << x << ' ' << y;
      const float xf = static_cast<float>(x), yf = static_cast<float>(y);
      EXPECT_EQ(std::bit_cast<std::uint32_t>(__nv_remainderf(xf, yf)) << 1,
                std::bit_cast<std::uint32_t>(std::remainder(xf, yf)) << 1)
          << x << ' ' << y;
    }
  }
  // fmin and fmax: the sign of a zero is free on the host.
  for (double x : numbers<double>(20)) {
    for (double y : numbers<double>(20)) {
      const double low = __nv_fmin(x, y), high = __nv_fmax(x, y);
      EXPECT_TRUE(low == std::fmin(x, y) || (std::isnan(x) && std::isnan(y)));
      EXPECT_TRUE(high == std::fmax(x, y) || (std::isnan(x) && std::isnan(y)));
    }
  }
}

template <typename T>
void check_parts(T (*remquo)(T, T, int*), T (*frexp)(T, int*), T (*modf)(T, T*), T (*ldexp)(T, int), int (*ilogb)(T)) {
  for (T x : numbers<T>(200)) {
    int e = 0, expected_e = 0;
    T whole = 0, expected_whole = 0;
    EXPECT_TRUE(same(frexp(x, &e), std::frexp(x, &expected_e))) << x;
    if (std::isfinite(x)) {
      EXPECT_EQ(e, expected_e) << x;
    }
    EXPECT_TRUE(same(modf(x, &whole), std::modf(x, &expected_whole))) << x;
    EXPECT_TRUE(same(whole, expected_whole)) << x;
    if (std::isfinite(x)) {
      EXPECT_EQ(ilogb(x), std::ilogb(x)) << x;
    }
    for (int n : {0,    1,   -1,   23,   -24,  60,   -60,   126,   127,   128,  -126,  -127,       -149,
                  -150, 300, -300, 1000, 1023, 1024, -1022, -1023, -1074, 2000, -2098, 2147483647, -2147483647 - 1}) {
      EXPECT_TRUE(same(ldexp(x, n), std::ldexp(x, n))) << x << ' ' << n;
    }
  }
  for (T x : numbers<T>(60)) {
    for (T y : numbers<T>(60)) {
      int q = 0, expected_q = 0;
      const T r = remquo(x, y, &q), expected = std::remquo(x, y, &expected_q);
      EXPECT_TRUE(same(r, expected)) << x << ' ' << y;
      if (std::isfinite(x) && !std::isnan(y) && y != 0) {
        EXPECT_EQ(q & 7, expected_q & 7) << x << ' ' << y;
        EXPECT_TRUE(q == 0 || (q < 0) == (std::signbit(x) != std::signbit(y)));
      }
    }
  }
}
TEST(Exact, Parts) {
  check_parts<float>(__nv_remquof, __nv_frexpf, __nv_modff, __nv_ldexpf, __nv_ilogbf);
  check_parts<double>(__nv_remquo, __nv_frexp, __nv_modf, __nv_ldexp, __nv_ilogb);
  EXPECT_EQ(__nv_ilogb(0.0), std::numeric_limits<int>::min());
  EXPECT_EQ(__nv_ilogbf(INFINITY), std::numeric_limits<int>::max());
  EXPECT_EQ(__nv_scalbn(3.0, 2), 12.0);
}

TEST(Exact, Classification) {
  for (double x : numbers<double>(50)) {
    const float f = static_cast<float>(x);
    EXPECT_EQ(__nv_isnand(x) != 0, std::isnan(x));
    EXPECT_EQ(__nv_isinfd(x) != 0, std::isinf(x));
    EXPECT_EQ(__nv_isfinited(x) != 0, std::isfinite(x));
    EXPECT_EQ(__nv_signbitd(x) != 0, std::signbit(x));
    EXPECT_EQ(__nv_isnanf(f) != 0, std::isnan(f));
    EXPECT_EQ(__nv_isinff(f) != 0, std::isinf(f));
    EXPECT_EQ(__nv_finitef(f) != 0, std::isfinite(f));
    EXPECT_EQ(__nv_signbitf(f) != 0, std::signbit(f));
  }
  const signed char text[] = {'0', 'x', '1', '2', 0};
  EXPECT_EQ(std::bit_cast<std::uint64_t>(__nv_nan(text)), 0x7ff8000000000012ull);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(__nv_nanf(text)), 0x7fc00012u);
}

TEST(Exact, Integers) {
  const int low = std::numeric_limits<int>::min();
  const std::vector<int> values = {0, 1, -1, 2, -2, 7, 255, 256, 0x12345678, -0x1234567, 0x7fffffff, low};
  for (int a : values) {
    const auto u = static_cast<unsigned>(a);
    EXPECT_EQ(__nv_popc(u), std::popcount(u));
    EXPECT_EQ(__nv_clz(a), std::countl_zero(u));
    EXPECT_EQ(__nv_ffs(a), a ? std::countr_zero(u) + 1 : 0);
    const long long wide = (static_cast<long long>(a) << 29) ^ a;
    const auto uwide = static_cast<unsigned long long>(wide);
    EXPECT_EQ(__nv_popcll(uwide), std::popcount(uwide));
    EXPECT_EQ(__nv_clzll(wide), std::countl_zero(uwide));
    EXPECT_EQ(__nv_ffsll(wide), wide ? std::countr_zero(uwide) + 1 : 0);
    for (int b : values) {
      const auto v = static_cast<unsigned>(b);
      EXPECT_EQ(__nv_mulhi(a, b), static_cast<int>((static_cast<long long>(a) * b) >> 32));
      EXPECT_EQ(__nv_umulhi(u, v), static_cast<unsigned>((static_cast<unsigned long long>(u) * v) >> 32));
      EXPECT_EQ(__nv_hadd(a, b), static_cast<int>((static_cast<long long>(a) + b) >> 1));
      EXPECT_EQ(__nv_rhadd(a, b), static_cast<int>((static_cast<long long>(a) + b + 1) >> 1));
      EXPECT_EQ(static_cast<unsigned>(__nv_uhadd(u, v)),
                static_cast<unsigned>((static_cast<unsigned long long>(u) + v) >> 1));
      EXPECT_EQ(__nv_urhadd(u, v), static_cast<unsigned>((static_cast<unsigned long long>(u) + v + 1) >> 1));
      EXPECT_EQ(static_cast<unsigned>(__nv_sad(a, b, 5)),
                static_cast<unsigned>(std::llabs(static_cast<long long>(a) - b)) + 5);
      EXPECT_EQ(__nv_usad(u, v, 5), (u > v ? u - v : v - u) + 5);
      EXPECT_EQ(__nv_min(a, b), std::min(a, b));
      EXPECT_EQ(__nv_umax(u, v), std::max(u, v));
      const long long other = (static_cast<long long>(b) << 31) + b;
      EXPECT_EQ(__nv_mul64hi(wide, other), static_cast<long long>((static_cast<__int128>(wide) * other) >> 64));
      EXPECT_EQ(__nv_umul64hi(uwide, static_cast<unsigned long long>(other)),
                static_cast<unsigned long long>(
                    (static_cast<unsigned __int128>(uwide) * static_cast<unsigned long long>(other)) >> 64));
    }
  }
  EXPECT_EQ(__nv_abs(low), low);
  EXPECT_EQ(__nv_brev(1), low);
  EXPECT_EQ(__nv_brevll(2), 1ll << 62);
  EXPECT_EQ(__nv_mul24(-1, 3), -3);
  EXPECT_EQ(__nv_umul24(0xff000002u, 3), 6u);
  EXPECT_EQ(__nv_byte_perm(0x33221100, 0x77665544, 0x7531), 0x77553311);
  EXPECT_EQ(__nv_byte_perm(0x80, 0, 0x8888), static_cast<int>(0x80808080u));  // bit 3 of a selector is ignored
}

TEST(Exact, PackedLanes) {
  std::mt19937 random(3);
  for (int i = 0; i < 2000; ++i) {
    const int a = static_cast<int>(random()), b = i % 3 ? static_cast<int>(random()) : a;
    int eq2 = 0, maxu4 = 0, addss4 = 0, subus2 = 0, avgu4 = 0, sadu4 = 0, setlts2 = 0;
    for (int k = 0; k < 32; k += 16) {
      const int x = static_cast<std::int16_t>(a >> k), y = static_cast<std::int16_t>(b >> k);
      const int ux = x & 0xffff, uy = y & 0xffff;
      eq2 |= (x == y ? 0xffff : 0) << k;
      subus2 |= std::max(ux - uy, 0) << k;
      setlts2 |= (x < y) << k;
    }
    for (int k = 0; k < 32; k += 8) {
      const int x = static_cast<std::int8_t>(a >> k), y = static_cast<std::int8_t>(b >> k);
      const int ux = x & 0xff, uy = y & 0xff;
      maxu4 |= std::max(ux, uy) << k;
      addss4 |= (std::min(std::max(x + y, -128), 127) & 0xff) << k;
      avgu4 |= ((ux + uy + 1) / 2) << k;
      sadu4 += std::abs(ux - uy);
    }
    EXPECT_EQ(__nv_vcmpeq2(a, b), eq2);
    EXPECT_EQ(__nv_vmaxu4(a, b), maxu4);
    EXPECT_EQ(__nv_vaddss4(a, b), addss4);
    EXPECT_EQ(__nv_vsubus2(a, b), subus2);
    EXPECT_EQ(__nv_vavgu4(a, b), avgu4);
    EXPECT_EQ(__nv_vsadu4(a, b), sadu4);
    EXPECT_EQ(__nv_vsetlts2(a, b), setlts2);
  }
  EXPECT_EQ(__nv_vnegss2(static_cast<int>(0x80000001u)), 0x7fffffff);
  EXPECT_EQ(__nv_vabs4(static_cast<int>(0x80ff01feu)), static_cast<int>(0x80010102u));
}

TEST(Exact, Conversions) {
  EXPECT_EQ(__nv_float2int_rn(2.5f), 2);
  EXPECT_EQ(__nv_float2int_ru(2.1f), 3);
  EXPECT_EQ(__nv_float2int_rd(-2.1f), -3);
  EXPECT_EQ(__nv_float2int_rz(-2.9f), -2);
  EXPECT_EQ(__nv_float2int_rz(3e9f), 2147483647);  // clamped
  EXPECT_EQ(__nv_double2int_rz(-3e9), std::numeric_limits<int>::min());
  EXPECT_EQ(__nv_float2int_rz(NAN), 0);
  EXPECT_EQ(__nv_double2int_rz(NAN), std::numeric_limits<int>::min());
  EXPECT_EQ(__nv_double2uint_rn(NAN), 0x80000000u);
  EXPECT_EQ(__nv_float2uint_rz(-1.5f), 0u);
  EXPECT_EQ(__nv_double2uint_rn(4294967294.5), 4294967294u);
  EXPECT_EQ(__nv_double2ll_rd(-1e-300), -1);
  EXPECT_EQ(__nv_double2ull_rz(1e30), ~0ull);
  EXPECT_EQ(__nv_float2ull_rz(0x1.8p63f), 0xc000000000000000ull);
  EXPECT_EQ(__nv_llrint(2.5), 2);
  EXPECT_EQ(__nv_llround(2.5), 3);
  EXPECT_EQ(__nv_llroundf(-0.5f), -1);
  EXPECT_EQ(__nv_int2float_rz(16777219), 16777218.0f);
  EXPECT_EQ(__nv_int2float_ru(16777217), 16777218.0f);
  EXPECT_EQ(__nv_int2float_rn(16777219), 16777220.0f);
  EXPECT_EQ(__nv_uint2float_rd(0xffffffffu), 4294967040.0f);
  EXPECT_EQ(__nv_ll2float_rn(0x4000004000000001ll), static_cast<float>(0x4000004000000001ll));
  EXPECT_EQ(__nv_ull2double_rz(~0ull), 0x1.fffffffffffffp63);
  EXPECT_EQ(__nv_ull2double_ru(~0ull), 0x1p64);
  EXPECT_EQ(__nv_ll2double_rd(-((1ll << 53) + 1)), -0x1.0000000000001p53);
  EXPECT_EQ(__nv_double2float_ru(1.0 + 1e-12), 0x1.000002p0f);
  EXPECT_EQ(__nv_double2float_rz(1e300), std::numeric_limits<float>::max());
  EXPECT_EQ(__nv_double2hiint(1.0), 0x3ff00000);
  EXPECT_EQ(__nv_double2loint(std::bit_cast<double>(0x123456789abcdef0ull)), static_cast<int>(0x9abcdef0u));
  EXPECT_EQ(__nv_hiloint2double(0x3ff00000, 0), 1.0);
  EXPECT_EQ(__nv_float_as_int(-0.0f), std::numeric_limits<int>::min());
  EXPECT_EQ(__nv_uint_as_float(0x3f800000u), 1.0f);
  EXPECT_EQ(__nv_saturatef(NAN), 0.0f);
  EXPECT_EQ(__nv_saturatef(1.5f), 1.0f);
  EXPECT_EQ(__nv_float2half_rn(65519.0f), 0x7bff);
  EXPECT_EQ(__nv_float2half_rn(65520.0f), 0x7c00);
  EXPECT_EQ(__nv_float2half_rn(0x1p-25f), 0);
  EXPECT_EQ(__nv_float2half_rn(-0x1.8p-25f), 0x8001);
  for (int i = 0; i < 65536; ++i) {
    const float f = __nv_half2float(static_cast<unsigned short>(i));
    if (!std::isnan(f)) {
      EXPECT_EQ(__nv_float2half_rn(f), i);
    }
  }
}

TEST(Exact, RoundingModes) {
  EXPECT_EQ(__nv_fadd_ru(1.0f, 1e-30f), 0x1.000002p0f);
  EXPECT_EQ(__nv_fadd_rd(1.0f, 1e-30f), 1.0f);
  EXPECT_EQ(__nv_fsub_rz(1.0f, 1e-30f), 0x1.fffffep-1f);
  EXPECT_EQ(__nv_fmul_rn(0x1.000002p0f, 0x1.000002p0f), 0x1.000004p0f);
  EXPECT_EQ(__nv_fdiv_ru(1.0f, 3.0f), 0x1.555556p-2f);
  EXPECT_EQ(__nv_fdiv_rd(1.0f, 3.0f), 0x1.555554p-2f);
  EXPECT_EQ(__nv_fmaf_rz(0x1.000002p0f, 0x1.000002p0f, -1.0f), 0x1.000001p-22f);
  EXPECT_EQ(__nv_fsqrt_rd(2.0f), 0x1.6a09e6p0f);
  EXPECT_EQ(__nv_fsqrt_ru(2.0f), 0x1.6a09e8p0f);
  EXPECT_EQ(__nv_frcp_rz(3.0f), 0x1.555554p-2f);
  EXPECT_EQ(__nv_frsqrt_rn(4.0f), 0.5f);
  EXPECT_EQ(__nv_dadd_ru(1.0, 1e-300), 0x1.0000000000001p0);
  EXPECT_EQ(__nv_dmul_rz(0x1.0000000000001p0, 0x1.0000000000001p0), 0x1.0000000000002p0);
  EXPECT_EQ(__nv_ddiv_rd(2.0, 3.0), 0x1.5555555555555p-1);
  EXPECT_EQ(__nv_ddiv_ru(2.0, 3.0), 0x1.5555555555556p-1);
  EXPECT_EQ(__nv_drcp_rn(4.0), 0.25);
  EXPECT_EQ(__nv_dsqrt_ru(2.0), 0x1.6a09e667f3bcdp0);
  EXPECT_EQ(__nv_fma_rn(0x1.0000000000001p0, 0x1.0000000000001p0, -1.0), 0x1.00000000000008p-51);
}

// The fast forms have the formula's shape; how exact they are is the instruction's matter.
TEST(Exact, FastForms) {
  for (float x : {0.25f, 0.75f, 1.5f, 3.0f}) {
    float s, c;
    __nv_fast_sincosf(x, &s, &c);
    EXPECT_NEAR(s, std::sin(x), 1e-6);
    EXPECT_NEAR(c, std::cos(x), 1e-6);
    EXPECT_NEAR(__nv_fast_sinf(x), std::sin(x), 1e-6);
    EXPECT_NEAR(__nv_fast_tanf(x), std::tan(x), 1e-5);
    EXPECT_NEAR(__nv_fast_expf(x), std::exp(x), 1e-5);
    EXPECT_NEAR(__nv_fast_exp10f(x), std::pow(10.0f, x), 1e-3);
    EXPECT_NEAR(__nv_fast_logf(x), std::log(x), 1e-6);
    EXPECT_NEAR(__nv_fast_log2f(x), std::log2(x), 1e-6);
    EXPECT_NEAR(__nv_fast_log10f(x), std::log10(x), 1e-6);
    EXPECT_NEAR(__nv_fast_powf(x, 2.5f), std::pow(x, 2.5f), 1e-4);
    EXPECT_NEAR(__nv_fast_fdividef(x, 3.0f), x / 3.0f, 1e-6);
  }
  EXPECT_EQ(__nv_powi(1.5, 3), 3.375);
  EXPECT_EQ(__nv_powif(2.0f, -3), 0.125f);
  EXPECT_EQ(__nv_powi(-2.0, 3), -8.0);
}

}  // namespace
}  // namespace heddle::libdevice
