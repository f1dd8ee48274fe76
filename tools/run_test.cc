// `heddle run` as users see it: the built program starts small programs made at test time by the host's compiler.
// HEDDLE_PROGRAM (set by ctest) is build/out/bin/heddle. What it runs on our libraries is tested in tests/programs.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "subprocess.h"

namespace heddle::tools {
namespace {

struct Outcome {
  int status = 0;  // as waitpid gives it
  std::string out, err;
  int code() const { return WIFEXITED(status) ? WEXITSTATUS(status) : -1; }
};

class Run : public testing::Test {
 protected:
  void SetUp() override {
    const char* program = std::getenv("HEDDLE_PROGRAM");
    if (!program || !file_exists(program)) GTEST_SKIP() << "HEDDLE_PROGRAM names no program";
    // A tree of its own: the program, and a file in the place of the library whose absence is an error.
    std::filesystem::create_directories(path("tree/bin"));
    std::filesystem::create_directories(path("tree/lib"));
    std::filesystem::copy_file(program, path("tree/bin/heddle"));
    write_file(path("tree/lib/libcuda.so.1"), "");
  }
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  Outcome shell(const std::string& command) {
    const std::string line = "cd " + folder_.path() + " && (" + command + ") >out 2>err";
    Outcome outcome;
    outcome.status = std::system(line.c_str());
    read_file(path("out"), &outcome.out);
    read_file(path("err"), &outcome.err);
    return outcome;
  }
  Outcome heddle(const std::string& arguments) { return shell("tree/bin/heddle " + arguments); }
  void compile(const std::string& source) {
    write_file(path("p.c"), source);
    ASSERT_EQ(shell("cc p.c -o p").code(), 0);
  }

  TemporaryFolder folder_;
};

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST_F(Run, becomes_the_program) {
  compile(
      "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
      "int main(int n, char** a) {\n"
      "  printf(\"%s|%s|%s|%s\\n\", a[0], n > 1 ? a[1] : \"\", n > 2 ? a[2] : \"\", getenv(\"HEDDLE_DEVICES\"));\n"
      "  printf(\"%s\\n\", getenv(\"LD_LIBRARY_PATH\"));\n  return n > 3 ? atoi(a[3]) : 7; }\n");
  Outcome outcome = heddle("run --devices 3 ./p --devices 'a b'");
  EXPECT_EQ(outcome.code(), 7);
  EXPECT_HAS(outcome.out, "./p|--devices|a b|3\n");
  EXPECT_HAS(outcome.out, "/tree/lib");
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(heddle("run p a b 3").code(), 3) << "a file here, named without a slash";
  EXPECT_EQ(heddle("run -- ./p a b 4").code(), 4);
  EXPECT_HAS(shell("LD_LIBRARY_PATH=/before tree/bin/heddle run ./p").out, "/tree/lib:/before\n");
  EXPECT_HAS(shell("PATH=.:$PATH tree/bin/heddle run p").out, "p|");
}

TEST_F(Run, passes_signals_on) {
  compile("#include <signal.h>\nint main(void) { raise(SIGTERM); return 0; }\n");
  const Outcome outcome = heddle("run ./p; code=$?; kill -l $code");
  EXPECT_EQ(outcome.out, "TERM\n");
}

TEST_F(Run, runs_scripts) {
  write_file(path("s"), "#!/bin/sh\necho \"$1 $LD_LIBRARY_PATH\"\nexit 9\n");
  shell("chmod +x s");
  const Outcome outcome = heddle("run ./s word");
  EXPECT_EQ(outcome.code(), 9);
  EXPECT_HAS(outcome.out, "word /");
}

TEST_F(Run, refuses_with_advice) {
  EXPECT_EQ(heddle("run ./missing").code(), 127);
  EXPECT_HAS(heddle("run ./missing").err, "there is no program './missing'");
  write_file(path("text"), "text\n");
  EXPECT_EQ(heddle("run ./text").code(), 126);
  EXPECT_HAS(heddle("run ./text").err, "neither a program nor a script");
  EXPECT_HAS(heddle("run tree").err, "folder");
  compile("int main(void) { return 0; }\n");
  EXPECT_HAS(heddle("run --check ./p").out, "can run here");
  EXPECT_HAS(heddle("run --verbose ./p").err, "LD_LIBRARY_PATH=");
  std::filesystem::remove(path("tree/lib/libcuda.so.1"));
  EXPECT_EQ(heddle("run ./p").code(), 126);
  EXPECT_HAS(heddle("run ./p").err, "our own libraries are missing");
}

TEST_F(Run, refuses_wrong_command_lines) {
  for (const char* line : {"run", "run --devices", "run --devices 0 ./p", "run --devices x ./p", "run --devices 65 ./p",
                           "run --no-such ./p", "nonsense", ""}) {
    const Outcome outcome = heddle(line);
    EXPECT_EQ(outcome.code(), 2) << line;
    EXPECT_FALSE(outcome.err.empty()) << line;
  }
  for (const char* line : {"--help", "--version", "run --help", "help run", "c++ --help"}) {
    const Outcome outcome = heddle(line);
    EXPECT_EQ(outcome.code(), 0) << line;
    EXPECT_FALSE(outcome.out.empty()) << line;
  }
}

// The program is called by the names of the tools that it stands in for.
TEST_F(Run, answers_to_other_names) {
  shell("ln -s heddle tree/bin/nvcc");
  EXPECT_HAS(shell("tree/bin/nvcc --version").out, "V13.0");
}

TEST_F(Run, compiles_a_source_once) {
  // A compiler that writes down its calls stands in for `heddle c++`: what is tested is the cache around it.
  std::filesystem::rename(path("tree/bin/heddle"), path("tree/bin/real"));
  write_file(
      path("tree/bin/heddle"),
      "#!/bin/sh\necho \"$@\" >>calls\nwhile [ $# -gt 0 ]; do case $1 in -o) out=$2;; -MF) rule=$2;; esac; shift; "
      "done\n"
      "printf 'x.o: \\\\\\n k.cu \\\\\\n k.h\\n' >$rule\nprintf '#!/bin/sh\\necho ran $1\\n' >$out\nchmod +x $out\n");
  write_file(path("k.cu"), "source\n");
  write_file(path("k.h"), "header\n");
  shell("chmod +x tree/bin/heddle; touch -d '1 hour ago' k.cu k.h");
  const std::string run = "CUDA_CACHE_PATH=$PWD/cache tree/bin/real run ";
  std::string calls;
  EXPECT_EQ(shell(run + "k.cu word").out, "ran word\n");
  EXPECT_EQ(shell(run + "k.cu").out, "ran\n");
  read_file(path("calls"), &calls);
  EXPECT_EQ(std::count(calls.begin(), calls.end(), '\n'), 1) << calls;
  EXPECT_HAS(calls, "c++ -O3");
  shell("touch -d '1 hour' k.h");
  EXPECT_EQ(shell(run + "k.cu").out, "ran\n");
  EXPECT_EQ(shell(run + "--cxx=-lm k.cu").out, "ran\n");
  read_file(path("calls"), &calls);
  EXPECT_EQ(std::count(calls.begin(), calls.end(), '\n'), 3) << calls;
  EXPECT_HAS(calls, "-lm");
  write_file(path("tree/bin/heddle"), "#!/bin/sh\nexit 1\n");
  const Outcome broken = shell(run + "--cxx=-DX k.cu");
  EXPECT_EQ(broken.code(), 126);
  EXPECT_HAS(broken.err, "could not be compiled");
}

}  // namespace
}  // namespace heddle::tools
