#include "compiler/transform/lower_spin_loops.h"

#include <algorithm>

#include "compiler/analysis/cfg.h"

namespace heddle::transform {
namespace {

using ir::BlockId;
using ir::Inst;
using ir::Op;
using ir::ValueId;

class SpinLoops {
 public:
  explicit SpinLoops(ir::Function* function) : f_(*function), cfg_(analysis::compute_cfg(*function)) {}

  void run() {
    if (cfg_.loops.empty()) return;
    find_definitions();
    std::vector<char> spins(cfg_.loops.size(), 0);
    // Inner loops first: what an inner loop already yields for is not the outer one's business.
    for (std::size_t l = cfg_.loops.size(); l-- > 0;) spins[l] = waits(static_cast<int>(l), spins);
    for (std::size_t l = 0; l < cfg_.loops.size(); ++l)
      if (spins[l]) yield_on_back_edges(static_cast<int>(l));
  }

 private:
  void find_definitions() {
    block_of_.assign(f_.values.size(), ~0u);
    inst_of_.assign(f_.values.size(), nullptr);
    for (BlockId b = 0; b < f_.blocks.size(); ++b) {
      for (ValueId p : f_.blocks[b].parameters) block_of_[p] = b;
      for (const Inst& inst : f_.blocks[b].insts)
        for (ValueId r : inst.results) {
          block_of_[r] = b;
          inst_of_[r] = &inst;
        }
    }
  }

  bool inside(BlockId b, int loop) const { return b != ~0u && cfg_.reachable(b) && cfg_.in_loop(b, loop); }
  bool invariant(ValueId v, int loop) const {
    return !inside(block_of_[v], loop) || (inst_of_[v] != nullptr && inst_of_[v]->op == Op::kConst);
  }

  /// Whether the value of `inst` changes only because somebody else writes.
  bool is_source(const Inst& inst, int loop) const {
    if (inst.mods.space == ir::Space::kLocal || inst.mods.space == ir::Space::kParam) return false;
    switch (inst.op) {
      case Op::kLoad: return inst.mods.is_volatile || inst.mods.order != ir::Order::kWeak;
      case Op::kAtomicCas: return invariant(inst.operands[1], loop);
      case Op::kAtomicRmw: {
        const ir::AtomicOp op = inst.mods.atomic;
        if (op != ir::AtomicOp::kAdd && op != ir::AtomicOp::kInc && op != ir::AtomicOp::kDec) return true;
        const Inst* operand = inst_of_[inst.operands[1]];
        return operand != nullptr && operand->op == Op::kConst && operand->imm == 0;  // a load in disguise
      }
      default: return false;
    }
  }

  bool waits(int loop, const std::vector<char>& spins) {
    std::vector<char> seen_value(f_.values.size(), 0), seen_branch(f_.blocks.size(), 0);
    std::vector<ValueId> work;
    auto add = [&](ValueId v) {
      if (v == ir::kNoValue || seen_value[v] || !inside(block_of_[v], loop)) return;
      seen_value[v] = 1;
      work.push_back(v);
    };
    auto add_branch = [&](BlockId b) {
      if (seen_branch[b] || !inside(b, loop)) return;
      seen_branch[b] = 1;
      for (ValueId v : f_.blocks[b].terminator().operands) add(v);
    };
    auto in_yielding_loop = [&](BlockId b) {
      for (int l = cfg_.loop_of[b]; l != loop && l != analysis::kNoLoop;
           l = cfg_.loops[static_cast<std::size_t>(l)].parent)
        if (spins[static_cast<std::size_t>(l)]) return true;
      return false;
    };
    bool has_exit = false;
    for (BlockId b : cfg_.loops[static_cast<std::size_t>(loop)].blocks) {
      for (const Inst& inst : f_.blocks[b].insts)
        if (inst.op == Op::kNanosleep && !in_yielding_loop(b)) return true;
      for (const ir::Target& t : f_.blocks[b].terminator().targets)
        if (!inside(t.block, loop)) {
          has_exit = true;
          add_branch(b);
        }
      if (f_.blocks[b].terminator().targets.empty()) has_exit = true;
    }
    if (!has_exit) return true;  // endless: let the others go on
    while (!work.empty()) {
      const ValueId v = work.back();
      work.pop_back();
      if (const Inst* inst = inst_of_[v]) {
        if (is_source(*inst, loop) && !in_yielding_loop(block_of_[v])) return true;
        for (ValueId o : inst->operands) add(o);
        for (ValueId o : inst->guard_else) add(o);
        add(inst->guard);
        continue;
      }
      // A parameter: the values that come in, and the branches between here and where the ways parted.
      const BlockId b = block_of_[v];
      const auto& parameters = f_.blocks[b].parameters;
      const auto index =
          static_cast<std::size_t>(std::find(parameters.begin(), parameters.end(), v) - parameters.begin());
      for (BlockId p : cfg_.predecessors[b]) {
        if (!inside(p, loop)) continue;
        for (const ir::Target& t : f_.blocks[p].terminator().targets)
          if (t.block == b) add(t.arguments[index]);
        if (b == cfg_.loops[static_cast<std::size_t>(loop)].header) continue;
        for (BlockId w = p; w != analysis::kNoBlock && inside(w, loop); w = cfg_.idom[w]) {
          add_branch(w);
          if (w == cfg_.idom[b]) break;
        }
      }
    }
    return false;
  }

  void yield_on_back_edges(int loop) {
    const BlockId header = cfg_.loops[static_cast<std::size_t>(loop)].header;
    const std::vector<BlockId> blocks = cfg_.loops[static_cast<std::size_t>(loop)].blocks;
    for (BlockId b : blocks) {
      for (std::size_t t = 0; t < f_.blocks[b].terminator().targets.size(); ++t) {
        if (f_.blocks[b].terminator().targets[t].block != header) continue;
        const auto between = static_cast<BlockId>(f_.blocks.size());
        ir::Block yield;
        Inst wait, branch;
        wait.op = Op::kYield;
        wait.location = branch.location = f_.blocks[b].terminator().location;
        branch.op = Op::kBranch;
        branch.targets.push_back(std::move(f_.blocks[b].insts.back().targets[t]));
        yield.insts.push_back(std::move(wait));
        yield.insts.push_back(std::move(branch));
        f_.blocks[b].insts.back().targets[t] = {between, {}};
        f_.blocks.push_back(std::move(yield));
      }
    }
  }

  ir::Function& f_;
  const analysis::Cfg cfg_;
  std::vector<BlockId> block_of_;
  std::vector<const Inst*> inst_of_;
};

}  // namespace

void lower_spin_loops(ir::Program* program) {
  SpinLoops(&program->kernel).run();
  for (ir::Function& f : program->functions) SpinLoops(&f).run();
}

}  // namespace heddle::transform
