// Every atomic function of include/heddle/atomics.h: each on memory that all threads meet at, against the arithmetic
// result, which doesn't depend on the order.
#include "expect.h"

constexpr int kThreads = 256, kBlocks = 8, kAll = kThreads * kBlocks;

struct Results {
  int add, sub, minimum, maximum, bits_and, bits_or, bits_xor, exchange, cas;
  unsigned uadd, umin, umax, increment, decrement;
  unsigned long long add64, min64, max64, and64, or64, xor64, cas64;
  long long smin64, smax64;
  float fadd, fexchange;
  double dadd;
  unsigned short cas16[2];
  int block_add, system_add;
};

__global__ void meet(Results* r) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&r->add, i);
  atomicSub(&r->sub, i);
  atomicMin(&r->minimum, 1000 - i);
  atomicMax(&r->maximum, i - 1000);
  atomicAnd(&r->bits_and, ~(1 << i % 20));
  atomicOr(&r->bits_or, 1 << i % 20);
  atomicXor(&r->bits_xor, i);
  if (i == 7) atomicExch(&r->exchange, 4711);
  int seen = r->cas, assumed;
  do {
    assumed = seen;
    seen = atomicCAS(&r->cas, assumed, assumed + 3);
  } while (seen != assumed);
  atomicAdd(&r->uadd, 0x80000001u);
  atomicMin(&r->umin, 0xffffffffu - (unsigned)i);
  atomicMax(&r->umax, (unsigned)i);
  atomicInc(&r->increment, 99u);
  atomicDec(&r->decrement, 99u);
  atomicAdd(&r->add64, 1ull << 33);
  atomicMin(&r->min64, (1ull << 40) - (unsigned)i);
  atomicMax(&r->max64, (1ull << 40) + (unsigned)i);
  atomicAnd(&r->and64, ~(1ull << i % 50));
  atomicOr(&r->or64, 1ull << i % 50);
  atomicXor(&r->xor64, (unsigned long long)i << 32);
  unsigned long long seen64 = r->cas64, assumed64;
  do {
    assumed64 = seen64;
    seen64 = atomicCAS(&r->cas64, assumed64, assumed64 + (1ull << 32));
  } while (seen64 != assumed64);
  atomicMin(&r->smin64, -(long long)i);
  atomicMax(&r->smax64, -(long long)i);
  atomicAdd(&r->fadd, 0.5f);
  if (i == 9) atomicExch(&r->fexchange, 2.5f);
  atomicAdd(&r->dadd, 0.25);
#if __CUDA_ARCH__ >= 700
  for (int half = 0; half < 2; half++) {
    unsigned short seen16 = *(volatile unsigned short*)&r->cas16[half], assumed16;
    do {
      assumed16 = seen16;
      seen16 = atomicCAS(&r->cas16[half], assumed16, (unsigned short)(assumed16 + half + 1));
    } while (seen16 != assumed16);
  }
#endif
  if (blockIdx.x == 0) atomicAdd_block(&r->block_add, 2);
  atomicAdd_system(&r->system_add, 5);
}

// What comes back is the old value: each thread gets a different ticket.
__global__ void tickets(unsigned* counter, int* taken) { taken[atomicAdd(counter, 1u)]++; }

// The same in shared memory.
__global__ void in_shared(int* result) {
  __shared__ int sum;
  __shared__ float fsum;
  if (threadIdx.x == 0) sum = 0, fsum = 0;
  __syncthreads();
  atomicAdd(&sum, (int)threadIdx.x);
  atomicAdd(&fsum, 1.0f);
  __syncthreads();
  if (threadIdx.x == 0) result[blockIdx.x] = sum + (int)fsum;
}

int main() {
  Buffer<Results> buffer(1);
  Results& r = buffer[0];
  r = Results{};
  r.minimum = 2000000, r.maximum = -2000000, r.bits_and = -1, r.umin = ~0u;
  r.min64 = ~0ull, r.and64 = ~0ull, r.smin64 = 1, r.smax64 = -1000000;
  buffer.send();
  meet<<<kBlocks, kThreads>>>(buffer.device);
  buffer.fetch();

  int sum = kAll * (kAll - 1) / 2, parity = 0;
  for (int i = 0; i < kAll; i++) parity ^= i;
  EXPECT(r.add == sum, "%d", r.add);
  EXPECT(r.sub == -sum, "%d", r.sub);
  EXPECT(r.minimum == 1000 - (kAll - 1), "%d", r.minimum);
  EXPECT(r.maximum == kAll - 1 - 1000, "%d", r.maximum);
  EXPECT(r.bits_and == ~0xfffff, "%x", r.bits_and);
  EXPECT(r.bits_or == 0xfffff, "%x", r.bits_or);
  EXPECT(r.bits_xor == parity, "%x", r.bits_xor);
  EXPECT(r.exchange == 4711, "%d", r.exchange);
  EXPECT(r.cas == 3 * kAll, "%d", r.cas);
  EXPECT(r.uadd == 0x80000001u * kAll, "%x", r.uadd);
  EXPECT(r.umin == 0xffffffffu - (kAll - 1), "%x", r.umin);
  EXPECT(r.umax == kAll - 1, "%u", r.umax);
  EXPECT(r.increment == kAll % 100, "%u", r.increment);  // 0 ... 99, then 0 again
  EXPECT(r.decrement == (100 - kAll % 100) % 100, "%u", r.decrement);
  EXPECT(r.add64 == (1ull << 33) * kAll, "%llx", r.add64);
  EXPECT(r.min64 == (1ull << 40) - (kAll - 1), "%llx", r.min64);
  EXPECT(r.max64 == (1ull << 40) + (kAll - 1), "%llx", r.max64);
  EXPECT(r.and64 == ~((1ull << 50) - 1), "%llx", r.and64);
  EXPECT(r.or64 == (1ull << 50) - 1, "%llx", r.or64);
  EXPECT(r.xor64 == (unsigned long long)parity << 32, "%llx", r.xor64);
  EXPECT(r.cas64 == (unsigned long long)kAll << 32, "%llx", r.cas64);
  EXPECT(r.smin64 == -(kAll - 1), "%lld", r.smin64);
  EXPECT(r.smax64 == 0, "%lld", r.smax64);
  EXPECT(r.fadd == 0.5f * kAll, "%g", r.fadd);
  EXPECT(r.fexchange == 2.5f, "%g", r.fexchange);
  EXPECT(r.dadd == 0.25 * kAll, "%g", r.dadd);
  EXPECT(r.cas16[0] == (unsigned short)kAll && r.cas16[1] == (unsigned short)(2 * kAll), "%u %u", r.cas16[0],
         r.cas16[1]);
  EXPECT(r.block_add == 2 * kThreads, "%d", r.block_add);
  EXPECT(r.system_add == 5 * kAll, "%d", r.system_add);

  Buffer<unsigned> counter(1);
  Buffer<int> taken(kAll);
  tickets<<<kBlocks, kThreads>>>(counter.device, taken.device);
  taken.fetch();
  for (int i = 0; i < kAll; i++) EXPECT(taken[i] == 1, "ticket %d: %d", i, taken[i]);

  Buffer<int> sums(kBlocks);
  in_shared<<<kBlocks, kThreads>>>(sums.device);
  sums.fetch();
  for (int i = 0; i < kBlocks; i++)
    EXPECT(sums[i] == kThreads * (kThreads - 1) / 2 + kThreads, "block %d: %d", i, sums[i]);
  return verdict("atomics");
}
