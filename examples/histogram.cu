// How often each byte value occurs. A block counts into its own histogram in shared memory, where atomics meet only the
// block's threads, and adds that to the result once.
//   heddle c++ histogram.cu -o histogram && heddle run ./histogram [bytes]
#include <vector>

#include "common/check.h"

constexpr int kBins = 256;

__global__ void count_bytes(const unsigned char* data, size_t size, unsigned* bins) {
  __shared__ unsigned of_block[kBins];
  for (int bin = threadIdx.x; bin < kBins; bin += blockDim.x) of_block[bin] = 0;
  __syncthreads();
  size_t step = static_cast<size_t>(gridDim.x) * blockDim.x;
  for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < size; i += step)
    atomicAdd(&of_block[data[i]], 1u);
  __syncthreads();
  for (int bin = threadIdx.x; bin < kBins; bin += blockDim.x)
    if (of_block[bin]) atomicAdd(&bins[bin], of_block[bin]);
}

int main(int argc, char** argv) {
  size_t size = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 4u << 20;
  if (size < 1) return finish(false, "histogram: the number of bytes must be positive");
  std::vector<unsigned char> data(size);
  std::vector<unsigned> expected(kBins), bins(kBins);
  unsigned state = 1;
  for (unsigned char& byte : data) {
    state = state * 1664525u + 1013904223u;
    // The smaller of two draws: low values are more frequent, so that threads meet at them.
    unsigned first = state >> 24, second = state >> 16 & 255u;
    byte = static_cast<unsigned char>(first < second ? first : second);
    expected[byte]++;
  }

  unsigned char* device_data;
  unsigned* device_bins;
  CUDA_CHECK(cudaMalloc(&device_data, size));
  CUDA_CHECK(cudaMalloc(&device_bins, kBins * sizeof(unsigned)));
  CUDA_CHECK(cudaMemcpy(device_data, data.data(), size, cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemset(device_bins, 0, kBins * sizeof(unsigned)));
  count_bytes<<<32, 256>>>(device_data, size, device_bins);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaMemcpy(bins.data(), device_bins, kBins * sizeof(unsigned), cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaFree(device_data));
  CUDA_CHECK(cudaFree(device_bins));

  unsigned largest = 1;
  for (unsigned count : bins) largest = count > largest ? count : largest;
  for (int first = 0; first < kBins; first += 16) {
    unsigned count = bins[first];
    std::printf("%3d %8u ", first, count);
    for (unsigned i = 0; i < count * 50ull / largest; i++) std::putchar('#');
    std::putchar('\n');
  }
  return finish(bins == expected, "histogram");
}
