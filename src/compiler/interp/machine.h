// One warp on the interpreter: 32 lanes that each have their own program counter and call stack.
//
// Scheduling: the lanes at one place (function, block, instruction) run as a group, a block at a time. Of several
// groups the one deepest in calls goes first, then the one that is earliest in an order of the blocks in which loops
// are contiguous (layout.h): that is behind all others in every structured program, so lanes meet again as early as
// they can. So that lanes can also wait for each other through memory, a group that yields, or goes round loops for
// long while others could run, is passed over until all have done so.
//
// A warp operation with a membermask waits until the lanes that it names have arrived, unless nothing else can run.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "compiler/interp/evaluate.h"
#include "compiler/interp/interp.h"
#include "compiler/ir/ir.h"
#include "exec/kernel_abi.h"

namespace heddle::interp {

/// Position of each block in the scheduling order, by function.
using Layout = std::unordered_map<const ir::Function*, std::vector<std::uint32_t>>;
Layout compute_layout(const ir::Program& program);
/// A weak topological order (Bourdoncle): every cycle's blocks are together, its first block first.
std::vector<std::uint32_t> compute_block_order(const ir::Function& function);

/// A run that only looks for a fault: accesses are checked, and global memory is not written.
struct Forensic {
  AccessCheck check = nullptr;
  void* user = nullptr;
  std::chrono::steady_clock::time_point deadline;
  std::uint32_t steps = 0;
  std::unordered_map<std::uint64_t, std::uint8_t> written;  ///< bytes that the CTA has written to global memory
  std::vector<std::unique_ptr<std::byte[]>> heap;           ///< what it has allocated
  std::vector<std::pair<std::uint64_t, std::uint64_t>> heap_ranges;
  bool found = false, exhausted = false;
  FaultReport report;

  /// Counts a step; true when time or memory (some 200 MB of `written`) is used up.
  bool is_exhausted() {
    if (++steps % 256 == 0)
      exhausted = exhausted || written.size() > 4'000'000 || std::chrono::steady_clock::now() > deadline;
    return exhausted;
  }
};

class Warp {
 public:
  Warp(const ir::Program& program, const Layout& layout, const exec::LaunchContext* launch, exec::CtaContext* cta,
       std::uint32_t warp, Forensic* forensic = nullptr);

  /// Runs until the warp ends or must wait (exec::WarpStatus). `launch` and `cta` as given to this call.
  std::uint32_t run(const exec::LaunchContext* launch, exec::CtaContext* cta);

 private:
  struct Frame {
    const ir::Function* function = nullptr;
    const std::vector<std::uint32_t>* order = nullptr;
    ir::BlockId block = 0;
    std::uint32_t index = 0;
    std::uint64_t local_top = 0;  ///< bytes of local memory in use when the call began
    std::vector<Bits> values;
    const ir::Inst* call = nullptr;  ///< in the caller: what gets the results
  };
  enum class State : std::uint8_t { kRunning, kAtWarpOp, kAtBarrier, kEnded };
  struct Lane {
    State state = State::kRunning;
    bool yielded = false;
    std::uint64_t local_top = 0;
    std::vector<Frame> frames;
    const ir::Inst* barrier = nullptr;
    bool barrier_pred = false;
  };
  using Mask = std::uint32_t;

  // machine.cc: scheduling and control flow
  template <class Accept>
  Mask pick_group(Accept&& accept) const;
  bool same_place(const Lane& a, const Lane& b) const;
  bool is_before(const Lane& a, const Lane& b) const;
  std::uint32_t suspend_at_barrier();
  void release_barrier();
  void run_group(Mask group, bool force);
  /// False when the group stopped (terminator, call, wait, end).
  bool step(Mask group, const ir::Inst& inst, bool force);
  void branch(Mask group, const ir::Inst& inst);
  void jump(Lane& lane, const ir::Target& target);
  void enter(Lane& lane, const ir::Function& function, const std::vector<Bits>& arguments, const ir::Inst* call);
  void leave(Lane& lane, const ir::Inst& inst);
  void call(Mask group, const ir::Inst& inst);
  void call_runtime(std::uint32_t lane, const ir::Inst& inst);
  void evaluate_lane(std::uint32_t lane, const ir::Inst& inst);
  std::uint64_t special(std::uint32_t lane, const ir::Inst& inst) const;
  Mask lanes_in(State state) const;

  // memory.cc
  std::uint64_t plain_address(std::uint32_t lane, ir::Space space, std::uint64_t address) const;
  bool may_access(std::uint32_t lane, const ir::Inst& inst, std::uint64_t address, std::uint32_t bytes, bool is_write);
  void read(std::uint64_t address, void* to, std::uint32_t bytes);
  void write(std::uint64_t address, const void* from, std::uint32_t bytes);
  void access_memory(std::uint32_t lane, const ir::Inst& inst);
  void atomic(std::uint32_t lane, const ir::Inst& inst, std::uint64_t address);
  void address_operation(std::uint32_t lane, const ir::Inst& inst);
  void fault(std::uint32_t lane, const ir::Inst& inst, ErrorCode code, std::uint64_t address, std::uint32_t bytes = 0,
             bool is_write = false);

  // warp_ops.cc
  bool warp_operation(Mask group, const ir::Inst& inst, bool force);
  void exchange(Mask members, const ir::Inst& inst);

  const Bits& value(std::uint32_t lane, ir::ValueId id) const { return lanes_[lane].frames.back().values[id]; }
  void set(std::uint32_t lane, ir::ValueId id, Bits bits);
  std::uint32_t thread(std::uint32_t lane) const { return warp_ * 32 + lane; }

  const ir::Program& program_;
  const Layout& layout_;
  const exec::LaunchContext* launch_;
  exec::CtaContext* cta_;
  std::uint32_t warp_;
  Forensic* forensic_;
  bool stopped_ = false;      ///< a fault whose reporter came back: nothing runs any more
  bool suspended_ = false;    ///< at the barrier that WarpState describes
  std::uint32_t rounds_ = 0;  ///< backward branches since others had a turn
  Lane lanes_[32];
};

}  // namespace heddle::interp
