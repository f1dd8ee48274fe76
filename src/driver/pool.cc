// Memory pools and cuMemAllocAsync. Tested by tests/api/driver/memory_test.cc.
#include "driver/pool.h"

#include <algorithm>
#include <vector>

#include "driver/memory.h"
#include "driver/stream.h"

namespace heddle::driver {
namespace {

constexpr std::size_t round_up(std::size_t bytes) {
  // Classes keep blocks reusable: 512 bytes up to 64 KiB, then pages of 64 KiB.
  const std::size_t step = bytes <= (64u << 10) ? 512 : 64u << 10;
  return (bytes + step - 1) / step * step;
}

// Every pool that lives, for what must look at all of them. Pools are few.
struct Pools {
  Mutex mutex;
  std::vector<MemoryPool*> all GUARDED_BY(mutex);
};
Pools& pools() {
  static Pools* const kPools = new Pools;
  return *kPools;
}
std::atomic<int> g_pools{0};

Ref<MemoryPool> create_pool(Device* device, std::size_t max_bytes) {
  auto pool = make_ref<MemoryPool>(device, max_bytes);
  Pools& list = pools();
  MutexLock lock(list.mutex);
  list.all.push_back(pool.get());
  g_pools.fetch_add(1);
  return pool;
}

template <class Visit>
void for_each_pool(Visit visit) {
  if (g_pools.load(std::memory_order_acquire) == 0) return;
  std::vector<Ref<MemoryPool>> list;
  {
    MutexLock lock(pools().mutex);
    for (MemoryPool* pool : pools().all) list.emplace_back(pool);
  }
  for (const auto& pool : list) visit(*pool);
}

Ref<MemoryPool> default_pool(Device& device) {
  MutexLock lock(device.mutex);
  if (!device.default_pool) {
    device.default_pool = create_pool(&device, 0);
    registry::add(device.default_pool.get());
    device.current_pool = device.default_pool;
  }
  return device.default_pool;
}
Ref<MemoryPool> current_pool(Device& device) {
  default_pool(device);
  MutexLock lock(device.mutex);
  return device.current_pool;
}

}  // namespace

MemoryPool::~MemoryPool() {
  {
    MutexLock lock(pools().mutex);
    std::erase(pools().all, this);
    g_pools.fetch_sub(1);
  }
  for (const auto& [size, block] : free_) {
    block.freed_at.wait();
    (void)device_->execution.memory().free(block.address);
  }
}

Result<std::uintptr_t> MemoryPool::allocate(std::size_t bytes, Stream& stream, std::uint64_t tag) {
  if (bytes == 0) return Status(ErrorCode::kInvalidValue, "an allocation of 0 bytes");
  if (bytes > device_->execution.memory().capacity())
    return Status(ErrorCode::kOutOfMemory, "more than the device's memory");
  const std::size_t size = round_up(bytes);
  MutexLock lock(mutex);
  auto [begin, end] = free_.equal_range(size);
  auto block = std::find_if(begin, end, [&](const auto& entry) {
    return entry.second.freed_at.stream.get() == &stream.queue() || entry.second.freed_at.done();
  });
  std::uintptr_t address = 0;
  if (block != end) {
    address = block->second.address;
    free_.erase(block);
  } else {
    if (max_ && reserved + size > max_) return Status(ErrorCode::kOutOfMemory, "the pool's largest size is reached");
    auto fresh = device_->execution.memory().allocate(size, tag);
    if (!fresh) {
      // What is free but of another size may be what is missing.
      for (auto entry = free_.begin(); entry != free_.end();) {
        entry->second.freed_at.wait();
        (void)device_->execution.memory().free(entry->second.address);
        reserved -= entry->first;
        entry = free_.erase(entry);
      }
      fresh = device_->execution.memory().allocate(size, tag);
      if (!fresh) return fresh.error();
    }
    address = *fresh;
    reserved += size;
    reserved_high = std::max(reserved_high, reserved);
  }
  used += size;
  used_high = std::max(used_high, used);
  used_blocks_[address] = {size, tag};
  return address;
}

bool MemoryPool::free(std::uintptr_t address, Stream& stream) {
  MutexLock lock(mutex);
  const auto found = used_blocks_.find(address);
  if (found == used_blocks_.end()) return false;
  used -= found->second.size;
  free_.emplace(found->second.size, Free{address, stream.queue().last()});
  used_blocks_.erase(found);
  return true;
}

bool MemoryPool::owns(std::uintptr_t address) {
  MutexLock lock(mutex);
  return used_blocks_.contains(address);
}

bool MemoryPool::forget(std::uintptr_t address) {
  MutexLock lock(mutex);
  const auto found = used_blocks_.find(address);
  if (found == used_blocks_.end()) return false;
  used -= found->second.size;
  reserved -= found->second.size;
  used_blocks_.erase(found);
  return true;
}

void MemoryPool::forget_tagged(std::uint64_t mask, std::uint64_t tag) {
  MutexLock lock(mutex);
  for (auto entry = used_blocks_.begin(); entry != used_blocks_.end();) {
    if ((entry->second.tag & mask) == (tag & mask)) {
      used -= entry->second.size;
      reserved -= entry->second.size;
      entry = used_blocks_.erase(entry);
    } else {
      ++entry;
    }
  }
}

void MemoryPool::trim(std::size_t keep) {
  MutexLock lock(mutex);
  for (auto entry = free_.begin(); entry != free_.end() && reserved > keep;) {
    if (!entry->second.freed_at.done()) {
      ++entry;
      continue;
    }
    (void)device_->execution.memory().free(entry->second.address);
    reserved -= entry->first;
    entry = free_.erase(entry);
  }
}

void trim_pools(Device& device) {
  for_each_pool([&](MemoryPool& pool) {
    if (&pool.device() != &device) return;
    std::uint64_t keep = 0;
    {
      MutexLock lock(pool.mutex);
      keep = pool.threshold;
      if (pool.reserved <= keep || pool.reserved == pool.used) return;
    }
    pool.trim(keep);
  });
}
void release_cached_blocks(Device& device) {
  for_each_pool([&](MemoryPool& pool) {
    if (&pool.device() == &device) pool.trim(0);
  });
}
void forget_pool_block(std::uintptr_t address) {
  for_each_pool([&](MemoryPool& pool) { pool.forget(address); });
}
// All streams of the context have ended, so its free blocks may go; the memory of those in use goes by their tags.
void drop_pool_blocks(Device& device, std::uint64_t tag) {
  for_each_pool([&](MemoryPool& pool) {
    if (&pool.device() != &device) return;
    pool.trim(0);
    pool.forget_tagged(Context::kTagMask, tag);
  });
}

namespace {

CUresult allocate_async(CUdeviceptr* pointer, size_t bytes, MemoryPool& pool, CUstream handle) {
  const Ref<Stream> stream = find_stream(handle);
  if (!stream) return fail(ErrorCode::kInvalidHandle, "stale or foreign stream");
  if (stream->is_capturing()) return fail(ErrorCode::kNotSupported, "allocations can't be captured into a graph yet");
  DRIVER_ASSIGN(const std::uintptr_t address, pool.allocate(bytes, *stream, stream->context().new_tag()));
  *pointer = address;
  return CUDA_SUCCESS;
}

constexpr const char* kStale = "null, stale or foreign pool";

bool is_device_location(const CUmemLocation& location) { return location.type == CU_MEM_LOCATION_TYPE_DEVICE; }

}  // namespace

namespace impl {

CUresult cuMemAllocAsync(CUdeviceptr* pointer, size_t bytes, CUstream stream) {
  DRIVER_CHECK(pointer, "no place for the address");
  return allocate_async(pointer, bytes, *current_pool(Context::current()->device()), stream);
}
CUresult cuMemAllocFromPoolAsync(CUdeviceptr* pointer, size_t bytes, CUmemoryPool handle, CUstream stream) {
  DRIVER_CHECK(pointer, "no place for the address");
  const Ref<MemoryPool> pool = find_object<MemoryPool>(handle);
  DRIVER_CHECK(pool, kStale);
  return allocate_async(pointer, bytes, *pool, stream);
}
CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream handle) {
  const Ref<Stream> stream = find_stream(handle);
  if (!stream) return fail(ErrorCode::kInvalidHandle, "stale or foreign stream");
  if (pointer == 0) return CUDA_SUCCESS;
  if (stream->is_capturing()) return fail(ErrorCode::kNotSupported, "frees can't be captured into a graph yet");
  bool freed = false;
  for_each_pool([&](MemoryPool& pool) { freed = freed || pool.free(pointer, *stream); });
  if (freed) return CUDA_SUCCESS;
  const auto found = find_allocation(pointer);
  DRIVER_CHECK(found && found->begin == pointer && found->kind == Allocation::Kind::kDevice,
               "not the start of an allocation in use");
  // Memory of cuMemAlloc may be freed in stream order too.
  const int device = found->device;
  return enqueue(*stream,
                 make_ref<FunctionOperation>(
                     CU_GRAPH_NODE_TYPE_MEM_FREE,
                     [pointer, device](Context&) { (void)find_device(device)->execution.memory().free(pointer); }),
                 Effort::kShort);
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice number) {
  DRIVER_CHECK(pool, "no place for the pool's handle");
  Device* const device = find_device(number);
  if (!device) return fail(ErrorCode::kInvalidDevice, "no device with this number");
  *pool = handle_of<CUmemoryPool>(default_pool(*device).get());
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice number) {
  DRIVER_CHECK(pool, "no place for the pool's handle");
  Device* const device = find_device(number);
  if (!device) return fail(ErrorCode::kInvalidDevice, "no device with this number");
  *pool = handle_of<CUmemoryPool>(current_pool(*device).get());
  return CUDA_SUCCESS;
}
CUresult cuDeviceSetMemPool(CUdevice number, CUmemoryPool handle) {
  Device* const device = find_device(number);
  if (!device) return fail(ErrorCode::kInvalidDevice, "no device with this number");
  const Ref<MemoryPool> pool = find_object<MemoryPool>(handle);
  DRIVER_CHECK(pool && &pool->device() == device, "null, stale or foreign pool, or one of another device");
  default_pool(*device);
  MutexLock lock(device->mutex);
  device->current_pool = pool;
  return CUDA_SUCCESS;
}
CUresult cuMemGetDefaultMemPool(CUmemoryPool* pool, CUmemLocation* location, CUmemAllocationType) {
  DRIVER_CHECK(location, "no location");
  if (!is_device_location(*location)) return fail(ErrorCode::kNotSupported, "pools are of device memory only");
  return impl::cuDeviceGetDefaultMemPool(pool, location->id);
}
CUresult cuMemGetMemPool(CUmemoryPool* pool, CUmemLocation* location, CUmemAllocationType) {
  DRIVER_CHECK(location, "no location");
  if (!is_device_location(*location)) return fail(ErrorCode::kNotSupported, "pools are of device memory only");
  return impl::cuDeviceGetMemPool(pool, location->id);
}
CUresult cuMemSetMemPool(CUmemLocation* location, CUmemAllocationType, CUmemoryPool pool) {
  DRIVER_CHECK(location, "no location");
  if (!is_device_location(*location)) return fail(ErrorCode::kNotSupported, "pools are of device memory only");
  return impl::cuDeviceSetMemPool(location->id, pool);
}

CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  DRIVER_CHECK(pool && properties, "no place for the pool's handle, or no properties");
  DRIVER_CHECK(properties->allocType == CU_MEM_ALLOCATION_TYPE_PINNED, "the allocation type must be pinned");
  if (!is_device_location(properties->location))
    return fail(ErrorCode::kNotSupported, "pools are of device memory only");
  Device* const device = find_device(properties->location.id);
  if (!device) return fail(ErrorCode::kInvalidDevice, "no device with this number");
  if (properties->handleTypes != CU_MEM_HANDLE_TYPE_NONE)
    return fail(ErrorCode::kNotSupported, "pools can't be shared between processes");
  *pool = publish<CUmemoryPool>(create_pool(device, properties->maxSize));
  return CUDA_SUCCESS;
}
CUresult cuMemPoolDestroy(CUmemoryPool handle) {
  const Ref<MemoryPool> pool = find_object<MemoryPool>(handle);
  DRIVER_CHECK(pool, kStale);
  Device& device = pool->device();
  {
    MutexLock lock(device.mutex);
    DRIVER_CHECK(pool.get() != device.default_pool.get(), "a default pool can't be destroyed");
    if (device.current_pool.get() == pool.get()) device.current_pool = device.default_pool;
  }
  registry::remove(pool.get());
  return CUDA_SUCCESS;
}
CUresult cuMemPoolTrimTo(CUmemoryPool handle, size_t bytes_kept) {
  const Ref<MemoryPool> pool = find_object<MemoryPool>(handle);
  DRIVER_CHECK(pool, kStale);
  pool->trim(bytes_kept);
  return CUDA_SUCCESS;
}
CUresult cuMemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void* value) {
  const Ref<MemoryPool> pool = find_object<MemoryPool>(handle);
  DRIVER_CHECK(pool && value, "no place for the value, or a null, stale or foreign pool");
  MutexLock lock(pool->mutex);
  switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES: *static_cast<int*>(value) = pool->reuse_event; break;
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC: *static_cast<int*>(value) = pool->reuse_opportunistic; break;
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES: *static_cast<int*>(value) = pool->reuse_internal; break;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: *static_cast<cuuint64_t*>(value) = pool->threshold; break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT: *static_cast<cuuint64_t*>(value) = pool->reserved; break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH: *static_cast<cuuint64_t*>(value) = pool->reserved_high; break;
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT: *static_cast<cuuint64_t*>(value) = pool->used; break;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH: *static_cast<cuuint64_t*>(value) = pool->used_high; break;
    default: return fail(ErrorCode::kInvalidValue, "unknown pool attribute");
  }
  return CUDA_SUCCESS;
}
CUresult cuMemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void* value) {
  const Ref<MemoryPool> pool = find_object<MemoryPool>(handle);
  DRIVER_CHECK(pool && value, "no value, or a null, stale or foreign pool");
  MutexLock lock(pool->mutex);
  switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES: pool->reuse_event = *static_cast<int*>(value); break;
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC: pool->reuse_opportunistic = *static_cast<int*>(value); break;
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES: pool->reuse_internal = *static_cast<int*>(value); break;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: pool->threshold = *static_cast<cuuint64_t*>(value); break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH: {
      DRIVER_CHECK(*static_cast<cuuint64_t*>(value) == 0, "a high-water mark can only be reset to 0");
      if (attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH) {
        pool->reserved_high = pool->reserved;
      } else {
        pool->used_high = pool->used;
      }
      break;
    }
    default: return fail(ErrorCode::kInvalidValue, "not an attribute that can be set");
  }
  return CUDA_SUCCESS;
}
CUresult cuMemPoolSetAccess(CUmemoryPool handle, const CUmemAccessDesc* map, size_t count) {
  const Ref<MemoryPool> pool = find_object<MemoryPool>(handle);
  DRIVER_CHECK(pool && (map || count == 0), "no descriptors, or a null, stale or foreign pool");
  for (size_t i = 0; i < count; ++i) {
    if (!is_device_location(map[i].location) || !find_device(map[i].location.id))
      return fail(ErrorCode::kInvalidDevice, "no such device");
    DRIVER_CHECK(map[i].location.id != pool->device().ordinal || map[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
                 "the pool's own device always has access");
  }
  MutexLock lock(pool->mutex);
  for (size_t i = 0; i < count; ++i) pool->access[map[i].location.id] = map[i].flags;
  return CUDA_SUCCESS;
}
CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool handle, CUmemLocation* location) {
  const Ref<MemoryPool> pool = find_object<MemoryPool>(handle);
  DRIVER_CHECK(pool && flags && location, "no place for the flags, or a null, stale or foreign pool");
  if (!is_device_location(*location) || !find_device(location->id))
    return fail(ErrorCode::kInvalidDevice, "no such device");
  MutexLock lock(pool->mutex);
  const auto found = pool->access.find(location->id);
  *flags = location->id == pool->device().ordinal ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
           : found != pool->access.end()          ? found->second
                                                  : CU_MEM_ACCESS_FLAGS_PROT_NONE;
  return CUDA_SUCCESS;
}

}  // namespace impl
}  // namespace heddle::driver
