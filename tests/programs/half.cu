// cuda_fp16.h and cuda_bf16.h: every half converted both ways on host and device; arithmetic on the device against the
// host's, which is float rounded once and thus exact for these types.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstring>

#include "expect.h"

__global__ void convert(float* to_float, unsigned short* back, float* bfloat_to_float, unsigned short* bfloat_back) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  to_float[i] = __half2float(__ushort_as_half((unsigned short)i));
  back[i] = __half_as_ushort(__float2half(to_float[i] * 1.0003f));
  bfloat_to_float[i] = __bfloat162float(__ushort_as_bfloat16((unsigned short)i));
  bfloat_back[i] = __bfloat16_as_ushort(__float2bfloat16(bfloat_to_float[i] * 1.003f));
}

template <class T>
struct Sums {
  T add, sub, mul, div, fma, minimum, maximum, negative;
  bool less, equal;
};

template <class T>
__host__ __device__ Sums<T> work(T a, T b, T c) {
  return {a + b, a - b, a * b, a / b, __hfma(a, b, c), __hmin(a, b), __hmax(a, b), -a, a < b, a == b};
}
template <class T>
__global__ void work_on_device(const T* in, Sums<T>* out, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = work(in[i], in[(i * 7 + 1) % count], in[(i * 3 + 2) % count]);
}

__global__ void pairs(const __half2* in, __half2* out, __half* sum) {
  out[0] = __hadd2(in[0], in[1]);
  out[1] = __hfma2(in[0], in[1], in[2]);
  out[2] = __floats2half2_rn(1.5f, -2.25f);
  out[3] = __half2half2(__high2half(in[0]));
  float2 both = __half22float2(in[1]);
  out[4] = __float22half2_rn(make_float2(both.y, both.x));
  atomicAdd(&sum[threadIdx.x % 2], __float2half(0.5f));
}

static bool same(float a, float b) { return std::memcmp(&a, &b, 4) == 0 || (a != a && b != b); }

template <class T>
void check(const char* name, float scale) {
  constexpr int kCount = 1000;
  Buffer<T> in(kCount);
  Buffer<Sums<T>> out(kCount);
  unsigned state = 3;
  for (int i = 0; i < kCount; i++) {
    state = state * 1664525u + 1013904223u;
    in[i] = T((static_cast<float>(state >> 8) / 8388608.0f - 1.0f) * scale);
  }
  in.send();
  work_on_device<T><<<4, 256>>>(in.device, out.device, kCount);
  out.fetch();
  for (int i = 0; i < kCount; i++) {
    Sums<T> expected = work(in[i], in[(i * 7 + 1) % kCount], in[(i * 3 + 2) % kCount]);
    EXPECT(same(out[i].add, expected.add), "%s %d: %g %g", name, i, (float)out[i].add, (float)expected.add);
    EXPECT(same(out[i].sub, expected.sub), "%s %d: %g %g", name, i, (float)out[i].sub, (float)expected.sub);
    EXPECT(same(out[i].mul, expected.mul), "%s %d: %g %g", name, i, (float)out[i].mul, (float)expected.mul);
    EXPECT(same(out[i].div, expected.div), "%s %d: %g %g", name, i, (float)out[i].div, (float)expected.div);
    EXPECT(same(out[i].fma, expected.fma), "%s %d: %g %g", name, i, (float)out[i].fma, (float)expected.fma);
    EXPECT(same(out[i].minimum, expected.minimum) && same(out[i].maximum, expected.maximum), "%s %d", name, i);
    EXPECT(same(out[i].negative, expected.negative), "%s %d", name, i);
    EXPECT(out[i].less == expected.less && out[i].equal == expected.equal, "%s %d", name, i);
  }
}

int main() {
  constexpr int kAll = 65536;
  Buffer<float> to_float(kAll), bfloat_to_float(kAll);
  Buffer<unsigned short> back(kAll), bfloat_back(kAll);
  convert<<<kAll / 256, 256>>>(to_float.device, back.device, bfloat_to_float.device, bfloat_back.device);
  to_float.fetch(), back.fetch(), bfloat_to_float.fetch(), bfloat_back.fetch();
  for (int i = 0; i < kAll; i++) {
    // The value by its definition: sign, exponent, fraction.
    int exponent = i >> 10 & 31, fraction = i & 1023;
    float value = exponent == 31  ? (fraction ? NAN : INFINITY)
                  : exponent == 0 ? std::ldexp((float)fraction, -24)
                                  : std::ldexp((float)(fraction + 1024), exponent - 25);
    if (i & 0x8000) value = -value;
    EXPECT(same(to_float[i], value), "half %04x: %g", i, to_float[i]);
    EXPECT(same(__half2float(__ushort_as_half((unsigned short)i)), value), "half %04x on the host", i);
    // Which NaN a conversion gives is the device's matter.
    unsigned short expected = __half_as_ushort(__float2half(value * 1.0003f));
    EXPECT(back[i] == expected || (value != value && __hisnan(__ushort_as_half(back[i]))), "half %04x: %04x", i,
           back[i]);
    unsigned bits = (unsigned)i << 16;
    float upper;
    std::memcpy(&upper, &bits, 4);
    EXPECT(same(bfloat_to_float[i], upper), "bfloat16 %04x: %g", i, bfloat_to_float[i]);
    expected = __bfloat16_as_ushort(__float2bfloat16(upper * 1.003f));
    EXPECT(bfloat_back[i] == expected || (upper != upper && __hisnan(__ushort_as_bfloat16(bfloat_back[i]))),
           "bfloat16 %04x: %04x", i, bfloat_back[i]);
  }
  check<__half>("half", 40.0f);
  check<__half>("small half", 0.001f);
  check<__nv_bfloat16>("bfloat16", 40.0f);

  Buffer<__half2> in(3), out(5);
  Buffer<__half> sum(2);
  in[0] = __half2(__half(1.0f), __half(2.0f)), in[1] = __half2(__half(3.0f), __half(4.0f));
  in[2] = __half2(__half(0.5f), __half(-0.5f));
  in.send();
  pairs<<<1, 64>>>(in.device, out.device, sum.device);
  out.fetch(), sum.fetch();
  const float expected[5][2] = {{4, 6}, {3.5f, 7.5f}, {1.5f, -2.25f}, {2, 2}, {4, 3}};
  for (int i = 0; i < 5; i++)
    EXPECT((float)out[i].x == expected[i][0] && (float)out[i].y == expected[i][1], "%d: %g %g", i, (float)out[i].x,
           (float)out[i].y);
  EXPECT((float)sum[0] == 16.0f && (float)sum[1] == 16.0f, "%g %g", (float)sum[0], (float)sum[1]);
  return verdict("half");
}
