// Atomics. Lanes that all name one address are combined in the warp before one atomic operation (30 times faster than
// one after the other); the rest takes turns, lowest lane first. Shared memory needs no lock: one worker runs a CTA.
#include <algorithm>

#include "compiler/codegen/emit_pure.h"
#include "compiler/codegen/kernel_emitter.h"

namespace heddle::codegen {

using ir::AtomicOp;
using ir::Op;

namespace {

/// The IR operation that combines two values as the atomic does.
bool find_combiner(AtomicOp op, Op* pure) {
  switch (op) {
    case AtomicOp::kAdd: *pure = Op::kAdd; return true;
    case AtomicOp::kMin: *pure = Op::kMin; return true;
    case AtomicOp::kMax: *pure = Op::kMax; return true;
    case AtomicOp::kAnd: *pure = Op::kAnd; return true;
    case AtomicOp::kOr: *pure = Op::kOr; return true;
    case AtomicOp::kXor: *pure = Op::kXor; return true;
    default: return false;
  }
}

bool is_float_like(ir::Type type) {
  return ir::is_float(type) || type == ir::Type::kF16x2 || type == ir::Type::kBF16x2;
}

}  // namespace

llvm::Value* FunctionEmitter::combine(const ir::Inst& inst, Value* a, Value* b, unsigned lane_count) {
  ir::Inst pair;
  pair.type = inst.type;
  pair.location = inst.location;
  pair.mods.nan = inst.mods.nan;
  pair.mods.ftz = inst.mods.ftz;
  if (is_float_like(inst.type)) pair.mods.rounding = ir::Rounding::kRn;
  if (!find_combiner(inst.mods.atomic, &pair.op)) {
    fail(inst, "this operation can't be combined");
    return a;
  }
  pair.operands = {0, 1};
  pair.results = {2};
  Value* operands[] = {a, b};
  Value* result[] = {nullptr};
  LaneBuilder builder(b_, lane_count);
  if (!emit_pure(builder, pair, operands, result)) {
    fail(inst, "this form is not supported");
    return a;
  }
  return result[0];
}

/// What changes nothing when it is combined.
llvm::Constant* FunctionEmitter::identity(AtomicOp op, ir::Type type) const {
  const unsigned bits = static_cast<unsigned>(ir::bits_of(type));
  llvm::APInt value(bits, 0);
  if (is_float_like(type)) {
    if (op == AtomicOp::kAdd) {  // minus zero
      value = llvm::APInt::getSignMask(bits);
      if (ir::class_of(type) == ir::TypeClass::kPacked) value.setBit(bits / 2 - 1);
    } else {  // NaN: minimum and maximum take the other operand
      value = llvm::APInt::getAllOnes(bits);
      value.clearBit(bits - 1);
    }
  } else if (op == AtomicOp::kAnd) {
    value = llvm::APInt::getAllOnes(bits);
  } else if (op == AtomicOp::kMin) {
    value = ir::is_signed(type) ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getMaxValue(bits);
  } else if (op == AtomicOp::kMax) {
    value = ir::is_signed(type) ? llvm::APInt::getSignedMinValue(bits) : llvm::APInt::getMinValue(bits);
  }
  return llvm::ConstantInt::get(context(), value);
}

/// One lane's operation; returns the old value. `replacement`: compare and swap, with `operand` to compare.
llvm::Value* FunctionEmitter::atomic_scalar(const ir::Inst& inst, Value* pointer, Value* operand, Value* replacement) {
  const unsigned bits = static_cast<unsigned>(ir::bits_of(inst.type));
  const llvm::Align align(bits / 8);
  llvm::Type* type = int_type(bits);
  const AtomicOp op = inst.mods.atomic;
  auto next = [&](Value* old) -> Value* {
    if (replacement) return b_.CreateSelect(b_.CreateICmpEQ(old, operand), replacement, old);
    switch (op) {
      case AtomicOp::kExch: return operand;
      case AtomicOp::kInc:
        return b_.CreateSelect(b_.CreateICmpUGE(old, operand), constant(bits, 0), b_.CreateAdd(old, constant(bits, 1)));
      case AtomicOp::kDec: {
        Value* wraps = b_.CreateOr(b_.CreateICmpEQ(old, constant(bits, 0)), b_.CreateICmpUGT(old, operand));
        return b_.CreateSelect(wraps, operand, b_.CreateSub(old, constant(bits, 1)));
      }
      default: return combine(inst, old, operand, 0);
    }
  };
  if (inst.mods.space == ir::Space::kShared) {
    Value* old = b_.CreateAlignedLoad(type, pointer, align);
    b_.CreateAlignedStore(next(old), pointer, align);
    return old;
  }
  const bool relaxed = inst.mods.order == ir::Order::kRelaxed || inst.mods.order == ir::Order::kWeak;
  const auto order = relaxed ? llvm::AtomicOrdering::Monotonic : llvm::AtomicOrdering::SequentiallyConsistent;
  const auto failure = relaxed ? llvm::AtomicOrdering::Monotonic : llvm::AtomicOrdering::SequentiallyConsistent;
  if (replacement) {
    return b_.CreateExtractValue(b_.CreateAtomicCmpXchg(pointer, operand, replacement, align, order, failure), 0);
  }
  if (!is_float_like(inst.type)) {
    using Rmw = llvm::AtomicRMWInst::BinOp;
    const bool is_signed = ir::is_signed(inst.type);
    Rmw rmw = Rmw::Xchg;
    switch (op) {
      case AtomicOp::kAdd: rmw = Rmw::Add; break;
      case AtomicOp::kMin: rmw = is_signed ? Rmw::Min : Rmw::UMin; break;
      case AtomicOp::kMax: rmw = is_signed ? Rmw::Max : Rmw::UMax; break;
      case AtomicOp::kInc: rmw = Rmw::UIncWrap; break;
      case AtomicOp::kDec: rmw = Rmw::UDecWrap; break;
      case AtomicOp::kAnd: rmw = Rmw::And; break;
      case AtomicOp::kOr: rmw = Rmw::Or; break;
      case AtomicOp::kXor: rmw = Rmw::Xor; break;
      case AtomicOp::kExch: rmw = Rmw::Xchg; break;
    }
    return b_.CreateAtomicRMW(rmw, pointer, operand, align, order);
  }
  // Compare and swap until nobody came between.
  llvm::LoadInst* first = b_.CreateAlignedLoad(type, pointer, align);
  first->setAtomic(llvm::AtomicOrdering::Monotonic);
  llvm::BasicBlock* before = b_.GetInsertBlock();
  llvm::BasicBlock* again = new_block("again");
  llvm::BasicBlock* after = new_block("after");
  b_.CreateBr(again);
  b_.SetInsertPoint(again);
  llvm::PHINode* old = b_.CreatePHI(type, 2);
  old->addIncoming(first, before);
  Value* swapped = b_.CreateAtomicCmpXchg(pointer, old, next(old), align, order, failure);
  old->addIncoming(b_.CreateExtractValue(swapped, 0), b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateExtractValue(swapped, 1), after, again);
  b_.SetInsertPoint(after);
  return old;
}

/// All lanes at one address: combine, then one operation. False if the operation doesn't allow it.
bool FunctionEmitter::emit_combined_atomic(const ir::Inst& inst, Value* mask) {
  Op pure;
  const AtomicOp op = inst.mods.atomic;
  if (!find_combiner(op, &pure)) return false;
  const bool used = !inst.results.empty();
  // The old values of floating-point sums depend on the order; in lane order they are what a GPU could give as well,
  // but sums made in two steps aren't.
  if (is_float_like(inst.type) && (used || op != AtomicOp::kAdd)) return false;
  ++unit_.counts.warp_reduced;
  const Address address = address_of(inst);
  Value* total = reduce(inst, vector_of(inst.operands[1]), mask);
  Value* old = atomic_scalar(inst, to_pointer(address.bases[0]), total, nullptr);
  if (!used) return true;
  // What each lane finds: the old value combined with the lanes below (an exclusive scan in lane order).
  const unsigned bits = static_cast<unsigned>(ir::bits_of(inst.type));
  Value* neutral = splat(identity(op, inst.type));
  Value* scan = vector_of(inst.operands[1]);
  if (mask) scan = b_.CreateSelect(mask, scan, neutral);
  auto shifted = [&](Value* vector, unsigned by) {
    llvm::SmallVector<int, 32> picks;
    for (unsigned i = 0; i < lanes(); ++i) picks.push_back(static_cast<int>(i < by ? lanes() : i - by));
    return b_.CreateShuffleVector(vector, neutral, picks);
  };
  for (unsigned step = 1; step < lanes(); step *= 2) scan = combine(inst, scan, shifted(scan, step), lanes());
  Value* below = lanes() > 1 ? shifted(scan, 1) : neutral;
  set_result(inst.results[0], b_.CreateZExtOrTrunc(combine(inst, splat(old), below, lanes()), vector_type(bits)));
  return true;
}

void FunctionEmitter::emit_atomic(const ir::Inst& inst) {
  ++unit_.counts.atomics;
  const unsigned bits = static_cast<unsigned>(ir::bits_of(inst.type));
  const bool used = !inst.results.empty();
  order_before(inst);
  Value* lanes_in = guarded_mask(inst);
  if (inst.guard != ir::kNoValue && is_uniform(inst.guard)) {
    Value* guard = splat(scalar_of(inst.guard));
    lanes_in = lanes_in ? b_.CreateAnd(lanes_in, guard) : guard;
  }
  const bool one_place = is_uniform(inst.operands[0]) && inst.mods.space != ir::Space::kLocal;
  // Whatever the guard leaves out keeps its `guard_else`, or zero.
  Value* otherwise = nullptr;
  if (used && inst.guard != ir::kNoValue && !inst.guard_else.empty()) otherwise = vector_of(inst.guard_else[0]);

  if (one_place && inst.guard == ir::kNoValue && emit_combined_atomic(inst, lanes_in)) {
    order_after(inst);
    return;
  }
  Value* active = lanes_in ? to_bits(lanes_in) : mask_bits();
  Op ignored;
  if (one_place && !used && find_combiner(inst.mods.atomic, &ignored) &&
      (!is_float_like(inst.type) || inst.mods.atomic == AtomicOp::kAdd)) {
    if_then(b_.CreateICmpNE(active, llvm::Constant::getNullValue(mask_type())),
            [&] { emit_combined_atomic(inst, lanes_in); });
    order_after(inst);
    return;
  }
  Value* pointers = one_place ? nullptr : spill(address_vector(address_of(inst)));
  Value* pointer = one_place ? to_pointer(address_of(inst).bases[0]) : nullptr;
  Value* operands = is_uniform(inst.operands[1]) ? nullptr : spill(vector_of(inst.operands[1]));
  Value* operand = operands ? nullptr : scalar_of(inst.operands[1]);
  Value* olds = nullptr;
  if (used) olds = spill(otherwise ? otherwise : llvm::Constant::getNullValue(vector_type(bits)));
  for_each_lane(active, [&](Value* index) {
    Value* at = pointer ? pointer : to_pointer(load_lane(pointers, 64, index));
    Value* with = operand ? operand : load_lane(operands, bits, index);
    Value* old = atomic_scalar(inst, at, with, nullptr);
    if (used) store_lane(olds, old, index);
  });
  order_after(inst);
  if (used) set_result(inst.results[0], b_.CreateAlignedLoad(vector_type(bits), olds, llvm::Align(1)));
}

void FunctionEmitter::emit_cas(const ir::Inst& inst) {
  ++unit_.counts.atomics;
  const unsigned bits = static_cast<unsigned>(ir::bits_of(inst.type));
  order_before(inst);
  Value* lanes_in = guarded_mask(inst);
  if (inst.guard != ir::kNoValue && is_uniform(inst.guard)) {
    Value* guard = splat(scalar_of(inst.guard));
    lanes_in = lanes_in ? b_.CreateAnd(lanes_in, guard) : guard;
  }
  Value* active = lanes_in ? to_bits(lanes_in) : mask_bits();
  Value* pointers = spill(address_vector(address_of(inst)));
  Value* compares = spill(vector_of(inst.operands[1]));
  Value* replacements = spill(vector_of(inst.operands[2]));
  const bool used = !inst.results.empty();
  Value* olds = nullptr;
  if (used) {
    olds =
        spill(inst.guard != ir::kNoValue && !inst.guard_else.empty() ? vector_of(inst.guard_else[0])
                                                                     : llvm::Constant::getNullValue(vector_type(bits)));
  }
  for_each_lane(active, [&](Value* index) {
    Value* old = atomic_scalar(inst, to_pointer(load_lane(pointers, 64, index)), load_lane(compares, bits, index),
                               load_lane(replacements, bits, index));
    if (used) store_lane(olds, old, index);
  });
  order_after(inst);
  if (used) set_result(inst.results[0], b_.CreateAlignedLoad(vector_type(bits), olds, llvm::Align(1)));
}

}  // namespace heddle::codegen
