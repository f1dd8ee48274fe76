// The objects are made here byte by byte, so that what the loader must refuse can be made too.
#include "compiler/codegen/object_loader.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace heddle::codegen {
namespace {

/// A relocatable object with .text, .rodata, symbols and relocations of .text.
struct ObjectWriter {
  std::vector<std::uint8_t> text, rodata;
  struct Symbol {
    std::string name;
    std::uint16_t section;  // 1 text, 2 rodata, 0 undefined
    std::uint64_t value;
  };
  std::vector<Symbol> symbols;
  std::vector<Elf64_Rela> relocations;  // r_info's symbol: index in `symbols` and one

  std::vector<std::uint8_t> bytes() const {
    std::string strings(1, '\0');
    std::vector<Elf64_Sym> table(1);
    for (const Symbol& symbol : symbols) {
      Elf64_Sym entry{};
      entry.st_name = static_cast<Elf64_Word>(strings.size());
      entry.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE);
      entry.st_shndx = symbol.section;
      entry.st_value = symbol.value;
      table.push_back(entry);
      strings += symbol.name + '\0';
    }
    std::vector<std::uint8_t> out(sizeof(Elf64_Ehdr));
    std::vector<Elf64_Shdr> sections(6);
    auto add = [&](unsigned index, Elf64_Word type, Elf64_Xword flags, const void* data, std::size_t size) {
      out.resize((out.size() + 15) / 16 * 16);
      sections[index].sh_type = type;
      sections[index].sh_flags = flags;
      sections[index].sh_offset = out.size();
      sections[index].sh_size = size;
      sections[index].sh_addralign = 16;
      const auto* begin = static_cast<const std::uint8_t*>(data);
      out.insert(out.end(), begin, begin + size);
    };
    add(1, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, text.data(), text.size());
    add(2, SHT_PROGBITS, SHF_ALLOC, rodata.data(), rodata.size());
    add(3, SHT_SYMTAB, 0, table.data(), table.size() * sizeof(Elf64_Sym));
    sections[3].sh_link = 4;
    add(4, SHT_STRTAB, 0, strings.data(), strings.size());
    add(5, SHT_RELA, 0, relocations.data(), relocations.size() * sizeof(Elf64_Rela));
    sections[5].sh_link = 3;
    sections[5].sh_info = 1;
    out.resize((out.size() + 15) / 16 * 16);
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_REL;
    header.e_machine = EM_X86_64;
    header.e_shoff = out.size();
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = static_cast<Elf64_Half>(sections.size());
    std::memcpy(out.data(), &header, sizeof header);
    const auto* begin = reinterpret_cast<const std::uint8_t*>(sections.data());
    out.insert(out.end(), begin, begin + sections.size() * sizeof(Elf64_Shdr));
    return out;
  }
};

/// mov eax, [rip + number]; ret
ObjectWriter constant_loader() {
  ObjectWriter object;
  object.text = {0x8b, 0x05, 0, 0, 0, 0, 0xc3};
  object.rodata = {1, 2, 3, 4, 42, 0, 0, 0};
  object.symbols = {{"heddle_warp", 1, 0}, {"number", 2, 4}};
  object.relocations = {{2, ELF64_R_INFO(2, R_X86_64_PC32), -4}};
  return object;
}

TEST(ObjectLoader, relocates_against_its_own_data) {
  std::string log;
  const auto loaded = load_object(constant_loader().bytes(), &log);
  ASSERT_TRUE(loaded) << log;
  EXPECT_EQ((*loaded)->warp(nullptr, nullptr, 0), 42u);
  EXPECT_EQ((*loaded)->range, nullptr);
  EXPECT_EQ((*loaded)->code_bytes, 7u);
  EXPECT_EQ(reinterpret_cast<const void*>((*loaded)->warp), (*loaded)->code);
}

TEST(ObjectLoader, calls_the_functions_that_it_offers) {
  // jmp memset: (pointer, value, size) as the warp function's arguments
  ObjectWriter object;
  object.text = {0xe9, 0, 0, 0, 0};
  object.symbols = {{"heddle_warp", 1, 0}, {"memset", 0, 0}};
  object.relocations = {{1, ELF64_R_INFO(2, R_X86_64_PLT32), -4}};
  std::string log;
  const auto loaded = load_object(object.bytes(), &log);
  ASSERT_TRUE(loaded) << log;
  char bytes[4] = {1, 1, 1, 1};
  auto* const fill =
      reinterpret_cast<void* (*)(void*, std::uintptr_t, std::uint32_t)>(const_cast<std::uint8_t*>((*loaded)->code));
  fill(bytes, 7, 3);
  EXPECT_EQ(bytes[2], 7);
  EXPECT_EQ(bytes[3], 1);
}

TEST(ObjectLoader, names_a_function_that_it_does_not_offer) {
  ObjectWriter object = constant_loader();
  object.symbols[1] = {"system", 0, 0};
  object.relocations = {{2, ELF64_R_INFO(2, R_X86_64_PLT32), -4}};
  std::string log;
  const auto loaded = load_object(object.bytes(), &log);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code(), ErrorCode::kSharedObjectSymbolNotFound);
  EXPECT_NE(log.find("system"), std::string::npos);
}

TEST(ObjectLoader, refuses_what_it_does_not_understand) {
  auto refused = [](const ObjectWriter& object, const char* why) {
    std::string log;
    EXPECT_FALSE(load_object(object.bytes(), &log)) << why;
    EXPECT_FALSE(log.empty()) << why;
  };
  ObjectWriter object = constant_loader();
  object.relocations[0].r_info = ELF64_R_INFO(2, R_X86_64_TPOFF32);
  refused(object, "relocation type");
  object = constant_loader();
  object.relocations[0].r_offset = 5;
  refused(object, "relocation beyond the section");
  object = constant_loader();
  object.relocations[0].r_info = ELF64_R_INFO(9, R_X86_64_PC32);
  refused(object, "relocation against no symbol");
  object = constant_loader();
  object.symbols[0].name = "other";
  refused(object, "no heddle_warp");
}

TEST(ObjectLoader, no_truncated_or_damaged_object_crashes_it) {
  const std::vector<std::uint8_t> good = constant_loader().bytes();
  std::string log;
  for (std::size_t size = 0; size < good.size(); ++size) {
    (void)load_object(std::span(good).first(size), &log);
  }
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (const std::uint8_t flip : {0x01, 0x80, 0xff}) {
      std::vector<std::uint8_t> bad = good;
      bad[i] ^= flip;
      (void)load_object(bad, &log);  // it is only loaded, not run
    }
  }
}

}  // namespace
}  // namespace heddle::codegen
