// The sum and the maximum of many numbers. Each thread adds its share; then the 32 lanes of a warp join their values by
// shuffles, without memory; one value a warp goes through shared memory, one a block to the result by an atomic.
//   heddle c++ reduction.cu -o reduction && heddle run ./reduction [elements]
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <vector>

#include "common/check.h"

namespace cg = cooperative_groups;

__device__ int sum_of_warp(int value) {
  for (int distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(0xffffffffu, value, distance);
  return value;  // lane 0 has the sum
}

__global__ void sum(const int* input, int count, int* result) {
  __shared__ int of_warps[32];
  int value = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) value += input[i];
  value = sum_of_warp(value);
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (lane == 0) of_warps[warp] = value;
  __syncthreads();
  if (warp == 0) {
    value = sum_of_warp(threadIdx.x < blockDim.x / 32 ? of_warps[lane] : 0);
    if (lane == 0) atomicAdd(result, value);
  }
}

// The same in the words of cooperative groups.
__global__ void maximum(const int* input, int count, int* result) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  cg::grid_group grid = cg::this_grid();
  int value = input[0];
  for (unsigned long long i = grid.thread_rank(); i < static_cast<unsigned long long>(count); i += grid.size())
    value = max(value, input[i]);
  value = cg::reduce(warp, value, cg::greater<int>());
  if (warp.thread_rank() == 0) atomicMax(result, value);
}

int main(int argc, char** argv) {
  int count = argc > 1 ? std::atoi(argv[1]) : 1000003;
  if (count < 1) return finish(false, "reduction: the number of elements must be positive");
  std::vector<int> input(count);
  unsigned state = 12345;
  int expected_sum = 0, expected_maximum = -1000000;
  for (int& value : input) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<int>(state >> 16) % 1000 - 500;
    expected_sum += value;
    expected_maximum = value > expected_maximum ? value : expected_maximum;
  }

  int *device_input, *device_results, results[2] = {0, -1000000};
  CUDA_CHECK(cudaMalloc(&device_input, count * sizeof(int)));
  CUDA_CHECK(cudaMalloc(&device_results, sizeof results));
  CUDA_CHECK(cudaMemcpy(device_input, input.data(), count * sizeof(int), cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpy(device_results, results, sizeof results, cudaMemcpyHostToDevice));
  sum<<<64, 256>>>(device_input, count, device_results);
  maximum<<<64, 256>>>(device_input, count, device_results + 1);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaMemcpy(results, device_results, sizeof results, cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaFree(device_input));
  CUDA_CHECK(cudaFree(device_results));

  std::printf("sum %d (expected %d), maximum %d (expected %d)\n", results[0], expected_sum, results[1],
              expected_maximum);
  return finish(results[0] == expected_sum && results[1] == expected_maximum, "reduction");
}
