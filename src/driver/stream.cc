// Streams: the class, how operations get into them, and cuStream*. Events are in event.cc, captures in capture.cc.
#include "driver/stream.h"

#include <chrono>
#include <cstring>
#include <thread>

#include "driver/memory.h"
#include "driver/pool.h"
#include "exec/print.h"

namespace heddle::driver {
namespace {

std::atomic<std::uint64_t> g_next_stream{1};

class OperationWork final : public exec::Work {
 public:
  OperationWork(Context* context, Ref<Operation> operation) : context_(context), operation_(std::move(operation)) {}
  void run(exec::Stream&, bool failed) override {
    if (failed && !operation_->runs_after_failure()) return;
    operation_->run(*context_);
  }

 private:
  Context* context_;
  Ref<Operation> operation_;
};

}  // namespace

Stream::Stream(Context* context, exec::Stream::Kind kind, unsigned flags, int priority)
    : Object(Tag::kStream, context),
      queue_(exec::Stream::create(context->streams_ref(), kind)),
      flags_(flags),
      priority_(priority),
      id_(g_next_stream.fetch_add(1)) {}

Stream::~Stream() { queue_->retire(); }

Ref<Capture> Stream::capture() const {
  if (!is_capturing()) return {};
  MutexLock lock(mutex_);
  return capture_;
}
void Stream::set_capture(Ref<Capture> capture) {
  MutexLock lock(mutex_);
  capturing_.store(static_cast<bool>(capture), std::memory_order_release);
  capture_ = std::move(capture);
}

Ref<Stream> find_stream(CUstream handle) {
  Context& context = *Context::current();
  if (handle == nullptr) {
    if (api::default_stream_is_per_thread()) return context.thread_stream();
    return Ref<Stream>(&context.default_stream());
  }
  if (handle == CU_STREAM_LEGACY) return Ref<Stream>(&context.default_stream());
  if (handle == CU_STREAM_PER_THREAD) return context.thread_stream();
  return find_object<Stream>(handle);
}

CUresult enqueue(Stream& stream, Ref<Operation> operation, Effort effort, bool wait) {
  if (stream.is_capturing()) {
    if (wait) {
      if (const Ref<Capture> capture = stream.capture()) {
        MutexLock lock(capture->mutex);
        capture->invalidated = true;
      }
      return fail(ErrorCode::kStreamCaptureUnsupported, "an operation that waits can't be captured");
    }
    return capture_operation(stream, std::move(operation));
  }
  Context& context = stream.context();
  if ((effort == Effort::kShort || wait) && stream.queue().begin_now()) {
    operation->run(context);
    stream.queue().end_now();
  } else {
    const std::uint64_t number = stream.queue().submit(std::make_unique<OperationWork>(&context, std::move(operation)));
    if (!wait) return CUDA_SUCCESS;
    stream.queue().wait(number);
  }
  if (!wait) return CUDA_SUCCESS;
  exec::flush_device_output();
  const ErrorCode state = context.state();
  return state == ErrorCode::kSuccess ? CUDA_SUCCESS : fail(state, "a kernel of this context has failed");
}

CUresult synchronize_stream(Stream& stream) {
  if (stream.is_capturing()) {
    if (const Ref<Capture> capture = stream.capture()) {
      MutexLock lock(capture->mutex);
      capture->invalidated = true;
    }
    return fail(ErrorCode::kStreamCaptureUnsupported, "a stream that is captured can't be waited for");
  }
  stream.queue().synchronize();
  exec::flush_device_output();
  trim_pools(stream.context().device());
  const ErrorCode state = stream.context().state();
  return state == ErrorCode::kSuccess ? CUDA_SUCCESS : fail(state, "a kernel of this context has failed");
}

namespace {

CUresult create(CUstream* stream, unsigned flags, int priority) {
  DRIVER_CHECK(stream, "no place for the new stream's handle");
  DRIVER_CHECK((flags & ~1u) == 0, "unknown stream flags");
  const auto kind = flags & CU_STREAM_NON_BLOCKING ? exec::Stream::Kind::kNonBlocking : exec::Stream::Kind::kBlocking;
  // Priorities past the range are cut to it, as the manual says. They order nothing on a CPU yet.
  *stream = publish<CUstream>(make_ref<Stream>(Context::current(), kind, flags, std::clamp(priority, -5, 0)));
  return CUDA_SUCCESS;
}

CUresult destroy(CUstream handle) {
  const Ref<Stream> stream = find_object<Stream>(handle);
  if (!stream || stream->is_default()) return fail(ErrorCode::kInvalidHandle, "not a stream made by cuStreamCreate");
  if (!registry::remove(stream.get())) return fail(ErrorCode::kInvalidHandle, "the stream has been destroyed");
  stream->queue().retire();
  return CUDA_SUCCESS;
}

constexpr const char* kStale = "stale or foreign stream";

// ---- waits and writes on memory values

struct MemoryOperation {
  CUstreamBatchMemOpType type;
  std::uintptr_t address;
  std::uint64_t value;
  unsigned flags;
};

bool met(const MemoryOperation& operation) {
  const bool wide = operation.type == CU_STREAM_MEM_OP_WAIT_VALUE_64;
  std::uint64_t now =
      wide ? __atomic_load_n(reinterpret_cast<const std::uint64_t*>(operation.address), __ATOMIC_ACQUIRE)
           : __atomic_load_n(reinterpret_cast<const std::uint32_t*>(operation.address), __ATOMIC_ACQUIRE);
  switch (operation.flags & 3) {
    case CU_STREAM_WAIT_VALUE_GEQ:  // cyclic: the difference counts
      return wide ? static_cast<std::int64_t>(now - operation.value) >= 0
                  : static_cast<std::int32_t>(static_cast<std::uint32_t>(now - operation.value)) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ: return now == operation.value;
    case CU_STREAM_WAIT_VALUE_AND: return (now & operation.value) != 0;
    default:
      return static_cast<std::uint32_t>(~(now | operation.value)) != 0 || (wide && ~(now | operation.value) != 0);
  }
}

void perform(Context& context, const MemoryOperation& operation) {
  switch (operation.type) {
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
      __atomic_store_n(reinterpret_cast<std::uint32_t*>(operation.address), static_cast<std::uint32_t>(operation.value),
                       __ATOMIC_RELEASE);
      return;
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
      __atomic_store_n(reinterpret_cast<std::uint64_t*>(operation.address), operation.value, __ATOMIC_RELEASE);
      return;
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
      for (int round = 0; !met(operation); ++round) {
        if (context.state() != ErrorCode::kSuccess) return;
        if (round < 1000) {
          std::this_thread::yield();
        } else {
          std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
      }
      return;
    default: __atomic_thread_fence(__ATOMIC_SEQ_CST); return;
  }
}

bool waits(const MemoryOperation& operation) {
  return operation.type == CU_STREAM_MEM_OP_WAIT_VALUE_32 || operation.type == CU_STREAM_MEM_OP_WAIT_VALUE_64;
}

CUresult memory_operations(CUstream handle, std::vector<MemoryOperation> operations) {
  const Ref<Stream> stream = find_stream(handle);
  if (!stream) return fail(ErrorCode::kInvalidHandle, kStale);
  bool waiting = false;
  for (const MemoryOperation& operation : operations) {
    const bool wide =
        operation.type == CU_STREAM_MEM_OP_WAIT_VALUE_64 || operation.type == CU_STREAM_MEM_OP_WRITE_VALUE_64;
    if (operation.type == CU_STREAM_MEM_OP_BARRIER || operation.type == CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES) continue;
    DRIVER_CHECK(operation.address % (wide ? 8 : 4) == 0, "the address is not aligned to the value's size");
    DRIVER_CHECK(find_allocation(operation.address), "not an address that the device can reach");
    waiting |= waits(operation);
  }
  return enqueue(*stream,
                 make_ref<FunctionOperation>(CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
                                             [operations = std::move(operations)](Context& context) {
                                               for (const MemoryOperation& operation : operations)
                                                 perform(context, operation);
                                             }),
                 waiting ? Effort::kLong : Effort::kShort);
}

CUresult batch(CUstream stream, unsigned count, const CUstreamBatchMemOpParams* parameters, unsigned flags) {
  DRIVER_CHECK(count == 0 || parameters, "no operations");
  DRIVER_CHECK(flags == 0 && count <= 256, "flags must be 0, and 256 operations are the most");
  std::vector<MemoryOperation> operations;
  for (unsigned i = 0; i < count; ++i) {
    const CUstreamBatchMemOpParams& p = parameters[i];
    switch (p.operation) {
      case CU_STREAM_MEM_OP_WAIT_VALUE_32:
      case CU_STREAM_MEM_OP_WRITE_VALUE_32:
        operations.push_back({p.operation, p.waitValue.address, p.waitValue.value, p.waitValue.flags});
        break;
      case CU_STREAM_MEM_OP_WAIT_VALUE_64:
      case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        operations.push_back({p.operation, p.waitValue.address, p.waitValue.value64, p.waitValue.flags});
        break;
      case CU_STREAM_MEM_OP_BARRIER:
      case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES: operations.push_back({p.operation, 0, 0, 0}); break;
      default: return fail(ErrorCode::kInvalidValue, "unknown memory operation");
    }
  }
  return memory_operations(stream, std::move(operations));
}

}  // namespace

namespace impl {

CUresult cuStreamCreate(CUstream* stream, unsigned int flags) { return create(stream, flags, 0); }
CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned int flags, int priority) {
  return create(stream, flags, priority);
}
CUresult cuStreamDestroy(CUstream stream) { return destroy(stream); }
CUresult cuStreamDestroy_v2(CUstream stream) { return destroy(stream); }

CUresult cuStreamSynchronize(CUstream handle) {
  const Ref<Stream> stream = find_stream(handle);
  if (!stream) return fail(ErrorCode::kInvalidHandle, kStale);
  return synchronize_stream(*stream);
}
CUresult cuStreamQuery(CUstream handle) {
  const Ref<Stream> stream = find_stream(handle);
  if (!stream) return fail(ErrorCode::kInvalidHandle, kStale);
  if (!stream->queue().idle()) return fail(ErrorCode::kNotReady, "work is pending");
  const ErrorCode state = stream->context().state();
  return state == ErrorCode::kSuccess ? CUDA_SUCCESS : fail(state, "a kernel of this context has failed");
}
CUresult cuStreamGetPriority(CUstream handle, int* priority) {
  const Ref<Stream> stream = find_stream(handle);
  if (!stream) return fail(ErrorCode::kInvalidHandle, kStale);
  DRIVER_CHECK(priority, "no place for the priority");
  *priority = stream->priority();
  return CUDA_SUCCESS;
}
CUresult cuStreamGetFlags(CUstream handle, unsigned int* flags) {
  const Ref<Stream> stream = find_stream(handle);
  if (!stream) return fail(ErrorCode::kInvalidHandle, kStale);
  DRIVER_CHECK(flags, "no place for the flags");
  *flags = stream->flags();
  return CUDA_SUCCESS;
}
CUresult cuStreamGetId(CUstream handle, unsigned long long* id) {
  const Ref<Stream> stream = find_stream(handle);
  if (!stream) return fail(ErrorCode::kInvalidHandle, kStale);
  DRIVER_CHECK(id, "no place for the id");
  *id = stream->id();
  return CUDA_SUCCESS;
}
CUresult cuStreamGetCtx(CUstream handle, CUcontext* context) {
  const Ref<Stream> stream = find_stream(handle);
  if (!stream) return fail(ErrorCode::kInvalidHandle, kStale);
  DRIVER_CHECK(context, "no place for the context");
  *context = handle_of<CUcontext>(&stream->context());
  return CUDA_SUCCESS;
}
CUresult cuStreamGetCtx_v2(CUstream handle, CUcontext* context, CUgreenCtx* green_context) {
  if (green_context) *green_context = nullptr;
  return impl::cuStreamGetCtx(handle, context);
}
CUresult cuStreamGetDevice(CUstream handle, CUdevice* device) {
  const Ref<Stream> stream = find_stream(handle);
  if (!stream) return fail(ErrorCode::kInvalidHandle, kStale);
  DRIVER_CHECK(device, "no place for the device");
  *device = stream->context().device().ordinal;
  return CUDA_SUCCESS;
}
CUresult cuStreamGetAttribute(CUstream handle, CUstreamAttrID attribute, CUstreamAttrValue* value) {
  const Ref<Stream> stream = find_stream(handle);
  if (!stream) return fail(ErrorCode::kInvalidHandle, kStale);
  DRIVER_CHECK(value, "no place for the value");
  std::memset(value, 0, sizeof *value);
  switch (attribute) {
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
      value->syncPolicy = static_cast<CUsynchronizationPolicy>(stream->sync_policy.load());
      return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY: value->priority = stream->priority(); return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN: return CUDA_SUCCESS;
    default: return fail(ErrorCode::kInvalidValue, "not an attribute of streams");
  }
}
CUresult cuStreamSetAttribute(CUstream handle, CUstreamAttrID attribute, const CUstreamAttrValue* value) {
  const Ref<Stream> stream = find_stream(handle);
  if (!stream) return fail(ErrorCode::kInvalidHandle, kStale);
  DRIVER_CHECK(value, "no value");
  switch (attribute) {
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY: stream->sync_policy = value->syncPolicy; return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN: return CUDA_SUCCESS;
    default: return fail(ErrorCode::kInvalidValue, "not an attribute of streams");
  }
}
CUresult cuStreamCopyAttributes(CUstream destination, CUstream source) {
  const Ref<Stream> to = find_stream(destination), from = find_stream(source);
  if (!to || !from) return fail(ErrorCode::kInvalidHandle, kStale);
  to->sync_policy = from->sync_policy.load();
  return CUDA_SUCCESS;
}
CUresult cuStreamAttachMemAsync(CUstream handle, CUdeviceptr pointer, size_t, unsigned int flags) {
  const Ref<Stream> stream = find_stream(handle);
  if (!stream) return fail(ErrorCode::kInvalidHandle, kStale);
  DRIVER_CHECK(flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST || flags == CU_MEM_ATTACH_SINGLE,
               "unknown attachment");
  // Managed memory is coherent for everybody here, so an attachment changes nothing.
  DRIVER_CHECK(find_allocation(pointer), "not managed memory");
  return CUDA_SUCCESS;
}

CUresult cuStreamWaitValue32(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags) {
  return memory_operations(stream, {{CU_STREAM_MEM_OP_WAIT_VALUE_32, address, value, flags}});
}
CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags) {
  return impl::cuStreamWaitValue32(stream, address, value, flags);
}
CUresult cuStreamWaitValue64(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned int flags) {
  return memory_operations(stream, {{CU_STREAM_MEM_OP_WAIT_VALUE_64, address, value, flags}});
}
CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned int flags) {
  return impl::cuStreamWaitValue64(stream, address, value, flags);
}
CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags) {
  return memory_operations(stream, {{CU_STREAM_MEM_OP_WRITE_VALUE_32, address, value, flags}});
}
CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags) {
  return impl::cuStreamWriteValue32(stream, address, value, flags);
}
CUresult cuStreamWriteValue64(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned int flags) {
  return memory_operations(stream, {{CU_STREAM_MEM_OP_WRITE_VALUE_64, address, value, flags}});
}
CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned int flags) {
  return impl::cuStreamWriteValue64(stream, address, value, flags);
}
CUresult cuStreamBatchMemOp(CUstream stream, unsigned int count, CUstreamBatchMemOpParams* parameters,
                            unsigned int flags) {
  return batch(stream, count, parameters, flags);
}
CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned int count, CUstreamBatchMemOpParams* parameters,
                               unsigned int flags) {
  return batch(stream, count, parameters, flags);
}

}  // namespace impl
}  // namespace heddle::driver
