// Operations across the lanes of a warp: register operations, since a warp is one vector (the plan takes W = 32 for
// every kernel that has any). A lane that isn't active gives what its register happens to hold, as PTX allows.
#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>

#include "compiler/codegen/kernel_emitter.h"

namespace heddle::codegen {

using ir::Op;
using ir::ShflMode;
using ir::ValueId;
using ir::VoteMode;

void FunctionEmitter::emit_warp(const ir::Inst& inst) {
  if (lanes() != 32) return fail(inst, "warp operations need 32 lanes a vector");
  switch (inst.op) {
    case Op::kShfl: return emit_shfl(inst);
    case Op::kVote: return emit_vote(inst);
    case Op::kMatch: return emit_match(inst);
    case Op::kRedux: return emit_redux(inst);
    case Op::kActivemask: return set_result(inst.results[0], mask_bits());
    case Op::kElect: {
      Value* members = members_of(inst, inst.operands[0]);
      Value* leader = b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, members, b_.getFalse());
      set_result(inst.results[0], leader);
      if (inst.results.size() > 1) {
        Value* all = leader->getType()->isVectorTy() ? leader : splat(leader);
        set_result(inst.results[1], b_.CreateICmpEQ(all, iota(32)));
      }
      return;
    }
    case Op::kWarpSync: return memory_barrier();  // lanes are in lock step: what came before has been done
    default: return fail(inst, "not supported");
  }
}

llvm::Value* FunctionEmitter::members_of(const ir::Inst& inst, ValueId membermask) {
  const bool counts = inst.op == Op::kRedux || inst.op == Op::kElect || inst.mods.sync;
  if (!counts) return mask_bits();
  if (is_uniform(membermask)) return b_.CreateAnd(scalar_of(membermask), mask_bits());
  return b_.CreateAnd(vector_of(membermask), splat(mask_bits()));
}

llvm::Value* FunctionEmitter::permute(Value* vector, Value* indices) {
  const unsigned bits = vector->getType()->getScalarSizeInBits();
  if (bits == 32 && fn_->getFnAttribute("target-features").getValueAsString().contains("+avx512f")) {
    Value *low = slice(vector, 0, 16), *high = slice(vector, 16, 16);
    Value* halves[2];
    for (unsigned i = 0; i < 2; ++i) {
      halves[i] =
          b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_d_512, {}, {low, slice(indices, i * 16, 16), high});
    }
    llvm::SmallVector<int, 32> both;
    for (int i = 0; i < 32; ++i) both.push_back(i);
    return b_.CreateShuffleVector(halves[0], halves[1], both);
  }
  Value* array = spill(vector);
  Value* pointers = b_.CreateGEP(int_type(bits), array, b_.CreateZExt(indices, vector_type(64)));
  return b_.CreateMaskedGather(vector_type(bits), pointers, llvm::Align(bits / 8),
                               llvm::Constant::getAllOnesValue(vector_type(1)));
}

void FunctionEmitter::emit_shfl(const ir::Inst& inst) {
  const ShflMode mode = inst.mods.shfl;
  auto constant_of = [&](ValueId v, std::uint64_t* value) {
    const ir::Inst* def = info_[v].def;
    if (def == nullptr || def->op != Op::kConst) return false;
    *value = def->imm;
    return true;
  };
  auto set_in_range = [&](Value* value) {
    if (inst.results.size() > 1) set_result(inst.results[1], value);
  };
  std::uint64_t b = 0, c = 0;
  const bool fixed_c = constant_of(inst.operands[2], &c), fixed_b = constant_of(inst.operands[1], &b);
  if (fixed_b && fixed_c) {
    llvm::SmallVector<int, 32> picks;
    std::vector<llvm::Constant*> in_range;
    const int offset = static_cast<int>(b & 31), clamp = static_cast<int>(c & 31),
              segment = static_cast<int>(c >> 8 & 31);
    for (int lane = 0; lane < 32; ++lane) {
      const int most = (lane & segment) | (clamp & ~segment & 31);
      int from = 0;
      bool ok = false;
      switch (mode) {
        case ShflMode::kUp:
          from = lane - offset;
          ok = from >= most;
          break;
        case ShflMode::kDown:
          from = lane + offset;
          ok = from <= most;
          break;
        case ShflMode::kBfly:
          from = lane ^ offset;
          ok = from <= most;
          break;
        case ShflMode::kIdx:
          from = (lane & segment) | (offset & ~segment & 31);
          ok = from <= most;
          break;
      }
      picks.push_back(ok ? from : lane);
      in_range.push_back(b_.getInt1(ok));
    }
    Value* source = vector_of(inst.operands[0]);
    if (is_scalar(inst.results[0])) {
      set_scalar(inst.results[0], b_.CreateExtractElement(source, static_cast<std::uint64_t>(picks[0])));
    } else {
      set_vector(inst.results[0], b_.CreateShuffleVector(source, picks));
    }
    return set_in_range(llvm::ConstantVector::get(in_range));
  }
  if (mode == ShflMode::kIdx && fixed_c && (c & 31) == 31 && (c >> 8 & 31) == 0 && is_uniform(inst.operands[1])) {
    Value* from = b_.CreateAnd(scalar_of(inst.operands[1]), constant(32, 31));
    Value* picked = b_.CreateExtractElement(vector_of(inst.operands[0]), from);
    set_result(inst.results[0], picked);
    return set_in_range(llvm::Constant::getAllOnesValue(vector_type(1)));
  }
  Value* lane = iota(32);
  auto number = [&](std::uint64_t value) { return llvm::ConstantInt::get(vector_type(32), value); };
  Value* offset = b_.CreateAnd(vector_of(inst.operands[1]), number(31));
  Value* bounds = vector_of(inst.operands[2]);
  Value* clamp = b_.CreateAnd(bounds, number(31));
  Value* segment = b_.CreateAnd(b_.CreateLShr(bounds, number(8)), number(31));
  Value* outside = b_.CreateXor(segment, number(31));
  Value* least = b_.CreateAnd(lane, segment);
  Value* most = b_.CreateOr(least, b_.CreateAnd(clamp, outside));
  Value *from = nullptr, *ok = nullptr;
  switch (mode) {
    case ShflMode::kUp:
      from = b_.CreateSub(lane, offset);
      ok = b_.CreateICmpSGE(from, most);
      break;
    case ShflMode::kDown:
      from = b_.CreateAdd(lane, offset);
      ok = b_.CreateICmpSLE(from, most);
      break;
    case ShflMode::kBfly:
      from = b_.CreateXor(lane, offset);
      ok = b_.CreateICmpSLE(from, most);
      break;
    case ShflMode::kIdx:
      from = b_.CreateOr(least, b_.CreateAnd(offset, outside));
      ok = b_.CreateICmpSLE(from, most);
      break;
  }
  set_result(inst.results[0], permute(vector_of(inst.operands[0]), b_.CreateSelect(ok, from, lane)));
  set_in_range(ok);
}

void FunctionEmitter::emit_vote(const ir::Inst& inst) {
  Value* members = members_of(inst, inst.operands[1]);
  Value* votes = is_uniform(inst.operands[0])
                     ? b_.CreateSelect(scalar_of(inst.operands[0]), constant(32, ~0u), constant(32, 0))
                     : to_bits(vector_of(inst.operands[0]));
  if (members->getType()->isVectorTy()) votes = splat(votes);
  Value* ballot = b_.CreateAnd(votes, members);
  Value* none = llvm::Constant::getNullValue(ballot->getType());
  switch (inst.mods.vote) {
    case VoteMode::kBallot: return set_result(inst.results[0], ballot);
    case VoteMode::kAll: return set_result(inst.results[0], b_.CreateICmpEQ(ballot, members));
    case VoteMode::kAny: return set_result(inst.results[0], b_.CreateICmpNE(ballot, none));
    case VoteMode::kUni:
      return set_result(inst.results[0], b_.CreateOr(b_.CreateICmpEQ(ballot, members), b_.CreateICmpEQ(ballot, none)));
  }
}

/// Groups of lanes with the same value, one round per group.
void FunctionEmitter::emit_match(const ir::Inst& inst) {
  const unsigned bits = info_[inst.operands[0]].bits;
  Value* values = vector_of(inst.operands[0]);
  Value* members = members_of(inst, inst.operands[1]);
  Value* all_members = members->getType()->isVectorTy() ? members : splat(members);
  Value* array = spill(values);
  Value* members_array = spill(all_members);
  llvm::AllocaInst* result = new_slot(vector_type(32), "match");
  llvm::AllocaInst* remaining = new_slot(mask_type(), "remaining");
  b_.CreateStore(llvm::Constant::getNullValue(vector_type(32)), result);
  b_.CreateStore(mask_bits(), remaining);
  llvm::BasicBlock* round = new_block("round");
  llvm::BasicBlock* after = new_block("after");
  b_.CreateBr(round);
  b_.SetInsertPoint(round);
  Value* left = b_.CreateLoad(mask_type(), remaining);
  Value* index = first_lane(left);
  Value* value = load_lane(array, bits, index);
  Value* party = load_lane(members_array, 32, index);
  Value* same = b_.CreateAnd(to_bits(b_.CreateICmpEQ(values, splat(value))), b_.CreateAnd(left, party));
  same = b_.CreateOr(same, b_.CreateTrunc(b_.CreateShl(constant(64, 1), index), mask_type()));
  b_.CreateStore(b_.CreateSelect(to_mask(same), splat(same), b_.CreateLoad(vector_type(32), result)), result);
  left = b_.CreateAnd(left, b_.CreateNot(same));
  b_.CreateStore(left, remaining);
  b_.CreateCondBr(b_.CreateICmpNE(left, llvm::Constant::getNullValue(mask_type())), round, after);
  b_.SetInsertPoint(after);
  Value* groups = b_.CreateLoad(vector_type(32), result);
  if (inst.mods.vote != VoteMode::kAll) {
    set_result(inst.results[0], groups);
    return;
  }
  Value* whole = b_.CreateICmpEQ(groups, all_members);
  set_result(inst.results[0], b_.CreateSelect(whole, all_members, llvm::Constant::getNullValue(vector_type(32))));
  if (inst.results.size() > 1) set_result(inst.results[1], whole);
}

llvm::Value* FunctionEmitter::reduce(const ir::Inst& inst, Value* vector, Value* mask) {
  if (mask) vector = b_.CreateSelect(mask, vector, splat(identity(inst.mods.atomic, inst.type)));
  if (!ir::is_float(inst.type) && ir::class_of(inst.type) != ir::TypeClass::kPacked) {
    const bool is_signed = ir::is_signed(inst.type);
    switch (inst.mods.atomic) {
      case ir::AtomicOp::kAdd: return b_.CreateAddReduce(vector);
      case ir::AtomicOp::kAnd: return b_.CreateAndReduce(vector);
      case ir::AtomicOp::kOr: return b_.CreateOrReduce(vector);
      case ir::AtomicOp::kXor: return b_.CreateXorReduce(vector);
      case ir::AtomicOp::kMin: return b_.CreateIntMinReduce(vector, is_signed);
      case ir::AtomicOp::kMax: return b_.CreateIntMaxReduce(vector, is_signed);
      default: break;
    }
  }
  for (unsigned count = lanes() / 2; count >= 1; count /= 2) {
    vector = combine(inst, slice(vector, 0, count), slice(vector, count, count), count);
  }
  return b_.CreateExtractElement(vector, std::uint64_t{0});
}

void FunctionEmitter::emit_redux(const ir::Inst& inst) {
  Value* values = vector_of(inst.operands[0]);
  const unsigned bits = info_[inst.operands[0]].bits;
  if (ir::is_float(inst.type) && inst.mods.abs) {
    values = b_.CreateAnd(values, splat(llvm::ConstantInt::get(context(), llvm::APInt::getSignedMaxValue(bits))));
  }
  Value* members = members_of(inst, inst.operands[1]);
  if (!members->getType()->isVectorTy()) return set_result(inst.results[0], reduce(inst, values, to_mask(members)));
  // Parties with different masks: one after the other.
  Value* parties = spill(members);
  llvm::AllocaInst* result = new_slot(vector_type(bits), "redux");
  llvm::AllocaInst* remaining = new_slot(mask_type(), "remaining");
  b_.CreateStore(llvm::Constant::getNullValue(vector_type(bits)), result);
  b_.CreateStore(mask_bits(), remaining);
  llvm::BasicBlock* round = new_block("round");
  llvm::BasicBlock* after = new_block("after");
  b_.CreateBr(round);
  b_.SetInsertPoint(round);
  Value* left = b_.CreateLoad(mask_type(), remaining);
  Value* index = first_lane(left);
  Value* party =
      b_.CreateOr(load_lane(parties, 32, index), b_.CreateTrunc(b_.CreateShl(constant(64, 1), index), mask_type()));
  Value* lanes_in = to_mask(party);
  Value* reduced = splat(reduce(inst, values, lanes_in));
  b_.CreateStore(b_.CreateSelect(lanes_in, reduced, b_.CreateLoad(vector_type(bits), result)), result);
  left = b_.CreateAnd(left, b_.CreateNot(party));
  b_.CreateStore(left, remaining);
  b_.CreateCondBr(b_.CreateICmpNE(left, llvm::Constant::getNullValue(mask_type())), round, after);
  b_.SetInsertPoint(after);
  set_result(inst.results[0], b_.CreateLoad(vector_type(bits), result));
}

}  // namespace heddle::codegen
