// Tests of nvcc's command line as `heddle c++` reads it (cxx_options.h), and of whole calls with --dryrun where the
// program is built. What each option means is nvcc's manual's.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "cxx_options.h"

namespace heddle::tools {
namespace {

bool contains(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

TEST(CxxOptions, ValuesComeInThreeForms) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"-o", "out", "a.cu"},
                                                {"--output-file", "out", "a.cu"},
                                                {"--output-file=out", "a.cu"},
                                                {"-o=out", "a.cu"}}) {
    CxxOptions options = parse_cxx_options(words);
    EXPECT_EQ(options.error, "");
    EXPECT_EQ(options.output, "out");
    ASSERT_EQ(options.inputs.size(), 1u);
    EXPECT_EQ(options.inputs[0].word, "a.cu");
  }
}

TEST(CxxOptions, JoinedAndSeparate) {
  CxxOptions options =
      parse_cxx_options({"-Ia", "-I", "b", "-DX=1", "-D", "Y", "-UZ", "-Lc", "-lm", "-l", "png", "x.o"});
  EXPECT_EQ(options.preprocessor, (std::vector<std::string>{"-Ia", "-Ib", "-DX=1", "-DY", "-UZ"}));
  EXPECT_EQ(options.linker, (std::vector<std::string>{"-Lc"}));
  // Libraries keep their place among the files.
  ASSERT_EQ(options.inputs.size(), 3u);
  EXPECT_EQ(options.inputs[0].word, "-lm");
  EXPECT_EQ(options.inputs[1].word, "-lpng");
  EXPECT_EQ(options.inputs[2].word, "x.o");
}

TEST(CxxOptions, Phases) {
  EXPECT_EQ(parse_cxx_options({"a.cu"}).phase, Phase::kLink);
  EXPECT_EQ(parse_cxx_options({"-c", "a.cu"}).phase, Phase::kCompile);
  EXPECT_EQ(parse_cxx_options({"-ptx", "a.cu"}).phase, Phase::kPtx);
  EXPECT_EQ(parse_cxx_options({"--ptx", "a.cu"}).phase, Phase::kPtx);
  EXPECT_EQ(parse_cxx_options({"-E", "a.cu"}).phase, Phase::kPreprocess);
  EXPECT_EQ(parse_cxx_options({"-dlink", "a.o"}).phase, Phase::kDeviceLink);
  CxxOptions relocatable = parse_cxx_options({"-dc", "a.cu"});
  EXPECT_EQ(relocatable.phase, Phase::kCompile);
  EXPECT_TRUE(relocatable.relocatable);
  EXPECT_TRUE(parse_cxx_options({"-rdc=true", "a.cu"}).relocatable);
  EXPECT_FALSE(parse_cxx_options({"-rdc=false", "a.cu"}).relocatable);
}

TEST(CxxOptions, Architectures) {
  auto target = [](std::vector<std::string> words) { return choose_target(parse_cxx_options(words).architectures); };
  EXPECT_EQ(target({}), "sm_75");  // nvcc 13's default
  EXPECT_EQ(target({"-arch=sm_80"}), "sm_80");
  EXPECT_EQ(target({"-arch", "compute_60"}), "sm_60");
  EXPECT_EQ(target({"--gpu-architecture=sm_120"}), "sm_90");  // the highest that clang 19 has
  EXPECT_EQ(target({"-arch=sm_90a"}), "sm_90a");
  EXPECT_EQ(target({"-arch=native"}), "sm_90");
  EXPECT_EQ(target({"-arch=all-major"}), "sm_90");
  EXPECT_EQ(target({"-gencode", "arch=compute_70,code=sm_70", "-gencode=arch=compute_80,code=[sm_80,compute_80]"}),
            "sm_80");
  EXPECT_EQ(target({"--generate-code=arch=compute_86,code=[compute_86,sm_86]"}), "sm_86");
  EXPECT_NE(parse_cxx_options({"-gencode", "sm_80", "a.cu"}).error, "");
}

TEST(CxxOptions, HostFlags) {
  CxxOptions options = parse_cxx_options(
      {"-Xcompiler", "-Wall,-fPIC", "-Xcompiler=-O1", "-Xlinker", "-rpath,/x", "-Xcompiler", "-march=native", "a.cu"});
  EXPECT_TRUE(contains(options.compiler, "-Wall"));
  EXPECT_TRUE(contains(options.compiler, "-fPIC"));
  EXPECT_TRUE(contains(options.compiler, "-O1"));
  EXPECT_EQ(options.linker, (std::vector<std::string>{"-Xlinker", "-rpath", "-Xlinker", "/x"}));
  auto march = std::find(options.compiler.begin(), options.compiler.end(), "-march=native");
  ASSERT_NE(march, options.compiler.end());
  EXPECT_EQ(*(march - 1), "-Xarch_host");
}

TEST(CxxOptions, Mathematics) {
  CxxOptions options = parse_cxx_options({"-use_fast_math", "a.cu"});
  EXPECT_TRUE(options.fast_math && options.flush_denormals && options.approximate_division && options.approximate_root);
  options = parse_cxx_options({"-fmad=false", "--prec-div=false", "-ftz=true", "a.cu"});
  EXPECT_FALSE(options.contract);
  EXPECT_TRUE(options.approximate_division && options.flush_denormals);
  EXPECT_FALSE(options.approximate_root || options.fast_math);
}

TEST(CxxOptions, Runtime) {
  EXPECT_EQ(parse_cxx_options({"a.cu"}).cudart, CudaRuntime::kStatic);
  EXPECT_EQ(parse_cxx_options({"-cudart", "shared", "a.cu"}).cudart, CudaRuntime::kShared);
  EXPECT_EQ(parse_cxx_options({"--cudart=none", "a.cu"}).cudart, CudaRuntime::kNone);
  EXPECT_NE(parse_cxx_options({"-cudart", "maybe", "a.cu"}).error, "");
  EXPECT_TRUE(parse_cxx_options({"--default-stream", "per-thread", "a.cu"}).per_thread_stream);
  EXPECT_NE(parse_cxx_options({"-default-stream=other", "a.cu"}).error, "");
}

TEST(CxxOptions, Languages) {
  CxxOptions options = parse_cxx_options({"a.cu", "b.cpp", "c.c", "d.o", "e.ptx", "f", "-x", "cu", "g.cpp"});
  std::vector<std::string> languages;
  for (const Input& input : options.inputs) languages.push_back(language_of(input));
  EXPECT_EQ(languages, (std::vector<std::string>{"cu", "c++", "c", "link", "ptx", "link", "cu"}));
}

TEST(CxxOptions, AcceptedWithoutEffect) {
  CxxOptions options =
      parse_cxx_options({"-Xptxas", "-v,-O3", "--threads", "4", "-m64", "--keep-dir", "x", "-Xcudafe",
                         "--diag_suppress=1", "-Wno-deprecated-gpu-targets", "--expt-relaxed-constexpr", "a.cu"});
  EXPECT_EQ(options.error, "");
  EXPECT_TRUE(options.ignored.empty());
  EXPECT_EQ(options.inputs.size(), 1u);
}

TEST(CxxOptions, UnknownIsNamedOnce) {
  CxxOptions options = parse_cxx_options({"--no-such-thing", "a.cu", "-zzz"});
  EXPECT_EQ(options.ignored, (std::vector<std::string>{"--no-such-thing", "-zzz"}));
  EXPECT_EQ(options.error, "");
}

TEST(CxxOptions, MissingArgument) {
  EXPECT_NE(parse_cxx_options({"a.cu", "-o"}).error, "");
  EXPECT_NE(parse_cxx_options({"a.cu", "-I"}).error, "");
}

TEST(CxxOptions, OptionsFile) {
  std::string path = testing::TempDir() + "/cxx_options.rsp";
  std::ofstream(path) << "-DNAME=\"two words\" -c\n  -I'/a b'\n";
  CxxOptions options = parse_cxx_options({"--options-file", path, "a.cu"});
  EXPECT_EQ(options.preprocessor, (std::vector<std::string>{"-DNAME=two words", "-I/a b"}));
  EXPECT_EQ(options.phase, Phase::kCompile);
  EXPECT_NE(parse_cxx_options({"--options-file", path + ".missing", "a.cu"}).error, "");
  std::ofstream(path) << "--options-file " << path;  // itself
  EXPECT_NE(parse_cxx_options({"--options-file", path, "a.cu"}).error, "");
  std::remove(path.c_str());
}

TEST(CxxOptions, Dependencies) {
  CxxOptions options = parse_cxx_options({"-MD", "-MF", "x.d", "-MT", "x.o", "-c", "a.cu"});
  EXPECT_EQ(options.dependency, (std::vector<std::string>{"-MD", "-MF", "x.d", "-MT", "x.o"}));
  EXPECT_EQ(options.phase, Phase::kCompile);
  EXPECT_EQ(parse_cxx_options({"-M", "a.cu"}).phase, Phase::kDependencies);
}

}  // namespace
}  // namespace heddle::tools
