// What the test programs share: expectations that count failures, and the verdict as the last line.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

inline int failures = 0;

#define CUDA_CHECK(call)                                                                     \
  do {                                                                                       \
    cudaError_t error_ = (call);                                                             \
    if (error_ != cudaSuccess) {                                                             \
      std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_)); \
      std::printf("FAILED %s\n", #call);                                                     \
      std::exit(1);                                                                          \
    }                                                                                        \
  } while (0)

#define EXPECT(condition, ...)                                    \
  do {                                                            \
    if (!(condition) && ++failures <= 20) {                       \
      std::printf("%s:%d: %s: ", __FILE__, __LINE__, #condition); \
      std::printf(__VA_ARGS__);                                   \
      std::printf("\n");                                          \
    }                                                             \
  } while (0)

inline int verdict(const char* name) {
  if (failures) {
    std::printf("FAILED %s: %d expectations\n", name, failures);
    return 1;
  }
  std::printf("OK %s\n", name);
  return 0;
}

/// Device memory with a host copy: `device` in kernels, `fetch()` after them, then operator[].
template <class T>
class Buffer {
 public:
  explicit Buffer(size_t count, T value = T()) : count_(count), host_(new T[count]) {
    for (size_t i = 0; i < count; i++) host_[i] = value;
    CUDA_CHECK(cudaMalloc(&device, count * sizeof(T)));
    send();
  }
  ~Buffer() {
    cudaFree(device);
    delete[] host_;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  void send() { CUDA_CHECK(cudaMemcpy(device, host_, count_ * sizeof(T), cudaMemcpyHostToDevice)); }
  void fetch() {
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(host_, device, count_ * sizeof(T), cudaMemcpyDeviceToHost));
  }
  T& operator[](size_t i) { return host_[i]; }
  T* device;

 private:
  size_t count_;
  T* host_;
};
