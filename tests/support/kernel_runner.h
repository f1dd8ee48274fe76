// Compiles PTX text and runs a kernel of it on the mini device: module variables are laid out and initialised, buffers
// are host memory. What the PTX file tests and the fuzzer share.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/compile.h"
#include "support/mini_device.h"

namespace heddle::test {

/// A parsed module with memory for its variables.
class LoadedModule {
 public:
  /// `error` says why there is none.
  static std::unique_ptr<LoadedModule> load(std::string_view ptx, std::string* error);
  const compiler::Module& module() const { return *module_; }
  /// Null with the reason in `error`; `no_jit` is set when the JIT library isn't there.
  std::shared_ptr<const compiler::CompiledKernel> compile(const std::string& kernel, const compiler::Variant& variant,
                                                          std::string* error, bool* no_jit = nullptr) const;
  /// Addresses in the order of CompiledKernel::globals.
  std::vector<void*> globals_of(const compiler::CompiledKernel& kernel) const;
  /// Puts the variables back to their initial values.
  void reset();

 private:
  void* address_of(const std::string& name) const;
  std::shared_ptr<const compiler::Module> module_;
  std::vector<std::vector<std::uint64_t>> memory_;  ///< by variable
};

/// Every way in which a kernel can be run here: the interpreter, then generated code at each width.
struct EngineVariant {
  std::string name;
  compiler::Variant variant;
  bool use_range = false;
};
std::vector<EngineVariant> engine_variants(Dim block);

}  // namespace heddle::test
