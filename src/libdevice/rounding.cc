// Rounding to integers, taking numbers apart, remainders, and the small comparisons: functions whose results are
// exact. Tested by exact_test.cc.
#include "libdevice/core.h"

namespace heddle::libdevice {
namespace {

template <typename T>
struct Format;
template <>
struct Format<float> {
  using Bits = u32;
  static constexpr int kMantissa = 23, kBias = 127;
};
template <>
struct Format<double> {
  using Bits = u64;
  static constexpr int kMantissa = 52, kBias = 1023;
};
template <typename T>
inline constexpr T kBigScale = sizeof(T) == 4 ? T(0x1p25) : T(0x1p54);
template <typename T>
inline constexpr int kBigShift = sizeof(T) == 4 ? 25 : 54;
template <typename T>
inline constexpr T kTiniest = sizeof(T) == 4 ? T(0x1p-126) : T(0x1p-1022);
template <typename T>
inline constexpr T kInfinity = sizeof(T) == 4 ? T(kInfF) : T(kInf);

// Round half away from zero.
template <typename T>
inline T round_away(T x) {
  const T t = trunc(x);
  return fabs(x - t) >= T(0.5) ? t + copysign(T(1), x) : copysign(t, x);
}

template <typename T>
inline T load_exponent(T x, s32 n) {
  // First products by a power so large that only the last one can round.
  constexpr int kMax = Format<T>::kBias, kMin = 1 - kMax;
  constexpr int kDown = -kMin - Format<T>::kMantissa - 1;
  for (int i = 0; i < 2; ++i) {
    const bool high = n > kMax, low = n < kMin;
    x = high ? x * exp2i<T>(kMax) : low ? x * exp2i<T>(-kDown) : x;
    n = high ? n - kMax : low ? n + kDown : n;
  }
  n = n > kMax ? kMax : n < kMin ? kMin : n;
  return x * exp2i<T>(n);
}

// Exponent of |x| as in frexp minus one, for finite x other than 0.
template <typename T>
inline s32 exponent_of(T x) {
  const bool tiny = fabs(x) < kTiniest<T>;
  const T y = tiny ? x * kBigScale<T> : x;
  const s32 e = static_cast<s32>((bits(y) >> Format<T>::kMantissa) & (2 * Format<T>::kBias + 1)) - Format<T>::kBias;
  return tiny ? e - kBigShift<T> : e;
}

template <typename T>
inline T split_exponent(T x, int* exponent) {
  const bool regular = is_finite(x) & (x != 0);
  const s32 e = regular ? exponent_of(x) + 1 : 0;
  *exponent = e;
  const T y = fabs(x) < kTiniest<T> ? x * kBigScale<T> : x;
  const auto one_half = bits(T(0.5));
  const auto mask = (static_cast<typename Format<T>::Bits>(1) << Format<T>::kMantissa) - 1;
  const auto sign = bits(y) & ~(static_cast<typename Format<T>::Bits>(-1) >> 1);
  return regular ? from_bits((bits(y) & mask) | one_half | sign) : x;
}

template <typename T>
inline s32 integer_log(T x) {
  const s32 e = exponent_of(x);
  return ((x == 0) | is_nan(x)) ? -2147483647 - 1 : is_inf(x) ? 2147483647 : e;
}

template <typename T>
inline T float_log(T x) {
  const T magnitude = fabs(x), e = static_cast<T>(exponent_of(x));
  return x == 0 ? -kInfinity<T> : is_finite(x) ? e : magnitude;
}

template <typename T>
inline T next_after(T x, T y) {
  using Bits = typename Format<T>::Bits;
  const bool outward = (y > x) == (x > 0);
  const T next = from_bits(bits(x) + (outward ? 1 : static_cast<Bits>(-1)));
  const T smallest = copysign(from_bits(static_cast<Bits>(1)), y), sum = x + y;
  return either_nan(x, y) ? sum : x == y ? y : x == 0 ? smallest : next;
}

// |x| mod |y|. Subtracts multiples of y * 2^k as long as the quotient is too large for one exact step: each step's
// truncated quotient is at most one too large, and its remainder is representable.
template <typename T>
inline T positive_mod(T a, T b) {
  constexpr int kStep = Format<T>::kMantissa - 1;
  while (a >= b) {
    const s32 gap = exponent_of(a) - exponent_of(b);
    const T divisor = gap > kStep ? load_exponent(b, gap - kStep) : b;
    // Quotients of numbers near the ends of the range could leave it: both get the same exact scaling.
    const bool big = divisor > exp2i<T>(Format<T>::kBias - 2), small = divisor < exp2i<T>(4 - Format<T>::kBias);
    const T factor = big ? T(0.0625) : small ? kBigScale<T> : T(1);
    const T q = trunc(div(mul(a, factor), mul(divisor, factor)));
    T r = fma(-q, divisor, a);
    r = r < 0 ? r + divisor : r;
    a = r;
  }
  return a;
}

template <typename T>
inline T modulo(T x, T y) {
  const T a = fabs(x), b = fabs(y);
  if (!(a < kInfinity<T>) || !(b > 0)) return (x * y) / (x * y);
  return a < b ? x : copysign(positive_mod(a, b), x);
}

// The IEEE remainder (quotient rounded to nearest even) and the quotient's low three bits with its sign.
template <typename T>
inline T remainder_quotient(T x, T y, int* quotient) {
  const T a = fabs(x), b = fabs(y);
  *quotient = 0;
  if (!(a < kInfinity<T>) || !(b > 0)) return (x * y) / (x * y);
  if (b == kInfinity<T>) return x;
  // b * 8 may overflow; then a is less than 8 b already.
  const T b8 = b * 8;
  T r = b8 < kInfinity<T> ? positive_mod(a, b8) : a;
  s32 q = 0;
  for (int i = 2; i >= 0; --i) {
    const T step = b * static_cast<T>(1 << i);
    const bool take = r >= step;
    r = take ? r - step : r;
    q += take ? 1 << i : 0;
  }
  // Now 0 <= r < b; r > b/2 is asked without losing b's last bit.
  const T rest = b - r;
  const bool up = r > rest || (r == rest && (q & 1));
  r = up ? r - b : r;
  q = (q + (up ? 1 : 0)) & 7;
  *quotient = sign_bit(x) != sign_bit(y) ? -q : q;
  return r == 0 ? copysign(T(0), x) : sign_bit(x) ? -r : r;
}

template <typename T>
inline T split_fraction(T x, T* whole) {
  const T t = trunc(x);
  *whole = copysign(t, x);
  return copysign(is_inf(x) ? T(0) : x - t, x);
}

template <typename T>
inline T positive_difference(T a, T b) {
  const T difference = a - b, sum = a + b;
  return either_nan(a, b) ? sum : a > b ? difference : T(0);
}

template <typename T>
inline s64 round_to_s64(T x) {
  return to_s64<Round::kZero>(round_away(x));
}

// The payload of nan("..."): digits in C's notation for unsigned numbers.
inline u64 parse_payload(const signed char* text) {
  u64 value = 0, base = 10;
  if (*text == '0') {
    base = 8;
    ++text;
    if ((*text | 32) == 'x') {
      base = 16;
      ++text;
    }
  }
  for (; *text; ++text) {
    const int c = *text, low = c | 32;
    const int digit = c >= '0' && c <= '9' ? c - '0' : low >= 'a' && low <= 'f' ? low - 'a' + 10 : 99;
    if (static_cast<u64>(digit) >= base) return 0;
    value = value * base + static_cast<u64>(digit);
  }
  return value;
}

}  // namespace
}  // namespace heddle::libdevice

using namespace heddle::libdevice;

#define BOTH(name, call)                                \
  HEDDLE_NV(double, name)(double a) { return call(a); } \
  HEDDLE_NV(float, name##f)(float a) { return call(a); }

HEDDLE_NV(double, fabs)(double a) { return __builtin_fabs(a); }
HEDDLE_NV(float, fabsf)(float a) { return __builtin_fabsf(a); }
HEDDLE_NV(double, copysign)(double a, double b) { return __builtin_copysign(a, b); }
HEDDLE_NV(float, copysignf)(float a, float b) { return __builtin_copysignf(a, b); }
HEDDLE_NV(double, fma)(double a, double b, double c) { return __builtin_fma(a, b, c); }
HEDDLE_NV(float, fmaf)(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
HEDDLE_NV(double, fmin)(double a, double b) { return __builtin_fmin(a, b); }
HEDDLE_NV(float, fminf)(float a, float b) { return __builtin_fminf(a, b); }
HEDDLE_NV(double, fmax)(double a, double b) { return __builtin_fmax(a, b); }
HEDDLE_NV(float, fmaxf)(float a, float b) { return __builtin_fmaxf(a, b); }
HEDDLE_NV(double, ceil)(double a) { return __builtin_ceil(a); }
HEDDLE_NV(float, ceilf)(float a) { return __builtin_ceilf(a); }
HEDDLE_NV(double, sqrt)(double a) { return __builtin_sqrt(a); }
// The command line may ask for the approximate instruction here.
HEDDLE_NV(float, sqrtf)(float a) { return __builtin_sqrtf(a); }
BOTH(floor, floor)
BOTH(trunc, trunc)
BOTH(rint, rint)
BOTH(nearbyint, rint)
BOTH(round, round_away)

HEDDLE_NV(int, finitef)(float a) { return is_finite(a); }
HEDDLE_NV(int, isfinited)(double a) { return is_finite(a); }
HEDDLE_NV(int, isinff)(float a) { return is_inf(a); }
HEDDLE_NV(int, isinfd)(double a) { return is_inf(a); }
HEDDLE_NV(int, isnanf)(float a) { return is_nan(a); }
HEDDLE_NV(int, isnand)(double a) { return is_nan(a); }
HEDDLE_NV(int, signbitf)(float a) { return sign_bit(a); }
HEDDLE_NV(int, signbitd)(double a) { return sign_bit(a); }

HEDDLE_NV(long long, llrint)(double a) { return to_s64<Round::kNearest>(a); }
HEDDLE_NV(long long, llrintf)(float a) { return to_s64<Round::kNearest>(a); }
HEDDLE_NV(long long, llround)(double a) { return round_to_s64(a); }
HEDDLE_NV(long long, llroundf)(float a) { return round_to_s64(a); }

HEDDLE_NV(double, ldexp)(double a, int n) { return load_exponent(a, n); }
HEDDLE_NV(float, ldexpf)(float a, int n) { return load_exponent(a, n); }
HEDDLE_NV(double, scalbn)(double a, int n) { return load_exponent(a, n); }
HEDDLE_NV(float, scalbnf)(float a, int n) { return load_exponent(a, n); }
HEDDLE_NV(double, frexp)(double a, int* e) { return split_exponent(a, e); }
HEDDLE_NV(float, frexpf)(float a, int* e) { return split_exponent(a, e); }
HEDDLE_NV(double, modf)(double a, double* whole) { return split_fraction(a, whole); }
HEDDLE_NV(float, modff)(float a, float* whole) { return split_fraction(a, whole); }
HEDDLE_NV(int, ilogb)(double a) { return integer_log(a); }
HEDDLE_NV(int, ilogbf)(float a) { return integer_log(a); }
HEDDLE_NV(double, logb)(double a) { return float_log(a); }
HEDDLE_NV(float, logbf)(float a) { return float_log(a); }
HEDDLE_NV(double, nextafter)(double a, double b) { return next_after(a, b); }
HEDDLE_NV(float, nextafterf)(float a, float b) { return next_after(a, b); }
HEDDLE_NV(double, fdim)(double a, double b) { return positive_difference(a, b); }
HEDDLE_NV(float, fdimf)(float a, float b) { return positive_difference(a, b); }

HEDDLE_NV(double, fmod)(double a, double b) { return modulo(a, b); }
HEDDLE_NV(float, fmodf)(float a, float b) { return modulo(a, b); }
HEDDLE_NV(double, remainder)(double a, double b) {
  int quotient;
  return remainder_quotient(a, b, &quotient);
}
HEDDLE_NV(float, remainderf)(float a, float b) {
  int quotient;
  return remainder_quotient(a, b, &quotient);
}
HEDDLE_NV(double, remquo)(double a, double b, int* quotient) { return remainder_quotient(a, b, quotient); }
HEDDLE_NV(float, remquof)(float a, float b, int* quotient) { return remainder_quotient(a, b, quotient); }

HEDDLE_NV(double, nan)(const signed char* text) {
  return from_bits(0x7ff8000000000000ull | (parse_payload(text) & 0x7ffffffffffffull));
}
HEDDLE_NV(float, nanf)(const signed char* text) {
  return from_bits(static_cast<u32>(0x7fc00000u | (parse_payload(text) & 0x3fffffu)));
}
