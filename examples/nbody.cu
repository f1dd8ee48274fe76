// Gravity between many bodies: every step each body feels all others, read through shared memory tile by tile.
// A progress line shows the simulated time and the drift of the total energy, which should stay small.
//   heddle c++ nbody.cu -o nbody && heddle run ./nbody [bodies [steps]]
#include <unistd.h>

#include <cmath>
#include <vector>

#include "common/check.h"

constexpr int kTile = 128;
constexpr float kSoftening = 0.05f;  // keeps close encounters finite

// Leapfrog: half a kick, a drift, then the other half with the new forces. `kick` is the share of the time step.
__global__ void accelerate(const float4* bodies, float3* velocities, int count, float kick) {
  __shared__ float4 tile[kTile];
  int i = blockIdx.x * kTile + threadIdx.x;
  float4 self = i < count ? bodies[i] : make_float4(0, 0, 0, 0);
  float3 force = make_float3(0, 0, 0);
  for (int first = 0; first < count; first += kTile) {
    int other = first + threadIdx.x;
    tile[threadIdx.x] = other < count ? bodies[other] : make_float4(0, 0, 0, 0);  // no mass, no force
    __syncthreads();
    for (int k = 0; k < kTile; k++) {
      float dx = tile[k].x - self.x, dy = tile[k].y - self.y, dz = tile[k].z - self.z;
      float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + kSoftening * kSoftening);
      float pull = tile[k].w * inverse * inverse * inverse;
      force.x += pull * dx;
      force.y += pull * dy;
      force.z += pull * dz;
    }
    __syncthreads();
  }
  if (i >= count) return;
  velocities[i].x += kick * force.x;
  velocities[i].y += kick * force.y;
  velocities[i].z += kick * force.z;
}

__global__ void drift(float4* bodies, const float3* velocities, int count, float step) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  bodies[i].x += step * velocities[i].x;
  bodies[i].y += step * velocities[i].y;
  bodies[i].z += step * velocities[i].z;
}

static double energy(const std::vector<float4>& bodies, const std::vector<float3>& velocities) {
  double sum = 0.0;
  for (size_t i = 0; i < bodies.size(); i++) {
    const float3& v = velocities[i];
    sum += 0.5 * bodies[i].w * (static_cast<double>(v.x) * v.x + v.y * v.y + v.z * v.z);
    for (size_t j = 0; j < i; j++) {
      double dx = bodies[i].x - bodies[j].x, dy = bodies[i].y - bodies[j].y, dz = bodies[i].z - bodies[j].z;
      sum -= bodies[i].w * bodies[j].w / std::sqrt(dx * dx + dy * dy + dz * dz + kSoftening * kSoftening);
    }
  }
  return sum;
}

int main(int argc, char** argv) {
  int count = argc > 1 ? std::atoi(argv[1]) : 1024, steps = argc > 2 ? std::atoi(argv[2]) : 100;
  if (count < 2 || steps < 1) return finish(false, "nbody: two bodies and one step at least");
  const float step = 0.01f;
  std::vector<float4> bodies(count);
  std::vector<float3> velocities(count);
  unsigned state = 7;
  auto draw = [&state] {
    return static_cast<float>((state = state * 1664525u + 1013904223u) >> 8) * (2.0f / 16777216.0f) - 1.0f;
  };
  for (int i = 0; i < count; i++) {  // a turning disc of total mass 1
    float x = draw(), y = draw(), z = 0.1f * draw();
    bodies[i] = make_float4(x, y, z, 1.0f / static_cast<float>(count));
    velocities[i] = make_float3(-0.6f * y, 0.6f * x, 0.0f);
  }
  double before = energy(bodies, velocities);

  float4* device_bodies;
  float3* device_velocities;
  CUDA_CHECK(cudaMalloc(&device_bodies, count * sizeof(float4)));
  CUDA_CHECK(cudaMalloc(&device_velocities, count * sizeof(float3)));
  CUDA_CHECK(cudaMemcpy(device_bodies, bodies.data(), count * sizeof(float4), cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpy(device_velocities, velocities.data(), count * sizeof(float3), cudaMemcpyHostToDevice));

  int blocks = (count + kTile - 1) / kTile;
  bool terminal = isatty(1);
  for (int i = 1; i <= steps; i++) {
    accelerate<<<blocks, kTile>>>(device_bodies, device_velocities, count, 0.5f * step);
    drift<<<blocks, kTile>>>(device_bodies, device_velocities, count, step);
    accelerate<<<blocks, kTile>>>(device_bodies, device_velocities, count, 0.5f * step);
    CUDA_CHECK(cudaGetLastError());
    if (i % 20 && i != steps) continue;
    CUDA_CHECK(cudaMemcpy(bodies.data(), device_bodies, count * sizeof(float4), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(velocities.data(), device_velocities, count * sizeof(float3), cudaMemcpyDeviceToHost));
    double drift_now = (energy(bodies, velocities) - before) / std::fabs(before);
    std::printf("%sstep %d of %d, time %.2f, energy drift %+.2e%s", terminal ? "\r" : "", i, steps, i * step, drift_now,
                terminal && i != steps ? "   " : "\n");
    std::fflush(stdout);
  }
  CUDA_CHECK(cudaFree(device_bodies));
  CUDA_CHECK(cudaFree(device_velocities));

  double change = std::fabs(energy(bodies, velocities) - before) / std::fabs(before);
  return finish(change < 1e-2, "nbody");  // NaN fails too
}
