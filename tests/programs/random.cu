// curand_kernel.h: Philox against the test vectors of its authors' library (Random123's kat_vectors), MRG32k3a against
// a known sum, XORWOW by its recurrence; moments of the distributions; what offset and subsequence mean.
#include <curand_kernel.h>

#include <cmath>

#include "expect.h"

__global__ void philox(uint4* out) {
  out[0] = curand_Philox4x32_10(make_uint4(0, 0, 0, 0), make_uint2(0, 0));
  out[1] = curand_Philox4x32_10(make_uint4(~0u, ~0u, ~0u, ~0u), make_uint2(~0u, ~0u));
  out[2] = curand_Philox4x32_10(make_uint4(0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u),
                                make_uint2(0xa4093822u, 0x299f31d0u));
}

template <class State>
__global__ void positions(int* same) {
  State a, b;
  curand_init(42, 7, 0, &a);
  curand_init(42, 7, 5, &b);
  for (int i = 0; i < 5; i++) curand(&a);
  same[0] = 1;
  for (int i = 0; i < 20; i++) same[0] &= curand(&a) == curand(&b);
  curand_init(42, 8, 0, &b);
  same[1] = 0;
  for (int i = 0; i < 20; i++) same[1] += curand(&a) == curand(&b);  // other subsequences are other numbers
}

template <class State>
__global__ void moments(double* sums, int draws) {
  State state;
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  curand_init(1234, i, 0, &state);
  double s[8] = {};
  for (int n = 0; n < draws; n++) {
    double u = curand_uniform(&state), d = curand_uniform_double(&state), g = curand_normal(&state),
           h = curand_normal_double(&state);
    s[0] += u, s[1] += u * u, s[2] += d, s[3] += g, s[4] += g * g, s[5] += h * h, s[6] += curand_poisson(&state, 3.5);
    s[7] += !(u > 0 && u <= 1 && d > 0 && d <= 1);
  }
  for (int k = 0; k < 8; k++) atomicAdd(&sums[k], s[k]);
}

__global__ void combined(double* sum) {  // L'Ecuyer's generator from the state of all 12345
  curandStateMRG32k3a_t state;
  for (int i = 0; i < 3; i++) state.s1[i] = state.s2[i] = 12345;
  double total = 0;
  for (int i = 0; i < 10000; i++) total += curand(&state) * 2.328306549295727688e-10;
  *sum = total;
}

template <class State>
void check(const char* name) {
  Buffer<int> same(2);
  positions<State><<<1, 1>>>(same.device);
  same.fetch();
  EXPECT(same[0] == 1 && same[1] < 2, "%s: %d %d", name, same[0], same[1]);
  constexpr int kThreads = 1024, kDraws = 200;
  Buffer<double> sums(8);
  moments<State><<<kThreads / 128, 128>>>(sums.device, kDraws);
  sums.fetch();
  double n = (double)kThreads * kDraws, tolerance = 5 / std::sqrt(n);  // five times the mean's deviation, or more
  EXPECT(std::fabs(sums[0] / n - 0.5) < 0.3 * tolerance && std::fabs(sums[1] / n - 1.0 / 3) < 0.3 * tolerance,
         "%s: %g %g", name, sums[0] / n, sums[1] / n);
  EXPECT(std::fabs(sums[2] / n - 0.5) < 0.3 * tolerance, "%s: %g", name, sums[2] / n);
  EXPECT(std::fabs(sums[3] / n) < tolerance && std::fabs(sums[4] / n - 1) < 1.5 * tolerance, "%s: %g %g", name,
         sums[3] / n, sums[4] / n);
  EXPECT(std::fabs(sums[5] / n - 1) < 1.5 * tolerance && std::fabs(sums[6] / n - 3.5) < 2 * tolerance, "%s: %g %g",
         name, sums[5] / n, sums[6] / n);
  EXPECT(sums[7] == 0, "%s: %g", name, sums[7]);
}

int main() {
  Buffer<uint4> blocks(3);
  philox<<<1, 1>>>(blocks.device);
  blocks.fetch();
  const unsigned known[3][4] = {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
                                {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
                                {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}};
  for (int i = 0; i < 3; i++)
    EXPECT(blocks[i].x == known[i][0] && blocks[i].y == known[i][1] && blocks[i].z == known[i][2] &&
               blocks[i].w == known[i][3],
           "%d: %08x %08x %08x %08x", i, blocks[i].x, blocks[i].y, blocks[i].z, blocks[i].w);
  Buffer<double> sum(1);
  combined<<<1, 1>>>(sum.device);
  sum.fetch();
  EXPECT(std::fabs(sum[0] - 5001.493769254249) < 1e-6, "%.12g", sum[0]);  // by the same recurrence in Python
  check<curandStateXORWOW_t>("XORWOW");
  check<curandStatePhilox4_32_10_t>("Philox");
  check<curandStateMRG32k3a_t>("MRG32k3a");
  return verdict("random");
}
