#include "compiler/analysis/cfg.h"

#include <algorithm>

namespace heddle::analysis {
namespace {

using ir::BlockId;

/// Orders the blocks of one region and finds its loops, recursively. All stacks are explicit where depth depends on the
/// number of blocks: kernels of 10^5 blocks exist.
class Orderer {
 public:
  Orderer(const ir::Function& function, Cfg& cfg)
      : function_(function), cfg_(cfg), region_(function.blocks.size(), 0) {}

  void run() {
    std::vector<BlockId> all(function_.blocks.size());
    for (BlockId b = 0; b < all.size(); ++b) all[b] = b;
    for (BlockId b : all) region_[b] = 1;
    next_region_ = 1;
    order_region(0, kNoBlock, 1, kNoLoop, 1);
    cfg_.index.assign(function_.blocks.size(), kUnreachable);
    for (std::uint32_t i = 0; i < cfg_.order.size(); ++i) cfg_.index[cfg_.order[i]] = i;
  }

 private:
  struct Component {
    std::vector<BlockId> blocks;
    BlockId entry;  ///< the block in which depth-first search entered it
    bool is_loop;
  };

  /// Appends the blocks reachable from `entry` inside `region` to the order; edges to `cut` do not count.
  void order_region(BlockId entry, BlockId cut, std::uint32_t region, int loop, int depth) {
    std::vector<Component> components = find_components(entry, cut, region);
    // Tarjan finds components in reverse topological order.
    for (auto c = components.rbegin(); c != components.rend(); ++c) {
      if (!c->is_loop) {
        cfg_.order.push_back(c->blocks[0]);
        cfg_.loop_of[c->blocks[0]] = loop;
        continue;
      }
      const int inner = static_cast<int>(cfg_.loops.size());
      cfg_.loops.push_back({c->entry, loop, depth, {}});
      const std::uint32_t inner_region = ++next_region_;
      for (BlockId b : c->blocks) region_[b] = inner_region;
      const std::size_t begin = cfg_.order.size();
      order_region(c->entry, c->entry, inner_region, inner, depth + 1);
      cfg_.loops[static_cast<std::size_t>(inner)].blocks.assign(cfg_.order.begin() + static_cast<std::ptrdiff_t>(begin),
                                                                cfg_.order.end());
    }
  }

  std::vector<Component> find_components(BlockId entry, BlockId cut, std::uint32_t region) {
    struct Visit {
      BlockId block;
      std::size_t next = 0;
    };
    std::vector<Component> found;
    std::vector<Visit> visits{{entry}};
    std::vector<BlockId> open;
    std::uint32_t counter = 0;
    number_.resize(function_.blocks.size());
    low_.resize(function_.blocks.size());
    state_.resize(function_.blocks.size());
    std::vector<BlockId> seen;
    auto enter = [&](BlockId b) {
      number_[b] = low_[b] = ++counter;
      state_[b] = kOpen;
      open.push_back(b);
      seen.push_back(b);
    };
    enter(entry);
    while (!visits.empty()) {
      Visit& visit = visits.back();
      const BlockId block = visit.block;
      const auto& targets = function_.blocks[block].terminator().targets;
      if (visit.next < targets.size()) {
        // The last target first: in the reversed result the first target then comes right behind its branch.
        const BlockId to = targets[targets.size() - 1 - visit.next++].block;
        if (to == cut || region_[to] != region) continue;
        if (state_[to] == kNew) {
          enter(to);
          visits.push_back({to});
        } else if (state_[to] == kOpen) {
          low_[block] = std::min(low_[block], number_[to]);
        }
        continue;
      }
      visits.pop_back();
      if (!visits.empty()) low_[visits.back().block] = std::min(low_[visits.back().block], low_[block]);
      if (low_[block] != number_[block]) continue;
      Component component{{}, block, false};
      BlockId member;
      do {
        member = open.back();
        open.pop_back();
        state_[member] = kClosed;
        component.blocks.push_back(member);
      } while (member != block);
      component.is_loop = component.blocks.size() > 1;
      for (const auto& target : function_.blocks[block].terminator().targets) {
        if (target.block == block && block != cut) component.is_loop = true;
      }
      found.push_back(std::move(component));
    }
    for (BlockId b : seen) state_[b] = kNew;
    return found;
  }

  enum State : std::uint8_t { kNew, kOpen, kClosed };

  const ir::Function& function_;
  Cfg& cfg_;
  std::vector<std::uint32_t> region_;
  std::vector<std::uint32_t> number_, low_;
  std::vector<State> state_;
  std::uint32_t next_region_ = 0;
};

/// Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001), over positions in some order that puts each
/// node behind its dominators. `predecessors` are positions; node 0 is the root. Returns positions; kUnreachable: none.
std::vector<std::uint32_t> compute_dominators(const std::vector<std::vector<std::uint32_t>>& predecessors) {
  std::vector<std::uint32_t> idom(predecessors.size(), kUnreachable);
  if (idom.empty()) return idom;
  idom[0] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::uint32_t n = 1; n < predecessors.size(); ++n) {
      std::uint32_t meet = kUnreachable;
      for (std::uint32_t p : predecessors[n]) {
        if (idom[p] == kUnreachable) continue;
        if (meet == kUnreachable) {
          meet = p;
          continue;
        }
        std::uint32_t a = p;
        while (a != meet) {
          while (a > meet) a = idom[a];
          while (meet > a) meet = idom[meet];
        }
      }
      if (idom[n] != meet) {
        idom[n] = meet;
        changed = true;
      }
    }
  }
  return idom;
}

void compute_immediate_dominators(const ir::Function& function, Cfg& cfg) {
  std::vector<std::vector<std::uint32_t>> predecessors(cfg.order.size());
  for (std::uint32_t i = 0; i < cfg.order.size(); ++i) {
    for (BlockId p : cfg.predecessors[cfg.order[i]]) predecessors[i].push_back(cfg.index[p]);
  }
  const auto idom = compute_dominators(predecessors);
  cfg.idom.assign(function.blocks.size(), kNoBlock);
  for (std::uint32_t i = 1; i < idom.size(); ++i) {
    if (idom[i] != kUnreachable) cfg.idom[cfg.order[i]] = cfg.order[idom[i]];
  }
}

/// Dominators of the reversed graph, from a virtual exit behind all blocks that leave the function. Blocks that can't
/// reach it (endless loops) have none.
void compute_immediate_postdominators(const ir::Function& function, Cfg& cfg) {
  const std::uint32_t n = static_cast<std::uint32_t>(cfg.order.size());
  // A reverse post order of the reversed graph, so that each node comes behind its post-dominators.
  std::vector<std::uint32_t> position(n, kUnreachable);
  std::vector<std::uint32_t> postorder;
  std::vector<bool> seen(n, false);
  std::vector<std::pair<std::uint32_t, std::size_t>> stack;
  for (std::uint32_t i = n; i-- > 0;) {
    if (seen[i] || !function.blocks[cfg.order[i]].terminator().targets.empty()) continue;
    seen[i] = true;
    stack.push_back({i, 0});
    while (!stack.empty()) {
      auto& [node, next] = stack.back();
      const auto& predecessors = cfg.predecessors[cfg.order[node]];
      if (next < predecessors.size()) {
        const std::uint32_t p = cfg.index[predecessors[next++]];
        if (!seen[p]) {
          seen[p] = true;
          stack.push_back({p, 0});
        }
      } else {
        postorder.push_back(node);
        stack.pop_back();
      }
    }
  }
  const std::uint32_t count = static_cast<std::uint32_t>(postorder.size());
  for (std::uint32_t i = 0; i < count; ++i) position[postorder[i]] = count - i;  // 0 is the virtual exit
  std::vector<std::vector<std::uint32_t>> successors(count + 1);
  for (std::uint32_t node : postorder) {
    const auto& targets = function.blocks[cfg.order[node]].terminator().targets;
    auto& list = successors[position[node]];
    if (targets.empty()) list.push_back(0);
    for (const auto& target : targets) {
      const std::uint32_t to = position[cfg.index[target.block]];
      if (to != kUnreachable) list.push_back(to);
    }
  }
  const auto ipdom = compute_dominators(successors);
  cfg.ipdom.assign(function.blocks.size(), kNoBlock);
  for (std::uint32_t node : postorder) {
    const std::uint32_t up = ipdom[position[node]];
    if (up != 0 && up != kUnreachable) cfg.ipdom[cfg.order[node]] = cfg.order[postorder[count - up]];
  }
}

}  // namespace

Cfg compute_cfg(const ir::Function& function) {
  Cfg cfg;
  cfg.loop_of.assign(function.blocks.size(), kNoLoop);
  cfg.predecessors.resize(function.blocks.size());
  Orderer(function, cfg).run();
  for (BlockId block : cfg.order) {
    for (const auto& target : function.blocks[block].terminator().targets) {
      cfg.predecessors[target.block].push_back(block);
    }
  }
  compute_immediate_dominators(function, cfg);
  compute_immediate_postdominators(function, cfg);
  return cfg;
}

bool Cfg::dominates(BlockId a, BlockId b) const {
  if (!reachable(a) || !reachable(b)) return false;
  while (index[b] > index[a]) b = idom[b];
  return a == b;
}

bool Cfg::in_loop(BlockId block, int loop) const {
  for (int l = loop_of[block]; l != kNoLoop; l = loops[static_cast<std::size_t>(l)].parent) {
    if (l == loop) return true;
  }
  return false;
}

}  // namespace heddle::analysis
