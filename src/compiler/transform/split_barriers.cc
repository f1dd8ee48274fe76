#include "compiler/transform/split_barriers.h"

namespace heddle::transform {
namespace {

void split(ir::Function* function) {
  for (ir::BlockId b = 0; b < function->blocks.size(); ++b) {
    auto& insts = function->blocks[b].insts;
    for (std::size_t i = 0; i < insts.size(); ++i) {
      if (class_of(insts[i].op) != ir::OpClass::kBarrier) continue;
      if (i + 2 == insts.size() && insts.back().op == ir::Op::kBranch) break;
      const auto rest = static_cast<ir::BlockId>(function->blocks.size());
      ir::Inst branch;
      branch.op = ir::Op::kBranch;
      branch.location = insts[i].location;
      branch.targets.push_back({rest, {}});
      ir::Block tail;
      tail.insts.assign(std::make_move_iterator(insts.begin() + static_cast<std::ptrdiff_t>(i) + 1),
                        std::make_move_iterator(insts.end()));
      insts.resize(i + 1);
      insts.push_back(std::move(branch));
      function->blocks.push_back(std::move(tail));  // its own barriers are split when the walk gets there
      break;
    }
  }
}

}  // namespace

void split_barriers(ir::Program* program) {
  split(&program->kernel);
  for (ir::Function& f : program->functions) split(&f);
}

}  // namespace heddle::transform
