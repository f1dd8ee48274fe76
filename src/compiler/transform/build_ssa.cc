#include "compiler/transform/build_ssa.h"

#include "compiler/transform/translator.h"

namespace heddle::transform {
namespace {

std::uint64_t align_up(std::uint64_t value, std::uint64_t align) { return (value + align - 1) & ~(align - 1); }

ir::Space space_of(ptx::Space space) {
  switch (space) {
    case ptx::Space::kConst: return ir::Space::kConst;
    case ptx::Space::kShared: return ir::Space::kShared;
    case ptx::Space::kLocal: return ir::Space::kLocal;
    case ptx::Space::kParam: return ir::Space::kParam;
    default: return ir::Space::kGlobal;
  }
}

}  // namespace

ParamShape shape_of(const ptx::Variable& variable) {
  ParamShape shape;
  shape.bytes = static_cast<std::uint32_t>(variable.bytes());
  const bool scalar = !variable.is_array && variable.vector == 1 && shape.bytes <= 8;
  shape.word_bits = scalar && shape.bytes <= 4 ? 32 : 64;
  shape.words = scalar ? 1 : (shape.bytes + 7) / 8;
  return shape;
}

std::uint32_t ProgramBuilder::symbol_of(const ptx::Symbol& symbol) {
  auto [entry, is_new] = symbols_.try_emplace(symbol.variable, static_cast<std::uint32_t>(program_.symbols.size()));
  if (!is_new) return entry->second;
  const ptx::Variable& variable = *symbol.variable;
  ir::Symbol s;
  s.space = space_of(variable.space);
  s.size = variable.bytes();
  s.align = variable.alignment();
  if (s.space == ir::Space::kShared) {
    s.name = variable.name;
    s.external = variable.linkage == ptx::Linkage::kExtern;
    if (!s.external) {
      s.offset = align_up(program_.shared_bytes, s.align);
      program_.shared_bytes = static_cast<std::uint32_t>(s.offset + s.size);
    }
    program_.shared_align = std::max(program_.shared_align, s.align);
  } else {
    s.name = linked_.name_of(&variable);
    s.offset = program_.symbols.size();
  }
  program_.symbols.push_back(std::move(s));
  return entry->second;
}

std::uint32_t ProgramBuilder::local_symbol_of(const ptx::Variable& variable) {
  auto [entry, is_new] = symbols_.try_emplace(&variable, static_cast<std::uint32_t>(program_.symbols.size()));
  if (!is_new) return entry->second;
  ir::Symbol s;
  s.name = variable.name;
  s.space = ir::Space::kLocal;
  s.size = variable.bytes();
  s.align = variable.alignment();
  s.offset = align_up(program_.local_bytes, s.align);
  program_.local_bytes = static_cast<std::uint32_t>(s.offset + s.size);
  program_.symbols.push_back(std::move(s));
  return entry->second;
}

std::uint32_t ProgramBuilder::function_of(const ptx::Symbol& symbol) {
  auto [entry, is_new] = functions_.try_emplace(symbol.function, static_cast<std::uint32_t>(program_.functions.size()));
  if (!is_new) return entry->second;
  // The signature is there before the body, for calls.
  ir::Function& function = program_.functions.emplace_back();
  function.name = symbol.function->name;
  for (std::uint32_t r : symbol.function->returns) {
    const ptx::Variable& variable = symbol.function->variables[r];
    const ParamShape shape = shape_of(variable);
    for (std::uint32_t w = 0; w < shape.words; ++w) function.result_types.push_back(ir::bits_type(shape.word_bits));
  }
  for (std::uint32_t p : symbol.function->parameters) {
    const ParamShape shape = shape_of(symbol.function->variables[p]);
    for (std::uint32_t w = 0; w < shape.words; ++w)
      function.arguments.push_back(function.add_value(ir::bits_type(shape.word_bits)));
  }
  pending_.push_back(symbol);
  return entry->second;
}

std::uint32_t ProgramBuilder::file_of(const ptx::Module& unit, std::uint32_t number) {
  auto& map = files_[&unit];
  auto [entry, is_new] = map.try_emplace(number, 0);
  if (is_new) {
    std::string name;
    for (const ptx::File& f : unit.files)
      if (f.number == number) name = f.name;
    entry->second = static_cast<std::uint32_t>(program_.files.size());
    program_.files.push_back(std::move(name));
  }
  return entry->second;
}

Status ProgramBuilder::build(const ptx::Symbol& kernel) {
  program_.kernel.name = kernel.function->name;
  program_.kernel.is_kernel = true;
  for (int i = 0; i < 3; ++i) {
    program_.kernel.max_threads[i] = kernel.function->max_threads[i];
    program_.kernel.required_threads[i] = kernel.function->required_threads[i];
  }
  ParameterLayout layout = compute_parameter_layout(*kernel.function);
  program_.kernel.parameters = std::move(layout.parameters);
  program_.param_bytes = layout.bytes;
  HEDDLE_TRY(Translator(this, kernel, &program_.kernel).translate());
  while (!pending_.empty()) {
    const ptx::Symbol symbol = pending_.back();
    pending_.pop_back();
    // Translating may add functions, which moves the others: the body is built aside.
    const std::uint32_t index = functions_[symbol.function];
    ir::Function body = program_.functions[index];
    HEDDLE_TRY(Translator(this, symbol, &body).translate());
    program_.functions[index] = std::move(body);
  }
  for (ir::Symbol& s : program_.symbols)
    if (s.external) s.offset = align_up(program_.shared_bytes, s.align);
  return Status();
}

ParameterLayout compute_parameter_layout(const ptx::Function& kernel) {
  ParameterLayout layout;
  std::uint64_t at = 0;
  for (std::uint32_t index : kernel.parameters) {
    const ptx::Variable& variable = kernel.variables[index];
    ir::Parameter parameter;
    parameter.name = variable.name;
    parameter.align = variable.alignment();
    at = align_up(at, parameter.align);
    parameter.offset = static_cast<std::uint32_t>(at);
    parameter.size = static_cast<std::uint32_t>(variable.bytes());
    at += parameter.size;
    layout.parameters.push_back(std::move(parameter));
  }
  layout.bytes = static_cast<std::uint32_t>(at);
  return layout;
}

Result<ir::Program> build_ssa(const ptx::LinkedModule& linked, std::string_view kernel, std::string* log) {
  const ptx::Symbol symbol = linked.find_kernel(kernel);
  if (!symbol) return Status(ErrorCode::kNotFound, "the module has no kernel of that name");
  ProgramBuilder builder(linked, log);
  HEDDLE_TRY(builder.build(symbol));
  return std::move(builder.program());
}

}  // namespace heddle::transform
