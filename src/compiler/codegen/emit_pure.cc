// Dispatch of the value emitters by operation, and the operations too small for a family: selection, packing, carries.
// Judged by tests/ptx (values recorded from a GPU) and tests/fuzz (against the interpreter).
#include "compiler/codegen/emit_pure.h"

#include "compiler/codegen/emit_pure_detail.h"

namespace heddle::codegen {
namespace {

using ir::Op;
using ir::Type;

void add_with_carry(LaneBuilder& lane, std::span<Value* const> in, std::span<Value*> out, unsigned bits,
                    bool subtract) {
  auto& b = lane.b;
  Value* carry = lane.zext(in[2], bits);
  if (subtract) {
    Value* difference = b.CreateSub(in[0], in[1]);
    Value* borrow = b.CreateICmpULT(in[0], in[1]);
    out[0] = b.CreateSub(difference, carry);
    out[1] = b.CreateOr(borrow, b.CreateICmpULT(difference, carry));
  } else {
    Value* sum = b.CreateAdd(in[0], in[1]);
    Value* first = b.CreateICmpULT(sum, in[0]);
    out[0] = b.CreateAdd(sum, carry);
    out[1] = b.CreateOr(first, b.CreateICmpULT(out[0], carry));
  }
}

Value* pack(LaneBuilder& lane, std::span<Value* const> in, unsigned width) {
  const unsigned part = width / static_cast<unsigned>(in.size());
  Value* wide = lane.zext(in[0], width);
  for (unsigned i = 1; i < in.size(); ++i) {
    wide = lane.b.CreateOr(wide, lane.b.CreateShl(lane.zext(in[i], width), lane.int_const(width, i * part)));
  }
  return wide;
}

void unpack(LaneBuilder& lane, Value* wide, std::span<Value*> out) {
  const unsigned width = wide->getType()->getScalarSizeInBits();
  const unsigned part = width / static_cast<unsigned>(out.size());
  for (unsigned i = 0; i < out.size(); ++i) {
    Value* shifted = i ? lane.b.CreateLShr(wide, lane.int_const(width, i * part)) : wide;
    out[i] = lane.zext(shifted, part);
  }
}

/// Packed 16-bit types: the same operation on both halves.
bool emit_packed(LaneBuilder& lane, const ir::Inst& inst, std::span<Value* const> in, std::span<Value*> out) {
  ir::Inst half = inst;
  auto element = [](Type type) {
    switch (type) {
      case Type::kF16x2: return Type::kF16;
      case Type::kBF16x2: return Type::kBF16;
      case Type::kU16x2: return Type::kU16;
      case Type::kS16x2: return Type::kS16;
      default: return type;
    }
  };
  half.type = element(inst.type);
  half.from = element(inst.from);
  Value* halves[2];
  for (unsigned h = 0; h < 2; ++h) {
    Value* parts[4];
    for (std::size_t i = 0; i < in.size(); ++i) {
      parts[i] = lane.zext(h ? lane.b.CreateLShr(in[i], lane.int_const(32, 16)) : in[i], 16);
    }
    Value* result[1] = {nullptr};
    if (!emit_pure(lane, half, {parts, in.size()}, result)) return false;
    halves[h] = result[0];
  }
  // setp on packed types gives one predicate per half.
  if (out.size() == 2) {
    out[0] = halves[0];
    out[1] = halves[1];
    return true;
  }
  out[0] = pack(lane, halves, 32);
  return true;
}

Value* emit_one(LaneBuilder& lane, const ir::Inst& inst, std::span<Value* const> in) {
  const bool is_float = ir::is_float(inst.type);
  switch (inst.op) {
    case Op::kAdd:
    case Op::kSub:
    case Op::kMul:
    case Op::kDiv:
    case Op::kAbs:
    case Op::kNeg:
    case Op::kMin:
    case Op::kMax: return is_float ? emit_float(lane, inst, in) : emit_integer(lane, inst, in);
    case Op::kFma:
    case Op::kRcp:
    case Op::kSqrt:
    case Op::kRsqrt:
    case Op::kSin:
    case Op::kCos:
    case Op::kEx2:
    case Op::kLg2:
    case Op::kTanh:
    case Op::kCopysign:
    case Op::kTestp: return emit_float(lane, inst, in);
    case Op::kMulHi:
    case Op::kMulWide:
    case Op::kMul24:
    case Op::kRem:
    case Op::kSad:
    case Op::kDp4a:
    case Op::kDp2a: return emit_integer(lane, inst, in);
    case Op::kSetp: return emit_compare(lane, inst, in);
    case Op::kSelect: return lane.b.CreateSelect(in[0], in[1], in[2]);
    case Op::kCvt: return emit_convert(lane, inst, in[0]);
    case Op::kCvtPack: return emit_convert_pack(lane, inst, in);
    case Op::kZext: return lane.zext(in[0], static_cast<unsigned>(ir::bits_of(inst.type)));
    case Op::kSext: return lane.sext(in[0], static_cast<unsigned>(ir::bits_of(inst.type)));
    case Op::kPack: return pack(lane, in, static_cast<unsigned>(ir::bits_of(inst.type)));
    case Op::kVideo: return emit_video(lane, inst, in);
    default: return emit_bits(lane, inst, in);
  }
}

}  // namespace

bool emit_pure(LaneBuilder& lane, const ir::Inst& inst, std::span<Value* const> operands, std::span<Value*> results) {
  if (inst.op == Op::kUnpack) {
    unpack(lane, operands[0], results);
    return true;
  }
  if (inst.op == Op::kAddCarry || inst.op == Op::kSubBorrow) {
    add_with_carry(lane, operands, results, static_cast<unsigned>(ir::bits_of(inst.type)), inst.op == Op::kSubBorrow);
    return true;
  }
  const bool conversion = inst.op == Op::kCvtPack || inst.op == Op::kPack || inst.op == Op::kCvt;
  if (ir::class_of(inst.type) == ir::TypeClass::kPacked && !conversion)
    return emit_packed(lane, inst, operands, results);
  results[0] = emit_one(lane, inst, operands);
  return results[0] != nullptr;
}

}  // namespace heddle::codegen
