// Grids run by hand-written warp functions: each is what an engine would produce for a small kernel.
#include "exec/grid.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "exec/launch.h"
#include "exec/workers.h"

namespace heddle::exec {
namespace {

struct Launched {
  Grid* grid = take_grid();
  ~Launched() { give_grid(grid); }
};

Grid& shape(Launched& l, unsigned blocks, unsigned threads, WarpFunction warp, void* params) {
  Grid& grid = *l.grid;
  grid.launch.grid_x = blocks;
  grid.launch.grid_y = grid.launch.grid_z = grid.launch.block_y = grid.launch.block_z = 1;
  grid.launch.block_x = threads;
  grid.launch.threads = threads;
  grid.launch.warps = (threads + 31) / 32;
  grid.launch.total_shared = 256;
  grid.launch.local_bytes = 0;
  grid.launch.frame_bytes = 0;
  grid.launch.runtime = const_cast<RuntimeTable*>(&runtime_table());
  grid.launch.device = &grid;
  grid.launch.params = params;
  grid.ctas = blocks;
  grid.warp = warp;
  return grid;
}
WarpState& state_of(CtaContext* cta, std::uint32_t warp) { return static_cast<WarpState*>(cta->warps)[warp]; }
const RuntimeTable& table_of(const LaunchContext* launch) { return *static_cast<const RuntimeTable*>(launch->runtime); }

TEST(Grid, runs_every_warp_of_every_block_once) {
  std::vector<std::atomic<int>> counts(1000 * 3);
  Launched l;
  Grid& grid = shape(
      l, 1000, 96,
      [](const LaunchContext* launch, CtaContext* cta, std::uint32_t warp) -> std::uint32_t {
        static_cast<std::atomic<int>*>(launch->params)[cta->linear * 3 + warp]++;
        return kWarpDone;
      },
      counts.data());
  Workers::instance().run(grid);
  for (auto& count : counts) EXPECT_EQ(count, 1);
  EXPECT_FALSE(grid.faulted);
}

TEST(Grid, barrier_separates_phases_and_reduces) {
  // Warp w adds its number before the barrier, all read the sum behind it; the barrier's popc counts true lanes.
  struct Result {
    std::uint32_t sum[4], popc[4];
  };
  std::vector<Result> results(64);
  Launched l;
  Grid& grid = shape(
      l, 64, 128,
      [](const LaunchContext* launch, CtaContext* cta, std::uint32_t warp) -> std::uint32_t {
        auto* shared = static_cast<std::uint32_t*>(cta->shared);
        WarpState& state = state_of(cta, warp);
        Result& result = static_cast<Result*>(launch->params)[cta->linear];
        const auto wait = [&](std::uint32_t pc, std::uint32_t op, std::uint32_t value) {
          state.pc = pc;
          state.barrier_id = 0;
          state.barrier_threads = 0;
          state.arrived = ~0u;
          state.reduce_op = op;
          state.reduce_value = value;
          return static_cast<std::uint32_t>(kWarpBarrier);
        };
        switch (state.pc) {
          case 0:
            if (warp == 0) shared[0] = 0;
            return wait(1, 0, 0);
          case 1: shared[0] += warp; return wait(2, 1, warp * 2);
          default:
            result.sum[warp] = shared[0];
            result.popc[warp] = state.reduce_value;
            return kWarpDone;
        }
      },
      results.data());
  Workers::instance().run(grid);
  for (const Result& result : results)
    for (int w = 0; w < 4; ++w) {
      EXPECT_EQ(result.sum[w], 6u);
      EXPECT_EQ(result.popc[w], 12u);
    }
}

TEST(Grid, threads_that_ended_count_as_arrived) {
  std::atomic<int> after{0};
  Launched l;
  Grid& grid = shape(
      l, 8, 96,
      [](const LaunchContext* launch, CtaContext* cta, std::uint32_t warp) -> std::uint32_t {
        WarpState& state = state_of(cta, warp);
        if (warp == 1) return kWarpDone;
        if (state.pc == 1) {
          ++*static_cast<std::atomic<int>*>(launch->params);
          return kWarpDone;
        }
        state.pc = 1;
        state.barrier_id = state.barrier_threads = state.reduce_op = 0;
        state.arrived = ~0u;
        return kWarpBarrier;
      },
      &after);
  Workers::instance().run(grid);
  EXPECT_EQ(after, 16);
}

TEST(Grid, barrier_that_can_never_complete_is_a_fault) {
  Launched l;
  Grid& grid = shape(
      l, 4, 64,
      [](const LaunchContext*, CtaContext* cta, std::uint32_t warp) -> std::uint32_t {
        WarpState& state = state_of(cta, warp);
        state.barrier_id = warp;  // each warp waits for the other at a barrier of its own
        state.barrier_threads = 64;
        state.reduce_op = 0;
        state.arrived = ~0u;
        return kWarpBarrier;
      },
      nullptr);
  Workers::instance().run(grid);
  ASSERT_TRUE(grid.faulted);
  EXPECT_EQ(grid.fault.code, ErrorCode::kLaunchFailed);
}

TEST(Grid, producer_arrives_and_consumer_waits) {
  std::atomic<int> seen{0};
  Launched l;
  Grid& grid = shape(
      l, 16, 64,
      [](const LaunchContext* launch, CtaContext* cta, std::uint32_t warp) -> std::uint32_t {
        WarpState& state = state_of(cta, warp);
        auto* shared = static_cast<std::uint32_t*>(cta->shared);
        if (warp == 1) {
          shared[0] = 42;
          table_of(launch).barrier_arrive(launch, cta, 3, 64, ~0u);
          return kWarpDone;
        }
        if (state.pc == 0) {
          shared[0] = 0;
          state.pc = 1;
          state.barrier_id = 3;
          state.barrier_threads = 64;
          state.reduce_op = 0;
          state.arrived = ~0u;
          return kWarpBarrier;
        }
        *static_cast<std::atomic<int>*>(launch->params) += static_cast<int>(shared[0]);
        return kWarpDone;
      },
      &seen);
  Workers::instance().run(grid);
  EXPECT_EQ(seen, 16 * 42);
}

TEST(Grid, blocks_that_spin_give_their_worker_up) {
  // Each block waits for the one before it (decoupled look-back), and block 0 for the last one: only a cooperative
  // launch may do the second.
  struct State {
    std::atomic<std::uint32_t> started{0}, passed{0};
  };
  State shared_state;
  Launched l;
  Grid& grid = shape(
      l, 500, 32,
      [](const LaunchContext* launch, CtaContext* cta, std::uint32_t warp) -> std::uint32_t {
        auto* state = static_cast<State*>(launch->params);
        WarpState& mine = state_of(cta, warp);
        if (mine.pc == 0) {
          mine.pc = 1;
          state->started++;
        }
        if (state->started.load() < launch->grid_x) return kWarpYield;  // the grid barrier
        if (state->passed.load() != cta->linear) return kWarpYield;     // in index order
        state->passed++;
        return kWarpDone;
      },
      &shared_state);
  grid.cooperative = true;
  Workers::instance().run(grid);
  EXPECT_EQ(shared_state.passed, 500u);
}

TEST(Grid, fault_ends_the_grid_and_says_where) {
  Launched l;
  Grid& grid = shape(
      l, 100, 64,
      [](const LaunchContext*, CtaContext* cta, std::uint32_t warp) -> std::uint32_t {
        if (cta->linear == 7 && warp == 1) *reinterpret_cast<volatile int*>(0x1234000) = 1;
        return kWarpDone;
      },
      nullptr);
  Workers::instance().run(grid);
  ASSERT_TRUE(grid.faulted);
  EXPECT_EQ(grid.fault.code, ErrorCode::kIllegalAddress);
  EXPECT_EQ(grid.fault.address, 0x1234000u);
  EXPECT_EQ(grid.fault.block[0], 7u);
  EXPECT_EQ(grid.fault.warp, 1u);
}

TEST(Grid, stack_overflow_trap_and_assert_are_faults) {
  const WarpFunction kernels[] = {[](const LaunchContext*, CtaContext*, std::uint32_t) -> std::uint32_t {
                                    struct Deep {
                                      static int down(volatile char* outer, int n) {
                                        volatile char frame[4096];
                                        frame[0] = *outer;
                                        return n == 0 ? 0 : down(frame, n - 1) + frame[0];
                                      }
                                    };
                                    volatile char c = 1;
                                    return Deep::down(&c, 1 << 20) ? kWarpDone : kWarpDone;
                                  },
                                  [](const LaunchContext* launch, CtaContext* cta, std::uint32_t) -> std::uint32_t {
                                    table_of(launch).trap(launch, cta, 5, 0, 12);
                                    return kWarpDone;
                                  },
                                  [](const LaunchContext* launch, CtaContext* cta, std::uint32_t) -> std::uint32_t {
                                    table_of(launch).assert_fail(launch, cta, 5, "x > 0", "a.cu", 3, "f");
                                    return kWarpDone;
                                  }};
  const ErrorCode codes[] = {ErrorCode::kHardwareStackError, ErrorCode::kLaunchFailed, ErrorCode::kAssert};
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  constexpr int kFirst = 1;  // the sanitizers' own stacks end first
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
  constexpr int kFirst = 1;
#else
  constexpr int kFirst = 0;
#endif
#else
  constexpr int kFirst = 0;
#endif
  for (int i = kFirst; i < 3; ++i) {
    Launched l;
    Grid& grid = shape(l, 2, 32, kernels[i], nullptr);
    Workers::instance().run(grid);
    ASSERT_TRUE(grid.faulted);
    EXPECT_EQ(grid.fault.code, codes[i]) << i;
    if (i == 1) {
      EXPECT_EQ(grid.fault.ptx_line, 12u);
    }
    if (i != 0) {
      EXPECT_EQ(grid.fault.thread, 5u);
    }
  }
}

}  // namespace
}  // namespace heddle::exec
