// The device math library on its way through the whole compiler: clang links the bitcode and writes PTX (without
// contraction), our compiler runs that, and every function must give the bits of the library's host build, which
// src/libdevice measures. Functions that stand for an approximate instruction are compared roughly.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/kernel_runner.h"

#define __DEVICE__
#define CUDA_VERSION 9000
#include HEDDLE_LIBDEVICE_DECLARES

namespace heddle::test {
namespace {

constexpr int kCount = 256;

template <typename T>
std::vector<T> inputs(int argument, bool small) {
  std::mt19937_64 random(100 + argument);
  std::vector<T> v;
  if constexpr (std::is_floating_point_v<T>) {
    using L = std::numeric_limits<T>;
    const T special[] = {0,      L::denorm_min(), L::min(), L::epsilon(), T(0.5),   T(1),          T(1.5),        T(2),
                         T(2.5), T(10),           T(1e9),   T(1e30),      L::max(), L::infinity(), L::quiet_NaN()};
    constexpr int kSpecial = static_cast<int>(std::size(special));
    for (int i = 0; i < kCount / 2; ++i) {
      const T x = special[(argument ? i / 5 : i) % kSpecial];
      v.push_back(i & 1 ? -x : x);
    }
    while (v.size() < kCount) {
      const double ranges[] = {1, 10, 300, 1e12};
      v.push_back(
          static_cast<T>(static_cast<double>(static_cast<long long>(random())) * 0x1p-63 * ranges[random() % 4]));
    }
  } else {
    while (v.size() < kCount) {
      const auto x = random();
      v.push_back(
          static_cast<T>(small || v.size() % 2 ? static_cast<long long>(x % 81) - 40 : static_cast<long long>(x)));
    }
  }
  return v;
}

template <typename T>
bool agree(T have, T want, bool exact) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(want)) return std::isnan(have);
    if (exact) return have == want && std::signbit(have) == std::signbit(want);
    if (std::fabs(want) < 1e-37 || std::fabs(want) > 1e37 || !std::isfinite(have)) return true;
    return std::fabs(have - want) <= 2e-4 * std::fabs(want) + 1e-6;
  } else {
    return have == want;
  }
}

const LoadedModule* module() {
  static const std::unique_ptr<LoadedModule> loaded = [] {
    std::ifstream file(HEDDLE_DEVICE_MATH_PTX);
    std::stringstream text;
    text << file.rdbuf();
    static const std::string ptx = text.str();
    std::string error;
    auto result = LoadedModule::load(ptx, &error);
    EXPECT_TRUE(result) << error;
    return result;
  }();
  return loaded.get();
}

template <typename R, typename... A, typename F>
void check(const char* name, const EngineVariant& engine, F function) {
  const std::string text = name;
  // Bessel functions take as many steps as their order is high.
  const bool small = text == "jn" || text == "jnf" || text == "yn" || text == "ynf";
  const bool exact = !text.starts_with("fast_") && text != "rsqrtf" && text != "rcp64h";
  const auto values = [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::tuple<std::vector<A>...>{inputs<A>(static_cast<int>(I), small)...};
  }(std::index_sequence_for<A...>{});
  std::vector<R> out(kCount);
  std::string error;
  bool no_jit = false;
  const auto kernel = module()->compile("k_" + text, engine.variant, &error, &no_jit);
  if (no_jit) GTEST_SKIP() << "the JIT library is not there";
  ASSERT_TRUE(kernel) << error;
  LaunchSpec spec;
  spec.grid = {kCount / 32, 1, 1};
  spec.block = {32, 1, 1};
  spec.globals = module()->globals_of(*kernel);
  std::vector<const void*> pointers = {out.data()};
  std::apply([&](const auto&... v) { (pointers.push_back(v.data()), ...); }, values);
  spec.params.resize(8 * pointers.size());
  std::memcpy(spec.params.data(), pointers.data(), spec.params.size());
  const LaunchResult result = run_grid(*kernel, spec);
  ASSERT_TRUE(result.ok()) << result.what << ", line " << result.ptx_line;
  int differences = 0;
  for (int i = 0; i < kCount; ++i) {
    std::apply(
        [&](const auto&... v) {
          const R want = function(v[i]...);
          // The approximate instructions promise nothing for large arguments.
          const bool large = (... || (std::fabs(static_cast<double>(v[i])) > 3));
          if (!exact && large) return;
          // Which NaN a half gets is free.
          if (text == "float2half_rn" && (... || std::isnan(static_cast<double>(v[i])))) return;
          if (agree(out[i], want, exact) || ++differences > 3) return;
          std::ostringstream where;
          where.precision(17);
          ((where << v[i] << ' '), ...);
          where << "-> " << out[i] << " instead of " << want;
          ADD_FAILURE() << name << ' ' << where.str();
        },
        values);
  }
  EXPECT_EQ(differences, 0) << name << ", " << engine.name;
}

void check_all(const EngineVariant& engine) {
  ASSERT_TRUE(module());
#define CALL(name, result, ...) \
  check<result, __VA_ARGS__>(#name, engine, [](auto... a) -> result { return __nv_##name(a...); });
#include "device_math_calls.inc"
#undef CALL
}

TEST(DeviceMath, Interpreted) { check_all(engine_variants({32, 1, 1}).front()); }
TEST(DeviceMath, GeneratedCode) { check_all(engine_variants({32, 1, 1}).back()); }

}  // namespace
}  // namespace heddle::test
