// Streams, their capture, and events. Tested by tests/api/runtime.
#include <memory>

#include "runtime/state.h"

namespace heddle::runtime {
namespace {

/// cudaStreamCallback_t gets a cudaError_t, the driver's callback a CUresult.
struct Callback {
  cudaStreamCallback_t function;
  void* data;
};
void run_callback(CUstream stream, CUresult result, void* data) {
  const std::unique_ptr<Callback> callback(static_cast<Callback*>(data));
  callback->function(stream, to_runtime(result), callback->data);
}

}  // namespace

namespace impl {

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
  return detail::as_runtime(driver().cuStreamCreate(stream, flags));
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return impl::cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority) {
  return detail::as_runtime(driver().cuStreamCreateWithPriority(stream, flags, priority));
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  // The default streams can't be destroyed.
  if (stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread)
    return cudaErrorInvalidResourceHandle;
  return detail::as_runtime(driver().cuStreamDestroy_v2(stream));
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return detail::as_runtime(driver().cuStreamSynchronize(stream_of(stream)));
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return detail::as_runtime(driver().cuStreamQuery(stream_of(stream)));
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
  return detail::as_runtime(driver().cuStreamWaitEvent(stream_of(stream), event, flags));
}
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned int flags) {
  if (!callback) return cudaErrorInvalidValue;
  auto holder = std::make_unique<Callback>(Callback{callback, data});
  CUDA_TRY(driver().cuStreamAddCallback(stream_of(stream), run_callback, holder.get(), flags));
  (void)holder.release();  // run_callback owns it now
  return cudaSuccess;
}
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int* flags) {
  return detail::as_runtime(driver().cuStreamGetFlags(stream_of(stream), flags));
}
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return detail::as_runtime(driver().cuStreamGetPriority(stream_of(stream), priority));
}
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  return detail::as_runtime(driver().cuStreamGetId(stream_of(stream), id));
}
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  return detail::as_runtime(driver().cuStreamGetDevice(stream_of(stream), device));
}
cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaLaunchAttributeID attribute,
                                   cudaLaunchAttributeValue* value) {
  return detail::as_runtime(driver().cuStreamGetAttribute(stream_of(stream),
                                                          static_cast<CUlaunchAttributeID>(attribute),
                                                          reinterpret_cast<CUlaunchAttributeValue*>(value)));
}
cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID attribute,
                                   const cudaLaunchAttributeValue* value) {
  return detail::as_runtime(driver().cuStreamSetAttribute(stream_of(stream),
                                                          static_cast<CUlaunchAttributeID>(attribute),
                                                          reinterpret_cast<const CUlaunchAttributeValue*>(value)));
}
cudaError_t cudaStreamCopyAttributes(cudaStream_t destination, cudaStream_t source) {
  return detail::as_runtime(driver().cuStreamCopyAttributes(stream_of(destination), stream_of(source)));
}

// ---- capture
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode) {
  return detail::as_runtime(
      driver().cuStreamBeginCapture_v2(stream_of(stream), static_cast<CUstreamCaptureMode>(mode)));
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return detail::as_runtime(driver().cuStreamEndCapture(stream_of(stream), graph));
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus* status) {
  return detail::as_runtime(
      driver().cuStreamIsCapturing(stream_of(stream), reinterpret_cast<CUstreamCaptureStatus*>(status)));
}
cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode* mode) {
  return detail::as_runtime(driver().cuThreadExchangeStreamCaptureMode(reinterpret_cast<CUstreamCaptureMode*>(mode)));
}

// ---- events
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
  return detail::as_runtime(driver().cuEventCreate(event, flags));
}
cudaError_t cudaEventCreate(cudaEvent_t* event) { return impl::cudaEventCreateWithFlags(event, cudaEventDefault); }
cudaError_t cudaEventDestroy(cudaEvent_t event) { return detail::as_runtime(driver().cuEventDestroy_v2(event)); }
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return detail::as_runtime(driver().cuEventRecord(event, stream_of(stream)));
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
  return detail::as_runtime(driver().cuEventRecordWithFlags(event, stream_of(stream), flags));
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) { return detail::as_runtime(driver().cuEventSynchronize(event)); }
cudaError_t cudaEventQuery(cudaEvent_t event) { return detail::as_runtime(driver().cuEventQuery(event)); }
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return detail::as_runtime(driver().cuEventElapsedTime_v2(milliseconds, start, end));
}

}  // namespace impl
}  // namespace heddle::runtime
