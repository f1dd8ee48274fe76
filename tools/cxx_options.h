// nvcc's command line, read into what `heddle c++` has to do. Tested by cxx_test.cc.
#pragma once

#include <string>
#include <vector>

namespace heddle::tools {

/// What a call produces. Each source goes through the earlier stages that it needs.
enum class Phase { kLink, kCompile, kPreprocess, kDependencies, kPtx, kCubin, kFatbin, kDeviceLink, kArchive };

enum class CudaRuntime { kStatic, kShared, kNone };

/// An input file, or a word for the linker that has to keep its place among the files (-lfoo, -Wl,...).
struct Input {
  std::string word;
  bool is_file = true;
  std::string language;  ///< from -x: "cu", "c++", "c"; "" means by the file's suffix
};

struct CxxOptions {
  Phase phase = Phase::kLink;
  std::vector<Input> inputs;
  std::string output;

  // For every compilation, in order: -I, -D, -U, -include, -W..., -f...
  std::vector<std::string> preprocessor;
  std::vector<std::string> compiler;    ///< -O2, -std=..., -W..., and what -Xcompiler names
  std::vector<std::string> dependency;  ///< -MD, -MF file, -MT target, ...
  std::vector<std::string> linker;      ///< -L, -Xlinker, -shared

  std::vector<std::string> architectures;  ///< every compute_NN or sm_NN named, in order
  std::string host_compiler;               ///< from -ccbin
  std::string standard;
  CudaRuntime cudart = CudaRuntime::kStatic;
  int max_registers = 0;
  bool relocatable = false;  ///< -rdc=true, -dc
  bool shared_library = false;
  bool host_debug = false, device_debug = false, line_info = false;
  bool fast_math = false, flush_denormals = false, approximate_division = false, approximate_root = false;
  bool contract = true;  ///< -fmad
  bool per_thread_stream = false;
  bool extended_lambda = false, relaxed_constexpr = false;
  bool openmp = false;
  bool verbose = false, dry_run = false, keep = false, run_after = false;
  bool show_version = false, show_help = false;

  std::vector<std::string> ignored;  ///< words that mean nothing here; named in one warning
  std::string error;                 ///< first thing that is wrong with the line, "" if nothing is
};

/// `words` is the line without the program's name. Never fails: mistakes are in `error`.
CxxOptions parse_cxx_options(const std::vector<std::string>& words);

/// The target clang gets for the architectures asked for: the highest, at most what clang 19 knows ("sm_90").
std::string choose_target(const std::vector<std::string>& architectures);

/// "cu", "c", "c++", "ptx" or "link" for a file by its suffix.
std::string language_of(const Input& input);

}  // namespace heddle::tools
