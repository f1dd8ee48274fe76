// Contexts: what is current on a thread, and what a context owns. Tested by tests/api/driver/context_test.cc.
#pragma once

#include <atomic>
#include <cstdint>
#include <set>
#include <vector>

#include "driver/object.h"
#include "driver/state.h"
#include "exec/stream.h"

namespace heddle::driver {

class Stream;

class Context final : public Object {
 public:
  static constexpr Tag kTag = Tag::kContext;

  Context(Device* device, unsigned flags, bool is_primary);

  /// The calling thread's current context; null if none.
  static Context* current() { return t_current; }
  static void push(Ref<Context> context);
  /// Takes the top of the thread's stack off; empty if there is none.
  static Ref<Context> pop();
  /// Replaces the top of the thread's stack (null: removes it).
  static void set_current(Ref<Context> context);

  Device& device() const { return *device_; }
  exec::DeviceMemory& memory() const { return device_->execution.memory(); }
  bool is_primary() const { return is_primary_; }
  unsigned flags() const { return flags_.load(std::memory_order_relaxed); }
  void set_flags(unsigned flags) { flags_.store(flags, std::memory_order_relaxed); }
  std::uint64_t id() const { return id_; }
  /// For a new allocation: the context's id above, a running number below.
  std::uint64_t new_tag();
  static constexpr std::uint64_t kTagMask = ~std::uint64_t{0} << 40;
  std::uint64_t tag() const { return id_ << 40; }

  /// kSuccess, the sticky error, or kContextIsDestroyed. A few loads: on the path of every call.
  ErrorCode state() const {
    if (dead_.load(std::memory_order_acquire)) return ErrorCode::kContextIsDestroyed;
    return streams_->failure();
  }
  void set_alive() { dead_.store(false, std::memory_order_release); }
  exec::StreamGroup& streams() const { return *streams_; }
  const Ref<exec::StreamGroup>& streams_ref() const { return streams_; }
  /// The legacy default stream.
  Stream& default_stream() const { return *default_stream_; }
  /// The calling thread's default stream, made at its first use.
  Ref<Stream> thread_stream();
  /// Waits for all work, shows what kernels printed, and gives the sticky error if there is one.
  ErrorCode synchronize();
  /// Waits, and destroys all that the context owns. The object stays, dead, while somebody refers to it.
  void destroy();

  // Settings that programs read back.
  std::atomic<unsigned> cache_config{0};
  std::atomic<unsigned> shared_config{0};
  std::atomic<std::size_t> stack_limit{1024};
  std::atomic<std::size_t> printf_limit{1u << 20};
  std::atomic<std::size_t> sync_depth_limit{2};
  std::atomic<std::size_t> pending_launch_limit{2048};
  std::atomic<std::size_t> l2_granularity{128};
  std::atomic<std::size_t> persisting_l2{0};
  Mutex mutex;
  std::set<int> peers GUARDED_BY(mutex);  ///< devices whose memory may be accessed

 private:
  [[gnu::tls_model("initial-exec")]] static thread_local constinit Context* t_current;

  Device* const device_;
  const bool is_primary_;
  const std::uint64_t id_;
  std::atomic<std::uint64_t> next_number_{1};
  std::atomic<unsigned> flags_;
  std::atomic<bool> dead_{false};
  Ref<exec::StreamGroup> streams_;
  Ref<Stream> default_stream_;
};

/// The context behind a handle; null means the current one. Null if it is stale or (with null) none is current.
Ref<Context> find_context(CUcontext handle);

}  // namespace heddle::driver
