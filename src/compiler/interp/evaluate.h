// What the Pure operations of the IR compute, lane by lane and to the letter of the PTX manual: the oracle for the code
// generator. Plain on purpose; integers in integer.cc, floats and conversions in floating.cc, video in video.cc.
// Tested by compiler/interp/interp_test.cc and soft_float_test.cc, and by tests/ptx with values recorded on a GPU.
#pragma once

#include <cstdint>

#include "compiler/ir/ir.h"

namespace heddle::interp {

/// One lane's value: up to 128 bits, the unused ones zero.
struct Bits {
  std::uint64_t lo = 0, hi = 0;
  friend bool operator==(const Bits&, const Bits&) = default;
};

inline std::uint64_t mask_of(int bits) { return bits >= 64 ? ~0ull : (1ull << bits) - 1; }
inline std::int64_t sign_extend(std::uint64_t value, int bits) {
  return bits >= 64 ? static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value << (64 - bits)) >> (64 - bits);
}

/// Computes `results` from `operands` (as many as the instruction has). Returns false if `inst` is not a Pure operation
/// that depends on its operands alone (constants, special registers and addresses are the machine's), or has a form
/// that is not known.
bool evaluate(const ir::Inst& inst, const Bits* operands, Bits* results);

/// The families, each false for what is not its own.
bool evaluate_integer(const ir::Inst& inst, const Bits* operands, Bits* results);
bool evaluate_float(const ir::Inst& inst, const Bits* operands, Bits* results);
bool evaluate_cvt(const ir::Inst& inst, const Bits* operands, Bits* results);
std::uint32_t evaluate_video(std::uint64_t form, std::uint32_t a, std::uint32_t b, std::uint32_t c);

/// Also what atomics and redux do: op on two values of `type`.
std::uint64_t combine(ir::AtomicOp op, ir::Type type, std::uint64_t old, std::uint64_t operand);

}  // namespace heddle::interp
