// A parsed and linked module: what compile.h's Module is inside. Used by compile.cc alone.
// Tested by compiler/compile_test.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compiler/compile.h"
#include "compiler/ptx/linker.h"

namespace heddle::compiler {

class ParsedModule final : public Module {
 public:
  ParsedModule(std::unique_ptr<const ptx::LinkedModule> linked, std::uint64_t hash_low, std::uint64_t hash_high);

  const std::vector<KernelInfo>& kernels() const override { return kernels_; }
  const std::vector<Variable>& variables() const override { return variables_; }
  std::uint32_t ptx_version() const override { return version_; }
  std::uint32_t target() const override { return target_; }

  const ptx::LinkedModule& linked() const { return *linked_; }
  /// Of all texts, for the cache and for names of dumped files.
  std::uint64_t hash_low() const { return hash_low_; }
  std::uint64_t hash_high() const { return hash_high_; }

 private:
  void describe_kernel(const ptx::Symbol& kernel);
  void describe_variable(const ptx::Symbol& symbol);

  std::unique_ptr<const ptx::LinkedModule> linked_;
  std::uint64_t hash_low_, hash_high_;
  std::vector<KernelInfo> kernels_;
  std::vector<Variable> variables_;
  std::uint32_t version_ = 0, target_ = 0;
};

}  // namespace heddle::compiler
