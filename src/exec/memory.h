// Device memory: one large reserved address range per device, and the allocator inside it.
//
// Device pointers are plain addresses. Only what is allocated is accessible (at page granularity), so a wild access in
// a kernel faults as it does on a GPU. mprotect is paid at allocation, never at launch. Tested by exec/memory_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "base/mutex.h"
#include "base/status.h"

namespace heddle::exec {

struct Range {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
};

class DeviceMemory {
 public:
  /// CUDA promises 256 bytes; NVIDIA's driver gives 512, and programs have come to rely on it.
  static constexpr std::size_t kAlignment = 512;

  /// Reserves address space for `capacity` bytes; nothing is committed.
  explicit DeviceMemory(std::size_t capacity);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// kOutOfMemory when no hole is large enough; kInvalidValue for 0 bytes. `tag` is kept with the allocation.
  Result<std::uintptr_t> allocate(std::size_t bytes, std::uint64_t tag = 0);
  /// kInvalidValue unless `address` is the start of an allocation.
  Status free(std::uintptr_t address);
  /// Frees every allocation whose tag agrees with `tag` in the bits of `mask`.
  void free_tagged(std::uint64_t mask, std::uint64_t tag);
  /// The allocation that contains `address`.
  std::optional<Range> find(std::uintptr_t address) const;
  std::optional<std::uint64_t> find_tag(std::uintptr_t address) const;
  bool contains(std::uintptr_t address) const { return address - base_ < reserved_; }

  std::size_t capacity() const { return capacity_; }
  std::size_t used() const;

 private:
  struct Allocation {
    std::size_t bytes = 0;     ///< as asked
    std::size_t reserved = 0;  ///< as taken from the range
    std::uint64_t tag = 0;
  };
  void release_hole(std::uintptr_t begin, std::size_t bytes) REQUIRES(mutex_);

  std::uintptr_t base_ = 0;
  std::size_t capacity_ = 0;
  std::size_t reserved_ = 0;
  mutable Mutex mutex_;
  std::map<std::uintptr_t, Allocation> allocations_ GUARDED_BY(mutex_);
  std::map<std::uintptr_t, std::size_t> holes_ GUARDED_BY(mutex_);
  std::size_t used_ GUARDED_BY(mutex_) = 0;
};

/// Bytes of device memory for each of `devices` virtual GPUs: the option device_memory, or a share of half of the machine's.
std::size_t default_device_memory(int devices);

}  // namespace heddle::exec
