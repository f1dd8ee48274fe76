// cooperative_groups::memcpy_async and wait: copies by all threads of a group.
//
// The copy here is done by the time memcpy_async returns to each thread, and wait() is the group's barrier that makes
// it visible: legal by the programming guide (the copy may complete at any time before the wait), and on a CPU there is
// nothing to overlap it with. Tested by tests/programs/cooperative_groups.cu.
#ifndef _COOPERATIVE_GROUPS_MEMCPY_ASYNC_H_
#define _COOPERATIVE_GROUPS_MEMCPY_ASYNC_H_
#include "../cooperative_groups.h"
#if defined(__cplusplus) && defined(__CUDACC__)

namespace cooperative_groups {
namespace details {

template <class Word, class Group>
HEDDLE_CG_METHOD void copy_words(const Group& group, void* destination, const void* source, size_t words) {
  size_t step = (size_t)group.size();
  for (size_t i = (size_t)group.thread_rank(); i < words; i += step) ((Word*)destination)[i] = ((const Word*)source)[i];
}

template <class Group>
HEDDLE_CG_METHOD void copy_bytes(const Group& group, void* destination, const void* source, size_t bytes) {
  size_t bits = (size_t)destination | (size_t)source | bytes;
  if (bits % 16 == 0)
    copy_words<uint4>(group, destination, source, bytes / 16);
  else if (bits % 4 == 0)
    copy_words<unsigned>(group, destination, source, bytes / 4);
  else
    copy_words<unsigned char>(group, destination, source, bytes);
}

}  // namespace details

/// Copies `bytes` bytes.
template <class Group, class T>
HEDDLE_CG_METHOD void memcpy_async(const Group& group, T* destination, const T* source, size_t bytes) {
  details::copy_bytes(group, destination, source, bytes);
}
template <class Group>
HEDDLE_CG_METHOD void memcpy_async(const Group& group, void* destination, const void* source, size_t bytes) {
  details::copy_bytes(group, destination, source, bytes);
}
/// `shape` counts bytes; a cuda::aligned_size_t says how they are aligned.
template <class Group, class T, class Shape>
HEDDLE_CG_METHOD void memcpy_async(const Group& group, T* destination, const T* source, const Shape& shape) {
  details::copy_bytes(group, destination, source, (size_t)shape);
}
/// As many elements as both layouts hold.
template <class Group, class T, class DestinationLayout, class SourceLayout>
HEDDLE_CG_METHOD void memcpy_async(const Group& group, T* destination, const DestinationLayout& destination_layout,
                                   const T* source, const SourceLayout& source_layout) {
  size_t elements =
      (size_t)destination_layout < (size_t)source_layout ? (size_t)destination_layout : (size_t)source_layout;
  details::copy_bytes(group, destination, source, elements * sizeof(T));
}

template <class Group>
HEDDLE_CG_METHOD void wait(const Group& group) {
  group.sync();
}
template <unsigned Stages, class Group>
HEDDLE_CG_METHOD void wait_prior(const Group& group) {
  group.sync();
}

}  // namespace cooperative_groups
#endif
#endif
