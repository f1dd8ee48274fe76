// The order of blocks by which the interpreter schedules diverged lanes. Tested by interp_test.cc and tests/ptx.
#include <algorithm>

#include "compiler/interp/machine.h"

namespace heddle::interp {
namespace {

// Tarjan's components of the blocks in `inside`, without the edges into `head`; within each component the same again
// without its head. Recursion depth is the depth of the loop nest; the search itself is iterative.
class Orderer {
 public:
  explicit Orderer(const ir::Function& function) : function_(function), inside_(function.blocks.size(), 1) {}

  /// Appends the blocks reachable from `root` among those inside, in order.
  void order(ir::BlockId root, bool is_head, std::vector<ir::BlockId>& out) {
    std::vector<std::vector<ir::BlockId>> components;  // in reverse topological order
    if (is_head) {
      for (const ir::Target& target : targets(root)) search(target.block, components);
    } else {
      search(root, components);
    }
    for (auto it = components.rbegin(); it != components.rend(); ++it) {
      const std::vector<ir::BlockId>& component = *it;
      const ir::BlockId first = component.back();  // where the search entered it
      out.push_back(first);
      if (component.size() == 1) continue;
      std::vector<char> saved(inside_.size(), 0);
      saved.swap(inside_);
      for (const ir::BlockId block : component) inside_[block] = block != first;
      std::vector<std::uint32_t> numbers(inside_.size(), 0);
      numbers.swap(number_);
      order(first, true, out);
      numbers.swap(number_);
      saved.swap(inside_);
    }
  }

  void start() { number_.assign(function_.blocks.size(), 0); }

 private:
  const std::vector<ir::Target>& targets(ir::BlockId block) const {
    return function_.blocks[block].terminator().targets;
  }

  void search(ir::BlockId root, std::vector<std::vector<ir::BlockId>>& components) {
    if (!inside_[root] || number_[root]) return;
    struct Visit {
      ir::BlockId block;
      std::size_t next;
    };
    std::vector<Visit> visits{{root, 0}};
    std::vector<ir::BlockId> stack{root};
    std::vector<std::uint32_t> low(inside_.size(), 0);
    std::vector<char> on_stack(inside_.size(), 0);
    low[root] = number_[root] = ++counter_;
    on_stack[root] = 1;
    while (!visits.empty()) {
      const ir::BlockId block = visits.back().block;
      if (visits.back().next < targets(block).size()) {
        const ir::BlockId to = targets(block)[visits.back().next++].block;
        if (!inside_[to]) continue;
        if (!number_[to]) {
          low[to] = number_[to] = ++counter_;
          on_stack[to] = 1;
          stack.push_back(to);
          visits.push_back({to, 0});
        } else if (on_stack[to]) {
          low[block] = std::min(low[block], number_[to]);
        }
        continue;
      }
      visits.pop_back();
      if (!visits.empty()) low[visits.back().block] = std::min(low[visits.back().block], low[block]);
      if (low[block] != number_[block]) continue;
      std::vector<ir::BlockId> component;
      do {
        component.push_back(stack.back());
        on_stack[stack.back()] = 0;
        stack.pop_back();
      } while (component.back() != block);
      components.push_back(std::move(component));
    }
  }

  const ir::Function& function_;
  std::vector<char> inside_;
  std::vector<std::uint32_t> number_;
  std::uint32_t counter_ = 0;
};

}  // namespace

std::vector<std::uint32_t> compute_block_order(const ir::Function& function) {
  std::vector<ir::BlockId> order;
  Orderer orderer(function);
  orderer.start();
  orderer.order(0, false, order);
  std::vector<std::uint32_t> position(function.blocks.size(), ~0u);
  for (std::size_t i = 0; i < order.size(); ++i) position[order[i]] = static_cast<std::uint32_t>(i);
  return position;
}

Layout compute_layout(const ir::Program& program) {
  Layout layout;
  layout[&program.kernel] = compute_block_order(program.kernel);
  for (const ir::Function& function : program.functions) layout[&function] = compute_block_order(function);
  return layout;
}

}  // namespace heddle::interp
