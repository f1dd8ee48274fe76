// The `heddle` program: finds the subcommand in argv[1], or in the name that it was called by (build systems start it
// as nvcc, clang as ptxas), and calls it. The table below is all there is to add for a new one, besides its file.
// Tested by run_test.cc and cxx_test.cc.
#include <cstdio>
#include <cstring>
#include <string>

#include "commands.h"

namespace heddle::tools {
namespace {

struct Command {
  const char* name;
  int (*run)(int argc, char** argv);
  const char* summary;  // null: called by its name alone, and not listed
};

constexpr Command kCommands[] = {
    {"run", run_main, "run a CUDA program, or compile and run a .cu file, on this machine's CPU"},
    {"c++", cxx_main, "compile and link CUDA sources; takes nvcc's options"},
    {"nvcc", cxx_main, nullptr},
    {"ptxas", ptxas_main, nullptr},
    {"fatbinary", fatbinary_main, nullptr},
    {"nvlink", nvlink_main, nullptr},
    {"heddle-device-linker", device_link_linker_main, nullptr},
};

const Command* find_command(const std::string& name) {
  for (const Command& command : kCommands) {
    if (name == command.name) return &command;
  }
  return nullptr;
}

void show_help(std::FILE* out) {
  std::fprintf(out, "Usage: heddle COMMAND [ARGUMENTS]\nCUDA without a GPU, on open software alone.\n\nCommands:\n");
  for (const Command& command : kCommands) {
    if (command.summary) std::fprintf(out, "  %-8s %s\n", command.name, command.summary);
  }
  std::fprintf(out,
               "\n'heddle COMMAND --help' says more; 'man heddle' says all.\n"
               "Start with: heddle c++ -O3 program.cu -o program && heddle run ./program\n");
}

int dispatch(int argc, char** argv) {
  const std::string path = argc ? argv[0] : "";
  const std::string called_as = path.substr(path.rfind('/') + 1);
  if (called_as != "heddle") {
    if (const Command* command = find_command(called_as)) return command->run(argc, argv);
  }
  if (argc < 2) {
    show_help(stderr);
    return 2;
  }
  const std::string name = argv[1];
  if (name == "--help" || name == "-h" || name == "help") {
    const Command* command = argc > 2 ? find_command(argv[2]) : nullptr;
    if (!command) {
      show_help(stdout);
      return 0;
    }
    static char help[] = "--help";
    char* arguments[] = {argv[2], help, nullptr};
    return command->run(2, arguments);
  }
  if (name == "--version" || name == "version") {
    std::printf("heddle %s\n", HEDDLE_VERSION);
    return 0;
  }
  if (const Command* command = find_command(name)) return command->run(argc - 1, argv + 1);
  std::fprintf(stderr, "heddle: there is no command '%s'\n", argv[1]);
  show_help(stderr);
  return 2;
}

}  // namespace
}  // namespace heddle::tools

int main(int argc, char** argv) { return heddle::tools::dispatch(argc, argv); }
