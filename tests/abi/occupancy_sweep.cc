// Prints what cuda_occupancy.h says for many kernels and devices; occupancy.sh compares two headers by it.
#include <cuda_occupancy.h>
#include <cuda_runtime_api.h>

#include <cstdio>
#include <initializer_list>

int main() {
  struct {
    int major, minor, threads;
    size_t shared, optin;
  } const devices[] = {{7, 5, 1024, 65536, 65536},   {8, 0, 2048, 167936, 166912}, {8, 6, 1536, 102400, 101376},
                       {8, 9, 1536, 102400, 101376}, {9, 0, 2048, 233472, 232448}, {10, 0, 2048, 233472, 232448},
                       {12, 0, 1536, 102400, 101376}};
  for (const auto& d : devices) {
    cudaDeviceProp properties = {};
    properties.major = d.major;
    properties.minor = d.minor;
    properties.maxThreadsPerBlock = 1024;
    properties.maxThreadsPerMultiProcessor = d.threads;
    properties.regsPerBlock = properties.regsPerMultiprocessor = 65536;
    properties.warpSize = 32;
    properties.sharedMemPerBlock = 49152;
    properties.sharedMemPerMultiprocessor = d.shared;
    properties.sharedMemPerBlockOptin = d.optin;
    properties.reservedSharedMemPerBlock = d.major >= 8 ? 1024 : 0;
    properties.multiProcessorCount = 10;
    const cudaOccDeviceProp device = properties;
    const cudaOccDeviceState state;
    for (const int registers : {0, 16, 24, 32, 33, 40, 64, 96, 128, 168, 255}) {
      for (const size_t fixed : {size_t(0), size_t(100), size_t(1024), size_t(40000)}) {
        cudaFuncAttributes attributes = {};
        attributes.maxThreadsPerBlock = 1024;
        attributes.numRegs = registers;
        attributes.sharedSizeBytes = fixed;
        attributes.maxDynamicSharedSizeBytes = 49152 - static_cast<int>(fixed);
        const cudaOccFuncAttributes kernel = attributes;
        for (const int block : {1, 31, 32, 33, 64, 96, 128, 160, 192, 256, 384, 512, 768, 1000, 1024}) {
          for (const size_t dynamic : {size_t(0), size_t(512), size_t(8000), size_t(16384)}) {
            cudaOccResult result;
            const int error =
                cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &kernel, &state, block, dynamic);
            std::printf("%d.%d registers %d shared %zu + %zu block %d: error %d blocks %d by %d %d %d %d\n", d.major,
                        d.minor, registers, fixed, dynamic, block, error,
                        error ? 0 : result.activeBlocksPerMultiprocessor, result.blockLimitWarps,
                        result.blockLimitBlocks, registers ? result.blockLimitRegs : 0, result.blockLimitSharedMem);
          }
        }
        int grid = 0, size = 0;
        cudaOccMaxPotentialOccupancyBlockSize(&grid, &size, &device, &kernel, &state);
        std::printf("%d.%d registers %d shared %zu: best grid %d block %d\n", d.major, d.minor, registers, fixed, grid,
                    size);
      }
    }
  }
}
