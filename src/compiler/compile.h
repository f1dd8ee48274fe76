// The compiler's only door: PTX text in, callable kernels out. The pipeline is one function in compile.cc.
//
// This side holds no LLVM: parsing, the IR, the interpreter, the cache on disk and the loader of cached objects. A
// cache miss opens libheddle-jit.so (codegen/jit_api.h), whose LLVM is private to it.
// Threads: everything here may be called from any thread. Tested by tests/ptx and compiler/compile_test.cc.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error_code.h"
#include "base/status.h"
#include "exec/kernel_abi.h"

namespace heddle::compiler {

struct Parameter {
  std::string name;
  std::uint32_t offset = 0, size = 0, align = 1;
};

/// What is known of a kernel before it is compiled.
struct KernelInfo {
  std::string name;
  std::vector<Parameter> parameters;
  std::uint32_t param_bytes = 0;
  std::uint32_t max_threads = 1024;               ///< per block: product of .maxntid / .reqntid, or 1024
  std::uint32_t required_threads[3] = {0, 0, 0};  ///< .reqntid
  std::uint32_t static_shared_bytes = 0;
  std::uint32_t local_bytes = 0;  ///< per thread
};

/// An address stored in a variable's initial value.
struct Relocation {
  std::uint64_t offset = 0;  ///< bytes into the variable
  std::uint32_t size = 8;    ///< bytes written: 8, or less with `shift` (mask() in PTX)
  std::uint32_t shift = 0;   ///< bits to shift the address right by before cutting it to `size` bytes
  std::string symbol;
  std::int64_t addend = 0;
  bool generic = false;
};

/// A module variable in global or constant space.
struct Variable {
  std::string name;
  bool is_constant = false;  ///< .const
  bool is_managed = false;
  bool is_external = false;  ///< declared .extern here, defined in another unit
  std::uint64_t size = 0;
  std::uint32_t align = 1;
  std::vector<std::uint8_t> initial;  ///< may be shorter than size: the rest is zero
  std::vector<Relocation> relocations;
};

/// Texture and surface references (.texref and friends) are not supported; texture objects are plain u64 handles.
class Module {
 public:
  virtual ~Module() = default;
  virtual const std::vector<KernelInfo>& kernels() const = 0;
  virtual const std::vector<Variable>& variables() const = 0;
  virtual std::uint32_t ptx_version() const = 0;  ///< 90 for 9.0
  virtual std::uint32_t target() const = 0;       ///< 90 for sm_90
};

struct ParseOptions {
  std::uint32_t compute_capability = 120;  ///< PTX for a higher target is refused
};

/// Parses and checks the texts (one, or several translation units that are linked). On failure `log` has
/// "ptx:LINE:COLUMN: error: ..." with the line and a caret. Errors: kInvalidPtx, kUnsupportedPtxVersion,
/// kNoBinaryForGpu.
Result<std::shared_ptr<const Module>> parse_module(const std::vector<std::string_view>& ptx,
                                                   const ParseOptions& options, std::string* log);

struct Variant {
  std::uint32_t block[3] = {0, 0, 0};  ///< block dimensions compiled in as constants; 0: read them at run time
  std::uint32_t width = 0;             ///< lanes per vector: 1, 8, 16, 32, or 0 to let the plan choose
  bool interpret = false;              ///< run on the reference interpreter
};

/// Where a piece of code comes from, for fault reports.
struct SourceLine {
  std::uint32_t code_offset = 0;  ///< from CompiledKernel::code; the row holds until the next one's offset
  std::uint32_t ptx_line = 0;
  std::uint32_t line = 0;
  std::uint32_t file = 0;
};

struct CompiledKernel {
  virtual ~CompiledKernel() = default;
  exec::WarpFunction warp = nullptr;    ///< always there
  exec::RangeFunction range = nullptr;  ///< only if the kernel never suspends
  void* engine = nullptr;               ///< to put into LaunchContext::engine
  std::uint32_t frame_bytes = 0;        ///< per warp; LaunchContext::frame_bytes
  std::uint32_t static_shared_bytes = 0;
  std::uint32_t shared_align = 16;
  std::uint32_t local_bytes = 0;  ///< per thread, a multiple of 16
  /// Names of the module variables that the code reads, in the order of LaunchContext::globals; "" for others.
  std::vector<std::string> globals;
  std::vector<std::string> files;
  std::vector<SourceLine> lines;       ///< sorted by code_offset
  const std::uint8_t* code = nullptr;  ///< the machine code, to map a program counter back; null when interpreted
  std::uint64_t code_bytes = 0;
  bool from_cache = false;
  std::string explanation;  ///< the plan in words, for --explain
};

/// Compiles (or finds in the cache) one kernel. Errors: kNotFound, kInvalidPtx, kNotSupported, kJitCompilerNotFound;
/// `log` says what and where.
Result<std::shared_ptr<const CompiledKernel>> compile_kernel(const Module& module, std::string_view kernel,
                                                             const Variant& variant, std::string* log);

/// The first illegal access of a CTA.
struct FaultReport {
  ErrorCode code = ErrorCode::kSuccess;  ///< kIllegalAddress, kMisalignedAddress, kHardwareStackError, kInvalidPc,
                                         ///< or what ended the run instead: kAssert, kLaunchFailed (trap)
  std::uint32_t thread = 0;              ///< linear index in the block
  std::uint64_t address = 0;             ///< meaningless outside the run if `in_cta_memory`
  std::uint32_t bytes = 0;
  bool is_write = false;
  bool in_cta_memory = false;  ///< the instruction names shared, local or parameter space
  std::uint32_t ptx_line = 0;  ///< 0: unknown
  std::uint32_t line = 0;      ///< of the CUDA source `file`; 0: unknown
  std::string file;
  std::string function;
  std::string instruction;  ///< of the IR, in words
};

/// Whether a kernel may access [address, address + bytes) of global or constant memory.
using AccessCheck = bool (*)(void* user, std::uint64_t address, std::uint64_t bytes, bool is_write);

/// Runs one CTA of `launch` (position by `linear`, x fastest) again on the interpreter, on shared and local memory of
/// its own and without writing to global memory (reads see the CTA's own writes), until `check` refuses an access.
/// Shared, local and parameter accesses are checked here. What `check` allows is read, so it must be mapped; who can't
/// be sure runs this in a guarded region (nothing that it holds outside its own memory is lost there).
/// Errors: kNotFound when the CTA ends or `limit` is over without one, or there is no such kernel; kOutOfMemory; those
/// of compile_kernel.
Result<FaultReport> find_fault(const Module& module, std::string_view kernel, const exec::LaunchContext& launch,
                               std::uint64_t linear, AccessCheck check, void* user, std::chrono::nanoseconds limit);

}  // namespace heddle::compiler
