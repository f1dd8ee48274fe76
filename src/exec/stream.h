// Streams as in-order queues, the rules of the legacy default stream, and events.
//
// A stream numbers its work. `completed >= n` means that work n and all before it have ended, so "wait for that point
// of that stream" is a pair (stream, number): a Fence. Fences point only to work submitted earlier, so waiting for them
// can't go in circles. Whoever drives a stream runs its work in order: an executor thread, a caller that synchronises,
// or a caller that submits to an idle stream (docs/decisions/0008-inline-launches.md says when). Executors are as many
// as streams need: a work that blocks never holds up another stream. Lock order: StreamGroup::mutex_ before
// Stream::mutex_ before Executors. Tested by exec/stream_test.cc.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "base/error_code.h"
#include "base/mutex.h"
#include "base/ref.h"

namespace heddle::exec {

class Stream;
class StreamGroup;

/// A point in a stream.
struct Fence {
  Ref<Stream> stream;
  std::uint64_t number = 0;
  bool done() const;
  void wait() const;
};

/// One entry of a stream's queue.
class Work {
 public:
  virtual ~Work() = default;
  /// Runs on the thread that drives the stream. `failed`: the context is poisoned; only bookkeeping may be done.
  virtual void run(Stream& stream, bool failed) = 0;

 private:
  friend class Stream;
  std::vector<Fence> fences_;
};

class FunctionWork final : public Work {
 public:
  explicit FunctionWork(std::function<void(bool failed)> body) : body_(std::move(body)) {}
  void run(Stream&, bool failed) override { body_(failed); }

 private:
  std::function<void(bool)> body_;
};

class Stream : public RefCounted {
 public:
  /// Legacy: waits for the work of all blocking streams, and they for its.
  enum class Kind { kLegacy, kBlocking, kNonBlocking };

  static Ref<Stream> create(Ref<StreamGroup> group, Kind kind);

  Kind kind() const { return kind_; }
  StreamGroup& group() const { return *group_; }
  /// Queues work and sees that somebody runs it. Returns its number.
  std::uint64_t submit(std::unique_ptr<Work> work, std::vector<Fence> fences = {});
  /// If nothing that the work would have to wait for is pending, takes the stream: the caller runs the work at once and
  /// then calls end_now(). No allocation, no system call.
  bool begin_now();
  /// `rest`: what is left of the work, to go on in the queue under the same number; usually null.
  void end_now(std::unique_ptr<Work> rest = nullptr);

  bool idle() const { return completed_.load(std::memory_order_acquire) == submitted_.load(std::memory_order_acquire); }
  std::uint64_t submitted() const { return submitted_.load(std::memory_order_acquire); }
  std::uint64_t completed() const { return completed_.load(std::memory_order_acquire); }
  Fence last();
  /// Returns when `number` is complete; helps if nobody drives the stream.
  void wait(std::uint64_t number);
  void synchronize() { wait(submitted()); }
  /// The API's handle is gone; queued work still runs.
  void retire() { retired_.store(true, std::memory_order_relaxed); }

 private:
  friend class StreamGroup;
  friend class Executors;
  enum class State { kIdle, kPosted, kDriven };
  Stream(Ref<StreamGroup> group, Kind kind) : group_(std::move(group)), kind_(kind) {}
  void drive(std::uint64_t until);
  void drive_posted();
  void complete_one();

  const Ref<StreamGroup> group_;
  const Kind kind_;
  std::atomic<std::uint64_t> submitted_{0};
  std::atomic<std::uint64_t> completed_{0};
  std::atomic<int> waiters_{0};
  std::atomic<bool> retired_{false};
  Mutex mutex_;
  CondVar changed_;
  State state_ GUARDED_BY(mutex_) = State::kIdle;
  std::deque<std::unique_ptr<Work>> queue_ GUARDED_BY(mutex_);
};

/// The streams of one context: the legacy rules and the context's sticky error live here.
class StreamGroup : public RefCounted {
 public:
  /// Waits for all work of all streams.
  void synchronize();
  /// Poisons the group; the first error stays.
  void fail(ErrorCode code);
  ErrorCode failure() const { return static_cast<ErrorCode>(failure_.load(std::memory_order_acquire)); }
  bool idle();
  /// The context goes or is reset: drops the streams but the legacy one (their queued work still runs) and the error.
  void reset();
  void close();

 private:
  friend class Stream;
  void add(const Ref<Stream>& stream);
  /// What new work of `stream` must wait for by the legacy rules.
  void collect_fences(const Stream& stream, std::vector<Fence>* fences) REQUIRES(mutex_);
  bool must_wait(const Stream& stream) REQUIRES(mutex_);

  Mutex mutex_;
  std::vector<Ref<Stream>> streams_ GUARDED_BY(mutex_);
  Stream* legacy_ GUARDED_BY(mutex_) = nullptr;
  std::atomic<int> failure_{0};
};

/// A recorded point in a stream, with its time.
class Event : public RefCounted {
 public:
  explicit Event(bool timed) : timed_(timed) {}
  bool timed() const { return timed_; }
  /// Records after the stream's present work.
  void record(Stream& stream);
  /// Records at once, on a thread that drives a stream already.
  void record_now();
  bool recorded();
  bool done();
  void wait();
  /// The point recorded last; an empty fence if none.
  Fence fence();
  std::int64_t nanoseconds() const { return time_.load(std::memory_order_acquire); }

 private:
  const bool timed_;
  Mutex mutex_;
  Fence fence_ GUARDED_BY(mutex_);
  bool recorded_ GUARDED_BY(mutex_) = false;
  std::atomic<std::int64_t> time_{0};
};

}  // namespace heddle::exec
