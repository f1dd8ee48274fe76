// How long a CUDA program takes to start: the first call, the first launch (compiled, or from the cache), the second.
// `make bench` runs it twice: with an empty cache and with a filled one.
#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>

__global__ void scale(int n, float* values, float by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] *= by;
}

int main() {
  using Clock = std::chrono::steady_clock;
  auto since = [](Clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  };
  auto begin = Clock::now();
  if (cudaFree(nullptr) != cudaSuccess) return std::puts("no device"), 1;
  const double first_call = since(begin);
  float* values;
  cudaMalloc(&values, 1024 * sizeof(float));
  begin = Clock::now();
  scale<<<4, 256>>>(1024, values, 2);
  cudaDeviceSynchronize();
  const double first_launch = since(begin);
  begin = Clock::now();
  scale<<<4, 256>>>(1024, values, 2);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("first call %.2f ms, first launch %.2f ms, second launch %.4f ms\n", first_call, first_launch,
              since(begin));
  // Whether the compiler's library is in the process can be read from the process itself.
  std::FILE* maps = std::fopen("/proc/self/maps", "r");
  char line[512];
  bool jit = false;
  while (maps && std::fgets(line, sizeof line, maps)) jit |= __builtin_strstr(line, "libheddle-jit") != nullptr;
  if (maps) std::fclose(maps);
  std::printf("LLVM in the process: %s\n", jit ? "yes" : "no");
  return error == cudaSuccess ? 0 : 1;
}
