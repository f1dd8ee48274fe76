#include "compiler/interp/machine.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>

#include "compiler/ir/print.h"
#include "compiler/ir/texture.h"

namespace heddle::interp {
namespace {

using ir::Op;
using ir::Special;

/// Backward branches that a group may take while other lanes could run, and that a warp may take in one call.
constexpr std::uint32_t kPatience = 2000;
constexpr std::uint32_t kTurn = 100000;
constexpr std::size_t kMaxCallDepth = 1000;

template <class F>
void for_each_lane(std::uint32_t mask, F&& f) {
  for (; mask; mask &= mask - 1) f(static_cast<std::uint32_t>(std::countr_zero(mask)));
}

/// The address of a function as a value: never null, and not a plain index.
constexpr std::uint64_t kFunctionStride = 16;

}  // namespace

Warp::Warp(const ir::Program& program, const Layout& layout, const exec::LaunchContext* launch, exec::CtaContext* cta,
           std::uint32_t warp, Forensic* forensic)
    : program_(program), layout_(layout), launch_(launch), cta_(cta), warp_(warp), forensic_(forensic) {
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    lanes_[lane].local_top = program.local_bytes;
    if (thread(lane) < launch->threads) {
      enter(lanes_[lane], program.kernel, {}, nullptr);
    } else {
      lanes_[lane].state = State::kEnded;
    }
  }
}

void Warp::set(std::uint32_t lane, ir::ValueId id, Bits bits) {
  Frame& frame = lanes_[lane].frames.back();
  const int width = ir::bits_of(frame.function->values[id].type);
  frame.values[id] = {bits.lo & mask_of(width), width == 128 ? bits.hi : 0};
}

Warp::Mask Warp::lanes_in(State state) const {
  Mask mask = 0;
  for (std::uint32_t lane = 0; lane < 32; ++lane)
    if (lanes_[lane].state == state) mask |= 1u << lane;
  return mask;
}

bool Warp::same_place(const Lane& a, const Lane& b) const {
  const Frame &x = a.frames.back(), &y = b.frames.back();
  return a.frames.size() == b.frames.size() && x.function == y.function && x.block == y.block && x.index == y.index;
}

bool Warp::is_before(const Lane& a, const Lane& b) const {
  if (a.frames.size() != b.frames.size()) return a.frames.size() > b.frames.size();
  const Frame &x = a.frames.back(), &y = b.frames.back();
  if (x.function != y.function) return std::less<>()(x.function, y.function);
  const std::uint32_t px = (*x.order)[x.block], py = (*y.order)[y.block];
  return px != py ? px < py : x.index < y.index;
}

/// The lanes at the earliest place among those that `accept` takes; 0 if there are none. Lanes that wait at a warp
/// operation in the same place belong to the group.
template <class Accept>
Warp::Mask Warp::pick_group(Accept&& accept) const {
  const Lane* first = nullptr;
  for (const Lane& lane : lanes_)
    if (accept(lane) && (!first || is_before(lane, *first))) first = &lane;
  if (!first) return 0;
  Mask group = 0;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    const Lane& other = lanes_[lane];
    if ((other.state == State::kRunning || other.state == State::kAtWarpOp) && same_place(other, *first))
      group |= 1u << lane;
  }
  return group;
}

std::uint32_t Warp::run(const exec::LaunchContext* launch, exec::CtaContext* cta) {
  launch_ = launch;
  cta_ = cta;
  if (std::exchange(suspended_, false)) release_barrier();
  std::uint32_t turn = 0;
  for (;;) {
    if (stopped_) return exec::kWarpDone;
    if (const Mask group = pick_group([](const Lane& l) { return l.state == State::kRunning && !l.yielded; })) {
      const std::uint32_t before = rounds_;
      run_group(group, false);
      if (rounds_ != before && ++turn > kTurn) return exec::kWarpYield;
      continue;
    }
    // All have yielded: the others of the block may have their turn. A warp operation that waits for lanes which can't
    // come goes ahead without them.
    if (lanes_in(State::kRunning)) {
      for (Lane& lane : lanes_) lane.yielded = false;
      return exec::kWarpYield;
    }
    if (const Mask group = pick_group([](const Lane& l) { return l.state == State::kAtWarpOp; })) {
      run_group(group, true);
      continue;
    }
    return suspend_at_barrier();
  }
}

std::uint32_t Warp::suspend_at_barrier() {
  const Mask waiting = lanes_in(State::kAtBarrier);
  if (!waiting) return exec::kWarpDone;
  auto& state = static_cast<exec::WarpState*>(cta_->warps)[warp_];
  // Lanes at other barriers than the first one wait until that is complete.
  const std::uint32_t first = static_cast<std::uint32_t>(std::countr_zero(waiting));
  const ir::Inst& inst = *lanes_[first].barrier;
  const auto id = static_cast<std::uint32_t>(value(first, inst.operands[0]).lo);
  state.barrier_id = id;
  state.barrier_threads = static_cast<std::uint32_t>(value(first, inst.operands[1]).lo);
  state.reduce_op = static_cast<std::uint32_t>(inst.mods.barrier);  // sync, popc, and, or: 0 to 3 in both
  state.reduce_value = 0;
  state.arrived = 0;
  for_each_lane(waiting, [&](std::uint32_t lane) {
    if (value(lane, lanes_[lane].barrier->operands[0]).lo != id) return;
    state.arrived |= 1u << lane;
    state.reduce_value += lanes_[lane].barrier_pred;
  });
  state.live = ~lanes_in(State::kEnded);
  suspended_ = true;
  return exec::kWarpBarrier;
}

void Warp::release_barrier() {
  const auto& state = static_cast<const exec::WarpState*>(cta_->warps)[warp_];
  for_each_lane(state.arrived, [&](std::uint32_t lane) {
    for (const ir::ValueId id : lanes_[lane].barrier->results) set(lane, id, {state.reduce_value, 0});
    lanes_[lane].state = State::kRunning;
  });
}

void Warp::run_group(Mask group, bool force) {
  // Each lane's place moves along with the group, so that a lane is always where it stopped.
  for (;;) {
    const Frame& frame = lanes_[std::countr_zero(group)].frames.back();
    const ir::Inst& inst = frame.function->blocks[frame.block].insts[frame.index];
    if (forensic_ && forensic_->is_exhausted()) {
      stopped_ = true;
      return;
    }
    if (!step(group, inst, force) || stopped_) return;
    for_each_lane(group, [&](std::uint32_t lane) { ++lanes_[lane].frames.back().index; });
    force = false;
  }
}

bool Warp::step(Mask group, const ir::Inst& inst, bool force) {
  switch (ir::class_of(inst.op)) {
    case ir::OpClass::kEnd: branch(group, inst); return false;
    case ir::OpClass::kWarp:
      if (!warp_operation(group, inst, force)) return false;
      return true;
    case ir::OpClass::kBarrier:
      for_each_lane(group, [&](std::uint32_t index) {
        Lane& lane = lanes_[index];
        ++lane.frames.back().index;
        if (inst.op == Op::kYield) {
          lane.yielded = true;
          return;
        }
        lane.state = State::kAtBarrier;
        lane.barrier = &inst;
        lane.barrier_pred = inst.operands.size() > 2 && (value(index, inst.operands[2]).lo & 1);
      });
      return false;
    default: break;
  }
  switch (inst.op) {
    case Op::kCall:
    case Op::kCallIndirect: call(group, inst); return false;
    case Op::kFence: __atomic_thread_fence(__ATOMIC_SEQ_CST); return true;
    case Op::kNanosleep: {
      std::uint32_t longest = 0;
      for_each_lane(group, [&](std::uint32_t lane) {
        longest = std::max(longest, static_cast<std::uint32_t>(value(lane, inst.operands[0]).lo));
        lanes_[lane].yielded = true;
        ++lanes_[lane].frames.back().index;
      });
      if (!forensic_) static_cast<const exec::RuntimeTable*>(launch_->runtime)->nanosleep(launch_, cta_, longest);
      return false;
    }
    case Op::kBarrierArrive: {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(group));
      const auto id = static_cast<std::uint32_t>(value(lane, inst.operands[0]).lo);
      const auto threads = static_cast<std::uint32_t>(value(lane, inst.operands[1]).lo);
      if (!forensic_)
        static_cast<const exec::RuntimeTable*>(launch_->runtime)
            ->barrier_arrive(launch_, cta_, id, threads, static_cast<std::uint32_t>(std::popcount(group)));
      return true;
    }
    default:
      for_each_lane(group, [&](std::uint32_t lane) {
        if (!stopped_) evaluate_lane(lane, inst);
      });
      return true;
  }
}

void Warp::jump(Lane& lane, const ir::Target& target) {
  Frame& frame = lane.frames.back();
  const std::vector<ir::ValueId>& parameters = frame.function->blocks[target.block].parameters;
  std::vector<Bits> arguments;
  arguments.reserve(parameters.size());
  for (const ir::ValueId id : target.arguments) arguments.push_back(frame.values[id]);
  for (std::size_t i = 0; i < parameters.size(); ++i) frame.values[parameters[i]] = arguments[i];
  frame.block = target.block;
  frame.index = 0;
}

void Warp::branch(Mask group, const ir::Inst& inst) {
  bool backward = false;
  for_each_lane(group, [&](std::uint32_t index) {
    Lane& lane = lanes_[index];
    const Frame& frame = lane.frames.back();
    std::uint64_t choice = 0;
    switch (inst.op) {
      case Op::kCondBranch: choice = value(index, inst.operands[0]).lo & 1 ? 0 : 1; break;
      case Op::kSwitch:
        choice = std::min<std::uint64_t>(value(index, inst.operands[0]).lo, inst.targets.size() - 1);
        break;
      case Op::kReturn: leave(lane, inst); return;
      case Op::kExit:
        lane.frames.clear();
        lane.state = State::kEnded;
        return;
      default: break;
    }
    const ir::Target& target = inst.targets[choice];
    if ((*frame.order)[target.block] <= (*frame.order)[frame.block]) backward = true;
    jump(lane, target);
  });
  if (!backward) return;
  ++rounds_;
  const Mask others = lanes_in(State::kRunning) & ~group;
  if (others && rounds_ % kPatience == 0)
    for_each_lane(group, [&](std::uint32_t lane) { lanes_[lane].yielded = true; });
}

void Warp::enter(Lane& lane, const ir::Function& function, const std::vector<Bits>& arguments, const ir::Inst* call) {
  Frame frame;
  frame.function = &function;
  frame.order = &layout_.at(&function);
  frame.values.resize(function.values.size());
  frame.local_top = lane.local_top;
  frame.call = call;
  for (std::size_t i = 0; i < arguments.size() && i < function.arguments.size(); ++i)
    frame.values[function.arguments[i]] = arguments[i];
  lane.frames.push_back(std::move(frame));
}

void Warp::leave(Lane& lane, const ir::Inst& inst) {
  Frame frame = std::move(lane.frames.back());
  lane.frames.pop_back();
  lane.local_top = frame.local_top;
  if (lane.frames.empty()) {
    lane.state = State::kEnded;
    return;
  }
  const auto index = static_cast<std::uint32_t>(&lane - lanes_);
  for (std::size_t i = 0; i < frame.call->results.size() && i < inst.operands.size(); ++i)
    set(index, frame.call->results[i], frame.values[inst.operands[i]]);
}

void Warp::call(Mask group, const ir::Inst& inst) {
  for_each_lane(group, [&](std::uint32_t index) {
    if (stopped_) return;
    Lane& lane = lanes_[index];
    const bool indirect = inst.op == Op::kCallIndirect;
    std::uint64_t callee = inst.imm;
    if (indirect) {
      const std::uint64_t target = value(index, inst.operands[0]).lo;
      callee = target / kFunctionStride - 1;
      if (target % kFunctionStride || callee >= program_.functions.size())
        return fault(index, inst, ErrorCode::kInvalidPc, target);
    }
    if (lane.frames.size() >= kMaxCallDepth) return fault(index, inst, ErrorCode::kHardwareStackError, 0);
    std::vector<Bits> arguments;
    for (std::size_t i = indirect ? 1 : 0; i < inst.operands.size(); ++i)
      arguments.push_back(value(index, inst.operands[i]));
    ++lane.frames.back().index;
    enter(lane, program_.functions[callee], arguments, &inst);
  });
}

std::uint64_t Warp::special(std::uint32_t lane, const ir::Inst& inst) const {
  const exec::LaunchContext& launch = *launch_;
  const std::uint32_t t = thread(lane), bit = 1u << lane;
  switch (inst.mods.special) {
    case Special::kTidX: return t % launch.block_x;
    case Special::kTidY: return t / launch.block_x % launch.block_y;
    case Special::kTidZ: return t / (launch.block_x * launch.block_y);
    case Special::kNtidX: return launch.block_x;
    case Special::kNtidY: return launch.block_y;
    case Special::kNtidZ: return launch.block_z;
    case Special::kCtaidX: return cta_->x;
    case Special::kCtaidY: return cta_->y;
    case Special::kCtaidZ: return cta_->z;
    case Special::kNctaidX: return launch.grid_x;
    case Special::kNctaidY: return launch.grid_y;
    case Special::kNctaidZ: return launch.grid_z;
    case Special::kLaneId: return lane;
    case Special::kWarpId: return warp_;
    case Special::kNwarpId: return launch.warps;
    case Special::kSmId: return 0;
    case Special::kNsmId: return 1;
    case Special::kGridId: return launch.grid_id;
    case Special::kLanemaskEq: return bit;
    case Special::kLanemaskLe: return bit | (bit - 1);
    case Special::kLanemaskLt: return bit - 1;
    case Special::kLanemaskGe: return ~(bit - 1);
    case Special::kLanemaskGt: return ~(bit | (bit - 1));
    case Special::kDynamicSmemSize: return launch.dynamic_shared;
    case Special::kTotalSmemSize: return launch.total_shared;
    case Special::kEnvreg: {
      // %envreg1:%envreg2, high half first: the address of a cooperative launch's workspace.
      const auto workspace = reinterpret_cast<std::uint64_t>(launch.grid_workspace);
      return inst.imm == 1 ? workspace >> 32 : inst.imm == 2 ? workspace & 0xffffffff : 0;
    }
    default: break;
  }
  const auto* runtime = static_cast<const exec::RuntimeTable*>(launch.runtime);
  switch (inst.mods.special) {
    case Special::kClockHi: return runtime->clock() >> 32;
    case Special::kGlobaltimer:
    case Special::kGlobaltimerLo: return runtime->globaltimer();
    case Special::kGlobaltimerHi: return runtime->globaltimer() >> 32;
    default: return runtime->clock();
  }
}

void Warp::evaluate_lane(std::uint32_t lane, const ir::Inst& inst) {
  switch (inst.op) {
    case Op::kConst: set(lane, inst.results[0], {inst.imm, inst.imm_hi}); return;
    case Op::kSpecial:
    case Op::kClock: set(lane, inst.results[0], {special(lane, inst), 0}); return;
    case Op::kSymbolAddress: {
      const ir::Symbol& symbol = program_.symbols[inst.imm];
      std::uint64_t address = symbol.offset;
      if (symbol.kind == ir::Symbol::Kind::kFunction) {
        address = (symbol.offset + 1) * kFunctionStride;
      } else if (symbol.space == ir::Space::kGlobal || symbol.space == ir::Space::kConst) {
        address = reinterpret_cast<std::uint64_t>(static_cast<void* const*>(launch_->globals)[inst.imm]);
      } else if (symbol.space == ir::Space::kShared && symbol.external) {
        address = dynamic_shared_offset(program_);
      }
      set(lane, inst.results[0], {address, 0});
      return;
    }
    case Op::kLoad:
    case Op::kStore:
    case Op::kAtomicRmw:
    case Op::kAtomicCas:
    case Op::kCopyAsync: access_memory(lane, inst); return;
    case Op::kCvtaToGeneric:
    case Op::kCvtaToSpace:
    case Op::kIsSpace:
    case Op::kLocalAlloc: address_operation(lane, inst); return;
    case Op::kCallRuntime: call_runtime(lane, inst); return;
    case Op::kTexture: {
      std::uint32_t in[16] = {}, out[4] = {};
      for (std::size_t i = 1; i < inst.operands.size() && i <= 16; ++i)
        in[i - 1] = static_cast<std::uint32_t>(value(lane, inst.operands[i]).lo);
      if (!forensic_) {
        static_cast<const exec::RuntimeTable*>(launch_->runtime)
            ->texture(launch_, value(lane, inst.operands[0]).lo, ir::pack_texture_form(program_.textures[inst.imm]), in,
                      out);
      }
      for (std::size_t i = 0; i < inst.results.size(); ++i) set(lane, inst.results[i], {out[i], 0});
      return;
    }
    case Op::kTrap:
      if (forensic_) return fault(lane, inst, ErrorCode::kLaunchFailed, 0);
      static_cast<const exec::RuntimeTable*>(launch_->runtime)
          ->trap(launch_, cta_, thread(lane), static_cast<std::uint32_t>(inst.mods.trap), inst.location.ptx_line);
      stopped_ = true;
      return;
    default: break;
  }
  Bits operands[8], results[8];
  bool known = inst.operands.size() <= 8 && inst.results.size() <= 8;
  if (known) {
    for (std::size_t i = 0; i < inst.operands.size(); ++i) operands[i] = value(lane, inst.operands[i]);
    known = evaluate(inst, operands, results);
  }
  if (!known) {
    if (forensic_) return fault(lane, inst, ErrorCode::kNotSupported, 0);
    static_cast<const exec::RuntimeTable*>(launch_->runtime)
        ->trap(launch_, cta_, thread(lane), static_cast<std::uint32_t>(ir::TrapKind::kUnsupported),
               inst.location.ptx_line);
    stopped_ = true;
    return;
  }
  for (std::size_t i = 0; i < inst.results.size(); ++i) set(lane, inst.results[i], results[i]);
}

void Warp::call_runtime(std::uint32_t lane, const ir::Inst& inst) {
  const auto* runtime = static_cast<const exec::RuntimeTable*>(launch_->runtime);
  const auto operand = [&](std::size_t i) { return value(lane, inst.operands[i]).lo; };
  const auto pointer = [&](std::size_t i) { return reinterpret_cast<const char*>(operand(i)); };
  switch (inst.mods.runtime) {
    case ir::RuntimeCall::kVprintf: {
      const std::int32_t printed =
          forensic_ ? 0 : runtime->vprintf(launch_, cta_, thread(lane), pointer(0), pointer(1));
      if (!inst.results.empty()) set(lane, inst.results[0], {static_cast<std::uint32_t>(printed), 0});
      return;
    }
    case ir::RuntimeCall::kAssertFail:
      if (forensic_) return fault(lane, inst, ErrorCode::kAssert, 0);
      runtime->assert_fail(launch_, cta_, thread(lane), pointer(0), pointer(1), static_cast<std::uint32_t>(operand(2)),
                           pointer(3));
      stopped_ = true;
      return;
    case ir::RuntimeCall::kMalloc: {
      std::uint64_t address = 0;
      if (!forensic_) {
        address = reinterpret_cast<std::uint64_t>(runtime->malloc(launch_, cta_, operand(0)));
      } else if (operand(0) <= 64u << 20) {
        forensic_->heap.push_back(std::make_unique<std::byte[]>(operand(0) + 1));
        address = reinterpret_cast<std::uint64_t>(forensic_->heap.back().get());
        forensic_->heap_ranges.push_back({address, address + operand(0)});
      }
      set(lane, inst.results[0], {address, 0});
      return;
    }
    case ir::RuntimeCall::kFree:
      if (!forensic_) runtime->free(launch_, cta_, reinterpret_cast<void*>(operand(0)));
      return;
  }
}

}  // namespace heddle::interp
