// c = a + b: the smallest complete CUDA program. One thread adds one pair of elements.
//   heddle c++ vector_add.cu -o vector_add && heddle run ./vector_add [elements]
#include <vector>

#include "common/check.h"

__global__ void add(const float* a, const float* b, float* c, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) c[i] = a[i] + b[i];  // the last block may reach beyond the end
}

int main(int argc, char** argv) {
  int count = argc > 1 ? std::atoi(argv[1]) : 1 << 20;
  if (count < 1) return finish(false, "vector_add: the number of elements must be positive");
  size_t bytes = static_cast<size_t>(count) * sizeof(float);
  std::vector<float> a(count), b(count), c(count);
  for (int i = 0; i < count; i++) {
    a[i] = 0.5f * static_cast<float>(i);
    b[i] = 100.0f - static_cast<float>(i);
  }

  float *device_a, *device_b, *device_c;
  CUDA_CHECK(cudaMalloc(&device_a, bytes));
  CUDA_CHECK(cudaMalloc(&device_b, bytes));
  CUDA_CHECK(cudaMalloc(&device_c, bytes));
  CUDA_CHECK(cudaMemcpy(device_a, a.data(), bytes, cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpy(device_b, b.data(), bytes, cudaMemcpyHostToDevice));

  int threads = 256, blocks = (count + threads - 1) / threads;
  std::printf("adding %d elements with %d blocks of %d threads\n", count, blocks, threads);
  add<<<blocks, threads>>>(device_a, device_b, device_c, count);
  CUDA_CHECK(cudaGetLastError());                                             // a launch reports its errors here
  CUDA_CHECK(cudaMemcpy(c.data(), device_c, bytes, cudaMemcpyDeviceToHost));  // waits for the kernel

  CUDA_CHECK(cudaFree(device_a));
  CUDA_CHECK(cudaFree(device_b));
  CUDA_CHECK(cudaFree(device_c));

  int wrong = 0;
  for (int i = 0; i < count; i++) wrong += c[i] != a[i] + b[i];
  if (wrong) std::printf("%d elements are wrong\n", wrong);
  return finish(wrong == 0, "vector_add");
}
