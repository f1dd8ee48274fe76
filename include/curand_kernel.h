// Random numbers in kernels: the device interface of cuRAND.
//
// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011) is counted by
// (offset, subsequence) and keyed by the seed. XORWOW is Marsaglia's generator ("Xorshift RNGs", 2003, section 3.1),
// MRG32k3a is L'Ecuyer's ("Good parameters and implementations for combined multiple recursive random number
// generators", 1999). XORWOW and MRG32k3a start each subsequence from a hash of seed and subsequence instead of a
// jump by 2^67 steps, so the numbers are as good but not the same as those of NVIDIA's library.
// Tested by tests/programs/random.cu.
#ifndef CURAND_KERNEL_H_
#define CURAND_KERNEL_H_
#if defined(__cplusplus) && defined(__CUDACC__)
#include <cuda_runtime.h>

#define QUALIFIERS static __forceinline__ __device__
#define HEDDLE_RAND_FN static __device__ __forceinline__

namespace heddle_random {

// SplitMix64 (Steele, Lea, Flood, 2014): a good hash of 64 bits.
HEDDLE_RAND_FN unsigned long long mix(unsigned long long& counter) {
  unsigned long long z = counter += 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}
HEDDLE_RAND_FN unsigned long long hash_seed(unsigned long long seed, unsigned long long sequence) {
  unsigned long long counter = seed;
  counter = mix(counter) ^ sequence;
  return mix(counter);
}

// The second value of a Box-Muller pair waits for the next call.
struct Spare {
  float value;
  double double_value;
  bool has_value, has_double_value;
};

}  // namespace heddle_random

struct curandStateXORWOW {
  unsigned int x[5], weyl;
  unsigned long long seed, sequence;
  heddle_random::Spare spare;
};
typedef struct curandStateXORWOW curandStateXORWOW_t;
typedef struct curandStateXORWOW curandState_t;
typedef struct curandStateXORWOW curandState;

struct curandStatePhilox4_32_10 {
  uint4 counter, output;
  uint2 key;
  unsigned int used;  // of output's four words
  heddle_random::Spare spare;
};
typedef struct curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

struct curandStateMRG32k3a {
  unsigned long long s1[3], s2[3];
  unsigned long long seed, sequence;
  heddle_random::Spare spare;
};
typedef struct curandStateMRG32k3a curandStateMRG32k3a_t;

// --- XORWOW

HEDDLE_RAND_FN unsigned int curand(curandStateXORWOW_t* state) {
  unsigned int t = state->x[0] ^ (state->x[0] >> 2);
  state->x[0] = state->x[1];
  state->x[1] = state->x[2];
  state->x[2] = state->x[3];
  state->x[3] = state->x[4];
  state->x[4] = (state->x[4] ^ (state->x[4] << 4)) ^ (t ^ (t << 1));
  state->weyl += 362437u;
  return state->weyl + state->x[4];
}
HEDDLE_RAND_FN void skipahead(unsigned long long steps, curandStateXORWOW_t* state) {
  for (; steps; steps--) curand(state);
  state->spare.has_value = state->spare.has_double_value = false;
}
HEDDLE_RAND_FN void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset,
                                curandStateXORWOW_t* state) {
  unsigned long long counter = heddle_random::hash_seed(seed, sequence);
  for (int i = 0; i < 4; i += 2) {
    unsigned long long bits = heddle_random::mix(counter);
    state->x[i] = (unsigned int)bits;
    state->x[i + 1] = (unsigned int)(bits >> 32);
  }
  unsigned long long bits = heddle_random::mix(counter);
  state->x[4] = (unsigned int)bits | 1u;  // never all zero
  state->weyl = (unsigned int)(bits >> 32);
  state->seed = seed;
  state->sequence = sequence;
  skipahead(offset, state);
}
HEDDLE_RAND_FN void skipahead_sequence(unsigned long long count, curandStateXORWOW_t* state) {
  curand_init(state->seed, state->sequence + count, 0, state);
}

// --- Philox4x32-10

HEDDLE_RAND_FN uint4 curand_Philox4x32_10(uint4 counter, uint2 key) {
  for (int round = 0; round < 10; round++) {
    unsigned int high0 = __umulhi(0xd2511f53u, counter.x), low0 = 0xd2511f53u * counter.x;
    unsigned int high1 = __umulhi(0xcd9e8d57u, counter.z), low1 = 0xcd9e8d57u * counter.z;
    counter = make_uint4(high1 ^ counter.y ^ key.x, low1, high0 ^ counter.w ^ key.y, low0);
    key.x += 0x9e3779b9u;
    key.y += 0xbb67ae85u;
  }
  return counter;
}
namespace heddle_random {
HEDDLE_RAND_FN void add_to_counter(uint4& counter, unsigned long long blocks, unsigned long long sequences) {
  unsigned long long low = (unsigned long long)counter.y << 32 | counter.x;
  unsigned long long high = (unsigned long long)counter.w << 32 | counter.z;
  low += blocks;
  high += sequences + (low < blocks ? 1 : 0);
  counter = make_uint4((unsigned int)low, (unsigned int)(low >> 32), (unsigned int)high, (unsigned int)(high >> 32));
}
}  // namespace heddle_random
HEDDLE_RAND_FN void skipahead(unsigned long long steps, curandStatePhilox4_32_10_t* state) {
  unsigned long long position = state->used + (steps & 3);
  heddle_random::add_to_counter(state->counter, (steps >> 2) + (position >> 2), 0);
  state->used = (unsigned int)(position & 3);
  state->output = curand_Philox4x32_10(state->counter, state->key);
}
HEDDLE_RAND_FN void skipahead_sequence(unsigned long long count, curandStatePhilox4_32_10_t* state) {
  heddle_random::add_to_counter(state->counter, 0, count);
  state->output = curand_Philox4x32_10(state->counter, state->key);
}
HEDDLE_RAND_FN void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset,
                                curandStatePhilox4_32_10_t* state) {
  state->key = make_uint2((unsigned int)seed, (unsigned int)(seed >> 32));
  state->counter = make_uint4(0, 0, 0, 0);
  state->used = 0;
  state->spare.has_value = state->spare.has_double_value = false;
  heddle_random::add_to_counter(state->counter, 0, sequence);
  skipahead(offset, state);
}
HEDDLE_RAND_FN unsigned int curand(curandStatePhilox4_32_10_t* state) {
  unsigned int words[4] = {state->output.x, state->output.y, state->output.z, state->output.w};
  unsigned int result = words[state->used];
  if (++state->used == 4) {
    heddle_random::add_to_counter(state->counter, 1, 0);
    state->output = curand_Philox4x32_10(state->counter, state->key);
    state->used = 0;
  }
  return result;
}
HEDDLE_RAND_FN uint4 curand4(curandStatePhilox4_32_10_t* state) {
  uint4 result;
  result.x = curand(state);
  result.y = curand(state);
  result.z = curand(state);
  result.w = curand(state);
  return result;
}

// --- MRG32k3a

namespace heddle_random {
constexpr unsigned long long kM1 = 4294967087ull, kM2 = 4294944443ull;
}
HEDDLE_RAND_FN unsigned int curand(curandStateMRG32k3a_t* state) {
  using heddle_random::kM1;
  using heddle_random::kM2;
  unsigned long long p1 = (1403580ull * state->s1[1] % kM1 + kM1 - 810728ull * state->s1[0] % kM1) % kM1;
  unsigned long long p2 = (527612ull * state->s2[2] % kM2 + kM2 - 1370589ull * state->s2[0] % kM2) % kM2;
  state->s1[0] = state->s1[1], state->s1[1] = state->s1[2], state->s1[2] = p1;
  state->s2[0] = state->s2[1], state->s2[1] = state->s2[2], state->s2[2] = p2;
  return (unsigned int)(p1 > p2 ? p1 - p2 : p1 + kM1 - p2);
}
HEDDLE_RAND_FN void skipahead(unsigned long long steps, curandStateMRG32k3a_t* state) {
  for (; steps; steps--) curand(state);
  state->spare.has_value = state->spare.has_double_value = false;
}
HEDDLE_RAND_FN void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset,
                                curandStateMRG32k3a_t* state) {
  unsigned long long counter = heddle_random::hash_seed(seed, sequence);
  for (int i = 0; i < 3; i++) state->s1[i] = heddle_random::mix(counter) % (heddle_random::kM1 - 1) + 1;
  for (int i = 0; i < 3; i++) state->s2[i] = heddle_random::mix(counter) % (heddle_random::kM2 - 1) + 1;
  state->seed = seed;
  state->sequence = sequence;
  skipahead(offset, state);
}
HEDDLE_RAND_FN void skipahead_sequence(unsigned long long count, curandStateMRG32k3a_t* state) {
  curand_init(state->seed, state->sequence + count, 0, state);
}

// --- Distributions, of any generator

namespace heddle_random {
// (0, 1]: the middle of each of 2^32 steps, so that 0 is never and 1 by rounding possible.
HEDDLE_RAND_FN float uniform(unsigned int bits) {
  return (float)bits * 2.3283064365386963e-10f + 1.1641532182693481e-10f;
}
HEDDLE_RAND_FN double uniform_double(unsigned int a, unsigned int b) {
  unsigned long long bits = (unsigned long long)a ^ ((unsigned long long)b << 21);
  return (double)bits * 1.1102230246251565e-16 + 5.5511151231257827e-17;
}
template <class State>
HEDDLE_RAND_FN float2 normal_pair(State* state) {
  float radius = sqrtf(-2.0f * logf(uniform(curand(state)))), sine, cosine;
  sincospif(2.0f * uniform(curand(state)), &sine, &cosine);
  return make_float2(radius * sine, radius * cosine);
}
template <class State>
HEDDLE_RAND_FN double2 normal_pair_double(State* state) {
  unsigned int a = curand(state), b = curand(state), c = curand(state), d = curand(state);
  double radius = sqrt(-2.0 * log(uniform_double(a, b))), sine, cosine;
  sincospi(2.0 * uniform_double(c, d), &sine, &cosine);
  return make_double2(radius * sine, radius * cosine);
}
// Knuth's product of uniforms, in pieces whose exp(-lambda) doesn't vanish; far out the normal distribution is as good.
template <class State>
HEDDLE_RAND_FN unsigned int poisson(State* state, double lambda) {
  if (lambda > 4000.0) {
    double value = floor(lambda + sqrt(lambda) * normal_pair_double(state).x + 0.5);
    return value > 0.0 ? (unsigned int)value : 0u;
  }
  unsigned int count = 0;
  while (lambda > 0.0) {
    double piece = lambda < 30.0 ? lambda : 30.0, product = 1.0, limit = exp(-piece);
    lambda -= piece;
    for (;;) {
      unsigned int a = curand(state), b = curand(state);
      product *= uniform_double(a, b);
      if (product <= limit) break;
      count++;
    }
  }
  return count;
}
}  // namespace heddle_random

template <class State>
HEDDLE_RAND_FN float curand_uniform(State* state) {
  return heddle_random::uniform(curand(state));
}
template <class State>
HEDDLE_RAND_FN double curand_uniform_double(State* state) {
  unsigned int a = curand(state), b = curand(state);
  return heddle_random::uniform_double(a, b);
}
template <class State>
HEDDLE_RAND_FN float2 curand_normal2(State* state) {
  return heddle_random::normal_pair(state);
}
template <class State>
HEDDLE_RAND_FN double2 curand_normal2_double(State* state) {
  return heddle_random::normal_pair_double(state);
}
template <class State>
HEDDLE_RAND_FN float curand_normal(State* state) {
  if (state->spare.has_value) {
    state->spare.has_value = false;
    return state->spare.value;
  }
  float2 pair = heddle_random::normal_pair(state);
  state->spare.value = pair.y;
  state->spare.has_value = true;
  return pair.x;
}
template <class State>
HEDDLE_RAND_FN double curand_normal_double(State* state) {
  if (state->spare.has_double_value) {
    state->spare.has_double_value = false;
    return state->spare.double_value;
  }
  double2 pair = heddle_random::normal_pair_double(state);
  state->spare.double_value = pair.y;
  state->spare.has_double_value = true;
  return pair.x;
}
template <class State>
HEDDLE_RAND_FN float curand_log_normal(State* state, float mean, float deviation) {
  return expf(mean + deviation * curand_normal(state));
}
template <class State>
HEDDLE_RAND_FN double curand_log_normal_double(State* state, double mean, double deviation) {
  return exp(mean + deviation * curand_normal_double(state));
}
template <class State>
HEDDLE_RAND_FN unsigned int curand_poisson(State* state, double lambda) {
  return heddle_random::poisson(state, lambda);
}
HEDDLE_RAND_FN float4 curand_uniform4(curandStatePhilox4_32_10_t* state) {
  uint4 bits = curand4(state);
  return make_float4(heddle_random::uniform(bits.x), heddle_random::uniform(bits.y), heddle_random::uniform(bits.z),
                     heddle_random::uniform(bits.w));
}
HEDDLE_RAND_FN double2 curand_uniform2_double(curandStatePhilox4_32_10_t* state) {
  double first = curand_uniform_double(state);
  return make_double2(first, curand_uniform_double(state));
}
HEDDLE_RAND_FN float4 curand_normal4(curandStatePhilox4_32_10_t* state) {
  float2 first = heddle_random::normal_pair(state), second = heddle_random::normal_pair(state);
  return make_float4(first.x, first.y, second.x, second.y);
}

#undef HEDDLE_RAND_FN
#endif
#endif
