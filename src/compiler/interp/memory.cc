// Memory accesses, atomics and address arithmetic of the interpreter. Tested by interp_test.cc and tests/ptx.
#include <cstring>

#include "base/mutex.h"
#include "compiler/interp/machine.h"
#include "compiler/ir/print.h"

namespace heddle::interp {
namespace {

using ir::Op;
using ir::Space;

template <class Word>
void load_whole(const void* from, void* to) {
  const Word word = __atomic_load_n(static_cast<const Word*>(from), __ATOMIC_RELAXED);
  std::memcpy(to, &word, sizeof word);
}
template <class Word>
void store_whole(std::uint64_t address, const void* from) {
  Word word;
  std::memcpy(&word, from, sizeof word);
  __atomic_store_n(reinterpret_cast<Word*>(address), word, __ATOMIC_RELAXED);
}

/// Atomics on anything but 32- and 64-bit words (which use the processor's) are rare and share a lock.
Mutex& odd_atomics() {
  static Mutex mutex;
  return mutex;
}

template <class Word, class F>
Word update(std::uint64_t address, F&& f) {
  auto* const at = reinterpret_cast<Word*>(address);
  Word old = __atomic_load_n(at, __ATOMIC_SEQ_CST);
  while (!__atomic_compare_exchange_n(at, &old, static_cast<Word>(f(old)), false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
  }
  return old;
}

}  // namespace

void Warp::fault(std::uint32_t lane, const ir::Inst& inst, ErrorCode code, std::uint64_t address, std::uint32_t bytes,
                 bool is_write) {
  stopped_ = true;
  if (forensic_) {
    const ir::Function& function = *lanes_[lane].frames.back().function;
    forensic_->found = true;
    FaultReport& report = forensic_->report;
    report.code = code;
    report.thread = thread(lane);
    report.address = address;
    report.bytes = bytes;
    report.is_write = is_write;
    const Space space = inst.mods.space;
    report.in_cta_memory = space == Space::kShared || space == Space::kLocal || space == Space::kParam;
    report.ptx_line = inst.location.ptx_line;
    report.line = inst.location.line;
    if (report.line && inst.location.file < program_.files.size()) report.file = program_.files[inst.location.file];
    report.function = function.name;
    report.instruction = ir::print_inst(function, inst);
    return;
  }
  static_cast<const exec::RuntimeTable*>(launch_->runtime)
      ->fault(launch_, cta_, thread(lane), static_cast<std::int32_t>(code), address, inst.location.ptx_line);
}

std::uint64_t Warp::plain_address(std::uint32_t lane, Space space, std::uint64_t address) const {
  switch (space) {
    case Space::kShared: return reinterpret_cast<std::uint64_t>(cta_->shared) + address;
    case Space::kLocal:
      return reinterpret_cast<std::uint64_t>(cta_->local) + std::uint64_t{thread(lane)} * launch_->local_bytes +
             address;
    case Space::kParam: return reinterpret_cast<std::uint64_t>(launch_->params) + address;
    default: return address;
  }
}

bool Warp::may_access(std::uint32_t lane, const ir::Inst& inst, std::uint64_t address, std::uint32_t bytes,
                      bool is_write) {
  // Widths are powers of two; a vector access is aligned to the whole of it.
  if (address % bytes) {
    fault(lane, inst, ErrorCode::kMisalignedAddress, address, bytes, is_write);
    return false;
  }
  const auto inside = [&](std::uint64_t begin, std::uint64_t size) {
    return address >= begin && address - begin < size && size - (address - begin) >= bytes;
  };
  const auto shared = reinterpret_cast<std::uint64_t>(cta_->shared),
             local = reinterpret_cast<std::uint64_t>(cta_->local);
  bool ok = true;
  switch (inst.mods.space) {
    case Space::kShared: ok = inside(shared, launch_->total_shared); break;
    case Space::kLocal:
      ok = inside(local + std::uint64_t{thread(lane)} * launch_->local_bytes, launch_->local_bytes);
      break;
    case Space::kParam:
      ok = !is_write && inside(reinterpret_cast<std::uint64_t>(launch_->params), program_.param_bytes);
      break;
    default:
      if (!forensic_) return true;
      ok = inside(shared, launch_->total_shared) ||
           inside(local, std::uint64_t{launch_->local_bytes} * launch_->threads) ||
           (!is_write && inside(reinterpret_cast<std::uint64_t>(launch_->params), program_.param_bytes));
      for (const auto& [begin, end] : forensic_->heap_ranges) ok = ok || inside(begin, end - begin);
      ok = ok || !forensic_->check || forensic_->check(forensic_->user, address, bytes, is_write);
      break;
  }
  if (!ok) fault(lane, inst, ErrorCode::kIllegalAddress, address, bytes, is_write);
  return ok;
}

// Elements are read and written whole: other threads, the host's among them, may use the same memory, as a kernel that
// polls a flag expects. (may_access has checked the alignment.)

void Warp::read(std::uint64_t address, void* to, std::uint32_t bytes) {
  const auto* from = reinterpret_cast<const std::uint8_t*>(address);
  if (!forensic_) {
    switch (bytes) {
      case 1: load_whole<std::uint8_t>(from, to); return;
      case 2: load_whole<std::uint16_t>(from, to); return;
      case 4: load_whole<std::uint32_t>(from, to); return;
      case 8: load_whole<std::uint64_t>(from, to); return;
      default: std::memcpy(to, from, bytes); return;
    }
  }
  for (std::uint32_t i = 0; i < bytes; ++i) {
    const auto it = forensic_->written.find(address + i);
    static_cast<std::uint8_t*>(to)[i] = it != forensic_->written.end() ? it->second : from[i];
  }
}

void Warp::write(std::uint64_t address, const void* from, std::uint32_t bytes) {
  if (!forensic_) {
    switch (bytes) {
      case 1: store_whole<std::uint8_t>(address, from); return;
      case 2: store_whole<std::uint16_t>(address, from); return;
      case 4: store_whole<std::uint32_t>(address, from); return;
      case 8: store_whole<std::uint64_t>(address, from); return;
      default: std::memcpy(reinterpret_cast<void*>(address), from, bytes); return;
    }
  }
  for (std::uint32_t i = 0; i < bytes; ++i) forensic_->written[address + i] = static_cast<const std::uint8_t*>(from)[i];
}

void Warp::access_memory(std::uint32_t lane, const ir::Inst& inst) {
  if (inst.guard != ir::kNoValue && !(value(lane, inst.guard).lo & 1)) {
    for (std::size_t i = 0; i < inst.results.size(); ++i)
      set(lane, inst.results[i], inst.guard_else.empty() ? Bits{} : value(lane, inst.guard_else[i]));
    return;
  }
  const auto size = static_cast<std::uint32_t>(ir::bits_of(inst.type) / 8);
  const std::uint64_t address = plain_address(lane, inst.mods.space, value(lane, inst.operands[0]).lo + inst.imm);
  switch (inst.op) {
    case Op::kLoad: {
      const auto count = static_cast<std::uint32_t>(inst.results.size());
      if (!may_access(lane, inst, address, size * count, false)) return;
      for (std::uint32_t i = 0; i < count; ++i) {
        Bits bits;
        read(address + i * size, &bits, size);
        set(lane, inst.results[i], bits);
      }
      return;
    }
    case Op::kStore: {
      const auto count = static_cast<std::uint32_t>(inst.operands.size() - 1);
      if (!may_access(lane, inst, address, size * count, true)) return;
      for (std::uint32_t i = 0; i < count; ++i) {
        const Bits bits = value(lane, inst.operands[i + 1]);
        write(address + i * size, &bits, size);
      }
      return;
    }
    case Op::kCopyAsync: {
      const auto bytes = static_cast<std::uint32_t>(inst.imm);
      const std::uint64_t to = plain_address(lane, Space::kShared, value(lane, inst.operands[0]).lo);
      const std::uint64_t from = value(lane, inst.operands[1]).lo;
      const auto wanted =
          inst.operands.size() > 2 ? static_cast<std::uint32_t>(value(lane, inst.operands[2]).lo) : bytes;
      const std::uint32_t used = wanted < bytes ? wanted : bytes;
      ir::Inst destination = inst, source = inst;
      destination.mods.space = Space::kShared;
      source.mods.space = Space::kGlobal;
      std::uint8_t buffer[16] = {};
      if (bytes > sizeof buffer || !may_access(lane, destination, to, bytes, true)) return;
      if (used && !may_access(lane, source, from, bytes, false)) return;
      read(from, buffer, used);
      write(to, buffer, bytes);
      return;
    }
    default:
      if (may_access(lane, inst, address, size, true)) atomic(lane, inst, address);
      return;
  }
}

void Warp::atomic(std::uint32_t lane, const ir::Inst& inst, std::uint64_t address) {
  const Bits operand = value(lane, inst.operands[1]);
  const bool cas = inst.op == Op::kAtomicCas;
  const Bits replacement = cas ? value(lane, inst.operands[2]) : Bits{};
  const auto next = [&](Bits old) -> Bits {
    if (cas) return old == operand ? replacement : old;
    if (inst.mods.atomic == ir::AtomicOp::kExch) return operand;
    return {combine(inst.mods.atomic, inst.type, old.lo, operand.lo), 0};
  };
  const int bits = ir::bits_of(inst.type);
  Bits old;
  if (!forensic_ && bits == 32) {
    old.lo = update<std::uint32_t>(address, [&](std::uint32_t word) { return next({word, 0}).lo; });
  } else if (!forensic_ && bits == 64) {
    old.lo = update<std::uint64_t>(address, [&](std::uint64_t word) { return next({word, 0}).lo; });
  } else {
    // A bad address must fault before the lock is taken: faults leave without unlocking.
    (void)*reinterpret_cast<const volatile std::uint8_t*>(address);
    const MutexLock lock(odd_atomics());
    const auto size = static_cast<std::uint32_t>(bits / 8);
    read(address, &old, size);
    const Bits updated = next(old);
    write(address, &updated, size);
  }
  if (!inst.results.empty()) set(lane, inst.results[0], old);
}

void Warp::address_operation(std::uint32_t lane, const ir::Inst& inst) {
  const std::uint64_t operand = value(lane, inst.operands[0]).lo;
  if (inst.op == Op::kLocalAlloc) {
    Lane& l = lanes_[lane];
    const std::uint64_t at = (l.local_top + 15) & ~std::uint64_t{15};
    if (operand > launch_->local_bytes || at + operand > launch_->local_bytes)
      return fault(lane, inst, ErrorCode::kHardwareStackError, at);
    l.local_top = at + operand;
    return set(lane, inst.results[0], {at, 0});
  }
  const std::uint64_t base = plain_address(lane, inst.mods.space, 0);
  if (inst.op == Op::kCvtaToGeneric) return set(lane, inst.results[0], {base + operand, 0});
  if (inst.op == Op::kCvtaToSpace) return set(lane, inst.results[0], {operand - base, 0});
  const auto in = [&](const void* begin, std::uint64_t size) {
    return operand - reinterpret_cast<std::uint64_t>(begin) < size;
  };
  const bool shared = in(cta_->shared, launch_->total_shared);
  const bool local = in(cta_->local, std::uint64_t{launch_->local_bytes} * launch_->threads);
  const bool param = in(launch_->params, program_.param_bytes);
  bool result = false;
  switch (inst.mods.space) {
    case Space::kShared: result = shared; break;
    case Space::kLocal: result = local; break;
    case Space::kParam: result = param; break;
    case Space::kConst: result = false; break;  // constant memory is global memory here, as generic addresses see it
    default: result = !shared && !local && !param; break;
  }
  set(lane, inst.results[0], {result, 0});
}

}  // namespace heddle::interp
