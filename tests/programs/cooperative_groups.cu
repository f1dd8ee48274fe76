// cooperative_groups.h and its reduce, scan and memcpy_async; the grid barrier by a cooperative launch.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include "expect.h"

namespace cg = cooperative_groups;

__device__ int sum_by_shared(cg::thread_group group, int* scratch, int value) {
  int rank = (int)group.thread_rank();
  for (int half = (int)group.size() / 2; half > 0; half /= 2) {
    scratch[rank] = value;
    group.sync();
    if (rank < half) value += scratch[rank + half];
    group.sync();
  }
  return value;  // of rank 0
}

struct Wide {
  double a;
  int b, c, d;
};

__global__ void groups(int* out) {
  __shared__ int scratch[128];
  cg::thread_block block = cg::this_thread_block();
  int rank = (int)block.thread_rank();
  int* mine = out + rank * 16;
  mine[0] = rank;

  int block_sum = sum_by_shared(block, scratch, rank);
  if (rank == 0) mine[1] = block_sum;
  cg::thread_block_tile<8> eight = cg::tiled_partition<8>(block);
  mine[2] = (int)(eight.meta_group_rank() * 100 + eight.thread_rank());
  mine[3] = cg::reduce(eight, rank, cg::plus<int>());
  auto four = cg::tiled_partition<4>(eight);
  mine[4] = four.shfl(rank, 2);
  Wide wide = {rank + 0.5, rank, rank + 1, rank + 2};
  wide = eight.shfl_xor(wide, 1);
  mine[5] = (int)(wide.a * 2) + wide.b + wide.c + wide.d;
  mine[6] = cg::inclusive_scan(eight, rank, cg::plus<int>());
  mine[7] = cg::exclusive_scan(cg::tiled_partition<32>(block), 1);
  mine[8] = (int)eight.ballot(rank % 2);
  if (rank % 3 == 0) {
    cg::coalesced_group together = cg::coalesced_threads();
    mine[9] = (int)(together.size() * 100 + together.thread_rank());
    mine[10] = cg::reduce(together, rank, cg::greater<int>());
    mine[11] = together.shfl(rank, 1);
  }
#if __CUDA_ARCH__ >= 700
  cg::coalesced_group same = cg::labeled_partition(cg::tiled_partition<32>(block), rank % 5);
  mine[12] = cg::reduce(same, 1, cg::plus<int>());
#endif
  cg::coalesced_group half = cg::binary_partition(cg::tiled_partition<32>(block), rank % 32 < 10);
  mine[13] = (int)half.size();
  cg::thread_group runtime_tile = cg::tiled_partition(block, 16);
  int tile_sum = sum_by_shared(runtime_tile, scratch + rank / 16 * 16, 2);
  mine[14] = runtime_tile.thread_rank() == 0 ? tile_sum : 32;
  cg::memcpy_async(block, scratch, out, sizeof(int) * 16);  // thread 0's results so far
  cg::wait(block);
  mine[15] = scratch[0] + scratch[1];
}

__global__ void grid_sums(int* values, int* total, int rounds) {
  cg::grid_group grid = cg::this_grid();
  int rank = (int)grid.thread_rank(), size = (int)grid.size();
  for (int round = 0; round < rounds; round++) {
    // Everybody reads the neighbour's value of the last round: wrong without the barrier.
    int next = values[(rank + 1) % size];
    grid.sync();
    values[rank] = next + 1;
    grid.sync();
  }
  if (rank == 0) *total = grid.is_valid();
}

int main() {
  constexpr int kThreads = 64;
  Buffer<int> out(kThreads * 16);
  groups<<<1, kThreads>>>(out.device);
  out.fetch();
  for (int i = 0; i < kThreads; i++) {
    int* r = &out[i * 16];
    EXPECT(r[0] == i, "%d: %d", i, r[0]);
    if (i == 0) EXPECT(r[1] == kThreads * (kThreads - 1) / 2, "%d", r[1]);
    EXPECT(r[2] == i / 8 * 100 + i % 8, "%d: %d", i, r[2]);
    EXPECT(r[3] == i / 8 * 64 + 28, "%d: %d", i, r[3]);
    EXPECT(r[4] == i / 4 * 4 + 2, "%d: %d", i, r[4]);
    EXPECT(r[5] == 2 * (i ^ 1) + 1 + 3 * (i ^ 1) + 3, "%d: %d", i, r[5]);
    int prefix = 0;
    for (int k = i / 8 * 8; k <= i; k++) prefix += k;
    EXPECT(r[6] == prefix, "%d: %d", i, r[6]);
    EXPECT(r[7] == i % 32, "%d: %d", i, r[7]);
    EXPECT(r[8] == 0xaa, "%d: %x", i, r[8]);
    if (i % 3 == 0) {
      int first = i < 32 ? 0 : 33, count = i < 32 ? 11 : 11, rank = (i - first) / 3;
      EXPECT(r[9] == count * 100 + rank, "%d: %d", i, r[9]);
      EXPECT(r[10] == first + 30, "%d: %d", i, r[10]);
      EXPECT(r[11] == first + 3, "%d: %d", i, r[11]);
    }
    int same = 0;
    for (int k = i / 32 * 32; k < i / 32 * 32 + 32; k++) same += k % 5 == i % 5;
    EXPECT(r[12] == same, "%d: %d", i, r[12]);
    EXPECT(r[13] == (i % 32 < 10 ? 10 : 22), "%d: %d", i, r[13]);
    EXPECT(r[14] == 32, "%d: %d", i, r[14]);
    EXPECT(r[15] == kThreads * (kThreads - 1) / 2, "%d: %d", i, r[15]);
  }

  constexpr int kBlocks = 4, kBlock = 64, kAll = kBlocks * kBlock;
  Buffer<int> values(kAll), total(1);
  for (int i = 0; i < kAll; i++) values[i] = i;
  values.send();
  int rounds = 10;
  void* arguments[] = {&values.device, &total.device, &rounds};
  CUDA_CHECK(cudaLaunchCooperativeKernel((void*)grid_sums, dim3(kBlocks), dim3(kBlock), arguments, 0, 0));
  values.fetch();
  total.fetch();
  EXPECT(total[0] == 1, "%d", total[0]);
  for (int i = 0; i < kAll; i++) EXPECT(values[i] == (i + rounds) % kAll + rounds, "%d: %d", i, values[i]);
  return verdict("cooperative_groups");
}
