// Suspension: barriers and yields. A warp that must wait stores what is live into its frame and returns; the next call
// takes it up again behind the barrier. In FAST the whole warp arrives at once. In SLOW lanes that arrive wait beside
// the scan while the other lanes go on, and the warp returns when every lane waits or has ended, so a barrier may stand
// in any control flow, and a lane that spins on memory lets the lanes of its own warp pass.
//
// Frame: u32 {kind: 0 barrier, 1 yield}, u32 barrier id, then per suspension point u32 {waiting lanes, id, threads},
// then one slot per value that is live at some suspension point.
#include <algorithm>
#include <set>

#include "compiler/codegen/kernel_emitter.h"

namespace heddle::codegen {

using ir::BlockId;
using ir::Op;
using ir::ValueId;

namespace {

constexpr std::uint32_t kSlowPc = 1, kFirstFastPc = 2;
constexpr std::uint32_t kSpinsPerTurn = 64;  // rounds of a spin loop before the worker is given up
constexpr std::uint32_t kPointsAt = 8, kPointBytes = 12;

std::uint32_t reduce_op_of(const ir::Inst& inst) {
  if (inst.op != Op::kBarrier) return 0;
  return static_cast<std::uint32_t>(inst.mods.barrier);  // sync, popc, and, or: 0 to 3, as in WarpState
}

}  // namespace

void FunctionEmitter::plan_suspensions() {
  suspension_of_.assign(f_.blocks.size(), -1);
  std::set<ValueId> anywhere;
  for (BlockId b : cfg_.order) {
    const auto& insts = f_.blocks[b].insts;
    if (insts.size() < 2) continue;
    const ir::Inst& inst = insts[insts.size() - 2];
    if (ir::class_of(inst.op) != ir::OpClass::kBarrier) continue;
    if (!is_kernel_) {
      if (inst.op == Op::kBarrier) fail(inst, "a barrier in a function that can't be inlined is not supported");
      continue;  // a yield: the caller's loop will do
    }
    suspension_of_[b] = static_cast<int>(suspensions_.size());
    Suspension point;
    point.block = b;
    point.inst = &inst;
    point.is_yield = inst.op == Op::kYield;
    std::set<ValueId> saved;
    const ir::Target& target = f_.blocks[b].terminator().targets[0];
    for (ValueId v : live_.live_in[target.block]) saved.insert(v);
    for (ValueId v : target.arguments) saved.insert(v);
    for (ValueId v : inst.results) {
      saved.erase(v);
      info_[v].crosses = true;
    }
    for (ValueId v : saved) {
      if (info_[v].hoisted) continue;
      info_[v].crosses = true;
      point.saved.push_back(v);
      anywhere.insert(v);
    }
    suspensions_.push_back(std::move(point));
  }
  saved_anywhere_.assign(anywhere.begin(), anywhere.end());
}

void FunctionEmitter::plan_frame() {
  if (suspensions_.empty()) return;
  std::uint32_t at = kPointsAt + kPointBytes * static_cast<std::uint32_t>(suspensions_.size());
  auto take = [&](std::uint32_t bytes) {
    const std::uint32_t align = bytes >= 64 ? 64 : 8;
    at = (at + align - 1) / align * align;
    const std::uint32_t place = at;
    at += bytes;
    return static_cast<std::int32_t>(place);
  };
  // Vectors first: they want whole cache lines.
  for (ValueId v : saved_anywhere_) {
    Info& info = info_[v];
    const std::uint32_t bytes = std::max(1u, info.bits * lanes() / 8);
    if ((!is_scalar(v) && !info.rows) || info.assumes) info.frame_vector = take(bytes);
  }
  for (ValueId v : saved_anywhere_) {
    Info& info = info_[v];
    if (is_scalar(v)) info.frame_scalar = take(std::max(1u, info.bits / 8));
    if (info.rows) {
      info.frame_row = take(std::max(1u, info.bits / 8) * row_count());
    }
    if (info.assumes) info.frame_ok = take(1);
  }
  frame_bytes_ = (at + 63) / 64 * 64;
}

bool FunctionEmitter::runs_in_rounds() const {
  auto is_zero = [&](ValueId v) {
    const ir::Inst* def = info_[v].def;
    return def && def->op == Op::kConst && def->imm == 0;
  };
  for (const ir::Block& block : f_.blocks) {
    for (const ir::Inst& inst : block.insts) {
      if (inst.op == Op::kBarrierArrive) return false;
    }
  }
  return !shapes_.desynchronised && std::all_of(suspensions_.begin(), suspensions_.end(), [&](const Suspension& point) {
    return !point.is_yield && point.inst->mods.barrier == ir::BarrierMode::kSync && is_zero(point.inst->operands[0]) &&
           is_zero(point.inst->operands[1]);
  });
}

llvm::Value* FunctionEmitter::warp_state() {
  return b_.CreateGEP(b_.getInt8Ty(), cta_field("warps"),
                      b_.CreateMul(b_.CreateZExt(group_, int_type(64)), constant(64, sizeof(exec::WarpState))));
}

llvm::Value* FunctionEmitter::frame_at(std::uint32_t offset) {
  Value* bytes = b_.CreateZExt(launch_field("frame_bytes"), int_type(64));
  Value* place = b_.CreateAdd(b_.CreateMul(b_.CreateZExt(group_, int_type(64)), bytes), constant(64, offset));
  return b_.CreateGEP(b_.getInt8Ty(), cta_field("frames"), place);
}

void FunctionEmitter::save_values(const std::vector<ValueId>& values) {
  auto put = [&](Value* value, std::int32_t offset) {
    b_.CreateAlignedStore(value, frame_at(static_cast<std::uint32_t>(offset)), llvm::Align(1));
  };
  for (ValueId v : values) {
    const Info& info = info_[v];
    if (info.scalar) put(info.bits == 1 ? b_.CreateZExt(scalar_of(v), int_type(8)) : scalar_of(v), info.frame_scalar);
    if (info.row[0]) {
      const Rows rows = rows_of(v);
      for (unsigned row = 0; row < row_count(); ++row) {
        put(rows[row], info.frame_row + static_cast<std::int32_t>(row * info.bits / 8));
      }
    }
    if (info.ok) {
      // The exact lanes matter only where the assumptions fail, so they cost nothing elsewhere.
      Value* ok = ok_of(v);
      put(b_.CreateZExt(ok, int_type(8)), info.frame_ok);
      if_then(b_.CreateNot(ok), [&] { put(vector_of(v), info.frame_vector); });
    } else if (info.vector) {
      put(info.bits == 1 ? to_bits(vector_of(v)) : vector_of(v), info.frame_vector);
    }
  }
}

void FunctionEmitter::restore_values(const std::vector<ValueId>& values) {
  auto get = [&](llvm::Type* type, std::int32_t offset) {
    return b_.CreateAlignedLoad(type, frame_at(static_cast<std::uint32_t>(offset)), llvm::Align(1));
  };
  for (ValueId v : values) {
    const Info& info = info_[v];
    if (info.scalar) {
      Value* value = get(int_type(std::max(8u, info.bits)), info.frame_scalar);
      b_.CreateStore(b_.CreateTrunc(value, int_type(info.bits)), info.scalar);
    }
    if (info.row[0]) {
      for (unsigned row = 0; row < row_count(); ++row) {
        Value* value = get(int_type(info.bits), info.frame_row + static_cast<std::int32_t>(row * info.bits / 8));
        b_.CreateStore(value, info.row[row]);
      }
    }
    if (info.ok) {
      Value* ok = b_.CreateTrunc(get(int_type(8), info.frame_ok), b_.getInt1Ty());
      b_.CreateStore(ok, info.ok);
      b_.CreateStore(unless(ok, [&]() -> Value* { return get(vector_type(info.bits), info.frame_vector); }),
                     info.vector);
    } else if (info.vector) {
      Value* value = info.bits == 1 ? to_mask(get(mask_type(), info.frame_vector))
                                    : static_cast<Value*>(get(vector_type(info.bits), info.frame_vector));
      b_.CreateStore(value, info.vector);
    }
  }
}

void FunctionEmitter::emit_suspend_return(Value* pc, Value* status, Value* id, Value* threads, Value* arrived,
                                          Value* live, Value* reduce_op, Value* votes) {
  auto set = [&](const char* field, Value* value) {
    b_.CreateStore(b_.CreateZExtOrTrunc(value, int_type(32)), warp_field_address(field));
  };
  set("pc", pc);
  set("status", status);
  set("barrier_id", id);
  set("barrier_threads", threads);
  set("arrived", arrived);
  set("live", live);
  set("reduce_op", reduce_op);
  set("reduce_value", votes);
  b_.CreateRet(status);
}

void FunctionEmitter::emit_fast_suspension(std::size_t index) {
  const Suspension& point = suspensions_[index];
  const ir::Inst& inst = *point.inst;
  set_location(inst);
  if (point.is_yield) {
    Value* spins = b_.CreateAdd(b_.CreateLoad(int_type(32), spins_), constant(32, 1));
    b_.CreateStore(spins, spins_);
    llvm::BasicBlock* spin = new_block("spin");
    llvm::BasicBlock* give_up = new_block("give_up");
    Value* turn = b_.CreateICmpEQ(b_.CreateAnd(spins, constant(32, kSpinsPerTurn - 1)), constant(32, 0));
    b_.CreateCondBr(turn, give_up, spin);
    b_.SetInsertPoint(spin);
    ++no_cache_;
    emit_terminator(point.block, f_.blocks[point.block].terminator());
    --no_cache_;
    b_.SetInsertPoint(give_up);
  }
  save_values(point.saved);
  Value* all = constant(32, lanes() == 32 ? ~0u : (1u << lanes()) - 1);
  const std::uint32_t status = point.is_yield ? exec::kWarpYield : exec::kWarpBarrier;
  Value *id = constant(32, 0), *threads = constant(32, 0), *votes = constant(32, 0);
  if (!point.is_yield) {
    id = scalar_of(inst.operands[0]);
    threads = scalar_of(inst.operands[1]);
    if (inst.operands.size() > 2) {
      Value* bits = to_bits(vector_of(inst.operands[2]));
      votes = b_.CreateIntrinsic(llvm::Intrinsic::ctpop, {bits->getType()}, {bits});
    }
  }
  emit_suspend_return(constant(32, index + kFirstFastPc), constant(32, status), id, threads,
                      point.is_yield ? constant(32, 0) : all, all, constant(32, reduce_op_of(inst)), votes);
}

void FunctionEmitter::set_barrier_results(const Suspension& suspension, Value* mask) {
  (void)mask;
  const ir::Inst& inst = *suspension.inst;
  if (inst.results.empty()) return;
  Value* value = b_.CreateLoad(int_type(32), warp_field_address("reduce_value"));
  for (ValueId v : inst.results) {
    set_result(v, info_[v].bits == 1 ? b_.CreateICmpNE(value, constant(32, 0))
                                     : b_.CreateZExtOrTrunc(value, int_type(info_[v].bits)));
  }
}

void FunctionEmitter::emit_fast_resume(std::size_t index) {
  const Suspension& point = suspensions_[index];
  b_.SetInsertPoint(point.resume_fast);
  begin_copy(Mode::kFast, nullptr);
  block_now_ = point.block;
  restore_values(point.saved);
  set_barrier_results(point, nullptr);
  emit_terminator(point.block, f_.blocks[point.block].terminator());
}

void FunctionEmitter::emit_slow_wait(std::size_t index) {
  const Suspension& point = suspensions_[index];
  const ir::Inst& inst = *point.inst;
  set_location(inst);
  b_.CreateStore(b_.CreateOr(b_.CreateLoad(mask_type(), point.waiting), current_bits_), point.waiting);
  if (!point.is_yield) {
    b_.CreateStore(scalar_of(inst.operands[0]), point.id);
    b_.CreateStore(scalar_of(inst.operands[1]), point.threads);
    if (inst.operands.size() > 2) {
      Value* bits = b_.CreateAnd(to_bits(vector_of(inst.operands[2])), current_bits_);
      Value* votes =
          b_.CreateZExtOrTrunc(b_.CreateIntrinsic(llvm::Intrinsic::ctpop, {mask_type()}, {bits}), int_type(32));
      b_.CreateStore(b_.CreateAdd(b_.CreateLoad(int_type(32), point.votes), votes), point.votes);
    }
  }
  b_.CreateBr(slow_tail_[point.block]);
}

/// Lets the lanes in `bits` (none, perhaps) go on behind their suspension point.
void FunctionEmitter::release(std::size_t index, Value* bits) {
  const Suspension& point = suspensions_[index];
  if (!has_slow_body_[point.block]) return;  // nobody can wait there
  if_then(b_.CreateICmpNE(bits, llvm::Constant::getNullValue(mask_type())), [&] {
    b_.CreateStore(llvm::Constant::getNullValue(mask_type()), point.waiting);
    b_.CreateStore(constant(32, 0), point.votes);
    begin_copy(Mode::kSlow, bits);
    block_now_ = point.block;
    set_barrier_results(point, current_mask_);
    const ir::Target& target = f_.blocks[point.block].terminator().targets[0];
    write_arguments(target, read_arguments(target), current_mask_);
    add_pending(target.block, bits);
  });
}

void FunctionEmitter::go_to_scan() {
  for (BlockId b : cfg_.order) {
    if (!has_slow_[b]) continue;
    b_.CreateBr(slow_guard_[b]);
    return;
  }
  b_.CreateUnreachable();
}

void FunctionEmitter::emit_scan_end() {
  b_.SetInsertPoint(scan_end_);
  Value* none = llvm::Constant::getNullValue(mask_type());
  if (!is_kernel_) {
    Value* result = llvm::PoisonValue::get(fn_->getReturnType());
    for (unsigned i = 0; i < result_slots_.size(); ++i) {
      result = b_.CreateInsertValue(result, b_.CreateLoad(result_slots_[i]->getAllocatedType(), result_slots_[i]), i);
    }
    b_.CreateRet(result);
    b_.SetInsertPoint(done_);
    b_.CreateUnreachable();
    return;
  }
  if (!suspends()) {
    b_.CreateBr(done_);
  } else {
    begin_copy(Mode::kSlow, none);
    std::vector<Value*> waiting;
    Value *yields = none, *all = none;
    for (const Suspension& point : suspensions_) {
      waiting.push_back(b_.CreateLoad(mask_type(), point.waiting));
      if (point.is_yield) yields = b_.CreateOr(yields, waiting.back());
      all = b_.CreateOr(all, waiting.back());
    }
    llvm::BasicBlock* somebody = new_block("somebody");
    b_.CreateCondBr(b_.CreateICmpEQ(all, none), done_, somebody);
    b_.SetInsertPoint(somebody);
    Value* yielding = b_.CreateICmpNE(yields, none);
    if (spins_) {
      // Lanes that spin let the others of their warp run first, and other warps only every so often.
      llvm::BasicBlock* spin = new_block("spin");
      llvm::BasicBlock* give_up = new_block("give_up");
      Value* spins = b_.CreateAdd(b_.CreateLoad(int_type(32), spins_), constant(32, 1));
      b_.CreateStore(spins, spins_);
      Value* turn = b_.CreateICmpEQ(b_.CreateAnd(spins, constant(32, kSpinsPerTurn - 1)), constant(32, 0));
      b_.CreateCondBr(b_.CreateAnd(yielding, b_.CreateNot(turn)), spin, give_up);
      b_.SetInsertPoint(spin);
      for (std::size_t k = 0; k < suspensions_.size(); ++k) {
        if (suspensions_[k].is_yield) release(k, waiting[k]);
      }
      go_to_scan();
      b_.SetInsertPoint(give_up);
      begin_copy(Mode::kSlow, none);
    }
    Value *id = constant(32, 0), *threads = constant(32, 0), *op = constant(32, 0);
    for (std::size_t k = suspensions_.size(); k-- > 0;) {
      const Suspension& point = suspensions_[k];
      if (point.is_yield) continue;
      Value* here = b_.CreateICmpNE(waiting[k], none);
      id = b_.CreateSelect(here, b_.CreateLoad(int_type(32), point.id), id);
      threads = b_.CreateSelect(here, b_.CreateLoad(int_type(32), point.threads), threads);
      op = b_.CreateSelect(here, constant(32, reduce_op_of(*point.inst)), op);
    }
    Value *arrived = none, *votes = constant(32, 0);
    for (std::size_t k = 0; k < suspensions_.size(); ++k) {
      const Suspension& point = suspensions_[k];
      Value* point_id = b_.CreateLoad(int_type(32), point.id);
      b_.CreateStore(waiting[k], frame_at(kPointsAt + kPointBytes * static_cast<std::uint32_t>(k)));
      b_.CreateStore(point_id, frame_at(kPointsAt + kPointBytes * static_cast<std::uint32_t>(k) + 4));
      b_.CreateStore(b_.CreateLoad(int_type(32), point.threads),
                     frame_at(kPointsAt + kPointBytes * static_cast<std::uint32_t>(k) + 8));
      if (point.is_yield) continue;
      Value* same = b_.CreateICmpEQ(point_id, id);
      arrived = b_.CreateOr(arrived, b_.CreateSelect(same, waiting[k], none));
      votes = b_.CreateAdd(votes, b_.CreateSelect(same, b_.CreateLoad(int_type(32), point.votes), constant(32, 0)));
    }
    arrived = b_.CreateSelect(yielding, none, arrived);
    b_.CreateStore(b_.CreateZExt(yielding, int_type(32)), frame_at(0));
    b_.CreateStore(id, frame_at(4));
    save_values(saved_anywhere_);
    Value* status = b_.CreateSelect(yielding, constant(32, exec::kWarpYield), constant(32, exec::kWarpBarrier));
    emit_suspend_return(constant(32, kSlowPc), status, id, threads, arrived, all, op, votes);
    emit_slow_resume();
  }
  b_.SetInsertPoint(done_);
  if (suspends()) {
    b_.CreateStore(constant(32, exec::kWarpDone), warp_field_address("status"));
    b_.CreateStore(constant(32, 0), warp_field_address("live"));
  }
  b_.CreateRet(constant(32, exec::kWarpDone));
}

void FunctionEmitter::emit_slow_resume() {
  b_.SetInsertPoint(slow_resume_);
  begin_copy(Mode::kSlow, llvm::Constant::getNullValue(mask_type()));
  Value* none = llvm::Constant::getNullValue(mask_type());
  restore_values(saved_anywhere_);
  Value* yielded = b_.CreateICmpNE(b_.CreateLoad(int_type(32), frame_at(0)), constant(32, 0));
  Value* id = b_.CreateLoad(int_type(32), frame_at(4));
  std::vector<Value*> released;
  for (std::size_t k = 0; k < suspensions_.size(); ++k) {
    const Suspension& point = suspensions_[k];
    const std::uint32_t at = kPointsAt + kPointBytes * static_cast<std::uint32_t>(k);
    Value* waiting = b_.CreateLoad(mask_type(), frame_at(at));
    Value* point_id = b_.CreateLoad(int_type(32), frame_at(at + 4));
    b_.CreateStore(waiting, point.waiting);
    b_.CreateStore(point_id, point.id);
    b_.CreateStore(b_.CreateLoad(int_type(32), frame_at(at + 8)), point.threads);
    Value* goes = point.is_yield ? yielded : b_.CreateAnd(b_.CreateNot(yielded), b_.CreateICmpEQ(point_id, id));
    released.push_back(b_.CreateSelect(goes, waiting, none));
  }
  for (std::size_t k = 0; k < suspensions_.size(); ++k) release(k, released[k]);
  go_to_scan();
}

}  // namespace heddle::codegen
