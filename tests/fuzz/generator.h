// Random PTX kernels that have one right result, whatever the lanes' timing: what the differential test runs on the
// interpreter and on generated code. The same seed gives the same kernel, for ever.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heddle::fuzz {

struct Kernel {
  std::string ptx;  ///< entry "k" (u64 in, u64 out): in holds kWordsPerThread words per thread, out too
  std::uint32_t block[3] = {32, 1, 1};
  std::uint32_t grid = 1;
  std::uint32_t threads() const { return block[0] * block[1] * block[2]; }
};
inline constexpr std::uint32_t kWordsPerThread = 8;

struct Options {
  int statements = 40;  ///< about as many at top level and below
  bool control = true, barriers = true, warps = true, floats = true, memory = true;
};

Kernel generate(std::uint64_t seed, const Options& options);

}  // namespace heddle::fuzz
