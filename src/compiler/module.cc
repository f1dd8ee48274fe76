#include "compiler/module.h"

#include <algorithm>
#include <bit>
#include <unordered_set>

#include "compiler/transform/build_ssa.h"

namespace heddle::compiler {
namespace {

std::uint64_t align_up(std::uint64_t value, std::uint64_t align) { return (value + align - 1) & ~(align - 1); }

/// What a kernel and the functions that it calls name: enough for its memory needs without building its IR.
struct Needs {
  std::uint64_t shared_bytes = 0;
  std::uint64_t local_bytes = 0;
};

Needs compute_needs(const ptx::LinkedModule& linked, const ptx::Symbol& kernel) {
  Needs needs;
  std::unordered_set<const void*> seen;
  std::vector<ptx::Symbol> work{kernel};
  seen.insert(kernel.function);
  auto add_shared = [&](const ptx::Variable& v) {
    if (v.linkage == ptx::Linkage::kExtern || !seen.insert(&v).second) return;
    needs.shared_bytes = align_up(needs.shared_bytes, v.alignment()) + v.bytes();
  };
  while (!work.empty()) {
    const ptx::Symbol symbol = work.back();
    work.pop_back();
    const ptx::Function& f = *symbol.function;
    for (const ptx::Variable& v : f.variables)
      if (v.space == ptx::Space::kLocal) needs.local_bytes = align_up(needs.local_bytes, v.alignment()) + v.bytes();
    for (const ptx::Operand& o : f.operands) {
      if (o.kind == ptx::Operand::Kind::kVariable) {
        if (f.variables[o.id].space == ptx::Space::kShared) add_shared(f.variables[o.id]);
      } else if (o.kind == ptx::Operand::Kind::kName) {
        const ptx::Symbol named = linked.find(symbol.unit, o.text);
        if (named.variable != nullptr && named.variable->space == ptx::Space::kShared) add_shared(*named.variable);
        if (named.function != nullptr && named.function->has_body && seen.insert(named.function).second)
          work.push_back(named);
      }
    }
  }
  return needs;
}

}  // namespace

ParsedModule::ParsedModule(std::unique_ptr<const ptx::LinkedModule> linked, std::uint64_t hash_low,
                           std::uint64_t hash_high)
    : linked_(std::move(linked)), hash_low_(hash_low), hash_high_(hash_high) {
  for (const auto& unit : linked_->units()) {
    version_ = std::max(version_, unit->version);
    target_ = std::max(target_, unit->target);
  }
  for (const ptx::Symbol& kernel : linked_->kernels()) describe_kernel(kernel);
  for (const ptx::Symbol& variable : linked_->variables()) describe_variable(variable);
}

void ParsedModule::describe_kernel(const ptx::Symbol& kernel) {
  const ptx::Function& f = *kernel.function;
  KernelInfo info;
  info.name = f.name;
  transform::ParameterLayout layout = transform::compute_parameter_layout(f);
  for (ir::Parameter& p : layout.parameters) info.parameters.push_back({std::move(p.name), p.offset, p.size, p.align});
  info.param_bytes = layout.bytes;
  const std::uint32_t* limit = f.required_threads[0] != 0 ? f.required_threads : f.max_threads;
  if (limit[0] != 0) {
    const std::uint64_t product = std::uint64_t{limit[0]} * limit[1] * limit[2];
    info.max_threads = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(product, 1, 1024));
  }
  std::copy(std::begin(f.required_threads), std::end(f.required_threads), info.required_threads);
  const Needs needs = compute_needs(*linked_, kernel);
  info.static_shared_bytes = static_cast<std::uint32_t>(needs.shared_bytes);
  info.local_bytes = static_cast<std::uint32_t>(align_up(needs.local_bytes, 16));
  kernels_.push_back(std::move(info));
}

void ParsedModule::describe_variable(const ptx::Symbol& symbol) {
  const ptx::Variable& v = *symbol.variable;
  Variable variable;
  variable.name = linked_->name_of(&v);
  variable.is_constant = v.space == ptx::Space::kConst;
  variable.is_managed = v.managed;
  variable.is_external = v.linkage == ptx::Linkage::kExtern;
  variable.size = v.bytes();
  variable.align = v.alignment();
  const std::uint64_t element = static_cast<std::uint64_t>(std::max(1, ptx::bits_of(v.type) / 8));
  auto put = [&](std::uint64_t at, std::uint64_t bits, std::uint64_t bytes) {
    if (variable.initial.size() < at + bytes) variable.initial.resize(at + bytes);
    for (std::uint64_t i = 0; i < bytes && i < 8; ++i)
      variable.initial[at + i] = static_cast<std::uint8_t>(bits >> (8 * i));
  };
  for (const ptx::InitialValue& value : v.initial) {
    const std::uint64_t at = value.element * element;
    switch (value.kind) {
      case ptx::InitialValue::Kind::kInteger: {
        std::uint64_t bits = value.value;
        if (v.type == ptx::Modifier::kF64)
          bits = std::bit_cast<std::uint64_t>(static_cast<double>(static_cast<std::int64_t>(bits)));
        if (v.type == ptx::Modifier::kF32)
          bits = std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int64_t>(bits)));
        put(at, bits, element);
        break;
      }
      case ptx::InitialValue::Kind::kFloat:
        if (element == 4)
          put(at, std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(value.value))), 4);
        else
          put(at, value.value, element);
        break;
      case ptx::InitialValue::Kind::kAddress: {
        const ptx::Symbol target = linked_->find(symbol.unit, value.symbol);
        const std::uint32_t shift = value.mask_shift == 0xff ? 0 : value.mask_shift;
        const std::uint64_t bytes = value.mask_shift == 0xff ? std::min<std::uint64_t>(element, 8) : 1;
        if (target.function != nullptr) {
          // Function addresses are numbers that are known now.
          put(at, (linked_->function_address(target.function) + value.value) >> shift, bytes);
          break;
        }
        put(at, 0, bytes);
        Relocation relocation;
        relocation.offset = at;
        relocation.size = static_cast<std::uint32_t>(bytes);
        relocation.shift = shift;
        relocation.symbol = target.variable != nullptr ? linked_->name_of(target.variable) : std::string(value.symbol);
        relocation.addend = static_cast<std::int64_t>(value.value);
        relocation.generic = value.generic;
        variable.relocations.push_back(std::move(relocation));
        break;
      }
    }
  }
  variables_.push_back(std::move(variable));
}

}  // namespace heddle::compiler
