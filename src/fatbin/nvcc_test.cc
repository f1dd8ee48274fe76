// Containers written by NVIDIA's nvcc, where it is installed: every compression mode must give the same PTX text that
// `nvcc -ptx` writes, and builds without PTX must be told apart. Compiled at test time; nothing of it is kept.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "fatbin/elf.h"
#include "fatbin/fatbin.h"

namespace heddle::fatbin {
namespace {

constexpr const char* kNvcc = "/usr/local/cuda/bin/nvcc";

// The text without comment lines, blanks as one space: the fatbin's copy is stripped of what doesn't matter.
std::string words_of(const std::string& text) {
  std::istringstream lines(text);
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    line = line.substr(0, line.find("//"));
    std::istringstream words(line);
    for (std::string word; words >> word;) out += word + ' ';
  }
  return out;
}

class Nvcc : public testing::Test {
 protected:
  void SetUp() override {
    if (::access(kNvcc, X_OK) != 0) GTEST_SKIP() << "no nvcc at " << kNvcc;
    char name[] = "/tmp/heddle-nvcc-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    folder_ = name;
    std::ofstream(folder_ + "/k.cu") << "__global__ void scale(float* p) { p[threadIdx.x] *= 2.0f; }\n"
                                        "int main() { scale<<<1, 32>>>(nullptr); return 0; }\n";
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }
  // The bytes of what `nvcc FLAGS k.cu` writes.
  std::string compile(const std::string& flags) {
    const std::string command = "cd " + folder_ + " && " + kNvcc + " " + flags + " k.cu -o out 2>log";
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    std::ifstream in(folder_ + "/out", std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static Bytes bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

  std::string folder_;
};

TEST_F(Nvcc, every_compression_mode_gives_the_same_text) {
  const std::string ptx = compile("-ptx -arch=sm_90");
  ASSERT_NE(ptx.find("scale"), std::string::npos);
  for (const char* mode : {"none", "speed", "balance", "default", "size"}) {
    const std::string fatbin = compile("-fatbin -arch=sm_90 -compress-mode=" + std::string(mode));
    const auto sources = load_ptx(bytes_of(fatbin), 120);
    ASSERT_TRUE(sources) << mode;
    ASSERT_EQ(sources->size(), 1u) << mode;
    EXPECT_EQ(sources->front().arch, 90u) << mode;
    EXPECT_EQ(words_of(sources->front().text), words_of(ptx)) << mode;
  }
}

TEST_F(Nvcc, options_and_file_name_are_read) {
  const std::string fatbin = compile("-fatbin -arch=sm_90 -lineinfo -Xptxas -O2");
  const auto units = parse_containers(bytes_of(fatbin));
  ASSERT_TRUE(units);
  const Entry* ptx = find_ptx(units->front(), 120);
  ASSERT_NE(ptx, nullptr);
  EXPECT_EQ(ptx->file_name, "k.cu");
  EXPECT_NE(ptx->options.find("-O2"), std::string_view::npos);
}

TEST_F(Nvcc, cubin_only_is_told_apart) {
  const std::string fatbin = compile("-fatbin -gencode arch=compute_90,code=sm_90");
  EXPECT_EQ(load_ptx(bytes_of(fatbin), 120).error().code(), ErrorCode::kNoBinaryForGpu);
  const std::string cubin = compile("-cubin -arch=sm_90");
  EXPECT_EQ(detect(bytes_of(cubin)), Format::kElf);
  EXPECT_EQ(*measure(cubin.data()), cubin.size());
  EXPECT_EQ(load_ptx(cubin.data(), 120).error().code(), ErrorCode::kNoBinaryForGpu);
}

TEST_F(Nvcc, specific_targets_are_recognised) {
  const std::string fatbin = compile("-fatbin -gencode arch=compute_90a,code=[sm_90a,compute_90a]");
  const auto units = parse_containers(bytes_of(fatbin));
  ASSERT_TRUE(units);
  const Entry* ptx = find_ptx(units->front(), 120);
  ASSERT_NE(ptx, nullptr);
  EXPECT_TRUE(ptx->is_arch_specific());
}

TEST_F(Nvcc, programs_hold_their_containers_in_sections) {
  const std::string program = compile("-cudart shared -arch=sm_90");
  const auto elf = parse_elf(bytes_of(program));
  ASSERT_TRUE(elf);
  const ElfSection* section = elf->find_section(".nv_fatbin");
  ASSERT_NE(section, nullptr);
  const auto sources = load_ptx(section->contents, 120);
  ASSERT_TRUE(sources);
  EXPECT_NE(sources->front().text.find("scale"), std::string::npos);

  const std::string separate = compile("-cudart shared -arch=sm_90 -rdc=true");
  const auto separate_elf = parse_elf(bytes_of(separate));
  ASSERT_TRUE(separate_elf);
  const ElfSection* units = separate_elf->find_section("__nv_relfatbin");
  ASSERT_NE(units, nullptr);
  EXPECT_TRUE(load_ptx(units->contents, 120));
}

}  // namespace
}  // namespace heddle::fatbin
