// Device images as programs carry them: what kind an image is, where it ends, which units and entries it holds, and the
// PTX text that fits a device. Nothing here trusts the image: sizes and offsets are checked against the bytes that
// there are, and an image whose size nobody knows is first bounded by the memory that is mapped behind its address.
//
// Driver and tools need two functions: load_ptx() for "give me the PTX", detect() for "may this call take this image".
// Failures are kInvalidImage (corrupt) or kNoBinaryForGpu (sound, but without PTX for this device); the log has the
// details. Tested by fatbin/fatbin_test.cc and fatbin/nvcc_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace heddle::fatbin {

using Bytes = std::span<const std::byte>;

enum class Format : std::uint8_t { kUnknown, kWrapper, kContainer, kElf, kPtx };
enum class Kind : std::uint16_t { kPtx = 1, kElf = 2, kLtoIr = 8 };
enum class Compression : std::uint8_t { kStored, kLz4, kZstd };

/// One image inside a container. The views point into the parsed bytes.
struct Entry {
  Kind kind;                      // a number that has no enumerator is kept as it is
  unsigned major = 0, minor = 0;  // PTX: ISA version; ELF: cubin version
  unsigned arch = 0;              // 90 for sm_90
  std::uint64_t flags = 0;
  Compression compression = Compression::kStored;
  Bytes payload;                // as stored, without the padding of compressed data
  std::uint64_t full_size = 0;  // bytes after decompression
  std::string_view options;     // compiler options; may be empty
  std::string_view file_name;   // source file; may be empty

  bool is_arch_specific() const;    // sm_90a
  bool is_family_specific() const;  // sm_100f
};

/// The entries of one container, which is one translation unit (or one device link).
using Unit = std::vector<Entry>;

/// What an image starting with these bytes is; reads at most 32 of them, and none behind a NUL.
Format detect(Bytes image);
/// The same for an image of unknown size.
Format detect(const void* image);
/// "wrapper", "container", ...
const char* name_of(Format format);

/// Bytes of an image of unknown size, which must be mapped memory: a PTX text including its NUL, one container, an ELF
/// file by its headers. kInvalidImage when the image says more than is mapped, or isn't one of these.
Result<std::size_t> measure(const void* image);

/// The containers in `bytes`, which may stand in a row, each a unit.
Result<std::vector<Unit>> parse_containers(Bytes bytes);
/// The decompressed image. Of a PTX entry: the text without the NULs that pad it.
Result<std::string> extract(const Entry& entry);

/// A PTX text ready for the compiler.
struct PtxSource {
  std::string text;
  unsigned arch = 0;      // of the entry; for plain text what its .target says, 0 if that can't be read
  std::string file_name;  // the source file if the image names one
};

/// The entry of `unit` whose PTX a device of compute capability `capability` (120 for 12.0) runs best, or null: the
/// same architecture; else the highest lower one among ordinary targets; else the highest lower one of the
/// arch-specific targets, which a GPU would refuse and a CPU can still try.
const Entry* find_ptx(const Unit& unit, unsigned capability);

/// The PTX of each unit of an image of unknown size: wrapper (version 1 or 2), container, or PTX text.
Result<std::vector<PtxSource>> load_ptx(const void* image, unsigned capability);
/// The same for a file's contents or other bytes with a known end. A wrapper holds addresses, so it is refused here.
Result<std::vector<PtxSource>> load_ptx(Bytes image, unsigned capability);

/// What the .version and .target directives at the start of a PTX text say; zeros for what isn't there.
struct PtxHeader {
  unsigned major = 0, minor = 0;
  unsigned arch = 0;
  char suffix = 0;  // 'a' in sm_90a, 'f' in sm_100f, else 0
};
PtxHeader read_ptx_header(std::string_view text);

}  // namespace heddle::fatbin
