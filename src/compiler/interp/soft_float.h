// Exact floating-point arithmetic in integers, for every format and rounding of PTX: the interpreter's only arithmetic
// on floats, so that it shares nothing with the processor's instructions that generated code uses.
//
// A Number holds any finite value as mantissa * 2^exponent exactly; `sticky` says that a little more (less than one
// unit of the mantissa) belongs to its magnitude. encode() is the one place that rounds.
// Tested by compiler/interp/soft_float_test.cc against the processor.
#pragma once

#include <cstdint>

#include "compiler/ir/ir.h"

namespace heddle::interp {

__extension__ using u128 = unsigned __int128;

struct Number {
  enum class Kind : std::uint8_t { kZero, kFinite, kInfinite, kNan };
  Kind kind = Kind::kZero;
  bool negative = false;
  bool sticky = false;
  int exponent = 0;
  u128 mantissa = 0;

  bool is_nan() const { return kind == Kind::kNan; }
  bool is_zero() const { return kind == Kind::kZero; }
  bool is_infinite() const { return kind == Kind::kInfinite; }
  static Number nan() { return {Kind::kNan, false, false, 0, 0}; }
  static Number zero(bool negative) { return {Kind::kZero, negative, false, 0, 0}; }
  static Number infinity(bool negative) { return {Kind::kInfinite, negative, false, 0, 0}; }
};

/// `ftz`: a subnormal becomes a zero of its sign.
Number decode(ir::Type type, std::uint64_t bits, bool ftz = false);

struct Encoding {
  ir::Rounding rounding = ir::Rounding::kRn;
  bool ftz = false;        ///< a subnormal result becomes a zero of its sign
  bool sat = false;        ///< clamp to [0, 1], NaN to +0
  bool relu = false;       ///< negative results become +0
  bool satfinite = false;  ///< what exceeds the format becomes its largest finite value
};
/// Rounds to the format. NaN becomes the canonical one (f32: 0x7fffffff).
std::uint64_t encode(ir::Type type, const Number& number, const Encoding& encoding);

/// `rounding` decides the sign of a sum that is exactly zero.
Number add(const Number& a, const Number& b, ir::Rounding rounding);
Number multiply(const Number& a, const Number& b);
Number divide(const Number& a, const Number& b);
Number square_root(const Number& a);
Number negate(Number a);
Number absolute(Number a);

/// -1, 0, 1; neither may be a NaN. -0 equals +0.
int compare(const Number& a, const Number& b);

/// Rounds to an integral value: kRni, kRzi, kRmi, kRpi (or the plain ones).
Number round_to_integral(const Number& number, ir::Rounding rounding);
Number from_unsigned(std::uint64_t value);
Number from_signed(std::int64_t value);
/// An integral, finite number, clamped to `bits` bits (signed: two's complement).
std::uint64_t to_integer(const Number& integral, int bits, bool is_signed);

double to_double(const Number& number);
Number from_double(double value);

}  // namespace heddle::interp
