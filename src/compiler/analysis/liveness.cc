#include "compiler/analysis/liveness.h"

#include <algorithm>

namespace heddle::analysis {

Liveness compute_liveness(const ir::Function& function, const Cfg& cfg) {
  using ir::BlockId;
  using ir::ValueId;
  // One walk per use, from the use up to the definition (Boissinot et al., "Computing Liveness Sets for SSA-Form
  // Programs", 2011): linear in the size of the result.
  std::vector<BlockId> defined_in(function.values.size(), kNoBlock);
  for (BlockId b : cfg.order) {
    for (ValueId v : function.blocks[b].parameters) defined_in[v] = b;
    for (const auto& inst : function.blocks[b].insts) {
      for (ValueId v : inst.results) defined_in[v] = b;
    }
  }
  for (ValueId v : function.arguments) defined_in[v] = cfg.order[0];

  Liveness liveness;
  liveness.live_in.resize(function.blocks.size());
  std::vector<BlockId> work;
  auto use = [&](ValueId value, BlockId in) {
    if (value == ir::kNoValue) return;
    work.push_back(in);
    while (!work.empty()) {
      const BlockId block = work.back();
      work.pop_back();
      if (defined_in[value] == block) continue;
      auto& live = liveness.live_in[block];
      if (!live.empty() && live.back() == value) continue;  // values are handled one by one, so it would be the last
      live.push_back(value);
      for (BlockId p : cfg.predecessors[block]) work.push_back(p);
    }
  };
  std::vector<std::vector<BlockId>> uses(function.values.size());
  auto note = [&](ValueId value, BlockId block) {
    if (value == ir::kNoValue) return;
    auto& list = uses[value];
    if (list.empty() || list.back() != block) list.push_back(block);
  };
  for (BlockId b : cfg.order) {
    for (const auto& inst : function.blocks[b].insts) {
      for (ValueId v : inst.operands) note(v, b);
      note(inst.guard, b);
      for (ValueId v : inst.guard_else) note(v, b);
      for (const auto& target : inst.targets) {
        for (ValueId v : target.arguments) note(v, b);
      }
    }
  }
  for (ValueId v = 0; v < uses.size(); ++v) {
    for (BlockId b : uses[v]) use(v, b);
  }
  return liveness;
}

}  // namespace heddle::analysis
