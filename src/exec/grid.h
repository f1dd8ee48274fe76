// A grid: one launch of a kernel, and its progress while workers share its CTAs.
//
// Workers take CTAs in index order from one counter, in chunks; completion counts CTAs. A Grid is reused through a
// per-thread pool, so that a launch allocates nothing. Tested by exec/grid_test.cc.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "base/ref.h"
#include "exec/fault.h"
#include "exec/kernel_abi.h"

namespace heddle::exec {

class Device;
struct Grid;

/// Learns how a grid ended; the driver turns faults into sticky errors. Called once, on the thread that ran the grid.
class GridObserver {
 public:
  virtual ~GridObserver() = default;
  virtual void grid_ended(Grid& grid) = 0;
};

struct Grid {
  // ---- set by who launches
  LaunchContext launch = {};  ///< params may point to param_storage()
  WarpFunction warp = nullptr;
  RangeFunction range = nullptr;
  std::uint64_t ctas = 0;
  std::uint32_t shared_align = 16;
  bool cooperative = false;
  Device* device = nullptr;
  std::shared_ptr<const void> code;  ///< keeps the compiled kernel and its globals alive
  Ref<RefCounted> owner;             ///< keeps the kernel alive that `observer` is, or belongs to
  GridObserver* observer = nullptr;
  const void* tag = nullptr;  ///< the observer's own

  // ---- progress
  alignas(64) std::atomic<std::uint64_t> next{0};
  std::uint64_t chunk = 1;
  alignas(64) std::atomic<std::uint64_t> finished{0};
  std::atomic<std::uint32_t> complete{0};  ///< 1 when finished == ctas; futex word
  std::atomic<bool> faulted{false};
  std::atomic<int> references{0};       ///< workers that may still look at it
  Fault fault;                          ///< written once, by who set `faulted`
  std::uint32_t grid_barrier[16] = {};  ///< LaunchContext::grid_workspace

  /// Room for `bytes` of parameters, aligned to 16, for as long as the grid.
  std::byte* param_storage(std::size_t bytes);
  /// Ready for another launch: everything above as it was made.
  void reset();
  /// Counts CTAs as finished; the last one wakes who waits.
  void count_finished(std::uint64_t n);
  void wait_complete();

 private:
  alignas(16) std::byte params_[4096];
  std::vector<std::byte> large_params_;
};

/// A clean grid from this thread's pool, and back to it.
Grid* take_grid();
void give_grid(Grid* grid);

}  // namespace heddle::exec
