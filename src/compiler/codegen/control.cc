// Control flow: terminators of the FAST copies, the linear scan of the SLOW copies, the way in.
//
// The scan visits the slow blocks in the order of analysis::Cfg: predecessors before successors, loops contiguous. A
// block runs with all lanes that are pending for it; lanes that go back to a loop's header wait there until the scan
// has passed the loop's last block. So a block runs at most once per round of its innermost loop, with every lane that
// comes to it in that round; that is what makes plain stores to slots right (Info::merges says where they aren't).
#include <algorithm>

#include "compiler/codegen/kernel_emitter.h"

namespace heddle::codegen {

using ir::BlockId;
using ir::Op;
using ir::ValueId;

FunctionEmitter::Lane FunctionEmitter::read_argument(ValueId parameter, ValueId argument) {
  Lane read;
  const Info& info = info_[parameter];
  if (info.scalar) read.scalar = scalar_of(argument);
  if (info.rows) read.rows = rows_of(argument);
  if (info.ok) {
    Value* ok = ok_of(argument);
    read.ok = ok ? ok : b_.getTrue();
    read.vector = ok ? unless(ok, [&] { return vector_of(argument); }) : llvm::PoisonValue::get(vector_type(info.bits));
  } else if (info.vector) {
    read.vector = vector_of(argument);
  }
  return read;
}

std::vector<FunctionEmitter::Lane> FunctionEmitter::read_arguments(const ir::Target& target) {
  std::vector<Lane> all;
  const auto& parameters = f_.blocks[target.block].parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i) all.push_back(read_argument(parameters[i], target.arguments[i]));
  return all;
}

void FunctionEmitter::write_arguments(const ir::Target& target, const std::vector<Lane>& arguments, Value* mask) {
  const auto& parameters = f_.blocks[target.block].parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i) store_slots(parameters[i], arguments[i], mask);
}

void FunctionEmitter::emit_terminator(BlockId block, const ir::Inst& inst) {
  if (mode_ == Mode::kFast) {
    emit_fast_terminator(block, inst);
  } else {
    emit_slow_terminator(block, inst);
  }
}

/// The block from which all lanes go to `target`.
llvm::BasicBlock* FunctionEmitter::fast_edge(const ir::Target& target) {
  if (target.arguments.empty()) return fast_[target.block];
  llvm::BasicBlock* edge = new_block("edge");
  const auto saved = b_.saveIP();
  b_.SetInsertPoint(edge);
  ++no_cache_;
  write_arguments(target, read_arguments(target), nullptr);
  --no_cache_;
  b_.CreateBr(fast_[target.block]);
  b_.restoreIP(saved);
  return edge;
}

void FunctionEmitter::add_pending(BlockId block, Value* bits) {
  Value* old = b_.CreateLoad(mask_type(), pending_[block]);
  b_.CreateStore(b_.CreateOr(old, bits), pending_[block]);
}

void FunctionEmitter::emit_fast_terminator(BlockId block, const ir::Inst& inst) {
  const Value* all = llvm::Constant::getAllOnesValue(mask_type());
  (void)block;
  switch (inst.op) {
    case Op::kBranch: {
      write_arguments(inst.targets[0], read_arguments(inst.targets[0]), nullptr);
      b_.CreateBr(fast_[inst.targets[0].block]);
      return;
    }
    case Op::kReturn:
    case Op::kExit: b_.CreateBr(done_); return;
    case Op::kCondBranch: {
      const ir::Target &yes = inst.targets[0], &no = inst.targets[1];
      const ValueId condition = inst.operands[0];
      if (is_uniform(condition)) {
        llvm::BasicBlock* to_yes = fast_edge(yes);
        llvm::BasicBlock* to_no = fast_edge(no);
        b_.CreateCondBr(scalar_of(condition), to_yes, to_no);
        return;
      }
      Value* taken = vector_of(condition);
      Value* bits = to_bits(taken);
      const std::vector<Lane> yes_arguments = read_arguments(yes), no_arguments = read_arguments(no);
      llvm::BasicBlock* all_yes = new_block("all");
      llvm::BasicBlock* not_all = new_block("not_all");
      llvm::BasicBlock* none = new_block("none");
      llvm::BasicBlock* mixed = new_block("mixed");
      b_.CreateCondBr(b_.CreateICmpEQ(bits, const_cast<Value*>(all)), all_yes, not_all);
      b_.SetInsertPoint(all_yes);
      write_arguments(yes, yes_arguments, nullptr);
      b_.CreateBr(fast_[yes.block]);
      b_.SetInsertPoint(not_all);
      b_.CreateCondBr(b_.CreateICmpEQ(bits, llvm::Constant::getNullValue(mask_type())), none, mixed);
      b_.SetInsertPoint(none);
      write_arguments(no, no_arguments, nullptr);
      b_.CreateBr(fast_[no.block]);
      b_.SetInsertPoint(mixed);
      write_arguments(yes, yes_arguments, taken);
      write_arguments(no, no_arguments, b_.CreateNot(taken));
      add_pending(yes.block, bits);
      add_pending(no.block, b_.CreateNot(bits));
      b_.CreateBr(slow_guard_[cfg_.index[yes.block] <= cfg_.index[no.block] ? yes.block : no.block]);
      return;
    }
    case Op::kSwitch: {
      const ValueId index = inst.operands[0];
      const std::size_t last = inst.targets.size() - 1;
      auto uniform_switch = [&](Value* value) {
        std::vector<llvm::BasicBlock*> edges;
        for (const ir::Target& target : inst.targets) edges.push_back(fast_edge(target));
        llvm::SwitchInst* jump = b_.CreateSwitch(value, edges[last], static_cast<unsigned>(last));
        for (std::size_t i = 0; i < last; ++i) {
          jump->addCase(llvm::cast<llvm::ConstantInt>(llvm::ConstantInt::get(value->getType(), i)), edges[i]);
        }
      };
      if (is_uniform(index)) return uniform_switch(scalar_of(index));
      Value* indices = vector_of(index);
      Value* first = b_.CreateExtractElement(indices, std::uint64_t{0});
      Value* same = to_bits(b_.CreateICmpEQ(indices, splat(first)));
      llvm::BasicBlock* together = new_block("together");
      llvm::BasicBlock* mixed = new_block("mixed");
      b_.CreateCondBr(b_.CreateICmpEQ(same, const_cast<Value*>(all)), together, mixed);
      b_.SetInsertPoint(together);
      ++no_cache_;
      uniform_switch(first);
      --no_cache_;
      b_.SetInsertPoint(mixed);
      ++no_cache_;
      BlockId lowest = inst.targets[0].block;
      std::vector<std::vector<Lane>> arguments;
      for (const ir::Target& target : inst.targets) arguments.push_back(read_arguments(target));
      Value* rest = llvm::Constant::getAllOnesValue(vector_type(1));
      for (std::size_t i = 0; i <= last; ++i) {
        Value* taken = rest;
        if (i != last) {
          taken = b_.CreateICmpEQ(indices, llvm::ConstantInt::get(indices->getType(), i));
          rest = b_.CreateAnd(rest, b_.CreateNot(taken));
        }
        write_arguments(inst.targets[i], arguments[i], taken);
        add_pending(inst.targets[i].block, to_bits(taken));
        if (cfg_.index[inst.targets[i].block] < cfg_.index[lowest]) lowest = inst.targets[i].block;
      }
      --no_cache_;
      b_.CreateBr(slow_guard_[lowest]);
      return;
    }
    default: fail(inst, "not a terminator"); b_.CreateUnreachable();
  }
}

void FunctionEmitter::emit_slow_terminator(BlockId block, const ir::Inst& inst) {
  llvm::BasicBlock* tail = slow_tail_[block];
  switch (inst.op) {
    case Op::kBranch:
      write_arguments(inst.targets[0], read_arguments(inst.targets[0]), current_mask_);
      add_pending(inst.targets[0].block, current_bits_);
      break;
    case Op::kExit: break;  // the lanes are pending nowhere: they have ended
    case Op::kReturn:
      if (returned_ == nullptr) break;
      for (std::size_t i = 0; i < result_slots_.size(); ++i) {
        llvm::AllocaInst* slot = result_slots_[i];
        Value* old = b_.CreateLoad(slot->getAllocatedType(), slot);
        b_.CreateStore(b_.CreateSelect(current_mask_, vector_of(inst.operands[i]), old), slot);
      }
      b_.CreateStore(b_.CreateOr(b_.CreateLoad(mask_type(), returned_), current_bits_), returned_);
      break;
    case Op::kCondBranch:
    case Op::kSwitch: {
      const ValueId condition = inst.operands[0];
      const std::size_t last = inst.targets.size() - 1;
      if (is_uniform(condition)) {
        std::vector<llvm::BasicBlock*> edges;
        Value* value = scalar_of(condition);
        const auto saved = b_.saveIP();
        for (const ir::Target& target : inst.targets) {
          edges.push_back(new_block("edge"));
          b_.SetInsertPoint(edges.back());
          ++no_cache_;
          write_arguments(target, read_arguments(target), current_mask_);
          --no_cache_;
          add_pending(target.block, current_bits_);
          b_.CreateBr(tail);
        }
        b_.restoreIP(saved);
        if (inst.op == Op::kCondBranch) {
          b_.CreateCondBr(value, edges[0], edges[1]);
          return;
        }
        llvm::SwitchInst* jump = b_.CreateSwitch(value, edges[last], static_cast<unsigned>(last));
        for (std::size_t i = 0; i < last; ++i) {
          jump->addCase(llvm::cast<llvm::ConstantInt>(llvm::ConstantInt::get(value->getType(), i)), edges[i]);
        }
        return;
      }
      std::vector<std::vector<Lane>> arguments;
      for (const ir::Target& target : inst.targets) arguments.push_back(read_arguments(target));
      Value* value = vector_of(condition);
      Value* rest = current_mask_;
      for (std::size_t i = 0; i <= last; ++i) {
        Value* taken = rest;
        if (i != last) {
          Value* test =
              inst.op == Op::kCondBranch ? value : b_.CreateICmpEQ(value, llvm::ConstantInt::get(value->getType(), i));
          taken = b_.CreateAnd(rest, test);
          rest = b_.CreateAnd(rest, b_.CreateNot(test));
        }
        write_arguments(inst.targets[i], arguments[i], taken);
        add_pending(inst.targets[i].block, to_bits(taken));
      }
      break;
    }
    default: fail(inst, "not a terminator");
  }
  b_.CreateBr(tail);
}

void FunctionEmitter::emit_scan() {
  std::vector<BlockId> scan;
  for (BlockId b : cfg_.order) {
    if (has_slow_[b]) scan.push_back(b);
  }
  auto zero = [&] { return llvm::Constant::getNullValue(mask_type()); };
  for (std::size_t i = 0; i < scan.size(); ++i) {
    const BlockId b = scan[i];
    llvm::BasicBlock* next = i + 1 < scan.size() ? slow_guard_[scan[i + 1]] : scan_end_;
    llvm::BasicBlock* body = new_block("slow");
    b_.SetInsertPoint(slow_guard_[b]);
    begin_copy(Mode::kSlow, nullptr);
    Value* bits = b_.CreateLoad(mask_type(), pending_[b]);
    b_.CreateCondBr(b_.CreateICmpNE(bits, zero()), body, slow_tail_[b]);
    b_.SetInsertPoint(body);
    b_.CreateStore(zero(), pending_[b]);
    if (is_kernel_ && !has_slow_body_[b]) {
      b_.CreateBr(fast_[b]);
    } else {
      // Lanes meet again in a block that several others lead to, or when they leave a loop.
      bool joins = cfg_.predecessors[b].size() > 1;
      for (BlockId p : cfg_.predecessors[b]) joins |= cfg_.loop_of[p] != cfg_.loop_of[b];
      if (is_kernel_ && joins) {
        llvm::BasicBlock* parted = new_block("parted");
        b_.CreateCondBr(b_.CreateICmpEQ(bits, llvm::Constant::getAllOnesValue(mask_type())), fast_[b], parted);
        b_.SetInsertPoint(parted);
      }
      begin_copy(Mode::kSlow, bits);
      emit_block(b);
    }
    // Rounds of the loops that end here, inner loops first.
    b_.SetInsertPoint(slow_tail_[b]);
    for (int loop = cfg_.loop_of[b]; loop != analysis::kNoLoop;
         loop = cfg_.loops[static_cast<std::size_t>(loop)].parent) {
      const analysis::Loop& info = cfg_.loops[static_cast<std::size_t>(loop)];
      if (info.blocks.back() != b) break;
      if (!has_slow_[info.header]) continue;
      llvm::BasicBlock* through = new_block("through");
      Value* waiting = b_.CreateLoad(mask_type(), pending_[info.header]);
      b_.CreateCondBr(b_.CreateICmpNE(waiting, zero()), slow_guard_[info.header], through);
      b_.SetInsertPoint(through);
    }
    b_.CreateBr(next);
  }
  emit_scan_end();
}

void FunctionEmitter::emit_entry_dispatch() {
  llvm::BasicBlock* start = new_block("start");
  if (suspends()) {
    Value* pc = b_.CreateLoad(int_type(32), warp_field_address("pc"));
    llvm::BasicBlock* broken = new_block("broken");
    llvm::SwitchInst* jump = b_.CreateSwitch(pc, broken, static_cast<unsigned>(suspensions_.size()) + 2);
    jump->addCase(constant(32, 0), start);
    slow_resume_ = new_block("slow_resume");
    jump->addCase(constant(32, 1), slow_resume_);
    for (std::size_t k = 0; k < suspensions_.size(); ++k) {
      suspensions_[k].resume_fast = new_block("resume");
      jump->addCase(constant(32, k + 2), suspensions_[k].resume_fast);
    }
    b_.SetInsertPoint(broken);
    b_.CreateUnreachable();
  } else {
    b_.CreateBr(start);
  }
  b_.SetInsertPoint(start);
  if (!is_kernel_) {
    b_.CreateStore(entry_mask_bits_, pending_[0]);
    b_.CreateBr(slow_guard_[0]);
    return;
  }
  if (entry_is_full_) {
    b_.CreateBr(fast_[0]);
    return;
  }
  // The last warp of a block may have fewer threads.
  Value* count = b_.CreateSub(launch_field("threads"), thread_base());
  llvm::BasicBlock* part = new_block("part");
  b_.CreateCondBr(b_.CreateICmpUGE(count, constant(32, lanes())), fast_[0], part);
  b_.SetInsertPoint(part);
  Value* wide = b_.CreateSub(b_.CreateShl(constant(64, 1), b_.CreateZExt(count, int_type(64))), constant(64, 1));
  b_.CreateStore(b_.CreateTrunc(wide, mask_type()), pending_[0]);
  b_.CreateBr(slow_guard_[0]);
}

}  // namespace heddle::codegen
