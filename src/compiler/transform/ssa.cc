#include "compiler/transform/ssa.h"

#include <algorithm>

#include "compiler/ir/verify.h"

namespace heddle::transform {

using ir::BlockId;
using ir::kNoValue;
using ir::ValueId;

std::uint32_t SsaBuilder::add_variable(ir::Type type) {
  types_.push_back(ir::bits_type(ir::bits_of(type)));
  current_.push_back(kNoValue);
  stamp_.push_back(0);
  written_at_.push_back(0);
  return static_cast<std::uint32_t>(types_.size() - 1);
}

void SsaBuilder::end_block() {
  if (block_ == ~0u) return;
  for (std::uint32_t variable : touched_)
    if (written_at_[variable] == epoch_) blocks_[block_].writes.push_back({variable, current_[variable]});
  touched_.clear();
}

void SsaBuilder::begin_block(BlockId block) {
  end_block();
  block_ = block;
  ++epoch_;
  if (blocks_.size() <= block) blocks_.resize(block + 1);
}

ValueId SsaBuilder::read(std::uint32_t variable) {
  if (stamp_[variable] != epoch_) {
    const ValueId placeholder = function_->add_value(types_[variable]);
    blocks_[block_].reads.push_back({variable, placeholder});
    current_[variable] = placeholder;
    stamp_[variable] = epoch_;
    touched_.push_back(variable);
  }
  return current_[variable];
}

void SsaBuilder::write(std::uint32_t variable, ValueId value) {
  if (stamp_[variable] != epoch_) {
    stamp_[variable] = epoch_;
    touched_.push_back(variable);
  }
  written_at_[variable] = epoch_;
  current_[variable] = value;
}

ValueId SsaBuilder::undefined(ir::Type type) {
  const int bits = ir::bits_of(type);
  int slot = 0;
  for (int b = 8; b <= bits; b *= 2) ++slot;
  if (undefined_[slot] == kNoValue) {
    undefined_[slot] = function_->add_value(type);
    ir::Inst inst;
    inst.op = ir::Op::kUndef;
    inst.type = type;
    inst.results.push_back(undefined_[slot]);
    auto& insts = function_->blocks[0].insts;
    insts.insert(insts.begin(), std::move(inst));
  }
  return undefined_[slot];
}

void SsaBuilder::drop_unreachable() {
  const std::size_t count = function_->blocks.size();
  blocks_.resize(count);
  std::vector<char> reachable(count, 0);
  std::vector<BlockId> work{0};
  reachable[0] = 1;
  while (!work.empty()) {
    const BlockId b = work.back();
    work.pop_back();
    for (const ir::Target& t : function_->blocks[b].terminator().targets)
      if (!reachable[t.block]) {
        reachable[t.block] = 1;
        work.push_back(t.block);
      }
  }
  std::vector<BlockId> renumbered(count, ~0u);
  BlockId next = 0;
  for (BlockId b = 0; b < count; ++b) {
    if (!reachable[b]) continue;
    renumbered[b] = next;
    if (next != b) {
      function_->blocks[next] = std::move(function_->blocks[b]);
      blocks_[next] = std::move(blocks_[b]);
    }
    ++next;
  }
  function_->blocks.resize(next);
  blocks_.resize(next);
  for (ir::Block& block : function_->blocks)
    for (ir::Target& t : block.insts.back().targets) t.block = renumbered[t.block];
}

void SsaBuilder::place_parameters() {
  const std::size_t count = function_->blocks.size();
  idom_ = ir::compute_immediate_dominators(*function_);
  predecessors_.assign(count, {});
  for (BlockId b = 0; b < count; ++b)
    for (const ir::Target& t : function_->blocks[b].terminator().targets) predecessors_[t.block].push_back(b);
  std::vector<std::vector<BlockId>> frontier(count);
  for (BlockId b = 0; b < count; ++b) {
    if (predecessors_[b].size() < 2) continue;
    for (BlockId p : predecessors_[b])
      for (BlockId runner = p; runner != idom_[b]; runner = idom_[runner]) {
        if (frontier[runner].empty() || frontier[runner].back() != b) frontier[runner].push_back(b);
        if (runner == 0) break;
      }
  }

  std::vector<std::vector<BlockId>> reads(types_.size()), writes(types_.size());
  for (BlockId b = 0; b < count; ++b) {
    for (const Entry& e : blocks_[b].reads) reads[e.variable].push_back(b);
    for (const Entry& e : blocks_[b].writes) writes[e.variable].push_back(b);
  }
  parameters_.assign(count, {});
  std::vector<std::uint32_t> live(count, ~0u), defined(count, ~0u), placed(count, ~0u);
  std::vector<BlockId> work;
  for (std::uint32_t v = 0; v < types_.size(); ++v) {
    if (reads[v].empty() || writes[v].empty()) continue;
    for (BlockId b : writes[v]) defined[b] = v;
    work.clear();
    for (BlockId b : reads[v]) {
      live[b] = v;
      work.push_back(b);
    }
    while (!work.empty()) {
      const BlockId b = work.back();
      work.pop_back();
      for (BlockId p : predecessors_[b])
        if (live[p] != v && defined[p] != v) {
          live[p] = v;
          work.push_back(p);
        }
    }
    work = writes[v];
    while (!work.empty()) {
      const BlockId b = work.back();
      work.pop_back();
      for (BlockId f : frontier[b]) {
        if (placed[f] == v || live[f] != v) continue;
        placed[f] = v;
        const ValueId parameter = function_->add_value(types_[v]);
        function_->blocks[f].parameters.push_back(parameter);
        parameters_[f].push_back({v, parameter});
        if (defined[f] != v) work.push_back(f);
      }
    }
  }
}

void SsaBuilder::rename() {
  const std::size_t count = function_->blocks.size();
  std::vector<std::vector<BlockId>> children(count);
  for (BlockId b = 1; b < count; ++b)
    if (idom_[b] != ~0u) children[idom_[b]].push_back(b);
  std::vector<ValueId> alias(function_->values.size(), kNoValue);
  auto resolved = [&](ValueId v) { return v < alias.size() && alias[v] != kNoValue ? alias[v] : v; };
  current_.assign(types_.size(), kNoValue);
  struct Frame {
    BlockId block;
    std::size_t child = 0;
    std::size_t log_size = 0;
  };
  std::vector<Entry> log;
  std::vector<Frame> stack;
  auto set = [&](std::uint32_t variable, ValueId value) {
    log.push_back({variable, current_[variable]});
    current_[variable] = value;
  };
  auto enter = [&](BlockId b) {
    stack.push_back({b, 0, log.size()});
    for (const Entry& e : parameters_[b]) set(e.variable, e.value);
    for (const Entry& e : blocks_[b].reads)
      alias[e.value] = current_[e.variable] != kNoValue ? current_[e.variable] : undefined(types_[e.variable]);
    for (const Entry& e : blocks_[b].writes) set(e.variable, resolved(e.value));
    // undefined() may insert into block 0, so the terminator is looked up for each argument.
    for (std::size_t t = 0; t < function_->blocks[b].insts.back().targets.size(); ++t) {
      const BlockId to = function_->blocks[b].insts.back().targets[t].block;
      for (const Entry& e : parameters_[to]) {
        const ValueId value = current_[e.variable] != kNoValue ? current_[e.variable] : undefined(types_[e.variable]);
        function_->blocks[b].insts.back().targets[t].arguments.push_back(value);
      }
    }
  };
  enter(0);
  while (!stack.empty()) {
    Frame& frame = stack.back();
    if (frame.child < children[frame.block].size()) {
      enter(children[frame.block][frame.child++]);
      continue;
    }
    while (log.size() > frame.log_size) {
      current_[log.back().variable] = log.back().value;
      log.pop_back();
    }
    stack.pop_back();
  }
  for (ir::Block& block : function_->blocks) {
    for (ir::Inst& inst : block.insts) {
      for (ValueId& v : inst.operands) v = resolved(v);
      for (ValueId& v : inst.guard_else) v = resolved(v);
      if (inst.guard != kNoValue) inst.guard = resolved(inst.guard);
    }
  }
}

void SsaBuilder::finish() {
  end_block();
  block_ = ~0u;
  drop_unreachable();
  place_parameters();
  rename();
}

}  // namespace heddle::transform
