// A reader of 64-bit little-endian ELF files as far as Heddle needs it: cubins are measured, programs are asked for
// their dynamic section, symbols and fatbin sections before they are run. Every offset is checked; nothing is mapped or
// executed. Tested by fatbin/elf_test.cc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fatbin/fatbin.h"

namespace heddle::fatbin {

constexpr unsigned kMachineX86_64 = 62;
constexpr unsigned kMachineCuda = 190;

/// Bytes of the file by its headers: the end of the last section or segment. For images of unknown size.
Result<std::size_t> measure_elf(Bytes memory);

struct ElfSection {
  std::string_view name;
  Bytes contents;  // empty for .bss and the like
  std::uint64_t address = 0;
};

/// What an ELF file says; the views point into its bytes.
struct ElfFile {
  unsigned machine = 0;
  unsigned type = 0;  // ET_EXEC, ET_DYN, ...
  std::string_view interpreter;
  bool is_dynamic = false;
  std::vector<std::string_view> needed;
  std::string_view soname, rpath, runpath;
  std::vector<ElfSection> sections;
  std::vector<std::string_view> symbols;  // names of .symtab and .dynsym, in file order, defined ones only

  const ElfSection* find_section(std::string_view name) const;
};

/// kInvalidImage for what isn't a 64-bit little-endian ELF file or is cut short.
Result<ElfFile> parse_elf(Bytes file);

}  // namespace heddle::fatbin
