// The compiler's pipeline, top to bottom; see compile.h. Tested by compiler/compile_test.cc and tests/ptx.
#include "compiler/compile.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>

#include "base/log.h"
#include "base/mutex.h"
#include "base/options.h"
#include "compiler/codegen/cache.h"
#include "compiler/codegen/jit_api.h"
#include "compiler/codegen/object_loader.h"
#include "compiler/interp/interp.h"
#include "compiler/ir/print.h"
#include "compiler/ir/verify.h"
#include "compiler/module.h"
#include "compiler/ptx/parser.h"
#include "compiler/transform/build_ssa.h"
#include "compiler/transform/inline_calls.h"
#include "compiler/transform/lower_spin_loops.h"
#include "compiler/transform/simplify.h"
#include "compiler/transform/split_barriers.h"

namespace heddle::compiler {
namespace {

void append(std::string* log, const std::string& text) {
  if (log != nullptr) *log += text;
}

// ---- files for people who look into the compiler

/// HEDDLE_DUMP/NAME.EXTENSION; a name that is too long for a file is cut.
void dump(const std::string& name, const char* extension, const std::string& text) {
  std::error_code ignored;
  std::filesystem::create_directories(options().dump, ignored);
  std::string file =
      name.size() > 200 ? name.substr(0, 180) + "-" + std::to_string(std::hash<std::string>()(name)) : name;
  const std::string path = options().dump + "/" + file + extension;
  std::ofstream out(path);
  out << text;
  if (!out) LOG_WARNING("can't write %s", path.c_str());
}

std::string hexadecimal(std::uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

// ---- the JIT library, opened at the first kernel that the cache doesn't have

struct Jit {
  codegen::JitCompile compile = nullptr;
  std::string path;
  std::string error;
};

/// The file that this code is in: libcuda.so.1, or a program that links it statically.
std::filesystem::path this_library() {
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(&this_library), &info) == 0 || info.dli_fname == nullptr) return "";
  std::error_code ignored;
  return std::filesystem::weakly_canonical(info.dli_fname, ignored);
}

/// Where the JIT library is or should be.
const std::string& jit_path() {
  static const std::string* path = [] {
    if (!options().jit_library.empty()) return new std::string(options().jit_library);
    const std::string folder = this_library().parent_path().string();
    std::error_code ignored;
    // Beside this library; or, for programs that link it statically, in the tree's lib.
    for (const char* place : {"/libheddle-jit.so", "/../lib/libheddle-jit.so"})
      if (std::filesystem::exists(folder + place, ignored)) return new std::string(folder + place);
    return new std::string(folder + "/libheddle-jit.so");
  }();
  return *path;
}

const Jit& jit() {
  static const Jit* loaded = [] {
    auto* j = new Jit;
    j->path = jit_path();
    void* library = dlopen(j->path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      const char* why = dlerror();
      j->error = why != nullptr ? why : "it can't be opened";
      return j;
    }
    j->compile = reinterpret_cast<codegen::JitCompile>(dlsym(library, codegen::kJitCompileSymbol));
    if (j->compile == nullptr) j->error = "it has no function " + std::string(codegen::kJitCompileSymbol);
    return j;
  }();
  return *loaded;
}

// ---- kernels as machine code

class CodeKernel final : public CompiledKernel {
 public:
  std::unique_ptr<codegen::LoadedObject> object;
};

Result<std::shared_ptr<const CompiledKernel>> load(codegen::CachedKernel stored, bool from_cache, std::string* log) {
  HEDDLE_ASSIGN(std::unique_ptr<codegen::LoadedObject> object, codegen::load_object(stored.object, log));
  auto kernel = std::make_shared<CodeKernel>();
  kernel->warp = object->warp;
  kernel->range = stored.has_range ? object->range : nullptr;
  kernel->code = object->code;
  kernel->code_bytes = object->code_bytes;
  kernel->object = std::move(object);
  kernel->frame_bytes = stored.frame_bytes;
  kernel->static_shared_bytes = stored.static_shared_bytes;
  kernel->shared_align = stored.shared_align;
  kernel->local_bytes = stored.local_bytes;
  kernel->globals = std::move(stored.globals);
  kernel->files = std::move(stored.files);
  kernel->lines = std::move(stored.lines);
  kernel->explanation = std::move(stored.explanation);
  kernel->from_cache = from_cache;
  return std::shared_ptr<const CompiledKernel>(std::move(kernel));
}

/// What the launch needs besides the object. The interpreter, which has it too, says how memory is laid out.
codegen::CachedKernel describe(const std::shared_ptr<const ir::Program>& program) {
  const auto interpreted = interp::make_interpreted(program);
  codegen::CachedKernel stored;
  stored.static_shared_bytes = interpreted->static_shared_bytes;
  stored.shared_align = interpreted->shared_align;
  stored.local_bytes = interpreted->local_bytes;
  stored.globals = interpreted->globals;
  stored.files = interpreted->files;
  return stored;
}

void take_output(void* user, const codegen::JitOutput& output) {
  auto* stored = static_cast<codegen::CachedKernel*>(user);
  if (output.object != nullptr) stored->object.assign(output.object, output.object + output.object_bytes);
  stored->frame_bytes = output.frame_bytes;
  stored->has_range = output.has_range;
  if (output.lines != nullptr) stored->lines.assign(output.lines, output.lines + output.line_count);
  if (output.explanation != nullptr) stored->explanation = output.explanation;
}

// ---- the pipeline

Status check(const ir::Program& program, const char* pass, bool barriers_split, std::string* log) {
  std::string message;
  const Status status = ir::verify(program, &message, barriers_split);
  if (status.ok()) return status;
  // A bug of ours: it must not become a wrong result.
  append(log, program.kernel.name + ": internal error after " + pass + ": " + message + "\n");
  LOG_ERROR("%s: internal error after %s: %s", program.kernel.name.c_str(), pass, message.c_str());
  return Status(ErrorCode::kUnknown, "internal error of the compiler");
}

Result<std::shared_ptr<const ir::Program>> build_program(const ParsedModule& module, std::string_view kernel,
                                                         std::string* log) {
  HEDDLE_ASSIGN(ir::Program built, transform::build_ssa(module.linked(), kernel, log));
  auto program = std::make_shared<ir::Program>(std::move(built));
  program->module_name = "ptx-" + hexadecimal(module.hash_low());
  HEDDLE_TRY(check(*program, "build_ssa", false, log));
  transform::inline_calls(program.get());
  transform::simplify(program.get());
  transform::lower_spin_loops(program.get());
  transform::split_barriers(program.get());
  HEDDLE_TRY(check(*program, "the transforms", true, log));
  if (!options().dump.empty()) dump(program->kernel.name, ".ir", ir::print_program(*program));
  return std::shared_ptr<const ir::Program>(std::move(program));
}

codegen::CacheKey cache_key(const ParsedModule& module, std::string_view kernel, const Variant& variant) {
  codegen::KeyBuilder key;
  key.add(std::string_view("heddle " HEDDLE_VERSION));
  key.add(module.hash_low());
  key.add(module.hash_high());
  key.add(kernel);
  key.add(variant);
  key.add(codegen::cpu_identity());
  // Both halves of the compiler: what makes the IR is in this library, what makes code of it in the other.
  static const std::string& halves =
      *new std::string(codegen::file_identity(this_library().string()) + "/" + codegen::file_identity(jit_path()));
  key.add(halves);
  return key.finish();
}

void explain(std::string_view kernel, const Variant& variant, const CompiledKernel& compiled) {
  const std::string& wanted = options().explain;
  if (wanted.empty() || (wanted != "1" && wanted != kernel)) return;
  std::fprintf(stderr, "heddle: kernel %.*s, block %ux%ux%u%s:\n%s\n", static_cast<int>(kernel.size()), kernel.data(),
               variant.block[0], variant.block[1], variant.block[2], compiled.from_cache ? ", from the cache" : "",
               compiled.explanation.c_str());
}

Result<std::shared_ptr<const CompiledKernel>> compile_code(const ParsedModule& module, std::string_view kernel,
                                                           const Variant& variant, std::string* log) {
  const codegen::CacheKey key = cache_key(module, kernel, variant);
  if (auto stored = codegen::find_cached_kernel(key)) {
    std::string cache_log;
    if (auto loaded = load(std::move(*stored), true, &cache_log)) return loaded;
    LOG_WARNING("the cached code of kernel %.*s can't be used and is compiled anew: %s",
                static_cast<int>(kernel.size()), kernel.data(), cache_log.c_str());
  }
  HEDDLE_ASSIGN(std::shared_ptr<const ir::Program> program, build_program(module, kernel, log));
  if (jit().compile == nullptr) {
    append(log, "the compiler library " + jit().path + " can't be used: " + jit().error +
                    "\nset HEDDLE_JIT_LIBRARY to its path, or HEDDLE_ENGINE=interpreter to run without it\n");
    return Status(ErrorCode::kJitCompilerNotFound, "libheddle-jit.so can't be opened");
  }
  codegen::CachedKernel compiled = describe(program);
  const int code = jit().compile(*program, variant, &take_output, &compiled);
  if (code != 0) {
    append(log, std::string(kernel) + ": " + compiled.explanation + "\n");
    return Status(static_cast<ErrorCode>(code), "the kernel can't be compiled");
  }
  codegen::store_cached_kernel(key, compiled);
  return load(std::move(compiled), false, log);
}

}  // namespace

Result<std::shared_ptr<const Module>> parse_module(const std::vector<std::string_view>& texts,
                                                   const ParseOptions& parse_options, std::string* log) {
  std::vector<std::unique_ptr<const ptx::Module>> units;
  codegen::KeyBuilder hash;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::string unit = texts.size() == 1 ? "ptx" : "ptx#" + std::to_string(i + 1);
    HEDDLE_ASSIGN(std::unique_ptr<const ptx::Module> parsed, ptx::parse_ptx(texts[i], unit, log));
    if (parsed->target > parse_options.compute_capability) {
      append(log, unit + ": error: the PTX is for sm_" + std::to_string(parsed->target) + ", the device is sm_" +
                      std::to_string(parse_options.compute_capability) +
                      "; compile for an older target or set HEDDLE_COMPUTE_CAPABILITY\n");
      return Status(ErrorCode::kNoBinaryForGpu, "the PTX is for a newer device");
    }
    hash.add(texts[i]);
    units.push_back(std::move(parsed));
  }
  HEDDLE_ASSIGN(std::unique_ptr<const ptx::LinkedModule> linked, ptx::LinkedModule::link(std::move(units), log));
  const codegen::CacheKey key = hash.finish();
  if (!options().dump.empty())
    for (std::string_view text : texts) dump("ptx-" + hexadecimal(key.low), ".ptx", std::string(text));
  return std::shared_ptr<const Module>(std::make_shared<ParsedModule>(std::move(linked), key.low, key.high));
}

Result<std::shared_ptr<const CompiledKernel>> compile_kernel(const Module& module, std::string_view kernel,
                                                             const Variant& wanted, std::string* log) {
  const auto& parsed = static_cast<const ParsedModule&>(module);
  Variant variant = wanted;
  if (options().engine == "interpreter") variant.interpret = true;
  if (variant.width == 0 && !options().width.empty())
    variant.width = static_cast<std::uint32_t>(std::strtoul(options().width.c_str(), nullptr, 10));
  if (!parsed.linked().find_kernel(kernel)) {
    append(log, "the module has no kernel '" + std::string(kernel) + "'\n");
    return Status(ErrorCode::kNotFound, "the module has no kernel of that name");
  }
  if (variant.interpret) {
    HEDDLE_ASSIGN(std::shared_ptr<const ir::Program> program, build_program(parsed, kernel, log));
    return interp::make_interpreted(std::move(program));
  }
  auto compiled = compile_code(parsed, kernel, variant, log);
  if (compiled) explain(kernel, variant, **compiled);
  return compiled;
}

Result<FaultReport> find_fault(const Module& module, std::string_view kernel, const exec::LaunchContext& launch,
                               std::uint64_t linear, AccessCheck check, void* user, std::chrono::nanoseconds limit) {
  const auto& parsed = static_cast<const ParsedModule&>(module);
  if (!parsed.linked().find_kernel(kernel))
    return Status(ErrorCode::kNotFound, "the module has no kernel of that name");
  try {
    // Compiled kernels keep no IR, and a fault is rare: it is built once more.
    std::string log;
    HEDDLE_ASSIGN(std::shared_ptr<const ir::Program> program, build_program(parsed, kernel, &log));
    return interp::find_fault(*program, launch, linear, check, user, limit);
  } catch (const std::bad_alloc&) {
    return Status(ErrorCode::kOutOfMemory, "no memory to run the block again");
  }
}

}  // namespace heddle::compiler
