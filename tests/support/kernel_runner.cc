#include "support/kernel_runner.h"

#include <cstring>

namespace heddle::test {

std::unique_ptr<LoadedModule> LoadedModule::load(std::string_view ptx, std::string* error) {
  auto module = compiler::parse_module({ptx}, {}, error);
  if (!module) {
    if (error->empty()) *error = module.error().why();
    return nullptr;
  }
  auto loaded = std::make_unique<LoadedModule>();
  loaded->module_ = std::move(*module);
  loaded->reset();
  return loaded;
}

void LoadedModule::reset() {
  const std::vector<compiler::Variable>& variables = module_->variables();
  memory_.resize(variables.size());
  for (std::size_t i = 0; i < variables.size(); ++i) {
    memory_[i].assign(variables[i].size / 8 + 4, 0);
    // 16 bytes are as much alignment as vector accesses ask for.
    std::memcpy(address_of(variables[i].name), variables[i].initial.data(), variables[i].initial.size());
  }
  for (const compiler::Variable& variable : variables) {
    for (const compiler::Relocation& relocation : variable.relocations) {
      std::uint64_t value = reinterpret_cast<std::uint64_t>(address_of(relocation.symbol));
      value = (value + static_cast<std::uint64_t>(relocation.addend)) >> relocation.shift;
      std::memcpy(static_cast<char*>(address_of(variable.name)) + relocation.offset, &value, relocation.size);
    }
  }
}

void* LoadedModule::address_of(const std::string& name) const {
  const std::vector<compiler::Variable>& variables = module_->variables();
  for (std::size_t i = 0; i < variables.size(); ++i) {
    if (variables[i].name != name) continue;
    const auto at = reinterpret_cast<std::uintptr_t>(memory_[i].data());
    return reinterpret_cast<void*>((at + 15) / 16 * 16);
  }
  return nullptr;
}

std::shared_ptr<const compiler::CompiledKernel> LoadedModule::compile(const std::string& kernel,
                                                                      const compiler::Variant& variant,
                                                                      std::string* error, bool* no_jit) const {
  auto compiled = compiler::compile_kernel(*module_, kernel, variant, error);
  if (compiled) return *compiled;
  if (no_jit) *no_jit = compiled.error().code() == ErrorCode::kJitCompilerNotFound;
  if (error->empty()) *error = compiled.error().why();
  return nullptr;
}

std::vector<void*> LoadedModule::globals_of(const compiler::CompiledKernel& kernel) const {
  std::vector<void*> addresses;
  for (const std::string& name : kernel.globals) addresses.push_back(name.empty() ? nullptr : address_of(name));
  addresses.push_back(nullptr);
  return addresses;
}

std::vector<EngineVariant> engine_variants(Dim block) {
  std::vector<EngineVariant> variants;
  const auto add = [&](const char* name, std::uint32_t width, bool constant_block, bool interpret, bool range) {
    EngineVariant variant;
    variant.name = name;
    variant.variant.width = width;
    variant.variant.interpret = interpret;
    if (constant_block) {
      variant.variant.block[0] = block.x;
      variant.variant.block[1] = block.y;
      variant.variant.block[2] = block.z;
    }
    variant.use_range = range;
    variants.push_back(variant);
  };
  add("interpreter", 0, false, true, false);
  add("code of width 32", 32, false, false, false);
  add("code of width 32 for this block", 32, true, false, true);
  add("code of width 16", 16, true, false, true);
  add("code of width 8", 8, false, false, false);
  add("code of planned width", 0, true, false, true);
  return variants;
}

}  // namespace heddle::test
