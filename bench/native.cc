// The native form: what a good programmer writes for this CPU, with OpenMP for threads and vectors. Compiled with
// -O3 -march=native -ffast-math where reassociation is needed to vectorise (a programmer would allow it there).
#include <algorithm>
#include <cmath>

#include "bench.h"

namespace bench {
namespace {

void saxpy(int n, float a, const float* x, const float* y, float* out) {
#pragma omp parallel for simd schedule(static)
  for (int i = 0; i < n; ++i) out[i] = a * x[i] + y[i];
}

/// Register-blocked: 4 rows of 16 columns at a time.
void sgemm(int n, const float* a, const float* b, float* c) {
#pragma omp parallel for schedule(static)
  for (int i = 0; i < n; i += 4) {
    for (int j = 0; j < n; j += 16) {
      float sum[4][16] = {};
      for (int k = 0; k < n; ++k) {
        for (int r = 0; r < 4; ++r) {
          const float v = a[(i + r) * n + k];
#pragma omp simd
          for (int s = 0; s < 16; ++s) sum[r][s] += v * b[k * n + j + s];
        }
      }
      for (int r = 0; r < 4; ++r)
        for (int s = 0; s < 16; ++s) c[(i + r) * n + j + s] = sum[r][s];
    }
  }
}

float reduce(int n, const float* in) {
  float sum = 0;
#pragma omp parallel for simd reduction(+ : sum) schedule(static)
  for (int i = 0; i < n; ++i) sum += in[i];
  return sum;
}

void mandelbrot(int width, int height, int limit, float* out) {
#pragma omp parallel for schedule(dynamic, 4)
  for (int py = 0; py < height; ++py) {
    for (int px = 0; px < width; ++px) {
      const float cx = -2.0f + static_cast<float>(px) * (3.0f / static_cast<float>(width));
      const float cy = -1.0f + static_cast<float>(py) * (2.0f / static_cast<float>(height));
      float zx = 0, zy = 0;
      int n = 0;
      while (n < limit && zx * zx + zy * zy < 4.0f) {
        const float t = zx * zx - zy * zy + cx;
        zy = 2.0f * zx * zy + cy;
        zx = t;
        ++n;
      }
      out[py * width + px] = static_cast<float>(n);
    }
  }
}

void blur(int size, const float* in, float* out) {
#pragma omp parallel for schedule(static)
  for (int y = 0; y < size; ++y) {
    for (int x = 0; x < size; ++x) {
      float sum = 0;
      for (int dy = -2; dy <= 2; ++dy)
        for (int dx = -2; dx <= 2; ++dx) {
          const int sx = std::min(std::max(x + dx, 0), size - 1), sy = std::min(std::max(y + dy, 0), size - 1);
          sum += in[sy * size + sx];
        }
      out[y * size + x] = sum / 25.0f;
    }
  }
}

inline float normal_cdf(float d) {
  const float k = 1.0f / (1.0f + 0.2316419f * std::fabs(d));
  const float c =
      0.39894228f * std::exp(-0.5f * d * d) *
      (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return d > 0 ? 1.0f - c : c;
}

void black_scholes(int n, const float* spot, const float* strike, const float* years, float* call) {
  constexpr float kRate = 0.02f, kVolatility = 0.3f;
#pragma omp parallel for simd schedule(static)
  for (int i = 0; i < n; ++i) {
    const float s = spot[i], k = strike[i], t = years[i], root = std::sqrt(t);
    const float d1 = (std::log(s / k) + (kRate + 0.5f * kVolatility * kVolatility) * t) / (kVolatility * root);
    const float d2 = d1 - kVolatility * root;
    call[i] = s * normal_cdf(d1) - k * std::exp(-kRate * t) * normal_cdf(d2);
  }
}

using Buffer = std::shared_ptr<std::vector<float>>;
Buffer buffer(std::size_t count) { return std::make_shared<std::vector<float>>(count); }

}  // namespace

std::vector<Case> native_cases(const Problem& p) {
  using P = Problem;
  auto out = [](const Buffer& b) { return [b] { return *b; }; };
  Buffer saxpy_out = buffer(P::kSaxpy), c = buffer(P::kMatrix * P::kMatrix), sum = buffer(1),
         mandel = buffer(P::kMandelWidth * P::kMandelHeight), blurred = buffer(P::kBlur * P::kBlur),
         call = buffer(P::kOptions);
  return {
      {"saxpy", [&p, saxpy_out] { saxpy(P::kSaxpy, 2.5f, p.x.data(), p.y.data(), saxpy_out->data()); }, out(saxpy_out)},
      {"sgemm", [&p, c] { sgemm(P::kMatrix, p.a.data(), p.b.data(), c->data()); }, out(c)},
      {"reduce", [&p, sum] { (*sum)[0] = reduce(P::kReduce, p.reduce_in.data()); }, out(sum)},
      {"mandelbrot", [mandel] { mandelbrot(P::kMandelWidth, P::kMandelHeight, P::kMandelIterations, mandel->data()); },
       out(mandel)},
      {"blur", [&p, blurred] { blur(P::kBlur, p.image.data(), blurred->data()); }, out(blurred)},
      {"black-scholes",
       [&p, call] { black_scholes(P::kOptions, p.spot.data(), p.strike.data(), p.years.data(), call->data()); },
       out(call)},
  };
}

}  // namespace bench
