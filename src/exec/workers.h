// The worker threads that share grids. The thread that runs a grid takes part; workers help with grids that have enough
// CTAs, and sleep otherwise. Tested by exec/grid_test.cc.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "exec/cta.h"
#include "exec/grid.h"

namespace heddle::exec {

class Workers {
 public:
  /// The process's workers; threads start with the first grid that needs them and live as long as the process.
  static Workers& instance();

  /// Threads that work on a large grid, the caller's included: option `workers`, or the cores this process may use.
  int count() const { return count_; }
  /// Runs the grid to its end (or fault) on the calling thread and idle workers.
  void run(Grid& grid);
  /// Runs the grid on the calling thread alone. False if it made no progress for `patience`; then `runner` holds its
  /// CTAs in flight and finish() ends it.
  bool run_alone(Grid& grid, CtaRunner& runner, std::chrono::nanoseconds patience);
  void finish(Grid& grid, CtaRunner& runner);

 private:
  Workers();
  void start_threads() REQUIRES(mutex_);
  void worker_main();

  int count_ = 1;
  Mutex mutex_;
  CondVar wake_;
  std::vector<Grid*> offers_ GUARDED_BY(mutex_);
  bool started_ GUARDED_BY(mutex_) = false;
  std::atomic<int> offered_{0};
  std::atomic<int> sleeping_{0};
};

/// The calling thread's runner, with the CTA memory that it reuses.
CtaRunner& this_thread_runner();
/// Takes it away from the thread, to go on elsewhere.
std::unique_ptr<CtaRunner> detach_runner();

}  // namespace heddle::exec
