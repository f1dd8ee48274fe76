// C = A B for square matrices, by tiles in shared memory: a block computes a 16 x 16 tile of C, and each element of A
// and B is read from global memory by 16 threads less than it is used.
//   heddle c++ matmul.cu -o matmul && heddle run ./matmul [size]
#include <cmath>
#include <vector>

#include "common/check.h"

constexpr int kTile = 16;

__global__ void multiply(const float* a, const float* b, float* c, int size) {
  __shared__ float tile_a[kTile][kTile], tile_b[kTile][kTile];
  int row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0.0f;
  for (int first = 0; first < size; first += kTile) {
    int a_column = first + threadIdx.x, b_row = first + threadIdx.y;
    tile_a[threadIdx.y][threadIdx.x] = row < size && a_column < size ? a[row * size + a_column] : 0.0f;
    tile_b[threadIdx.y][threadIdx.x] = b_row < size && column < size ? b[b_row * size + column] : 0.0f;
    __syncthreads();  // the tiles are complete
    for (int k = 0; k < kTile; k++) sum += tile_a[threadIdx.y][k] * tile_b[k][threadIdx.x];
    __syncthreads();  // nobody reads them any more
  }
  if (row < size && column < size) c[row * size + column] = sum;
}

int main(int argc, char** argv) {
  int size = argc > 1 ? std::atoi(argv[1]) : 300;  // not a multiple of the tile, to have an edge
  if (size < 1) return finish(false, "matmul: the size must be positive");
  size_t elements = static_cast<size_t>(size) * size, bytes = elements * sizeof(float);
  std::vector<float> a(elements), b(elements), c(elements);
  for (size_t i = 0; i < elements; i++) {
    a[i] = static_cast<float>(i % 17) - 8.0f;
    b[i] = static_cast<float>(i % 13) * 0.25f;
  }

  float *device_a, *device_b, *device_c;
  CUDA_CHECK(cudaMalloc(&device_a, bytes));
  CUDA_CHECK(cudaMalloc(&device_b, bytes));
  CUDA_CHECK(cudaMalloc(&device_c, bytes));
  CUDA_CHECK(cudaMemcpy(device_a, a.data(), bytes, cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpy(device_b, b.data(), bytes, cudaMemcpyHostToDevice));

  dim3 threads(kTile, kTile), blocks((size + kTile - 1) / kTile, (size + kTile - 1) / kTile);
  cudaEvent_t start, stop;
  CUDA_CHECK(cudaEventCreate(&start));
  CUDA_CHECK(cudaEventCreate(&stop));
  multiply<<<blocks, threads>>>(device_a, device_b, device_c, size);  // once before the clock runs
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaEventRecord(start));
  multiply<<<blocks, threads>>>(device_a, device_b, device_c, size);
  CUDA_CHECK(cudaEventRecord(stop));
  CUDA_CHECK(cudaEventSynchronize(stop));
  float milliseconds = 0.0f;
  CUDA_CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
  CUDA_CHECK(cudaMemcpy(c.data(), device_c, bytes, cudaMemcpyDeviceToHost));
  std::printf("%d x %d: %.3f ms, %.2f GFLOP/s\n", size, size, milliseconds,
              2.0 * size * size * size / (milliseconds * 1e6));

  CUDA_CHECK(cudaEventDestroy(start));
  CUDA_CHECK(cudaEventDestroy(stop));
  CUDA_CHECK(cudaFree(device_a));
  CUDA_CHECK(cudaFree(device_b));
  CUDA_CHECK(cudaFree(device_c));

  // Every product is a multiple of 1/4 and every sum below 2^22: float has no rounding here, so equality is right.
  for (int row = 0; row < size; row += 7) {
    for (int column = 0; column < size; column++) {
      float expected = 0.0f;
      for (int k = 0; k < size; k++) expected += a[row * size + k] * b[k * size + column];
      if (c[row * size + column] != expected) {
        std::printf("C[%d][%d] is %g, not %g\n", row, column, c[row * size + column], expected);
        return finish(false, "matmul");
      }
    }
  }
  return finish(true, "matmul");
}
