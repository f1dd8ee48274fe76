// The CUDA form of the benchmarks.
#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "bench.h"

namespace bench {
namespace {

#define CHECK(call)                                                       \
  do {                                                                    \
    if (cudaError_t error = (call); error != cudaSuccess) {               \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error)); \
      std::exit(1);                                                       \
    }                                                                     \
  } while (0)

__global__ void empty() {}

__global__ void saxpy(int n, float a, const float* x, const float* y, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a * x[i] + y[i];
}

constexpr int kTile = 16;

__global__ void sgemm(int n, const float* a, const float* b, float* c) {
  __shared__ float as[kTile][kTile], bs[kTile][kTile];
  int row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < n; t += kTile) {
    as[threadIdx.y][threadIdx.x] = a[row * n + t + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + column];
    __syncthreads();
    for (int k = 0; k < kTile; ++k) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

__global__ void reduce(int n, const float* in, float* partial) {
  __shared__ float warps[32];
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : 0;
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
  }
}

__global__ void mandelbrot(int width, int height, int limit, float* out) {
  int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= width || py >= height) return;
  float cx = -2.0f + px * (3.0f / width), cy = -1.0f + py * (2.0f / height), zx = 0, zy = 0;
  int n = 0;
  while (n < limit && zx * zx + zy * zy < 4.0f) {
    float t = zx * zx - zy * zy + cx;
    zy = 2.0f * zx * zy + cy;
    zx = t;
    ++n;
  }
  out[py * width + px] = n;
}

__global__ void blur(int size, const float* in, float* out) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= size || y >= size) return;
  float sum = 0;
  for (int dy = -2; dy <= 2; ++dy)
    for (int dx = -2; dx <= 2; ++dx) {
      int sx = min(max(x + dx, 0), size - 1), sy = min(max(y + dy, 0), size - 1);
      sum += in[sy * size + sx];
    }
  out[y * size + x] = sum / 25.0f;
}

__device__ float normal_cdf(float d) {
  float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
  float c = 0.39894228f * __expf(-0.5f * d * d) *
            (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return d > 0 ? 1.0f - c : c;
}

__global__ void black_scholes(int n, const float* spot, const float* strike, const float* years, float* call) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float rate = 0.02f, volatility = 0.3f;
  float s = spot[i], k = strike[i], t = years[i], root = sqrtf(t);
  float d1 = (__logf(s / k) + (rate + 0.5f * volatility * volatility) * t) / (volatility * root);
  float d2 = d1 - volatility * root;
  call[i] = s * normal_cdf(d1) - k * __expf(-rate * t) * normal_cdf(d2);
}

float* upload(const std::vector<float>& values) {
  float* device;
  CHECK(cudaMalloc(&device, values.size() * sizeof(float)));
  CHECK(cudaMemcpy(device, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice));
  return device;
}
float* allocate(std::size_t count) { return upload(std::vector<float>(count)); }
std::vector<float> download(const float* device, std::size_t count) {
  std::vector<float> values(count);
  CHECK(cudaMemcpy(values.data(), device, count * sizeof(float), cudaMemcpyDeviceToHost));
  return values;
}
void wait() {
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
}

}  // namespace

std::vector<Case> cuda_cases(const Problem& p) {
  using P = Problem;
  std::vector<Case> cases;
  {
    float *x = upload(p.x), *y = upload(p.y), *out = allocate(P::kSaxpy);
    cases.push_back({"saxpy",
                     [=] {
                       saxpy<<<P::kSaxpy / 256, 256>>>(P::kSaxpy, 2.5f, x, y, out);
                       wait();
                     },
                     [=] { return download(out, P::kSaxpy); }});
  }
  {
    float *a = upload(p.a), *b = upload(p.b), *c = allocate(P::kMatrix * P::kMatrix);
    cases.push_back({"sgemm",
                     [=] {
                       sgemm<<<dim3(P::kMatrix / kTile, P::kMatrix / kTile), dim3(kTile, kTile)>>>(P::kMatrix, a, b, c);
                       wait();
                     },
                     [=] { return download(c, P::kMatrix * P::kMatrix); }});
  }
  {
    constexpr int kBlocks = 64;
    float *in = upload(p.reduce_in), *partial = allocate(kBlocks);
    cases.push_back({"reduce",
                     [=] {
                       reduce<<<kBlocks, 256>>>(P::kReduce, in, partial);
                       wait();
                     },
                     [=] {
                       float sum = 0;
                       for (float v : download(partial, kBlocks)) sum += v;
                       return std::vector<float>{sum};
                     }});
  }
  {
    float* out = allocate(P::kMandelWidth * P::kMandelHeight);
    cases.push_back({"mandelbrot",
                     [=] {
                       mandelbrot<<<dim3(P::kMandelWidth / 32, P::kMandelHeight / 8), dim3(32, 8)>>>(
                           P::kMandelWidth, P::kMandelHeight, P::kMandelIterations, out);
                       wait();
                     },
                     [=] { return download(out, P::kMandelWidth * P::kMandelHeight); }});
  }
  {
    float *in = upload(p.image), *out = allocate(P::kBlur * P::kBlur);
    cases.push_back({"blur",
                     [=] {
                       blur<<<dim3(P::kBlur / 16, P::kBlur / 16), dim3(16, 16)>>>(P::kBlur, in, out);
                       wait();
                     },
                     [=] { return download(out, P::kBlur * P::kBlur); }});
  }
  {
    float *s = upload(p.spot), *k = upload(p.strike), *t = upload(p.years), *call = allocate(P::kOptions);
    cases.push_back({"black-scholes",
                     [=] {
                       black_scholes<<<P::kOptions / 256, 256>>>(P::kOptions, s, k, t, call);
                       wait();
                     },
                     [=] { return download(call, P::kOptions); }});
  }
  return cases;
}

double empty_launch_microseconds() {
  using Clock = std::chrono::steady_clock;
  double best = 1e9;
  for (int round = 0; round < 20; ++round) {
    constexpr int kCalls = 1000;
    const auto begin = Clock::now();
    for (int i = 0; i < kCalls; ++i) {
      empty<<<1, 32>>>();
      cudaDeviceSynchronize();
    }
    const double us = std::chrono::duration<double, std::micro>(Clock::now() - begin).count() / kCalls;
    if (us < best) best = us;
  }
  CHECK(cudaGetLastError());
  return best;
}

}  // namespace bench
