// LaneBuilder: an IRBuilder that reads the same whether an instruction is uniform (one scalar for the warp) or per lane
// (<W x T>). Emitters written with it are the maths and nothing else. Tested through tests/ptx.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>

#include <initializer_list>

#include "compiler/ir/ir.h"

namespace heddle::codegen {

class LaneBuilder {
 public:
  /// `lanes` is W, or 0 when the values are scalars.
  LaneBuilder(llvm::IRBuilder<>& builder, unsigned lanes) : b(builder), lanes_(lanes) {}

  llvm::IRBuilder<>& b;

  unsigned lanes() const { return lanes_; }
  llvm::LLVMContext& context() const { return b.getContext(); }

  // ---- types of the current shape
  llvm::Type* shaped(llvm::Type* element) const {
    return lanes_ ? static_cast<llvm::Type*>(llvm::FixedVectorType::get(element, lanes_)) : element;
  }
  llvm::Type* int_type(unsigned bits) const { return shaped(llvm::IntegerType::get(context(), bits)); }
  /// The LLVM floating type in which `type` (f16, bf16, f32, f64) is computed.
  llvm::Type* float_type(ir::Type type) const {
    switch (type) {
      case ir::Type::kF16: return shaped(llvm::Type::getHalfTy(context()));
      case ir::Type::kBF16: return shaped(llvm::Type::getBFloatTy(context()));
      case ir::Type::kF64: return shaped(llvm::Type::getDoubleTy(context()));
      default: return shaped(llvm::Type::getFloatTy(context()));
    }
  }

  // ---- constants of the current shape
  llvm::Constant* int_const(unsigned bits, std::uint64_t value) const {
    return llvm::ConstantInt::get(int_type(bits), value);
  }
  llvm::Constant* float_const(ir::Type type, double value) const {
    return llvm::ConstantFP::get(float_type(type), value);
  }

  // ---- reading the same bits as another type
  llvm::Value* as_float(llvm::Value* value, ir::Type type) const { return b.CreateBitCast(value, float_type(type)); }
  llvm::Value* as_int(llvm::Value* value, unsigned bits) const { return b.CreateBitCast(value, int_type(bits)); }
  /// Zero extension, truncation or nothing.
  llvm::Value* zext(llvm::Value* value, unsigned bits) const { return b.CreateZExtOrTrunc(value, int_type(bits)); }
  llvm::Value* sext(llvm::Value* value, unsigned bits) const { return b.CreateSExtOrTrunc(value, int_type(bits)); }

  /// Calls an intrinsic that is overloaded on the type of its first operand.
  llvm::Value* intrinsic(llvm::Intrinsic::ID id, std::initializer_list<llvm::Value*> operands) const {
    const llvm::ArrayRef<llvm::Value*> list(operands.begin(), operands.size());
    return b.CreateIntrinsic(id, {list[0]->getType()}, list);
  }

 private:
  unsigned lanes_;
};

}  // namespace heddle::codegen
