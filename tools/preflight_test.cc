// Programs that have one thing wrong each, made by the host's compiler at test time; NVIDIA's own builds where nvcc is
// installed.
#include "preflight.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "fatbin/pack.h"
#include "subprocess.h"

namespace heddle::tools {
namespace {

constexpr const char* kNvcc = "/usr/local/cuda/bin/nvcc";

class Preflight : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  void shell(const std::string& command) {
    ASSERT_EQ(std::system(("cd " + folder_.path() + " && " + command + " 2>log").c_str()), 0) << command;
  }
  void compile(const std::string& source, const std::string& flags) {
    ASSERT_TRUE(write_file(path("p.c"), source));
    shell("cc p.c -o p " + flags);
  }
  // The text of the first finding of this severity, "" if there is none.
  static std::string first(const std::vector<Finding>& findings, Severity severity = Severity::kError) {
    const auto found =
        std::find_if(findings.begin(), findings.end(), [=](const Finding& f) { return f.severity == severity; });
    return found == findings.end() ? "" : found->problem;
  }
  std::string error_of(const std::string& name, unsigned capability = 120) {
    return first(check_program(path(name), capability));
  }
  // A program whose .nv_fatbin section is this.
  void compile_with_device_code(const std::string& section) {
    ASSERT_TRUE(write_file(path("code.bin"), section));
    compile(
        "__asm__(\".section .nv_fatbin, \\\"a\\\"\\n.balign 8\\n.incbin \\\"code.bin\\\"\\n.previous\");\n"
        "int main(void) { return 0; }\n",
        "");
  }

  TemporaryFolder folder_;
};

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST_F(Preflight, finds_nothing_wrong_with_a_plain_program) {
  compile("int main(void) { return 0; }\n", "");
  EXPECT_TRUE(check_program(path("p"), 120).empty());
  EXPECT_TRUE(check_libraries(path("p"), path(""), path("")).empty());
}

TEST_F(Preflight, names_what_is_not_a_program) {
  EXPECT_HAS(error_of("missing"), "No such file");
  EXPECT_HAS(error_of("."), "folder");
  write_file(path("empty"), "");
  EXPECT_HAS(error_of("empty"), "empty");
  write_file(path("text"), "just text\n");
  EXPECT_HAS(error_of("text"), "neither a program nor a script");
  write_file(path("script"), "#!/bin/sh\n");
  EXPECT_HAS(error_of("script"), "not executable");
  shell("chmod +x script");
  EXPECT_EQ(error_of("script"), "");
  write_file(path("cut"),
             "\x7f"
             "ELF\x02\x01\x01");
  EXPECT_HAS(error_of("cut"), "can't be read");
}

TEST_F(Preflight, names_other_processors_and_kinds) {
  compile("int main(void) { return 0; }\n", "");
  std::string content;
  ASSERT_TRUE(read_file(path("p"), &content));
  content[18] = static_cast<char>(183);  // e_machine: AArch64
  write_file(path("arm"), content);
  EXPECT_HAS(error_of("arm"), "another processor");
  compile("int main(void) { return 0; }\n", "-c");
  EXPECT_HAS(error_of("p"), "object file");
  compile("int main(void) { return 0; }\n", "-static");
  EXPECT_HAS(error_of("p"), "-static");
}

TEST_F(Preflight, recognises_the_static_runtime) {
  const std::string hash(40, 'a');
  compile("void libcudart_static_" + hash + "(void) {}\nint main(void) { return 0; }\n", "");
  EXPECT_HAS(error_of("p"), "static CUDA runtime");
  const std::string text = "const char* t = \"CUDA driver version is insufficient for CUDA runtime version\";\n";
  compile(text + "int main(void) { return !t; }\n", "-s");
  EXPECT_HAS(error_of("p"), "static CUDA runtime");
  compile(text + "const char* ours = \"HEDDLE_LOG_FILE\";\nint main(void) { return !t + !ours; }\n", "-s");
  EXPECT_EQ(error_of("p"), "");
}

TEST_F(Preflight, reads_the_device_code) {
  const std::string ptx = ".version 8.7\n.target sm_90\n.address_size 64\n";
  std::string cubin;  // an object file with functions looks like a cubin with kernels
  compile("__attribute__((section(\".text.k\"))) void k(void) {}\n", "-c");
  ASSERT_TRUE(read_file(path("p"), &cubin));
  std::string no_functions;
  compile("int variable;\n", "-c");
  ASSERT_TRUE(read_file(path("p"), &no_functions));
  const auto packed_elf = [](const std::string& elf) {
    return *fatbin::pack({{.kind = fatbin::Kind::kElf, .content = elf, .arch = 90}});
  };

  compile_with_device_code(*fatbin::pack_ptx(ptx));
  EXPECT_TRUE(check_program(path("p"), 120).empty());
  EXPECT_HAS(error_of("p", 80), "compute capability 9.0");
  compile_with_device_code(packed_elf(no_functions));  // what nvcc's device link leaves in a program without kernels
  EXPECT_TRUE(check_program(path("p"), 120).empty());
  compile_with_device_code(packed_elf(cubin));
  EXPECT_HAS(error_of("p"), "machine code for a GPU, without PTX");
  compile_with_device_code(*fatbin::pack_ptx(ptx) + packed_elf(cubin));
  EXPECT_EQ(error_of("p"), "");
  EXPECT_HAS(first(check_program(path("p"), 120), Severity::kWarning), "some of its device code");
  compile_with_device_code(fatbin::pack_ptx(ptx)->substr(0, 100));
  EXPECT_HAS(error_of("p"), "damaged");
}

TEST_F(Preflight, finds_an_rpath_that_outranks_us) {
  shell("mkdir other && touch other/libcudart.so.13");
  compile("int main(void) { return 0; }\n", "-Wl,--disable-new-dtags,-rpath,'$ORIGIN/other'");
  EXPECT_HAS(error_of("p"), "RPATH");
  compile("int main(void) { return 0; }\n", "-Wl,--enable-new-dtags,-rpath,'$ORIGIN/other'");  // a RUNPATH
  EXPECT_EQ(error_of("p"), "");
}

TEST_F(Preflight, asks_the_loader_about_libraries) {
  shell("mkdir ours other && echo 'int f(void) { return 0; }' >l.c");
  for (const char* place :
       {"ours/libcudart.so.13", "other/libcudart.so.13", "other/libgone.so.2", "other/libcublas.so.99"}) {
    shell(std::string("cc -shared l.c -o ") + place + " -Wl,-soname," + (std::strrchr(place, '/') + 1));
  }
  const std::string source = "int f(void);\nint main(void) { return f(); }\n";
  const auto check = [this] { return check_libraries(path("p"), path("ours"), path("ours")); };
  compile(source, "ours/libcudart.so.13");
  EXPECT_TRUE(check().empty());
  compile(source, "other/libcudart.so.13 -Wl,--disable-new-dtags,-rpath,'$ORIGIN/other'");
  EXPECT_HAS(first(check()), "instead of our libcudart.so.13");
  compile(source, "other/libgone.so.2");
  EXPECT_HAS(first(check()), "libgone.so.2, which is not found");
  compile(source, "other/libcublas.so.99");
  EXPECT_HAS(first(check()), "not part of Heddle");
  compile(source, "other/libcublas.so.99 -Wl,-rpath,'$ORIGIN/other'");
  EXPECT_EQ(first(check()), "");
  EXPECT_HAS(first(check(), Severity::kWarning), "NVIDIA's libcublas");
}

TEST_F(Preflight, judges_what_nvcc_builds) {
  if (::access(kNvcc, X_OK) != 0) GTEST_SKIP() << "no nvcc at " << kNvcc;
  write_file(path("k.cu"), "__global__ void k() {}\nint main() { k<<<1, 1>>>(); return 0; }\n");
  write_file(path("h.cu"), "int main() { return 0; }\n");
  const std::string nvcc = std::string(kNvcc) + " -o p ";
  shell(nvcc + "k.cu");
  EXPECT_HAS(error_of("p"), "static CUDA runtime");
  shell("strip p");
  EXPECT_HAS(error_of("p"), "static CUDA runtime");
  shell(nvcc + "-cudart shared k.cu");
  EXPECT_EQ(error_of("p"), "");
  shell(nvcc + "-cudart shared h.cu");
  EXPECT_TRUE(check_program(path("p"), 120).empty());
  shell(nvcc + "-cudart shared -rdc=true -arch=sm_90 k.cu");
  EXPECT_TRUE(check_program(path("p"), 120).empty());
  shell(nvcc + "-cudart shared -gencode arch=compute_90,code=sm_90 k.cu");
  EXPECT_HAS(error_of("p"), "machine code for a GPU, without PTX");
}

}  // namespace
}  // namespace heddle::tools
