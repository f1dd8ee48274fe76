// Streams and events as API objects, and how an operation gets into a stream: run at once, queued, or captured into a
// graph. Tested by tests/api/driver/stream_test.cc.
#pragma once

#include <cstdint>
#include <functional>

#include "driver/context.h"
#include "driver/graph.h"
#include "driver/object.h"
#include "exec/stream.h"

namespace heddle::driver {

class Stream final : public Object {
 public:
  static constexpr Tag kTag = Tag::kStream;

  Stream(Context* context, exec::Stream::Kind kind, unsigned flags, int priority);
  ~Stream() override;

  Context& context() const { return *owner(); }
  exec::Stream& queue() const { return *queue_; }
  unsigned flags() const { return flags_; }
  int priority() const { return priority_; }
  std::uint64_t id() const { return id_; }
  bool is_default() const { return is_default_; }
  void mark_default() { is_default_ = true; }

  /// The capture that the stream takes part in; null in nearly all calls.
  Ref<Capture> capture() const;
  void set_capture(Ref<Capture> capture);
  bool is_capturing() const { return capturing_.load(std::memory_order_acquire); }

  // Attributes that programs read back.
  std::atomic<unsigned> sync_policy{1};

 private:
  const Ref<exec::Stream> queue_;
  const unsigned flags_;
  const int priority_;
  const std::uint64_t id_;
  bool is_default_ = false;
  std::atomic<bool> capturing_{false};
  mutable Mutex mutex_;
  Ref<Capture> capture_ GUARDED_BY(mutex_);
};

class EventObject final : public Object {
 public:
  static constexpr Tag kTag = Tag::kEvent;
  EventObject(Context* context, unsigned flags);
  Context& context() const { return *owner(); }
  exec::Event& event() const { return *event_; }
  const Ref<exec::Event>& event_ref() const { return event_; }
  unsigned flags() const { return flags_; }

  /// Recorded in a capture: where waiting streams join it.
  Mutex mutex;
  Ref<Capture> captured GUARDED_BY(mutex);
  std::vector<GraphNode*> captured_after GUARDED_BY(mutex);

 private:
  const Ref<exec::Event> event_;
  const unsigned flags_;
};

/// The stream that a handle means in the current call (0, legacy and per-thread handles included). Empty: stale.
Ref<Stream> find_stream(CUstream handle);

/// How much a body of work may be expected to take; decides whether an idle stream runs it on the caller.
enum class Effort { kShort, kLong };

/// Runs, queues or captures an operation. `wait`: returns when it has ended (and with its error); not for captures.
CUresult enqueue(Stream& stream, Ref<Operation> operation, Effort effort, bool wait = false);
/// Waits for the stream and reports the context's error.
CUresult synchronize_stream(Stream& stream);

}  // namespace heddle::driver
