#include "exec/device.h"

#include <algorithm>
#include <bit>

namespace heddle::exec {

void* DeviceHeap::allocate(std::uint64_t bytes) {
  if (bytes == 0 || bytes > limit()) return nullptr;
  const int order = std::max(4, static_cast<int>(std::bit_width(bytes - 1)));
  MutexLock lock(mutex_);
  if (!base_) {
    const auto region = memory_.allocate(limit());
    if (!region) return nullptr;
    base_ = *region;
  }
  std::uintptr_t block = 0;
  if (!free_[order].empty()) {
    block = free_[order].back();
    free_[order].pop_back();
  } else {
    const std::size_t size = std::size_t{1} << order;
    if (top_ + size > limit()) return nullptr;
    block = base_ + top_;
    top_ += size;
  }
  used_[block] = order;
  return reinterpret_cast<void*>(block);
}

bool DeviceHeap::free(void* pointer) {
  if (!pointer) return true;
  MutexLock lock(mutex_);
  const auto found = used_.find(reinterpret_cast<std::uintptr_t>(pointer));
  if (found == used_.end()) return false;
  free_[found->second].push_back(found->first);
  used_.erase(found);
  return true;
}

bool DeviceHeap::set_limit(std::size_t bytes) {
  MutexLock lock(mutex_);
  if (base_) return false;
  limit_.store(std::max<std::size_t>(bytes, 4096), std::memory_order_relaxed);
  return true;
}

}  // namespace heddle::exec
