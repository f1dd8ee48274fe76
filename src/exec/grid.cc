#include "exec/grid.h"

#include <algorithm>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace heddle::exec {

std::byte* Grid::param_storage(std::size_t bytes) {
  if (bytes <= sizeof params_) return params_;
  large_params_.resize(bytes + 16);
  auto* p = large_params_.data();
  return p + (-reinterpret_cast<std::uintptr_t>(p) & 15);
}

void Grid::reset() {
  code.reset();
  owner = {};
  observer = nullptr;
  tag = nullptr;
  next.store(0, std::memory_order_relaxed);
  finished.store(0, std::memory_order_relaxed);
  complete.store(0, std::memory_order_relaxed);
  faulted.store(false, std::memory_order_relaxed);
  range = nullptr;
  cooperative = false;
  launch.grid_workspace = nullptr;
}

void Grid::count_finished(std::uint64_t n) {
  if (n == 0 || finished.fetch_add(n, std::memory_order_acq_rel) + n != ctas) return;
  complete.store(1, std::memory_order_release);
  complete.notify_all();
}

void Grid::wait_complete() {
  // The last chunk usually ends within microseconds of ours; a sleep would cost more.
  for (int spin = 0; spin < 2000; ++spin) {
    if (complete.load(std::memory_order_acquire)) return;
#if defined(__x86_64__)
    _mm_pause();
#endif
  }
  while (!complete.load(std::memory_order_acquire)) complete.wait(0, std::memory_order_acquire);
}

namespace {

struct GridPool {
  std::vector<std::unique_ptr<Grid>> free;
};
GridPool& pool() {
  static thread_local GridPool pool;
  return pool;
}

}  // namespace

Grid* take_grid() {
  auto& free = pool().free;
  if (free.empty()) return new Grid;
  Grid* grid = free.back().release();
  free.pop_back();
  return grid;
}

void give_grid(Grid* grid) {
  grid->reset();
  auto& free = pool().free;
  if (free.size() < 16) {
    free.emplace_back(grid);
  } else {
    delete grid;
  }
}

}  // namespace heddle::exec
