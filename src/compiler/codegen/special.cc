// What a thread is: constants, %tid and friends, the fields of the launch and the CTA, addresses of symbols and spaces.
#include <llvm/IR/MDBuilder.h>

#include <cstddef>
#include <cstring>

#include "compiler/codegen/kernel_emitter.h"

namespace heddle::codegen {

using ir::Special;
using ir::ValueId;

namespace {

struct Field {
  const char* name;
  std::size_t offset;
  unsigned bytes;
  bool pointer;
};
constexpr bool is_pointer(const char* type) { return type[0] == 'p'; }
constexpr Field kLaunchFields[] = {
#define HEDDLE_LAUNCH(type, name) \
  {#name, offsetof(exec::LaunchContext, name), sizeof(exec::LaunchContext::name), is_pointer(#type)},
#include "exec/kernel_abi.def"
#undef HEDDLE_LAUNCH
};
constexpr Field kCtaFields[] = {
#define HEDDLE_CTA(type, name) \
  {#name, offsetof(exec::CtaContext, name), sizeof(exec::CtaContext::name), is_pointer(#type)},
#include "exec/kernel_abi.def"
#undef HEDDLE_CTA
};
constexpr Field kWarpFields[] = {
#define HEDDLE_WARP(type, name) \
  {#name, offsetof(exec::WarpState, name), sizeof(exec::WarpState::name), is_pointer(#type)},
#include "exec/kernel_abi.def"
#undef HEDDLE_WARP
};

template <std::size_t N>
const Field& find_field(const Field (&fields)[N], const char* name) {
  for (const Field& field : fields) {
    if (std::strcmp(field.name, name) == 0) return field;
  }
  std::abort();
}

}  // namespace

/// Loads at the top of the function, once: none of these fields changes while the function runs.
llvm::Value* FunctionEmitter::load_field(Value* object, std::size_t offset, unsigned bytes, bool pointer,
                                         const std::string& key) {
  Value*& known = fields_[key];
  if (known) return known;
  llvm::IRBuilder<> at(hoist_point_);
  llvm::Type* type = pointer ? static_cast<llvm::Type*>(pointer_type()) : int_type(bytes * 8);
  llvm::LoadInst* load = at.CreateAlignedLoad(type, at.CreateConstInBoundsGEP1_64(at.getInt8Ty(), object, offset),
                                              llvm::Align(bytes), key);
  load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context(), {}));
  return known = load;
}

llvm::Value* FunctionEmitter::launch_field(const char* name) {
  const Field& field = find_field(kLaunchFields, name);
  return load_field(launch_, field.offset, field.bytes, field.pointer, name);
}

llvm::Value* FunctionEmitter::cta_field(const char* name) {
  const Field& field = find_field(kCtaFields, name);
  return load_field(cta_, field.offset, field.bytes, field.pointer, std::string("cta.") + name);
}

llvm::Value* FunctionEmitter::warp_field_address(const char* name) {
  const Field& field = find_field(kWarpFields, name);
  return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), warp_state(), field.offset);
}

llvm::Value* FunctionEmitter::runtime_entry(std::size_t offset) {
  return load_field(launch_field("runtime"), offset, 8, true, "runtime." + std::to_string(offset));
}

llvm::Value* FunctionEmitter::iota(unsigned bits, std::uint64_t step) {
  std::vector<llvm::Constant*> numbers;
  for (unsigned i = 0; i < lanes(); ++i) numbers.push_back(llvm::ConstantInt::get(int_type(bits), i * step));
  return llvm::ConstantVector::get(numbers);
}

llvm::Value* FunctionEmitter::block_dim(int dimension) {
  static const char* const names[] = {"block_x", "block_y", "block_z"};
  const std::uint32_t known = unit_.variant.block[dimension];
  return known ? constant(32, known) : launch_field(names[dimension]);
}

llvm::Value* FunctionEmitter::thread_base() {
  Value*& known = fields_["thread_base"];
  if (!known) {
    llvm::IRBuilder<> at(hoist_point_);
    known = at.CreateMul(group_, constant(32, lanes()), "thread_base", true, true);
  }
  return known;
}

llvm::Value* FunctionEmitter::thread_vector() { return b_.CreateAdd(splat(thread_base()), iota(32)); }

/// %tid.x, y or z: of lane 0, or of all lanes.
llvm::Value* FunctionEmitter::thread_index(int dimension, bool vector) {
  Value* thread = vector ? thread_vector() : thread_base();
  const auto& block = unit_.variant.block;
  auto zero = [&] { return llvm::Constant::getNullValue(thread->getType()); };
  if (block[1] == 1 && block[2] == 1) return dimension == 0 ? thread : zero();
  if (dimension == 2 && block[2] == 1) return zero();
  if (dimension == 1 && block[1] == 1) return zero();
  // Exact for threads and divisors up to 1024, and much faster than 32 integer divisions.
  auto divide = [&](Value* a, Value* scalar) -> Value* {
    if (!vector) return b_.CreateUDiv(a, scalar);
    if (llvm::isa<llvm::Constant>(scalar)) return b_.CreateUDiv(a, splat(scalar));
    llvm::Type* floats = llvm::FixedVectorType::get(b_.getFloatTy(), lanes());
    Value* half = llvm::ConstantFP::get(floats, 0.5);
    Value* quotient =
        b_.CreateFDiv(b_.CreateFAdd(b_.CreateSIToFP(a, floats), half), splat(b_.CreateSIToFP(scalar, b_.getFloatTy())));
    return b_.CreateFPToSI(quotient, a->getType());
  };
  auto remainder = [&](Value* a, Value* scalar) -> Value* {
    return b_.CreateSub(a, b_.CreateMul(divide(a, scalar), vector ? splat(scalar) : scalar));
  };
  Value *x = block_dim(0), *y = block_dim(1);
  if (dimension == 0) return remainder(thread, x);
  if (dimension == 1) return block[2] == 1 ? divide(thread, x) : remainder(divide(thread, x), y);
  return divide(thread, b_.CreateMul(x, y));
}

void FunctionEmitter::emit_constant(const ir::Inst& inst) {
  const unsigned bits = info_[inst.results[0]].bits;
  const std::uint64_t words[2] = {inst.imm, inst.imm_hi};
  const llvm::APInt value =
      inst.op == ir::Op::kUndef ? llvm::APInt(bits, 0) : llvm::APInt(bits, bits > 64 ? 2 : 1, words);
  set_result(inst.results[0], llvm::ConstantInt::get(context(), value));
}

void FunctionEmitter::emit_special(const ir::Inst& inst) {
  const ValueId result = inst.results[0];
  const bool vector = !is_scalar(result);
  const Special special = inst.mods.special;
  auto set = [&](Value* value) {
    const unsigned bits = info_[result].bits;
    if (value->getType()->isVectorTy()) {
      set_result(result, b_.CreateZExtOrTrunc(value, vector_type(bits)));
    } else {
      set_result(result, b_.CreateZExtOrTrunc(value, int_type(bits)));
    }
  };
  auto lane_id = [&]() -> Value* {
    Value* thread = vector ? thread_vector() : thread_base();
    return b_.CreateAnd(thread, llvm::ConstantInt::get(thread->getType(), 31));
  };
  static const char* const kBlockIndex[] = {"x", "y", "z"};
  static const char* const kGridSize[] = {"grid_x", "grid_y", "grid_z"};
  switch (special) {
    case Special::kTidX:
    case Special::kTidY:
    case Special::kTidZ: return set(thread_index(static_cast<int>(special) - static_cast<int>(Special::kTidX), vector));
    case Special::kNtidX:
    case Special::kNtidY:
    case Special::kNtidZ: return set(block_dim(static_cast<int>(special) - static_cast<int>(Special::kNtidX)));
    case Special::kCtaidX:
    case Special::kCtaidY:
    case Special::kCtaidZ: {
      const int d = static_cast<int>(special) - static_cast<int>(Special::kCtaidX);
      return set(is_kernel_ ? cta_index_[d] : cta_field(kBlockIndex[d]));
    }
    case Special::kNctaidX:
    case Special::kNctaidY:
    case Special::kNctaidZ:
      return set(launch_field(kGridSize[static_cast<int>(special) - static_cast<int>(Special::kNctaidX)]));
    case Special::kLaneId: return set(lane_id());
    case Special::kWarpId: return set(b_.CreateLShr(thread_base(), constant(32, 5)));
    case Special::kNwarpId: return set(launch_field("warps"));
    case Special::kSmId: return set(constant(32, 0));
    case Special::kNsmId: return set(constant(32, 1));
    case Special::kGridId: return set(launch_field("grid_id"));
    case Special::kLanemaskEq:
    case Special::kLanemaskLe:
    case Special::kLanemaskLt:
    case Special::kLanemaskGe:
    case Special::kLanemaskGt: {
      Value* lane = lane_id();
      llvm::Type* type = lane->getType();
      Value* equal = b_.CreateShl(llvm::ConstantInt::get(type, 1), lane);
      Value* less = b_.CreateSub(equal, llvm::ConstantInt::get(type, 1));
      Value* less_or_equal = b_.CreateOr(equal, less);
      if (special == Special::kLanemaskEq) return set(equal);
      if (special == Special::kLanemaskLt) return set(less);
      if (special == Special::kLanemaskLe) return set(less_or_equal);
      return set(b_.CreateNot(special == Special::kLanemaskGe ? less : less_or_equal));
    }
    case Special::kDynamicSmemSize: return set(launch_field("dynamic_shared"));
    case Special::kTotalSmemSize: return set(launch_field("total_shared"));
    case Special::kEnvreg: {
      // %envreg1 and %envreg2: the workspace of grid barriers.
      if (inst.imm != 1 && inst.imm != 2) return set(constant(32, 0));
      Value* address = b_.CreatePtrToInt(launch_field("grid_workspace"), int_type(64));
      return set(inst.imm == 2 ? address : b_.CreateLShr(address, constant(64, 32)));
    }
    default: return fail(inst, "this special register is not supported");
  }
}

void FunctionEmitter::emit_clock(const ir::Inst& inst) {
  Value* time = nullptr;
  const Special special = inst.mods.special;
  if (special == Special::kGlobaltimer || special == Special::kGlobaltimerLo || special == Special::kGlobaltimerHi) {
    time = b_.CreateCall(llvm::FunctionType::get(int_type(64), false),
                         runtime_entry(offsetof(exec::RuntimeTable, globaltimer)));
  } else {
    time =
        b_.CreateCall(llvm::FunctionType::get(int_type(64), false), runtime_entry(offsetof(exec::RuntimeTable, clock)));
  }
  if (special == Special::kClockHi || special == Special::kGlobaltimerHi) time = b_.CreateLShr(time, constant(64, 32));
  set_result(inst.results[0], b_.CreateZExtOrTrunc(time, int_type(info_[inst.results[0]].bits)));
}

void FunctionEmitter::emit_symbol(const ir::Inst& inst) {
  const ir::Symbol& symbol = unit_.program.symbols[inst.imm];
  const unsigned bits = info_[inst.results[0]].bits;
  Value* address = nullptr;
  if (symbol.kind == ir::Symbol::Kind::kFunction) {
    address = constant(64, (symbol.offset + 1) * kFunctionStride);
  } else if (symbol.space == ir::Space::kGlobal || symbol.space == ir::Space::kConst) {
    address = load_field(launch_field("globals"), inst.imm * 8, 8, false, "global." + std::to_string(inst.imm));
  } else if (symbol.space == ir::Space::kShared && symbol.external) {
    address = constant(64, unit_.dynamic_shared_offset);
  } else {
    address = constant(64, symbol.offset);
  }
  set_result(inst.results[0], b_.CreateZExtOrTrunc(address, int_type(bits)));
}

llvm::Value* FunctionEmitter::space_base(ir::Space space) {
  switch (space) {
    case ir::Space::kShared: return b_.CreatePtrToInt(cta_field("shared"), int_type(64));
    case ir::Space::kParam: return b_.CreatePtrToInt(launch_field("params"), int_type(64));
    case ir::Space::kLocal: {
      Value* bytes = b_.CreateZExt(launch_field("local_bytes"), int_type(64));
      Value* thread = b_.CreateZExt(thread_base(), int_type(64));
      return b_.CreateAdd(b_.CreatePtrToInt(cta_field("local"), int_type(64)), b_.CreateMul(thread, bytes));
    }
    default: return constant(64, 0);
  }
}

void FunctionEmitter::emit_cvta(const ir::Inst& inst) {
  const ValueId result = inst.results[0], operand = inst.operands[0];
  const unsigned bits = info_[result].bits;
  const ir::Space space = inst.mods.space;
  const bool to_generic = inst.op == ir::Op::kCvtaToGeneric;
  if (info_[result].rows) {
    Rows rows = rows_of(operand);
    Value* base = space_base(space);
    for (unsigned row = 0; row < row_count(); ++row) {
      Value* wide = b_.CreateZExtOrTrunc(rows[row], int_type(64));
      rows[row] =
          b_.CreateZExtOrTrunc(to_generic ? b_.CreateAdd(wide, base) : b_.CreateSub(wide, base), int_type(bits));
    }
    return set_rows(result, rows);
  }
  const bool vector = !is_scalar(result);
  Value* address = vector ? vector_of(operand) : scalar_of(operand);
  llvm::Type* wide = vector ? static_cast<llvm::Type*>(vector_type(64)) : int_type(64);
  address = b_.CreateZExtOrTrunc(address, wide);
  if (space == ir::Space::kShared || space == ir::Space::kParam || space == ir::Space::kLocal) {
    Value* base = space_base(space);
    if (vector) base = splat(base);
    if (vector && space == ir::Space::kLocal) {
      Value* bytes = b_.CreateZExt(launch_field("local_bytes"), int_type(64));
      base = b_.CreateAdd(base, b_.CreateMul(iota(64), splat(bytes)));
    }
    address = to_generic ? b_.CreateAdd(address, base) : b_.CreateSub(address, base);
  }
  set_result(result,
             b_.CreateZExtOrTrunc(address, vector ? static_cast<llvm::Type*>(vector_type(bits)) : int_type(bits)));
}

void FunctionEmitter::emit_is_space(const ir::Inst& inst) {
  const ValueId result = inst.results[0], operand = inst.operands[0];
  const bool vector = !is_scalar(result);
  Value* address = vector ? vector_of(operand) : scalar_of(operand);
  llvm::Type* wide = vector ? static_cast<llvm::Type*>(vector_type(64)) : int_type(64);
  address = b_.CreateZExtOrTrunc(address, wide);
  auto shaped = [&](Value* scalar) { return vector ? splat(scalar) : scalar; };
  auto within = [&](Value* base, Value* bytes) {
    return b_.CreateICmpULT(b_.CreateSub(address, shaped(base)), shaped(b_.CreateZExt(bytes, int_type(64))));
  };
  auto in_shared = [&] { return within(space_base(ir::Space::kShared), launch_field("total_shared")); };
  auto in_local = [&] {
    return within(b_.CreatePtrToInt(cta_field("local"), int_type(64)),
                  b_.CreateMul(launch_field("local_bytes"), launch_field("threads")));
  };
  Value* answer = nullptr;
  switch (inst.mods.space) {
    case ir::Space::kShared: answer = in_shared(); break;
    case ir::Space::kLocal: answer = in_local(); break;
    case ir::Space::kParam:
      answer = within(space_base(ir::Space::kParam), constant(32, unit_.program.param_bytes));
      break;
    case ir::Space::kConst: answer = shaped(b_.getFalse()); break;
    default: answer = b_.CreateNot(b_.CreateOr(in_shared(), in_local()));
  }
  set_result(result, answer);
}

}  // namespace heddle::codegen
