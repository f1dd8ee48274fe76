#include "compiler/interp/soft_float.h"

#include <bit>
#include <cstdlib>
#include <cstring>

namespace heddle::interp {
namespace {

using ir::Rounding;
using ir::Type;
using Kind = Number::Kind;

struct Format {
  int exponent_bits;
  int mantissa_bits;  ///< stored ones
  int shift;          ///< tf32: the low bits of the word that are not part of the number
  bool has_infinity;  ///< e4m3 has none, and only one NaN pattern
  std::uint64_t nan;
};

Format format_of(Type type) {
  switch (type) {
    case Type::kF16: return {5, 10, 0, true, 0x7fff};
    case Type::kBF16: return {8, 7, 0, true, 0x7fff};
    case Type::kF32: return {8, 23, 0, true, 0x7fffffff};
    case Type::kTF32: return {8, 10, 13, true, 0x7fffffff};
    case Type::kF64: return {11, 52, 0, true, 0x7ff8000000000000};
    case Type::kE4M3: return {4, 3, 0, false, 0x7f};
    case Type::kE5M2: return {5, 2, 0, true, 0x7f};
    default: std::abort();  // only called for the scalar float types
  }
}

int top_bit(u128 value) {
  const auto high = static_cast<std::uint64_t>(value >> 64);
  return high ? 127 - std::countl_zero(high) : 63 - std::countl_zero(static_cast<std::uint64_t>(value));
}

/// Shifts so that the mantissa's top bit is bit `top`; to the right only what is kept in sticky gets lost.
Number normalised(Number n, int top) {
  const int by = top - top_bit(n.mantissa);
  if (by >= 0) {
    n.mantissa <<= by;  // exact numbers only: a sticky number's top bit is always above what it is moved to
  } else {
    n.sticky = n.sticky || (n.mantissa & ((u128{1} << -by) - 1)) != 0;
    n.mantissa >>= -by;
  }
  n.exponent -= by;
  return n;
}

/// Whether a magnitude is rounded up, given the kept part's lowest bit and what was cut off.
bool rounds_up(Rounding rounding, bool negative, bool odd, bool half, bool rest) {
  switch (rounding) {
    case Rounding::kRz:
    case Rounding::kRzi: return false;
    case Rounding::kRm:
    case Rounding::kRmi: return negative && (half || rest);
    case Rounding::kRp:
    case Rounding::kRpi: return !negative && (half || rest);
    case Rounding::kRna: return half;
    default: return half && (rest || odd);
  }
}

/// n.mantissa shifted right by `by` bits (any number of them) and rounded.
u128 shift_and_round(const Number& n, int by, Rounding rounding) {
  if (by <= 0) return n.mantissa << -by;
  const u128 kept = by > 127 ? 0 : n.mantissa >> by;
  const bool half = by <= 128 && ((n.mantissa >> (by - 1)) & 1) != 0;
  const u128 below = by > 128 ? n.mantissa : n.mantissa & ((u128{1} << (by - 1)) - 1);
  return kept + (rounds_up(rounding, n.negative, (kept & 1) != 0, half, below != 0 || n.sticky) ? 1 : 0);
}

}  // namespace

Number decode(Type type, std::uint64_t bits, bool ftz) {
  const Format format = format_of(type);
  bits >>= format.shift;
  const std::uint64_t mantissa = bits & ((1ull << format.mantissa_bits) - 1);
  const int exponent_mask = (1 << format.exponent_bits) - 1;
  const int exponent = static_cast<int>(bits >> format.mantissa_bits) & exponent_mask;
  const bool negative = (bits >> (format.mantissa_bits + format.exponent_bits)) & 1;
  const int bias = exponent_mask >> 1;
  if (exponent == exponent_mask) {
    if (format.has_infinity) return mantissa ? Number::nan() : Number::infinity(negative);
    if (mantissa == (1ull << format.mantissa_bits) - 1) return Number::nan();
  }
  if (exponent == 0) {
    if (mantissa == 0 || ftz) return Number::zero(negative);
    return {Kind::kFinite, negative, false, 1 - bias - format.mantissa_bits, mantissa};
  }
  return {Kind::kFinite, negative, false, exponent - bias - format.mantissa_bits,
          mantissa | 1ull << format.mantissa_bits};
}

std::uint64_t encode(Type type, const Number& number, const Encoding& encoding) {
  const Format format = format_of(type);
  const int exponent_mask = (1 << format.exponent_bits) - 1;
  const int bias = exponent_mask >> 1;
  const std::uint64_t sign = 1ull << (format.exponent_bits + format.mantissa_bits);
  const std::uint64_t infinity = static_cast<std::uint64_t>(exponent_mask) << format.mantissa_bits;
  const std::uint64_t largest = format.has_infinity ? infinity - 1 : infinity | ((1ull << format.mantissa_bits) - 2);
  const std::uint64_t one = static_cast<std::uint64_t>(bias) << format.mantissa_bits;

  if (number.is_nan()) return encoding.sat ? 0 : format.nan;
  if (number.negative && (encoding.sat || encoding.relu)) return 0;
  std::uint64_t magnitude = 0;
  if (number.is_infinite()) {
    magnitude = encoding.satfinite || !format.has_infinity ? largest : infinity;
  } else if (!number.is_zero()) {
    // The exponent of the last place: that of a normal number, or the subnormals' one.
    const int top = top_bit(number.mantissa) + number.exponent;
    const int smallest = 1 - bias - format.mantissa_bits;
    if (encoding.ftz && top < 1 - bias) {
      // Subnormal, unless rounding at full precision lifts it to the smallest normal number (as on an H200).
      const u128 full = shift_and_round(number, top - format.mantissa_bits - number.exponent, encoding.rounding);
      const bool lifted = top == -bias && (full >> (format.mantissa_bits + 1)) != 0;
      if (!lifted) return (number.negative ? sign : 0) << format.shift;
    }
    int place = top - format.mantissa_bits;
    if (place < smallest) place = smallest;
    const u128 rounded = shift_and_round(number, place - number.exponent, encoding.rounding);
    // `rounded` has the hidden bit unless subnormal; adding the fields lets a carry move into the exponent.
    const auto field = static_cast<std::int64_t>(place - smallest);
    if (field > exponent_mask) {
      magnitude = largest + 1;  // too large, whatever the mantissa
    } else {
      magnitude = (static_cast<std::uint64_t>(field) << format.mantissa_bits) + static_cast<std::uint64_t>(rounded);
    }
    if (magnitude > largest) {
      const bool towards_zero = encoding.rounding == Rounding::kRz || encoding.rounding == Rounding::kRzi ||
                                (encoding.rounding == Rounding::kRm && !number.negative) ||
                                (encoding.rounding == Rounding::kRp && number.negative);
      magnitude = towards_zero || encoding.satfinite || !format.has_infinity ? largest : infinity;
    }
  }
  if (encoding.sat && magnitude > one) magnitude = one;
  return (magnitude | (number.negative ? sign : 0)) << format.shift;
}

Number add(const Number& a, const Number& b, Rounding rounding) {
  if (a.is_nan() || b.is_nan()) return Number::nan();
  if (a.is_infinite() || b.is_infinite()) {
    if (a.is_infinite() && b.is_infinite() && a.negative != b.negative) return Number::nan();
    return a.is_infinite() ? a : b;
  }
  const bool exact_zero_sign = rounding == Rounding::kRm;
  if (a.is_zero() && b.is_zero()) return Number::zero(a.negative == b.negative ? a.negative : exact_zero_sign);
  if (a.is_zero()) return b;
  if (b.is_zero()) return a;
  // Both inputs are exact: at most 106 bits (a product), so 120 leave room for a carry above and digits below.
  Number x = normalised(a, 120), y = normalised(b, 120);
  if (x.exponent < y.exponent || (x.exponent == y.exponent && x.mantissa < y.mantissa)) std::swap(x, y);
  const int apart = x.exponent - y.exponent;
  if (apart > 127) {
    y.sticky = true;
    y.mantissa = 0;
  } else if (apart > 0) {
    y.sticky = (y.mantissa & ((u128{1} << apart) - 1)) != 0;
    y.mantissa >>= apart;
  }
  Number sum = x;
  sum.sticky = y.sticky;
  if (x.negative == y.negative) {
    sum.mantissa = x.mantissa + y.mantissa;
  } else {
    // x - (y + rest): one less, with a rest of its own.
    sum.mantissa = x.mantissa - y.mantissa - (y.sticky ? 1 : 0);
    if (sum.mantissa == 0 && !sum.sticky) return Number::zero(exact_zero_sign);
  }
  return sum;
}

Number multiply(const Number& a, const Number& b) {
  if (a.is_nan() || b.is_nan()) return Number::nan();
  const bool negative = a.negative != b.negative;
  if (a.is_infinite() || b.is_infinite())
    return a.is_zero() || b.is_zero() ? Number::nan() : Number::infinity(negative);
  if (a.is_zero() || b.is_zero()) return Number::zero(negative);
  return {Kind::kFinite, negative, false, a.exponent + b.exponent, a.mantissa * b.mantissa};
}

Number divide(const Number& a, const Number& b) {
  if (a.is_nan() || b.is_nan()) return Number::nan();
  const bool negative = a.negative != b.negative;
  if (a.is_infinite()) return b.is_infinite() ? Number::nan() : Number::infinity(negative);
  if (b.is_infinite()) return Number::zero(negative);
  if (b.is_zero()) return a.is_zero() ? Number::nan() : Number::infinity(negative);
  if (a.is_zero()) return Number::zero(negative);
  const Number n = normalised(a, 126), d = normalised(b, 60);
  return {Kind::kFinite, negative, n.mantissa % d.mantissa != 0, n.exponent - d.exponent, n.mantissa / d.mantissa};
}

Number square_root(const Number& a) {
  if (a.is_nan() || a.is_zero()) return a;
  if (a.negative) return Number::nan();
  if (a.is_infinite()) return a;
  Number n = normalised(a, 124);
  if (n.exponent & 1) {
    n.mantissa <<= 1;
    n.exponent -= 1;
  }
  u128 root = 0;
  for (int bit = 63; bit >= 0; --bit) {
    const u128 next = root | u128{1} << bit;
    if (next * next <= n.mantissa) root = next;
  }
  return {Kind::kFinite, false, root * root != n.mantissa, n.exponent / 2, root};
}

Number negate(Number a) {
  a.negative = !a.negative;
  return a;
}
Number absolute(Number a) {
  a.negative = false;
  return a;
}

int compare(const Number& a, const Number& b) {
  if (a.is_zero() && b.is_zero()) return 0;
  if (a.is_infinite() && b.is_infinite() && a.negative == b.negative) return 0;
  const Number difference = add(a, negate(b), Rounding::kRn);
  if (difference.is_zero()) return 0;
  return difference.negative ? -1 : 1;
}

Number round_to_integral(const Number& number, Rounding rounding) {
  if (number.kind != Kind::kFinite || number.exponent >= 0) return number;
  const u128 rounded = shift_and_round(number, -number.exponent, rounding);
  if (rounded == 0) return Number::zero(number.negative);
  return {Kind::kFinite, number.negative, false, 0, rounded};
}

Number from_unsigned(std::uint64_t value) {
  if (value == 0) return Number::zero(false);
  return {Kind::kFinite, false, false, 0, value};
}
Number from_signed(std::int64_t value) {
  if (value >= 0) return from_unsigned(static_cast<std::uint64_t>(value));
  return negate(from_unsigned(0 - static_cast<std::uint64_t>(value)));
}

std::uint64_t to_integer(const Number& integral, int bits, bool is_signed) {
  const std::uint64_t mask = bits == 64 ? ~0ull : (1ull << bits) - 1;
  const std::uint64_t top = is_signed ? (1ull << (bits - 1)) - 1 : mask;
  const std::uint64_t bottom = is_signed ? 1ull << (bits - 1) : 0;  // magnitude of the least value
  if (integral.is_zero()) return 0;
  const std::uint64_t limit = integral.negative ? bottom : top;
  std::uint64_t magnitude = limit;
  if (!integral.is_infinite() && top_bit(integral.mantissa) + integral.exponent < 64) {
    const u128 value =
        integral.exponent >= 0 ? integral.mantissa << integral.exponent : integral.mantissa >> -integral.exponent;
    if (value < limit) magnitude = static_cast<std::uint64_t>(value);
  }
  return (integral.negative ? 0 - magnitude : magnitude) & mask;
}

double to_double(const Number& number) { return std::bit_cast<double>(encode(Type::kF64, number, {})); }
Number from_double(double value) { return decode(Type::kF64, std::bit_cast<std::uint64_t>(value)); }

}  // namespace heddle::interp
