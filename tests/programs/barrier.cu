// <cuda/barrier> and <cuda/pipeline>: arrival and waiting apart, threads that drop out, a pipeline of one thread, one
// shared by all threads of a block, and one with producers and consumers.
#include <cooperative_groups.h>

#include <cuda/pipeline>

#include "expect.h"

namespace cg = cooperative_groups;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void exchange(int* out, int rounds) {
  __shared__ Barrier barrier;
  __shared__ int values[128];
  int i = threadIdx.x, n = blockDim.x;
  if (i == 0) init(&barrier, n);
  __syncthreads();
  int value = i;
  for (int round = 0; round < rounds; round++) {
    values[i] = value;
    Barrier::arrival_token token = barrier.arrive();
    value = 1;  // work that needs nobody
    barrier.wait(static_cast<Barrier::arrival_token&&>(token));
    value += values[(i + 1) % n];
    barrier.arrive_and_wait();
  }
  out[i] = value;
}

__global__ void drop_out(int* out) {  // in each round one warp leaves
  __shared__ Barrier barrier;
  __shared__ int count;
  if (threadIdx.x == 0) init(&barrier, blockDim.x), count = 0;
  __syncthreads();
  int warp = threadIdx.x / 32, warps = blockDim.x / 32;
  for (int round = 0; round < warps; round++) {
    if (warp == round) {
      barrier.arrive_and_drop();
      return;
    }
    atomicAdd(&count, 1);
    barrier.arrive_and_wait();
    if (threadIdx.x == blockDim.x - 1) out[round] = count;
    barrier.arrive_and_wait();
  }
}

template <bool Roles>
__global__ void sum_tiles(const int* in, int* out, int tiles) {
  constexpr int kStages = 2, kTile = 64;
  __shared__ int stages[kStages][kTile];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
  cg::thread_block block = cg::this_thread_block();
  int i = threadIdx.x % kTile;
  bool produces = !Roles || threadIdx.x < kTile, consumes = !Roles || threadIdx.x >= kTile;
  if (Roles) {
    auto pipe =
        cuda::make_pipeline(block, &state, produces ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
    int sum = 0;
    for (int tile = 0; tile < tiles; tile++) {
      if (produces) {
        pipe.producer_acquire();
        cuda::memcpy_async(&stages[tile % kStages][i], &in[tile * kTile + i], cuda::aligned_size_t<4>(4), pipe);
        pipe.producer_commit();
      }
      if (consumes) {
        pipe.consumer_wait();
        sum += stages[tile % kStages][kTile - 1 - i];
        pipe.consumer_release();
      }
    }
    if (consumes) out[i] = sum;
  } else {
    auto pipe = cuda::make_pipeline(block, &state);
    int sum = 0, fetched = 0;
    for (int tile = 0; tile < tiles; tile++) {
      for (; fetched < tiles && fetched < tile + kStages; fetched++) {
        pipe.producer_acquire();
        cuda::memcpy_async(block, stages[fetched % kStages], in + fetched * kTile, kTile * sizeof(int), pipe);
        pipe.producer_commit();
      }
      pipe.consumer_wait();
      sum += stages[tile % kStages][kTile - 1 - i];
      pipe.consumer_release();
    }
    out[i] = sum;
  }
}

int main() {
  constexpr int kThreads = 96;
  Buffer<int> out(128);
  exchange<<<1, kThreads>>>(out.device, 7);
  out.fetch();
  for (int i = 0; i < kThreads; i++) EXPECT(out[i] == (i + 7) % kThreads + 7, "%d: %d", i, out[i]);
  drop_out<<<1, 128>>>(out.device);
  out.fetch();
  EXPECT(out[0] == 96 && out[1] == 96 + 64 && out[2] == 96 + 64 + 32, "%d %d %d", out[0], out[1], out[2]);
  constexpr int kTiles = 9;
  Buffer<int> in(kTiles * 64), sums(64);
  for (int i = 0; i < kTiles * 64; i++) in[i] = i * i % 101;
  in.send();
  for (bool roles : {false, true}) {
    if (roles)
      sum_tiles<true><<<1, 128>>>(in.device, sums.device, kTiles);
    else
      sum_tiles<false><<<1, 64>>>(in.device, sums.device, kTiles);
    sums.fetch();
    for (int i = 0; i < 64; i++) {
      int expected = 0;
      for (int tile = 0; tile < kTiles; tile++) expected += in[tile * 64 + 63 - i];
      EXPECT(sums[i] == expected, "roles %d, %d: %d, not %d", roles, i, sums[i], expected);
    }
  }
  return verdict("barrier");
}
