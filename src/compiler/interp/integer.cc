// Integer arithmetic, bits and comparisons. Tested by interp_test.cc and tests/ptx.
#include <algorithm>
#include <bit>

#include "compiler/interp/evaluate.h"
#include "compiler/interp/soft_float.h"

namespace heddle::interp {
namespace {

using ir::AtomicOp;
using ir::Compare;
using ir::Op;
using ir::PrmtMode;
using ir::Type;
__extension__ using i128 = __int128;

/// An operand as a mathematical integer: by the signedness of `type`.
i128 integer(std::uint64_t value, Type type) {
  const int bits = ir::bits_of(type);
  if (ir::is_signed(type) || type == Type::kS16x2) return sign_extend(value, bits);
  return static_cast<i128>(value & mask_of(bits));
}

std::uint64_t saturate(i128 value, Type type) {
  const int bits = ir::bits_of(type);
  const i128 most = ir::is_signed(type) ? (i128{1} << (bits - 1)) - 1 : (i128{1} << bits) - 1;
  const i128 least = ir::is_signed(type) ? -(i128{1} << (bits - 1)) : 0;
  return static_cast<std::uint64_t>(std::clamp(value, least, most)) & mask_of(bits);
}

bool compare_integers(Compare compare, Type type, std::uint64_t a, std::uint64_t b) {
  const int bits = ir::bits_of(type);
  const i128 x = integer(a, type), y = integer(b, type);
  const std::uint64_t ux = a & mask_of(bits), uy = b & mask_of(bits);
  switch (compare) {
    case Compare::kEq: return ux == uy;
    case Compare::kNe: return ux != uy;
    case Compare::kLt: return x < y;
    case Compare::kLe: return x <= y;
    case Compare::kGt: return x > y;
    case Compare::kGe: return x >= y;
    case Compare::kLo: return ux < uy;
    case Compare::kLs: return ux <= uy;
    case Compare::kHi: return ux > uy;
    case Compare::kHs: return ux >= uy;
    default: return false;
  }
}

std::uint64_t divide_integers(Type type, std::uint64_t a, std::uint64_t b, bool remainder) {
  const i128 x = integer(a, type), y = integer(b, type);
  if (y == 0) return ~0ull;  // of both: GPUs give all ones
  return static_cast<std::uint64_t>(remainder ? x % y : x / y);
}

std::uint32_t lop3(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t table) {
  std::uint32_t result = 0;
  for (int bit = 0; bit < 32; ++bit) {
    const std::uint32_t row = (a >> bit & 1) << 2 | (b >> bit & 1) << 1 | (c >> bit & 1);
    result |= (table >> row & 1) << bit;
  }
  return result;
}

std::uint32_t funnel_shift(const ir::Inst& inst, std::uint32_t lo, std::uint32_t hi, std::uint32_t amount) {
  const std::uint32_t n = inst.mods.wrap ? amount & 31 : std::min(amount, 32u);
  const std::uint64_t both = std::uint64_t{hi} << 32 | lo;
  if (inst.op == Op::kShfR) return n == 32 ? hi : static_cast<std::uint32_t>(both >> n);
  return n == 32 ? lo : static_cast<std::uint32_t>(both << n >> 32);
}

std::uint64_t bit_field_extract(Type type, std::uint64_t a, std::uint64_t position, std::uint64_t length) {
  const int bits = ir::bits_of(type);
  const int pos = static_cast<int>(position & 0xff), len = static_cast<int>(length & 0xff), msb = bits - 1;
  const bool sign = ir::is_signed(type) && len != 0 && (a >> std::min(pos + len - 1, msb) & 1);
  std::uint64_t result = 0;
  for (int i = 0; i < bits; ++i) {
    const bool bit = i < len && pos + i <= msb ? (a >> (pos + i) & 1) != 0 : sign;
    result |= static_cast<std::uint64_t>(bit) << i;
  }
  return result;
}

std::uint64_t bit_field_insert(int bits, std::uint64_t a, std::uint64_t b, std::uint64_t position,
                               std::uint64_t length) {
  const int pos = static_cast<int>(position & 0xff), len = static_cast<int>(length & 0xff);
  std::uint64_t result = b;
  for (int i = 0; i < len && pos + i < bits; ++i) result = (result & ~(1ull << (pos + i))) | (a >> i & 1) << (pos + i);
  return result;
}

std::uint32_t find_leading_bit(const ir::Inst& inst, std::uint64_t a) {
  const int bits = ir::bits_of(inst.type);
  if (ir::is_signed(inst.type) && (a >> (bits - 1) & 1)) a = ~a & mask_of(bits);
  if (a == 0) return ~0u;
  const int msb = 63 - std::countl_zero(a);
  return static_cast<std::uint32_t>(inst.mods.shiftamt ? bits - 1 - msb : msb);
}

std::uint64_t reverse_bits(std::uint64_t value, int bits) {
  std::uint64_t result = 0;
  for (int i = 0; i < bits; ++i) result |= (value >> i & 1) << (bits - 1 - i);
  return result;
}

std::uint32_t find_nth_set(std::uint32_t mask, std::uint32_t base, std::int32_t offset) {
  if (offset == 0) return base < 32 && (mask >> base & 1) ? base : ~0u;
  std::int64_t left = offset > 0 ? offset - 1LL : -static_cast<std::int64_t>(offset) - 1;
  for (std::int64_t position = base; position >= 0 && position < 32; position += offset > 0 ? 1 : -1)
    if ((mask >> position & 1) && left-- == 0) return static_cast<std::uint32_t>(position);
  return ~0u;
}

std::uint32_t permute(PrmtMode mode, std::uint32_t a, std::uint32_t b, std::uint32_t selector) {
  static constexpr std::uint16_t kF4e[] = {0x3210, 0x4321, 0x5432, 0x6543};
  static constexpr std::uint16_t kB4e[] = {0x5670, 0x6701, 0x7012, 0x0123};
  static constexpr std::uint16_t kRc8[] = {0x0000, 0x1111, 0x2222, 0x3333};
  static constexpr std::uint16_t kEcl[] = {0x3210, 0x3211, 0x3222, 0x3333};
  static constexpr std::uint16_t kEcr[] = {0x0000, 0x1110, 0x2210, 0x3210};
  static constexpr std::uint16_t kRc16[] = {0x1010, 0x3232, 0x1010, 0x3232};
  std::uint32_t nibbles = selector & 0xffff;
  switch (mode) {
    case PrmtMode::kIndex: break;
    case PrmtMode::kF4e: nibbles = kF4e[selector & 3]; break;
    case PrmtMode::kB4e: nibbles = kB4e[selector & 3]; break;
    case PrmtMode::kRc8: nibbles = kRc8[selector & 3]; break;
    case PrmtMode::kEcl: nibbles = kEcl[selector & 3]; break;
    case PrmtMode::kEcr: nibbles = kEcr[selector & 3]; break;
    case PrmtMode::kRc16: nibbles = kRc16[selector & 3]; break;
  }
  const std::uint64_t both = std::uint64_t{b} << 32 | a;
  std::uint32_t result = 0;
  for (int i = 0; i < 4; ++i) {
    const std::uint32_t nibble = nibbles >> (4 * i) & 15;
    std::uint32_t byte = static_cast<std::uint32_t>(both >> (8 * (nibble & 7))) & 0xff;
    if (nibble & 8) byte = byte & 0x80 ? 0xff : 0;
    result |= byte << (8 * i);
  }
  return result;
}

std::uint32_t dot_product(const ir::Inst& inst, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const auto part = [](std::uint32_t word, int index, int width, Type type) {
    const std::uint64_t bits = word >> (index * width) & mask_of(width);
    return ir::is_signed(type) ? sign_extend(bits, width) : static_cast<std::int64_t>(bits);
  };
  std::int64_t sum = c;
  if (inst.op == Op::kDp4a) {
    for (int i = 0; i < 4; ++i) sum += part(a, i, 8, inst.type) * part(b, i, 8, inst.from);
  } else {
    for (int i = 0; i < 2; ++i) sum += part(a, i, 16, inst.type) * part(b, i + (inst.mods.hi ? 2 : 0), 8, inst.from);
  }
  return static_cast<std::uint32_t>(sum);
}

std::uint32_t bit_mask(bool wrap, std::uint32_t position, std::uint32_t width) {
  const std::uint32_t from = wrap ? position & 31 : std::min(position, 32u);
  const std::uint32_t count = wrap ? width & 31 : std::min(width, 32u);
  const std::uint64_t ones = (1ull << count) - 1;
  return static_cast<std::uint32_t>(ones << from);
}

std::uint32_t extend(const ir::Inst& inst, std::uint32_t a, std::uint32_t width) {
  const std::uint32_t n = inst.mods.wrap ? width & 31 : std::min(width, 32u);
  if (n == 0) return 0;
  if (ir::is_signed(inst.type)) return static_cast<std::uint32_t>(sign_extend(a, static_cast<int>(n)));
  return static_cast<std::uint32_t>(a & mask_of(static_cast<int>(n)));
}

/// a + b + carry or a - b - borrow; the second result is the carry or borrow out.
void add_with_carry(const ir::Inst& inst, const Bits* in, Bits* out) {
  const int bits = ir::bits_of(inst.type);
  const u128 a = in[0].lo & mask_of(bits), b = in[1].lo & mask_of(bits), carry = in[2].lo & 1;
  const u128 wide = inst.op == Op::kAddCarry ? a + b + carry : a - b - carry;
  out[0] = {static_cast<std::uint64_t>(wide) & mask_of(bits), 0};
  out[1] = {static_cast<std::uint64_t>(wide >> bits) & 1, 0};
}

/// 128-bit values know only the bitwise operations.
bool evaluate_wide(const ir::Inst& inst, const Bits* in, Bits* out) {
  switch (inst.op) {
    case Op::kAnd: out[0] = {in[0].lo & in[1].lo, in[0].hi & in[1].hi}; return true;
    case Op::kOr: out[0] = {in[0].lo | in[1].lo, in[0].hi | in[1].hi}; return true;
    case Op::kXor: out[0] = {in[0].lo ^ in[1].lo, in[0].hi ^ in[1].hi}; return true;
    case Op::kNot: out[0] = {~in[0].lo, ~in[0].hi}; return true;
    case Op::kSetp:
      out[0] = {static_cast<std::uint64_t>((in[0] == in[1]) == (inst.mods.compare == Compare::kEq)), 0};
      return inst.mods.compare == Compare::kEq || inst.mods.compare == Compare::kNe;
    default: return false;
  }
}

}  // namespace

bool evaluate_integer(const ir::Inst& inst, const Bits* in, Bits* out) {
  const Type type = inst.type;
  const int bits = ir::bits_of(type);
  if (bits == 128) return evaluate_wide(inst, in, out);
  const std::uint64_t a = inst.operands.size() > 0 ? in[0].lo : 0;
  const std::uint64_t b = inst.operands.size() > 1 ? in[1].lo : 0;
  const std::uint64_t c = inst.operands.size() > 2 ? in[2].lo : 0;
  const auto a32 = static_cast<std::uint32_t>(a), b32 = static_cast<std::uint32_t>(b),
             c32 = static_cast<std::uint32_t>(c);
  const i128 x = integer(a, type), y = integer(b, type);
  const auto give = [&](i128 value) {
    out[0] = {static_cast<std::uint64_t>(value) & mask_of(bits), 0};
    return true;
  };
  const auto give_saturated = [&](i128 value) {
    out[0] = {inst.mods.sat ? saturate(value, type) : static_cast<std::uint64_t>(value) & mask_of(bits), 0};
    return true;
  };
  const auto give32 = [&](std::uint32_t value) {
    out[0] = {value, 0};
    return true;
  };
  switch (inst.op) {
    case Op::kAdd: return give_saturated(x + y);
    case Op::kSub: return give_saturated(x - y);
    case Op::kMul: return give(static_cast<i128>(static_cast<u128>(x) * static_cast<u128>(y)));
    case Op::kMulHi:
      // 64-bit unsigned products need all of 128 bits.
      return give(ir::is_signed(type) ? (x * y) >> bits
                                      : static_cast<i128>((static_cast<u128>(x) * static_cast<u128>(y)) >> bits));
    case Op::kMulWide: {
      const u128 product = static_cast<u128>(x) * static_cast<u128>(y);
      out[0] = {static_cast<std::uint64_t>(product) & mask_of(2 * bits),
                bits == 64 ? static_cast<std::uint64_t>(product >> 64) : 0};
      return true;
    }
    case Op::kMul24: {
      const auto low24 = [&](std::uint64_t v) {
        return ir::is_signed(type) ? sign_extend(v & 0xffffff, 24) : static_cast<std::int64_t>(v & 0xffffff);
      };
      const std::int64_t product = low24(a) * low24(b);
      return give(inst.mods.hi ? product >> 16 : product);
    }
    case Op::kFma:
      return give_saturated(static_cast<i128>(static_cast<u128>(x) * static_cast<u128>(y)) + integer(c, type));
    case Op::kDiv: return give(static_cast<i128>(divide_integers(type, a, b, false)));
    case Op::kRem: return give(static_cast<i128>(divide_integers(type, a, b, true)));
    case Op::kAbs:
      return give(sign_extend(a, bits) < 0 ? -static_cast<i128>(sign_extend(a, bits)) : i128{sign_extend(a, bits)});
    case Op::kNeg: return give(-x);
    case Op::kMin:
    case Op::kMax: {
      i128 result = inst.op == Op::kMin ? std::min(x, y) : std::max(x, y);
      if (inst.operands.size() > 2)
        result = inst.op == Op::kMin ? std::min(result, integer(c, type)) : std::max(result, integer(c, type));
      return give(inst.mods.relu && result < 0 ? 0 : result);
    }
    case Op::kSad: return give(integer(c, type) + (x < y ? y - x : x - y));
    case Op::kAddCarry:
    case Op::kSubBorrow: add_with_carry(inst, in, out); return true;
    case Op::kAnd: return give(static_cast<i128>(a & b));
    case Op::kOr: return give(static_cast<i128>(a | b));
    case Op::kXor: return give(static_cast<i128>(a ^ b));
    case Op::kNot: return give(static_cast<i128>(~a));
    case Op::kCnot: return give(a == 0 ? 1 : 0);
    case Op::kLop3: return give32(lop3(a32, b32, c32, static_cast<std::uint32_t>(inst.imm)));
    case Op::kShl: return give(b32 >= static_cast<std::uint32_t>(bits) ? 0 : static_cast<i128>(a << b32));
    case Op::kShr: return give(x >> std::min(b32, static_cast<std::uint32_t>(bits)));
    case Op::kShfL:
    case Op::kShfR: return give32(funnel_shift(inst, a32, b32, c32));
    case Op::kPopc: return give32(static_cast<std::uint32_t>(std::popcount(a)));
    case Op::kClz: return give32(static_cast<std::uint32_t>(std::countl_zero(a) - (64 - bits)));
    case Op::kBfind: return give32(find_leading_bit(inst, a));
    case Op::kBrev: return give(static_cast<i128>(reverse_bits(a, bits)));
    case Op::kBfe: return give(static_cast<i128>(bit_field_extract(type, a, b, c)));
    case Op::kBfi: return give(static_cast<i128>(bit_field_insert(bits, a, b, c, in[3].lo)));
    case Op::kBmsk: return give32(bit_mask(inst.mods.wrap, a32, b32));
    case Op::kSzext: return give32(extend(inst, a32, b32));
    case Op::kFns: return give32(find_nth_set(a32, b32, static_cast<std::int32_t>(c32)));
    case Op::kPrmt: return give32(permute(inst.mods.prmt, a32, b32, c32));
    case Op::kDp4a:
    case Op::kDp2a: return give32(dot_product(inst, a32, b32, c32));
    case Op::kSetp: out[0] = {compare_integers(inst.mods.compare, type, a, b), 0}; return true;
    default: return false;
  }
}

std::uint64_t combine(AtomicOp op, Type type, std::uint64_t old, std::uint64_t operand) {
  const std::uint64_t mask = mask_of(ir::bits_of(type));
  switch (op) {
    case AtomicOp::kExch: return operand & mask;
    case AtomicOp::kAnd: return old & operand;
    case AtomicOp::kOr: return old | operand;
    case AtomicOp::kXor: return old ^ operand;
    case AtomicOp::kInc: return old >= operand ? 0 : (old + 1) & mask;
    case AtomicOp::kDec: return old == 0 || old > operand ? operand : old - 1;
    case AtomicOp::kAdd:
    case AtomicOp::kMin:
    case AtomicOp::kMax: break;
  }
  ir::Inst inst;
  inst.op = op == AtomicOp::kAdd ? Op::kAdd : op == AtomicOp::kMin ? Op::kMin : Op::kMax;
  inst.type = type;
  inst.operands = {0, 0};
  const Bits in[2] = {{old, 0}, {operand, 0}};
  Bits out;
  evaluate(inst, in, &out);
  return out.lo;
}

}  // namespace heddle::interp
