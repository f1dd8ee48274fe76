// Modules, kernels, functions and libraries. A module is PTX that was parsed and whose variables lie in device memory;
// its kernels are compiled one at a time, at their first launch, and again for other block shapes (up to a cap).
// Tested by tests/api/driver/module_test.cc.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/compile.h"
#include "driver/context.h"
#include "driver/object.h"
#include "exec/launch.h"

namespace heddle::driver {

class Function;
class Kernel;

/// Where a module's variables lie. Shared with compiled kernels, so it lives as long as any of them may run.
struct ModuleData {
  std::shared_ptr<const compiler::Module> code;
  struct Variable {
    const compiler::Variable* variable;
    std::uintptr_t address;
  };
  std::map<std::string, Variable, std::less<>> variables;
  std::string name;  ///< for the log
};

/// One compiled form of a kernel.
struct CompiledVariant {
  std::uint32_t block[3] = {0, 0, 0};  ///< zeros: any shape
  std::shared_ptr<const compiler::CompiledKernel> code;
  std::vector<void*> globals;
  std::shared_ptr<const ModuleData> data;
  exec::LaunchCost cost;
};

class Module final : public Object {
 public:
  static constexpr Tag kTag = Tag::kModule;
  Module(Context* context, std::shared_ptr<ModuleData> data) : Object(Tag::kModule, context), data_(std::move(data)) {}
  ~Module() override;

  const std::shared_ptr<ModuleData>& data() const { return data_; }
  /// The function of that name, made on first use; empty if there is no such kernel.
  Ref<Function> find_function(std::string_view name);
  /// Frees variables and takes functions out of the registry. The context's work must have ended.
  void unload();
  void set_is_managed_variable(std::uintptr_t address) { managed_.push_back(address); }

 private:
  std::shared_ptr<ModuleData> data_;
  std::vector<std::uintptr_t> managed_;
  Mutex mutex_;
  std::map<std::string, Ref<Function>, std::less<>> functions_ GUARDED_BY(mutex_);
};

class Function final : public Object, public exec::GridObserver {
 public:
  static constexpr Tag kTag = Tag::kFunction;
  Function(Module* module, const compiler::KernelInfo* info);

  const std::string& name() const { return info_->name; }
  const compiler::KernelInfo& info() const { return *info_; }
  Context& context() const { return *owner(); }
  Module* module() const { return module_; }
  /// Compiles the kernel for the block shape if that has not been done.
  Result<std::shared_ptr<CompiledVariant>> get_variant(const std::uint32_t (&block)[3]);
  bool is_loaded();
  void grid_ended(exec::Grid& grid) override;

  std::atomic<int> max_dynamic_shared;  ///< what launches may ask for
  std::atomic<int> shared_carveout{-1};
  std::atomic<unsigned> cache_config{0};

  // The launch interface of CUDA before 4.0.
  Mutex mutex;
  std::uint32_t old_block[3] GUARDED_BY(mutex) = {1, 1, 1};
  std::uint32_t old_shared GUARDED_BY(mutex) = 0;
  std::vector<std::byte> old_parameters GUARDED_BY(mutex);

 private:
  Module* const module_;  ///< may be unloaded; not dereferenced by work in flight
  const std::shared_ptr<ModuleData> data_;
  const compiler::KernelInfo* const info_;
  std::shared_ptr<CompiledVariant> find_variant(const std::uint32_t (&block)[3]) REQUIRES(variants_mutex_);
  Mutex variants_mutex_;
  std::vector<std::shared_ptr<CompiledVariant>> variants_ GUARDED_BY(variants_mutex_);
};

/// A module that is loaded per context on demand.
class Library final : public Object {
 public:
  static constexpr Tag kTag = Tag::kLibrary;
  Library(std::shared_ptr<const compiler::Module> code, std::string name)
      : Object(Tag::kLibrary, nullptr), code_(std::move(code)), name_(std::move(name)) {}

  const compiler::Module& code() const { return *code_; }
  /// The library's module in a context, loaded at the first call.
  Result<Ref<Module>> get_module(Context& context);
  Ref<Kernel> find_kernel(std::string_view name);
  void unload();

 private:
  std::shared_ptr<const compiler::Module> code_;
  std::string name_;
  Mutex mutex_;
  struct Loaded {
    std::uint64_t context;
    Ref<Module> module;
  };
  std::vector<Loaded> modules_ GUARDED_BY(mutex_);
  std::map<std::string, Ref<Kernel>, std::less<>> kernels_ GUARDED_BY(mutex_);
};

class Kernel final : public Object {
 public:
  static constexpr Tag kTag = Tag::kKernel;
  Kernel(Library* library, const compiler::KernelInfo* info)
      : Object(Tag::kKernel, nullptr), library_(library), info_(info) {}
  Library& library() const { return *library_; }
  const compiler::KernelInfo& info() const { return *info_; }
  /// The kernel in the given context.
  Result<Ref<Function>> get_function(Context& context);

  // Settings that hold for every context.
  Mutex mutex;
  std::map<int, int> attributes GUARDED_BY(mutex);

 private:
  Library* const library_;  ///< kept alive by the registry until it is unloaded; then kernels go first
  const compiler::KernelInfo* const info_;
};

/// The function behind a CUfunction, or (which launches take too) a CUkernel in the current context.
Result<Ref<Function>> find_function(const void* handle);

/// JIT options that mean something here, read once.
class JitOptions {
 public:
  JitOptions(unsigned count, const CUjit_option* options, void** values);
  /// Fills the caller's buffers, and the process's log on failure.
  void report(const std::string& log, bool failed);

 private:
  struct Buffer {
    char* text = nullptr;
    std::size_t bytes = 0;
    void** used = nullptr;  ///< where the API wants the number of bytes filled
  };
  static void fill(const Buffer& buffer, const std::string& text);
  Buffer info_, error_;
};

/// Parses an image of any kind. The log says why it failed.
Result<std::shared_ptr<const compiler::Module>> parse_image(const void* image, bool allow_wrapper, std::string* log);
Result<std::shared_ptr<const compiler::Module>> parse_texts(const std::vector<std::string_view>& texts,
                                                            std::string* log);
/// Places the module's variables into the context's memory and publishes the module.
Result<Ref<Module>> load_module(Context& context, std::shared_ptr<const compiler::Module> code, std::string name);
/// The contents of a file.
Result<std::string> read_image_file(const char* path);

}  // namespace heddle::driver
