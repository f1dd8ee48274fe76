#include "compiler/interp/evaluate.h"

namespace heddle::interp {
namespace {

using ir::Op;
using ir::Type;

/// Packed types compute element by element.
bool element_of(Type packed, Type* element, int* count) {
  *count = 2;
  switch (packed) {
    case Type::kF16x2: *element = Type::kF16; return true;
    case Type::kBF16x2: *element = Type::kBF16; return true;
    case Type::kU16x2: *element = Type::kU16; return true;
    case Type::kS16x2: *element = Type::kS16; return true;
    case Type::kE4M3x2: *element = Type::kE4M3; return true;
    case Type::kE5M2x2: *element = Type::kE5M2; return true;
    default: return false;
  }
}

std::uint64_t part_of(std::uint64_t value, int part, int width) { return value >> (part * width) & mask_of(width); }

bool evaluate_packed(const ir::Inst& inst, const Bits* operands, Bits* results) {
  ir::Inst scalar = inst;
  int count = 0;
  const bool conversion = inst.op == Op::kCvt;
  if (!element_of(inst.type, &scalar.type, &count)) return false;
  if (conversion && !element_of(inst.from, &scalar.from, &count)) return false;
  const int in_width = conversion ? ir::bits_of(scalar.from) : ir::bits_of(scalar.type);
  const int out_width = inst.op == Op::kSetp || inst.op == Op::kTestp ? 1 : ir::bits_of(scalar.type);
  results[0] = {};
  for (int part = 0; part < count; ++part) {
    Bits in[4], out[2];
    const std::size_t operand_count = inst.operands.size() < 4 ? inst.operands.size() : 4;
    for (std::size_t i = 0; i < operand_count; ++i) in[i].lo = part_of(operands[i].lo, part, in_width);
    if (!evaluate(scalar, in, out)) return false;
    if (out_width == 1) {
      // A packed comparison that gives one pred is not a form of PTX: the parser makes two scalar ones.
      if (inst.results.size() != static_cast<std::size_t>(count)) return false;
      results[part] = out[0];
    } else {
      results[0].lo |= out[0].lo << (part * out_width);
    }
  }
  return true;
}

bool evaluate_cvt_pack(const ir::Inst& inst, const Bits* operands, Bits* results) {
  ir::Inst scalar = inst;
  int count = 0;
  scalar.op = Op::kCvt;
  if (!element_of(inst.type, &scalar.type, &count)) return false;
  const int width = ir::bits_of(scalar.type);
  Bits upper, lower;
  if (!evaluate(scalar, &operands[0], &upper) || !evaluate(scalar, &operands[1], &lower)) return false;
  results[0] = {upper.lo << width | lower.lo, 0};
  return true;
}

void pack(const ir::Inst& inst, const Bits* operands, Bits* results) {
  const int width = ir::bits_of(inst.type) / static_cast<int>(inst.operands.size());
  Bits wide;
  for (std::size_t i = 0; i < inst.operands.size(); ++i) {
    const int at = static_cast<int>(i) * width;
    (at < 64 ? wide.lo : wide.hi) |= (operands[i].lo & mask_of(width)) << (at % 64);
  }
  results[0] = wide;
}

void unpack(const ir::Inst& inst, const Bits* operands, Bits* results) {
  const int width = ir::bits_of(inst.type) / static_cast<int>(inst.results.size());
  for (std::size_t i = 0; i < inst.results.size(); ++i) {
    const int at = static_cast<int>(i) * width;
    results[i] = {(at < 64 ? operands[0].lo : operands[0].hi) >> (at % 64) & mask_of(width), 0};
  }
}

}  // namespace

bool evaluate(const ir::Inst& inst, const Bits* operands, Bits* results) {
  switch (inst.op) {
    case Op::kSelect: results[0] = operands[0].lo & 1 ? operands[1] : operands[2]; return true;
    case Op::kPack: pack(inst, operands, results); return true;
    case Op::kUnpack: unpack(inst, operands, results); return true;
    case Op::kUndef: results[0] = {}; return true;
    case Op::kCvtPack: return evaluate_cvt_pack(inst, operands, results);
    case Op::kVideo:
      results[0] = {
          evaluate_video(inst.imm, static_cast<std::uint32_t>(operands[0].lo),
                         static_cast<std::uint32_t>(operands[1].lo), static_cast<std::uint32_t>(operands[2].lo)),
          0};
      return true;
    case Op::kZext:
      results[0] = {operands[0].lo & mask_of(ir::bits_of(inst.from)) & mask_of(ir::bits_of(inst.type)),
                    ir::bits_of(inst.from) == 128 && ir::bits_of(inst.type) == 128 ? operands[0].hi : 0};
      return true;
    case Op::kSext: {
      const std::int64_t wide = sign_extend(operands[0].lo, ir::bits_of(inst.from));
      const int bits = ir::bits_of(inst.type);
      results[0] = {static_cast<std::uint64_t>(wide) & mask_of(bits), bits == 128 && wide < 0 ? ~0ull : 0};
      return true;
    }
    default: break;
  }
  const bool bitwise = inst.op == Op::kAnd || inst.op == Op::kOr || inst.op == Op::kXor || inst.op == Op::kNot;
  if (ir::class_of(inst.type) == ir::TypeClass::kPacked && !bitwise) return evaluate_packed(inst, operands, results);
  if (inst.op == Op::kCvt) return evaluate_cvt(inst, operands, results);
  if (ir::is_float(inst.type) && evaluate_float(inst, operands, results)) return true;
  return evaluate_integer(inst, operands, results);
}

}  // namespace heddle::interp
