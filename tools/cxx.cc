// `heddle c++`, also known as nvcc: compiles and links CUDA sources with clang, our headers and nvcc's options.
//
// A source becomes an object in one call of clang, which compiles it for the device and for the host; our ptxas and
// fatbinary (device_tools.cc) let the PTX pass into the object. Ordinary objects are then linked by the host's
// compiler as usual. Relocatable device code (-rdc=true, -dc) is kept as LLVM bitcode in the objects and becomes one
// PTX text at the link, so calls between units are inlined and nobody has to link PTX.
// Nothing of an installed NVIDIA toolkit is used: every path is our own tree's, and the environment is cleaned.
// Tested by cxx_test.cc (the command lines) and examples/ (the programs).
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/options.h"
#include "commands.h"
#include "cxx_options.h"
#include "cxx_source.h"
#include "fatbin/pack.h"
#include "subprocess.h"

namespace heddle::tools {
namespace {

using Words = std::vector<std::string>;

constexpr const char* kCudaMajor = "13";
constexpr const char* kCudaMinor = "0";
constexpr const char* kCudaBuild = "88";

void append(Words& list, const Words& more) { list.insert(list.end(), more.begin(), more.end()); }

int fail(const std::string& message) {
  std::fprintf(stderr, "heddle c++: error: %s\n", message.c_str());
  return 1;
}

void show_version() {
  // Build systems look for the words "release" and "V13.0.88" to learn which CUDA this is.
  std::printf(
      "heddle c++ %s: an independent CUDA compiler driver on clang, not made by NVIDIA\n"
      "Accepts the command line of Cuda compilation tools, release %s.%s, V%s.%s.%s\n",
      HEDDLE_VERSION, kCudaMajor, kCudaMinor, kCudaMajor, kCudaMinor, kCudaBuild);
}

void show_help() {
  std::printf(
      "Usage: heddle c++ [options] files...\n"
      "Compiles and links CUDA sources (.cu), C and C++ sources, objects and libraries. The options are nvcc's:\n\n"
      "  -o FILE              the file to write\n"
      "  -c, -dc, -dlink      compile only; with relocatable device code; link the device code only\n"
      "  -ptx, -fatbin, -E    stop at PTX, at a packed PTX, after the preprocessor\n"
      "  -M, -MM, -MD, -MMD, -MF, -MT, -MP   dependencies for make\n"
      "  -I, -isystem, -include, -D, -U, -std=, -O0..-O3, -g, -G, -lineinfo, -w, -x cu\n"
      "  -arch=, -gencode=    the lowest compute capability to assume; PTX of it (at most 9.0) is packed\n"
      "  -use_fast_math, -ftz=, -prec-div=, -prec-sqrt=, -fmad=, -maxrregcount=\n"
      "  -rdc=true            calls and variables across source files\n"
      "  -default-stream per-thread, -extended-lambda, -expt-relaxed-constexpr\n"
      "  -L, -l, -shared, -cudart static|shared|none\n"
      "  -Xcompiler, -Xlinker, -ccbin   options for, and choice of, the host's compiler and linker\n"
      "  -v, --dryrun, --keep, --version\n\n"
      "Device code is always optimised, unless -G is given.\n");
}

// The build of one call: what to run, in order.
class Build {
 public:
  explicit Build(CxxOptions options) : options_(std::move(options)) {}
  int run();

 private:
  int execute(const Words& command);
  std::string quoted_library_folder() const;
  int compile(const Input& input, const std::string& output);
  int compile_cuda(const Input& input, const std::string& output, Phase phase);
  int compile_host(const Input& input, const std::string& language, const std::string& output);
  int pack_ptx(const std::string& ptx, const std::string& output);
  int link(const Words& objects);
  int device_link(const Words& objects);
  int archive(const Words& objects);
  Words cuda_flags() const;
  Words overlay_flags(const Input& input);
  void choose_openmp();
  Words runtime_libraries() const;
  bool whole_program() const;
  std::string output_for(const Input& input, const char* suffix) const;
  std::string temporary(const Input& input, const char* suffix);

  CxxOptions options_;
  std::string clang_, host_compiler_;
  bool serial_openmp_ = false;
  TemporaryFolder folder_;
  int temporaries_ = 0;
};

// "clang++-19" if it is there; HEDDLE_CLANG names another one.
std::string find_clang() {
  if (!options().clang.empty()) return find_in_path(options().clang);
  for (const char* name : {"clang++-19", "/usr/lib/llvm-19/bin/clang++"}) {
    std::string path = find_in_path(name);
    if (!path.empty()) return path;
  }
  return "";
}

// Folders of another CUDA toolkit are kept away from clang, which would take tools, libraries and headers from them.
std::string without_other_toolkits(const std::string& paths, std::initializer_list<const char*> signs) {
  std::string kept;
  for (size_t at = 0; at <= paths.size();) {
    size_t end = std::min(paths.find(':', at), paths.size());
    std::string folder = paths.substr(at, end - at);
    at = end + 1;
    bool other = false;
    for (const char* sign : signs) other = other || file_exists(folder + "/" + sign);
    if (!folder.empty() && !other) kept += (kept.empty() ? "" : ":") + folder;
  }
  return kept;
}

void clean_environment() {
  std::string path = without_other_toolkits(options().path, {"ptxas", "nvlink", "fatbinary"});
  setenv("PATH", (tree().bin + ":" + (path.empty() ? "/usr/bin:/bin" : path)).c_str(), 1);
  struct Variable {
    const char* name;
    const std::string& value;
    std::initializer_list<const char*> signs;
  };
  for (const Variable& variable : {Variable{"LIBRARY_PATH", options().library_path, {"libcudart.so", "libcuda.so"}},
                                   Variable{"CPATH", options().cpath, {"cuda_runtime.h"}},
                                   Variable{"C_INCLUDE_PATH", options().c_include_path, {"cuda_runtime.h"}},
                                   Variable{"CPLUS_INCLUDE_PATH", options().cplus_include_path, {"cuda_runtime.h"}}}) {
    if (variable.value.empty()) continue;
    setenv(variable.name, without_other_toolkits(variable.value, variable.signs).c_str(), 1);
  }
  for (const char* name : {"CUDA_PATH", "CUDA_HOME", "CUDA_ROOT"}) unsetenv(name);
}

// CMake reads these lines to learn what an nvcc links by itself: the architecture, the library folder in quotes, and
// then a line with that same text, the link.
std::string Build::quoted_library_folder() const { return "\"-L" + tree().lib + "\""; }

int Build::execute(const Words& command) {
  if (options_.verbose || options_.dry_run) {
    std::string line = shell_line(command), folder = shell_line({"-L" + tree().lib});
    size_t at = line.find(folder);
    if (at != std::string::npos) line.replace(at, folder.size(), quoted_library_folder());
    std::fprintf(stderr, "#$ %s\n", line.c_str());
  }
  return options_.dry_run ? 0 : run_command(command);
}

// A program of one CUDA source and nothing else that could hold device code needs no device link.
bool Build::whole_program() const {
  if (options_.phase != Phase::kLink) return false;
  int sources = 0;
  for (const Input& input : options_.inputs) {
    std::string language = language_of(input);
    if (language == "cu") sources++;
    if (language == "link" && input.is_file) return false;
  }
  return sources == 1;
}

Words Build::cuda_flags() const {
  // -isystem although clang adds the folder itself: it does so behind /usr/local/include, where another toolkit's
  // headers may lie.
  Words flags = {"--cuda-path=" + tree().root, "-isystem", tree().include,
                 "--cuda-gpu-arch=" + choose_target(options_.architectures),
                 // Our cuda.h says 13.0, which clang 19 doesn't list; gcc's warning names are not all clang's.
                 "-Wno-unknown-cuda-version", "-Wno-unknown-warning-option", "-Qunused-arguments", "-D__NVCC__",
                 std::string("-D__CUDACC_VER_MAJOR__=") + kCudaMajor,
                 std::string("-D__CUDACC_VER_MINOR__=") + kCudaMinor,
                 std::string("-D__CUDACC_VER_BUILD__=") + kCudaBuild};
  if (options_.device_debug) {
    append(flags, {"-g", "--cuda-noopt-device-debug"});
  } else {
    append(flags, {"-Xarch_device", "-O3"});  // nvcc's default; clang's would be -O0
  }
  if (options_.host_debug && !options_.device_debug) append(flags, {"-Xarch_host", "-g"});
  if (options_.line_info && !options_.device_debug) append(flags, {"-Xarch_device", "-gline-tables-only"});
  if (options_.fast_math) flags.push_back("-fgpu-approx-transcendentals");
  if (options_.flush_denormals) flags.push_back("-fgpu-flush-denormals-to-zero");
  if (options_.approximate_division) append(flags, {"-mllvm", "-nvptx-prec-divf32=0"});
  if (options_.approximate_root) append(flags, {"-mllvm", "-nvptx-prec-sqrtf32=0"});
  if (!options_.contract) append(flags, {"-Xarch_device", "-ffp-contract=off"});
  if (options_.max_registers > 0)
    append(flags, {"-Xcuda-ptxas", "-maxrregcount=" + std::to_string(options_.max_registers)});
  if (options_.per_thread_stream)
    append(flags, {"-Xclang", "-fgpu-default-stream=per-thread", "-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1"});
  if (options_.extended_lambda) flags.push_back("-D__CUDACC_EXTENDED_LAMBDA__");
  if (options_.relaxed_constexpr) flags.push_back("-D__CUDACC_RELAXED_CONSTEXPR__");
  if (options_.relocatable && !whole_program())
    append(flags, {"--offload-new-driver", "-fgpu-rdc", "-foffload-lto", "-D__CUDACC_RDC__"});
  if (!options_.standard.empty()) flags.push_back("-std=" + options_.standard);
  for (const std::string& flag : options_.compiler)
    if (!serial_openmp_ || flag != "-fopenmp") flags.push_back(flag);
  append(flags, options_.preprocessor);
  if (serial_openmp_) append(flags, {"-idirafter", tree().include + "/heddle/serial_openmp"});
  return flags;
}

// clang reads the files that need it in a rewritten form, under their own names.
Words Build::overlay_flags(const Input& input) {
  Words folders;
  const Words& flags = options_.preprocessor;
  for (const std::string& flag : flags)
    if (flag.rfind("-I", 0) == 0) folders.push_back(flag.substr(2));
  std::vector<RewrittenFile> files = find_rewrites(input.word, folders);
  if (files.empty()) return {};
  Words copies;
  for (const RewrittenFile& file : files) {
    copies.push_back(temporary(input, ".rewritten"));
    write_file(copies.back(), file.text);
  }
  std::string overlay = temporary(input, ".vfs.yaml");
  write_file(overlay, make_overlay(files, copies));
  return {"-ivfsoverlay", overlay};
}

// -Xcompiler -fopenmp means the host's compiler, whose library (libgomp) is nearly always there; clang's code needs
// LLVM's, which often isn't. Then the directives of .cu files run serially, which they allow, and everything else,
// .cpp files too, is as the host's compiler has it.
void Build::choose_openmp() {
  std::string library = first_line_of({clang_, "-print-file-name=libomp.so"});
  if (!library.empty() && library[0] == '/') return;
  serial_openmp_ = true;
  std::fprintf(stderr,
               "heddle c++: warning: OpenMP directives in CUDA sources run serially; LLVM's OpenMP library is not "
               "installed (Debian: apt install libomp-19-dev)\n");
}

int Build::compile_cuda(const Input& input, const std::string& output, Phase phase) {
  Words command = {clang_, "-x", "cuda"};
  append(command, cuda_flags());
  append(command, overlay_flags(input));
  switch (phase) {
    case Phase::kPreprocess: append(command, {"-E", "--cuda-host-only"}); break;
    case Phase::kDependencies: append(command, {"--cuda-host-only"}); break;
    case Phase::kPtx: append(command, {"-S", "--cuda-device-only"}); break;
    default:
      command.push_back("-c");
      if (options_.shared_library) command.push_back("-fPIC");
  }
  append(command, options_.dependency);
  // Make's rule must name the object that the user asked for, not a temporary one.
  command.push_back(input.word);
  if (!output.empty()) append(command, {"-o", output});
  return execute(command);
}

int Build::compile_host(const Input& input, const std::string& language, const std::string& output) {
  Words command = {host_compiler_, "-x", language};
  if (options_.phase == Phase::kPreprocess) {
    command.push_back("-E");
  } else if (options_.phase != Phase::kDependencies) {
    command.push_back("-c");
    if (options_.shared_library) command.push_back("-fPIC");
  }
  append(command, {"-isystem", tree().include});
  if (options_.host_debug || options_.device_debug) command.push_back("-g");
  if (options_.per_thread_stream) command.push_back("-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1");
  if (!options_.standard.empty() && language == "c++") command.push_back("-std=" + options_.standard);
  for (const std::string& flag : options_.compiler)
    if (flag != "-Xarch_host") command.push_back(flag);
  append(command, options_.preprocessor);
  append(command, options_.dependency);
  command.push_back(input.word);
  if (!output.empty()) append(command, {"-o", output});
  return execute(command);
}

int Build::pack_ptx(const std::string& ptx, const std::string& output) {
  if (options_.dry_run) return 0;
  std::string text;
  if (!read_file(ptx, &text)) return fail("can't read '" + ptx + "'");
  Result<std::string> packed = fatbin::pack_ptx(text);
  if (!packed) return fail("can't pack '" + ptx + "': " + packed.error().why());
  return write_file(output, packed.value()) ? 0 : fail("can't write '" + output + "'");
}

std::string Build::output_for(const Input& input, const char* suffix) const {
  if (!options_.output.empty()) return options_.output;
  return std::filesystem::path(input.word).stem().string() + suffix;
}

std::string Build::temporary(const Input& input, const char* suffix) {
  return folder_.path() + "/" + std::to_string(temporaries_++) + "-" +
         std::filesystem::path(input.word).stem().string() + suffix;
}

// One source through the phase that was asked for.
int Build::compile(const Input& input, const std::string& object) {
  std::string language = language_of(input);
  if (language != "cu") {
    if (language == "ptx" && options_.phase == Phase::kFatbin) return pack_ptx(input.word, object);
    if (language != "c" && language != "c++")
      return fail("'" + input.word + "': don't know what to do with a file of language '" + language +
                  "'; known are cu, c, c++ and, with -fatbin, ptx");
    if (options_.phase == Phase::kPtx || options_.phase == Phase::kCubin || options_.phase == Phase::kFatbin)
      return fail("'" + input.word + "' has no device code; call the file .cu, or give -x cu");
    return compile_host(input, language, object);
  }
  if (options_.phase == Phase::kFatbin) {
    std::string ptx = temporary(input, ".ptx");
    int status = compile_cuda(input, ptx, Phase::kPtx);
    return status ? status : pack_ptx(ptx, object);
  }
  if (options_.phase == Phase::kCubin) {
    std::fprintf(stderr,
                 "heddle c++: warning: no machine code of a GPU is made here; '%s' holds PTX text, which every "
                 "loading function takes as well\n",
                 object.c_str());
    return compile_cuda(input, object, Phase::kPtx);
  }
  return compile_cuda(input, object, options_.phase);
}

// Relocatable device code is a section of this name; archives hold their members' names as they are.
bool has_relocatable_device_code(const std::string& path) {
  std::string content;
  return path.rfind('.') != std::string::npos && read_file(path, &content) &&
         content.find(".llvm.offloading") != std::string::npos;
}

Words Build::runtime_libraries() const {
  switch (options_.cudart) {
    case CudaRuntime::kStatic: return {"-lcudadevrt", "-lcudart_static", "-lrt", "-lpthread", "-ldl"};
    case CudaRuntime::kShared: return {"-lcudadevrt", "-lcudart"};
    case CudaRuntime::kNone: break;
  }
  return {};
}

int Build::link(const Words& objects) {
  bool relocatable = false;
  for (const std::string& object : objects)
    relocatable = relocatable || (object[0] != '-' && has_relocatable_device_code(object));
  Words command;
  if (relocatable) {
    command = {
        clang_, "--offload-link", "-foffload-lto", "-O3", "--cuda-path=" + tree().root, "-Wno-unknown-cuda-version"};
  } else {
    // clang's OpenMP code needs LLVM's OpenMP library, which only clang's driver links.
    command = {options_.openmp && !serial_openmp_ ? clang_ : host_compiler_};
  }
  if (options_.shared_library) command.push_back("-shared");
  if (options_.openmp) command.push_back(serial_openmp_ && relocatable ? "-lgomp" : "-fopenmp");
  append(command, {"-o", options_.output.empty() ? "a.out" : options_.output});
  command.push_back("-L" + tree().lib);  // first, so that no other toolkit's folder named below outranks it
  for (const std::string& word : options_.linker)
    if (word.rfind("-L", 0) == 0) command.push_back(word);
  append(command, objects);
  for (const std::string& word : options_.linker)
    if (word.rfind("-L", 0) != 0) command.push_back(word);
  append(command, runtime_libraries());
  if (options_.verbose || options_.dry_run) {
    std::fprintf(stderr, "#$ PATH=%s\n#$ LIBRARIES=  %s\n#$ INCLUDES=\"-I%s\"  \n#$ # -arch compute_%s\n",
                 tree().bin.c_str(), quoted_library_folder().c_str(), tree().include.c_str(),
                 choose_target(options_.architectures).substr(3).c_str());
  }
  return execute(command);
}

int Build::device_link(const Words& objects) {
  Words command = {"clang-linker-wrapper-19",
                   "--host-triple=x86_64-pc-linux-gnu",
                   "--cuda-path=" + tree().root,
                   "--linker-path=" + tree().bin + "/heddle-device-linker",
                   "--",
                   "-o",
                   options_.output.empty() ? "a_dlink.o" : options_.output};
  for (const std::string& object : objects) {
    if (object[0] != '-') command.push_back(object);
    if (object.rfind("-l", 0) != 0) continue;
    // Of the libraries only the archives that are given by -L can hold device code; the system's can't.
    for (const std::string& word : options_.linker) {
      std::string archive = word.substr(2) + "/lib" + object.substr(2) + ".a";
      if (word.rfind("-L", 0) != 0 || !file_exists(archive)) continue;
      command.push_back(archive);
      break;
    }
  }
  return execute(command);
}

int Build::archive(const Words& objects) {
  Words command = {"ar", "rcs", options_.output.empty() ? "a.a" : options_.output};
  append(command, objects);
  return execute(command);
}

// -I/usr/local/cuda/include is in many makefiles; its headers would be taken instead of ours.
void drop_other_toolkits(CxxOptions& options) {
  Words kept;
  for (size_t i = 0; i < options.preprocessor.size(); i++) {
    const std::string& word = options.preprocessor[i];
    std::string folder = word.rfind("-isystem", 0) == 0 ? word.substr(8)
                         : word.rfind("-I", 0) == 0     ? word.substr(2)
                                                        : "";
    std::error_code ignored;
    if (!folder.empty() && file_exists(folder + "/cuda_runtime_api.h") &&
        !std::filesystem::equivalent(folder, tree().include, ignored)) {
      std::fprintf(stderr, "heddle c++: warning: left out '%s', which holds another CUDA toolkit's headers\n",
                   word.c_str());
      continue;
    }
    kept.push_back(word);
  }
  options.preprocessor = kept;
}

int Build::run() {
  if (!options_.error.empty()) return fail(options_.error);
  drop_other_toolkits(options_);
  if (!options_.ignored.empty())
    std::fprintf(stderr, "heddle c++: warning: ignored, no meaning here: %s\n", shell_line(options_.ignored).c_str());
  int files = 0;
  for (const Input& input : options_.inputs) {
    if (!input.is_file) continue;
    files++;
    if (!options_.dry_run && !file_exists(input.word)) return fail("no such file: '" + input.word + "'");
  }
  if (!files) return fail("no input files");
  clang_ = find_clang();
  if (clang_.empty())
    return fail(
        "clang 19 is not installed or not in PATH (Debian: apt install clang-19 clang-tools-19 lld-19); "
        "HEDDLE_CLANG names another place");
  host_compiler_ = options_.host_compiler.empty() ? "g++" : options_.host_compiler;
  if (std::filesystem::is_directory(host_compiler_)) host_compiler_ += "/g++";
  if (folder_.path().empty()) return fail("can't make a temporary folder; is there space in $TMPDIR?");
  if (options_.keep) folder_.keep();
  clean_environment();
  if (options_.openmp) choose_openmp();

  bool stops_early =
      options_.phase != Phase::kLink && options_.phase != Phase::kDeviceLink && options_.phase != Phase::kArchive;
  const char* suffix = options_.phase == Phase::kPtx      ? ".ptx"
                       : options_.phase == Phase::kCubin  ? ".cubin"
                       : options_.phase == Phase::kFatbin ? ".fatbin"
                                                          : ".o";
  bool prints = options_.phase == Phase::kPreprocess || options_.phase == Phase::kDependencies;
  if (stops_early && files > 1 && !options_.output.empty())
    return fail("-o names one file, but there are " + std::to_string(files) + " sources to compile");

  Words objects;
  for (const Input& input : options_.inputs) {
    std::string language = language_of(input);
    if (language == "link") {
      objects.push_back(input.word);
      continue;
    }
    std::string object = prints ? options_.output : stops_early ? output_for(input, suffix) : temporary(input, ".o");
    if (int status = compile(input, object)) return status;
    objects.push_back(object);
  }
  if (stops_early) return 0;
  int status = options_.phase == Phase::kDeviceLink ? device_link(objects)
               : options_.phase == Phase::kArchive  ? archive(objects)
                                                    : link(objects);
  if (status || !options_.run_after || options_.phase != Phase::kLink) return status;
  return execute({tree().bin + "/heddle", "run", options_.output.empty() ? "./a.out" : options_.output});
}

}  // namespace

int cxx_main(int argc, char** argv) {
  Words words;
  auto add_variable = [&](const std::string& text) {
    for (size_t at = 0; (at = text.find_first_not_of(" \t", at)) != std::string::npos;) {
      size_t end = std::min(text.find_first_of(" \t", at), text.size());
      words.push_back(text.substr(at, end - at));
      at = end;
    }
  };
  add_variable(options().nvcc_prepend_flags);
  words.insert(words.end(), argv + 1, argv + argc);
  add_variable(options().nvcc_append_flags);
  CxxOptions parsed = parse_cxx_options(words);
  if (parsed.show_version) {
    show_version();
    return 0;
  }
  if (parsed.show_help || words.empty()) {
    show_help();
    return words.empty() ? 1 : 0;
  }
  return Build(std::move(parsed)).run();
}

}  // namespace heddle::tools
