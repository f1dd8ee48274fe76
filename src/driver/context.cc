// Contexts: the class, and cuCtx*. Primary contexts have primary_context.cc.
#include "driver/context.h"

#include "base/log.h"
#include "driver/pool.h"
#include "driver/stream.h"
#include "exec/host_memory.h"
#include "exec/print.h"

namespace heddle::driver {
namespace {

std::atomic<std::uint64_t> g_next_context{1};

// The thread's stack; its top is Context::t_current. A plain pointer beside it keeps the check in every call cheap.
std::vector<Ref<Context>>& thread_stack() {
  static thread_local std::vector<Ref<Context>> stack;
  return stack;
}

// Default streams of this thread, one per context that it has used.
struct ThreadStream {
  std::uint64_t context;
  Ref<Stream> stream;
};
struct ThreadStreams {
  std::vector<ThreadStream> all;
  ~ThreadStreams() {
    for (ThreadStream& entry : all) {
      entry.stream->queue().retire();
      registry::remove(entry.stream.get());
    }
  }
};
ThreadStreams& thread_streams() {
  static thread_local ThreadStreams streams;
  return streams;
}

// Objects refer to their context by a plain pointer, and work in flight may outlive it: contexts are never freed. They
// are few, and what is large in them goes with destroy().
void keep_for_ever(Context* context) {
  // The list itself serves leak checkers alone: what it names is kept, not lost.
  static Mutex& mutex = *new Mutex;
  static std::vector<Context*>& kept = *new std::vector<Context*>;
  MutexLock lock(mutex);
  kept.push_back(context);
  context->retain();
}

}  // namespace

[[gnu::tls_model("initial-exec")]] thread_local constinit Context* Context::t_current = nullptr;

Context::Context(Device* device, unsigned flags, bool is_primary)
    : Object(Tag::kContext, nullptr),
      device_(device),
      is_primary_(is_primary),
      id_(g_next_context.fetch_add(1)),
      flags_(flags),
      streams_(make_ref<exec::StreamGroup>()) {
  keep_for_ever(this);
  default_stream_ = make_ref<Stream>(this, exec::Stream::Kind::kLegacy, CU_STREAM_DEFAULT, 0);
  default_stream_->mark_default();
}

std::uint64_t Context::new_tag() { return tag() | (next_number_.fetch_add(1, std::memory_order_relaxed) & ~kTagMask); }

void Context::push(Ref<Context> context) {
  t_current = context.get();
  thread_stack().push_back(std::move(context));
}
Ref<Context> Context::pop() {
  auto& stack = thread_stack();
  if (stack.empty()) return {};
  Ref<Context> top = std::move(stack.back());
  stack.pop_back();
  t_current = stack.empty() ? nullptr : stack.back().get();
  return top;
}
void Context::set_current(Ref<Context> context) {
  auto& stack = thread_stack();
  if (!stack.empty()) stack.pop_back();
  if (context) stack.push_back(std::move(context));
  t_current = stack.empty() ? nullptr : stack.back().get();
}

Ref<Stream> Context::thread_stream() {
  for (ThreadStream& entry : thread_streams().all)
    if (entry.context == id_ && registry::find(static_cast<Object*>(entry.stream.get()), Tag::kStream))
      return entry.stream;
  std::erase_if(thread_streams().all, [&](const ThreadStream& entry) { return entry.context == id_; });
  auto stream = make_ref<Stream>(this, exec::Stream::Kind::kBlocking, CU_STREAM_DEFAULT, 0);
  stream->mark_default();
  registry::add(stream.get());
  thread_streams().all.push_back({id_, stream});
  return stream;
}

ErrorCode Context::synchronize() {
  streams_->synchronize();
  exec::flush_device_output();
  trim_pools(*device_);
  return state();
}

void Context::destroy() {
  dead_.store(true, std::memory_order_release);
  streams_->synchronize();
  exec::flush_device_output();
  const std::vector<Ref<Object>> objects = registry::remove_all(this);
  streams_->reset();
  {
    MutexLock lock(mutex);
    peers.clear();
  }
  drop_pool_blocks(*device_, tag());
  memory().free_tagged(kTagMask, tag());
  exec::HostMemory::instance().remove_tagged(kTagMask, tag());
}

Ref<Context> find_context(CUcontext handle) {
  if (!handle) return Ref<Context>(Context::current());
  return find_object<Context>(handle);
}

namespace {

CUresult create(CUcontext* context, unsigned flags, CUdevice number) {
  DRIVER_CHECK(context, "no place for the new context's handle");
  Device* const device = find_device(number);
  if (!device) return fail(ErrorCode::kInvalidDevice, "no device with this number");
  if ((flags & ~static_cast<unsigned>(CU_CTX_FLAGS_MASK)) != 0 || (flags & CU_CTX_SCHED_MASK) == 3 ||
      (flags & CU_CTX_SCHED_MASK) > 4)
    return fail(ErrorCode::kInvalidValue, "unknown context flags");
  auto created = make_ref<Context>(device, flags, false);
  *context = publish<CUcontext>(created);
  Context::push(std::move(created));
  return CUDA_SUCCESS;
}

CUresult destroy(CUcontext handle) {
  const Ref<Context> context = find_object<Context>(handle);
  if (!context || context->is_primary()) return fail(ErrorCode::kInvalidContext, "not a context made by cuCtxCreate");
  if (!registry::remove(context.get())) return fail(ErrorCode::kInvalidContext, "the context has been destroyed");
  if (Context::current() == context.get()) Context::pop();
  context->destroy();
  return CUDA_SUCCESS;
}

// The context's limits by CUlimit; null for those that no CPU needs.
std::atomic<std::size_t>* limit_of(Context& context, CUlimit limit) {
  switch (limit) {
    case CU_LIMIT_STACK_SIZE: return &context.stack_limit;
    case CU_LIMIT_PRINTF_FIFO_SIZE: return &context.printf_limit;
    case CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH: return &context.sync_depth_limit;
    case CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT: return &context.pending_launch_limit;
    case CU_LIMIT_MAX_L2_FETCH_GRANULARITY: return &context.l2_granularity;
    case CU_LIMIT_PERSISTING_L2_CACHE_SIZE: return &context.persisting_l2;
    default: return nullptr;
  }
}

}  // namespace

namespace impl {

CUresult cuCtxCreate_v2(CUcontext* context, unsigned int flags, CUdevice device) {
  return create(context, flags, device);
}
CUresult cuCtxCreate_v3(CUcontext* context, CUexecAffinityParam*, int count, unsigned int flags, CUdevice device) {
  if (count > 0) return fail(ErrorCode::kNotSupported, "execution affinity is not supported");
  return create(context, flags, device);
}
CUresult cuCtxCreate_v4(CUcontext* context, CUctxCreateParams* parameters, unsigned int flags, CUdevice device) {
  if (parameters && (parameters->numExecAffinityParams > 0 || parameters->cigParams))
    return fail(ErrorCode::kNotSupported, "execution affinity and graphics contexts are not supported");
  return create(context, flags, device);
}
CUresult cuCtxDestroy(CUcontext context) { return destroy(context); }
CUresult cuCtxDestroy_v2(CUcontext context) { return destroy(context); }

CUresult cuCtxAttach(CUcontext* context, unsigned int flags) {
  DRIVER_CHECK(context && flags == 0, "no place for the context, or flags that are not 0");
  *context = handle_of<CUcontext>(Context::current());
  return CUDA_SUCCESS;
}
CUresult cuCtxDetach(CUcontext context) {
  if (!find_object<Context>(context)) return fail(ErrorCode::kInvalidContext, "stale or foreign context");
  return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent_v2(CUcontext handle) {
  DRIVER_CHECK(handle, "null context");
  Ref<Context> context = find_object<Context>(handle);
  if (!context) return fail(ErrorCode::kInvalidContext, "null, stale or foreign context");
  Context::push(std::move(context));
  return CUDA_SUCCESS;
}
CUresult cuCtxPushCurrent(CUcontext handle) { return impl::cuCtxPushCurrent_v2(handle); }
CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  const Ref<Context> top = Context::pop();
  if (!top) return fail(ErrorCode::kInvalidContext, "no context is current on this thread");
  if (context) *context = handle_of<CUcontext>(top.get());
  return CUDA_SUCCESS;
}
CUresult cuCtxPopCurrent(CUcontext* context) { return impl::cuCtxPopCurrent_v2(context); }
CUresult cuCtxSetCurrent(CUcontext handle) {
  Ref<Context> context;
  if (handle) {
    if (handle == handle_of<CUcontext>(Context::current())) return CUDA_SUCCESS;
    context = find_object<Context>(handle);
    if (!context) return fail(ErrorCode::kInvalidContext, "stale or foreign context");
  }
  Context::set_current(std::move(context));
  return CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext* context) {
  DRIVER_CHECK(context, "no place for the handle");
  *context = Context::current() ? handle_of<CUcontext>(Context::current()) : nullptr;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice* device) {
  DRIVER_CHECK(device, "no place for the device");
  *device = Context::current()->device().ordinal;
  return CUDA_SUCCESS;
}
CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext handle) {
  DRIVER_CHECK(device, "no place for the device");
  const Ref<Context> context = find_context(handle);
  if (!context) return fail(ErrorCode::kInvalidContext, "stale or foreign context");
  *device = context->device().ordinal;
  return CUDA_SUCCESS;
}
CUresult cuCtxGetFlags(unsigned int* flags) {
  DRIVER_CHECK(flags, "no place for the flags");
  *flags = Context::current()->flags();
  return CUDA_SUCCESS;
}
CUresult cuCtxSetFlags(unsigned int flags) {
  DRIVER_CHECK((flags & ~static_cast<unsigned>(CU_CTX_FLAGS_MASK)) == 0, "unknown context flags");
  Context::current()->set_flags(flags);
  return CUDA_SUCCESS;
}
CUresult cuCtxGetId(CUcontext handle, unsigned long long* id) {
  DRIVER_CHECK(id, "no place for the id");
  const Ref<Context> context = find_context(handle);
  if (!context) return fail(ErrorCode::kContextIsDestroyed, "stale or foreign context");
  *id = context->id();
  return CUDA_SUCCESS;
}
CUresult cuCtxGetApiVersion(CUcontext handle, unsigned int* version) {
  DRIVER_CHECK(version, "no place for the version");
  if (!find_context(handle)) return fail(ErrorCode::kInvalidContext, "stale or foreign context");
  *version = 3020;
  return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize(void) { return result_of(Status(Context::current()->synchronize(), "a kernel has failed")); }
CUresult cuCtxSynchronize_v2(CUcontext handle) {
  const Ref<Context> context = find_context(handle);
  if (!context) return fail(ErrorCode::kInvalidContext, "stale or foreign context");
  return result_of(Status(context->synchronize(), "a kernel has failed"));
}

CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  if (least) *least = 0;
  if (greatest) *greatest = -5;
  return CUDA_SUCCESS;
}
CUresult cuCtxGetCacheConfig(CUfunc_cache* configuration) {
  DRIVER_CHECK(configuration, "no place for the setting");
  *configuration = static_cast<CUfunc_cache>(Context::current()->cache_config.load());
  return CUDA_SUCCESS;
}
CUresult cuCtxSetCacheConfig(CUfunc_cache configuration) {
  DRIVER_CHECK(configuration <= CU_FUNC_CACHE_PREFER_EQUAL, "unknown cache setting");
  Context::current()->cache_config = configuration;
  return CUDA_SUCCESS;
}
CUresult cuCtxGetSharedMemConfig(CUsharedconfig* configuration) {
  DRIVER_CHECK(configuration, "no place for the setting");
  *configuration = static_cast<CUsharedconfig>(Context::current()->shared_config.load());
  return CUDA_SUCCESS;
}
CUresult cuCtxSetSharedMemConfig(CUsharedconfig configuration) {
  DRIVER_CHECK(configuration <= CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE, "unknown shared memory setting");
  Context::current()->shared_config = configuration;
  return CUDA_SUCCESS;
}
CUresult cuCtxGetLimit(size_t* value, CUlimit limit) {
  DRIVER_CHECK(value, "no place for the limit");
  Context& context = *Context::current();
  if (limit == CU_LIMIT_MALLOC_HEAP_SIZE) {
    *value = context.device().execution.heap().limit();
    return CUDA_SUCCESS;
  }
  DRIVER_CHECK(limit < CU_LIMIT_MAX, "unknown limit");
  const auto* known = limit_of(context, limit);
  if (!known) return fail(ErrorCode::kUnsupportedLimit, "a limit that this device does not have");
  *value = known->load();
  return CUDA_SUCCESS;
}
CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
  Context& context = *Context::current();
  if (limit == CU_LIMIT_MALLOC_HEAP_SIZE) {
    if (!context.device().execution.heap().set_limit(value))
      return fail(ErrorCode::kInvalidValue, "the device heap's size can't change once a kernel has used it");
    return CUDA_SUCCESS;
  }
  DRIVER_CHECK(limit < CU_LIMIT_MAX, "unknown limit");
  auto* const known = limit_of(context, limit);
  if (!known) return fail(ErrorCode::kUnsupportedLimit, "a limit that this device does not have");
  known->store(value);
  return CUDA_SUCCESS;
}
CUresult cuCtxResetPersistingL2Cache(void) { return CUDA_SUCCESS; }

CUresult cuCtxEnablePeerAccess(CUcontext handle, unsigned int flags) {
  DRIVER_CHECK(flags == 0, "flags must be 0");
  const Ref<Context> peer = find_object<Context>(handle);
  if (!peer) return fail(ErrorCode::kInvalidContext, "null, stale or foreign context");
  Context& context = *Context::current();
  if (&peer->device() == &context.device()) return fail(ErrorCode::kInvalidDevice, "a device is no peer of itself");
  MutexLock lock(context.mutex);
  if (!context.peers.insert(peer->device().ordinal).second)
    return fail(ErrorCode::kPeerAccessAlreadyEnabled, "peer access to that device is enabled already");
  return CUDA_SUCCESS;
}
CUresult cuCtxDisablePeerAccess(CUcontext handle) {
  const Ref<Context> peer = find_object<Context>(handle);
  if (!peer) return fail(ErrorCode::kInvalidContext, "null, stale or foreign context");
  Context& context = *Context::current();
  MutexLock lock(context.mutex);
  if (context.peers.erase(peer->device().ordinal) == 0)
    return fail(ErrorCode::kPeerAccessNotEnabled, "peer access to that device is not enabled");
  return CUDA_SUCCESS;
}

}  // namespace impl
}  // namespace heddle::driver
