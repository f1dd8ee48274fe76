#include "compiler/codegen/object_loader.h"

#include <elf.h>
#include <sys/mman.h>

#include <cmath>
#include <cstring>
#include <string_view>
#include <unordered_map>
#include <vector>

// The compiler's own helpers, from libgcc: conversions that have no instruction. Only their addresses are taken, so the
// types here don't matter.
extern "C" {
// clang-format off
#define HEDDLE_HELPERS(ROW) \
  ROW(__fixdfti) \
  ROW(__fixunsdfti) \
  ROW(__fixsfti) \
  ROW(__fixunssfti) \
  ROW(__floattidf) \
  ROW(__floatuntidf) \
  ROW(__floattisf) \
  ROW(__floatuntisf) \
  ROW(__udivti3) \
  ROW(__umodti3) \
  ROW(__divti3) \
  ROW(__modti3) \
  ROW(__truncsfhf2) \
  ROW(__truncdfhf2) \
  ROW(__extendhfsf2)
// clang-format on
#define HEDDLE_HELPER(name) void name();
HEDDLE_HELPERS(HEDDLE_HELPER)
#undef HEDDLE_HELPER
}

namespace heddle::codegen {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kStubBytes = 16;  // jmp *[rip+2]; padding; address
constexpr std::uint64_t kMaxObjectBytes = 1ull << 30;

/// Functions that LLVM's code generator calls by itself. Nothing else may be called by name: services of the device go
/// through the RuntimeTable.
const void* find_host_function(std::string_view name) {
  struct Row {
    std::string_view name;
    const void* address;
  };
  static const Row rows[] = {
#define HEDDLE_HELPER(name) {#name, reinterpret_cast<const void*>(&name)},
      HEDDLE_HELPERS(HEDDLE_HELPER)
#undef HEDDLE_HELPER
          {"memcpy",
           reinterpret_cast<const void*>(static_cast<void* (*)(void*, const void*, std::size_t)>(&std::memcpy))},
      {"memmove",
       reinterpret_cast<const void*>(static_cast<void* (*)(void*, const void*, std::size_t)>(&std::memmove))},
      {"memset", reinterpret_cast<const void*>(static_cast<void* (*)(void*, int, std::size_t)>(&std::memset))},
      {"fmod", reinterpret_cast<const void*>(static_cast<double (*)(double, double)>(&std::fmod))},
      {"fmodf", reinterpret_cast<const void*>(static_cast<float (*)(float, float)>(&std::fmod))},
      {"fma", reinterpret_cast<const void*>(static_cast<double (*)(double, double, double)>(&std::fma))},
      {"fmaf", reinterpret_cast<const void*>(static_cast<float (*)(float, float, float)>(&std::fma))},
      {"rint", reinterpret_cast<const void*>(static_cast<double (*)(double)>(&std::rint))},
      {"rintf", reinterpret_cast<const void*>(static_cast<float (*)(float)>(&std::rint))},
      {"floor", reinterpret_cast<const void*>(static_cast<double (*)(double)>(&std::floor))},
      {"floorf", reinterpret_cast<const void*>(static_cast<float (*)(float)>(&std::floor))},
      {"ceil", reinterpret_cast<const void*>(static_cast<double (*)(double)>(&std::ceil))},
      {"ceilf", reinterpret_cast<const void*>(static_cast<float (*)(float)>(&std::ceil))},
      {"trunc", reinterpret_cast<const void*>(static_cast<double (*)(double)>(&std::trunc))},
      {"truncf", reinterpret_cast<const void*>(static_cast<float (*)(float)>(&std::trunc))},
      {"roundeven", reinterpret_cast<const void*>(static_cast<double (*)(double)>(&::roundeven))},
      {"roundevenf", reinterpret_cast<const void*>(static_cast<float (*)(float)>(&::roundevenf))},
  };
  for (const Row& row : rows) {
    if (row.name == name) return row.address;
  }
  return nullptr;
}

class Loader {
 public:
  Loader(std::span<const std::uint8_t> object, std::string* log) : object_(object), log_(log) {}

  Result<std::unique_ptr<LoadedObject>> load() {
    HEDDLE_TRY(read_headers());
    HEDDLE_TRY(lay_out());
    void* base = mmap(nullptr, total_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) return Status(ErrorCode::kOutOfMemory, "no memory for compiled code");
    base_ = static_cast<std::uint8_t*>(base);
    auto loaded = std::make_unique<LoadedObject>(base, total_);
    for (std::size_t i = 0; i < sections_.size(); ++i) {
      const Elf64_Shdr& section = sections_[i];
      if (placed_[i] == kNotPlaced || section.sh_type == SHT_NOBITS) continue;
      std::memcpy(base_ + placed_[i], object_.data() + section.sh_offset, section.sh_size);
    }
    for (const Elf64_Shdr& section : sections_) {
      if (section.sh_type == SHT_RELA && placed_[section.sh_info] != kNotPlaced) HEDDLE_TRY(relocate(section));
    }
    // Text and stubs come first and are one run of pages; what follows stays readable only.
    if (mprotect(base_, text_end_, PROT_READ | PROT_EXEC) != 0 ||
        (total_ > text_end_ && mprotect(base_ + text_end_, total_ - text_end_, PROT_READ) != 0)) {
      return Status(ErrorCode::kOperatingSystem, "memory for compiled code can't be made executable");
    }
    for (const Elf64_Sym& symbol : symbols_) {
      if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= sections_.size()) continue;
      if (placed_[symbol.st_shndx] == kNotPlaced) continue;
      const std::string_view name = name_of(symbol);
      std::uint8_t* address = base_ + placed_[symbol.st_shndx] + symbol.st_value;
      if (name == "heddle_warp") loaded->warp = reinterpret_cast<exec::WarpFunction>(address);
      if (name == "heddle_range") loaded->range = reinterpret_cast<exec::RangeFunction>(address);
    }
    if (loaded->warp == nullptr) return invalid("no function heddle_warp");
    loaded->code = base_ + placed_[text_];
    loaded->code_bytes = sections_[text_].sh_size;
    return loaded;
  }

 private:
  static constexpr std::uint64_t kNotPlaced = ~0ull;

  Status invalid(const std::string& what) {
    if (log_) *log_ += "compiled code: " + what + "\n";
    return Status(ErrorCode::kInvalidImage, "compiled code that the loader can't read");
  }

  bool inside(std::uint64_t offset, std::uint64_t bytes) const {
    return offset <= object_.size() && bytes <= object_.size() - offset;
  }

  Status read_headers() {
    if (object_.size() > kMaxObjectBytes) return invalid("too large");
    Elf64_Ehdr header;
    if (object_.size() < sizeof header) return invalid("too short for an ELF header");
    std::memcpy(&header, object_.data(), sizeof header);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_type != ET_REL || header.e_machine != EM_X86_64 || header.e_shentsize != sizeof(Elf64_Shdr)) {
      return invalid("not a relocatable x86-64 ELF object");
    }
    if (!inside(header.e_shoff, std::uint64_t{header.e_shnum} * sizeof(Elf64_Shdr)))
      return invalid("section table cut off");
    sections_.resize(header.e_shnum);
    if (header.e_shnum == 0) return invalid("no sections");
    std::memcpy(sections_.data(), object_.data() + header.e_shoff, sections_.size() * sizeof(Elf64_Shdr));
    const Elf64_Shdr* symbol_table = nullptr;
    for (const Elf64_Shdr& section : sections_) {
      if (section.sh_type != SHT_NOBITS && !inside(section.sh_offset, section.sh_size))
        return invalid("section cut off");
      if (section.sh_size > kMaxObjectBytes) return invalid("section too large");
      if (section.sh_addralign > kPage) return invalid("section alignment too large");
      if (section.sh_type == SHT_SYMTAB) symbol_table = &section;
      if (section.sh_type == SHT_RELA &&
          (section.sh_info >= sections_.size() || section.sh_size % sizeof(Elf64_Rela))) {
        return invalid("broken relocation section");
      }
      if (section.sh_type == SHT_REL) return invalid("REL relocations");
    }
    if (symbol_table == nullptr || symbol_table->sh_link >= sections_.size()) return invalid("no symbol table");
    symbols_.resize(symbol_table->sh_size / sizeof(Elf64_Sym));
    if (!symbols_.empty()) {
      std::memcpy(symbols_.data(), object_.data() + symbol_table->sh_offset, symbols_.size() * sizeof(Elf64_Sym));
    }
    const Elf64_Shdr& strings = sections_[symbol_table->sh_link];
    if (strings.sh_type != SHT_STRTAB || strings.sh_size == 0) return invalid("no string table");
    strings_ = object_.subspan(strings.sh_offset, strings.sh_size);
    if (strings_.back() != 0) return invalid("string table isn't terminated");
    return Status();
  }

  std::string_view name_of(const Elf64_Sym& symbol) const {
    if (symbol.st_name >= strings_.size()) return {};
    return reinterpret_cast<const char*>(strings_.data()) + symbol.st_name;
  }

  /// Order of the mapping: code, stubs for outside functions, [page] everything else.
  Status lay_out() {
    placed_.assign(sections_.size(), kNotPlaced);
    std::uint64_t cursor = 0;
    auto place = [&](bool executable) {
      for (std::size_t i = 0; i < sections_.size(); ++i) {
        const Elf64_Shdr& section = sections_[i];
        if (!(section.sh_flags & SHF_ALLOC) || section.sh_size == 0) continue;
        if (((section.sh_flags & SHF_EXECINSTR) != 0) != executable) continue;
        const std::uint64_t align = section.sh_addralign ? section.sh_addralign : 1;
        cursor = (cursor + align - 1) / align * align;
        placed_[i] = cursor;
        cursor += section.sh_size;
        if (executable && text_ == kNotPlaced) text_ = i;
      }
    };
    place(true);
    if (text_ == kNotPlaced) return invalid("no code");
    cursor = (cursor + kStubBytes - 1) / kStubBytes * kStubBytes;
    stubs_ = cursor;
    std::size_t undefined = 0;
    for (const Elf64_Sym& symbol : symbols_) undefined += symbol.st_shndx == SHN_UNDEF && symbol.st_name != 0;
    cursor += undefined * kStubBytes;
    text_end_ = (cursor + kPage - 1) / kPage * kPage;
    cursor = text_end_;
    place(false);
    // One slot of address per relocation through a table (GOTPCREL): at most as many as there are symbols.
    cursor = (cursor + 7) / 8 * 8;
    table_ = cursor;
    cursor += symbols_.size() * 8;
    total_ = (cursor + kPage - 1) / kPage * kPage;
    return Status();
  }

  /// Where a symbol is; for outside functions a stub near the code, since the code model allows 2 GiB only.
  Status address_of(std::uint32_t index, std::uint64_t* address) {
    if (index >= symbols_.size()) return invalid("relocation against no symbol");
    const Elf64_Sym& symbol = symbols_[index];
    if (symbol.st_shndx == SHN_ABS) {
      *address = symbol.st_value;
      return Status();
    }
    if (symbol.st_shndx != SHN_UNDEF) {
      if (symbol.st_shndx >= sections_.size() || placed_[symbol.st_shndx] == kNotPlaced) {
        return invalid("relocation against a section that isn't loaded");
      }
      *address = reinterpret_cast<std::uint64_t>(base_ + placed_[symbol.st_shndx]) + symbol.st_value;
      return Status();
    }
    const std::string name(name_of(symbol));
    auto [entry, fresh] = stub_of_.try_emplace(name, 0);
    if (fresh) {
      const void* function = find_host_function(name);
      if (function == nullptr) {
        if (log_) *log_ += "compiled code calls '" + name + "', which the loader doesn't offer\n";
        return Status(ErrorCode::kSharedObjectSymbolNotFound, "compiled code calls an unknown function");
      }
      std::uint8_t* stub = base_ + stubs_ + (stub_of_.size() - 1) * kStubBytes;
      const std::uint8_t jump[8] = {0xff, 0x25, 2, 0, 0, 0, 0x0f, 0x0b};
      std::memcpy(stub, jump, sizeof jump);
      std::memcpy(stub + 8, &function, 8);
      entry->second = reinterpret_cast<std::uint64_t>(stub);
    }
    *address = entry->second;
    return Status();
  }

  Status relocate(const Elf64_Shdr& section) {
    const Elf64_Shdr& target = sections_[section.sh_info];
    for (std::uint64_t at = 0; at < section.sh_size; at += sizeof(Elf64_Rela)) {
      Elf64_Rela rela;
      std::memcpy(&rela, object_.data() + section.sh_offset + at, sizeof rela);
      const std::uint32_t type = ELF64_R_TYPE(rela.r_info);
      const std::uint32_t symbol = ELF64_R_SYM(rela.r_info);
      const std::uint64_t size = type == R_X86_64_64 || type == R_X86_64_PC64 ? 8 : 4;
      if (rela.r_offset > target.sh_size || size > target.sh_size - rela.r_offset)
        return invalid("relocation out of range");
      std::uint8_t* place = base_ + placed_[section.sh_info] + rela.r_offset;
      const std::uint64_t here = reinterpret_cast<std::uint64_t>(place);
      std::uint64_t value = 0;
      HEDDLE_TRY(address_of(symbol, &value));
      switch (type) {
        case R_X86_64_64: value += rela.r_addend; break;
        case R_X86_64_PC64: value += rela.r_addend - here; break;
        case R_X86_64_PC32:
        case R_X86_64_PLT32: value += rela.r_addend - here; break;
        case R_X86_64_GOTPCREL:
        case R_X86_64_GOTPCRELX:
        case R_X86_64_REX_GOTPCRELX: {
          std::uint8_t* slot = base_ + table_ + std::uint64_t{symbol} * 8;
          std::memcpy(slot, &value, 8);
          value = reinterpret_cast<std::uint64_t>(slot) + rela.r_addend - here;
          break;
        }
        default: return invalid("relocation type " + std::to_string(type));
      }
      if (size == 4 && static_cast<std::int64_t>(value) != static_cast<std::int32_t>(value)) {
        return invalid("relocation doesn't fit into 32 bits");
      }
      std::memcpy(place, &value, size);
    }
    return Status();
  }

  std::span<const std::uint8_t> object_;
  std::string* log_;
  std::vector<Elf64_Shdr> sections_;
  std::vector<Elf64_Sym> symbols_;
  std::span<const std::uint8_t> strings_;
  std::vector<std::uint64_t> placed_;  // offset of each section in the mapping
  std::uint64_t text_ = kNotPlaced, text_end_ = 0, stubs_ = 0, table_ = 0, total_ = 0;
  std::uint8_t* base_ = nullptr;
  std::unordered_map<std::string, std::uint64_t> stub_of_;
};

}  // namespace

LoadedObject::~LoadedObject() { munmap(base_, bytes_); }

Result<std::unique_ptr<LoadedObject>> load_object(std::span<const std::uint8_t> object, std::string* log) {
  return Loader(object, log).load();
}

}  // namespace heddle::codegen
