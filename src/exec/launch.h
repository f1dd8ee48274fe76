// Launches: puts a grid into a stream, or runs it at once on the calling thread. Tested by exec/stream_test.cc.
#pragma once

#include <atomic>
#include <cstdint>

#include "exec/grid.h"
#include "exec/stream.h"

namespace heddle::exec {

/// What past launches of one compiled kernel took; decides whether the next small one runs on the caller.
struct LaunchCost {
  std::atomic<std::uint32_t> nanoseconds_per_cta{0};  ///< of one worker; 0: not known yet
  std::atomic<std::uint32_t> suspensions{0};          ///< times it had to be taken off the caller
};

/// Fills launch's derived fields (threads, warps, runtime, device, grid_id) and runs or queues the grid. Takes the grid
/// and gives it back to the pool at its end. `cost` must live as long as grid->owner or grid->code.
void launch(Stream& stream, Grid* grid, LaunchCost* cost);

/// The same on the calling thread, which already drives the stream: the nodes of a graph.
void run_now(Grid* grid, LaunchCost* cost);

/// The services of generated code, see RuntimeTable.
const RuntimeTable& runtime_table();

}  // namespace heddle::exec
