// Mutexes with clang's thread-safety annotations, so that "which lock guards this field" is checked by the compiler.
// The order in which locks may be taken is in ARCHITECTURE.md; no lock is held while user code runs.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define HEDDLE_ANNOTATE(x) __attribute__((x))
#else
#define HEDDLE_ANNOTATE(x)
#endif
#define GUARDED_BY(x) HEDDLE_ANNOTATE(guarded_by(x))
#define PT_GUARDED_BY(x) HEDDLE_ANNOTATE(pt_guarded_by(x))
#define REQUIRES(...) HEDDLE_ANNOTATE(requires_capability(__VA_ARGS__))
#define EXCLUDES(...) HEDDLE_ANNOTATE(locks_excluded(__VA_ARGS__))

namespace heddle {

class HEDDLE_ANNOTATE(capability("mutex")) Mutex {
 public:
  void lock() HEDDLE_ANNOTATE(acquire_capability()) { mutex_.lock(); }
  void unlock() HEDDLE_ANNOTATE(release_capability()) { mutex_.unlock(); }
  bool try_lock() HEDDLE_ANNOTATE(try_acquire_capability(true)) { return mutex_.try_lock(); }

 private:
  std::mutex mutex_;
};

class HEDDLE_ANNOTATE(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) HEDDLE_ANNOTATE(acquire_capability(mutex)) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() HEDDLE_ANNOTATE(release_capability()) { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

class CondVar {
 public:
  /// Releases `mutex`, sleeps until notified (or for no reason), and takes it again: always wait in a loop.
  void wait(Mutex& mutex) REQUIRES(mutex) { condition_.wait(mutex); }
  template <class Clock, class Duration>
  bool wait_until(Mutex& mutex, const std::chrono::time_point<Clock, Duration>& when) REQUIRES(mutex) {
    return condition_.wait_until(mutex, when) == std::cv_status::no_timeout;
  }
  void notify_one() { condition_.notify_one(); }
  void notify_all() { condition_.notify_all(); }

 private:
  std::condition_variable_any condition_;
};

}  // namespace heddle
