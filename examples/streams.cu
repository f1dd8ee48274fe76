// Overlapping copies and kernels: the work is cut into pieces, and each stream copies its piece in, computes, and
// copies it back, while the other streams do the same with theirs. Only pinned host memory lets copies run
// asynchronously.
//   heddle c++ streams.cu -o streams && heddle run ./streams [elements]
#include "common/check.h"

__global__ void logistic(float* values, int count, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float x = values[i];
  for (int round = 0; round < rounds; round++) x = 3.5f * x * (1.0f - x);
  values[i] = x;
}

static void compute(float* host, float* device, int count, int pieces, cudaStream_t* streams, int rounds) {
  int piece = (count + pieces - 1) / pieces;
  for (int p = 0; p < pieces; p++) {
    int first = p * piece, size = count - first < piece ? count - first : piece;
    if (size <= 0) break;
    size_t bytes = size * sizeof(float);
    CUDA_CHECK(cudaMemcpyAsync(device + first, host + first, bytes, cudaMemcpyHostToDevice, streams[p]));
    logistic<<<(size + 255) / 256, 256, 0, streams[p]>>>(device + first, size, rounds);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpyAsync(host + first, device + first, bytes, cudaMemcpyDeviceToHost, streams[p]));
  }
}

int main(int argc, char** argv) {
  constexpr int kStreams = 4, kRounds = 100;
  int count = argc > 1 ? std::atoi(argv[1]) : 1 << 20;
  if (count < 1) return finish(false, "streams: the number of elements must be positive");
  size_t bytes = static_cast<size_t>(count) * sizeof(float);
  float *together, *apart, *device;
  CUDA_CHECK(cudaMallocHost(&together, bytes));
  CUDA_CHECK(cudaMallocHost(&apart, bytes));
  CUDA_CHECK(cudaMalloc(&device, bytes));
  for (int i = 0; i < count; i++) together[i] = apart[i] = static_cast<float>(i % 1000 + 1) / 1002.0f;

  cudaStream_t streams[kStreams];
  for (cudaStream_t& stream : streams) CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  cudaEvent_t start, stop;
  CUDA_CHECK(cudaEventCreate(&start));
  CUDA_CHECK(cudaEventCreate(&stop));
  float milliseconds[2];

  CUDA_CHECK(cudaEventRecord(start, streams[0]));
  compute(together, device, count, 1, streams, kRounds);
  CUDA_CHECK(cudaEventRecord(stop, streams[0]));
  CUDA_CHECK(cudaEventSynchronize(stop));
  CUDA_CHECK(cudaEventElapsedTime(&milliseconds[0], start, stop));

  CUDA_CHECK(cudaEventRecord(start, streams[0]));
  compute(apart, device, count, kStreams, streams, kRounds);
  // The last event must come after the work of all streams: stream 0 waits for the others' ends.
  for (int i = 1; i < kStreams; i++) {
    cudaEvent_t end;
    CUDA_CHECK(cudaEventCreateWithFlags(&end, cudaEventDisableTiming));
    CUDA_CHECK(cudaEventRecord(end, streams[i]));
    CUDA_CHECK(cudaStreamWaitEvent(streams[0], end, 0));
    CUDA_CHECK(cudaEventDestroy(end));  // allowed: it goes away when the work that uses it has ended
  }
  CUDA_CHECK(cudaEventRecord(stop, streams[0]));
  CUDA_CHECK(cudaEventSynchronize(stop));
  CUDA_CHECK(cudaEventElapsedTime(&milliseconds[1], start, stop));
  CUDA_CHECK(cudaDeviceSynchronize());
  std::printf("one stream %.3f ms, %d streams %.3f ms\n", milliseconds[0], kStreams, milliseconds[1]);

  // The same kernel on the same data: the results must be equal bit for bit, however they were cut.
  int different = 0, outside = 0;
  for (int i = 0; i < count; i++) {
    different += together[i] != apart[i];
    outside += !(together[i] > 0.0f && together[i] < 1.0f);  // the logistic map keeps (0, 1)
  }
  for (cudaStream_t stream : streams) CUDA_CHECK(cudaStreamDestroy(stream));
  CUDA_CHECK(cudaEventDestroy(start));
  CUDA_CHECK(cudaEventDestroy(stop));
  CUDA_CHECK(cudaFree(device));
  CUDA_CHECK(cudaFreeHost(together));
  CUDA_CHECK(cudaFreeHost(apart));
  if (different || outside) std::printf("%d values differ, %d are outside of (0, 1)\n", different, outside);
  return finish(!different && !outside, "streams");
}
