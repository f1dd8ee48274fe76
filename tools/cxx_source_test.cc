// Tests of the rewriting of nvcc's spellings (cxx_source.h). What nvcc accepts was tried with nvcc 13.
#include "cxx_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "subprocess.h"

namespace heddle::tools {
namespace {

TEST(CxxSource, PercentInAsmWithOperands) {
  EXPECT_EQ(rewrite_for_clang("asm volatile(\"mov.u32 %0, %laneid;\" : \"=r\"(x));"),
            "asm volatile(\"mov.u32 %0, %%laneid;\" : \"=r\"(x));");
  // Several literals, comments between them; what is right already stays.
  EXPECT_EQ(rewrite_for_clang("asm(\"{ .reg .b32 %r; \" /* %x */ \"mov.u32 %%r, %[in]; }\" :: [in] \"r\"(f(1)));"),
            "asm(\"{ .reg .b32 %%r; \" /* %x */ \"mov.u32 %%r, %[in]; }\" :: [in] \"r\"(f(1)));");
  EXPECT_EQ(rewrite_for_clang("__asm__ __volatile__ (\"mov.u64 %0, %globaltimer;\" : \"=l\"(t) :: \"memory\");"),
            "__asm__ __volatile__ (\"mov.u64 %0, %%globaltimer;\" : \"=l\"(t) :: \"memory\");");
}

TEST(CxxSource, PercentElsewhereStays) {
  for (const char* text : {"asm(\"mov.u32 %r1, %laneid;\");",  // without operands % is itself
                           "printf(\"%d %s\\n\", a, b);", "// asm(\"%laneid\" : )\n", "x = a % b;",
                           "auto s = R\"(asm(\"%laneid\" : \"=r\"(x)))\";", "int asm_count = 5 % n;"})
    EXPECT_EQ(rewrite_for_clang(text), text);
}

TEST(CxxSource, SplitLaunch) {
  EXPECT_EQ(rewrite_for_clang("k << <g, b>> >(a, 1);"), "k <<< g, b>>> (a, 1);");
  EXPECT_EQ(rewrite_for_clang("k<< < g, dim3(1, f(b)), n * sizeof(int) >> > (a);"),
            "k<<<  g, dim3(1, f(b)), n * sizeof(int) >>>  (a);");
  EXPECT_EQ(rewrite_for_clang("k<<<g, b>> >(a);"), "k<<<g, b>>> (a);");
}

TEST(CxxSource, ShiftsAndTemplatesStay) {
  for (const char* text :
       {"k<<<g, b>>>(a);", "x = a << b; y = c >> d;", "std::cout << (a < b) << c;",
        "vector<vector<vector<int>> > v(3);", "bool z = 1 << 2 < 3;", "n = 1'000'000 << 2;", "char c = '<';"})
    EXPECT_EQ(rewrite_for_clang(text), text);
}

TEST(CxxSource, SharedAlignas) {
  EXPECT_EQ(rewrite_for_clang("__shared__ alignas(alignof(float4)) float a[4];"),
            "__shared__ __align__(alignof(float4)) float a[4];");
  EXPECT_EQ(rewrite_for_clang("alignas(16) __shared__ float a[4];"), "alignas(16) __shared__ float a[4];");
}

TEST(CxxSource, BrokenTextEnds) {
  for (const char* text :
       {"asm(\"%x", "asm(", "asm", "\"open", "R\"(open", "/* open", "k << <", "__shared__ alignas", "'"})
    EXPECT_EQ(rewrite_for_clang(text), text);
}

TEST(CxxSource, LinesStay) {
  std::string text = "a << <b,\n c>> >\n(d);\nasm(\"%laneid\"\n\"%smid\" : \"=r\"(x));\n";
  std::string rewritten = rewrite_for_clang(text);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), std::count(rewritten.begin(), rewritten.end(), '\n'));
  EXPECT_NE(text, rewritten);
}

TEST(CxxSource, FollowsIncludes) {
  TemporaryFolder folder;
  namespace fs = std::filesystem;
  fs::create_directories(folder.path() + "/inc");
  write_file(folder.path() + "/main.cu", "#include \"a.cuh\"\n#  include <b.cuh>\n#include <vector>\nint x;\n");
  write_file(folder.path() + "/a.cuh", "#include \"main.cu\"\nint y;\n");
  write_file(folder.path() + "/inc/b.cuh", "asm(\"%laneid\" : \"=r\"(x));\n");
  std::vector<RewrittenFile> files = find_rewrites(folder.path() + "/main.cu", {folder.path() + "/inc"});
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].path, folder.path() + "/inc/b.cuh");
  EXPECT_EQ(files[0].text, "asm(\"%%laneid\" : \"=r\"(x));\n");
  EXPECT_TRUE(find_rewrites(folder.path() + "/missing.cu", {}).empty());
}

}  // namespace
}  // namespace heddle::tools
