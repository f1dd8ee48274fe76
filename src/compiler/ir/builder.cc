#include "compiler/ir/builder.h"

namespace heddle::ir {

bool Builder::ended() const {
  const Block& block = function_->blocks[block_];
  return !block.insts.empty() && is_terminator(block.insts.back().op);
}

Inst& Builder::append(Op op, Type type, std::initializer_list<ValueId> operands, const Mods& mods) {
  return append(op, type, std::vector<ValueId>(operands), mods);
}

Inst& Builder::append(Op op, Type type, std::vector<ValueId> operands, const Mods& mods) {
  Inst& inst = function_->blocks[block_].insts.emplace_back();
  inst.op = op;
  inst.type = type;
  inst.from = type;
  inst.mods = mods;
  inst.operands = std::move(operands);
  inst.location = location_;
  return inst;
}

ValueId Builder::emit(Op op, Type type, std::initializer_list<ValueId> operands, const Mods& mods) {
  return emit_as(type, op, type, operands, mods);
}

ValueId Builder::emit_as(Type result, Op op, Type type, std::initializer_list<ValueId> operands, const Mods& mods) {
  const ValueId value = function_->add_value(result);
  append(op, type, operands, mods).results.push_back(value);
  return value;
}

ValueId Builder::constant(Type type, std::uint64_t value) {
  const int bits = bits_of(type);
  const ValueId result = function_->add_value(type);
  Inst& inst = append(Op::kConst, bits_type(bits));
  inst.results.push_back(result);
  inst.imm = bits >= 64 ? value : value & ((std::uint64_t{1} << bits) - 1);
  return result;
}

ValueId Builder::resize(ValueId value, int bits, bool sign) {
  const int from = width(value);
  if (from == bits) return value;
  const ValueId result = function_->add_value(bits_type(bits));
  Inst& inst = append(sign && bits > from ? Op::kSext : Op::kZext, bits_type(bits), {value});
  inst.from = bits_type(from);
  inst.results.push_back(result);
  return result;
}

void Builder::branch(BlockId target) { append(Op::kBranch, Type::kB32).targets.push_back({target, {}}); }

void Builder::branch_if(ValueId predicate, BlockId if_true, BlockId if_false) {
  Inst& inst = append(Op::kCondBranch, Type::kB32, {predicate});
  inst.targets.push_back({if_true, {}});
  inst.targets.push_back({if_false, {}});
}

}  // namespace heddle::ir
