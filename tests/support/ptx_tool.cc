// A developer's tool: reads PTX files, parses them, builds the IR of every kernel, verifies it after each transform and
// prints what was asked for. Exit code 1 if anything failed. Not installed.
//   ptx_tool [--print] [--ptx] [--stats] FILE...
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

#include "compiler/ir/print.h"
#include "compiler/ir/verify.h"
#include "compiler/ptx/linker.h"
#include "compiler/ptx/parser.h"
#include "compiler/transform/build_ssa.h"
#include "compiler/transform/inline_calls.h"
#include "compiler/transform/lower_spin_loops.h"
#include "compiler/transform/simplify.h"
#include "compiler/transform/split_barriers.h"

namespace {

using namespace heddle;

double milliseconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

std::size_t count_instructions(const ir::Program& program) {
  std::size_t n = 0;
  for (const ir::Block& b : program.kernel.blocks) n += b.insts.size();
  for (const ir::Function& f : program.functions)
    for (const ir::Block& b : f.blocks) n += b.insts.size();
  return n;
}

}  // namespace

int main(int argc, char** argv) {
  bool print = false, print_text = false, stats = false;
  int files = 0, kernels = 0, failures = 0;
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--print"))
      print = true;
    else if (!std::strcmp(argv[i], "--ptx"))
      print_text = true;
    else if (!std::strcmp(argv[i], "--stats"))
      stats = true;
    else {
      ++files;
      std::ifstream in(argv[i]);
      std::stringstream buffer;
      buffer << in.rdbuf();
      const std::string text = buffer.str();
      std::string log;
      auto begin = std::chrono::steady_clock::now();
      auto parsed = ptx::parse_ptx(text, "ptx", &log);
      const double parse_ms = milliseconds_since(begin);
      if (!parsed) {
        ++failures;
        std::printf("%s: %s\n%s", argv[i], parsed.error().why(), log.c_str());
        continue;
      }
      std::vector<std::unique_ptr<const ptx::Module>> units;
      units.push_back(std::move(parsed).value());
      auto linked = ptx::LinkedModule::link(std::move(units), &log);
      if (!linked) {
        ++failures;
        std::printf("%s: %s\n%s", argv[i], linked.error().why(), log.c_str());
        continue;
      }
      (void)print_text;
      if (stats) std::printf("%s: %zu bytes parsed in %.1f ms\n", argv[i], text.size(), parse_ms);
      for (const ptx::Symbol& kernel : (*linked)->kernels()) {
        ++kernels;
        log.clear();
        begin = std::chrono::steady_clock::now();
        auto program = transform::build_ssa(**linked, kernel.function->name, &log);
        const double build_ms = milliseconds_since(begin);
        const std::string name(kernel.function->name);
        if (!program) {
          ++failures;
          std::printf("%s: %s: %s\n%s", argv[i], name.c_str(), program.error().why(), log.c_str());
          continue;
        }
        auto check = [&](const char* pass, bool barriers_split) {
          std::string message;
          if (ir::verify(*program, &message, barriers_split).ok()) return;
          ++failures;
          std::printf("%s: %s: %s: %s\n", argv[i], name.c_str(), pass, message.c_str());
        };
        const std::size_t built = count_instructions(*program);
        check("build_ssa", false);
        begin = std::chrono::steady_clock::now();
        transform::inline_calls(&*program);
        check("inline_calls", false);
        transform::simplify(&*program);
        check("simplify", false);
        transform::lower_spin_loops(&*program);
        check("lower_spin_loops", false);
        transform::split_barriers(&*program);
        check("split_barriers", true);
        const double transform_ms = milliseconds_since(begin);
        if (stats)
          std::printf("  %s: %zu instructions built in %.1f ms, %zu after %.1f ms\n", name.c_str(), built, build_ms,
                      count_instructions(*program), transform_ms);
        if (print) std::printf("%s\n", ir::print_program(*program).c_str());
      }
    }
  }
  std::printf("%d files, %d kernels, %d failures\n", files, kernels, failures);
  return failures == 0 ? 0 : 1;
}
