#include "fatbin/elf.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace heddle::fatbin {
namespace {

constexpr Status kCorrupt(ErrorCode::kInvalidImage, "ELF file: truncated or corrupt");

template <class Record>
std::optional<Record> read_record(Bytes bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(Record)) return std::nullopt;
  Record record;
  std::memcpy(&record, bytes.data() + offset, sizeof record);
  return record;
}

// The part of the file from `offset` on, empty where it does not lie inside.
Bytes slice(Bytes file, std::uint64_t offset, std::uint64_t size) {
  if (offset > file.size() || size > file.size() - offset) return {};
  return file.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(size));
}

std::string_view string_at(Bytes table, std::uint64_t offset) {
  if (offset >= table.size()) return {};
  const char* start = reinterpret_cast<const char*>(table.data()) + offset;
  return {start, ::strnlen(start, table.size() - static_cast<std::size_t>(offset))};
}

Result<Elf64_Ehdr> read_header(Bytes file) {
  const auto header = read_record<Elf64_Ehdr>(file, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
      header->e_ident[EI_DATA] != ELFDATA2LSB) {
    return Status(ErrorCode::kInvalidImage, "not a 64-bit little-endian ELF file");
  }
  if ((header->e_phnum && header->e_phentsize < sizeof(Elf64_Phdr)) ||
      (header->e_shnum && header->e_shentsize < sizeof(Elf64_Shdr))) {
    return kCorrupt;
  }
  return *header;
}

template <class Record>
Result<std::vector<Record>> read_table(Bytes file, std::uint64_t offset, std::uint64_t stride, std::uint64_t count) {
  std::vector<Record> records;
  if (count == 0) return records;
  if (offset > file.size() || count * stride > file.size() - offset) return kCorrupt;
  for (std::uint64_t i = 0; i < count; ++i) records.push_back(*read_record<Record>(file, offset + i * stride));
  return records;
}

// The string table that belongs to the dynamic section is given by address, so the segments translate it.
Bytes at_address(Bytes file, const std::vector<Elf64_Phdr>& segments, std::uint64_t address) {
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type != PT_LOAD || address < segment.p_vaddr || address - segment.p_vaddr >= segment.p_filesz)
      continue;
    return slice(slice(file, segment.p_offset, segment.p_filesz), address - segment.p_vaddr,
                 segment.p_filesz - (address - segment.p_vaddr));
  }
  return {};
}

void read_dynamic(Bytes file, const std::vector<Elf64_Phdr>& segments, Bytes dynamic, ElfFile& out) {
  std::vector<Elf64_Dyn> entries;
  for (std::uint64_t offset = 0; const auto entry = read_record<Elf64_Dyn>(dynamic, offset);
       offset += sizeof(Elf64_Dyn)) {
    if (entry->d_tag == DT_NULL) break;
    entries.push_back(*entry);
  }
  Bytes strings;
  for (const Elf64_Dyn& entry : entries) {
    if (entry.d_tag == DT_STRTAB) strings = at_address(file, segments, entry.d_un.d_ptr);
  }
  for (const Elf64_Dyn& entry : entries) {
    switch (entry.d_tag) {
      case DT_NEEDED: out.needed.push_back(string_at(strings, entry.d_un.d_val)); break;
      case DT_SONAME: out.soname = string_at(strings, entry.d_un.d_val); break;
      case DT_RPATH: out.rpath = string_at(strings, entry.d_un.d_val); break;
      case DT_RUNPATH: out.runpath = string_at(strings, entry.d_un.d_val); break;
      default: break;
    }
  }
}

void read_symbols(Bytes symbols, Bytes strings, ElfFile& out) {
  for (std::uint64_t offset = 0; const auto symbol = read_record<Elf64_Sym>(symbols, offset);
       offset += sizeof(Elf64_Sym)) {
    if (symbol->st_shndx == SHN_UNDEF || symbol->st_name == 0) continue;
    if (const std::string_view name = string_at(strings, symbol->st_name); !name.empty()) out.symbols.push_back(name);
  }
}

}  // namespace

Result<std::size_t> measure_elf(Bytes memory) {
  HEDDLE_ASSIGN(const Elf64_Ehdr header, read_header(memory));
  HEDDLE_ASSIGN(const auto segments,
                read_table<Elf64_Phdr>(memory, header.e_phoff, header.e_phentsize, header.e_phnum));
  HEDDLE_ASSIGN(const auto sections,
                read_table<Elf64_Shdr>(memory, header.e_shoff, header.e_shentsize, header.e_shnum));
  std::uint64_t end = sizeof(Elf64_Ehdr);
  const auto cover = [&](std::uint64_t offset, std::uint64_t size) {
    if (offset > memory.size() || size > memory.size() - offset) return false;
    end = std::max(end, offset + size);
    return true;
  };
  bool inside = cover(header.e_phoff, std::uint64_t{header.e_phnum} * header.e_phentsize) &&
                cover(header.e_shoff, std::uint64_t{header.e_shnum} * header.e_shentsize);
  for (const auto& segment : segments) inside = inside && cover(segment.p_offset, segment.p_filesz);
  for (const auto& section : sections) {
    inside = inside && (section.sh_type == SHT_NOBITS || cover(section.sh_offset, section.sh_size));
  }
  if (!inside) return kCorrupt;
  return static_cast<std::size_t>(end);
}

const ElfSection* ElfFile::find_section(std::string_view name) const {
  const auto found = std::find_if(sections.begin(), sections.end(), [&](const auto& s) { return s.name == name; });
  return found == sections.end() ? nullptr : &*found;
}

Result<ElfFile> parse_elf(Bytes file) {
  HEDDLE_ASSIGN(const Elf64_Ehdr header, read_header(file));
  HEDDLE_ASSIGN(const auto segments, read_table<Elf64_Phdr>(file, header.e_phoff, header.e_phentsize, header.e_phnum));
  HEDDLE_ASSIGN(const auto sections, read_table<Elf64_Shdr>(file, header.e_shoff, header.e_shentsize, header.e_shnum));
  ElfFile out;
  out.machine = header.e_machine;
  out.type = header.e_type;
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type == PT_INTERP) out.interpreter = string_at(slice(file, segment.p_offset, segment.p_filesz), 0);
    if (segment.p_type == PT_DYNAMIC) {
      out.is_dynamic = true;
      read_dynamic(file, segments, slice(file, segment.p_offset, segment.p_filesz), out);
    }
  }
  Bytes names;
  if (header.e_shstrndx < sections.size()) {
    names = slice(file, sections[header.e_shstrndx].sh_offset, sections[header.e_shstrndx].sh_size);
  }
  for (const Elf64_Shdr& section : sections) {
    const Bytes contents = section.sh_type == SHT_NOBITS ? Bytes{} : slice(file, section.sh_offset, section.sh_size);
    out.sections.push_back({string_at(names, section.sh_name), contents, section.sh_addr});
    if ((section.sh_type == SHT_SYMTAB || section.sh_type == SHT_DYNSYM) && section.sh_link < sections.size()) {
      const Elf64_Shdr& link = sections[section.sh_link];
      read_symbols(contents, slice(file, link.sh_offset, link.sh_size), out);
    }
  }
  return out;
}

}  // namespace heddle::fatbin
