// Warp functions: shuffles, votes, match, ballot under divergence, active mask; against the values computed by hand.
#include "expect.h"

struct Lane {
  int down, up, exchanged, from, narrow;
  double wide;
  unsigned ballot, active, match_any;
  int all, any, match_all, predicate;
  long long of_long;
};

__global__ void lanes(Lane* out) {
  int lane = threadIdx.x % 32;
  Lane& r = out[threadIdx.x];
  r.down = __shfl_down_sync(~0u, lane * 10, 3);
  r.up = __shfl_up_sync(~0u, lane * 10, 2);
  r.exchanged = __shfl_xor_sync(~0u, lane, 5);
  r.from = __shfl_sync(~0u, lane + 100, 7);
  r.narrow = __shfl_sync(~0u, lane, 1, 8);
  r.wide = __shfl_down_sync(~0u, lane + 0.5, 1);
  r.of_long = __shfl_xor_sync(~0u, (long long)lane << 40, 1);
  r.ballot = __ballot_sync(~0u, lane % 3 == 0);
  r.all = __all_sync(~0u, lane < 32);
  r.any = __any_sync(~0u, lane == 40);
  if (lane & 1) r.active = __activemask();
#if __CUDA_ARCH__ >= 700
  r.match_any = __match_any_sync(~0u, lane / 5);
  int predicate;
  r.match_all = (int)__match_all_sync(~0u, 3.5f, &predicate);
  r.predicate = predicate;
#endif
  __syncwarp();
}

__global__ void block_votes(int* out) {
  out[0] = __syncthreads_count(threadIdx.x % 4 == 0);
  out[1] = __syncthreads_and(threadIdx.x < 95);
  out[2] = __syncthreads_or(threadIdx.x == 95);
}

int main() {
  Buffer<Lane> out(64);
  lanes<<<1, 64>>>(out.device);
  out.fetch();
  for (int i = 0; i < 64; i++) {
    int lane = i % 32;
    Lane& r = out[i];
    EXPECT(r.down == (lane + 3 < 32 ? lane + 3 : lane) * 10, "lane %d: %d", lane, r.down);
    EXPECT(r.up == (lane >= 2 ? lane - 2 : lane) * 10, "lane %d: %d", lane, r.up);
    EXPECT(r.exchanged == (lane ^ 5), "lane %d: %d", lane, r.exchanged);
    EXPECT(r.from == 107, "lane %d: %d", lane, r.from);
    EXPECT(r.narrow == lane / 8 * 8 + 1, "lane %d: %d", lane, r.narrow);
    EXPECT(r.wide == (lane < 31 ? lane + 1 : lane) + 0.5, "lane %d: %g", lane, r.wide);
    EXPECT(r.of_long == (long long)(lane ^ 1) << 40, "lane %d: %lld", lane, r.of_long);
    EXPECT(r.ballot == 0x49249249u, "lane %d: %x", lane, r.ballot);
    EXPECT(r.all == 1 && r.any == 0, "lane %d: %d %d", lane, r.all, r.any);
    if (lane & 1) EXPECT(r.active == 0xaaaaaaaau, "lane %d: %x", lane, r.active);
    unsigned group = 0;
    for (int other = 0; other < 32; other++) group |= other / 5 == lane / 5 ? 1u << other : 0u;
    EXPECT(r.match_any == group, "lane %d: %x", lane, r.match_any);
    EXPECT(r.match_all == -1 && r.predicate, "lane %d: %x %d", lane, r.match_all, r.predicate);
  }
  Buffer<int> votes(3);
  block_votes<<<1, 96>>>(votes.device);
  votes.fetch();
  EXPECT(votes[0] == 24 && votes[1] == 0 && votes[2] == 1, "%d %d %d", votes[0], votes[1], votes[2]);
  return verdict("warp");
}
