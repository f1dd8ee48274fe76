// Host memory that the API knows: pinned, registered, and managed allocations, found by address.
// Tested by exec/memory_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "base/mutex.h"
#include "base/status.h"

namespace heddle::exec {

struct HostAllocation {
  enum class Kind { kPinned, kRegistered, kManaged };
  Kind kind = Kind::kPinned;
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  unsigned flags = 0;     ///< as the API was given them
  std::uint64_t tag = 0;  ///< owner and number, as for device memory
  int device = 0;
  // Advice about managed memory; it has no effect on a CPU but can be asked for.
  int preferred_location = -2;
  int last_prefetch = -2;
  bool read_mostly = false;
};

class HostMemory {
 public:
  static HostMemory& instance();

  /// Page-aligned zeroed memory.
  Result<std::uintptr_t> allocate(HostAllocation allocation);
  /// kHostMemoryAlreadyRegistered if the range meets a known one.
  Status add_registered(HostAllocation allocation);
  /// Frees (or forgets, if registered) what begins at `address` and is of the given kind; kInvalidValue otherwise.
  Status remove(std::uintptr_t address, HostAllocation::Kind kind);
  void remove_tagged(std::uint64_t mask, std::uint64_t tag);
  std::optional<HostAllocation> find(std::uintptr_t address) const;
  /// Changes an allocation's advice; false if `address` is in none.
  template <class Change>
  bool update(std::uintptr_t address, Change change) {
    MutexLock lock(mutex_);
    HostAllocation* const found = locate(address);
    if (!found) return false;
    change(*found);
    return true;
  }

 private:
  HostAllocation* locate(std::uintptr_t address) REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::map<std::uintptr_t, HostAllocation> all_ GUARDED_BY(mutex_);
};

}  // namespace heddle::exec
