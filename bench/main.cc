// Runs the three forms in turn, round after round, so that a change in the machine's speed meets all of them, and
// prints each form's best time per call and the ratios of medians.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "bench.h"

namespace bench {

Problem::Problem() {
  std::mt19937 random(7);
  auto fill = [&](std::vector<float>& values, std::size_t count, float low, float high) {
    std::uniform_real_distribution<float> distribution(low, high);
    values.resize(count);
    for (float& v : values) v = distribution(random);
  };
  fill(x, kSaxpy, -1, 1);
  fill(y, kSaxpy, -1, 1);
  fill(a, kMatrix * kMatrix, -1, 1);
  fill(b, kMatrix * kMatrix, -1, 1);
  fill(reduce_in, kReduce, 0, 1);
  fill(image, kBlur * kBlur, 0, 255);
  fill(spot, kOptions, 10, 100);
  fill(strike, kOptions, 10, 100);
  fill(years, kOptions, 0.25f, 5);
}

namespace {

using Clock = std::chrono::steady_clock;

struct Times {
  std::vector<double> microseconds;
  double best() const { return *std::min_element(microseconds.begin(), microseconds.end()); }
  double median() const {
    std::vector<double> sorted = microseconds;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
  }
};

/// Enough calls to fill about two milliseconds.
double measure(const Case& c) {
  int calls = 1;
  for (;;) {
    const auto begin = Clock::now();
    for (int i = 0; i < calls; ++i) c.run();
    const double us = std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
    if (us > 2000 || calls > 4096) return us / calls;
    calls *= 2;
  }
}

/// The share of values that differ by more than rounding; Mandelbrot counts differ at the set's edge.
double disagreement(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return 1;
  std::size_t bad = 0;
  for (std::size_t i = 0; i < a.size(); ++i) bad += std::fabs(a[i] - b[i]) > 1e-3f * std::max(1.0f, std::fabs(b[i]));
  return static_cast<double>(bad) / static_cast<double>(a.size());
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  using namespace bench;
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 15;
  const Problem problem;
  const std::vector<Case> forms[] = {cuda_cases(problem), native_cases(problem), opencl_cases(problem)};
  const bool with_opencl = !forms[2].empty();
  std::printf("%-14s %12s %12s %12s %10s %10s\n", "kernel", "Heddle us", "native us", "PoCL us", "/native", "/PoCL");
  bool right = true;
  for (std::size_t k = 0; k < forms[0].size(); ++k) {
    Times times[3];
    for (const auto& form : forms) {
      if (!form.empty()) form[k].run();  // compiles, warms up
    }
    for (const auto& form : forms) {
      if (form.empty() || &form == &forms[1]) continue;
      const double bad = disagreement(form[k].result(), forms[1][k].result());
      if (bad > 0.005) {
        std::printf("%s: %.2f %% of the values differ from native\n", forms[0][k].name.c_str(), 100 * bad);
        right = right && &form != &forms[0];
      }
    }
    for (int r = 0; r < rounds; ++r) {
      for (int f = 0; f < 3; ++f) {
        if (!forms[f].empty()) times[f].microseconds.push_back(measure(forms[f][k]));
      }
    }
    std::printf("%-14s %12.1f %12.1f ", forms[0][k].name.c_str(), times[0].best(), times[1].best());
    if (with_opencl) {
      std::printf("%12.1f %10.2f %10.2f\n", times[2].best(), times[0].median() / times[1].median(),
                  times[0].median() / times[2].median());
    } else {
      std::printf("%12s %10.2f %10s\n", "-", times[0].median() / times[1].median(), "-");
    }
    std::fflush(stdout);
  }
  std::printf("empty kernel, launch and synchronise: %.2f us\n", empty_launch_microseconds());
  std::printf(right ? "bench: results agree\n" : "bench: WRONG RESULTS\n");
  return right ? 0 : 1;
}
