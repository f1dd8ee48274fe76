// The six kernels of `make bench`, each in three forms: CUDA on Heddle (kernels.cu), C++ with OpenMP as a programmer
// would write it for this processor (native.cc), and OpenCL on PoCL (opencl.cc). main.cc runs them in turn on the same
// data in one process, checks that they agree, and prints ratios: absolute times on a shared machine mean little.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace bench {

/// Sizes and inputs, equal for all forms.
struct Problem {
  static constexpr int kSaxpy = 1 << 20;
  static constexpr int kMatrix = 256;  ///< square matrices
  static constexpr int kReduce = 1 << 20;
  static constexpr int kMandelWidth = 512, kMandelHeight = 256, kMandelIterations = 256;
  static constexpr int kBlur = 512;  ///< square image, 5 x 5 box
  static constexpr int kOptions = 1 << 16;
  std::vector<float> x, y, a, b, reduce_in, image, spot, strike, years;
  Problem();
};

/// One form of one kernel, ready to run: inputs are where it needs them.
struct Case {
  std::string name;
  std::function<void()> run;  ///< one call, complete when it returns
  std::function<std::vector<float>()> result;
};

/// In the order saxpy, sgemm, reduce, mandelbrot, blur, black-scholes. Empty: this form isn't available (why is
/// printed).
std::vector<Case> cuda_cases(const Problem& problem);
std::vector<Case> native_cases(const Problem& problem);
std::vector<Case> opencl_cases(const Problem& problem);

/// Microseconds of launching an empty kernel and waiting for it.
double empty_launch_microseconds();

}  // namespace bench
