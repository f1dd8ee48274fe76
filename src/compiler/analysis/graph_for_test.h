// Builds functions for tests of the analyses from a list of edges. Each branch has its own condition value.
#pragma once

#include "compiler/ir/ir.h"

namespace heddle::analysis {

/// Inserts an instruction before block `b`'s terminator and returns its result.
inline ir::ValueId add_inst(ir::Function& f, ir::BlockId b, ir::Inst inst, ir::Type result = ir::Type::kB32) {
  const ir::ValueId v = f.add_value(result);
  inst.results = {v};
  auto& insts = f.blocks[b].insts;
  insts.insert(insts.end() - 1, std::move(inst));
  return v;
}
inline ir::ValueId define(ir::Function& f, ir::BlockId b, std::uint64_t value = 1) {
  ir::Inst inst;
  inst.op = ir::Op::kConst;
  inst.imm = value;
  return add_inst(f, b, std::move(inst));
}
inline ir::ValueId special(ir::Function& f, ir::BlockId b, ir::Special which) {
  ir::Inst inst;
  inst.op = ir::Op::kSpecial;
  inst.mods.special = which;
  return add_inst(f, b, std::move(inst));
}
inline ir::ValueId op(ir::Function& f, ir::BlockId b, ir::Op operation, ir::Type type,
                      std::vector<ir::ValueId> operands, ir::Type result = ir::Type::kB32,
                      ir::Type from = ir::Type::kB32) {
  ir::Inst inst;
  inst.op = operation;
  inst.type = type;
  inst.from = from;
  inst.operands = std::move(operands);
  return add_inst(f, b, std::move(inst), result);
}
inline void use(ir::Function& f, ir::BlockId b, ir::ValueId value) { op(f, b, ir::Op::kNot, ir::Type::kB32, {value}); }

/// blocks[b] ends in a branch to edges[b]; two edges make a conditional branch whose condition is an undefined value
/// (set it with condition()); none makes a return.
inline ir::Function graph(const std::vector<std::vector<ir::BlockId>>& edges) {
  ir::Function f;
  f.is_kernel = true;
  f.blocks.resize(edges.size());
  for (ir::BlockId b = 0; b < edges.size(); ++b) {
    ir::Inst end;
    end.op = edges[b].empty() ? ir::Op::kReturn : edges[b].size() == 1 ? ir::Op::kBranch : ir::Op::kCondBranch;
    for (ir::BlockId to : edges[b]) end.targets.push_back({to, {}});
    if (edges[b].size() == 2) end.operands = {f.add_value(ir::Type::kPred)};
    f.blocks[b].insts.push_back(std::move(end));
  }
  return f;
}
inline void condition(ir::Function& f, ir::BlockId b, ir::ValueId pred) { f.blocks[b].insts.back().operands = {pred}; }

}  // namespace heddle::analysis
