// cuda::thread_scope, shared by our <cuda/barrier> and <cuda/pipeline>. Where libcu++ is installed (its headers lie
// beside ours in namespace cuda) the enumeration is libcu++'s.
#pragma once
#if __has_include(<cuda/atomic>)
#include <cuda/atomic>
#else
namespace cuda {
enum thread_scope { thread_scope_system = 0, thread_scope_device, thread_scope_block, thread_scope_thread = 10 };
}
#endif

namespace cuda {
/// A number of bytes, and what source, destination and number are aligned to.
template <size_t Alignment>
struct aligned_size_t {
  static constexpr size_t align = Alignment;
  size_t value;
  __host__ __device__ explicit constexpr aligned_size_t(size_t bytes) : value(bytes) {}
  __host__ __device__ constexpr operator size_t() const { return value; }
};

namespace heddle_async {
template <size_t Alignment>
__device__ __forceinline__ void copy(void* destination, const void* source, size_t bytes, size_t rank, size_t threads) {
  constexpr size_t kWord = Alignment >= 16 ? 16 : Alignment >= 4 ? 4 : 1;
  if (kWord == 16)
    for (size_t i = rank; i < bytes / 16; i += threads) ((uint4*)destination)[i] = ((const uint4*)source)[i];
  else if (kWord == 4)
    for (size_t i = rank; i < bytes / 4; i += threads) ((unsigned*)destination)[i] = ((const unsigned*)source)[i];
  else
    for (size_t i = rank; i < bytes; i += threads) ((unsigned char*)destination)[i] = ((const unsigned char*)source)[i];
}
template <class Element>
struct AlignmentOf {
  static constexpr size_t value = alignof(Element);
};
template <>
struct AlignmentOf<void> {
  static constexpr size_t value = 1;
};
}  // namespace heddle_async
}  // namespace cuda
