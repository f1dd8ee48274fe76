// Runs CTAs: warps between barriers, barriers, and CTAs that give their worker up while they spin on memory.
//
// A warp is a resumable function and not a stack, so a CTA in flight is plain memory (CtaSlot) and can go on later, on
// this thread or on another one. Tested by exec/grid_test.cc.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "exec/grid.h"

namespace heddle::exec {

/// One CTA in flight: its context, warps, and memory. Reused from CTA to CTA; shared memory is not cleared, as on GPUs.
struct CtaSlot {
  CtaContext cta = {};
  const LaunchContext* launch = nullptr;
  std::unique_ptr<std::byte[]> memory;
  std::size_t capacity = 0;
  std::uint32_t arrived_threads[16] = {};  ///< bar.arrive, by barrier
  bool any_arrived = false;
};

/// The CTAs that one thread has in flight of one grid. Between grids it keeps only memory.
class CtaRunner {
 public:
  enum class Outcome {
    kExhausted,  ///< nothing is left for this thread to do
    kSuspended,  ///< only with `patience`: all CTAs in flight wait for something; call again, from any thread
  };
  /// Takes CTAs of the grid until none is left. With a patience, gives up when nothing has moved for so long.
  Outcome drive(Grid& grid, std::chrono::nanoseconds patience = std::chrono::nanoseconds::max());

  /// Memory that the CTAs of a grid need at most on one worker, for the tests.
  static constexpr std::size_t kMaxInFlight = 1024;

 private:
  void drive_warps(Grid& grid, std::chrono::nanoseconds patience, bool* suspended);
  void drive_ranges(Grid& grid);
  CtaSlot* start_cta(Grid& grid, std::uint64_t linear);
  bool claim(Grid& grid);

  std::vector<std::unique_ptr<CtaSlot>> free_;
  std::vector<std::unique_ptr<CtaSlot>> in_flight_;
  std::uint64_t begin_ = 0, end_ = 0;  ///< the claimed chunk's rest
  std::uint64_t claimed_ = 0;          ///< CTAs claimed and not yet counted as finished
  std::unique_ptr<CtaSlot> range_slot_;
  CtaSlot* current_ = nullptr;
};

/// bar.arrive from a running kernel.
void arrive_at_barrier(CtaContext* cta, std::uint32_t id, std::uint32_t threads, std::uint32_t lanes);

}  // namespace heddle::exec
