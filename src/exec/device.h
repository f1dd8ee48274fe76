// One virtual GPU as exec sees it: its memory, and the heap that kernels allocate from. Tested by exec/memory_test.cc.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/mutex.h"
#include "exec/memory.h"

namespace heddle::exec {

/// malloc and free inside kernels: blocks of powers of two from one region, taken from device memory at the first use.
/// The lists of free blocks lie outside the region, so a kernel that writes past its block breaks no lock.
class DeviceHeap {
 public:
  explicit DeviceHeap(DeviceMemory& memory) : memory_(memory) {}
  /// Null when the heap is full.
  void* allocate(std::uint64_t bytes);
  /// False unless `pointer` came from allocate() and is in use.
  bool free(void* pointer);
  /// cudaLimitMallocHeapSize; false once the heap is in use.
  bool set_limit(std::size_t bytes);
  std::size_t limit() const { return limit_.load(std::memory_order_relaxed); }

 private:
  DeviceMemory& memory_;
  std::atomic<std::size_t> limit_{8u << 20};
  Mutex mutex_;
  std::uintptr_t base_ GUARDED_BY(mutex_) = 0;
  std::size_t top_ GUARDED_BY(mutex_) = 0;
  std::vector<std::uintptr_t> free_[64] GUARDED_BY(mutex_);
  std::map<std::uintptr_t, int> used_ GUARDED_BY(mutex_);
};

class Device {
 public:
  Device(int index, std::size_t bytes) : index_(index), memory_(bytes), heap_(memory_) {}
  int index() const { return index_; }
  DeviceMemory& memory() { return memory_; }
  DeviceHeap& heap() { return heap_; }

 private:
  const int index_;
  DeviceMemory memory_;
  DeviceHeap heap_;
};

}  // namespace heddle::exec
