#include "exec/cta.h"

#include <sched.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/log.h"

namespace heddle::exec {
namespace {

constexpr std::size_t round_up(std::size_t value, std::size_t to) { return (value + to - 1) / to * to; }

// A warp's status field while exec owns it: what the engine returned, with "may run" for a warp that is new, has
// yielded, or whose barrier is complete.
constexpr std::uint32_t kRunnable = kWarpYield;
constexpr std::size_t kMaxInFlightBytes = 256u << 20;

struct Layout {
  std::size_t warps = 0, shared = 0, local = 0, frames = 0, total = 0;
};

Layout layout_of(const Grid& grid) {
  const LaunchContext& launch = grid.launch;
  Layout l;
  std::size_t at = round_up(launch.warps * sizeof(WarpState), 64);
  l.shared = at = round_up(at, std::max<std::size_t>(grid.shared_align, 128));
  at += round_up(launch.total_shared, 64);
  l.local = at = round_up(at, 64);
  at += static_cast<std::size_t>(launch.local_bytes) * launch.warps * 32;
  l.frames = at = round_up(at, 64);
  at += static_cast<std::size_t>(launch.frame_bytes) * launch.warps;
  // Vector code may read a whole vector at the end of an array.
  l.total = at + 256;
  return l;
}

void place(CtaSlot& slot, const Grid& grid) {
  const Layout l = layout_of(grid);
  const std::size_t alignment = std::max<std::size_t>(grid.shared_align, 128);
  if (slot.capacity < l.total + alignment) {
    slot.capacity = round_up(l.total + alignment, 4096);
    slot.memory.reset(new std::byte[slot.capacity]);
  }
  const auto base = round_up(reinterpret_cast<std::uintptr_t>(slot.memory.get()), alignment);
  slot.cta.warps = reinterpret_cast<void*>(base);
  slot.cta.shared = reinterpret_cast<void*>(base + l.shared);
  slot.cta.local = reinterpret_cast<void*>(base + l.local);
  slot.cta.frames = reinterpret_cast<void*>(base + l.frames);
}

void set_position(CtaContext& cta, const LaunchContext& launch, std::uint64_t linear) {
  cta.linear = linear;
  if (linear < launch.grid_x) {  // no division for one-dimensional grids
    cta.x = static_cast<std::uint32_t>(linear);
    cta.y = cta.z = 0;
    return;
  }
  cta.x = static_cast<std::uint32_t>(linear % launch.grid_x);
  const std::uint64_t rest = linear / launch.grid_x;
  cta.y = static_cast<std::uint32_t>(rest % launch.grid_y);
  cta.z = static_cast<std::uint32_t>(rest / launch.grid_y);
}

std::uint32_t threads_of_warp(const LaunchContext& launch, std::uint32_t warp) {
  return std::min(32u, launch.threads - warp * 32);
}

// Completes barrier `id` for all warps that wait at it.
void release_barrier(const LaunchContext& launch, CtaSlot& slot, std::uint32_t id) {
  auto* const warps = static_cast<WarpState*>(slot.cta.warps);
  std::uint32_t trues = 0, lanes = 0;
  for (std::uint32_t w = 0; w < launch.warps; ++w) {
    if (warps[w].status != kWarpBarrier || warps[w].barrier_id != id) continue;
    trues += warps[w].reduce_value;
    lanes += static_cast<std::uint32_t>(std::popcount(warps[w].arrived));
  }
  for (std::uint32_t w = 0; w < launch.warps; ++w) {
    WarpState& state = warps[w];
    if (state.status != kWarpBarrier || state.barrier_id != id) continue;
    switch (state.reduce_op) {
      case 1: state.reduce_value = trues; break;
      case 2: state.reduce_value = trues == lanes; break;
      case 3: state.reduce_value = trues != 0; break;
      default: break;
    }
    state.status = kRunnable;
  }
  slot.arrived_threads[id & 15] = 0;
}

// Completes every barrier that can complete; true if one did. Threads that have ended count as arrived, in whole warps
// (the PTX manual counts a barrier's threads in multiples of the warp size).
bool resolve_barriers(const LaunchContext& launch, CtaSlot& slot) {
  auto* const warps = static_cast<WarpState*>(slot.cta.warps);
  std::uint32_t waiting[16] = {}, needed[16] = {};
  std::uint32_t ended = 0, ids = 0;
  bool all_blocked = true;
  for (std::uint32_t w = 0; w < launch.warps; ++w) {
    const WarpState& state = warps[w];
    if (state.status == kWarpDone) {
      ++ended;
    } else if (state.status == kWarpBarrier) {
      const std::uint32_t id = state.barrier_id & 15;
      ids |= 1u << id;
      ++waiting[id];
      needed[id] = state.barrier_threads;
    } else {
      all_blocked = false;
    }
  }
  bool released = false;
  for (std::uint32_t id = 0; ids != 0; ++id, ids >>= 1) {
    if (!(ids & 1)) continue;
    const std::uint32_t arrived_warps = waiting[id] + slot.arrived_threads[id] / 32;
    const std::uint32_t needed_warps = needed[id] ? (needed[id] + 31) / 32 : launch.warps;
    // A barrier for all threads waits for those that live. One with a count counts arrivals; warps that have ended are
    // counted in only when nobody is left who could arrive.
    const bool counts_ended = needed[id] == 0 || needed_warps >= launch.warps || all_blocked;
    if (arrived_warps + (counts_ended ? ended : 0) >= needed_warps) {
      release_barrier(launch, slot, id);
      released = true;
    }
  }
  return released;
}

enum class CtaResult { kDone, kYielded };

// Runs the CTA's warps in turn until all have ended, or none can do more than spin.
CtaResult run_cta(const Grid& grid, CtaSlot& slot) {
  const LaunchContext& launch = grid.launch;
  const WarpFunction function = grid.warp;
  auto* const warps = static_cast<WarpState*>(slot.cta.warps);
  const std::uint32_t count = launch.warps;
  for (;;) {
    std::uint32_t live = 0, blocked = 0, yielded = 0, ended = 0;
    std::uint32_t odd = 0;  // anything but "all at one barrier for all threads, without a reduction"
    std::uint32_t first_id = ~0u;
    for (std::uint32_t w = 0; w < count; ++w) {
      WarpState& state = warps[w];
      if (state.status == kWarpDone) continue;
      ++live;
      if (state.status == kWarpBarrier) {
        odd = 1;
        ++blocked;
        continue;
      }
      slot.cta.current_warp = w;
      const std::uint32_t status = function(&launch, &slot.cta, w);
      state.status = status;
      if (status == kWarpBarrier) {
        if (first_id == ~0u) first_id = state.barrier_id;
        odd |= (state.barrier_id ^ first_id) | state.barrier_threads | state.reduce_op;
        ++blocked;
      } else if (status == kWarpDone) {
        ++ended;
      } else {
        ++yielded;
      }
    }
    if (live == ended) return CtaResult::kDone;
    if (blocked + ended == live && odd == 0 && !slot.any_arrived) {
      // The common case: every live warp waits at the same barrier.
      for (std::uint32_t w = 0; w < count; ++w)
        if (warps[w].status == kWarpBarrier) warps[w].status = kRunnable;
      continue;
    }
    const bool released = blocked != 0 && resolve_barriers(launch, slot);
    if (released || ended != 0) continue;
    if (yielded != 0) return CtaResult::kYielded;
    // Every live warp waits at a barrier that nobody is left to complete.
    Fault fault;
    fault.code = ErrorCode::kLaunchFailed;
    fault.what = "barrier that can never complete: the other threads of the block wait elsewhere";
    raise_fault(&slot.cta, fault);
  }
}

}  // namespace

void arrive_at_barrier(CtaContext* cta, std::uint32_t id, std::uint32_t threads, std::uint32_t lanes) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"  // no bases, no virtual functions: both compilers give the offset
  static_assert(offsetof(CtaSlot, cta) == 0);
#pragma GCC diagnostic pop
  auto* const slot = reinterpret_cast<CtaSlot*>(cta);
  (void)lanes;  // an arriving warp counts as a whole
  std::uint32_t& arrived = slot->arrived_threads[id & 15];
  arrived += 32;
  slot->any_arrived = true;
  if (threads == 0 || arrived < threads) return;
  // A barrier that sees only arrivals completes too, for nobody; else it completes when its warps are looked at next.
  const auto* const launch = slot->launch;
  const auto* const warps = static_cast<const WarpState*>(cta->warps);
  for (std::uint32_t w = 0; launch && w < launch->warps; ++w)
    if (warps[w].status == kWarpBarrier && warps[w].barrier_id == id) return;
  arrived -= threads;
}

bool CtaRunner::claim(Grid& grid) {
  if (grid.next.load(std::memory_order_relaxed) >= grid.ctas) return false;
  const std::uint64_t first = grid.next.fetch_add(grid.chunk, std::memory_order_relaxed);
  if (first >= grid.ctas) return false;
  begin_ = first;
  end_ = std::min(first + grid.chunk, grid.ctas);
  claimed_ += end_ - begin_;
  return true;
}

void CtaRunner::drive_ranges(Grid& grid) {
  while (!grid.faulted.load(std::memory_order_relaxed) && claim(grid)) {
    grid.range(&grid.launch, &range_slot_->cta, begin_, end_ - begin_);
    begin_ = end_;
  }
}

CtaSlot* CtaRunner::start_cta(Grid& grid, std::uint64_t linear) {
  if (free_.empty()) free_.push_back(std::make_unique<CtaSlot>());
  std::unique_ptr<CtaSlot> slot = std::move(free_.back());
  free_.pop_back();
  place(*slot, grid);
  slot->launch = &grid.launch;
  set_position(slot->cta, grid.launch, linear);
  auto* const warps = static_cast<WarpState*>(slot->cta.warps);
  for (std::uint32_t w = 0; w < grid.launch.warps; ++w) {
    warps[w] = {};
    warps[w].status = kRunnable;
    const std::uint32_t threads = threads_of_warp(grid.launch, w);
    warps[w].live = threads == 32 ? ~0u : (1u << threads) - 1;
  }
  if (slot->any_arrived) {
    std::memset(slot->arrived_threads, 0, sizeof slot->arrived_threads);
    slot->any_arrived = false;
  }
  in_flight_.push_back(std::move(slot));
  return in_flight_.back().get();
}

void CtaRunner::drive_warps(Grid& grid, std::chrono::nanoseconds patience, bool* suspended) {
  const std::size_t per_cta = layout_of(grid).total;
  // A cooperative grid waits for all its blocks, so all of them are in flight whatever that takes.
  const std::size_t limit =
      grid.cooperative ? ~std::size_t{0} : std::clamp<std::size_t>(kMaxInFlightBytes / per_cta, 16, kMaxInFlight);
  int idle_rounds = 0;
  auto idle_since = std::chrono::steady_clock::time_point();
  while (!grid.faulted.load(std::memory_order_relaxed)) {
    bool moved = false;
    // CTAs that gave their turn up go first, the oldest before the others: later blocks may wait for earlier ones.
    for (std::size_t i = 0; i < in_flight_.size();) {
      current_ = in_flight_[i].get();
      t_region->cta = &current_->cta;
      if (run_cta(grid, *current_) == CtaResult::kDone) {
        free_.push_back(std::move(in_flight_[i]));
        in_flight_.erase(in_flight_.begin() + static_cast<std::ptrdiff_t>(i));
        moved = true;
      } else {
        ++i;
      }
    }
    if (in_flight_.size() < limit && (begin_ < end_ || claim(grid))) {
      start_cta(grid, begin_++);
      moved = true;
      idle_rounds = 0;
      continue;
    }
    if (in_flight_.empty()) return;
    if (moved) {
      idle_rounds = 0;
      continue;
    }
    // Everything here waits for another thread: leave it the core.
    if (++idle_rounds == 1) idle_since = std::chrono::steady_clock::now();
    if (idle_rounds > 4) ::sched_yield();
    if (patience != std::chrono::nanoseconds::max() && std::chrono::steady_clock::now() - idle_since > patience) {
      *suspended = true;
      return;
    }
  }
}

CtaRunner::Outcome CtaRunner::drive(Grid& grid, std::chrono::nanoseconds patience) {
  GuardedRegion region;
  bool suspended = false;
  bool clean;
  if (grid.range) {
    if (!range_slot_) range_slot_ = std::make_unique<CtaSlot>();
    place(*range_slot_, grid);
    region.cta = &range_slot_->cta;
    clean = run_guarded(region, [&] { drive_ranges(grid); });
  } else {
    region.cta = nullptr;
    clean = run_guarded(region, [&] { drive_warps(grid, patience, &suspended); });
  }
  if (clean && suspended) return Outcome::kSuspended;
  if (!clean && !grid.faulted.exchange(true, std::memory_order_acq_rel)) grid.fault = region.fault;
  if (grid.faulted.load(std::memory_order_acquire)) {
    // The rest of the grid is abandoned: nobody else gets a CTA, and what would have run counts as finished.
    const std::uint64_t next = grid.next.exchange(grid.ctas, std::memory_order_acq_rel);
    if (next < grid.ctas) claimed_ += grid.ctas - next;
    for (auto& slot : in_flight_) free_.push_back(std::move(slot));
    in_flight_.clear();
  }
  begin_ = end_ = 0;
  while (free_.size() > 4) free_.pop_back();
  const std::uint64_t n = claimed_;
  claimed_ = 0;
  grid.count_finished(n);
  return Outcome::kExhausted;
}

}  // namespace heddle::exec
