// FunctionEmitter: the forms of a value (scalar, lanes, one scalar per row), its slots, and what its assumptions cost.
// A value that assumes (analysis/shape.h) is its scalar and a flag; its exact lanes are made only where the flag is
// false.
#include <algorithm>

#include "compiler/codegen/emit_pure.h"
#include "compiler/codegen/kernel_emitter.h"

namespace heddle::codegen {

using analysis::Shape;
using ir::Op;
using ir::ValueId;

llvm::AllocaInst* FunctionEmitter::new_slot(llvm::Type* type, const char* name) {
  llvm::IRBuilder<> at(alloca_point_);
  return at.CreateAlloca(type, nullptr, name);
}

FunctionEmitter::Lane& FunctionEmitter::lane(ValueId v) {
  Lane& lane = lanes_now_[v];
  if (lane.epoch != kHoisted && lane.epoch != epoch_) lane = Lane{nullptr, nullptr, nullptr, {}, epoch_};
  return lane;
}

/// Makes a value again where it is needed, with what it is made of. In a side block nothing is kept.
FunctionEmitter::Lane FunctionEmitter::remake(ValueId v) {
  std::vector<ValueId> made, *outer = remade_;
  if (!outer) remade_ = &made;
  const llvm::DebugLoc location = b_.getCurrentDebugLocation();
  emit_inst(*info_[v].def);
  b_.SetCurrentDebugLocation(location);
  const Lane result = lanes_now_[v];
  remade_->push_back(v);
  remade_ = outer;
  if (!outer && no_cache_ > 0) {
    for (ValueId value : made) lanes_now_[value] = {};
  }
  return result;
}

llvm::Value* FunctionEmitter::scalar_of(ValueId v) {
  Lane& known = lane(v);
  if (known.scalar) return known.scalar;
  if (info_[v].remade && is_scalar(v)) return remake(v).scalar;
  if (is_scalar(v) && info_[v].scalar) {
    Value* loaded = b_.CreateLoad(info_[v].scalar->getAllocatedType(), info_[v].scalar);
    if (no_cache_ == 0) known.scalar = loaded;
    return loaded;
  }
  if (!is_scalar(v)) return lane0_or_first(vector_of(v));
  if (info_[v].hoisted) return known.scalar;
  return llvm::Constant::getNullValue(int_type(info_[v].bits));  // defined on no path
}

llvm::Value* FunctionEmitter::lane0_or_first(Value* vector) {
  if (mode_ != Mode::kSlow) return b_.CreateExtractElement(vector, std::uint64_t{0});
  Value* first = b_.CreateIntrinsic(llvm::Intrinsic::cttz, {mask_type()}, {current_bits_, b_.getTrue()});
  return b_.CreateExtractElement(vector, first);
}

llvm::Value* FunctionEmitter::assumed_rows(ValueId v, const Rows& rows) {
  std::vector<llvm::Constant*> lane_offsets;
  for (unsigned i = 0; i < lanes(); ++i) {
    const auto offset = static_cast<std::uint64_t>(row_offsets(v)[i]);
    lane_offsets.push_back(llvm::ConstantInt::get(context(), llvm::APInt(info_[v].bits, offset, true)));
  }
  Value* base = splat(rows[0]);
  for (unsigned row = 1; row < row_count(); ++row) {
    llvm::SmallVector<int, 32> blend;
    for (unsigned i = 0; i < lanes(); ++i) blend.push_back(static_cast<int>(i / run_ == row ? lanes() + i : i));
    base = b_.CreateShuffleVector(base, splat(rows[row]), blend);
  }
  return b_.CreateAdd(base, llvm::ConstantVector::get(lane_offsets));
}

llvm::Value* FunctionEmitter::assumed_vector(ValueId v) {
  if (info_[v].rows) return assumed_rows(v, rows_of(v));
  std::vector<llvm::Constant*> lane_offsets;
  for (unsigned i = 0; i < lanes(); ++i) {
    const auto offset = static_cast<std::uint64_t>(offsets(v)[i]);
    lane_offsets.push_back(llvm::ConstantInt::get(context(), llvm::APInt(info_[v].bits, offset, true)));
  }
  return b_.CreateAdd(splat(scalar_of(v)), llvm::ConstantVector::get(lane_offsets));
}

llvm::Value* FunctionEmitter::vector_of(ValueId v) {
  Lane& known = lane(v);
  if (known.vector) return known.vector;
  const Info& info = info_[v];
  Value* vector = nullptr;
  if (info.kind == Shape::Kind::kUniform) {
    vector = splat(scalar_of(v));
  } else if (info.assumes && info.ok) {
    Value* exact = b_.CreateLoad(info.vector->getAllocatedType(), info.vector);
    vector = b_.CreateSelect(ok_of(v), assumed_vector(v), exact);
  } else if (info.assumes) {
    vector = recompute_vector(v);
  } else if (info.kind == Shape::Kind::kOffsets || info.rows) {
    vector = assumed_vector(v);
  } else if (info.vector) {
    vector = b_.CreateLoad(info.vector->getAllocatedType(), info.vector);
  } else {
    vector = llvm::Constant::getNullValue(vector_type(info.bits));  // defined on no path
  }
  if (no_cache_ == 0 && known.epoch != kHoisted) known.vector = vector;
  return vector;
}

const analysis::LaneOffsets& FunctionEmitter::row_offsets(ValueId v) const {
  return row_shapes_.offsets[row_shapes_.values[v].offsets];
}

/// The value in the first lane of each row.
FunctionEmitter::Rows FunctionEmitter::rows_of(ValueId v) {
  Rows rows{};
  const Info& info = info_[v];
  if (is_scalar(v)) {
    Value* base = scalar_of(v);
    for (unsigned row = 0; row < row_count(); ++row) {
      const std::int64_t offset = is_uniform(v) ? 0 : offsets(v)[row * run_];
      rows[row] =
          offset == 0
              ? base
              : b_.CreateAdd(base, llvm::ConstantInt::get(
                                       context(), llvm::APInt(info.bits, static_cast<std::uint64_t>(offset), true)));
    }
    return rows;
  }
  Lane& known = lane(v);
  if (known.rows[0]) return known.rows;
  if (info.remade) return remake(v).rows;
  for (unsigned row = 0; row < row_count(); ++row) {
    rows[row] = info.row[row] ? static_cast<Value*>(b_.CreateLoad(int_type(info.bits), info.row[row]))
                              : llvm::Constant::getNullValue(int_type(info.bits));
  }
  if (no_cache_ == 0) known.rows = rows;
  return rows;
}

llvm::Value* FunctionEmitter::row_mask(Value* bits, unsigned row) {
  llvm::APInt of_row = llvm::APInt::getBitsSet(lanes(), row * run_, (row + 1) * run_);
  return b_.CreateICmpNE(b_.CreateAnd(bits, llvm::ConstantInt::get(context(), of_row)),
                         llvm::Constant::getNullValue(mask_type()));
}

llvm::Value* FunctionEmitter::unless(Value* ok, const std::function<Value*()>& make) {
  llvm::BasicBlock* before = b_.GetInsertBlock();
  llvm::BasicBlock* wraps = new_block("wraps");
  llvm::BasicBlock* after = new_block("after");
  b_.CreateCondBr(ok, after, wraps);
  b_.SetInsertPoint(wraps);
  ++no_cache_;
  Value* made = make();
  --no_cache_;
  llvm::BasicBlock* made_in = b_.GetInsertBlock();
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
  llvm::PHINode* phi = b_.CreatePHI(made->getType(), 2);
  phi->addIncoming(made, made_in);
  phi->addIncoming(llvm::PoisonValue::get(made->getType()), before);
  return phi;
}

/// The exact lanes of a value whose offsets are only assumed, from its operands.
llvm::Value* FunctionEmitter::recompute_vector(ValueId v) {
  const ir::Inst& inst = *info_[v].def;
  if (inst.op == Op::kCvtaToGeneric || inst.op == Op::kCvtaToSpace) {
    Value* base = splat(space_base(inst.mods.space));
    Value* operand = b_.CreateZExtOrTrunc(vector_of(inst.operands[0]), vector_type(64));
    Value* sum = inst.op == Op::kCvtaToGeneric ? b_.CreateAdd(operand, base) : b_.CreateSub(operand, base);
    return b_.CreateZExtOrTrunc(sum, vector_type(info_[v].bits));
  }
  std::vector<Value*> operands, results(inst.results.size());
  for (ValueId operand : inst.operands) operands.push_back(vector_of(operand));
  LaneBuilder builder(b_, lanes());
  if (!emit_pure(builder, inst, operands, results)) {
    fail(inst, "not supported");
    return llvm::Constant::getNullValue(vector_type(info_[v].bits));
  }
  return results[static_cast<std::size_t>(std::find(inst.results.begin(), inst.results.end(), v) -
                                          inst.results.begin())];
}

llvm::Value* FunctionEmitter::ok_of(ValueId v) {
  if (!info_[v].assumes) return nullptr;
  Lane& known = lane(v);
  if (known.ok) return known.ok;
  Value* ok = info_[v].ok ? b_.CreateLoad(b_.getInt1Ty(), info_[v].ok) : compute_ok(v);
  if (no_cache_ == 0) known.ok = ok;
  return ok;
}

/// The assumptions that this instruction adds, and those of its operands.
llvm::Value* FunctionEmitter::compute_ok(ValueId v) {
  const ir::Inst* inst = info_[v].def;
  const bool rows = info_[v].rows;
  const analysis::Shapes& shapes = rows ? row_shapes_ : shapes_;
  const Shape& shape = shapes.values[v];
  Value* all = nullptr;
  auto also = [&](Value* test) {
    if (test) all = all ? b_.CreateAnd(all, test) : test;
  };
  if (inst == nullptr) return b_.getFalse();
  for (ValueId operand : inst->operands) also(ok_of(operand));
  for (int i = 0; i < shape.assumption_count; ++i) {
    const analysis::Assumption& assumption = shape.assumptions[static_cast<std::size_t>(i)];
    if (std::find(inst->operands.begin(), inst->operands.end(), assumption.value) == inst->operands.end()) continue;
    if (shapes.values[assumption.value].kind != Shape::Kind::kOffsets) continue;
    const unsigned bits = info_[assumption.value].bits;
    const auto first = (rows ? row_offsets(assumption.value) : offsets(assumption.value)).begin();
    const auto [least, most] = std::minmax_element(first, first + (rows ? run_ : lanes()));
    auto number = [&](const llvm::APInt& value) { return llvm::ConstantInt::get(context(), value); };
    const llvm::APInt low(bits, static_cast<std::uint64_t>(*least), true);
    const llvm::APInt high(bits, static_cast<std::uint64_t>(*most), true);
    Rows bases{};
    if (rows) {
      bases = rows_of(assumption.value);
    } else {
      bases[0] = scalar_of(assumption.value);
    }
    for (Value* base : bases) {
      if (base == nullptr) break;
      if (assumption.is_signed) {
        if (*most > 0) also(b_.CreateICmpSLE(base, number(llvm::APInt::getSignedMaxValue(bits) - high)));
        if (*least < 0) also(b_.CreateICmpSGE(base, number(llvm::APInt::getSignedMinValue(bits) - low)));
      } else {
        if (*most > 0) also(b_.CreateICmpULE(base, number(llvm::APInt::getMaxValue(bits) - high)));
        if (*least < 0) also(b_.CreateICmpUGE(base, number(-low)));
      }
    }
  }
  return all ? all : b_.getTrue();
}

void FunctionEmitter::set_scalar(ValueId v, Value* scalar) {
  Lane& known = lane(v);
  known = Lane{scalar, nullptr, nullptr, {}, known.epoch};
  if (mode_ == Mode::kEntry) {
    known.epoch = kHoisted;
    if (info_[v].assumes) known.ok = compute_ok(v);
    return;
  }
  if (!info_[v].crosses || info_[v].hoisted) return;
  if (info_[v].assumes) {
    Value* ok = compute_ok(v);
    lane(v).ok = ok;
    Value* exact = unless(ok, [&] { return recompute_vector(v); });
    Lane stored = lane(v);
    stored.vector = exact;
    store_slots(v, stored, info_[v].merges ? mask() : nullptr);
    return;
  }
  store_slots(v, known, info_[v].merges ? mask() : nullptr);
}

void FunctionEmitter::set_rows(ValueId v, const Rows& rows) {
  Lane& known = lane(v);
  known = Lane{nullptr, nullptr, nullptr, rows, known.epoch};
  if (mode_ == Mode::kEntry) {
    known.epoch = kHoisted;
    if (info_[v].assumes) known.ok = compute_ok(v);
    return;
  }
  if (!info_[v].crosses || info_[v].hoisted) return;
  Lane stored = known;
  if (info_[v].assumes) {
    stored.ok = lane(v).ok = compute_ok(v);
    stored.vector = unless(stored.ok, [&] { return recompute_vector(v); });
  }
  store_slots(v, stored, info_[v].merges ? mask() : nullptr);
}

void FunctionEmitter::set_vector(ValueId v, Value* vector) {
  Lane& known = lane(v);
  known = Lane{nullptr, vector, nullptr, {}, known.epoch};
  if (mode_ == Mode::kEntry) {
    known.epoch = kHoisted;
    return;
  }
  if (info_[v].crosses) store_slots(v, known, info_[v].merges ? mask() : nullptr);
}

void FunctionEmitter::store_slots(ValueId v, const Lane& lane, Value* mask) {
  const Info& info = info_[v];
  if (info.rows) return store_row_slots(v, lane, mask);
  if (info.scalar) b_.CreateStore(lane.scalar, info.scalar);
  if (info.ok) b_.CreateStore(lane.ok, info.ok);
  if (!info.vector) return;
  Value* vector = lane.vector;
  if (mask && !info.assumes) {
    vector = b_.CreateSelect(mask, vector, b_.CreateLoad(info.vector->getAllocatedType(), info.vector));
  }
  b_.CreateStore(vector, info.vector);
}

void FunctionEmitter::store_row_slots(ValueId v, const Lane& lane, Value* mask) {
  const Info& info = info_[v];
  if (!info.row[0]) return;
  if (info.ok && mask) {
    // Rows outside the mask keep their values, and what holds must hold for all rows.
    Rows old{};
    for (unsigned row = 0; row < row_count(); ++row) old[row] = b_.CreateLoad(int_type(info.bits), info.row[row]);
    Value* old_ok = b_.CreateLoad(b_.getInt1Ty(), info.ok);
    Value* old_exact = b_.CreateLoad(info.vector->getAllocatedType(), info.vector);
    Value* exact = b_.CreateSelect(mask, b_.CreateSelect(lane.ok, assumed_rows(v, lane.rows), lane.vector),
                                   b_.CreateSelect(old_ok, assumed_rows(v, old), old_exact));
    Value* all = b_.CreateICmpEQ(to_bits(mask), llvm::Constant::getAllOnesValue(mask_type()));
    b_.CreateStore(exact, info.vector);
    b_.CreateStore(b_.CreateAnd(lane.ok, b_.CreateOr(all, old_ok)), info.ok);
  } else if (info.ok) {
    b_.CreateStore(lane.ok, info.ok);
    b_.CreateStore(lane.vector, info.vector);
  }
  for (unsigned row = 0; row < row_count(); ++row) {
    Value* value = lane.rows[row];
    if (mask) {
      value = b_.CreateSelect(row_mask(to_bits(mask), row), value, b_.CreateLoad(value->getType(), info.row[row]));
    }
    b_.CreateStore(value, info.row[row]);
  }
}

void FunctionEmitter::set_result(ValueId v, Value* value) {
  const bool is_vector = value->getType()->isVectorTy();
  if (is_scalar(v)) {
    set_scalar(v, is_vector ? lane0_or_first(value) : value);
  } else {
    set_vector(v, is_vector ? value : splat(value));
  }
}

}  // namespace heddle::codegen
