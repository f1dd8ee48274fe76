// The test program itself is the ELF file: what the reader says is compared with what the linker put in, and cut and
// damaged copies must not crash it.
#include "fatbin/elf.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>

namespace heddle::fatbin {
namespace {

std::string read_file(const char* path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
Bytes bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

TEST(Elf, reads_this_program) {
  const std::string file = read_file("/proc/self/exe");
  const auto elf = parse_elf(bytes_of(file));
  ASSERT_TRUE(elf);
  EXPECT_EQ(elf->machine, kMachineX86_64);
  EXPECT_TRUE(elf->is_dynamic);
  EXPECT_EQ(elf->interpreter, "/lib64/ld-linux-x86-64.so.2");
  EXPECT_NE(std::find(elf->needed.begin(), elf->needed.end(), "libc.so.6"), elf->needed.end());
  EXPECT_NE(std::find(elf->symbols.begin(), elf->symbols.end(), "main"), elf->symbols.end());
  ASSERT_NE(elf->find_section(".text"), nullptr);
  EXPECT_FALSE(elf->find_section(".text")->contents.empty());
  EXPECT_EQ(elf->find_section(".nv_fatbin"), nullptr);
  EXPECT_LE(*measure_elf(bytes_of(file)), file.size());
}

TEST(Elf, refuses_what_is_not_elf) {
  for (const char* text : {"",
                           "\x7f"
                           "ELF",
                           "#!/bin/sh\necho hello, this is longer than an ELF header is, by far....\n"}) {
    EXPECT_EQ(parse_elf(bytes_of(text)).error().code(), ErrorCode::kInvalidImage);
    EXPECT_EQ(measure_elf(bytes_of(text)).error().code(), ErrorCode::kInvalidImage);
  }
}

TEST(Elf, survives_truncation_and_damage) {
  // A real file's headers and tables matter, not its megabytes: sizes around the tables and a sample of the rest.
  const std::string file = read_file("/bin/true");
  ASSERT_FALSE(file.empty());
  for (std::size_t size = 0; size < file.size(); size += size < 1200 ? 1 : 977) {
    const std::string cut = file.substr(0, size);
    (void)parse_elf(bytes_of(cut)).status();
    (void)measure_elf(bytes_of(cut)).status();
  }
  std::mt19937 random(5);
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = file;
    const std::size_t reach = round % 2 ? 1200 : damaged.size();
    for (int n = 0; n < 6; ++n) damaged[random() % reach] = static_cast<char>(random());
    (void)parse_elf(bytes_of(damaged)).status();
    (void)measure_elf(bytes_of(damaged)).status();
  }
}

}  // namespace
}  // namespace heddle::fatbin
