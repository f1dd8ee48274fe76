// Loads and stores: every access of a kernel to memory but atomics is made here, so a checking build has one place to
// look at each. The cheapest form that the address allows: one scalar access, whole vectors, a few runs of lanes, a
// run-time test for lanes that lie side by side, and gathers and scatters last (11 to 20 times slower).
#include <llvm/IR/InlineAsm.h>

#include <algorithm>
#include <numeric>

#include "compiler/codegen/kernel_emitter.h"

namespace heddle::codegen {

using ir::Op;
using ir::ValueId;

namespace {

/// A run of lanes whose accesses are side by side, or all at one place.
struct Run {
  unsigned start = 0, count = 1;
  bool constant = false;
};

/// No run crosses a multiple of `row` lanes.
std::vector<Run> find_runs(const std::vector<std::int64_t>& offsets, std::int64_t bytes, unsigned row) {
  std::vector<Run> runs;
  for (unsigned i = 0; i < offsets.size();) {
    Run run{i, 1, false};
    const unsigned end = std::min<unsigned>((i / row + 1) * row, static_cast<unsigned>(offsets.size()));
    if (i + 1 < end) {
      const std::int64_t step = offsets[i + 1] - offsets[i];
      if (step == 0 || step == bytes) {
        run.constant = step == 0;
        while (i + run.count < end && offsets[i + run.count] - offsets[i + run.count - 1] == step) ++run.count;
      }
    }
    i += run.count;
    runs.push_back(run);
  }
  return runs;
}

constexpr std::size_t kMostRuns = 4;

bool is_ordered(const ir::Inst& inst) { return inst.mods.is_volatile || inst.mods.order != ir::Order::kWeak; }

}  // namespace

bool FunctionEmitter::is_pattern(const Address& address, unsigned bytes) const {
  if (!address.has_offsets) return false;
  return find_runs(address.offsets, bytes, address.run).size() <=
         std::min<std::size_t>(kMostRuns, std::max(1u, lanes() / 4));
}

// --------------------------------------------------------------------------------------------------------- small
// pieces

llvm::Value* FunctionEmitter::slice(Value* vector, unsigned start, unsigned count) {
  const auto* type = llvm::cast<llvm::FixedVectorType>(vector->getType());
  if (start == 0 && count == type->getNumElements()) return vector;
  llvm::SmallVector<int, 32> picks(count);
  std::iota(picks.begin(), picks.end(), static_cast<int>(start));
  return b_.CreateShuffleVector(vector, picks);
}

void FunctionEmitter::memory_barrier() {
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), false);
  b_.CreateCall(type, llvm::InlineAsm::get(type, "", "~{memory}", true));
}

void FunctionEmitter::if_then(Value* condition, const std::function<void()>& body) {
  llvm::BasicBlock* then = new_block("then");
  llvm::BasicBlock* after = new_block("after");
  b_.CreateCondBr(condition, then, after);
  b_.SetInsertPoint(then);
  ++no_cache_;
  body();
  --no_cache_;
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

llvm::Value* FunctionEmitter::guarded_mask(const ir::Inst& inst) {
  if (inst.guard == ir::kNoValue || is_uniform(inst.guard)) return mask();
  Value* guard = vector_of(inst.guard);
  return mask() ? b_.CreateAnd(mask(), guard) : guard;
}

/// `count` elements side by side.
llvm::Value* FunctionEmitter::load_run(Value* pointer, unsigned count, unsigned bits, Value* mask, Value* otherwise,
                                       bool is_volatile) {
  auto* type = llvm::FixedVectorType::get(int_type(bits), count);
  if (!mask) return b_.CreateAlignedLoad(type, pointer, llvm::Align(1), is_volatile);
  if (is_volatile) memory_barrier();
  return b_.CreateMaskedLoad(type, pointer, llvm::Align(1), mask, otherwise);
}

void FunctionEmitter::store_run(Value* pointer, Value* value, Value* mask, bool is_volatile) {
  if (!mask) {
    b_.CreateAlignedStore(value, pointer, llvm::Align(1), is_volatile);
    return;
  }
  b_.CreateMaskedStore(value, pointer, llvm::Align(1), mask);
  if (is_volatile) memory_barrier();
}

/// Repeats each lane `times`: the mask of interleaved elements.
static llvm::Value* repeat_lanes(llvm::IRBuilder<>& b, llvm::Value* mask, unsigned lanes, unsigned times) {
  if (times == 1 || !mask) return mask;
  llvm::SmallVector<int, 64> picks;
  for (unsigned i = 0; i < lanes * times; ++i) picks.push_back(static_cast<int>(i / times));
  return b.CreateShuffleVector(mask, picks);
}

// --------------------------------------------------------------------------------------------------------------- loads

std::vector<llvm::Value*> FunctionEmitter::load_pattern(const Address& address, Value* mask, unsigned count,
                                                        unsigned bits, const std::vector<Value*>& otherwise,
                                                        bool is_volatile) {
  const unsigned bytes = count * bits / 8;
  const std::vector<Run> runs = find_runs(address.offsets, bytes, address.run);
  ++(runs.size() == 1 && !runs[0].constant ? unit_.counts.unit_stride : unit_.counts.pattern);
  std::vector<Value*> results(count);
  for (const Run& run : runs) {
    Value* at = b_.CreateAdd(address.bases[run.start / address.run],
                             constant(64, static_cast<std::uint64_t>(address.offsets[run.start])));
    Value* pointer = to_pointer(at);
    Value* run_mask = mask ? slice(mask, run.start, run.count) : nullptr;
    std::vector<Value*> parts(count);
    if (run.constant) {
      // One element for all lanes of the run. Under a mask it may be no lane's business to touch it.
      auto load_all = [&] {
        for (unsigned j = 0; j < count; ++j) {
          Value* element = b_.CreateAlignedLoad(int_type(bits), b_.CreateConstGEP1_64(int_type(bits), pointer, j),
                                                llvm::Align(1), is_volatile);
          parts[j] = element;
        }
      };
      if (!run_mask) {
        load_all();
      } else {
        llvm::BasicBlock* before = b_.GetInsertBlock();
        Value* any = b_.CreateICmpNE(b_.CreateBitCast(run_mask, int_type(run.count)),
                                     llvm::Constant::getNullValue(int_type(run.count)));
        llvm::BasicBlock* then = new_block("then");
        llvm::BasicBlock* after = new_block("after");
        b_.CreateCondBr(any, then, after);
        b_.SetInsertPoint(then);
        load_all();
        b_.CreateBr(after);
        b_.SetInsertPoint(after);
        for (Value*& part : parts) {
          llvm::PHINode* phi = b_.CreatePHI(part->getType(), 2);
          phi->addIncoming(part, then);
          phi->addIncoming(llvm::Constant::getNullValue(part->getType()), before);
          part = phi;
        }
      }
      for (unsigned j = 0; j < count; ++j) {
        parts[j] = b_.CreateVectorSplat(run.count, parts[j]);
        if (run_mask) parts[j] = b_.CreateSelect(run_mask, parts[j], slice(otherwise[j], run.start, run.count));
      }
    } else if (count == 1) {
      parts[0] = load_run(pointer, run.count, bits, run_mask, slice(otherwise[0], run.start, run.count), is_volatile);
    } else {
      // Structures side by side: wide loads, then each member's lanes.
      Value* wide_mask = repeat_lanes(b_, run_mask, run.count, count);
      Value* wide = load_run(
          pointer, run.count * count, bits, wide_mask,
          llvm::Constant::getNullValue(llvm::FixedVectorType::get(int_type(bits), run.count * count)), is_volatile);
      for (unsigned j = 0; j < count; ++j) {
        llvm::SmallVector<int, 32> picks;
        for (unsigned i = 0; i < run.count; ++i) picks.push_back(static_cast<int>(i * count + j));
        parts[j] = b_.CreateShuffleVector(wide, picks);
        if (run_mask) parts[j] = b_.CreateSelect(run_mask, parts[j], slice(otherwise[j], run.start, run.count));
      }
    }
    for (unsigned j = 0; j < count; ++j) {
      if (run.count == lanes()) {
        results[j] = parts[j];
        continue;
      }
      llvm::SmallVector<int, 32> spread(lanes(), llvm::PoisonMaskElem), blend(lanes());
      for (unsigned i = 0; i < lanes(); ++i) {
        const bool mine = i >= run.start && i < run.start + run.count;
        if (mine) spread[i] = static_cast<int>(i - run.start);
        blend[i] = static_cast<int>(mine ? lanes() + i : i);
      }
      Value* placed = b_.CreateShuffleVector(parts[j], spread);
      results[j] = results[j] ? b_.CreateShuffleVector(results[j], placed, blend) : placed;
    }
  }
  return results;
}

std::vector<llvm::Value*> FunctionEmitter::load_gather(const Address& address, Value* mask, unsigned count,
                                                       unsigned bits, const std::vector<Value*>& otherwise) {
  ++unit_.counts.gather;
  Value* pointers = address_vector(address);
  Value* all = mask ? mask : llvm::Constant::getAllOnesValue(vector_type(1));
  std::vector<Value*> results;
  for (unsigned j = 0; j < count; ++j) {
    Value* at = j == 0 ? pointers : b_.CreateGEP(b_.getInt8Ty(), pointers, constant(64, j * bits / 8));
    results.push_back(b_.CreateMaskedGather(vector_type(bits), at, llvm::Align(1), all, otherwise[j]));
  }
  return results;
}

/// A gather behind a run-time test for lanes that lie side by side (in rows of the block's width).
std::vector<llvm::Value*> FunctionEmitter::load_tested(const Address& address, Value* mask, unsigned bits,
                                                       Value* otherwise) {
  ++unit_.counts.tested;
  const std::uint32_t row = unit_.variant.block[0];
  const unsigned run = row != 0 && row < lanes() && lanes() % row == 0 && lanes() / row <= kMostRuns ? row : lanes();
  Split split;
  const bool is_split = split_address(address, &split) && split.scale * 8 == bits && split.is_signed;
  Value* numbers = is_split ? split.index : b_.CreatePtrToInt(address_vector(address), vector_type(64));
  const unsigned number_bits = is_split ? 32 : 64;
  llvm::SmallVector<int, 32> firsts;
  std::vector<llvm::Constant*> steps;
  for (unsigned i = 0; i < lanes(); ++i) {
    firsts.push_back(static_cast<int>(i / run * run));
    steps.push_back(llvm::ConstantInt::get(int_type(number_bits), std::uint64_t{i % run} * (is_split ? 1 : bits / 8)));
  }
  Value* expected = b_.CreateAdd(b_.CreateShuffleVector(numbers, firsts), llvm::ConstantVector::get(steps));
  Value* same = b_.CreateICmpEQ(numbers, expected);
  if (mask) same = b_.CreateOr(same, b_.CreateNot(mask));
  Value* together = b_.CreateICmpEQ(to_bits(same), llvm::Constant::getAllOnesValue(mask_type()));
  std::vector<Value*> starts;
  for (unsigned start = 0; start < lanes(); start += run) {
    Value* first = b_.CreateExtractElement(numbers, start);
    if (is_split) {
      // Numbers that wrap inside the run are consecutive as 32 bits, but not as addresses.
      together = b_.CreateAnd(together, b_.CreateICmpSLE(first, constant(32, 0x7fffffffu - run)));
      Value* scaled = b_.CreateMul(b_.CreateSExt(first, int_type(64)), constant(64, split.scale));
      starts.push_back(b_.CreateAdd(split.base, scaled));
    } else {
      starts.push_back(first);
    }
  }
  llvm::BasicBlock* side_by_side = new_block("side_by_side");
  llvm::BasicBlock* apart = new_block("apart");
  llvm::BasicBlock* after = new_block("after");
  b_.CreateCondBr(together, side_by_side, apart);
  b_.SetInsertPoint(side_by_side);
  ++no_cache_;
  Value* loaded = nullptr;
  for (unsigned k = 0; k < starts.size(); ++k) {
    const unsigned start = k * run;
    Value* part = load_run(to_pointer(starts[k]), run, bits, mask ? slice(mask, start, run) : nullptr,
                           slice(otherwise, start, run), false);
    if (run == lanes()) {
      loaded = part;
      break;
    }
    llvm::SmallVector<int, 32> spread(lanes(), llvm::PoisonMaskElem), blend(lanes());
    for (unsigned i = 0; i < lanes(); ++i) {
      const bool mine = i >= start && i < start + run;
      if (mine) spread[i] = static_cast<int>(i - start);
      blend[i] = static_cast<int>(mine ? lanes() + i : i);
    }
    Value* placed = b_.CreateShuffleVector(part, spread);
    loaded = loaded ? b_.CreateShuffleVector(loaded, placed, blend) : placed;
  }
  llvm::BasicBlock* loaded_in = b_.GetInsertBlock();
  b_.CreateBr(after);
  b_.SetInsertPoint(apart);
  Value* gathered = load_gather(address, mask, 1, bits, {otherwise})[0];
  --unit_.counts.gather;
  --no_cache_;
  llvm::BasicBlock* gathered_in = b_.GetInsertBlock();
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
  llvm::PHINode* phi = b_.CreatePHI(vector_type(bits), 2);
  phi->addIncoming(loaded, loaded_in);
  phi->addIncoming(gathered, gathered_in);
  return {phi};
}

std::vector<llvm::Value*> FunctionEmitter::load_lanes(const ir::Inst& inst, const Address& address, Value* mask,
                                                      unsigned count, unsigned bits,
                                                      const std::vector<Value*>& otherwise) {
  const bool ordered = is_ordered(inst);
  if (is_pattern(address, count * bits / 8)) {
    if (!address.ok) return load_pattern(address, mask, count, bits, otherwise, ordered);
    llvm::BasicBlock* fits = new_block("fits");
    llvm::BasicBlock* wraps = new_block("wraps");
    llvm::BasicBlock* after = new_block("after");
    b_.CreateCondBr(address.ok, fits, wraps);
    ++no_cache_;
    b_.SetInsertPoint(fits);
    const std::vector<Value*> first = load_pattern(address, mask, count, bits, otherwise, ordered);
    llvm::BasicBlock* first_in = b_.GetInsertBlock();
    b_.CreateBr(after);
    b_.SetInsertPoint(wraps);
    if (ordered) memory_barrier();
    const std::vector<Value*> second = load_gather(address, mask, count, bits, otherwise);
    --unit_.counts.gather;
    llvm::BasicBlock* second_in = b_.GetInsertBlock();
    b_.CreateBr(after);
    --no_cache_;
    b_.SetInsertPoint(after);
    std::vector<Value*> results;
    for (unsigned j = 0; j < count; ++j) {
      llvm::PHINode* phi = b_.CreatePHI(vector_type(bits), 2);
      phi->addIncoming(first[j], first_in);
      phi->addIncoming(second[j], second_in);
      results.push_back(phi);
    }
    return results;
  }
  if (ordered) memory_barrier();
  if (count == 1 && address.bases.empty() && !ordered && has_lost_pattern(address.value, 8)) {
    return load_tested(address, mask, bits, otherwise[0]);
  }
  return load_gather(address, mask, count, bits, otherwise);
}

void FunctionEmitter::emit_load(const ir::Inst& inst) {
  unsigned count = static_cast<unsigned>(inst.results.size());
  const unsigned bits = static_cast<unsigned>(ir::bits_of(inst.type));
  order_before(inst);

  // A guard that all lanes share is a branch; without it nothing is read at all.
  llvm::BasicBlock *skipped_from = nullptr, *after = nullptr;
  std::vector<Value*> skipped;
  if (inst.guard != ir::kNoValue && is_uniform(inst.guard)) {
    for (unsigned j = 0; j < count; ++j) {
      const ValueId v = inst.results[j];
      const bool scalar = is_scalar(v);
      if (inst.guard_else.empty()) {
        skipped.push_back(
            llvm::Constant::getNullValue(scalar ? static_cast<llvm::Type*>(int_type(bits)) : vector_type(bits)));
      } else {
        skipped.push_back(scalar ? scalar_of(inst.guard_else[j]) : vector_of(inst.guard_else[j]));
      }
    }
    llvm::BasicBlock* then = new_block("guarded");
    after = new_block("after");
    Value* guard = scalar_of(inst.guard);
    skipped_from = b_.GetInsertBlock();
    b_.CreateCondBr(guard, then, after);
    b_.SetInsertPoint(then);
    ++no_cache_;
  }
  const Address address = address_of(inst);
  Value* mask = guarded_mask(inst);
  const bool guarded = inst.guard != ir::kNoValue && !is_uniform(inst.guard);
  std::vector<Value*> values;
  if (address.uniform) {
    ++unit_.counts.uniform;
    auto load_all = [&] {
      const bool invariant = inst.mods.space == ir::Space::kParam || inst.mods.space == ir::Space::kConst;
      for (unsigned j = 0; j < count; ++j) {
        llvm::LoadInst* load =
            b_.CreateAlignedLoad(int_type(bits), to_pointer(b_.CreateAdd(address.bases[0], constant(64, j * bits / 8))),
                                 llvm::Align(1), is_ordered(inst));
        if (invariant && !is_ordered(inst) && is_kernel_) {
          load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context(), {}));
        }
        values.push_back(load);
      }
    };
    if (!guarded) {
      load_all();
    } else {
      Value* any = b_.CreateICmpNE(to_bits(mask), llvm::Constant::getNullValue(mask_type()));
      llvm::BasicBlock* before = b_.GetInsertBlock();
      llvm::BasicBlock* then = new_block("then");
      llvm::BasicBlock* join = new_block("join");
      b_.CreateCondBr(any, then, join);
      b_.SetInsertPoint(then);
      load_all();
      b_.CreateBr(join);
      b_.SetInsertPoint(join);
      for (unsigned j = 0; j < count; ++j) {
        llvm::PHINode* phi = b_.CreatePHI(int_type(bits), 2);
        phi->addIncoming(values[j], then);
        phi->addIncoming(llvm::Constant::getNullValue(int_type(bits)), before);
        values[j] = phi;
      }
      for (unsigned j = 0; j < count; ++j) {
        Value* other =
            inst.guard_else.empty() ? llvm::Constant::getNullValue(vector_type(bits)) : vector_of(inst.guard_else[j]);
        values[j] = b_.CreateSelect(mask, splat(values[j]), other);
      }
    }
  } else {
    std::vector<Value*> otherwise;
    for (unsigned j = 0; j < count; ++j) {
      otherwise.push_back(!guarded || inst.guard_else.empty() ? llvm::Constant::getNullValue(vector_type(bits))
                                                              : vector_of(inst.guard_else[j]));
    }
    if (bits == 128) {
      // Two halves each; the vectors of 128-bit lanes are put together from them.
      std::vector<Value*> halves(count * 2, llvm::Constant::getNullValue(vector_type(64)));
      const std::vector<Value*> loaded = load_lanes(inst, address, mask, count * 2, 64, halves);
      for (unsigned j = 0; j < count; ++j) {
        Value* high = b_.CreateShl(b_.CreateZExt(loaded[2 * j + 1], vector_type(128)),
                                   llvm::ConstantInt::get(vector_type(128), 64));
        Value* whole = b_.CreateOr(b_.CreateZExt(loaded[2 * j], vector_type(128)), high);
        values.push_back(guarded ? b_.CreateSelect(mask, whole, otherwise[j]) : whole);
      }
    } else {
      values = load_lanes(inst, address, mask, count, bits, otherwise);
    }
  }
  if (after) {
    --no_cache_;
    for (unsigned j = 0; j < count; ++j) {
      if (!is_scalar(inst.results[j]) && !values[j]->getType()->isVectorTy()) values[j] = splat(values[j]);
      if (is_scalar(inst.results[j]) && values[j]->getType()->isVectorTy()) values[j] = lane0_or_first(values[j]);
    }
    llvm::BasicBlock* from = b_.GetInsertBlock();
    b_.CreateBr(after);
    b_.SetInsertPoint(after);
    for (unsigned j = 0; j < count; ++j) {
      llvm::PHINode* phi = b_.CreatePHI(values[j]->getType(), 2);
      phi->addIncoming(values[j], from);
      phi->addIncoming(skipped[j], skipped_from);
      values[j] = phi;
    }
  }
  order_after(inst);
  for (unsigned j = 0; j < count; ++j) set_result(inst.results[j], values[j]);
}

// -------------------------------------------------------------------------------------------------------------- stores

void FunctionEmitter::store_pattern(const Address& address, Value* mask, unsigned bits,
                                    const std::vector<Value*>& values, bool is_volatile) {
  const unsigned count = static_cast<unsigned>(values.size());
  const std::vector<Run> runs = find_runs(address.offsets, count * bits / 8, address.run);
  ++(runs.size() == 1 && !runs[0].constant ? unit_.counts.unit_stride : unit_.counts.pattern);
  for (const Run& run : runs) {
    Value* at = b_.CreateAdd(address.bases[run.start / address.run],
                             constant(64, static_cast<std::uint64_t>(address.offsets[run.start])));
    Value* pointer = to_pointer(at);
    Value* run_mask = mask ? slice(mask, run.start, run.count) : nullptr;
    if (run.constant || run.count == 1) {
      // One place for all lanes of the run: the last active one's value stays.
      auto store_lane = [&](Value* lane) {
        for (unsigned j = 0; j < count; ++j) {
          Value* element = b_.CreateExtractElement(values[j], lane);
          b_.CreateAlignedStore(element, b_.CreateConstGEP1_64(int_type(bits), pointer, j), llvm::Align(1),
                                is_volatile);
        }
      };
      if (!run_mask) {
        store_lane(constant(32, run.start + run.count - 1));
        continue;
      }
      llvm::Type* run_type = int_type(run.count);
      Value* run_bits = b_.CreateZExt(b_.CreateBitCast(run_mask, run_type), int_type(64));
      if_then(b_.CreateICmpNE(run_bits, constant(64, 0)), [&] {
        Value* zeros = b_.CreateIntrinsic(llvm::Intrinsic::ctlz, {int_type(64)}, {run_bits, b_.getTrue()});
        store_lane(b_.CreateSub(constant(64, 63 + run.start), zeros));
      });
      continue;
    }
    if (count == 1) {
      store_run(pointer, slice(values[0], run.start, run.count), run_mask, is_volatile);
      continue;
    }
    // Members of structures, interleaved pairwise: (a0 a1 ...) (b0 b1 ...) -> (a0 b0 a1 b1 ...).
    std::vector<Value*> parts;
    for (Value* value : values) parts.push_back(slice(value, run.start, run.count));
    llvm::SmallVector<int, 128> picks;
    Value* wide = parts[0];
    unsigned have = 1;
    auto concatenate = [&](Value* a, Value* c, unsigned a_count, unsigned c_count) {
      llvm::SmallVector<int, 128> order;
      for (unsigned i = 0; i < a_count; ++i) order.push_back(static_cast<int>(i));
      for (unsigned i = 0; i < c_count; ++i) order.push_back(static_cast<int>(a_count + i));
      if (a_count != c_count) {
        llvm::SmallVector<int, 128> widen;
        for (unsigned i = 0; i < a_count; ++i)
          widen.push_back(i < c_count ? static_cast<int>(i) : llvm::PoisonMaskElem);
        c = b_.CreateShuffleVector(c, widen);
      }
      return b_.CreateShuffleVector(a, c, order);
    };
    if (count == 2 || count == 4 || count == 8) {
      std::vector<Value*> level = parts;
      unsigned width = run.count;
      while (level.size() > 1) {
        std::vector<Value*> next;
        for (std::size_t i = 0; i < level.size(); i += 2)
          next.push_back(concatenate(level[i], level[i + 1], width, width));
        level = next;
        width *= 2;
      }
      wide = level[0];
    } else {
      for (unsigned j = 1; j < count; ++j) {
        wide = concatenate(wide, parts[j], have * run.count, run.count);
        ++have;
      }
    }
    for (unsigned i = 0; i < run.count; ++i) {
      for (unsigned j = 0; j < count; ++j) picks.push_back(static_cast<int>(j * run.count + i));
    }
    store_run(pointer, b_.CreateShuffleVector(wide, picks), repeat_lanes(b_, run_mask, run.count, count), is_volatile);
  }
}

void FunctionEmitter::store_scatter(const Address& address, Value* mask, unsigned bits,
                                    const std::vector<Value*>& values) {
  ++unit_.counts.gather;
  Value* pointers = address_vector(address);
  Value* all = mask ? mask : llvm::Constant::getAllOnesValue(vector_type(1));
  for (std::size_t j = 0; j < values.size(); ++j) {
    Value* at = j == 0 ? pointers : b_.CreateGEP(b_.getInt8Ty(), pointers, constant(64, j * bits / 8));
    b_.CreateMaskedScatter(values[j], at, llvm::Align(1), all);
  }
}

void FunctionEmitter::store_lanes(const ir::Inst& inst, const Address& address, Value* mask, unsigned bits,
                                  const std::vector<Value*>& values) {
  const bool ordered = is_ordered(inst);
  const unsigned bytes = static_cast<unsigned>(values.size()) * bits / 8;
  if (!is_pattern(address, bytes)) {
    store_scatter(address, mask, bits, values);
    if (ordered) memory_barrier();
    return;
  }
  if (!address.ok) return store_pattern(address, mask, bits, values, ordered);
  llvm::BasicBlock* fits = new_block("fits");
  llvm::BasicBlock* wraps = new_block("wraps");
  llvm::BasicBlock* after = new_block("after");
  b_.CreateCondBr(address.ok, fits, wraps);
  ++no_cache_;
  b_.SetInsertPoint(fits);
  store_pattern(address, mask, bits, values, ordered);
  b_.CreateBr(after);
  b_.SetInsertPoint(wraps);
  store_scatter(address, mask, bits, values);
  --unit_.counts.gather;
  if (ordered) memory_barrier();
  b_.CreateBr(after);
  --no_cache_;
  b_.SetInsertPoint(after);
}

void FunctionEmitter::emit_store(const ir::Inst& inst) {
  unsigned bits = static_cast<unsigned>(ir::bits_of(inst.type));
  order_before(inst);
  auto store_all = [&] {
    const Address address = address_of(inst);
    Value* mask = guarded_mask(inst);
    if (address.uniform) {
      ++unit_.counts.uniform;
      auto store_last = [&] {
        Value* last = nullptr;
        for (std::size_t j = 1; j < inst.operands.size(); ++j) {
          Value* value = nullptr;
          if (is_uniform(inst.operands[j])) {
            value = scalar_of(inst.operands[j]);
          } else {
            if (!last) {
              Value* zeros = nullptr;
              if (mask) zeros = b_.CreateIntrinsic(llvm::Intrinsic::ctlz, {mask_type()}, {to_bits(mask), b_.getTrue()});
              last = mask ? b_.CreateSub(llvm::ConstantInt::get(mask_type(), lanes() - 1), zeros)
                          : static_cast<Value*>(constant(32, lanes() - 1));
            }
            value = b_.CreateExtractElement(vector_of(inst.operands[j]), last);
          }
          Value* at = b_.CreateAdd(address.bases[0], constant(64, (j - 1) * bits / 8));
          b_.CreateAlignedStore(value, to_pointer(at), llvm::Align(1), is_ordered(inst));
        }
      };
      if (inst.guard == ir::kNoValue || is_uniform(inst.guard)) return store_last();
      return if_then(b_.CreateICmpNE(to_bits(mask), llvm::Constant::getNullValue(mask_type())), store_last);
    }
    std::vector<Value*> values;
    for (std::size_t j = 1; j < inst.operands.size(); ++j) {
      Value* value = vector_of(inst.operands[j]);
      if (bits != 128) {
        values.push_back(value);
        continue;
      }
      values.push_back(b_.CreateTrunc(value, vector_type(64)));
      Value* high = b_.CreateLShr(value, llvm::ConstantInt::get(vector_type(128), 64));
      values.push_back(b_.CreateTrunc(high, vector_type(64)));
    }
    store_lanes(inst, address, mask, bits == 128 ? 64 : bits, values);
  };
  if (inst.guard != ir::kNoValue && is_uniform(inst.guard)) {
    if_then(scalar_of(inst.guard), store_all);
  } else {
    store_all();
  }
  order_after(inst);
}

// ------------------------------------------------------------------------------------------------------ order and
// others

/// x86 orders loads after loads and stores after stores; what is left is keeping LLVM from moving accesses, and the
/// full fence of sequential consistency.
void FunctionEmitter::order_before(const ir::Inst& inst) {
  if (inst.mods.order == ir::Order::kSc) {
    b_.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent);
  } else if (inst.mods.order == ir::Order::kRelease || inst.mods.order == ir::Order::kAcqRel) {
    b_.CreateFence(llvm::AtomicOrdering::Release);
  }
}

void FunctionEmitter::order_after(const ir::Inst& inst) {
  if (inst.mods.order == ir::Order::kSc && inst.op == Op::kStore) {
    b_.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent);
  } else if (inst.mods.order == ir::Order::kAcquire || inst.mods.order == ir::Order::kAcqRel ||
             inst.mods.order == ir::Order::kSc) {
    b_.CreateFence(llvm::AtomicOrdering::Acquire);
  }
}

void FunctionEmitter::emit_fence(const ir::Inst& inst) {
  // A CTA runs on one worker, so nobody else can tell the order of what its threads do among themselves.
  const auto scope = inst.mods.scope == ir::Scope::kCta ? llvm::SyncScope::SingleThread : llvm::SyncScope::System;
  b_.CreateFence(inst.mods.order == ir::Order::kSc || inst.mods.order == ir::Order::kWeak
                     ? llvm::AtomicOrdering::SequentiallyConsistent
                     : llvm::AtomicOrdering::AcquireRelease,
                 scope);
}

/// Copies at once: 4, 8 or 16 bytes a lane, in 32-bit elements; those past the source's size are zero.
void FunctionEmitter::emit_copy_async(const ir::Inst& inst) {
  auto copy = [&] {
    const unsigned count = static_cast<unsigned>(inst.imm / 4);
    ir::Inst source = inst, target = inst;
    source.operands[0] = inst.operands[1];
    source.imm = target.imm = 0;
    source.mods.space = ir::Space::kGlobal;
    target.mods.space = ir::Space::kShared;
    Value* mask = guarded_mask(inst);
    const Address from = address_of(source), to = address_of(target);
    Value* zero = llvm::Constant::getNullValue(vector_type(32));
    const std::vector<Value*> zeros(count, zero);
    const ir::Inst* size = inst.operands.size() > 2 ? info_[inst.operands[2]].def : nullptr;
    std::vector<Value*> values;
    if (inst.operands.size() < 3 || (size && size->op == Op::kConst && size->imm >= inst.imm)) {
      if (from.uniform) {
        auto* all = mask ? mask : llvm::Constant::getAllOnesValue(vector_type(1));
        Address spread = from;
        spread.uniform = false;
        values = load_gather(spread, all, count, 32, zeros);
      } else {
        values = load_lanes(source, from, mask, count, 32, zeros);
      }
    } else {
      Value* bytes = vector_of(inst.operands[2]);
      Value* pointers = address_vector(from);
      for (unsigned j = 0; j < count; ++j) {
        Value* wanted = b_.CreateICmpUGE(bytes, llvm::ConstantInt::get(bytes->getType(), 4 * (j + 1)));
        if (mask) wanted = b_.CreateAnd(wanted, mask);
        Value* at = b_.CreateGEP(b_.getInt8Ty(), pointers, constant(64, 4 * j));
        values.push_back(b_.CreateMaskedGather(vector_type(32), at, llvm::Align(1), wanted, zero));
      }
    }
    Address spread = to;
    if (to.uniform) {
      spread.uniform = false;
      spread.has_offsets = true;
    }
    store_lanes(target, spread, mask, 32, values);
  };
  if (inst.guard != ir::kNoValue && is_uniform(inst.guard)) return if_then(scalar_of(inst.guard), copy);
  copy();
}

/// Takes bytes from the thread's local memory until the function returns. All lanes take the same, so that the top is
/// one number: that of the lane that wants most.
void FunctionEmitter::emit_local_alloc(const ir::Inst& inst) {
  Value* bytes = nullptr;
  if (is_uniform(inst.operands[0])) {
    bytes = scalar_of(inst.operands[0]);
  } else {
    Value* wanted = vector_of(inst.operands[0]);
    if (mask()) wanted = b_.CreateSelect(mask(), wanted, llvm::Constant::getNullValue(wanted->getType()));
    bytes = b_.CreateIntMaxReduce(wanted, false);
  }
  bytes = b_.CreateZExtOrTrunc(bytes, int_type(64));
  Value* top = b_.CreateZExt(b_.CreateLoad(int_type(32), local_top_), int_type(64));
  Value* at = b_.CreateAnd(b_.CreateAdd(top, constant(64, 15)), constant(64, ~std::uint64_t{15}));
  Value* end = b_.CreateAdd(at, bytes);
  Value* room = b_.CreateZExt(launch_field("local_bytes"), int_type(64));
  if_then(b_.CreateICmpUGT(end, room), [&] {
    runtime_call(
        offsetof(exec::RuntimeTable, fault),
        {thread_of(first_lane(mask_bits())), constant(32, static_cast<std::uint64_t>(ErrorCode::kHardwareStackError)),
         at, constant(32, inst.location.ptx_line)},
        nullptr, nullptr);
  });
  b_.CreateStore(b_.CreateTrunc(end, int_type(32)), local_top_);
  const unsigned bits = info_[inst.results[0]].bits;
  set_result(inst.results[0], b_.CreateZExtOrTrunc(at, int_type(bits)));
}

}  // namespace heddle::codegen
