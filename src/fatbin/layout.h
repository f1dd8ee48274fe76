// The fatbin format as bytes: the three records that compilers put into programs, shared by the reader (fatbin.cc) and
// the writer (pack.cc). Little endian. The field offsets were measured on the output of nvcc 13.0 and clang 19; every
// record is copied out of the image before use, so images need no alignment. Tested by fatbin/fatbin_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heddle::fatbin {

constexpr std::uint32_t kWrapperMagic = 0x466243B1;
constexpr std::uint32_t kContainerMagic = 0xBA55ED50;

/// Section .nvFatBinSegment; what __cudaRegisterFatBinary is given.
struct WrapperRecord {
  std::uint32_t magic;
  std::uint32_t version;  // 1, or 2 when `units` is set
  const void* container;
  const void* const* units;  // version 2: null-terminated array of containers, one per translation unit
};
static_assert(sizeof(WrapperRecord) == 24);

/// Section .nv_fatbin holds containers in a row, padded to 8.
struct ContainerRecord {
  std::uint32_t magic;
  std::uint16_t version;      // 1
  std::uint16_t header_size;  // 16
  std::uint64_t entries_size;
};
static_assert(sizeof(ContainerRecord) == 16);

struct EntryRecord {
  std::uint16_t kind;
  std::uint16_t version;  // 0x0101
  std::uint32_t header_size;
  std::uint64_t payload_size;     // padded to 8
  std::uint32_t compressed_size;  // without padding; 0 if stored
  std::uint32_t options_offset;   // from the header's start, of a StringRecord; 0 if none
  std::uint16_t minor;
  std::uint16_t major;
  std::uint32_t arch;
  std::uint32_t file_name_offset;  // from the header's start
  std::uint32_t file_name_size;
  std::uint64_t flags;
  std::uint64_t reserved;
  std::uint64_t uncompressed_size;  // 0 if stored
};
static_assert(sizeof(EntryRecord) == 64 && offsetof(EntryRecord, uncompressed_size) == 56);

struct StringRecord {
  std::uint32_t offset;  // from the entry header's start
  std::uint32_t size;
};

constexpr std::uint64_t kFlag64Bit = 0x1;
constexpr std::uint64_t kFlagDebug = 0x2;
constexpr std::uint64_t kFlagLinux = 0x10;
constexpr std::uint64_t kFlagLz4 = 0x2000;
constexpr std::uint64_t kFlagZstd = 0x8000;
constexpr std::uint64_t kFlagArchSpecific = 0x100000;
constexpr std::uint64_t kFlagFamilySpecific = 0x200000;

constexpr std::uint64_t align_8(std::uint64_t n) { return (n + 7) & ~std::uint64_t{7}; }

}  // namespace heddle::fatbin
