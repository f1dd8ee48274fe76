// Functions of CUDA C++ beside the C library: integer intrinsics, SIMD in a word, dot products, min and max of mixed
// types, conversions between representations, and the host's versions of the extra mathematics.
#include <math_constants.h>

#include <cmath>

#include "expect.h"

struct Integers {
  int popc, clz, ffs, brev, byte_perm, mulhi, mul24, sad, funnel, hadd, dp4a, vadd4;
  unsigned umulhi, udp4a, minimum, maximum;
  unsigned long long mul64hi;
  long long longest;
};

__global__ void integers(Integers* r, int a, int b) {
  r->popc = __popc(a);
  r->clz = __clz(a);
  r->ffs = __ffs(a);
  r->brev = (int)__brev((unsigned)a);
  r->byte_perm = (int)__byte_perm((unsigned)a, (unsigned)b, 0x5140);
  r->mulhi = __mulhi(a, b);
  r->umulhi = __umulhi((unsigned)a, (unsigned)b);
  r->mul64hi = __umul64hi(0x123456789abcdefull, 0xfedcba987654321ull);
  r->mul24 = __mul24(a & 0xffff, 1000);
  r->sad = (int)__sad(a, b, 5u);
  r->funnel = (int)__funnelshift_l((unsigned)a, (unsigned)b, 8);
  r->hadd = __hadd(a, b);
  r->dp4a = __dp4a(a, b, 7);
  r->udp4a = __dp4a((unsigned)a, (unsigned)b, 7u);
  r->vadd4 = (int)__vadd4((unsigned)a, (unsigned)b);
  r->minimum = min(-1, 5u);
  r->maximum = max(7u, 3);
  r->longest = max(1ll << 40, 3ll);
}

__global__ void mathematics(double* out, double x) {
  out[0] = sinpi(x), out[1] = cospi(x), out[2] = rsqrt(x), out[3] = normcdf(x), out[4] = erfcinv(x);
  out[5] = normcdfinv(x), out[6] = erfcx(x), out[7] = rcbrt(x), out[8] = norm3d(x, 2.0, 3.0), out[9] = erfinv(x);
  out[10] = __longlong_as_double(__double_as_longlong(x)), out[11] = __int_as_float(__float_as_int((float)x));
  out[12] = CUDART_INF, out[13] = min(x, 0.25f), out[14] = max(1.5f, (float)x),
  out[15] = __hiloint2double(__double2hiint(x), __double2loint(x));
}

// Overloads for float by the name without f, in the global namespace and in std.
__global__ void overloads(float* out) {
  out[0] = log2(8.0f) + exp2(3.0f) + cbrt(27.0f) + hypot(3.0f, 4.0f) + round(2.5f) + trunc(-1.5f);
  out[1] = std::fmax(1.0f, 2.0f) + std::round(1.5f) + std::log2(4.0f) + fma(2.0f, 3.0f, 4.0f) + copysign(1.0f, -2.0f);
  out[2] = (float)(lrint(2.5f) + llround(2.5f) + ilogb(8.0f)) + scalbn(1.0f, 4) + erf(0.0f) + fdim(5.0f, 3.0f);
}

static bool near(double a, double b) { return std::fabs(a - b) <= 1e-13 * (1.0 + std::fabs(b)); }

int main() {
  Buffer<Integers> buffer(1);
  int a = 0x12f4a880, b = (int)0xfe03c177;
  integers<<<1, 1>>>(buffer.device, a, b);
  buffer.fetch();
  Integers& r = buffer[0];
  int dot = 7, reversed = 0, bytes = 0;
  unsigned udot = 7;
  for (int i = 0; i < 4; i++) {
    dot += (signed char)(a >> 8 * i) * (signed char)(b >> 8 * i);
    udot += (unsigned)(a >> 8 * i & 255) * (unsigned)(b >> 8 * i & 255);
    bytes |= ((a >> 8 * i & 255) + (b >> 8 * i & 255) & 255) << 8 * i;
  }
  for (int i = 0; i < 32; i++) reversed |= (int)((unsigned)(a >> i & 1) << (31 - i));
  EXPECT(r.popc == __builtin_popcount((unsigned)a), "%d", r.popc);
  EXPECT(r.clz == __builtin_clz((unsigned)a) && r.ffs == __builtin_ffs(a), "%d %d", r.clz, r.ffs);
  EXPECT(r.brev == reversed, "%x", (unsigned)r.brev);
  EXPECT((unsigned)r.byte_perm == 0xc1a87780u, "%x", (unsigned)r.byte_perm);  // bytes 0 (a), 4 (b), 1 (a), 5 (b)
  EXPECT(r.mulhi == (int)((long long)a * b >> 32), "%x", (unsigned)r.mulhi);
  EXPECT(r.umulhi == (unsigned)((unsigned long long)(unsigned)a * (unsigned)b >> 32), "%x", r.umulhi);
  EXPECT(r.mul64hi == (unsigned long long)((unsigned __int128)0x123456789abcdefull * 0xfedcba987654321ull >> 64),
         "%llx", r.mul64hi);
  EXPECT(r.mul24 == (a & 0xffff) * 1000, "%d", r.mul24);
  EXPECT(r.sad == (int)((long long)a - b) + 5, "%d", r.sad);
  EXPECT((unsigned)r.funnel == ((unsigned)b << 8 | (unsigned)a >> 24), "%x", (unsigned)r.funnel);
  EXPECT(r.hadd == (int)(((long long)a + b) >> 1), "%d", r.hadd);
  EXPECT(r.dp4a == dot && r.udp4a == udot, "%d %u", r.dp4a, r.udp4a);
  EXPECT(r.vadd4 == bytes, "%x", (unsigned)r.vadd4);
  EXPECT(r.minimum == 5u && r.maximum == 7u && r.longest == 1ll << 40, "%u %u %lld", r.minimum, r.maximum, r.longest);

  Buffer<double> out(16);
  const double x = 0.3;
  mathematics<<<1, 1>>>(out.device, x);
  out.fetch();
  // Definitions, and inverse functions by going back; the host's functions of the same names must agree.
  EXPECT(near(out[0], std::sin(M_PI * x)) && near(sinpi(x), out[0]), "%.17g %.17g", out[0], sinpi(x));
  EXPECT(near(out[1], std::cos(M_PI * x)) && near(cospi(x), out[1]), "%.17g", out[1]);
  EXPECT(near(out[2], 1 / std::sqrt(x)) && near(rsqrt(x), out[2]), "%.17g", out[2]);
  EXPECT(near(out[3], 0.5 * std::erfc(-x / std::sqrt(2.0))) && near(normcdf(x), out[3]), "%.17g", out[3]);
  EXPECT(near(std::erfc(out[4]), x) && near(erfcinv(x), out[4]), "%.17g %.17g", out[4], erfcinv(x));
  EXPECT(near(0.5 * std::erfc(-out[5] / std::sqrt(2.0)), x) && near(normcdfinv(x), out[5]), "%.17g", out[5]);
  EXPECT(near(out[6], std::exp(x * x) * std::erfc(x)) && near(erfcx(x), out[6]), "%.17g", out[6]);
  EXPECT(near(out[7], 1 / std::cbrt(x)) && near(rcbrt(x), out[7]), "%.17g", out[7]);
  EXPECT(near(out[8], std::sqrt(x * x + 13)), "%.17g", out[8]);
  EXPECT(near(std::erf(out[9]), x) && near(erfinv(x), out[9]), "%.17g %.17g", out[9], erfinv(x));
  EXPECT(out[10] == x && out[11] == (float)x && std::isinf(out[12]), "%g %g %g", out[10], out[11], out[12]);
  EXPECT(out[13] == 0.25 && out[14] == 1.5 && out[15] == x, "%g %g %g", out[13], out[14], out[15]);
  Buffer<float> sums(3);
  overloads<<<1, 1>>>(sums.device);
  sums.fetch();
  EXPECT(sums[0] == 21 && sums[1] == 15 && sums[2] == 26, "%g %g %g", sums[0], sums[1], sums[2]);
  for (double y : {1e-12, 0.001, 0.4, 1.0, 1.7, 1.999})
    EXPECT(near(std::erfc(erfcinv(y)) / y, 1.0), "%g: %.17g", y, erfcinv(y));
  EXPECT(sinpi(1e15) == 0 && cospi(0.5) == 0 && cospi(3.0) == -1 && sinpi(-0.5) == -1, "%g", sinpi(-0.5));
  EXPECT(near(erfcx(20.0), 0.028174348741051319), "%.17g", erfcx(20.0));  // by its asymptotic series
  EXPECT(min(3, 4) == 3 && max(2u, 7) == 7 && min(1.5, 2.0f) == 1.5, "host min and max");
  return verdict("device_functions");
}
