// `heddle run PROGRAM [ARGS]`: puts our libraries in front of the loader's path and becomes the program, so exit code,
// signals, terminal and process id are the program's. Before that it looks for what is known to go wrong
// (preflight.h) and says what to do instead of letting the program fail strangely.
// `heddle run FILE.cu [ARGS]` compiles first; the program is kept in the user's cache until a source that it was made
// from changes. Tested by run_test.cc.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/options.h"
#include "commands.h"
#include "preflight.h"
#include "subprocess.h"

namespace heddle::tools {
namespace {

// Shells' conventions: 127 no such program, 126 can't be run; 2 is a wrong command line.
constexpr int kUsage = 2, kCannotRun = 126, kNoProgram = 127;

struct RunOptions {
  bool help = false, verbose = false, check_only = false;
  std::string devices, explain;
  std::vector<std::string> compile_flags;
  int program = 0;  // index in argv
};

void show_help() {
  std::printf(
      "Usage: heddle run [options] PROGRAM [ARGUMENTS]\n"
      "       heddle run [options] FILE.cu [ARGUMENTS]\n"
      "Runs a CUDA program on this machine's CPU. The exit code and signals are the program's.\n\n"
      "  --devices N         show the program N virtual GPUs             (HEDDLE_DEVICES)\n"
      "  --explain[=KERNEL]  print how kernels are compiled              (HEDDLE_EXPLAIN)\n"
      "  -v, --verbose       say what is checked, set and logged         (HEDDLE_LOG)\n"
      "  --check             only check whether PROGRAM can run here\n"
      "  --cxx=FLAG          for FILE.cu: one more option for 'heddle c++', for instance --cxx=-lpng\n"
      "  --                  end of the options\n\n"
      "PROGRAM is a path, or a name that is looked for in PATH; a script is started with our libraries too.\n"
      "Exit codes of heddle itself: 2 wrong options, 126 the program can't run here, 127 there is no such program.\n"
      "Environment:\n");
  const struct {
    const char* variable;
    const char* text;
  } kRows[] = {
#define HEDDLE_OPTION(identifier, variable, fallback, text) {variable, text},
#include "base/options.def"
#undef HEDDLE_OPTION
  };
  for (const auto& row : kRows) {
    if (std::strncmp(row.variable, "HEDDLE_", 7) == 0 || std::strncmp(row.variable, "CUDA_", 5) == 0) {
      std::printf("  %-28s %s\n", row.variable, row.text);
    }
  }
}

int complain(const std::string& message, int code) {
  std::fprintf(stderr, "heddle run: %s\n", message.c_str());
  return code;
}

// As the driver: src/driver/state.cc.
constexpr int kMaxDevices = 64;

bool is_count(const std::string& text) {
  return !text.empty() && text.size() <= 4 && text.find_first_not_of("0123456789") == text.npos &&
         std::atoi(text.c_str()) > 0 && std::atoi(text.c_str()) <= kMaxDevices;
}

// Options end at the program's name: everything behind it is the program's.
std::optional<RunOptions> parse_options(int argc, char** argv) {
  RunOptions options;
  int i = 1;
  for (; i < argc; ++i) {
    const std::string word = argv[i];
    const auto value_of = [&](const char* name) -> std::optional<std::string> {
      const std::string with_equals = std::string(name) + "=";
      if (word.starts_with(with_equals)) return word.substr(with_equals.size());
      if (word == name && i + 1 < argc) return std::string(argv[++i]);
      return std::nullopt;
    };
    if (word == "--") {
      ++i;
      break;
    }
    if (word.empty() || word[0] != '-') break;
    if (word == "--help" || word == "-h") {
      options.help = true;
      return options;
    }
    if (word == "--verbose" || word == "-v") {
      options.verbose = true;
    } else if (word == "--check") {
      options.check_only = true;
    } else if (word == "--explain") {
      options.explain = "1";
    } else if (word.starts_with("--explain=")) {
      options.explain = word.substr(std::strlen("--explain="));
    } else if (const auto devices = value_of("--devices")) {
      if (!is_count(*devices)) {
        complain("--devices wants a number from 1 to 64, not '" + *devices + "'", 0);
        return std::nullopt;
      }
      options.devices = *devices;
    } else if (const auto flag = value_of("--cxx")) {
      options.compile_flags.push_back(*flag);
    } else {
      complain("unknown or incomplete option '" + word + "'; 'heddle run --help' lists them", 0);
      return std::nullopt;
    }
  }
  if (i >= argc) {
    complain("which program? 'heddle run --help' says more", 0);
    return std::nullopt;
  }
  options.program = i;
  return options;
}

// Prints what was found; true if the program can be started.
bool report(const std::string& program, const std::vector<Finding>& findings, bool verbose) {
  bool sound = true;
  for (const Finding& finding : findings) {
    if (finding.severity == Severity::kError) sound = false;
    if (finding.severity == Severity::kNote && !verbose) continue;
    const char* kind = finding.severity == Severity::kError     ? "error: "
                       : finding.severity == Severity::kWarning ? "warning: "
                                                                : "note: ";
    std::fprintf(stderr, "heddle run: %s%s: %s\n", kind, program.c_str(), finding.problem.c_str());
    if (!finding.advice.empty()) std::fprintf(stderr, "  %s\n", finding.advice.c_str());
  }
  return sound;
}

unsigned device_capability() {
  const std::string& text = options().compute_capability;
  const double value = std::atof(text.c_str());
  return value >= 1 ? static_cast<unsigned>(std::lround(value * 10)) : 120;
}

std::string cache_folder() {
  std::string root = options().cache_path;
  if (root.empty() && !options().xdg_cache_home.empty()) root = options().xdg_cache_home + "/heddle";
  if (root.empty() && !options().home.empty()) root = options().home + "/.cache/heddle";
  return root.empty() ? "" : root + "/run";
}

// FNV-1a: names a cached program after what it was made from.
std::string hash_of(const std::vector<std::string>& words) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::string& word : words) {
    for (unsigned char c : word + '\0') hash = (hash ^ c) * 0x100000001b3;
  }
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

// Whether nothing that make's rule in `rule` names is newer than `program`.
bool is_up_to_date(const std::string& program, const std::string& rule) {
  std::string text;
  struct stat made, source;
  if (::stat(program.c_str(), &made) != 0 || !read_file(rule, &text)) return false;
  const std::size_t colon = text.find(": ");
  if (colon == text.npos) return false;
  std::string name;
  for (std::size_t i = colon + 1; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ' ';
    if (c == '\\' && i + 1 < text.size()) {
      if (text[i + 1] != '\n') name += text[i + 1];  // an escaped blank
      ++i;
    } else if (c == ' ' || c == '\n') {
      if (!name.empty() && (::stat(name.c_str(), &source) != 0 || source.st_mtime >= made.st_mtime)) return false;
      name.clear();
    } else {
      name += c;
    }
  }
  return true;
}

// The program made from a .cu file: compiled now, or from the cache. Empty with a message on failure.
std::string compile_source(const std::string& source, const RunOptions& run) {
  std::error_code error;
  const std::string absolute = std::filesystem::absolute(source, error).string();
  std::vector<std::string> key = {HEDDLE_VERSION, tree().root, absolute};
  key.insert(key.end(), run.compile_flags.begin(), run.compile_flags.end());
  std::string folder = options().cache_disable == "1" ? "" : cache_folder();
  if (!folder.empty()) {
    folder += "/" + hash_of(key);
    std::filesystem::create_directories(folder, error);
    if (error) folder.clear();
  }
  if (folder.empty()) {
    TemporaryFolder temporary;  // left behind: we become the program, and nobody is there to remove it
    temporary.keep();
    folder = temporary.path();
  }
  const std::string program = folder + "/" + std::filesystem::path(source).stem().string();
  const std::string rule = folder + "/sources.d";
  if (is_up_to_date(program, rule)) return program;
  // Made under other names first: several may compile the same file at once, and a failure leaves nothing.
  const std::string suffix = "." + std::to_string(::getpid());
  std::vector<std::string> command = {tree().bin + "/heddle", "c++",  "-O3", "-MD",           "-MF",
                                      rule + suffix,          source, "-o",  program + suffix};
  command.insert(command.end(), run.compile_flags.begin(), run.compile_flags.end());
  if (run.verbose) std::fprintf(stderr, "heddle run: %s\n", shell_line(command).c_str());
  if (run_command(command) != 0) {
    complain("'" + source + "' could not be compiled", 0);
    return "";
  }
  std::filesystem::rename(rule + suffix, rule, error);
  std::filesystem::rename(program + suffix, program, error);
  if (error) {
    complain("can't write " + program + ": " + error.message(), 0);
    return "";
  }
  return program;
}

void set_variable(const char* name, const std::string& value, bool verbose) {
  ::setenv(name, value.c_str(), 1);
  if (verbose) std::fprintf(stderr, "heddle run: %s=%s\n", name, value.c_str());
}

}  // namespace

int run_main(int argc, char** argv) {
  const std::optional<RunOptions> run = parse_options(argc, argv);
  if (!run) return kUsage;
  if (run->help) {
    show_help();
    return 0;
  }
  const std::string given = argv[run->program];
  std::string program = find_in_path(given);
  if (program.empty() && file_exists(given)) program = "./" + given;  // a file here, named without "./"
  if (program.empty()) return complain("there is no program '" + given + "'", kNoProgram);
  if (!file_exists(tree().lib + "/libcuda.so.1")) {
    return complain("our own libraries are missing from " + tree().lib + ": is this a complete tree?", kCannotRun);
  }
  if (program.ends_with(".cu")) {
    program = compile_source(program, *run);
    if (program.empty()) return kCannotRun;
  }

  const std::string& before = options().ld_library_path;
  const std::string library_path = tree().lib + (before.empty() ? "" : ":" + before);
  std::vector<Finding> findings = check_program(program, device_capability());
  const bool sound = report(given, findings, run->verbose);
  if (!sound || !report(given, check_libraries(program, library_path, tree().lib), run->verbose)) return kCannotRun;
  if (run->check_only) {
    std::printf("%s can run here\n", given.c_str());
    return 0;
  }

  set_variable("LD_LIBRARY_PATH", library_path, run->verbose);
  if (!run->devices.empty()) set_variable("HEDDLE_DEVICES", run->devices, run->verbose);
  if (!run->explain.empty()) set_variable("HEDDLE_EXPLAIN", run->explain, run->verbose);
  if (run->verbose && options().log != "debug") set_variable("HEDDLE_LOG", "info", true);
  ::execv(program.c_str(), argv + run->program);
  return complain("can't start " + given + ": " + std::strerror(errno), kCannotRun);
}

}  // namespace heddle::tools
