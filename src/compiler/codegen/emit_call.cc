// Calls: functions of the program that could not be inlined (recursion, calls by address), services of exec through the
// RuntimeTable, lane by lane, and the loop over lanes that these and the atomics share.
#include <algorithm>

#include "base/error_code.h"
#include "compiler/codegen/kernel_emitter.h"
#include "compiler/ir/texture.h"

namespace heddle::codegen {

using ir::ValueId;

// ------------------------------------------------------------------------------------------------------ lanes in
// memory

llvm::Value* FunctionEmitter::spill(Value* vector) {
  if (vector->getType()->getScalarSizeInBits() == 1) vector = b_.CreateZExt(vector, vector_type(8));
  llvm::AllocaInst* array = new_slot(vector->getType(), "lanes");
  array->setAlignment(llvm::Align(64));
  b_.CreateAlignedStore(vector, array, llvm::Align(64));
  return array;
}

llvm::Value* FunctionEmitter::load_lane(Value* array, unsigned bits, Value* index) {
  llvm::Type* type = int_type(bits < 8 ? 8 : bits);
  Value* value = b_.CreateAlignedLoad(type, b_.CreateInBoundsGEP(type, array, index), llvm::Align(1));
  return bits < 8 ? b_.CreateTrunc(value, int_type(bits)) : value;
}

void FunctionEmitter::store_lane(Value* array, Value* value, Value* index) {
  b_.CreateAlignedStore(value, b_.CreateInBoundsGEP(value->getType(), array, index), llvm::Align(1));
}

llvm::Value* FunctionEmitter::first_lane(Value* bits) {
  Value* first = b_.CreateIntrinsic(llvm::Intrinsic::cttz, {bits->getType()}, {bits, b_.getTrue()});
  return b_.CreateZExtOrTrunc(first, int_type(64));
}

llvm::Value* FunctionEmitter::thread_of(Value* index) {
  return b_.CreateAdd(thread_base(), b_.CreateTrunc(index, int_type(32)));
}

void FunctionEmitter::for_each_lane(Value* bits, const std::function<void(Value* index)>& body) {
  llvm::BasicBlock* before = b_.GetInsertBlock();
  llvm::BasicBlock* round = new_block("lane");
  llvm::BasicBlock* after = new_block("after");
  Value* zero = llvm::Constant::getNullValue(mask_type());
  b_.CreateCondBr(b_.CreateICmpNE(bits, zero), round, after);
  b_.SetInsertPoint(round);
  ++no_cache_;
  llvm::PHINode* left = b_.CreatePHI(mask_type(), 2);
  left->addIncoming(bits, before);
  body(first_lane(left));
  Value* rest = b_.CreateAnd(left, b_.CreateSub(left, llvm::ConstantInt::get(mask_type(), 1)));
  left->addIncoming(rest, b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateICmpNE(rest, zero), round, after);
  --no_cache_;
  b_.SetInsertPoint(after);
}

// ----------------------------------------------------------------------------------------------------------- functions

llvm::Function* Unit::function(unsigned index) {
  if (functions.size() <= index) functions.resize(program.functions.size());
  if (functions[index]) return functions[index];
  const ir::Function& callee = program.functions[index];
  llvm::LLVMContext& c = context();
  auto lanes_of = [&](unsigned bits) { return llvm::FixedVectorType::get(llvm::IntegerType::get(c, bits), lanes); };
  llvm::Type* pointer = llvm::PointerType::get(c, 0);
  llvm::Type* i32 = llvm::IntegerType::get(c, 32);
  std::vector<llvm::Type*> parameters = {pointer, pointer, i32, llvm::IntegerType::get(c, lanes), i32};
  for (ValueId v : callee.arguments) {
    parameters.push_back(lanes_of(static_cast<unsigned>(ir::bits_of(callee.values[v].type))));
  }
  std::vector<llvm::Type*> results;
  for (ir::Type type : callee.result_types) results.push_back(lanes_of(static_cast<unsigned>(ir::bits_of(type))));
  auto* type = llvm::FunctionType::get(llvm::StructType::get(c, results), parameters, false);
  functions[index] =
      llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, "function." + callee.name, module);
  functions_to_emit.push_back(index);
  return functions[index];
}

/// Entry of a callee: arguments, the slots of its results, the top of local memory.
void FunctionEmitter::set_callee_arguments() {
  entry_mask_bits_ = fn_->getArg(3);
  b_.CreateStore(fn_->getArg(4), local_top_);
  for (std::size_t i = 0; i < f_.arguments.size(); ++i) {
    Lane& lane = lanes_now_[f_.arguments[i]];
    lane = Lane{nullptr, fn_->getArg(static_cast<unsigned>(5 + i)), nullptr, {}, kHoisted};
  }
  returned_ = new_slot(mask_type(), "returned");
  b_.CreateStore(llvm::Constant::getNullValue(mask_type()), returned_);
  for (ir::Type type : f_.result_types) {
    llvm::Type* lanes_type = vector_type(static_cast<unsigned>(ir::bits_of(type)));
    result_slots_.push_back(new_slot(lanes_type, "result"));
    b_.CreateStore(llvm::Constant::getNullValue(lanes_type), result_slots_.back());
  }
}

std::vector<llvm::Value*> FunctionEmitter::call_function(unsigned index, const std::vector<Value*>& arguments,
                                                         Value* bits) {
  llvm::Function* callee = unit_.function(index);
  std::vector<Value*> all = {launch_, cta_, group_, bits, b_.CreateLoad(int_type(32), local_top_)};
  all.insert(all.end(), arguments.begin(), arguments.end());
  Value* result = b_.CreateCall(callee, all);
  std::vector<Value*> results;
  for (unsigned i = 0; i < unit_.program.functions[index].result_types.size(); ++i) {
    results.push_back(b_.CreateExtractValue(result, i));
  }
  return results;
}

void FunctionEmitter::emit_call(const ir::Inst& inst) {
  std::vector<Value*> arguments;
  for (ValueId v : inst.operands) arguments.push_back(vector_of(v));
  const std::vector<Value*> results = call_function(static_cast<unsigned>(inst.imm), arguments, mask_bits());
  for (std::size_t i = 0; i < inst.results.size(); ++i) set_result(inst.results[i], results[i]);
}

/// One round per distinct target; a target that is no function of the right type ends the grid.
void FunctionEmitter::emit_call_indirect(const ir::Inst& inst) {
  const ir::Prototype& prototype = unit_.program.prototypes[inst.imm];
  Value* targets = b_.CreateZExtOrTrunc(vector_of(inst.operands[0]), vector_type(64));
  std::vector<Value*> arguments;
  for (std::size_t i = 1; i < inst.operands.size(); ++i) arguments.push_back(vector_of(inst.operands[i]));
  std::vector<llvm::AllocaInst*> slots;
  for (ir::Type type : prototype.results) {
    slots.push_back(new_slot(vector_type(static_cast<unsigned>(ir::bits_of(type))), "result"));
    b_.CreateStore(llvm::Constant::getNullValue(slots.back()->getAllocatedType()), slots.back());
  }
  Value* array = spill(targets);
  llvm::AllocaInst* remaining = new_slot(mask_type(), "remaining");
  b_.CreateStore(mask_bits(), remaining);
  llvm::BasicBlock* round = new_block("round");
  llvm::BasicBlock* wrong = new_block("wrong");
  llvm::BasicBlock* next = new_block("next");
  llvm::BasicBlock* after = new_block("after");
  b_.CreateBr(round);
  b_.SetInsertPoint(round);
  ++no_cache_;
  Value* left = b_.CreateLoad(mask_type(), remaining);
  Value* index = first_lane(left);
  Value* target = load_lane(array, 64, index);
  Value* same = b_.CreateAnd(to_bits(b_.CreateICmpEQ(targets, splat(target))), left);
  llvm::SwitchInst* jump = b_.CreateSwitch(target, wrong);
  auto same_widths = [&](const ir::Function& function) {
    if (function.arguments.size() != prototype.arguments.size() ||
        function.result_types.size() != prototype.results.size()) {
      return false;
    }
    for (std::size_t i = 0; i < prototype.arguments.size(); ++i) {
      if (ir::bits_of(function.values[function.arguments[i]].type) != ir::bits_of(prototype.arguments[i])) return false;
    }
    for (std::size_t i = 0; i < prototype.results.size(); ++i) {
      if (ir::bits_of(function.result_types[i]) != ir::bits_of(prototype.results[i])) return false;
    }
    return true;
  };
  for (unsigned k = 0; k < unit_.program.functions.size(); ++k) {
    if (!same_widths(unit_.program.functions[k])) continue;
    llvm::BasicBlock* call = new_block("call");
    jump->addCase(constant(64, (k + 1) * kFunctionStride), call);
    b_.SetInsertPoint(call);
    const std::vector<Value*> results = call_function(k, arguments, same);
    for (std::size_t i = 0; i < slots.size(); ++i) {
      Value* old = b_.CreateLoad(slots[i]->getAllocatedType(), slots[i]);
      b_.CreateStore(b_.CreateSelect(to_mask(same), results[i], old), slots[i]);
    }
    b_.CreateBr(next);
  }
  b_.SetInsertPoint(wrong);
  runtime_call(offsetof(exec::RuntimeTable, fault),
               {thread_of(index), constant(32, static_cast<std::uint64_t>(ErrorCode::kInvalidPc)), target,
                constant(32, inst.location.ptx_line)},
               nullptr, nullptr);
  b_.CreateBr(next);
  b_.SetInsertPoint(next);
  left = b_.CreateAnd(left, b_.CreateNot(same));
  b_.CreateStore(left, remaining);
  b_.CreateCondBr(b_.CreateICmpNE(left, llvm::Constant::getNullValue(mask_type())), round, after);
  --no_cache_;
  b_.SetInsertPoint(after);
  for (std::size_t i = 0; i < inst.results.size(); ++i) {
    set_result(inst.results[i], b_.CreateLoad(slots[i]->getAllocatedType(), slots[i]));
  }
}

// ------------------------------------------------------------------------------------------------------------ services

/// Calls an entry of the RuntimeTable that begins with (launch, cta, ...).
void FunctionEmitter::runtime_call(std::size_t entry, std::vector<Value*> arguments, llvm::Type* result, Value** out) {
  std::vector<Value*> all = {launch_, cta_};
  all.insert(all.end(), arguments.begin(), arguments.end());
  std::vector<llvm::Type*> types;
  for (Value* value : all) types.push_back(value->getType());
  auto* type = llvm::FunctionType::get(result ? result : b_.getVoidTy(), types, false);
  Value* value = b_.CreateCall(type, runtime_entry(entry), all);
  if (out) *out = value;
}

void FunctionEmitter::emit_runtime(const ir::Inst& inst) {
  std::vector<Value*> arrays;
  for (ValueId v : inst.operands) arrays.push_back(spill(vector_of(v)));
  const bool used = !inst.results.empty();
  const unsigned bits = used ? info_[inst.results[0]].bits : 32;
  Value* results = used ? spill(llvm::Constant::getNullValue(vector_type(bits))) : nullptr;
  for_each_lane(mask_bits(), [&](Value* index) {
    auto number = [&](std::size_t i) { return load_lane(arrays[i], info_[inst.operands[i]].bits, index); };
    auto pointer = [&](std::size_t i) { return to_pointer(b_.CreateZExtOrTrunc(number(i), int_type(64))); };
    Value* result = nullptr;
    switch (inst.mods.runtime) {
      case ir::RuntimeCall::kVprintf:
        runtime_call(offsetof(exec::RuntimeTable, vprintf), {thread_of(index), pointer(0), pointer(1)}, int_type(32),
                     &result);
        break;
      case ir::RuntimeCall::kAssertFail:
        runtime_call(
            offsetof(exec::RuntimeTable, assert_fail),
            {thread_of(index), pointer(0), pointer(1), b_.CreateZExtOrTrunc(number(2), int_type(32)), pointer(3)},
            nullptr, nullptr);
        break;
      case ir::RuntimeCall::kMalloc:
        runtime_call(offsetof(exec::RuntimeTable, malloc), {b_.CreateZExtOrTrunc(number(0), int_type(64))},
                     pointer_type(), &result);
        result = b_.CreatePtrToInt(result, int_type(64));
        break;
      case ir::RuntimeCall::kFree:
        runtime_call(offsetof(exec::RuntimeTable, free), {pointer(0)}, nullptr, nullptr);
        break;
    }
    if (used && result) store_lane(results, b_.CreateZExtOrTrunc(result, int_type(bits)), index);
  });
  if (used) set_result(inst.results[0], b_.CreateAlignedLoad(vector_type(bits), results, llvm::Align(1)));
}

void FunctionEmitter::emit_nanosleep(const ir::Inst& inst) {
  runtime_call(offsetof(exec::RuntimeTable, nanosleep), {scalar_of(inst.operands[0])}, nullptr, nullptr);
}

void FunctionEmitter::emit_trap(const ir::Inst& inst) {
  runtime_call(offsetof(exec::RuntimeTable, trap),
               {thread_of(first_lane(mask_bits())), constant(32, static_cast<std::uint64_t>(inst.mods.trap)),
                constant(32, inst.location.ptx_line)},
               nullptr, nullptr);
}

void FunctionEmitter::emit_texture(const ir::Inst& inst) {
  const std::uint64_t form = ir::pack_texture_form(unit_.program.textures[inst.imm]);
  std::vector<Value*> operands;
  for (ValueId v : inst.operands) operands.push_back(spill(vector_of(v)));
  auto* const words = llvm::FixedVectorType::get(int_type(32), 16);
  Value* in = spill(llvm::Constant::getNullValue(words));
  Value* out = spill(llvm::Constant::getNullValue(words));
  std::vector<Value*> results;
  for (std::size_t i = 0; i < inst.results.size(); ++i)
    results.push_back(spill(llvm::Constant::getNullValue(vector_type(32))));
  auto word = [&](Value* array, std::size_t i) {
    return b_.CreateConstGEP1_32(int_type(32), array, static_cast<unsigned>(i));
  };
  for_each_lane(mask_bits(), [&](Value* index) {
    for (std::size_t i = 1; i < operands.size() && i <= 16; ++i)
      b_.CreateStore(load_lane(operands[i], 32, index), word(in, i - 1));
    // The one entry that is not given the CTA.
    std::vector<Value*> all = {launch_, load_lane(operands[0], 64, index), constant(64, form), in, out};
    std::vector<llvm::Type*> types;
    for (Value* value : all) types.push_back(value->getType());
    b_.CreateCall(llvm::FunctionType::get(b_.getVoidTy(), types, false),
                  runtime_entry(offsetof(exec::RuntimeTable, texture)), all);
    for (std::size_t i = 0; i < results.size(); ++i)
      store_lane(results[i], b_.CreateLoad(int_type(32), word(out, i)), index);
  });
  for (std::size_t i = 0; i < results.size(); ++i)
    set_result(inst.results[i], b_.CreateAlignedLoad(vector_type(32), results[i], llvm::Align(1)));
}

}  // namespace heddle::codegen
