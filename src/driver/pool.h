// Memory pools: stream-ordered allocation. A freed block keeps the point of the stream at which it was freed; it is
// used again in that stream at once, and elsewhere when that point has passed. Tested by
// tests/api/driver/memory_test.cc.
#pragma once

#include <cstdint>
#include <map>

#include "driver/object.h"
#include "driver/state.h"
#include "exec/stream.h"

namespace heddle::driver {

class Stream;

class MemoryPool final : public Object {
 public:
  static constexpr Tag kTag = Tag::kPool;
  MemoryPool(Device* device, std::size_t max_bytes) : Object(Tag::kPool, nullptr), device_(device), max_(max_bytes) {}
  ~MemoryPool() override;

  Device& device() const { return *device_; }
  Result<std::uintptr_t> allocate(std::size_t bytes, Stream& stream, std::uint64_t tag);
  /// False if the address is no block of this pool that is in use.
  bool free(std::uintptr_t address, Stream& stream);
  bool owns(std::uintptr_t address);
  /// Gives free blocks whose time has come back to the device until at most `keep` bytes are reserved.
  void trim(std::size_t keep);
  /// Forgets blocks in use that were freed otherwise (cuMemFree, the end of their context).
  bool forget(std::uintptr_t address);
  void forget_tagged(std::uint64_t mask, std::uint64_t tag);

  Mutex mutex;
  std::uint64_t threshold GUARDED_BY(mutex) = 0;
  int reuse_event GUARDED_BY(mutex) = 1, reuse_opportunistic GUARDED_BY(mutex) = 1,
                  reuse_internal GUARDED_BY(mutex) = 1;
  std::uint64_t reserved GUARDED_BY(mutex) = 0, used GUARDED_BY(mutex) = 0;
  std::uint64_t reserved_high GUARDED_BY(mutex) = 0, used_high GUARDED_BY(mutex) = 0;
  std::map<int, CUmemAccess_flags> access GUARDED_BY(mutex);

 private:
  struct Free {
    std::uintptr_t address;
    exec::Fence freed_at;
  };
  struct Used {
    std::size_t size;
    std::uint64_t tag;
  };
  Device* const device_;
  const std::size_t max_;
  std::multimap<std::size_t, Free> free_ GUARDED_BY(mutex);
  std::map<std::uintptr_t, Used> used_blocks_ GUARDED_BY(mutex);
};

/// The device's pools, at synchronisation: gives back what is above their thresholds.
void trim_pools(Device& device);
/// Before a device allocation fails for lack of memory.
void release_cached_blocks(Device& device);
void forget_pool_block(std::uintptr_t address);
void drop_pool_blocks(Device& device, std::uint64_t tag);

}  // namespace heddle::driver
