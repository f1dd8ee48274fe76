// Compiled kernels on disk: one file per kernel, variant, processor and build of Heddle, so that the second start of a
// program needs no LLVM. A file that is damaged, of another version or half-written is ignored and written anew.
//
// The folder is CUDA_CACHE_PATH (else $XDG_CACHE_HOME/heddle, else ~/.cache/heddle), bounded by CUDA_CACHE_MAXSIZE (the
// least recently used files go first), off with CUDA_CACHE_DISABLE=1. Files are written beside their place and renamed
// into it, so several processes may share the folder. Safe with many threads. Tested by codegen/cache_test.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/compile.h"

namespace heddle::codegen {

/// A 128-bit hash of everything that the machine code depends on. Not cryptographic: the folder is the user's own.
struct CacheKey {
  std::uint64_t low = 0, high = 0;
  friend bool operator==(const CacheKey&, const CacheKey&) = default;
};

/// Feeds the key; the order of the calls and the boundaries between strings count.
class KeyBuilder {
 public:
  void add(std::span<const std::uint8_t> bytes);
  void add(std::string_view text);
  void add(std::uint64_t value);
  void add(const compiler::Variant& variant);
  CacheKey finish() const;

 private:
  std::uint64_t low_ = 0x9ae16a3b2f90404full, high_ = 0xc949c7defebb3c5dull;
};

/// What identifies this processor to the code generator: brand, family and feature bits, from CPUID (no LLVM).
const std::string& cpu_identity();
/// What identifies a file such as libheddle-jit.so well enough to know that it was rebuilt: size and time; "" if
/// absent.
std::string file_identity(const std::string& path);

/// Everything that a launch needs of a compiled kernel and that can't be had from its PTX cheaply.
struct CachedKernel {
  std::vector<std::uint8_t> object;  ///< for load_object()
  std::uint32_t frame_bytes = 0;
  bool has_range = false;
  std::uint32_t static_shared_bytes = 0;
  std::uint32_t shared_align = 16;
  std::uint32_t local_bytes = 0;
  std::vector<std::string> globals;
  std::vector<std::string> files;
  std::vector<compiler::SourceLine> lines;
  std::string explanation;
};

/// The kernel stored under `key`, or nothing: absent, damaged, or the cache is off.
std::optional<CachedKernel> find_cached_kernel(const CacheKey& key);
/// Stores it if the cache is on; a full disk or a folder that can't be written is logged once and changes nothing else.
void store_cached_kernel(const CacheKey& key, const CachedKernel& kernel);

namespace internal {
/// The same with the folder and its bound given, for tests.
std::optional<CachedKernel> find_in(const std::string& folder, const CacheKey& key);
Status store_in(const std::string& folder, std::uint64_t max_bytes, const CacheKey& key, const CachedKernel& kernel);
std::vector<std::uint8_t> serialize(const CacheKey& key, const CachedKernel& kernel);
std::optional<CachedKernel> deserialize(const CacheKey& key, std::span<const std::uint8_t> bytes);
}  // namespace internal

}  // namespace heddle::codegen
