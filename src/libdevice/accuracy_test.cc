// Measures the device math library against glibc's wider types (reference.h), compiled for the host from the same
// sources. Bounds are those of the mathematical functions appendix of NVIDIA's CUDA C++ programming guide: the
// difference in ulps from the correctly rounded result. HEDDLE_LIBDEVICE_POINTS sets the points per function
// (default 12000, about 10 s in all).
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "libdevice/reference.h"

#define __DEVICE__
#define CUDA_VERSION 9000
#include HEDDLE_LIBDEVICE_DECLARES

namespace heddle::libdevice {
namespace {

namespace ref = reference;

template <typename T>
using WideOf = std::conditional_t<std::is_same_v<T, float>, ref::Wide, ref::Quad>;
template <typename T>
using IntOf = std::conditional_t<std::is_same_v<T, float>, std::int32_t, std::int64_t>;

int points() {
  const char* text = std::getenv("HEDDLE_LIBDEVICE_POINTS");
  return text ? std::atoi(text) : 12000;
}

// Neighbouring floats are neighbouring integers; -0 and +0 coincide.
template <typename T>
IntOf<T> ordered(T x) {
  const auto i = std::bit_cast<IntOf<T>>(x);
  return i < 0 ? std::numeric_limits<IntOf<T>>::min() - i : i;
}
template <typename T>
T unordered(IntOf<T> i) {
  return std::bit_cast<T>(i < 0 ? static_cast<IntOf<T>>(std::numeric_limits<IntOf<T>>::min() - i) : i);
}
template <typename T>
double ulps(T result, WideOf<T> exact) {
  const T expected = static_cast<T>(exact);
  if (std::isnan(expected) || std::isnan(result)) return std::isnan(expected) && std::isnan(result) ? 0 : 1e30;
  return std::fabs(static_cast<double>(static_cast<__int128>(ordered(result)) - ordered(expected)));
}

template <typename T>
class Sampler {
 public:
  Sampler(double low, double high) : low_(static_cast<T>(low)), high_(static_cast<T>(high)) {}
  // Half of the points are spread evenly over the numbers' values, half over their representations.
  T next(std::mt19937_64& random) const {
    if (random() & 1) {
      const T u = static_cast<T>(static_cast<double>(random() >> 11) * 0x1p-53);
      const T v = low_ * (1 - u) + high_ * u;
      return v < low_ ? low_ : v > high_ ? high_ : v;
    }
    const auto a = ordered(low_), b = ordered(high_);
    const auto span = static_cast<std::uint64_t>(b) - static_cast<std::uint64_t>(a);
    return unordered<T>(static_cast<IntOf<T>>(static_cast<std::uint64_t>(a) + (span ? random() % span : 0)));
  }

 private:
  T low_, high_;
};

template <typename T>
std::vector<T> specials() {
  using L = std::numeric_limits<T>;
  std::vector<T> values;
  for (T x : {T(0),
              L::denorm_min(),
              L::min(),
              std::nextafter(L::min(), T(0)),
              L::epsilon(),
              T(0.25),
              T(0.5),
              T(0.75),
              std::nextafter(T(1), T(0)),
              T(1),
              std::nextafter(T(1), T(2)),
              T(1.5),
              T(2),
              T(2.5),
              T(3),
              T(4),
              T(7),
              T(8),
              T(10),
              T(11.5),
              T(12),
              T(13),
              T(20),
              T(100),
              T(1e5),
              T(1e9),
              T(1e10),
              T(1e20),
              L::max(),
              L::infinity()}) {
    values.push_back(x);
    values.push_back(-x);
  }
  values.push_back(L::quiet_NaN());
  return values;
}

struct Worst {
  double error = 0;
  std::string where;
  template <typename T, typename... Args>
  void see(double e, T got, WideOf<T> want, Args... args) {
    if (e <= error) return;
    error = e;
    where.clear();
    char text[64];
    auto append = [&](const char* format, double v) {
      std::snprintf(text, sizeof text, format, v);
      where += text;
    };
    (append("%a ", static_cast<double>(args)), ...);
    append("-> %.17g ", static_cast<double>(got));
    append("instead of %.17g", static_cast<double>(want));
  }
};

// Of a build with fma instructions, on a processor without them: nothing can be measured.
bool can_run() {
#if defined(HEDDLE_NEEDS_FMA)
  return __builtin_cpu_supports("fma");
#else
  return true;
#endif
}

void report(const char* name, const Worst& worst, double bound) {
  std::printf("%-16s max %4.4g ulp (bound %g)  %s\n", name, worst.error, bound, worst.where.c_str());
  EXPECT_LE(worst.error, bound) << name << ": " << worst.where;
}

struct Range {
  double low, high;
};

// absolute > 0: from |x| >= 8 on an absolute error up to that is allowed instead. The special values in skipped have
// no bound.
template <typename T>
void check1(const char* name, double bound, T (*function)(T), WideOf<T> (*exact)(WideOf<T>), std::vector<Range> ranges,
            double absolute = 0, Range skipped = {0, 0}) {
  if (!can_run()) GTEST_SKIP();
  Worst worst;
  auto one = [&](T x) {
    const T got = function(x);
    const WideOf<T> want = exact(static_cast<WideOf<T>>(x));
    double e = ulps<T>(got, want);
    if (absolute > 0 && std::fabs(x) >= 8 && std::isfinite(got) &&
        std::fabs(static_cast<double>(static_cast<WideOf<T>>(got) - want)) <= absolute) {
      e = 0;
    }
    worst.see<T>(e, got, want, x);
  };
  for (T x : specials<T>()) {
    // The wide Bessel functions are slow and not needed for absurdly large arguments.
    if (absolute > 0 && std::isfinite(x) && std::fabs(x) > 1e6) continue;
    if (x > skipped.low && x < skipped.high) continue;
    one(x);
  }
  std::mt19937_64 random(42);
  for (const Range& r : ranges) {
    const Sampler<T> sampler(r.low, r.high);
    const int n = points() / static_cast<int>(ranges.size());
    for (int i = 0; i < n; ++i) one(sampler.next(random));
  }
  report(name, worst, bound);
}

template <typename T>
void check2(const char* name, double bound, T (*function)(T, T), WideOf<T> (*exact)(WideOf<T>, WideOf<T>),
            std::vector<std::pair<Range, Range>> ranges) {
  if (!can_run()) GTEST_SKIP();
  Worst worst;
  auto one = [&](T x, T y) {
    const T got = function(x, y);
    const WideOf<T> want = exact(static_cast<WideOf<T>>(x), static_cast<WideOf<T>>(y));
    worst.see<T>(ulps<T>(got, want), got, want, x, y);
  };
  for (T x : specials<T>())
    for (T y : specials<T>()) one(x, y);
  std::mt19937_64 random(43);
  for (const auto& [rx, ry] : ranges) {
    const Sampler<T> sx(rx.low, rx.high), sy(ry.low, ry.high);
    const int n = points() / static_cast<int>(ranges.size());
    for (int i = 0; i < n; ++i) {
      const T x = sx.next(random), y = sy.next(random);
      one(x, y);
    }
  }
  report(name, worst, bound);
}

// name, bound for float, bound for double, reference, ranges...
#define BOTH1(name, bound_f, bound_d, reference, ...)                                       \
  TEST(Accuracy, name) {                                                                    \
    check1<float>(#name "f", bound_f, __nv_##name##f, reference<ref::Wide>, {__VA_ARGS__}); \
    check1<double>(#name, bound_d, __nv_##name, reference<ref::Quad>, {__VA_ARGS__});       \
  }
// The same for references that are plain overloads.
#define OVERLOAD(name)   \
  template <typename R>  \
  R wide_##name(R x) {   \
    return ref::name(x); \
  }
OVERLOAD(exp)
OVERLOAD(exp2)
OVERLOAD(exp10)
OVERLOAD(expm1)
OVERLOAD(log)
OVERLOAD(log2)
OVERLOAD(log10)
OVERLOAD(log1p)
OVERLOAD(sin)
OVERLOAD(cos)
OVERLOAD(tan)
OVERLOAD(asin)
OVERLOAD(acos)
OVERLOAD(atan)
OVERLOAD(sinh)
OVERLOAD(cosh)
OVERLOAD(tanh)
OVERLOAD(asinh)
OVERLOAD(acosh)
OVERLOAD(atanh)
OVERLOAD(cbrt)
OVERLOAD(erf)
OVERLOAD(erfc)
OVERLOAD(lgamma)
OVERLOAD(tgamma)
OVERLOAD(j0)
OVERLOAD(j1)
OVERLOAD(y0)
OVERLOAD(y1)
OVERLOAD(sqrt)

constexpr Range kAll{-HUGE_VAL, HUGE_VAL}, kPositive{0, HUGE_VAL};

BOTH1(exp, 2, 1, wide_exp, {-1, 1}, {-104, 89}, {-750, 711}, kAll)
BOTH1(exp2, 2, 1, wide_exp2, {-1, 1}, {-150, 129}, {-1080, 1026}, kAll)
BOTH1(exp10, 2, 1, wide_exp10, {-1, 1}, {-46, 39}, {-325, 309}, kAll)
BOTH1(expm1, 1, 1, wide_expm1, {-1, 1}, {-40, 89}, {0, 711}, kAll)
BOTH1(log, 1, 1, wide_log, {0.5, 2}, {0.9, 1.1}, kPositive, kAll)
BOTH1(log2, 1, 1, wide_log2, {0.5, 2}, {0.9, 1.1}, kPositive, kAll)
BOTH1(log10, 2, 1, wide_log10, {0.5, 2}, {0.9, 1.1}, kPositive, kAll)
BOTH1(log1p, 1, 1, wide_log1p, {-1, 1}, {-0.5, 0.5}, kPositive, kAll)
BOTH1(sin, 2, 2, wide_sin, {-4, 4}, {-32768, 32768}, {-2e9, 2e9}, kAll)
BOTH1(cos, 2, 2, wide_cos, {-4, 4}, {-32768, 32768}, {-2e9, 2e9}, kAll)
BOTH1(tan, 4, 2, wide_tan, {-4, 4}, {-32768, 32768}, {-2e9, 2e9}, kAll)
BOTH1(sinpi, 1, 2, ref::sinpi, {-1, 1}, {-100, 100}, {-1e8, 1e8}, kAll)
BOTH1(cospi, 1, 2, ref::cospi, {-1, 1}, {-100, 100}, {-1e8, 1e8}, kAll)
BOTH1(asin, 2, 2, wide_asin, {-1, 1}, {0.4, 0.6}, {0.9, 1})
BOTH1(acos, 2, 2, wide_acos, {-1, 1}, {0.4, 0.6}, {0.9, 1}, {-1, -0.4})
BOTH1(atan, 2, 2, wide_atan, {-1, 1}, {-10, 10}, kAll)
BOTH1(sinh, 3, 2, wide_sinh, {-1, 1}, {-4, 4}, {-90, 90}, {-712, 712})
BOTH1(cosh, 2, 1, wide_cosh, {-1, 1}, {-4, 4}, {-90, 90}, {-712, 712})
BOTH1(tanh, 2, 1, wide_tanh, {-1, 1}, {-4, 4}, {-25, 25}, kAll)
BOTH1(asinh, 3, 2, wide_asinh, {-1, 1}, {-10, 10}, kAll)
BOTH1(acosh, 4, 2, wide_acosh, {1, 2}, {1, 10}, kPositive)
BOTH1(atanh, 3, 2, wide_atanh, {-1, 1}, {-0.5, 0.5})
BOTH1(cbrt, 1, 1, wide_cbrt, {-8, 8}, kAll)
BOTH1(rcbrt, 1, 1, ref::rcbrt, {-8, 8}, kAll)
BOTH1(sqrt, 0, 0, wide_sqrt, {0, 4}, kPositive)
BOTH1(rsqrt, 2, 1, ref::rsqrt, {0, 4}, kPositive)
BOTH1(erf, 2, 2, wide_erf, {-1, 1}, {-7, 7})
BOTH1(erfc, 4, 5, wide_erfc, {-1, 1}, {-7, 11}, {0, 28})
BOTH1(erfcx, 4, 4, ref::erfcx, {-1, 1}, {0, 25}, {-9, 100}, {-26.5, 0}, kPositive)
BOTH1(erfinv, 2, 5, ref::erfinv, {-1, 1}, {0.9, 1})
BOTH1(erfcinv, 4, 6, ref::erfcinv, {0, 2}, {0, 0.1}, {0.4, 1.6})
BOTH1(normcdf, 5, 5, ref::normcdf, {-1, 1}, {-14, 9}, {-38.5, 0})
BOTH1(normcdfinv, 5, 8, ref::normcdfinv, {0, 1}, {0, 0.1}, {0.2, 0.8})
BOTH1(tgamma, 5, 10, wide_tgamma, {-5, 5}, {0, 36}, {-42, 0}, {0, 172}, {-185, 0})
BOTH1(cyl_bessel_i0, 6, 6, ref::i0, {-8, 8}, {8, 30}, {0, 715})
BOTH1(cyl_bessel_i1, 6, 6, ref::i1, {-8, 8}, {8, 30}, {0, 715})

TEST(Accuracy, lgamma) {
  check1<float>("lgammaf", 6, __nv_lgammaf, wide_lgamma<ref::Wide>, {{-2.2, 3}, {0, 15}, {0, 1e38}, {-100, -10.01}}, 0,
                {-10.001, -2.264});
  check1<double>("lgamma", 4, __nv_lgamma, wide_lgamma<ref::Quad>,
                 {{-2.2, 3}, {0.9, 1.1}, {1.9, 2.1}, {0, 15}, {0, 1e308}, {-100, -23.01}}, 0, {-23.0001, -2.2637});
}

#define BESSEL(name, low)                                                                               \
  TEST(Accuracy, name) {                                                                                \
    check1<float>(#name "f", 9, __nv_##name##f, wide_##name<ref::Wide>, {{low, 8}, {8, 1000}}, 2.2e-6); \
    check1<double>(#name, 7, __nv_##name, wide_##name<ref::Quad>, {{low, 8}, {8, 1000}}, 5e-12);        \
  }
BESSEL(j0, -8)
BESSEL(j1, -8)
BESSEL(y0, 0)
BESSEL(y1, 0)

TEST(Accuracy, BesselOfOrderN) {
  if (!can_run()) GTEST_SKIP();
  for (int n : {0, 1, 2, 5, 17, 128, -1, -2, -3}) {
    for (double x :
         {0.0, 1e-200, 1e-9, 0.01, 0.5, 1.0, 2.0, 3.5, 10.0, 50.0, 127.0, 128.0, 200.0, 1000.0, -1.0, -10.0}) {
      EXPECT_NEAR(__nv_jn(n, x), static_cast<double>(ref::jn(n, x)), 5e-12) << n << ' ' << x;
      EXPECT_NEAR(__nv_jnf(n, static_cast<float>(x)), static_cast<double>(ref::jn(n, static_cast<float>(x))), 2.2e-6);
      if (x > 1.5 * std::abs(n) && x > 0) {
        EXPECT_NEAR(__nv_yn(n, x), static_cast<double>(ref::yn(n, x)), 5e-12) << n << ' ' << x;
      }
    }
  }
  EXPECT_EQ(__nv_yn(3, 0.0), -HUGE_VAL);
  EXPECT_EQ(__nv_yn(128, 1e-10), -HUGE_VAL);
  EXPECT_TRUE(std::isnan(__nv_yn(2, -1.0)));
  EXPECT_TRUE(std::isnan(__nv_jn(2, NAN)));
}

template <typename R>
R wide_pow(R x, R y) {
  return ref::pow(x, y);
}
template <typename R>
R wide_atan2(R y, R x) {
  return ref::atan2(y, x);
}
template <typename R>
R wide_hypot(R x, R y) {
  return ref::hypot(x, y);
}
template <typename R>
R wide_rhypot(R x, R y) {
  return 1 / ref::hypot(x, y);
}

#define BOTH2(name, bound_f, bound_d, reference, ...)                                       \
  TEST(Accuracy, name) {                                                                    \
    check2<float>(#name "f", bound_f, __nv_##name##f, reference<ref::Wide>, {__VA_ARGS__}); \
    check2<double>(#name, bound_d, __nv_##name, reference<ref::Quad>, {__VA_ARGS__});       \
  }
BOTH2(pow, 4, 2, wide_pow, {{0, 10}, {-40, 40}}, {{0.9, 1.1}, {-1000, 1000}}, {kPositive, {-2, 2}}, {kAll, kAll})
BOTH2(atan2, 3, 2, wide_atan2, {{-1, 1}, {-1, 1}}, {{-100, 100}, {-100, 100}}, {kAll, kAll})
BOTH2(hypot, 3, 2, wide_hypot, {{-1, 1}, {-1, 1}}, {{-100, 100}, {-100, 100}}, {kAll, kAll})
BOTH2(rhypot, 2, 1, wide_rhypot, {{-1, 1}, {-1, 1}}, {{-100, 100}, {-100, 100}}, {kAll, kAll})

template <typename T>
void check_norms(double bound, double inverse_bound, T (*n3)(T, T, T), T (*r3)(T, T, T), T (*n4)(T, T, T, T),
                 T (*r4)(T, T, T, T), T (*n)(int, const T*), T (*r)(int, const T*)) {
  if (!can_run()) GTEST_SKIP();
  Worst direct, inverse;
  std::mt19937_64 random(44);
  constexpr double kScale = sizeof(T) == 4 ? 1e19 : 1e154;
  for (const Sampler<T>& sampler : {Sampler<T>(-1, 1), Sampler<T>(-kScale, kScale)}) {
    for (int i = 0; i < points() / 2; ++i) {
      T v[4];
      for (T& x : v) x = sampler.next(random);
      using W = WideOf<T>;
      const W s3 = W(v[0]) * v[0] + W(v[1]) * v[1] + W(v[2]) * v[2], s4 = s3 + W(v[3]) * v[3];
      const W l3 = ref::sqrt(s3), l4 = ref::sqrt(s4);
      direct.see<T>(ulps<T>(n3(v[0], v[1], v[2]), l3), n3(v[0], v[1], v[2]), l3, v[0], v[1], v[2]);
      direct.see<T>(ulps<T>(n4(v[0], v[1], v[2], v[3]), l4), n4(v[0], v[1], v[2], v[3]), l4, v[0], v[1], v[2], v[3]);
      direct.see<T>(ulps<T>(n(4, v), l4), n(4, v), l4, v[0], v[1], v[2], v[3]);
      inverse.see<T>(ulps<T>(r3(v[0], v[1], v[2]), 1 / l3), r3(v[0], v[1], v[2]), 1 / l3, v[0], v[1], v[2]);
      inverse.see<T>(ulps<T>(r4(v[0], v[1], v[2], v[3]), 1 / l4), r4(v[0], v[1], v[2], v[3]), 1 / l4, v[0], v[1], v[2],
                     v[3]);
      inverse.see<T>(ulps<T>(r(3, v), 1 / l3), r(3, v), 1 / l3, v[0], v[1], v[2]);
    }
  }
  report(sizeof(T) == 4 ? "normNf" : "normN", direct, bound);
  report(sizeof(T) == 4 ? "rnormNf" : "rnormN", inverse, inverse_bound);
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  EXPECT_EQ(n3(nan, inf, 1), inf);
  EXPECT_EQ(r3(nan, -inf, 1), T(0));
  EXPECT_TRUE(std::isnan(n4(1, 2, nan, 3)));
  EXPECT_EQ(n(0, nullptr), T(0));
}
TEST(Accuracy, norms) {
  check_norms<float>(3, 2, __nv_norm3df, __nv_rnorm3df, __nv_norm4df, __nv_rnorm4df, __nv_normf, __nv_rnormf);
  check_norms<double>(2, 1, __nv_norm3d, __nv_rnorm3d, __nv_norm4d, __nv_rnorm4d, __nv_norm, __nv_rnorm);
}

// sincos and the fast forms of the same functions agree with the single ones.
TEST(Accuracy, sincos) {
  if (!can_run()) GTEST_SKIP();
  std::mt19937_64 random(45);
  const Sampler<double> sampler(-1e6, 1e6);
  for (int i = 0; i < 1000; ++i) {
    const double x = sampler.next(random);
    const float xf = static_cast<float>(x);
    double s, c;
    float sf, cf;
    __nv_sincos(x, &s, &c);
    EXPECT_EQ(s, __nv_sin(x));
    EXPECT_EQ(c, __nv_cos(x));
    __nv_sincosf(xf, &sf, &cf);
    EXPECT_EQ(sf, __nv_sinf(xf));
    EXPECT_EQ(cf, __nv_cosf(xf));
    __nv_sincospi(x, &s, &c);
    EXPECT_EQ(s, __nv_sinpi(x));
    EXPECT_EQ(c, __nv_cospi(x));
    __nv_sincospif(xf, &sf, &cf);
    EXPECT_EQ(sf, __nv_sinpif(xf));
    EXPECT_EQ(cf, __nv_cospif(xf));
  }
}

}  // namespace
}  // namespace heddle::libdevice
