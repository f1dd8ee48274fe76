// Cooperative groups: threads that work together, as objects. The interface is that of the programming guide's chapter
// "Cooperative Groups"; the bodies are warp shuffles, votes and barriers.
// reduce, scan and memcpy_async are in cooperative_groups/*.h, as the guide has them.
// Tested by examples/reduction.cu and tests/programs/cooperative_groups.cu.
#ifndef _COOPERATIVE_GROUPS_H_
#define _COOPERATIVE_GROUPS_H_

#if defined(__cplusplus) && defined(__CUDACC__)

#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>

#define HEDDLE_CG_FN static __device__ __forceinline__
#define HEDDLE_CG_METHOD __device__ __forceinline__

namespace cooperative_groups {

namespace details {

HEDDLE_CG_FN unsigned lane_index() {
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}
HEDDLE_CG_FN unsigned lanes_below() {
  unsigned mask;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
  return mask;
}
HEDDLE_CG_FN unsigned block_size() { return blockDim.x * blockDim.y * blockDim.z; }
HEDDLE_CG_FN unsigned block_rank() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
HEDDLE_CG_FN unsigned long long grid_blocks() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
HEDDLE_CG_FN unsigned long long grid_block_rank() {
  return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
}

// The position of the (n+1)-th set bit, by halving.
HEDDLE_CG_FN unsigned find_set_bit(unsigned mask, unsigned n) {
  unsigned position = 0;
  for (unsigned width = 16; width > 0; width >>= 1) {
    unsigned below = (unsigned)__popc(mask & ((1u << width) - 1u) << position);
    if (n >= below) {
      n -= below;
      position += width;
    }
  }
  return position;
}

// A shuffle of any trivially copyable type, a word at a time.
template <class T, class Shuffle>
HEDDLE_CG_FN T shuffle_words(const T& value, Shuffle shuffle) {
  constexpr unsigned kWords = (sizeof(T) + 3) / 4;
  unsigned words[kWords] = {};
  __builtin_memcpy(words, &value, sizeof(T));
  for (unsigned i = 0; i < kWords; i++) words[i] = shuffle(words[i]);
  T result;
  __builtin_memcpy(&result, words, sizeof(T));
  return result;
}

// Grid barriers count in memory that the driver gives to each cooperative launch; its address is in two
// environment registers, which are zero in ordinary launches. The word at +4 is the count.
HEDDLE_CG_FN unsigned* grid_barrier() {
  unsigned low, high;
  asm("mov.u32 %0, %%envreg2;" : "=r"(low));
  asm("mov.u32 %0, %%envreg1;" : "=r"(high));
  unsigned long long address = (unsigned long long)high << 32 | low;
  return address ? (unsigned*)(address + 4) : nullptr;
}

// The block's arrival. One block contributes what is missing to half the range, so the top bit flips exactly when all
// have arrived: the returned old value's top bit is what to wait for to change.
HEDDLE_CG_FN unsigned grid_arrive(unsigned* barrier) {
  unsigned others = (unsigned)grid_blocks() - 1u;
  unsigned step = grid_block_rank() == 0 ? 0x80000000u - others : 1u;
  unsigned old;
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
  asm volatile("atom.add.release.gpu.u32 %0, [%1], %2;" : "=r"(old) : "l"(barrier), "r"(step) : "memory");
#else
  __threadfence();
  old = atomicAdd(barrier, step);
#endif
  return old;
}
HEDDLE_CG_FN void grid_wait(unsigned* barrier, unsigned old) {
  unsigned now;
  do {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
    asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(now) : "l"(barrier) : "memory");
#else
    now = *(volatile unsigned*)barrier;
    __threadfence();
#endif
  } while (((old ^ now) & 0x80000000u) == 0);
}

enum class Kind : unsigned char { kBlock, kTile, kCoalesced };

}  // namespace details

class thread_block;
class coalesced_group;
template <unsigned Size, class Parent>
class thread_block_tile;

/// Any group of at most a block, when its type is not known at compile time.
class thread_group {
 public:
  HEDDLE_CG_METHOD unsigned long long size() const {
    return kind_ == details::Kind::kBlock ? details::block_size() : size_;
  }
  HEDDLE_CG_METHOD unsigned long long num_threads() const { return size(); }
  HEDDLE_CG_METHOD unsigned long long thread_rank() const {
    if (kind_ == details::Kind::kBlock) return details::block_rank();
    return (unsigned)__popc(mask_ & details::lanes_below());
  }
  HEDDLE_CG_METHOD void sync() const {
    if (kind_ == details::Kind::kBlock)
      __syncthreads();
    else
      __syncwarp(mask_);
  }
  HEDDLE_CG_METHOD bool is_valid() const { return true; }

 protected:
  friend class thread_block;
  friend class coalesced_group;
  template <unsigned Size, class Parent>
  friend class thread_block_tile;
  friend __device__ thread_group tiled_partition(const thread_group& parent, unsigned tile_size);
  HEDDLE_CG_METHOD thread_group(details::Kind kind, unsigned size, unsigned mask)
      : kind_(kind), size_(size), mask_(mask) {}

  details::Kind kind_;
  unsigned size_;  // of tiles and coalesced groups
  unsigned mask_;  // their lanes
};

/// All threads of the block.
class thread_block : public thread_group {
 public:
  struct arrival_token {};
  static constexpr unsigned kMaximumSize = 1024;

  static HEDDLE_CG_METHOD void sync() { __syncthreads(); }
  static HEDDLE_CG_METHOD unsigned size() { return details::block_size(); }
  static HEDDLE_CG_METHOD unsigned num_threads() { return details::block_size(); }
  static HEDDLE_CG_METHOD unsigned thread_rank() { return details::block_rank(); }
  static HEDDLE_CG_METHOD dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  static HEDDLE_CG_METHOD dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  static HEDDLE_CG_METHOD dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
  static HEDDLE_CG_METHOD dim3 dim_threads() { return group_dim(); }
  HEDDLE_CG_METHOD arrival_token barrier_arrive() const { return {}; }
  HEDDLE_CG_METHOD void barrier_wait(arrival_token&&) const { __syncthreads(); }

  friend HEDDLE_CG_METHOD thread_block this_thread_block();

 private:
  HEDDLE_CG_METHOD thread_block() : thread_group(details::Kind::kBlock, 0, 0) {}
};

HEDDLE_CG_METHOD thread_block this_thread_block() { return thread_block(); }

/// All threads of the grid. sync() needs a cooperative launch.
class grid_group {
 public:
  struct arrival_token {
    unsigned old;
  };
  HEDDLE_CG_METHOD bool is_valid() const { return details::grid_barrier() != nullptr; }
  HEDDLE_CG_METHOD void sync() const { barrier_wait(barrier_arrive()); }
  HEDDLE_CG_METHOD arrival_token barrier_arrive() const {
    unsigned* barrier = details::grid_barrier();
    if (!barrier) __trap();  // not a cooperative launch
    __syncthreads();
    return {details::block_rank() == 0 ? details::grid_arrive(barrier) : 0u};
  }
  HEDDLE_CG_METHOD void barrier_wait(arrival_token&& token) const {
    if (details::block_rank() == 0) details::grid_wait(details::grid_barrier(), token.old);
    __syncthreads();
  }
  static HEDDLE_CG_METHOD unsigned long long size() { return details::grid_blocks() * details::block_size(); }
  static HEDDLE_CG_METHOD unsigned long long num_threads() { return size(); }
  static HEDDLE_CG_METHOD unsigned long long thread_rank() {
    return details::grid_block_rank() * details::block_size() + details::block_rank();
  }
  static HEDDLE_CG_METHOD unsigned long long num_blocks() { return details::grid_blocks(); }
  static HEDDLE_CG_METHOD unsigned long long block_rank() { return details::grid_block_rank(); }
  static HEDDLE_CG_METHOD dim3 group_dim() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
  static HEDDLE_CG_METHOD dim3 dim_blocks() { return group_dim(); }
  static HEDDLE_CG_METHOD dim3 block_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
};

HEDDLE_CG_METHOD grid_group this_grid() { return grid_group(); }

/// Lanes of one warp that are together now: of a branch, or of a partition by value.
class coalesced_group : public thread_group {
 public:
  HEDDLE_CG_METHOD unsigned size() const { return size_; }
  HEDDLE_CG_METHOD unsigned num_threads() const { return size_; }
  HEDDLE_CG_METHOD unsigned thread_rank() const { return (unsigned)__popc(mask_ & details::lanes_below()); }
  HEDDLE_CG_METHOD void sync() const { __syncwarp(mask_); }
  HEDDLE_CG_METHOD unsigned meta_group_size() const { return meta_size_; }
  HEDDLE_CG_METHOD unsigned meta_group_rank() const { return meta_rank_; }

  template <class T>
  HEDDLE_CG_METHOD T shfl(T value, unsigned source) const {
    unsigned lane = lane_of(source % size_);
    unsigned mask = mask_;
    return details::shuffle_words(value, [=](unsigned word) { return __shfl_sync(mask, word, (int)lane); });
  }
  template <class T>
  HEDDLE_CG_METHOD T shfl_down(T value, unsigned delta) const {
    unsigned rank = thread_rank();
    return shfl_rank(value, rank + delta < size_ ? rank + delta : rank);
  }
  template <class T>
  HEDDLE_CG_METHOD T shfl_up(T value, unsigned delta) const {
    unsigned rank = thread_rank();
    return shfl_rank(value, rank >= delta ? rank - delta : rank);
  }
  HEDDLE_CG_METHOD int any(int predicate) const { return __ballot_sync(mask_, predicate) != 0; }
  HEDDLE_CG_METHOD int all(int predicate) const { return __ballot_sync(mask_, predicate) == mask_; }
  HEDDLE_CG_METHOD unsigned ballot(int predicate) const { return pack(__ballot_sync(mask_, predicate)); }
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
  template <class T>
  HEDDLE_CG_METHOD unsigned match_any(T value) const {
    return pack(__match_any_sync(mask_, value));
  }
  template <class T>
  HEDDLE_CG_METHOD unsigned match_all(T value, int& predicate) const {
    return pack(__match_all_sync(mask_, value, &predicate));
  }
#endif

  // For the algorithms of this library: the lanes, as a mask of the warp.
  HEDDLE_CG_METHOD unsigned heddle_lanes() const { return mask_; }
  HEDDLE_CG_METHOD coalesced_group(unsigned mask, unsigned meta_rank, unsigned meta_size)
      : thread_group(details::Kind::kCoalesced, (unsigned)__popc(mask), mask),
        meta_rank_(meta_rank),
        meta_size_(meta_size) {}

 private:
  HEDDLE_CG_METHOD unsigned lane_of(unsigned rank) const {
    return mask_ == 0xffffffffu ? rank : details::find_set_bit(mask_, rank);
  }
  template <class T>
  HEDDLE_CG_METHOD T shfl_rank(T value, unsigned rank) const {
    unsigned lane = lane_of(rank), mask = mask_;
    return details::shuffle_words(value, [=](unsigned word) { return __shfl_sync(mask, word, (int)lane); });
  }
  // A mask of lanes as a mask of ranks.
  HEDDLE_CG_METHOD unsigned pack(unsigned lanes) const {
    if (mask_ == 0xffffffffu) return lanes;
    unsigned packed = 0, bit = 1;
    for (unsigned rest = mask_; rest; rest &= rest - 1, bit <<= 1)
      if (lanes & rest & (0u - rest)) packed |= bit;
    return packed;
  }
  unsigned meta_rank_, meta_size_;
};

HEDDLE_CG_METHOD coalesced_group coalesced_threads() { return coalesced_group(__activemask(), 0, 1); }

namespace details {

// What tiles of every size up to a warp share.
template <unsigned Size>
class TileBase : public thread_group {
 public:
  static_assert(Size > 0 && Size <= 32 && (Size & (Size - 1)) == 0,
                "tiles of 1, 2, 4, 8, 16 or 32 threads; larger ones are not there yet");
  static HEDDLE_CG_METHOD unsigned size() { return Size; }
  static HEDDLE_CG_METHOD unsigned num_threads() { return Size; }
  static HEDDLE_CG_METHOD unsigned thread_rank() { return details::block_rank() & (Size - 1); }
  HEDDLE_CG_METHOD void sync() const { __syncwarp(lanes()); }
  HEDDLE_CG_METHOD unsigned meta_group_rank() const { return meta_rank_; }
  HEDDLE_CG_METHOD unsigned meta_group_size() const { return meta_size_; }

  template <class T>
  HEDDLE_CG_METHOD T shfl(T value, int source) const {
    unsigned mask = lanes();
    return shuffle_words(value, [=](unsigned word) { return __shfl_sync(mask, word, source, (int)Size); });
  }
  template <class T>
  HEDDLE_CG_METHOD T shfl_down(T value, unsigned delta) const {
    unsigned mask = lanes();
    return shuffle_words(value, [=](unsigned word) { return __shfl_down_sync(mask, word, delta, (int)Size); });
  }
  template <class T>
  HEDDLE_CG_METHOD T shfl_up(T value, unsigned delta) const {
    unsigned mask = lanes();
    return shuffle_words(value, [=](unsigned word) { return __shfl_up_sync(mask, word, delta, (int)Size); });
  }
  template <class T>
  HEDDLE_CG_METHOD T shfl_xor(T value, unsigned lane_mask) const {
    unsigned mask = lanes();
    return shuffle_words(value, [=](unsigned word) { return __shfl_xor_sync(mask, word, (int)lane_mask, (int)Size); });
  }
  HEDDLE_CG_METHOD int any(int predicate) const { return __ballot_sync(lanes(), predicate) != 0; }
  HEDDLE_CG_METHOD int all(int predicate) const {
    unsigned mask = lanes();
    return __ballot_sync(mask, predicate) == mask;
  }
  HEDDLE_CG_METHOD unsigned ballot(int predicate) const { return __ballot_sync(lanes(), predicate) >> shift(); }
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
  template <class T>
  HEDDLE_CG_METHOD unsigned match_any(T value) const {
    return __match_any_sync(lanes(), value) >> shift();
  }
  template <class T>
  HEDDLE_CG_METHOD unsigned match_all(T value, int& predicate) const {
    return __match_all_sync(lanes(), value, &predicate) >> shift();
  }
#endif
  HEDDLE_CG_METHOD unsigned heddle_lanes() const { return lanes(); }

 protected:
  HEDDLE_CG_METHOD TileBase(unsigned meta_rank, unsigned meta_size)
      : thread_group(details::Kind::kTile, Size, lanes()), meta_rank_(meta_rank), meta_size_(meta_size) {}

 private:
  static HEDDLE_CG_METHOD unsigned shift() { return Size == 32 ? 0u : lane_index() & ~(Size - 1u); }
  static HEDDLE_CG_METHOD unsigned lanes() { return (0xffffffffu >> (32u - Size)) << shift(); }
  unsigned meta_rank_, meta_size_;
};

}  // namespace details

/// Size neighbouring threads of the parent; the size is known at compile time.
template <unsigned Size, class Parent = void>
class thread_block_tile : public details::TileBase<Size> {
 public:
  template <class Other>
  HEDDLE_CG_METHOD thread_block_tile(const thread_block_tile<Size, Other>& other)
      : details::TileBase<Size>(other.meta_group_rank(), other.meta_group_size()) {}
  HEDDLE_CG_METHOD thread_block_tile(unsigned meta_rank, unsigned meta_size)
      : details::TileBase<Size>(meta_rank, meta_size) {}
  HEDDLE_CG_METHOD operator coalesced_group() const {
    return coalesced_group(this->heddle_lanes(), this->meta_group_rank(), this->meta_group_size());
  }
};

template <unsigned Size>
HEDDLE_CG_METHOD thread_block_tile<Size, thread_block> tiled_partition(const thread_block&) {
  return {details::block_rank() / Size, (details::block_size() + Size - 1) / Size};
}
template <unsigned Size, unsigned ParentSize, class Grandparent>
HEDDLE_CG_METHOD thread_block_tile<Size, thread_block_tile<ParentSize, Grandparent>> tiled_partition(
    const thread_block_tile<ParentSize, Grandparent>& parent) {
  static_assert(Size <= ParentSize, "a tile can't be larger than its parent");
  return {parent.thread_rank() / Size, ParentSize / Size};
}
/// The size is known at run time. Of a coalesced group: threads of neighbouring ranks.
HEDDLE_CG_METHOD thread_group tiled_partition(const thread_group& parent, unsigned tile_size) {
  if (parent.kind_ == details::Kind::kCoalesced) {
    unsigned rank = (unsigned)parent.thread_rank() / tile_size, mask = 0;
    unsigned first = rank * tile_size, position = 0;
    for (unsigned rest = parent.mask_; rest; rest &= rest - 1, position++)
      if (position >= first && position < first + tile_size) mask |= rest & (0u - rest);
    return thread_group(details::Kind::kCoalesced, (unsigned)__popc(mask), mask);
  }
  if (tile_size >= 32 || tile_size == 0) tile_size = 32;
  unsigned mask = (0xffffffffu >> (32u - tile_size)) << (details::lane_index() & ~(tile_size - 1u));
  return thread_group(details::Kind::kTile, tile_size, mask);
}
HEDDLE_CG_METHOD coalesced_group tiled_partition(const coalesced_group& parent, unsigned tile_size) {
  unsigned rank = parent.thread_rank() / tile_size, first = rank * tile_size, position = 0, mask = 0;
  for (unsigned rest = parent.heddle_lanes(); rest; rest &= rest - 1, position++)
    if (position >= first && position < first + tile_size) mask |= rest & (0u - rest);
  return coalesced_group(mask, rank, (parent.size() + tile_size - 1) / tile_size);
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
/// Threads of the group with the same label.
template <class Group, class Label>
HEDDLE_CG_METHOD coalesced_group labeled_partition(const Group& group, Label label) {
  unsigned lanes = group.heddle_lanes();
  unsigned mine = __match_any_sync(lanes, label);
  // Number the subgroups by their lowest lanes.
  unsigned leaders = __ballot_sync(lanes, (mine & details::lanes_below()) == 0);
  unsigned lowest = (unsigned)__ffs((int)mine) - 1u;
  return coalesced_group(mine, (unsigned)__popc(leaders & ((1u << lowest) - 1u)), (unsigned)__popc(leaders));
}
#endif
/// Threads of the group with the same truth value.
template <class Group>
HEDDLE_CG_METHOD coalesced_group binary_partition(const Group& group, bool predicate) {
  unsigned lanes = group.heddle_lanes();
  unsigned yes = __ballot_sync(lanes, predicate);
  bool both = yes != 0 && yes != lanes;
  return coalesced_group(predicate ? yes : lanes & ~yes, both && predicate ? 1u : 0u, both ? 2u : 1u);
}

/// Runs a function on one thread of the group.
template <class Group, class Function, class... Arguments>
HEDDLE_CG_METHOD void invoke_one(const Group& group, Function&& function, Arguments&&... arguments) {
  if (group.thread_rank() == 0) function(static_cast<Arguments&&>(arguments)...);
}

template <class Group>
HEDDLE_CG_METHOD void sync(const Group& group) {
  group.sync();
}
template <class Group>
HEDDLE_CG_METHOD unsigned long long thread_rank(const Group& group) {
  return group.thread_rank();
}
template <class Group>
HEDDLE_CG_METHOD unsigned long long group_size(const Group& group) {
  return group.size();
}
HEDDLE_CG_METHOD dim3 thread_index() { return thread_block::thread_index(); }
HEDDLE_CG_METHOD dim3 group_index() { return thread_block::group_index(); }

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
/// The blocks of a cluster (compute capability 9.0).
class cluster_group {
 public:
  static HEDDLE_CG_METHOD void sync() {
    barrier_arrive();
    barrier_wait();
  }
  static HEDDLE_CG_METHOD void barrier_arrive() { __cluster_barrier_arrive(); }
  static HEDDLE_CG_METHOD void barrier_wait() { __cluster_barrier_wait(); }
  static HEDDLE_CG_METHOD unsigned block_rank() { return __clusterRelativeBlockRank(); }
  static HEDDLE_CG_METHOD unsigned num_blocks() { return __clusterSizeInBlocks(); }
  static HEDDLE_CG_METHOD unsigned size() { return num_blocks() * details::block_size(); }
  static HEDDLE_CG_METHOD unsigned num_threads() { return size(); }
  static HEDDLE_CG_METHOD unsigned thread_rank() {
    return block_rank() * details::block_size() + details::block_rank();
  }
  static HEDDLE_CG_METHOD dim3 dim_blocks() { return __clusterDim(); }
  static HEDDLE_CG_METHOD dim3 block_index() { return __clusterRelativeBlockIdx(); }
  template <class T>
  static HEDDLE_CG_METHOD T* map_shared_rank(T* address, int rank) {
    return (T*)__cluster_map_shared_rank(address, (unsigned)rank);
  }
  static HEDDLE_CG_METHOD unsigned query_shared_rank(const void* address) {
    return __cluster_query_shared_rank(address);
  }
};
HEDDLE_CG_METHOD cluster_group this_cluster() { return cluster_group(); }
#endif

}  // namespace cooperative_groups

#endif
#endif
