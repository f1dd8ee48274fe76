// Host functions and callbacks in streams. Tested by tests/api/driver/stream_test.cc.
#include "driver/stream.h"
#include "exec/print.h"

namespace heddle::driver {
namespace {

/// A callback of cuStreamAddCallback: it is called even when the context is poisoned, and told so.
class CallbackOperation final : public Operation {
 public:
  CallbackOperation(CUstream stream, CUstreamCallback callback, void* data)
      : stream_(stream), callback_(callback), data_(data) {}
  void run(Context& context) override {
    exec::flush_device_output();
    callback_(stream_, static_cast<CUresult>(context.streams().failure()), data_);
  }
  CUgraphNodeType type() const override { return CU_GRAPH_NODE_TYPE_HOST; }
  bool runs_after_failure() const override { return true; }

 private:
  CUstream stream_;
  CUstreamCallback callback_;
  void* data_;
};

}  // namespace

namespace impl {

CUresult cuLaunchHostFunc(CUstream handle, CUhostFn function, void* user_data) {
  DRIVER_CHECK(function, "no function");
  const Ref<Stream> stream = find_stream(handle);
  if (!stream) return fail(ErrorCode::kInvalidHandle, "stale or foreign stream");
  return enqueue(*stream, make_ref<HostOperation>(function, user_data), Effort::kLong);
}
CUresult cuStreamAddCallback(CUstream handle, CUstreamCallback callback, void* user_data, unsigned int flags) {
  DRIVER_CHECK(callback && flags == 0, "no callback, or flags that are not 0");
  const Ref<Stream> stream = find_stream(handle);
  if (!stream) return fail(ErrorCode::kInvalidHandle, "stale or foreign stream");
  if (stream->is_capturing())
    return fail(ErrorCode::kStreamCaptureUnsupported, "callbacks can't be captured: use cuLaunchHostFunc");
  return enqueue(*stream, make_ref<CallbackOperation>(handle, callback, user_data), Effort::kLong);
}

}  // namespace impl
}  // namespace heddle::driver
