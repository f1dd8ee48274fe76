#include "compiler/interp/soft_float.h"

#include <gtest/gtest.h>

#include <bit>
#include <cfenv>
#include <cmath>
#include <random>
#include <vector>

namespace heddle::interp {
namespace {

using ir::Rounding;
using ir::Type;

struct Mode {
  Rounding rounding;
  int fenv;
};
constexpr Mode kModes[] = {{Rounding::kRn, FE_TONEAREST},
                           {Rounding::kRz, FE_TOWARDZERO},
                           {Rounding::kRm, FE_DOWNWARD},
                           {Rounding::kRp, FE_UPWARD}};

template <class Float, class Word>
struct Values {
  std::mt19937_64 random{7};
  std::vector<Word> special;
  Values() {
    const int bits = sizeof(Word) * 8;
    const int mantissa = bits == 32 ? 23 : 52;
    const Word exponent_mask = static_cast<Word>((Word{1} << (bits - 1)) - (Word{1} << mantissa));
    const Word sign = Word{1} << (bits - 1);
    for (const Word w :
         {Word{0}, Word{1}, static_cast<Word>((Word{1} << mantissa) - 1), static_cast<Word>(Word{1} << mantissa),
          exponent_mask, static_cast<Word>(exponent_mask - 1), static_cast<Word>(exponent_mask + 1),
          std::bit_cast<Word>(Float(1)), std::bit_cast<Word>(Float(1.5)), std::bit_cast<Word>(Float(0.1))}) {
      special.push_back(w);
      special.push_back(w | sign);
    }
  }
  Word next() {
    const auto r = random();
    if (r % 8 == 0) return special[(r >> 8) % special.size()];
    auto word = static_cast<Word>(random());
    if (r % 8 < 4) {  // exponents close to each other, so that sums cancel
      const Float f =
          std::ldexp(Float(1) + static_cast<Float>(word >> 12) / Float(1e9), static_cast<int>(r >> 8 & 15) - 8);
      return std::bit_cast<Word>(r & 0x10000 ? f : -f);
    }
    return word;
  }
};

template <class Word>
void expect_same(Word expected, std::uint64_t actual, Type type, const char* what) {
  if (decode(type, expected).is_nan()) {
    EXPECT_TRUE(decode(type, actual).is_nan()) << what;
  } else {
    EXPECT_EQ(expected, static_cast<Word>(actual)) << what << std::hex << " want " << +expected << " have " << actual;
  }
}

template <class Float, class Word>
void against_the_processor(Type type) {
  Values<Float, Word> values;
  for (int i = 0; i < 40000; ++i) {
    const Word wa = values.next(), wb = values.next(), wc = values.next();
    const volatile Float a = std::bit_cast<Float>(wa), b = std::bit_cast<Float>(wb), c = std::bit_cast<Float>(wc);
    const Number na = decode(type, wa), nb = decode(type, wb), nc = decode(type, wc);
    for (const Mode& mode : kModes) {
      std::fesetround(mode.fenv);
      const volatile Float sum = a + b, product = a * b, quotient = a / b, root = std::sqrt(a),
                           fused = std::fma(a, b, c);
      std::fesetround(FE_TONEAREST);
      const Encoding e{.rounding = mode.rounding};
      expect_same(std::bit_cast<Word>(Float(sum)), encode(type, add(na, nb, mode.rounding), e), type, "add");
      expect_same(std::bit_cast<Word>(Float(product)), encode(type, multiply(na, nb), e), type, "mul");
      expect_same(std::bit_cast<Word>(Float(quotient)), encode(type, divide(na, nb), e), type, "div");
      expect_same(std::bit_cast<Word>(Float(root)), encode(type, square_root(na), e), type, "sqrt");
      expect_same(std::bit_cast<Word>(Float(fused)), encode(type, add(multiply(na, nb), nc, mode.rounding), e), type,
                  "fma");
    }
    if (!std::isnan(a) && !std::isnan(b)) {
      EXPECT_EQ(compare(na, nb), a < b ? -1 : a > b ? 1 : 0);
    }
  }
}

TEST(SoftFloat, f32_equals_the_processor_in_all_roundings) { against_the_processor<float, std::uint32_t>(Type::kF32); }
TEST(SoftFloat, f64_equals_the_processor_in_all_roundings) { against_the_processor<double, std::uint64_t>(Type::kF64); }

TEST(SoftFloat, f64_to_f32_equals_the_processor) {
  Values<double, std::uint64_t> values;
  for (int i = 0; i < 40000; ++i) {
    std::uint64_t w = values.next();
    if (i % 2) w = (w & 0x800fffffffffffff) | (0x369ull + w % 300) << 52;  // around float's range, subnormals too
    const volatile double d = std::bit_cast<double>(w);
    for (const Mode& mode : kModes) {
      std::fesetround(mode.fenv);
      const volatile float f = static_cast<float>(d);
      std::fesetround(FE_TONEAREST);
      expect_same(std::bit_cast<std::uint32_t>(float(f)),
                  encode(Type::kF32, decode(Type::kF64, w), {.rounding = mode.rounding}), Type::kF32, "cvt");
    }
  }
}

TEST(SoftFloat, integers_equal_the_processor) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 40000; ++i) {
    const std::uint64_t u = random() >> (random() % 64);
    EXPECT_EQ(std::bit_cast<std::uint32_t>(static_cast<float>(u)), encode(Type::kF32, from_unsigned(u), {}));
    const auto s = static_cast<std::int64_t>(random() << (random() % 64));
    EXPECT_EQ(std::bit_cast<std::uint64_t>(static_cast<double>(s)), encode(Type::kF64, from_signed(s), {}));
    const double d = std::ldexp(static_cast<double>(s), -static_cast<int>(random() % 64));
    EXPECT_EQ(static_cast<std::uint64_t>(std::llrint(d)),
              to_integer(round_to_integral(from_double(d), Rounding::kRni), 64, true));
    EXPECT_EQ(static_cast<std::uint64_t>(static_cast<std::int64_t>(std::floor(d))),
              to_integer(round_to_integral(from_double(d), Rounding::kRmi), 64, true));
  }
  EXPECT_EQ(to_integer(from_double(1e30), 32, true), 0x7fffffffu);
  EXPECT_EQ(to_integer(from_double(-1e30), 32, true), 0x80000000u);
  EXPECT_EQ(to_integer(from_double(-1), 32, false), 0u);
  EXPECT_EQ(to_integer(from_double(300), 8, false), 255u);
  EXPECT_EQ(to_integer(Number::infinity(true), 64, true), 1ull << 63);
}

// Values from IEEE 754's and the OCP FP8 formats' definitions.
TEST(SoftFloat, small_formats) {
  EXPECT_EQ(encode(Type::kF16, from_double(65504), {}), 0x7bffu);
  EXPECT_EQ(encode(Type::kF16, from_double(65520), {}), 0x7c00u);
  EXPECT_EQ(encode(Type::kF16, from_double(65519.99), {}), 0x7bffu);
  EXPECT_EQ(encode(Type::kF16, from_double(0x1p-24), {}), 1u);
  EXPECT_EQ(encode(Type::kF16, from_double(0x1p-25), {}), 0u);
  EXPECT_EQ(encode(Type::kBF16, from_double(1.00390625), {}), 0x3f80u);  // a tie goes to even
  EXPECT_EQ(encode(Type::kBF16, from_double(1.01171875), {}), 0x3f82u);
  EXPECT_EQ(encode(Type::kTF32, from_double(1 + 0x1p-11), {.rounding = Rounding::kRna}), 0x3f802000u);
  EXPECT_EQ(encode(Type::kTF32, from_double(1 + 0x1p-11), {}), 0x3f800000u);
  EXPECT_EQ(encode(Type::kE4M3, from_double(448), {.satfinite = true}), 0x7eu);
  EXPECT_EQ(encode(Type::kE4M3, from_double(1e9), {.satfinite = true}), 0x7eu);
  EXPECT_EQ(encode(Type::kE4M3, from_double(-0x1p-9), {.satfinite = true}), 0x81u);
  EXPECT_EQ(encode(Type::kE4M3, Number::nan(), {.satfinite = true}), 0x7fu);
  EXPECT_EQ(encode(Type::kE5M2, from_double(57344), {.satfinite = true}), 0x7bu);
  EXPECT_EQ(encode(Type::kE5M2, Number::infinity(false), {.satfinite = true}), 0x7bu);
  EXPECT_TRUE(decode(Type::kE4M3, 0xff).is_nan());
  EXPECT_EQ(to_double(decode(Type::kE4M3, 0x7e)), 448.0);
  EXPECT_EQ(to_double(decode(Type::kE5M2, 0x01)), 0x1p-16);
}

TEST(SoftFloat, flushes_and_saturates) {
  EXPECT_TRUE(decode(Type::kF32, 0x807fffff, true).is_zero());
  EXPECT_EQ(encode(Type::kF32, from_double(-0x1p-127), {.ftz = true}), 0x80000000u);
  // Recorded on an H200: tests/ptx/f32_mul.ptx, and fma(-6e-22, 3e-30, 0x1p-126).
  EXPECT_EQ(encode(Type::kF32, multiply(decode(Type::kF32, 0x80800000), decode(Type::kF32, 0x3f7fffff)), {.ftz = true}),
            0x80000000u);
  EXPECT_EQ(
      encode(Type::kF32, add(from_double(-0x1p-170), decode(Type::kF32, 0x00800000), Rounding::kRn), {.ftz = true}),
      0x00800000u);
  EXPECT_EQ(encode(Type::kF32, from_double(-3), {.sat = true}), 0u);
  EXPECT_EQ(encode(Type::kF32, from_double(3), {.sat = true}), 0x3f800000u);
  EXPECT_EQ(encode(Type::kF32, Number::nan(), {.sat = true}), 0u);
}

}  // namespace
}  // namespace heddle::interp
