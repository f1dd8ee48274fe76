#include "exec/host_memory.h"

#include <sys/mman.h>

#include <vector>

namespace heddle::exec {
namespace {
std::size_t mapped_bytes(std::size_t bytes) { return (bytes + 4095) / 4096 * 4096; }
}  // namespace

HostMemory& HostMemory::instance() {
  static HostMemory* const kMemory = new HostMemory;
  return *kMemory;
}

Result<std::uintptr_t> HostMemory::allocate(HostAllocation allocation) {
  if (allocation.bytes == 0) return Status(ErrorCode::kInvalidValue, "an allocation of 0 bytes");
  if (allocation.bytes > (std::size_t{1} << 46))
    return Status(ErrorCode::kOutOfMemory, "larger than the address space");
  void* memory = ::mmap(nullptr, mapped_bytes(allocation.bytes), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return Status(ErrorCode::kOutOfMemory, "the system has no more memory");
  allocation.begin = reinterpret_cast<std::uintptr_t>(memory);
  MutexLock lock(mutex_);
  all_[allocation.begin] = allocation;
  return allocation.begin;
}

Status HostMemory::add_registered(HostAllocation allocation) {
  MutexLock lock(mutex_);
  auto next = all_.lower_bound(allocation.begin);
  if (next != all_.end() && next->first < allocation.begin + allocation.bytes)
    return Status(ErrorCode::kHostMemoryAlreadyRegistered, "part of the range is registered already");
  if (next != all_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second.bytes > allocation.begin)
      return Status(ErrorCode::kHostMemoryAlreadyRegistered, "part of the range is registered already");
  }
  all_[allocation.begin] = allocation;
  return {};
}

Status HostMemory::remove(std::uintptr_t address, HostAllocation::Kind kind) {
  std::size_t unmap = 0;
  {
    MutexLock lock(mutex_);
    const auto found = all_.find(address);
    if (found == all_.end() || found->second.kind != kind)
      return Status(ErrorCode::kInvalidValue, "not the start of such an allocation");
    if (kind != HostAllocation::Kind::kRegistered) unmap = mapped_bytes(found->second.bytes);
    all_.erase(found);
  }
  if (unmap) ::munmap(reinterpret_cast<void*>(address), unmap);
  return {};
}

void HostMemory::remove_tagged(std::uint64_t mask, std::uint64_t tag) {
  std::vector<HostAllocation> gone;
  {
    MutexLock lock(mutex_);
    for (const auto& [begin, allocation] : all_)
      if ((allocation.tag & mask) == (tag & mask)) gone.push_back(allocation);
  }
  for (const HostAllocation& allocation : gone) (void)remove(allocation.begin, allocation.kind);
}

HostAllocation* HostMemory::locate(std::uintptr_t address) {
  auto after = all_.upper_bound(address);
  if (after == all_.begin()) return nullptr;
  --after;
  return address - after->first < after->second.bytes ? &after->second : nullptr;
}

std::optional<HostAllocation> HostMemory::find(std::uintptr_t address) const {
  MutexLock lock(mutex_);
  HostAllocation* const found = const_cast<HostMemory*>(this)->locate(address);
  if (!found) return std::nullopt;
  return *found;
}

}  // namespace heddle::exec
