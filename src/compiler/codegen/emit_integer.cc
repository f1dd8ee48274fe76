// Integer arithmetic, bit operations and comparisons as PTX defines them. Nothing here can trap: divisors are made safe
// first, shift amounts are clamped. Judged by tests/ptx and tests/fuzz.
#include "compiler/codegen/emit_pure_detail.h"

namespace heddle::codegen {
namespace {

using ir::Op;
using ir::Type;

/// Division of up to 32 bits goes through doubles, which vectorise: the quotient of two 32-bit integers is never close
/// enough to the next integer for a double to round to it.
Value* divide_in_double(LaneBuilder& lane, Value* a, Value* b, bool is_signed) {
  auto& builder = lane.b;
  llvm::Type* f64 = lane.float_type(Type::kF64);
  llvm::Type* i32 = lane.int_type(32);
  if (is_signed) {
    // INT_MIN / -1 overflows: it is the one quotient past INT_MAX, so convert through 64 bits.
    Value* q = builder.CreateFDiv(builder.CreateSIToFP(a, f64), builder.CreateSIToFP(b, f64));
    return lane.zext(builder.CreateFPToSI(q, lane.int_type(64)), 32);
  }
  Value* q = builder.CreateFDiv(builder.CreateUIToFP(a, f64), builder.CreateUIToFP(b, f64));
  return builder.CreateFPToUI(q, i32);
}

/// Quotient or remainder. By zero: all ones and the dividend.
Value* divide(LaneBuilder& lane, const ir::Inst& inst, Value* a, Value* b) {
  auto& builder = lane.b;
  const unsigned bits = static_cast<unsigned>(ir::bits_of(inst.type));
  const bool is_signed = ir::is_signed(inst.type);
  const bool remainder = inst.op == Op::kRem;
  Value* zero = builder.CreateICmpEQ(b, lane.int_const(bits, 0));
  Value* divisor = builder.CreateSelect(zero, lane.int_const(bits, 1), b);
  Value* quotient;
  if (llvm::isa<llvm::Constant>(divisor) && !is_signed) {
    quotient = builder.CreateUDiv(a, divisor);  // becomes a multiplication
  } else if (bits <= 32 && lane.lanes() > 1) {
    Value* wide_a = is_signed ? lane.sext(a, 32) : lane.zext(a, 32);
    Value* wide_b = is_signed ? lane.sext(divisor, 32) : lane.zext(divisor, 32);
    quotient = lane.zext(divide_in_double(lane, wide_a, wide_b, is_signed), bits);
  } else if (is_signed) {
    Value* minus_one = builder.CreateICmpEQ(divisor, lane.int_const(bits, ~0ull));
    Value* safe = builder.CreateSelect(minus_one, lane.int_const(bits, 1), divisor);
    Value* divided = builder.CreateSDiv(a, safe);
    quotient = builder.CreateSelect(minus_one, builder.CreateNeg(a), divided);
  } else {
    quotient = builder.CreateUDiv(a, divisor);
  }
  // Division and remainder by zero: all ones, as recorded from a GPU in tests/ptx.
  if (remainder) quotient = builder.CreateSub(a, builder.CreateMul(quotient, divisor));
  return builder.CreateSelect(zero, lane.int_const(bits, ~0ull), quotient);
}

Value* dot_product(LaneBuilder& lane, const ir::Inst& inst, std::span<Value* const> x, unsigned terms,
                   unsigned a_bits) {
  auto& b = lane.b;
  auto part = [&](Value* v, unsigned at, unsigned width, bool is_signed) {
    Value* moved = b.CreateShl(v, lane.int_const(32, 32 - width - at));
    Value* amount = lane.int_const(32, 32 - width);
    return is_signed ? b.CreateAShr(moved, amount) : b.CreateLShr(moved, amount);
  };
  Value* sum = x[2];
  const unsigned b_offset = inst.mods.hi ? 16 : 0;
  for (unsigned i = 0; i < terms; ++i) {
    Value* left = part(x[0], i * a_bits, a_bits, ir::is_signed(inst.type));
    Value* right = part(x[1], b_offset + i * 8, 8, ir::is_signed(inst.from));
    sum = b.CreateAdd(sum, b.CreateMul(left, right));
  }
  return sum;
}

/// a << amount or a >> amount for 32-bit unsigned amounts of any size.
Value* shift(LaneBuilder& lane, Value* a, Value* amount, unsigned bits, Op op, bool is_signed) {
  auto& b = lane.b;
  if (op == Op::kShr && is_signed) {
    Value* most = lane.int_const(32, bits - 1);
    Value* clamped = b.CreateSelect(b.CreateICmpULT(amount, most), amount, most);
    return b.CreateAShr(a, lane.zext(clamped, bits));
  }
  Value* inside = b.CreateICmpULT(amount, lane.int_const(32, bits));
  Value* safe = lane.zext(b.CreateSelect(inside, amount, lane.int_const(32, 0)), bits);
  Value* shifted = op == Op::kShl ? b.CreateShl(a, safe) : b.CreateLShr(a, safe);
  return b.CreateSelect(inside, shifted, lane.int_const(bits, 0));
}

/// The lowest `length` bits set; length >= bits gives all.
Value* low_mask(LaneBuilder& lane, Value* length, unsigned bits) {
  auto& b = lane.b;
  return b.CreateNot(shift(lane, lane.int_const(bits, ~0ull), length, bits, Op::kShl, false));
}

Value* bfe(LaneBuilder& lane, std::span<Value* const> x, unsigned bits, bool is_signed) {
  auto& b = lane.b;
  Value* position = b.CreateAnd(x[1], lane.int_const(32, 0xff));
  Value* length = b.CreateAnd(x[2], lane.int_const(32, 0xff));
  Value* size = lane.int_const(32, bits);
  Value* start = b.CreateSelect(b.CreateICmpULT(position, size), position, size);
  Value* left = b.CreateSub(size, start);  // bits from the start to the top
  Value* taken = b.CreateSelect(b.CreateICmpULT(length, left), length, left);
  Value* mask = low_mask(lane, taken, bits);
  Value* field = b.CreateAnd(shift(lane, x[0], start, bits, Op::kShr, false), mask);
  if (!is_signed) return field;
  // The sign is the field's top bit, or the word's if the field goes past it; an empty field has none.
  Value* top = lane.int_const(32, bits - 1);
  Value* last = b.CreateSub(b.CreateAdd(position, length), lane.int_const(32, 1));
  Value* sign_at = b.CreateSelect(b.CreateICmpULT(last, top), last, top);
  Value* sign = b.CreateAnd(shift(lane, x[0], sign_at, bits, Op::kShr, false), lane.int_const(bits, 1));
  Value* negative =
      b.CreateAnd(b.CreateICmpNE(sign, lane.int_const(bits, 0)), b.CreateICmpNE(length, lane.int_const(32, 0)));
  return b.CreateSelect(negative, b.CreateOr(field, b.CreateNot(mask)), field);
}

Value* bfi(LaneBuilder& lane, std::span<Value* const> x, unsigned bits) {
  auto& b = lane.b;
  Value* position = b.CreateAnd(x[2], lane.int_const(32, 0xff));
  Value* length = b.CreateAnd(x[3], lane.int_const(32, 0xff));
  Value* mask = shift(lane, low_mask(lane, length, bits), position, bits, Op::kShl, false);
  Value* inserted = shift(lane, x[0], position, bits, Op::kShl, false);
  return b.CreateOr(b.CreateAnd(inserted, mask), b.CreateAnd(x[1], b.CreateNot(mask)));
}

Value* bmsk(LaneBuilder& lane, std::span<Value* const> x, bool wrap) {
  auto& b = lane.b;
  Value* all = lane.int_const(32, ~0ull);
  Value* position = b.CreateAnd(x[0], lane.int_const(32, 31));
  Value* width = b.CreateAnd(x[1], lane.int_const(32, 31));
  Value* end = b.CreateAdd(position, width);
  Value* below_end = shift(lane, all, end, 32, Op::kShl, false);  // zero when the end is past the word
  Value* from = b.CreateShl(all, position);
  if (!wrap) {
    Value* limit = lane.int_const(32, 32);
    Value* position_over = b.CreateICmpUGE(x[0], limit);
    from = b.CreateSelect(position_over, lane.int_const(32, 0), from);
    Value* over = b.CreateOr(position_over, b.CreateICmpUGE(x[1], limit));
    below_end = b.CreateSelect(over, lane.int_const(32, 0), below_end);
  }
  return b.CreateAnd(from, b.CreateNot(below_end));
}

Value* szext(LaneBuilder& lane, std::span<Value* const> x, bool is_signed, bool wrap) {
  auto& b = lane.b;
  Value* width = b.CreateAnd(x[1], lane.int_const(32, 31));
  Value* zero = lane.int_const(32, 0);
  Value* mask = b.CreateShl(lane.int_const(32, ~0ull), width);
  Value* too_large = wrap ? b.CreateICmpNE(zero, zero) : b.CreateICmpUGE(x[1], lane.int_const(32, 32));
  mask = b.CreateSelect(too_large, zero, mask);
  Value* low = b.CreateAnd(x[0], b.CreateNot(mask));
  if (!is_signed) return low;
  Value* sign_at = b.CreateAnd(b.CreateSub(width, lane.int_const(32, 1)), lane.int_const(32, 31));
  Value* sign = b.CreateAnd(b.CreateLShr(x[0], sign_at), lane.int_const(32, 1));
  Value* negative = b.CreateAnd(b.CreateICmpNE(sign, zero), b.CreateICmpNE(width, zero));
  return b.CreateSelect(negative, b.CreateOr(low, mask), low);
}

Value* lop3(LaneBuilder& lane, std::span<Value* const> x, unsigned table) {
  auto& b = lane.b;
  auto* zero = lane.int_const(32, 0);
  auto* ones = lane.int_const(32, ~0ull);
  // Table bit (a << 2 | b << 1 | c). Two functions of b and c, chosen by a; the optimiser finds the short form.
  auto of_c = [&](unsigned two) -> Value* {
    switch (two & 3) {
      case 0: return zero;
      case 1: return b.CreateNot(x[2]);
      case 2: return x[2];
      default: return ones;
    }
  };
  auto choose = [&](Value* by, Value* if_set, Value* if_clear) -> Value* {
    return if_set == if_clear ? if_set : b.CreateOr(b.CreateAnd(by, if_set), b.CreateAnd(b.CreateNot(by), if_clear));
  };
  auto of_bc = [&](unsigned four) {
    return (four >> 2 & 3) == (four & 3) ? of_c(four) : choose(x[1], of_c(four >> 2), of_c(four));
  };
  return (table >> 4 & 15) == (table & 15) ? of_bc(table) : choose(x[0], of_bc(table >> 4), of_bc(table));
}

Value* prmt(LaneBuilder& lane, std::span<Value* const> x, ir::PrmtMode mode) {
  auto& b = lane.b;
  Value* pair = b.CreateOr(b.CreateShl(lane.zext(x[1], 64), lane.int_const(64, 32)), lane.zext(x[0], 64));
  Value* control = b.CreateAnd(x[2], lane.int_const(32, 3));
  Value* result = lane.int_const(32, 0);
  auto c = [&](unsigned v) { return lane.int_const(32, v); };
  for (unsigned i = 0; i < 4; ++i) {
    Value* index;
    Value* replicate_sign = nullptr;
    switch (mode) {
      case ir::PrmtMode::kIndex: {
        Value* nibble = b.CreateLShr(x[2], c(4 * i));
        index = b.CreateAnd(nibble, c(7));
        replicate_sign = b.CreateICmpNE(b.CreateAnd(nibble, c(8)), c(0));
        break;
      }
      case ir::PrmtMode::kF4e: index = b.CreateAdd(control, c(i)); break;
      case ir::PrmtMode::kB4e: index = b.CreateAnd(b.CreateSub(control, c(i)), c(7)); break;
      case ir::PrmtMode::kRc8: index = control; break;
      case ir::PrmtMode::kEcl: index = b.CreateSelect(b.CreateICmpUGT(control, c(i)), control, c(i)); break;
      case ir::PrmtMode::kEcr: index = b.CreateSelect(b.CreateICmpULT(control, c(i)), control, c(i)); break;
      case ir::PrmtMode::kRc16: index = b.CreateAdd(b.CreateShl(b.CreateAnd(control, c(1)), c(1)), c(i & 1)); break;
      default: return nullptr;
    }
    Value* amount = lane.zext(b.CreateShl(index, c(3)), 64);
    Value* byte = b.CreateAnd(lane.zext(b.CreateLShr(pair, amount), 32), c(0xff));
    if (replicate_sign) {
      Value* sign = b.CreateSelect(b.CreateICmpNE(b.CreateAnd(byte, c(0x80)), c(0)), c(0xff), c(0));
      byte = b.CreateSelect(replicate_sign, sign, byte);
    }
    result = b.CreateOr(result, b.CreateShl(byte, c(8 * i)));
  }
  return result;
}

/// The position of the n-th set bit from `base` upwards (n > 0) or downwards (n < 0); n == 0: `base` itself if set.
Value* fns(LaneBuilder& lane, std::span<Value* const> x) {
  auto& b = lane.b;
  auto c = [&](std::uint64_t v) { return lane.int_const(32, v); };
  Value* none = c(~0ull);
  Value* found = none;
  Value* up_count = c(0);
  Value* down_count = c(0);
  Value* is_zero = b.CreateICmpEQ(x[2], c(0));
  Value* is_down = b.CreateICmpSLT(x[2], c(0));
  Value* wanted_down = b.CreateNeg(x[2]);
  for (unsigned i = 0; i < 32; ++i) {
    Value* set = b.CreateAnd(b.CreateLShr(x[0], c(i)), c(1));
    Value* hit = b.CreateAnd(is_zero, b.CreateAnd(b.CreateICmpEQ(x[1], c(i)), b.CreateICmpNE(set, c(0))));
    found = b.CreateSelect(hit, c(i), found);
    Value* counts = b.CreateICmpUGE(c(i), x[1]);
    up_count = b.CreateAdd(up_count, b.CreateSelect(counts, set, c(0)));
    Value* reached = b.CreateAnd(b.CreateICmpEQ(up_count, x[2]), b.CreateAnd(counts, b.CreateICmpNE(set, c(0))));
    found = b.CreateSelect(b.CreateAnd(reached, b.CreateNot(b.CreateOr(is_zero, is_down))), c(i), found);
    const unsigned j = 31 - i;
    Value* set_down = b.CreateAnd(b.CreateLShr(x[0], c(j)), c(1));
    Value* counts_down = b.CreateICmpULE(c(j), x[1]);
    down_count = b.CreateAdd(down_count, b.CreateSelect(counts_down, set_down, c(0)));
    Value* reached_down =
        b.CreateAnd(b.CreateICmpEQ(down_count, wanted_down), b.CreateAnd(counts_down, b.CreateICmpNE(set_down, c(0))));
    found = b.CreateSelect(b.CreateAnd(reached_down, is_down), c(j), found);
  }
  return found;
}

llvm::CmpInst::Predicate integer_predicate(ir::Compare compare, bool is_signed) {
  using P = llvm::CmpInst::Predicate;
  switch (compare) {
    case ir::Compare::kEq: return P::ICMP_EQ;
    case ir::Compare::kNe: return P::ICMP_NE;
    case ir::Compare::kLt: return is_signed ? P::ICMP_SLT : P::ICMP_ULT;
    case ir::Compare::kLe: return is_signed ? P::ICMP_SLE : P::ICMP_ULE;
    case ir::Compare::kGt: return is_signed ? P::ICMP_SGT : P::ICMP_UGT;
    case ir::Compare::kGe: return is_signed ? P::ICMP_SGE : P::ICMP_UGE;
    case ir::Compare::kLo: return P::ICMP_ULT;
    case ir::Compare::kLs: return P::ICMP_ULE;
    case ir::Compare::kHi: return P::ICMP_UGT;
    case ir::Compare::kHs: return P::ICMP_UGE;
    default: return P::BAD_ICMP_PREDICATE;
  }
}

llvm::CmpInst::Predicate float_predicate(ir::Compare compare) {
  using P = llvm::CmpInst::Predicate;
  switch (compare) {
    case ir::Compare::kEq: return P::FCMP_OEQ;
    case ir::Compare::kNe: return P::FCMP_ONE;
    case ir::Compare::kLt: return P::FCMP_OLT;
    case ir::Compare::kLe: return P::FCMP_OLE;
    case ir::Compare::kGt: return P::FCMP_OGT;
    case ir::Compare::kGe: return P::FCMP_OGE;
    case ir::Compare::kEqu: return P::FCMP_UEQ;
    case ir::Compare::kNeu: return P::FCMP_UNE;
    case ir::Compare::kLtu: return P::FCMP_ULT;
    case ir::Compare::kLeu: return P::FCMP_ULE;
    case ir::Compare::kGtu: return P::FCMP_UGT;
    case ir::Compare::kGeu: return P::FCMP_UGE;
    case ir::Compare::kNum: return P::FCMP_ORD;
    case ir::Compare::kNan: return P::FCMP_UNO;
    default: return P::BAD_FCMP_PREDICATE;
  }
}

}  // namespace

Value* emit_integer(LaneBuilder& lane, const ir::Inst& inst, std::span<Value* const> x) {
  auto& b = lane.b;
  const unsigned bits = static_cast<unsigned>(ir::bits_of(inst.type));
  const bool is_signed = ir::is_signed(inst.type);
  auto extend = [&](Value* v, unsigned to) { return is_signed ? lane.sext(v, to) : lane.zext(v, to); };
  switch (inst.op) {
    case Op::kAdd:
      return inst.mods.sat
                 ? lane.intrinsic(is_signed ? llvm::Intrinsic::sadd_sat : llvm::Intrinsic::uadd_sat, {x[0], x[1]})
                 : b.CreateAdd(x[0], x[1]);
    case Op::kSub:
      return inst.mods.sat
                 ? lane.intrinsic(is_signed ? llvm::Intrinsic::ssub_sat : llvm::Intrinsic::usub_sat, {x[0], x[1]})
                 : b.CreateSub(x[0], x[1]);
    case Op::kMul: return b.CreateMul(x[0], x[1]);
    case Op::kMulHi: {
      Value* product = b.CreateMul(extend(x[0], 2 * bits), extend(x[1], 2 * bits));
      return lane.zext(b.CreateLShr(product, lane.int_const(2 * bits, bits)), bits);
    }
    case Op::kMulWide: return b.CreateMul(extend(x[0], 2 * bits), extend(x[1], 2 * bits));
    case Op::kMul24: {
      auto narrow = [&](Value* v) {
        Value* moved = b.CreateShl(v, lane.int_const(32, 8));
        return is_signed ? b.CreateAShr(moved, lane.int_const(32, 8)) : b.CreateLShr(moved, lane.int_const(32, 8));
      };
      if (!inst.mods.hi) return b.CreateMul(narrow(x[0]), narrow(x[1]));
      Value* product = b.CreateMul(extend(narrow(x[0]), 64), extend(narrow(x[1]), 64));
      return lane.zext(b.CreateLShr(product, lane.int_const(64, 16)), 32);
    }
    case Op::kDiv:
    case Op::kRem: return divide(lane, inst, x[0], x[1]);
    case Op::kAbs: return lane.b.CreateIntrinsic(llvm::Intrinsic::abs, {x[0]->getType()}, {x[0], b.getFalse()});
    case Op::kNeg: return b.CreateNeg(x[0]);
    case Op::kMin:
    case Op::kMax: {
      const bool is_max = inst.op == Op::kMax;
      Value* result = lane.intrinsic(is_max ? (is_signed ? llvm::Intrinsic::smax : llvm::Intrinsic::umax)
                                            : (is_signed ? llvm::Intrinsic::smin : llvm::Intrinsic::umin),
                                     {x[0], x[1]});
      if (inst.mods.relu) result = lane.intrinsic(llvm::Intrinsic::smax, {result, lane.int_const(bits, 0)});
      return result;
    }
    case Op::kSad: {
      Value* less = is_signed ? b.CreateICmpSLT(x[0], x[1]) : b.CreateICmpULT(x[0], x[1]);
      Value* distance = b.CreateSelect(less, b.CreateSub(x[1], x[0]), b.CreateSub(x[0], x[1]));
      return b.CreateAdd(x[2], distance);
    }
    case Op::kDp4a: return dot_product(lane, inst, x, 4, 8);
    case Op::kDp2a: return dot_product(lane, inst, x, 2, 16);
    default: return nullptr;
  }
}

Value* emit_bits(LaneBuilder& lane, const ir::Inst& inst, std::span<Value* const> x) {
  auto& b = lane.b;
  const unsigned bits = static_cast<unsigned>(ir::bits_of(inst.type));
  const bool is_signed = ir::is_signed(inst.type);
  auto word = [&](Value* v) { return lane.zext(v, 32); };
  switch (inst.op) {
    case Op::kAnd: return b.CreateAnd(x[0], x[1]);
    case Op::kOr: return b.CreateOr(x[0], x[1]);
    case Op::kXor: return b.CreateXor(x[0], x[1]);
    case Op::kNot: return b.CreateNot(x[0]);
    case Op::kCnot: return lane.zext(b.CreateICmpEQ(x[0], lane.int_const(bits, 0)), bits);
    case Op::kLop3: return lop3(lane, x, static_cast<unsigned>(inst.imm));
    case Op::kShl:
    case Op::kShr: return shift(lane, x[0], x[1], bits, inst.op, is_signed);
    case Op::kShfL:
    case Op::kShfR: {
      const bool left = inst.op == Op::kShfL;
      if (inst.mods.wrap)
        return lane.intrinsic(left ? llvm::Intrinsic::fshl : llvm::Intrinsic::fshr, {x[1], x[0], x[2]});
      Value* limit = lane.int_const(32, 32);
      Value* amount = lane.zext(b.CreateSelect(b.CreateICmpULT(x[2], limit), x[2], limit), 64);
      Value* pair = b.CreateOr(b.CreateShl(lane.zext(x[1], 64), lane.int_const(64, 32)), lane.zext(x[0], 64));
      if (left) return word(b.CreateLShr(b.CreateShl(pair, amount), lane.int_const(64, 32)));
      return word(b.CreateLShr(pair, amount));
    }
    case Op::kPopc: return word(lane.intrinsic(llvm::Intrinsic::ctpop, {x[0]}));
    case Op::kClz: return word(b.CreateIntrinsic(llvm::Intrinsic::ctlz, {x[0]->getType()}, {x[0], b.getFalse()}));
    case Op::kBfind: {
      Value* v = x[0];
      if (is_signed) v = b.CreateXor(v, b.CreateAShr(v, lane.int_const(bits, bits - 1)));
      Value* zeros = word(b.CreateIntrinsic(llvm::Intrinsic::ctlz, {v->getType()}, {v, b.getFalse()}));
      Value* none = b.CreateICmpEQ(v, lane.int_const(bits, 0));
      Value* found = inst.mods.shiftamt ? zeros : b.CreateSub(lane.int_const(32, bits - 1), zeros);
      return b.CreateSelect(none, lane.int_const(32, ~0ull), found);
    }
    case Op::kBrev: return lane.intrinsic(llvm::Intrinsic::bitreverse, {x[0]});
    case Op::kBfe: return bfe(lane, x, bits, is_signed);
    case Op::kBfi: return bfi(lane, x, bits);
    case Op::kBmsk: return bmsk(lane, x, inst.mods.wrap);
    case Op::kSzext: return szext(lane, x, is_signed, inst.mods.wrap);
    case Op::kFns: return fns(lane, x);
    case Op::kPrmt: return prmt(lane, x, inst.mods.prmt);
    default: return nullptr;
  }
}

Value* emit_compare(LaneBuilder& lane, const ir::Inst& inst, std::span<Value* const> x) {
  auto& b = lane.b;
  if (!ir::is_float(inst.type)) {
    const auto predicate = integer_predicate(inst.mods.compare, ir::is_signed(inst.type));
    return predicate == llvm::CmpInst::BAD_ICMP_PREDICATE ? nullptr : b.CreateICmp(predicate, x[0], x[1]);
  }
  const auto predicate = float_predicate(inst.mods.compare);
  if (predicate == llvm::CmpInst::BAD_FCMP_PREDICATE) return nullptr;
  auto read = [&](Value* v) {
    if (ir::bits_of(inst.type) == 16) {
      Value* wide = widen_from_16(lane, v, inst.type);
      return inst.mods.ftz && inst.type == Type::kF16 ? flush_f16(lane, wide) : wide;
    }
    Value* f = lane.as_float(v, inst.type);
    return inst.mods.ftz && inst.type == Type::kF32 ? flush(lane, f) : f;
  };
  return b.CreateFCmp(predicate, read(x[0]), read(x[1]));
}

}  // namespace heddle::codegen
