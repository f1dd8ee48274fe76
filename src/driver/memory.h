// What an address belongs to, and device allocations. Tested by tests/api/driver/memory_test.cc.
#pragma once

#include <cstdint>
#include <optional>

#include "driver/context.h"
#include "exec/host_memory.h"

namespace heddle::driver {

/// A piece of memory that the API knows.
struct Allocation {
  enum class Kind { kDevice, kPinned, kRegistered, kManaged, kMapped };
  Kind kind = Kind::kDevice;
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  int device = 0;
  std::uint64_t tag = 0;
  unsigned flags = 0;
  exec::HostAllocation host;  ///< the rest of it, unless device memory

  bool is_host() const { return kind != Kind::kDevice && kind != Kind::kMapped; }
  /// Whether the range lies inside.
  bool covers(std::uintptr_t address, std::size_t size) const { return size <= bytes - (address - begin); }
};

std::optional<Allocation> find_allocation(std::uintptr_t address);

/// Checks that [address, address + bytes) is memory that the device can reach; kInvalidValue otherwise.
Status check_range(std::uintptr_t address, std::size_t bytes);

/// Frees a device or managed allocation, after all work of its context.
Status free_memory(std::uintptr_t address);

}  // namespace heddle::driver
