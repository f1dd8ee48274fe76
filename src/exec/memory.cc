#include "exec/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "base/log.h"
#include "base/options.h"

namespace heddle::exec {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kHugePage = 2u << 20;
// Allocations from here on begin on a page of their own and are given back to the system when they are freed; smaller
// ones share pages, and those stay mapped.
constexpr std::size_t kLarge = 64u << 10;

constexpr std::size_t round_up(std::size_t value, std::size_t to) { return (value + to - 1) / to * to; }

}  // namespace

DeviceMemory::DeviceMemory(std::size_t capacity) : capacity_(round_up(capacity, kHugePage)) {
  // Alignment and guard pages take address space that is not counted as memory: twice the range is reserved.
  reserved_ = capacity_ * 2;
  void* range = ::mmap(nullptr, reserved_ + kHugePage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) {
    LOG_ERROR("can't reserve %zu bytes of address space for device memory: check ulimit -v", reserved_);
    reserved_ = capacity_ = 0;
    return;
  }
  base_ = round_up(reinterpret_cast<std::uintptr_t>(range), kHugePage);
  holes_[base_] = reserved_;
}

DeviceMemory::~DeviceMemory() {
  if (base_) ::munmap(reinterpret_cast<void*>(base_), reserved_);
}

Result<std::uintptr_t> DeviceMemory::allocate(std::size_t bytes, std::uint64_t tag) {
  if (bytes == 0) return Status(ErrorCode::kInvalidValue, "an allocation of 0 bytes");
  if (bytes > capacity_) return Status(ErrorCode::kOutOfMemory, "more than the device's memory");
  std::size_t alignment = kAlignment;
  std::size_t size = round_up(bytes, kAlignment);
  if (bytes >= kLarge) {
    alignment = bytes >= 2 * kHugePage ? kHugePage : kPage;
    size = round_up(bytes, kPage) + kPage;  // the page behind it stays inaccessible
  }
  MutexLock lock(mutex_);
  if (used_ + round_up(bytes, kAlignment) > capacity_) return Status(ErrorCode::kOutOfMemory, "device memory is full");
  for (auto hole = holes_.begin(); hole != holes_.end(); ++hole) {
    const std::uintptr_t begin = round_up(hole->first, alignment);
    const std::uintptr_t end = hole->first + hole->second;
    if (begin + size > end || begin + size < begin) continue;
    const std::uintptr_t page_begin = begin / kPage * kPage;
    const std::size_t commit = round_up(begin + bytes, kPage) - page_begin;
    if (::mprotect(reinterpret_cast<void*>(page_begin), commit, PROT_READ | PROT_WRITE) != 0)
      return Status(ErrorCode::kOutOfMemory, "the system has no more memory mappings");
    if (bytes >= 2 * kHugePage) ::madvise(reinterpret_cast<void*>(page_begin), commit, MADV_HUGEPAGE);
    const std::uintptr_t hole_begin = hole->first;
    holes_.erase(hole);
    if (begin > hole_begin) holes_[hole_begin] = begin - hole_begin;
    if (begin + size < end) holes_[begin + size] = end - begin - size;
    allocations_[begin] = {bytes, size, tag};
    used_ += round_up(bytes, kAlignment);
    return begin;
  }
  return Status(ErrorCode::kOutOfMemory, "device memory is fragmented");
}

Status DeviceMemory::free(std::uintptr_t address) {
  MutexLock lock(mutex_);
  const auto found = allocations_.find(address);
  if (found == allocations_.end()) return Status(ErrorCode::kInvalidValue, "not the start of a device allocation");
  const Allocation allocation = found->second;
  allocations_.erase(found);
  used_ -= round_up(allocation.bytes, kAlignment);
  if (allocation.bytes >= kLarge) {
    void* const begin = reinterpret_cast<void*>(address);
    const std::size_t size = round_up(allocation.bytes, kPage);
    ::madvise(begin, size, MADV_DONTNEED);
    // Fails when the process has too many mappings; then a use after free is not noticed, and nothing else happens.
    [[maybe_unused]] const int failed = ::mprotect(begin, size, PROT_NONE);
  }
  release_hole(address, allocation.reserved);
  return {};
}

void DeviceMemory::free_tagged(std::uint64_t mask, std::uint64_t tag) {
  std::vector<std::uintptr_t> all;
  {
    MutexLock lock(mutex_);
    for (const auto& [address, allocation] : allocations_)
      if ((allocation.tag & mask) == (tag & mask)) all.push_back(address);
  }
  for (const std::uintptr_t address : all) (void)free(address);
}

void DeviceMemory::release_hole(std::uintptr_t begin, std::size_t bytes) {
  auto next = holes_.lower_bound(begin);
  if (next != holes_.end() && begin + bytes == next->first) {
    bytes += next->second;
    next = holes_.erase(next);
  }
  if (next != holes_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == begin) {
      before->second += bytes;
      return;
    }
  }
  holes_[begin] = bytes;
}

std::optional<Range> DeviceMemory::find(std::uintptr_t address) const {
  if (!contains(address)) return std::nullopt;
  MutexLock lock(mutex_);
  auto after = allocations_.upper_bound(address);
  if (after == allocations_.begin()) return std::nullopt;
  --after;
  if (address - after->first >= after->second.bytes) return std::nullopt;
  return Range{after->first, after->second.bytes};
}

std::optional<std::uint64_t> DeviceMemory::find_tag(std::uintptr_t address) const {
  if (!contains(address)) return std::nullopt;
  MutexLock lock(mutex_);
  auto after = allocations_.upper_bound(address);
  if (after == allocations_.begin()) return std::nullopt;
  --after;
  if (address - after->first >= after->second.bytes) return std::nullopt;
  return after->second.tag;
}

std::size_t DeviceMemory::used() const {
  MutexLock lock(mutex_);
  return used_;
}

std::size_t default_device_memory(int devices) {
  const auto pages = static_cast<std::size_t>(std::max(::sysconf(_SC_PHYS_PAGES), 1L));
  // Half of the machine's: programs hold their data twice, here and on their own side, and the allocation that does not
  // fit has to fail rather than wake the kernel's out-of-memory killer.
  const std::size_t half = pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) / 2;
  const std::size_t share = std::max<std::size_t>(half / static_cast<std::size_t>(std::max(devices, 1)), 64u << 20);
  return std::max<std::size_t>(parse_bytes(options().device_memory, share), 1u << 20);
}

}  // namespace heddle::exec
