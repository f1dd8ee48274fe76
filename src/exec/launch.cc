#include "exec/launch.h"

#include <algorithm>
#include <chrono>

#include "exec/workers.h"

namespace heddle::exec {
namespace {

// A grid that is expected to take less runs on the caller: waking a thread costs 5 to 100 us.
constexpr std::uint64_t kInlineNanoseconds = 20'000;
// A grid on the caller that has not moved for so long waits for something else, perhaps for the caller.
constexpr std::chrono::microseconds kPatience{50};

std::atomic<std::uint64_t> g_next_grid{1};

std::uint64_t now() {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

void prepare(Grid& grid) {
  LaunchContext& launch = grid.launch;
  launch.threads = launch.block_x * launch.block_y * launch.block_z;
  launch.warps = (launch.threads + 31) / 32;
  grid.ctas = static_cast<std::uint64_t>(launch.grid_x) * launch.grid_y * launch.grid_z;
  launch.runtime = const_cast<RuntimeTable*>(&runtime_table());
  launch.device = &grid;
  launch.grid_id = g_next_grid.fetch_add(1, std::memory_order_relaxed);
  launch.cooperative = grid.cooperative;
  if (grid.cooperative) {
    std::fill(std::begin(grid.grid_barrier), std::end(grid.grid_barrier), 0u);
    launch.grid_workspace = grid.grid_barrier;
  }
}

void note_cost(LaunchCost* cost, const Grid& grid, std::uint64_t nanoseconds, int threads) {
  if (!cost || grid.ctas == 0) return;
  const auto each = nanoseconds * static_cast<std::uint64_t>(threads) / grid.ctas;
  cost->nanoseconds_per_cta.store(static_cast<std::uint32_t>(std::clamp<std::uint64_t>(each, 1, ~0u)),
                                  std::memory_order_relaxed);
}

void run_grid(Grid& grid, LaunchCost* cost) {
  const std::uint64_t begin = now();
  Workers& workers = Workers::instance();
  workers.run(grid);
  note_cost(cost, grid, now() - begin,
            static_cast<int>(std::min<std::uint64_t>(grid.ctas, static_cast<std::uint64_t>(workers.count()))));
}

void end(Grid* grid) {
  if (grid->observer) grid->observer->grid_ended(*grid);
  give_grid(grid);
}

class GridWork final : public Work {
 public:
  GridWork(Grid* grid, LaunchCost* cost) : grid_(grid), cost_(cost) {}
  ~GridWork() override {
    if (grid_) give_grid(grid_);
  }
  void run(Stream&, bool failed) override {
    if (!failed) {
      run_grid(*grid_, cost_);
      end(grid_);
    } else {
      give_grid(grid_);
    }
    grid_ = nullptr;
  }

 private:
  Grid* grid_;
  LaunchCost* cost_;
};

// A grid that began on a caller and goes on here, with the CTAs that it has in flight.
class RestOfGridWork final : public Work {
 public:
  RestOfGridWork(Grid* grid, std::unique_ptr<CtaRunner> runner) : grid_(grid), runner_(std::move(runner)) {}
  void run(Stream&, bool) override {
    Workers::instance().finish(*grid_, *runner_);
    end(grid_);
  }

 private:
  Grid* grid_;
  std::unique_ptr<CtaRunner> runner_;
};

}  // namespace

void run_now(Grid* grid, LaunchCost* cost) {
  prepare(*grid);
  run_grid(*grid, cost);
  end(grid);
}

void launch(Stream& stream, Grid* grid, LaunchCost* cost) {
  prepare(*grid);
  const std::uint64_t each = cost->nanoseconds_per_cta.load(std::memory_order_relaxed);
  // A kernel that waited for others twice will do so again.
  const bool small = each != 0 && grid->ctas * each < kInlineNanoseconds && !grid->cooperative &&
                     cost->suspensions.load(std::memory_order_relaxed) < 2;
  if (!small || !stream.begin_now()) {
    stream.submit(std::make_unique<GridWork>(grid, cost));
    return;
  }
  const std::uint64_t begin = now();
  if (!Workers::instance().run_alone(*grid, this_thread_runner(), kPatience)) {
    cost->suspensions.fetch_add(1, std::memory_order_relaxed);
    stream.end_now(std::make_unique<RestOfGridWork>(grid, detach_runner()));
    return;
  }
  note_cost(cost, *grid, now() - begin, 1);
  end(grid);
  stream.end_now();
}

}  // namespace heddle::exec
