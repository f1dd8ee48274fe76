// FunctionEmitter: the plan (which values are scalars, which live in slots, what runs at entry), entry and blocks.
#include <llvm/IR/DebugInfoMetadata.h>

#include <algorithm>

#include "compiler/codegen/emit_pure.h"
#include "compiler/codegen/kernel_emitter.h"

namespace heddle::codegen {

using analysis::Shape;
using ir::BlockId;
using ir::Op;
using ir::OpClass;
using ir::ValueId;

namespace {

bool is_integer(ir::Type type) {
  const ir::TypeClass c = ir::class_of(type);
  return c == ir::TypeClass::kBits || c == ir::TypeClass::kUnsigned || c == ir::TypeClass::kSigned;
}

/// Cheap enough to run once per warp whether it is needed or not.
bool is_cheap(const ir::Inst& inst) {
  switch (inst.op) {
    case Op::kAdd:
    case Op::kSub:
    case Op::kMul:
    case Op::kMulWide:
    case Op::kAnd:
    case Op::kOr:
    case Op::kXor:
    case Op::kNot:
    case Op::kShl:
    case Op::kShr:
    case Op::kNeg:
    case Op::kMin:
    case Op::kMax: return is_integer(inst.type) && !inst.mods.sat;
    case Op::kZext:
    case Op::kSext:
    case Op::kCvtaToGeneric:
    case Op::kCvtaToSpace: return true;
    case Op::kCvt: return is_integer(inst.type) && is_integer(inst.from) && !inst.mods.sat;
    default: return false;
  }
}

}  // namespace

FunctionEmitter::FunctionEmitter(Unit& unit, const ir::Function& function, bool is_kernel)
    : unit_(unit), f_(function), is_kernel_(is_kernel), b_(unit.context()) {}

// ---------------------------------------------------------------------------------------------------------------- plan

void FunctionEmitter::plan() {
  cfg_ = analysis::compute_cfg(f_);
  live_ = analysis::compute_liveness(f_, cfg_);
  analysis::LaunchShape launch;
  std::copy(std::begin(unit_.variant.block), std::end(unit_.variant.block), launch.block);
  launch.lanes = lanes() >= 8 ? lanes() : 32;
  shapes_ = analysis::compute_shapes(f_, cfg_, launch);
  const std::uint64_t threads = std::uint64_t{launch.block[0]} * launch.block[1] * launch.block[2];
  entry_is_full_ = is_kernel_ && threads != 0 && threads % lanes() == 0;
  plan_values();
  plan_rows(launch);
  plan_suspensions();
  plan_frame();
  for (Info& info : info_) {
    info.remade = suspends() && info.hoisted && info.def && !info.def->operands.empty() && info.def->op != Op::kLoad &&
                  (info.rows || info.kind != Shape::Kind::kVarying);
  }

  const std::size_t blocks = f_.blocks.size();
  has_slow_.assign(blocks, false);
  has_slow_body_.assign(blocks, false);
  std::vector<BlockId> work;
  auto reach = [&](BlockId b) {
    if (has_slow_[b]) return;
    has_slow_[b] = true;
    work.push_back(b);
  };
  if (!entry_is_full_) reach(0);
  for (BlockId b : cfg_.order) {
    const ir::Inst& end = f_.blocks[b].terminator();
    if (end.targets.size() > 1 && (!is_uniform(end.operands[0]) || shapes_.divergent_branch[b])) {
      ++divergent_branches_;
      for (const ir::Target& target : end.targets) reach(target.block);
    }
    if ((end.op == Op::kExit || end.op == Op::kReturn) && shapes_.partial[b]) early_exit_ = true;
  }
  while (!work.empty()) {
    const BlockId b = work.back();
    work.pop_back();
    for (const ir::Target& target : f_.blocks[b].terminator().targets) reach(target.block);
  }
  for (BlockId b : cfg_.order) {
    has_slow_body_[b] = has_slow_[b] && (shapes_.partial[b] || early_exit_ || !entry_is_full_ ||
                                         shapes_.desynchronised || lanes() != 32);
  }
}

bool FunctionEmitter::is_hoistable(const ir::Inst& inst) const {
  if (inst.guard != ir::kNoValue) return false;
  auto operands_hoisted = [&] {
    return std::all_of(inst.operands.begin(), inst.operands.end(), [&](ValueId v) { return info_[v].hoisted; });
  };
  switch (inst.op) {
    case Op::kConst:
    case Op::kSpecial:
    case Op::kSymbolAddress:
    case Op::kUndef: return true;
    case Op::kLoad: {
      if (inst.mods.space != ir::Space::kParam || inst.mods.is_volatile || !is_kernel_) return false;
      const ir::Inst* address = info_[inst.operands[0]].def;
      if (address == nullptr || address->op != Op::kConst) return false;
      const std::uint64_t bytes = inst.results.size() * static_cast<std::uint64_t>(ir::bits_of(inst.type)) / 8;
      return address->imm + inst.imm + bytes <= std::max<std::uint64_t>(unit_.program.param_bytes, 1);
    }
    default:
      return is_cheap(inst) && operands_hoisted() && inst.results.size() == 1 &&
             (is_scalar(inst.results[0]) || info_[inst.results[0]].rows);
  }
}

/// Rows of a block of 8 or 16 threads are runs of lanes with much in common: in `row * pitch + column` the lanes of a
/// row lie side by side although `row * pitch` varies. Such values are kept as one scalar per row.
void FunctionEmitter::plan_rows(const analysis::LaunchShape& launch) {
  const std::uint32_t row = launch.block[0];
  const bool useful =
      (row == 8 || row == 16) && row < lanes() && lanes() / row <= kMostRows && launch.block[1] * launch.block[2] > 1;
  if (!useful || !is_kernel_ || shapes_.desynchronised) return;
  analysis::LaunchShape row_launch = launch;
  row_launch.lanes = row;
  row_shapes_ = analysis::compute_shapes(f_, cfg_, row_launch);
  if (row_shapes_.desynchronised) return;
  run_ = row;
  auto fits = [&](ValueId v) {
    const Shape::Kind kind = row_shapes_.values[v].kind;
    return !is_scalar(v) && (kind == Shape::Kind::kUniform || kind == Shape::Kind::kOffsets) && info_[v].bits > 1 &&
           info_[v].bits <= 64;
  };
  for (BlockId b : cfg_.order) {
    for (ValueId v : f_.blocks[b].parameters) info_[v].rows = fits(v);
    for (const ir::Inst& inst : f_.blocks[b].insts) {
      if (inst.results.size() == 1 && is_cheap(inst)) info_[inst.results[0]].rows = fits(inst.results[0]);
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    auto drop = [&](ValueId v) {
      changed |= info_[v].rows;
      info_[v].rows = false;
    };
    for (BlockId b : cfg_.order) {
      for (const ir::Inst& inst : f_.blocks[b].insts) {
        const bool all =
            std::all_of(inst.operands.begin(), inst.operands.end(), [&](ValueId v) { return has_rows(v); });
        for (ValueId v : inst.results) {
          if (!all) drop(v);
        }
        for (const ir::Target& target : inst.targets) {
          for (std::size_t i = 0; i < target.arguments.size(); ++i) {
            if (!has_rows(target.arguments[i])) drop(f_.blocks[target.block].parameters[i]);
          }
        }
      }
    }
  }
  for (ValueId v = 0; v < info_.size(); ++v) {
    if (info_[v].rows) info_[v].assumes = row_shapes_.values[v].assumption_count > 0;
  }
  for (BlockId b : cfg_.order) {
    for (const ir::Inst& inst : f_.blocks[b].insts) {
      if (inst.results.size() == 1 && info_[inst.results[0]].rows && is_hoistable(inst))
        info_[inst.results[0]].hoisted = true;
    }
  }
}

void FunctionEmitter::plan_values() {
  info_.assign(f_.values.size(), {});
  for (ValueId v = 0; v < f_.values.size(); ++v) {
    info_[v].kind = shapes_.values[v].kind == Shape::Kind::kUnknown ? Shape::Kind::kVarying : shapes_.values[v].kind;
    info_[v].bits = static_cast<unsigned>(ir::bits_of(f_.values[v].type));
    info_[v].assumes = info_[v].kind == Shape::Kind::kOffsets && shapes_.values[v].assumption_count > 0;
  }
  for (ValueId v : f_.arguments) info_[v].hoisted = true;
  for (BlockId b : cfg_.order) {
    for (ValueId v : f_.blocks[b].parameters) {
      info_[v].block = b;
      info_[v].crosses = true;
    }
    for (const ir::Inst& inst : f_.blocks[b].insts) {
      for (ValueId v : inst.results) {
        info_[v].block = b;
        info_[v].def = &inst;
      }
    }
  }
  // Desynchronised kernels have no shapes; what depends on the launch alone is uniform all the same.
  if (shapes_.desynchronised) {
    auto launch_uniform = [&](const ir::Inst& inst) {
      switch (inst.op) {
        case Op::kConst:
        case Op::kSymbolAddress:
        case Op::kUndef: return true;
        case Op::kSpecial:
          return inst.mods.special >= ir::Special::kNtidX && inst.mods.special <= ir::Special::kNctaidZ;
        case Op::kLoad:
          if (inst.mods.space != ir::Space::kParam || inst.guard != ir::kNoValue) return false;
          break;
        default:
          if (ir::class_of(inst.op) != OpClass::kPure) return false;
          if (inst.op == Op::kCvtaToGeneric || inst.op == Op::kCvtaToSpace) {
            if (inst.mods.space == ir::Space::kLocal) return false;
          }
      }
      return std::all_of(inst.operands.begin(), inst.operands.end(),
                         [&](ValueId v) { return info_[v].kind == Shape::Kind::kUniform; });
    };
    for (BlockId b : cfg_.order) {
      for (const ir::Inst& inst : f_.blocks[b].insts) {
        if (inst.results.empty() || !launch_uniform(inst)) continue;
        for (ValueId v : inst.results) {
          info_[v].kind = shapes_.values[v].kind = Shape::Kind::kUniform;
          shapes_.values[v].assumption_count = 0;
        }
      }
    }
  }
  for (BlockId b : cfg_.order) {
    for (const ir::Inst& inst : f_.blocks[b].insts) {
      if (inst.results.empty() || !is_hoistable(inst)) continue;
      for (ValueId v : inst.results) info_[v].hoisted = true;
    }
  }
  auto use = [&](ValueId v, BlockId in) {
    if (v == ir::kNoValue) return;
    Info& info = info_[v];
    if (in != info.block) info.crosses = true;
    const int loop = cfg_.loop_of[info.block];
    if (loop != analysis::kNoLoop && !cfg_.in_loop(in, loop)) info.merges = true;
  };
  for (BlockId b : cfg_.order) {
    for (const ir::Inst& inst : f_.blocks[b].insts) {
      for (ValueId v : inst.operands) use(v, b);
      for (ValueId v : inst.guard_else) use(v, b);
      use(inst.guard, b);
      for (const ir::Target& target : inst.targets) {
        for (ValueId v : target.arguments) use(v, b);
      }
    }
  }
  if (shapes_.desynchronised) {
    for (Info& info : info_) info.merges = true;
  }
}

// -------------------------------------------------------------------------------------------------------------- blocks

void FunctionEmitter::set_location(const ir::Inst& inst) {
  inst_now_ = &inst;
  if (subprogram_ == nullptr || inst.location.ptx_line == 0) return;
  b_.SetCurrentDebugLocation(llvm::DILocation::get(context(), inst.location.ptx_line, 0, subprogram_));
}

void FunctionEmitter::fail(const ir::Inst& inst, const std::string& why) {
  if (!unit_.error.empty()) return;
  unit_.error = f_.name + ": line " + std::to_string(inst.location.ptx_line) + ": '" + ir::name_of(inst.op) + "." +
                ir::name_of(inst.type) + "': " + why;
}

llvm::Value* FunctionEmitter::mask_bits() {
  return mode_ == Mode::kSlow ? current_bits_ : llvm::Constant::getAllOnesValue(mask_type());
}

void FunctionEmitter::begin_copy(Mode mode, Value* bits) {
  mode_ = mode;
  ++epoch_;
  current_bits_ = bits;
  current_mask_ = bits ? to_mask(bits) : nullptr;
}

void FunctionEmitter::emit_pure_inst(const ir::Inst& inst) {
  if (info_[inst.results[0]].rows) {
    std::vector<Rows> operand_rows;
    for (ValueId v : inst.operands) operand_rows.push_back(rows_of(v));
    Rows rows{};
    for (unsigned row = 0; row < row_count(); ++row) {
      std::vector<Value*> operands, results(1);
      for (const Rows& of_operand : operand_rows) operands.push_back(of_operand[row]);
      LaneBuilder builder(b_, 0);
      if (!emit_pure(builder, inst, operands, results)) return fail(inst, "this form is not supported");
      rows[row] = results[0];
    }
    return set_rows(inst.results[0], rows);
  }
  const bool any_scalar =
      std::any_of(inst.results.begin(), inst.results.end(), [&](ValueId v) { return is_scalar(v); });
  const bool any_vector =
      std::any_of(inst.results.begin(), inst.results.end(), [&](ValueId v) { return !is_scalar(v); });
  std::vector<Value*> operands(inst.operands.size()), results(inst.results.size());
  if (any_scalar) {
    for (std::size_t i = 0; i < operands.size(); ++i) operands[i] = scalar_of(inst.operands[i]);
    LaneBuilder builder(b_, 0);
    if (!emit_pure(builder, inst, operands, results)) return fail(inst, "this form is not supported");
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (is_scalar(inst.results[i])) set_scalar(inst.results[i], results[i]);
    }
  }
  if (any_vector) {
    for (std::size_t i = 0; i < operands.size(); ++i) operands[i] = vector_of(inst.operands[i]);
    LaneBuilder builder(b_, lanes());
    if (!emit_pure(builder, inst, operands, results)) return fail(inst, "this form is not supported");
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (!is_scalar(inst.results[i])) set_vector(inst.results[i], results[i]);
    }
  }
}

void FunctionEmitter::emit_inst(const ir::Inst& inst) {
  set_location(inst);
  switch (inst.op) {
    case Op::kConst:
    case Op::kUndef: return emit_constant(inst);
    case Op::kSpecial: return emit_special(inst);
    case Op::kClock: return emit_clock(inst);
    case Op::kSymbolAddress: return emit_symbol(inst);
    case Op::kCvtaToGeneric:
    case Op::kCvtaToSpace: return emit_cvta(inst);
    case Op::kIsSpace: return emit_is_space(inst);
    case Op::kLoad: return emit_load(inst);
    case Op::kStore: return emit_store(inst);
    case Op::kAtomicRmw: return emit_atomic(inst);
    case Op::kAtomicCas: return emit_cas(inst);
    case Op::kFence: return emit_fence(inst);
    case Op::kCopyAsync: return emit_copy_async(inst);
    case Op::kLocalAlloc: return emit_local_alloc(inst);
    case Op::kBarrierArrive: {
      Value* entry = runtime_entry(offsetof(exec::RuntimeTable, barrier_arrive));
      Value* popcount = b_.CreateIntrinsic(llvm::Intrinsic::ctpop, {mask_type()}, {mask_bits()});
      llvm::Type* i32 = int_type(32);
      auto* type = llvm::FunctionType::get(b_.getVoidTy(), {pointer_type(), pointer_type(), i32, i32, i32}, false);
      b_.CreateCall(type, entry,
                    {launch_, cta_, scalar_of(inst.operands[0]), scalar_of(inst.operands[1]),
                     b_.CreateZExtOrTrunc(popcount, i32)});
      return;
    }
    case Op::kCall: return emit_call(inst);
    case Op::kCallIndirect: return emit_call_indirect(inst);
    case Op::kCallRuntime: return emit_runtime(inst);
    case Op::kNanosleep: return emit_nanosleep(inst);
    case Op::kTrap: return emit_trap(inst);
    case Op::kTexture: return emit_texture(inst);
    case Op::kYield: return;  // in a callee: the caller's loop will do
    case Op::kBarrier: return fail(inst, "a barrier must end its block");
    default: break;
  }
  switch (ir::class_of(inst.op)) {
    case OpClass::kPure: return emit_pure_inst(inst);
    case OpClass::kWarp: return emit_warp(inst);
    default: return fail(inst, "not supported");
  }
}

void FunctionEmitter::emit_block(BlockId block) {
  block_now_ = block;
  const ir::Block& source = f_.blocks[block];
  for (std::size_t i = 0; i + 1 < source.insts.size(); ++i) {
    const ir::Inst& inst = source.insts[i];
    if (!inst.results.empty() && info_[inst.results[0]].hoisted) continue;
    if (suspension_of_[block] >= 0 && i + 2 == source.insts.size()) break;  // emitted with the terminator
    emit_inst(inst);
  }
  set_location(source.terminator());
  const int suspension = suspension_of_[block];
  if (suspension >= 0) {
    if (mode_ == Mode::kFast) return emit_fast_suspension(static_cast<std::size_t>(suspension));
    return emit_slow_wait(static_cast<std::size_t>(suspension));
  }
  emit_terminator(block, source.terminator());
}

void FunctionEmitter::emit_hoisted() {
  mode_ = Mode::kEntry;
  for (BlockId b : cfg_.order) {
    for (const ir::Inst& inst : f_.blocks[b].insts) {
      if (inst.results.empty() || !info_[inst.results[0]].hoisted || info_[inst.results[0]].remade) continue;
      emit_inst(inst);
    }
  }
}

void FunctionEmitter::emit(llvm::Function* into) {
  fn_ = into;
  launch_ = fn_->getArg(0);
  cta_ = fn_->getArg(1);
  group_ = fn_->getArg(2);
  if (is_kernel_) {
    for (unsigned d = 0; d < 3; ++d) cta_index_[d] = fn_->getArg(3 + d);
  }
  entry_ = new_block("entry");
  b_.SetInsertPoint(entry_);
  if (subprogram_) b_.SetCurrentDebugLocation(llvm::DILocation::get(context(), 0, 0, subprogram_));
  alloca_point_ = b_.CreateAlloca(b_.getInt1Ty(), nullptr, "slots");
  hoist_point_ = b_.CreateAlloca(b_.getInt1Ty(), nullptr, "fields");
  lanes_now_.assign(f_.values.size(), {});

  // Slots. They begin as "any value, but always the same" (freeze): lanes that merge into them are never read before
  // they are written, and the optimiser drops what nothing reads.
  std::map<llvm::Type*, Value*> anything;
  auto slot = [&](llvm::Type* type, const char* name) {
    llvm::AllocaInst* made = new_slot(type, name);
    Value*& initial = anything[type];
    if (!initial) initial = b_.CreateFreeze(llvm::PoisonValue::get(type));
    b_.CreateStore(initial, made);
    return made;
  };
  for (ValueId v = 0; v < f_.values.size(); ++v) {
    Info& info = info_[v];
    if (!info.crosses || info.hoisted) continue;
    if (is_scalar(v)) info.scalar = slot(int_type(info.bits), "s");
    if (info.rows) {
      for (unsigned row = 0; row < row_count(); ++row) info.row[row] = slot(int_type(info.bits), "r");
    }
    if ((!is_scalar(v) && !info.rows) || info.assumes) info.vector = slot(vector_type(info.bits), "v");
    if (info.assumes) info.ok = slot(b_.getInt1Ty(), "ok");
  }
  const std::size_t blocks = f_.blocks.size();
  pending_.assign(blocks, nullptr);
  fast_.assign(blocks, nullptr);
  slow_guard_.assign(blocks, nullptr);
  slow_tail_.assign(blocks, nullptr);
  auto zeroed = [&](llvm::Type* type, const char* name) {
    llvm::AllocaInst* made = new_slot(type, name);
    b_.CreateStore(llvm::Constant::getNullValue(type), made);
    return made;
  };
  for (BlockId b : cfg_.order) {
    if (is_kernel_) fast_[b] = new_block("fast");
    if (!has_slow_[b]) continue;
    pending_[b] = zeroed(mask_type(), "pending");
    slow_guard_[b] = new_block("guard");
    slow_tail_[b] = new_block("tail");
  }
  for (Suspension& suspension : suspensions_) {
    suspension.waiting = zeroed(mask_type(), "waiting");
    suspension.id = zeroed(int_type(32), "id");
    suspension.threads = zeroed(int_type(32), "threads");
    suspension.votes = zeroed(int_type(32), "votes");
    if (suspension.is_yield && !spins_) spins_ = zeroed(int_type(32), "spins");
  }
  scan_end_ = new_block("scan_end");
  done_ = new_block("done");

  local_top_ = new_slot(int_type(32), "local_top");
  if (is_kernel_) {
    b_.CreateStore(constant(32, unit_.program.local_bytes), local_top_);
  } else {
    set_callee_arguments();
  }

  emit_hoisted();
  emit_entry_dispatch();

  if (is_kernel_) {
    for (BlockId b : cfg_.order) {
      b_.SetInsertPoint(fast_[b]);
      begin_copy(Mode::kFast, nullptr);
      emit_block(b);
    }
    for (std::size_t k = 0; k < suspensions_.size(); ++k) emit_fast_resume(k);
  }
  emit_scan();
  keep_slots_in_memory();
}

/// Each slot that becomes SSA values costs phis at every join of the scan, so for large kernels the time to compile
/// grows with the square of their size. Those keep their slots in memory: volatile accesses are not promoted.
void FunctionEmitter::keep_slots_in_memory() {
  std::vector<llvm::AllocaInst*> slots;
  auto add = [&](llvm::AllocaInst* slot) {
    if (slot) slots.push_back(slot);
  };
  for (const Info& info : info_) {
    add(info.scalar);
    add(info.vector);
    add(info.ok);
    for (llvm::AllocaInst* row : info.row) add(row);
  }
  std::size_t guards = 0;
  for (llvm::AllocaInst* slot : pending_) {
    add(slot);
    guards += slot != nullptr;
  }
  slots_in_memory_ = slots.size() * guards > kMostPhis;
  if (!slots_in_memory_) return;
  for (llvm::AllocaInst* slot : slots) {
    for (llvm::User* user : slot->users()) {
      if (auto* load = llvm::dyn_cast<llvm::LoadInst>(user)) load->setVolatile(true);
      if (auto* store = llvm::dyn_cast<llvm::StoreInst>(user)) store->setVolatile(true);
    }
  }
}

}  // namespace heddle::codegen
