// Addresses of loads, stores and atomics: which lanes' addresses are known from one, and in which form the rest is
// cheapest to gather.
#include <algorithm>

#include "compiler/codegen/kernel_emitter.h"

namespace heddle::codegen {

using ir::Op;
using ir::ValueId;

FunctionEmitter::Address FunctionEmitter::address_of(const ir::Inst& inst) {
  Address address;
  address.value = inst.operands[0];
  address.imm = static_cast<std::int64_t>(inst.imm);
  address.space = inst.mods.space;
  const bool local = address.space == ir::Space::kLocal;
  address.run = lanes();
  auto place = [&](Value* base) {
    // A 32-bit address of a space is an offset; sign extension keeps base + lane offset right where lanes below run on
    // negative numbers (see "32-bit address" in the tests).
    base = info_[address.value].bits < 64 ? b_.CreateSExt(base, int_type(64)) : base;
    base = b_.CreateAdd(base, constant(64, static_cast<std::uint64_t>(address.imm)));
    return b_.CreateAdd(base, space_base(address.space));
  };
  if (info_[address.value].rows && !local) {
    const Rows rows = rows_of(address.value);
    for (unsigned row = 0; row < row_count(); ++row) address.bases.push_back(place(rows[row]));
    address.run = run_;
    address.has_offsets = true;
    address.offsets.assign(row_offsets(address.value).begin(), row_offsets(address.value).begin() + lanes());
    address.ok = ok_of(address.value);
  } else if (is_scalar(address.value) && (!local || unit_.local_stride != 0)) {
    address.bases = {place(scalar_of(address.value))};
    address.uniform = is_uniform(address.value) && !local;
    address.has_offsets = !address.uniform;
    address.offsets.assign(lanes(), 0);
    if (!is_uniform(address.value)) {
      std::copy_n(offsets(address.value).begin(), lanes(), address.offsets.begin());
    }
    if (local) {
      const std::int64_t bytes = unit_.local_stride;
      for (unsigned i = 0; i < lanes(); ++i) address.offsets[i] += i * bytes;
    }
    address.ok = ok_of(address.value);
  }
  return address;
}

bool FunctionEmitter::split_address(const Address& address, Split* split) {
  auto here = [&](ValueId v) { return info_[v].def && info_[v].block == block_now_ ? info_[v].def : nullptr; };
  const ir::Inst* sum = here(address.value);
  if (sum == nullptr || sum->op != Op::kAdd || info_[address.value].bits != 64) return false;
  for (int side = 0; side < 2; ++side) {
    const ValueId base = sum->operands[static_cast<std::size_t>(side)];
    const ir::Inst* scaled = here(sum->operands[static_cast<std::size_t>(1 - side)]);
    if (!is_uniform(base) || scaled == nullptr) continue;
    std::uint64_t scale = 1;
    auto const_operand = [&](std::size_t i) -> const ir::Inst* {
      const ir::Inst* def = info_[scaled->operands[i]].def;
      return def && def->op == Op::kConst ? def : nullptr;
    };
    if (scaled->op == Op::kShl) {
      const ir::Inst* amount = const_operand(1);
      if (amount == nullptr || amount->imm > 3) continue;
      scale = std::uint64_t{1} << amount->imm;
      scaled = here(scaled->operands[0]);
      if (scaled == nullptr || scaled->op == Op::kMulWide) continue;
    }
    ValueId index = ir::kNoValue;
    bool is_signed = true;
    if (scaled->op == Op::kMulWide && ir::bits_of(scaled->type) == 32) {
      const ir::Inst* factor = const_operand(1);
      if (factor == nullptr || (factor->imm != 1 && factor->imm != 2 && factor->imm != 4 && factor->imm != 8)) continue;
      scale = factor->imm;
      index = scaled->operands[0];
      is_signed = ir::is_signed(scaled->type);
    } else if ((scaled->op == Op::kSext || scaled->op == Op::kZext) && ir::bits_of(scaled->from) == 32 &&
               ir::bits_of(scaled->type) == 64) {
      index = scaled->operands[0];
      is_signed = scaled->op == Op::kSext;
    } else if (scaled->op == Op::kCvt && ir::bits_of(scaled->from) == 32 && ir::bits_of(scaled->type) == 64 &&
               !ir::is_float(scaled->from) && !ir::is_float(scaled->type) && !scaled->mods.sat) {
      index = scaled->operands[0];
      is_signed = ir::is_signed(scaled->from);
    } else {
      continue;
    }
    split->base = b_.CreateAdd(scalar_of(base), constant(64, static_cast<std::uint64_t>(address.imm)));
    split->base = b_.CreateAdd(split->base, space_base(address.space));
    split->index = vector_of(index);
    split->scale = static_cast<unsigned>(scale);
    split->is_signed = is_signed;
    return true;
  }
  return false;
}

/// The exact address of each lane, as <W x ptr>.
llvm::Value* FunctionEmitter::address_vector(const Address& address) {
  if (address.bases.size() == 1 && !address.ok) {
    if (address.uniform) return splat(to_pointer(address.bases[0]));
    std::vector<llvm::Constant*> lane_offsets;
    for (std::int64_t offset : address.offsets) {
      lane_offsets.push_back(llvm::ConstantInt::get(int_type(64), static_cast<std::uint64_t>(offset), true));
    }
    return b_.CreateGEP(b_.getInt8Ty(), to_pointer(address.bases[0]), llvm::ConstantVector::get(lane_offsets));
  }
  Split split;
  if (address.space != ir::Space::kLocal && split_address(address, &split)) {
    Value* index =
        split.is_signed ? b_.CreateSExt(split.index, vector_type(64)) : b_.CreateZExt(split.index, vector_type(64));
    return b_.CreateGEP(int_type(split.scale * 8), to_pointer(split.base), index);
  }
  Value* vector = vector_of(address.value);
  if (info_[address.value].bits < 64) vector = b_.CreateSExt(vector, vector_type(64));
  Value* base = b_.CreateAdd(space_base(address.space), constant(64, static_cast<std::uint64_t>(address.imm)));
  if (address.space == ir::Space::kLocal) {
    Value* bytes = b_.CreateZExt(launch_field("local_bytes"), int_type(64));
    vector = b_.CreateAdd(vector, b_.CreateMul(iota(64), splat(bytes)));
  }
  return b_.CreateGEP(b_.getInt8Ty(), to_pointer(base), vector);
}

/// Whether lanes may well lie side by side although nothing proves it: %tid went through a minimum or a selection.
bool FunctionEmitter::has_lost_pattern(ValueId v, int depth) const {
  const Info& info = info_[v];
  if (info.kind == analysis::Shape::Kind::kOffsets) return true;
  if (info.kind == analysis::Shape::Kind::kUniform || depth == 0) return false;
  if (info.def == nullptr) {
    const auto& parameters = f_.blocks[info.block].parameters;
    const auto place = std::find(parameters.begin(), parameters.end(), v);
    if (place == parameters.end()) return false;
    const auto i = static_cast<std::size_t>(place - parameters.begin());
    for (ir::BlockId p : cfg_.predecessors[info.block]) {
      for (const ir::Target& target : f_.blocks[p].terminator().targets) {
        if (target.block == info.block && has_lost_pattern(target.arguments[i], depth - 2)) return true;
        if (depth < 2) return false;
      }
    }
    return false;
  }
  switch (info.def->op) {
    case Op::kAdd:
    case Op::kSub:
    case Op::kMul:
    case Op::kMulWide:
    case Op::kShl:
    case Op::kSext:
    case Op::kZext:
    case Op::kCvt:
    case Op::kMin:
    case Op::kMax:
    case Op::kSelect:
    case Op::kCvtaToGeneric:
    case Op::kCvtaToSpace:
      return std::any_of(info.def->operands.begin(), info.def->operands.end(),
                         [&](ValueId operand) { return has_lost_pattern(operand, depth - 1); });
    default: return false;
  }
}

}  // namespace heddle::codegen
