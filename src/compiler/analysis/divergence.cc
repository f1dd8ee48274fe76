#include "compiler/analysis/divergence.h"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace heddle::analysis {

using ir::BlockId;

Divergence compute_divergence(const ir::Function& function, const Cfg& cfg, BlockId branch) {
  // Each successor sends its own label forward; a block that two labels reach is a join and sends its own from there
  // on. Blocks are taken in order, so a block is taken after all its forward predecessors.
  Divergence result;
  // A block that only ends its lanes is nobody's meeting place.
  auto only_ends = [&](BlockId b) {
    return function.blocks[b].insts.size() == 1 && function.blocks[b].terminator().targets.empty();
  };
  BlockId stop = cfg.ipdom[branch];
  if (stop != kNoBlock && only_ends(stop)) stop = kNoBlock;
  std::unordered_map<BlockId, BlockId> label;
  std::set<std::uint32_t> work;
  std::set<BlockId> joins;
  std::set<int> left;
  auto send = [&](BlockId from, BlockId to, BlockId with) {
    // Lanes that leave a loop around the branch part from those that stay.
    for (int l = cfg.loop_of[branch]; l != kNoLoop; l = cfg.loops[static_cast<std::size_t>(l)].parent) {
      if (cfg.in_loop(from, l) && !cfg.in_loop(to, l)) left.insert(l);
    }
    auto [place, fresh] = label.try_emplace(to, with);
    if (!fresh) {
      if (place->second == with || place->second == to) return;
      place->second = to;
      joins.insert(to);
    }
    if (to != stop && to != branch) work.insert(cfg.index[to]);
  };
  for (const auto& target : function.blocks[branch].terminator().targets) send(branch, target.block, target.block);
  while (!work.empty()) {
    const BlockId block = cfg.order[*work.begin()];
    work.erase(work.begin());
    for (const auto& target : function.blocks[block].terminator().targets) send(block, target.block, label.at(block));
  }
  for (const auto& [block, with] : label) {
    if (block != stop) result.region.push_back(block);
  }
  // Both sides meet at the post-dominator even if one of them is empty.
  if (stop != kNoBlock && label.contains(stop)) joins.insert(stop);
  std::set<BlockId> suspending;  // labels under which a warp can be suspended
  for (const auto& [block, with] : label) {
    const auto& insts = function.blocks[block].insts;
    if (insts.size() > 1 && ir::class_of(insts[insts.size() - 2].op) == ir::OpClass::kBarrier) suspending.insert(with);
  }
  result.apart =
      suspending.size() > 1 || std::any_of(joins.begin(), joins.end(), [&](BlockId b) { return !only_ends(b); });
  std::sort(result.region.begin(), result.region.end());
  result.joins.assign(joins.begin(), joins.end());
  result.left_loops.assign(left.begin(), left.end());
  return result;
}

}  // namespace heddle::analysis
