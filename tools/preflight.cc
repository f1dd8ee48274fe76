#include "preflight.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <string_view>

#include "fatbin/elf.h"
#include "fatbin/fatbin.h"
#include "subprocess.h"

namespace heddle::tools {
namespace {

using fatbin::Bytes;
using fatbin::ElfFile;
using Findings = std::vector<Finding>;

// A string that every copy of our runtime holds: the name of a variable that it reads.
constexpr std::string_view kOurMark = "HEDDLE_LOG_FILE";
// Words of error 35's public text, which every copy of NVIDIA's runtime holds; ours may hold it too.
constexpr std::string_view kRuntimeText = "CUDA driver version is insufficient for CUDA runtime version";
constexpr std::string_view kStaticPrefix = "libcudart_static_";

// NVIDIA's libraries that carry a runtime of their own, which authenticates the driver and stops at error 103.
constexpr std::string_view kRuntimeInside[] = {"libcublas",   "libcublasLt", "libcurand", "libcusparse",
                                               "libcusolver", "libcudnn",    "libnccl",   "libcufft"};

bool contains(Bytes bytes, std::string_view text) {
  const std::string_view view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return view.find(text) != view.npos;
}

bool is_hex_name(std::string_view name) {
  if (!name.starts_with(kStaticPrefix)) return false;
  name.remove_prefix(kStaticPrefix.size());
  return name.size() >= 40 && name.find_first_not_of("0123456789abcdef") == name.npos;
}

bool needs(const ElfFile& elf, std::string_view prefix) {
  return std::any_of(elf.needed.begin(), elf.needed.end(), [&](std::string_view n) { return n.starts_with(prefix); });
}

void check_static_runtime(const ElfFile& elf, Bytes file, Findings& findings) {
  const bool named = std::any_of(elf.symbols.begin(), elf.symbols.end(), is_hex_name);
  // Without symbols: the runtime's text, but neither the shared runtime nor ours.
  const bool stripped = !needs(elf, "libcudart.so") && contains(file, kRuntimeText) && !contains(file, kOurMark);
  if (!named && !stripped) return;
  findings.push_back({Severity::kError,
                      "it has NVIDIA's static CUDA runtime inside, which runs on NVIDIA's driver only (error 103)",
                      "Build it with 'heddle c++', with 'nvcc -cudart shared', or with 'nvcc -L" + tree().lib +
                          "' so that our libcudart_static.a is linked. Without touching a makefile: "
                          "NVCC_APPEND_FLAGS=\"-cudart shared\" in the environment of the build."});
}

struct DeviceCode {
  bool kernels_without_ptx = false;  // machine code with functions, and no PTX beside it
  bool fitting_ptx = false;
  bool newer_ptx = false;
  unsigned newest = 0;
};

// An image that nvcc adds for the device link is machine code without a function in it: no kernel is lost with that.
bool has_functions(const fatbin::Entry& entry) {
  const auto image = fatbin::extract(entry);
  if (!image) return true;
  const auto elf = fatbin::parse_elf(std::as_bytes(std::span(*image)));
  if (!elf) return true;
  return std::any_of(elf->sections.begin(), elf->sections.end(),
                     [](const auto& section) { return section.name.starts_with(".text."); });
}

void look_at_unit(const fatbin::Unit& unit, unsigned capability, DeviceCode& code) {
  bool functions = false, ptx = false;
  for (const fatbin::Entry& entry : unit) {
    if (entry.kind == fatbin::Kind::kPtx) {
      ptx = true;
      code.newest = std::max(code.newest, entry.arch);
    }
    if (entry.kind == fatbin::Kind::kElf) functions = functions || has_functions(entry);
  }
  if (fatbin::find_ptx(unit, capability)) {
    code.fitting_ptx = true;
  } else if (ptx) {
    code.newer_ptx = true;
  } else if (functions) {
    code.kernels_without_ptx = true;
  }
}

void check_device_code(const ElfFile& elf, unsigned capability, Findings& findings) {
  DeviceCode code;
  const fatbin::ElfSection* separate = elf.find_section("__nv_relfatbin");
  for (const char* name : {".nv_fatbin", "__nv_relfatbin"}) {
    const fatbin::ElfSection* section = elf.find_section(name);
    if (!section || section->contents.empty()) continue;
    const auto units = fatbin::parse_containers(section->contents);
    if (!units) {
      findings.push_back({Severity::kError,
                          std::string("its device code (section ") + name + ") is damaged: " + units.error().why(),
                          "Build it again."});
      return;
    }
    DeviceCode here;
    for (const fatbin::Unit& unit : *units) look_at_unit(unit, capability, here);
    // With relocatable device code, .nv_fatbin is the linked machine code and the PTX of the units is elsewhere.
    if (separate && name[0] == '.') here.kernels_without_ptx = false;
    code.kernels_without_ptx |= here.kernels_without_ptx;
    code.fitting_ptx |= here.fitting_ptx;
    code.newer_ptx |= here.newer_ptx;
    code.newest = std::max(code.newest, here.newest);
  }
  if (code.kernels_without_ptx) {
    findings.push_back({code.fitting_ptx ? Severity::kWarning : Severity::kError,
                        code.fitting_ptx ? "some of its device code is machine code for a GPU, without PTX"
                                         : "its device code is machine code for a GPU, without PTX",
                        "Build it with PTX: 'nvcc -arch=sm_90' (which keeps PTX beside the machine code) or "
                        "'-gencode arch=compute_90,code=compute_90'."});
  }
  if (code.newer_ptx && !code.fitting_ptx) {
    const std::string newest = std::to_string(code.newest / 10) + "." + std::to_string(code.newest % 10);
    findings.push_back({Severity::kError,
                        "its PTX is for compute capability " + newest + ", and the virtual GPU has " +
                            std::to_string(capability / 10) + "." + std::to_string(capability % 10),
                        "Set HEDDLE_COMPUTE_CAPABILITY=" + newest + ", or build for an older one."});
  }
}

// $ORIGIN is the program's folder.
std::string expand_origin(std::string folder, const std::string& program) {
  const std::string origin = std::filesystem::path(program).parent_path().string();
  for (const char* name : {"${ORIGIN}", "$ORIGIN"}) {
    for (std::size_t at; (at = folder.find(name)) != folder.npos;) {
      folder.replace(at, std::strlen(name), origin.empty() ? "." : origin);
    }
  }
  return folder;
}

// DT_RPATH comes before LD_LIBRARY_PATH, also for what libraries open later; DT_RUNPATH comes after it, and is
// harmless.
void check_rpath(const ElfFile& elf, const std::string& path, Findings& findings) {
  if (elf.rpath.empty() || !elf.runpath.empty()) return;
  std::istringstream folders{std::string(elf.rpath)};
  for (std::string folder; std::getline(folders, folder, ':');) {
    folder = expand_origin(folder, path);
    std::error_code ignored;
    if (std::filesystem::equivalent(folder, tree().lib, ignored)) return;
    for (const char* library : {"libcudart.so.13", "libcuda.so.1"}) {
      if (!file_exists(folder + "/" + library)) continue;
      findings.push_back({Severity::kError, "its RPATH makes it take " + folder + "/" + library + " before ours",
                          "Remove it ('patchelf --remove-rpath' or 'chrpath -d'), or link with "
                          "-Wl,--enable-new-dtags, which makes it a RUNPATH."});
      return;
    }
  }
}

void check_elf(const std::string& path, Bytes file, unsigned capability, Findings& findings) {
  const auto elf = fatbin::parse_elf(file);
  if (!elf) {
    findings.push_back({Severity::kError, std::string("it can't be read as a program: ") + elf.error().why(),
                        "Heddle runs 64-bit x86-64 programs."});
    return;
  }
  if (elf->machine == fatbin::kMachineCuda) {
    findings.push_back({Severity::kError, "it is a cubin: machine code for a GPU, not a program", ""});
    return;
  }
  if (elf->machine != fatbin::kMachineX86_64) {
    findings.push_back({Severity::kError,
                        "it is for another processor (ELF machine " + std::to_string(elf->machine) + ")",
                        "Build it for x86-64."});
    return;
  }
  if (elf->type == ET_REL) {
    findings.push_back({Severity::kError, "it is an object file, not a program", "Link it: heddle c++ " + path});
    return;
  }
  if (elf->interpreter.empty()) {
    findings.push_back(
        {Severity::kError,
         elf->is_dynamic ? "it is a shared library, or a program linked with -static" : "it is linked with -static",
         "Our libraries come in through the dynamic loader: link it without -static."});
    return;
  }
  check_static_runtime(*elf, file, findings);
  check_device_code(*elf, capability, findings);
  check_rpath(*elf, path, findings);
}

// A file's bytes without copying them: programs with device code for many GPUs are hundreds of megabytes.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (fd < 0) return;
    if (::fstat(fd, &status) == 0) {
      size_ = static_cast<std::size_t>(status.st_size);
      readable_ = true;
      if (size_) address_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd, 0);
      if (address_ == MAP_FAILED) address_ = nullptr, readable_ = false;
    }
    ::close(fd);
  }
  ~MappedFile() {
    if (address_) ::munmap(address_, size_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  bool readable() const { return readable_; }
  Bytes bytes() const { return {static_cast<const std::byte*>(address_), address_ ? size_ : 0}; }
  std::string_view text() const { return {static_cast<const char*>(address_), address_ ? size_ : 0}; }

 private:
  void* address_ = nullptr;
  std::size_t size_ = 0;
  bool readable_ = false;
};

// What a command prints on stdout.
std::string capture(const std::string& line) {
  std::string output;
  std::FILE* pipe = ::popen(line.c_str(), "re");
  if (!pipe) return output;
  char buffer[4096];
  for (std::size_t n; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) output.append(buffer, n);
  ::pclose(pipe);
  return output;
}

Finding explain_missing(const std::string& library) {
  if (library.starts_with("libcudart.so.")) {
    return {Severity::kError, "it needs " + library + "; this Heddle has libcudart.so.13",
            "Build it with CUDA 13's headers, or with 'heddle c++'."};
  }
  for (std::string_view name : kRuntimeInside) {
    if (library.starts_with(std::string(name) + ".so")) {
      return {Severity::kError, "it needs NVIDIA's " + library + ", which is not part of Heddle",
              "Programs that use it need a GPU."};
    }
  }
  return {Severity::kError, "it needs " + library + ", which is not found",
          "Install the package that has it, or name its folder in LD_LIBRARY_PATH."};
}

}  // namespace

std::vector<Finding> check_program(const std::string& path, unsigned capability) {
  Findings findings;
  struct stat status;
  if (::stat(path.c_str(), &status) != 0) {
    return {{Severity::kError, std::string("it can't be opened: ") + std::strerror(errno), ""}};
  }
  if (S_ISDIR(status.st_mode)) return {{Severity::kError, "it is a folder", ""}};
  if (!S_ISREG(status.st_mode)) return {{Severity::kError, "it is not an ordinary file", ""}};
  const MappedFile file(path);
  if (!file.readable()) {
    // The system may start what it doesn't let us read; it says so itself if not.
    return {{Severity::kNote, "it can't be read, so nothing was checked", ""}};
  }
  if (file.bytes().empty()) return {{Severity::kError, "it is an empty file", ""}};
  const bool is_elf = file.text().starts_with(ELFMAG);
  if (is_elf) check_elf(path, file.bytes(), capability, findings);
  if (!is_elf && file.text().starts_with("#!")) {
    findings.push_back({Severity::kNote, "it is a script: what it starts is not checked", ""});
  } else if (!is_elf) {
    findings.push_back({Severity::kError, "it is neither a program nor a script",
                        "CUDA sources must end in .cu; other sources are built with 'heddle c++' first."});
  }
  const bool broken =
      std::any_of(findings.begin(), findings.end(), [](const Finding& f) { return f.severity == Severity::kError; });
  if (!broken && ::access(path.c_str(), X_OK) != 0) {
    findings.push_back({Severity::kError, "it is not executable", "chmod +x " + path});
  }
  if (is_elf && (status.st_mode & (S_ISUID | S_ISGID)) &&
      (status.st_mode & S_ISUID ? status.st_uid : 0) != ::geteuid()) {
    findings.push_back({Severity::kWarning, "it is set-user-ID, so the loader ignores our library path", ""});
  }
  return findings;
}

std::vector<Finding> check_libraries(const std::string& path, const std::string& library_path,
                                     const std::string& our_lib) {
  const MappedFile file(path);
  const auto elf = fatbin::parse_elf(file.bytes());
  if (!elf || elf->interpreter.empty()) return {};
  Findings findings;
  // The loader's own answer covers RPATH, RUNPATH, its cache and the libraries' libraries; it runs none of their code.
  const std::string list =
      capture("LD_TRACE_LOADED_OBJECTS=1 LD_PRELOAD= LD_AUDIT= LD_LIBRARY_PATH=" + shell_line({library_path}) + " " +
              shell_line({std::string(elf->interpreter), path}) + " 2>/dev/null");
  std::istringstream lines(list);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name, arrow, place;
    words >> name >> arrow >> place;
    if (arrow != "=>") continue;
    if (place == "not") {
      findings.push_back(explain_missing(name));
      continue;
    }
    const bool is_cuda = name.starts_with("libcudart.so.") || name.starts_with("libcuda.so.");
    std::error_code ignored;
    if (is_cuda && !std::filesystem::equivalent(std::filesystem::path(place).parent_path(), our_lib, ignored)) {
      if (name.starts_with("libcudart.so.") && name != "libcudart.so.13") {
        findings.push_back(explain_missing(name));
      } else {
        findings.push_back({Severity::kError, "it takes " + place + " instead of our " + name,
                            "A library of it has an RPATH that outranks ours ('readelf -d' shows it): remove it with "
                            "'patchelf --remove-rpath'."});
      }
    }
    for (std::string_view inside : kRuntimeInside) {
      if (name.starts_with(std::string(inside) + ".so")) {
        findings.push_back({Severity::kWarning, "it uses NVIDIA's " + name + ", which works on NVIDIA's driver only",
                            "Calls into it will fail with error 103 or 3."});
      }
    }
  }
  return findings;
}

}  // namespace heddle::tools
