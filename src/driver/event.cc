// Events: cuEvent*, cuStreamWaitEvent, and the two that record and wait for whole contexts.
// Tested by tests/api/driver/stream_test.cc.
#include "driver/stream.h"
#include "exec/print.h"

namespace heddle::driver {

EventObject::EventObject(Context* context, unsigned flags)
    : Object(Tag::kEvent, context), event_(make_ref<exec::Event>(!(flags & CU_EVENT_DISABLE_TIMING))), flags_(flags) {}

namespace {

constexpr const char* kStale = "null, stale or foreign event";

CUresult record(CUevent handle, CUstream stream_handle, unsigned flags) {
  DRIVER_CHECK((flags & ~1u) == 0, "unknown flags");
  const Ref<EventObject> event = find_object<EventObject>(handle);
  if (!event) return fail(ErrorCode::kInvalidHandle, kStale);
  const Ref<Stream> stream = find_stream(stream_handle);
  if (!stream) return fail(ErrorCode::kInvalidHandle, "stale or foreign stream");
  if (event->owner() != stream->owner())
    return fail(ErrorCode::kInvalidHandle, "event and stream belong to different contexts");
  if (const Ref<Capture> capture = stream->capture()) {
    if (flags & CU_EVENT_RECORD_EXTERNAL) {
      return capture_operation(*stream,
                               make_ref<FunctionOperation>(CU_GRAPH_NODE_TYPE_EVENT_RECORD, [event](Context& context) {
                                 event->event().record(context.default_stream().queue());
                               }));
    }
    MutexLock lock(event->mutex);
    event->captured = capture;
    event->captured_after = capture->tip_of(*stream);
    return CUDA_SUCCESS;
  }
  {
    MutexLock lock(event->mutex);
    event->captured = {};
  }
  event->event().record(stream->queue());
  return CUDA_SUCCESS;
}

CUresult destroy(CUevent handle) {
  const Ref<EventObject> event = find_object<EventObject>(handle);
  if (!event || !registry::remove(event.get())) return fail(ErrorCode::kInvalidHandle, kStale);
  return CUDA_SUCCESS;
}

CUresult elapsed(float* milliseconds, CUevent start, CUevent end) {
  DRIVER_CHECK(milliseconds, "no place for the time");
  const Ref<EventObject> first = find_object<EventObject>(start), second = find_object<EventObject>(end);
  if (!first || !second) return fail(ErrorCode::kInvalidHandle, kStale);
  if (!first->event().timed() || !second->event().timed())
    return fail(ErrorCode::kInvalidHandle, "an event made with CU_EVENT_DISABLE_TIMING has no time");
  if (!first->event().recorded() || !second->event().recorded())
    return fail(ErrorCode::kInvalidHandle, "an event that was never recorded has no time");
  if (!first->event().done() || !second->event().done()) return fail(ErrorCode::kNotReady, "an event is pending");
  *milliseconds =
      static_cast<float>(static_cast<double>(second->event().nanoseconds() - first->event().nanoseconds()) / 1e6);
  return CUDA_SUCCESS;
}

void wait_in_stream(Stream& stream, const exec::Fence& fence) {
  if (fence.done() || fence.stream.get() == &stream.queue()) return;
  stream.queue().submit(std::make_unique<exec::FunctionWork>([](bool) {}), {fence});
}

}  // namespace

namespace impl {

CUresult cuEventCreate(CUevent* event, unsigned int flags) {
  DRIVER_CHECK(event, "no place for the new event's handle");
  constexpr unsigned kKnown = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
  DRIVER_CHECK((flags & ~kKnown) == 0, "unknown event flags");
  if (flags & CU_EVENT_INTERPROCESS) {
    DRIVER_CHECK(flags & CU_EVENT_DISABLE_TIMING, "events between processes can't be timed");
    return fail(ErrorCode::kNotSupported, "events between processes are not there yet");
  }
  *event = publish<CUevent>(make_ref<EventObject>(Context::current(), flags));
  return CUDA_SUCCESS;
}
CUresult cuEventDestroy(CUevent event) { return destroy(event); }
CUresult cuEventDestroy_v2(CUevent event) { return destroy(event); }
CUresult cuEventRecord(CUevent event, CUstream stream) { return record(event, stream, 0); }
CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned int flags) {
  return record(event, stream, flags);
}
CUresult cuEventQuery(CUevent handle) {
  const Ref<EventObject> event = find_object<EventObject>(handle);
  if (!event) return fail(ErrorCode::kInvalidHandle, kStale);
  if (!event->event().done()) return fail(ErrorCode::kNotReady, "the event is pending");
  const ErrorCode state = event->context().state();
  return state == ErrorCode::kSuccess ? CUDA_SUCCESS : fail(state, "a kernel of this context has failed");
}
CUresult cuEventSynchronize(CUevent handle) {
  const Ref<EventObject> event = find_object<EventObject>(handle);
  if (!event) return fail(ErrorCode::kInvalidHandle, kStale);
  event->event().wait();
  exec::flush_device_output();
  const ErrorCode state = event->context().state();
  return state == ErrorCode::kSuccess ? CUDA_SUCCESS : fail(state, "a kernel of this context has failed");
}
CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return elapsed(milliseconds, start, end);
}
CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent start, CUevent end) {
  return elapsed(milliseconds, start, end);
}

CUresult cuStreamWaitEvent(CUstream stream_handle, CUevent handle, unsigned int flags) {
  DRIVER_CHECK((flags & ~1u) == 0, "unknown flags");
  const Ref<Stream> stream = find_stream(stream_handle);
  if (!stream) return fail(ErrorCode::kInvalidHandle, "stale or foreign stream");
  const Ref<EventObject> event = find_object<EventObject>(handle);
  if (!event) return fail(ErrorCode::kInvalidHandle, kStale);
  Ref<Capture> captured;
  std::vector<GraphNode*> after;
  {
    MutexLock lock(event->mutex);
    captured = event->captured;
    after = event->captured_after;
  }
  const Ref<Capture> own = stream->capture();
  if (captured) {
    if (own && own.get() != captured.get())
      return fail(static_cast<ErrorCode>(CUDA_ERROR_STREAM_CAPTURE_MERGE),
                  "event and stream belong to different captures");
    captured->join(*stream, after);
    return CUDA_SUCCESS;
  }
  if (own) {
    if (flags & CU_EVENT_WAIT_EXTERNAL) {
      return capture_operation(*stream, make_ref<FunctionOperation>(CU_GRAPH_NODE_TYPE_WAIT_EVENT,
                                                                    [event](Context&) { event->event().wait(); }));
    }
    return fail(static_cast<ErrorCode>(CUDA_ERROR_STREAM_CAPTURE_ISOLATION),
                "a captured stream can't wait for an event that was recorded outside the capture");
  }
  wait_in_stream(*stream, event->event().fence());
  return CUDA_SUCCESS;
}

}  // namespace impl
}  // namespace heddle::driver
