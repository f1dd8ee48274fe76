#include "exec/workers.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <thread>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/log.h"
#include "base/options.h"

namespace heddle::exec {
namespace {

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return std::max(CPU_COUNT(&set), 1);
}

std::unique_ptr<CtaRunner>& runner_slot() {
  static thread_local std::unique_ptr<CtaRunner> runner;
  return runner;
}

std::uint64_t chunk_for(const Grid& grid, int workers) {
  if (grid.cooperative) return 1;
  const std::uint64_t shares = static_cast<std::uint64_t>(workers) * (grid.range ? 8 : 16);
  return std::clamp<std::uint64_t>(grid.ctas / shares, 1, grid.range ? 4096 : 16);
}

}  // namespace

CtaRunner& this_thread_runner() {
  auto& slot = runner_slot();
  if (!slot) slot = std::make_unique<CtaRunner>();
  return *slot;
}
std::unique_ptr<CtaRunner> detach_runner() { return std::move(runner_slot()); }

Workers& Workers::instance() {
  // Leaked: a program may end while workers run.
  static Workers* const kWorkers = new Workers;
  return *kWorkers;
}

Workers::Workers() : count_(usable_cores()) {
  if (const auto asked = parse_bytes(options().workers, 0)) count_ = static_cast<int>(std::min(asked, 1024ull));
  install_fault_handler();
}

void Workers::start_threads() {
  if (started_) return;
  started_ = true;
  for (int i = 1; i < count_; ++i) {
    try {
      std::thread([this] { worker_main(); }).detach();
    } catch (const std::system_error& error) {
      LOG_WARNING("only %d of %d workers could be started: %s", i, count_, error.what());
      return;
    }
  }
}

void Workers::worker_main() {
  ::pthread_setname_np(::pthread_self(), "heddle-worker");
  prepare_thread_for_faults();
  CtaRunner& runner = this_thread_runner();
  for (;;) {
    Grid* grid = nullptr;
    {
      MutexLock lock(mutex_);
      for (;;) {
        for (Grid* offer : offers_)
          if (offer->next.load(std::memory_order_relaxed) < offer->ctas) {
            grid = offer;
            break;
          }
        if (grid) break;
        sleeping_.fetch_add(1, std::memory_order_relaxed);
        wake_.wait(mutex_);
        sleeping_.fetch_sub(1, std::memory_order_relaxed);
      }
      grid->references.fetch_add(1, std::memory_order_relaxed);
    }
    runner.drive(*grid);
    grid->references.fetch_sub(1, std::memory_order_release);
  }
}

void Workers::run(Grid& grid) {
  prepare_thread_for_faults();
  grid.chunk = chunk_for(grid, count_);
  const std::uint64_t chunks = (grid.ctas + grid.chunk - 1) / grid.chunk;
  const bool shared = count_ > 1 && chunks > 1;
  if (shared) {
    MutexLock lock(mutex_);
    start_threads();
    offers_.push_back(&grid);
    const auto useful = static_cast<int>(std::min<std::uint64_t>(chunks - 1, static_cast<std::uint64_t>(count_ - 1)));
    for (int i = std::min(useful, sleeping_.load(std::memory_order_relaxed)); i > 0; --i) wake_.notify_one();
  }
  this_thread_runner().drive(grid);
  if (!shared) return;
  {
    MutexLock lock(mutex_);
    offers_.erase(std::find(offers_.begin(), offers_.end(), &grid));
  }
  grid.wait_complete();
  // A worker may still be leaving drive(); the grid's memory is reused after this.
  while (grid.references.load(std::memory_order_acquire) != 0) {
#if defined(__x86_64__)
    _mm_pause();
#endif
  }
}

bool Workers::run_alone(Grid& grid, CtaRunner& runner, std::chrono::nanoseconds patience) {
  prepare_thread_for_faults();
  grid.chunk = grid.range ? std::min<std::uint64_t>(grid.ctas, 4096) : 1;
  return runner.drive(grid, patience) == CtaRunner::Outcome::kExhausted;
}

void Workers::finish(Grid& grid, CtaRunner& runner) {
  prepare_thread_for_faults();
  const bool shared = count_ > 1 && grid.next.load(std::memory_order_relaxed) < grid.ctas;
  if (shared) {
    MutexLock lock(mutex_);
    start_threads();
    offers_.push_back(&grid);
    wake_.notify_all();
  }
  runner.drive(grid);
  if (!shared) return;
  {
    MutexLock lock(mutex_);
    offers_.erase(std::find(offers_.begin(), offers_.end(), &grid));
  }
  grid.wait_complete();
  while (grid.references.load(std::memory_order_acquire) != 0) ::sched_yield();
}

}  // namespace heddle::exec
