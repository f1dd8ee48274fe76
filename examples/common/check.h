// What the examples share: stop at the first CUDA error, and say at the end whether the result was right.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

/// Runs a CUDA call; on an error prints which call, where and why, and ends the program with status 1.
#define CUDA_CHECK(call)                                                                                  \
  do {                                                                                                    \
    cudaError_t error_ = (call);                                                                          \
    if (error_ != cudaSuccess) {                                                                          \
      std::fprintf(stderr, "%s:%d: %s: %s (%s)\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_), \
                   cudaGetErrorName(error_));                                                             \
      std::printf("FAILED %s\n", #call);                                                                  \
      std::exit(1);                                                                                       \
    }                                                                                                     \
  } while (0)

/// The last line and the exit status of an example.
inline int finish(bool right, const char* what) {
  std::printf("%s %s\n", right ? "OK" : "FAILED", what);
  return right ? 0 : 1;
}
