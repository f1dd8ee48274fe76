// Copies from global to shared memory by __pipeline_memcpy_async, two stages deep, of 4, 8 and 16 bytes, with fill.
#include <cuda_pipeline.h>

#include "expect.h"

template <class T>
__global__ void running_sum(const T* in, T* out, int tiles) {
  __shared__ T stages[2][64];
  int i = threadIdx.x;
  __pipeline_memcpy_async(&stages[0][i], &in[i], sizeof(T));
  __pipeline_commit();
  T sum = T();
  for (int tile = 0; tile < tiles; tile++) {
    if (tile + 1 < tiles) __pipeline_memcpy_async(&stages[(tile + 1) % 2][i], &in[(tile + 1) * 64 + i], sizeof(T));
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    T value = stages[tile % 2][63 - i];  // another thread's copy
    sum.x += value.x, sum.y += value.y;
    __syncthreads();
  }
  out[i] = sum;
}

__global__ void filled(const int* in, int4* out) {
  __shared__ int4 one;
  one = make_int4(9, 9, 9, 9);
  __pipeline_memcpy_async(&one, in, 16, 8);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  *out = one;
}

template <class T>
void check(const char* name) {
  constexpr int kTiles = 5;
  Buffer<T> in(kTiles * 64), out(64);
  for (int i = 0; i < kTiles * 64; i++)
    in[i].x = static_cast<decltype(T::x)>(i), in[i].y = static_cast<decltype(T::x)>(2 * i);
  in.send();
  running_sum<<<1, 64>>>(in.device, out.device, kTiles);
  out.fetch();
  for (int i = 0; i < 64; i++) {
    int sum = 0;
    for (int tile = 0; tile < kTiles; tile++) sum += tile * 64 + 63 - i;
    EXPECT(out[i].x == static_cast<decltype(T::x)>(sum) && out[i].y == static_cast<decltype(T::x)>(2 * sum), "%s %d",
           name, i);
  }
}

int main() {
  check<short2>("4 bytes");
  check<int2>("8 bytes");
  check<double2>("16 bytes");
  Buffer<int> in(4, 5);
  Buffer<int4> out(1);
  filled<<<1, 1>>>(in.device, out.device);
  out.fetch();
  EXPECT(out[0].x == 5 && out[0].y == 5 && out[0].z == 0 && out[0].w == 0, "%d %d %d %d", out[0].x, out[0].y, out[0].z,
         out[0].w);
  return verdict("pipeline");
}
