// Branches, calls, and what ends or delays a thread; see translator.h. Tested by tests/ptx.
#include "compiler/transform/translator.h"

namespace heddle::transform {

using ir::Op;
using ir::Type;
using ir::ValueId;

bool Translator::translate_branch() {
  const BlockId target = block_of_label(op(0).id);
  if (instruction_->guard == ptx::Instruction::kNoGuard) {
    b_.branch(target);
    return true;
  }
  const BlockId next = b_.add_block();
  const ValueId p = ssa_.read(instruction_->guard);
  b_.branch_if(p, instruction_->guard_negated ? next : target, instruction_->guard_negated ? target : next);
  start_block(next);
  return true;
}

bool Translator::translate_branch_indexed() {
  if (op(1).kind != Kind::kTargets || source_.targets[op(1).id].calls)
    return fail(op(1), "expected the name of a .branchtargets list");
  ValueId index;
  if (!use(op(0), Type::kU32, &index)) return false;
  std::vector<ir::Target> targets;
  for (std::uint32_t label : source_.targets[op(1).id].labels) targets.push_back({block_of_label(label), {}});
  b_.append(Op::kSwitch, Type::kU32, {index}).targets = std::move(targets);
  return true;
}

void Translator::return_from_function() {
  std::vector<ValueId> results;
  if (!source_.is_entry) {
    for (std::uint32_t r : source_.returns) {
      const ptx::Variable& variable = source_.variables[r];
      if (variable.space == ptx::Space::kRegister) {
        results.push_back(b_.resize(ssa_.read(variable.register_id), shape_of(variable).word_bits, false));
        continue;
      }
      const Words& words = words_of(r);
      for (std::uint32_t w = 0; w < words.shape.words; ++w) results.push_back(ssa_.read(words.first + w));
    }
  }
  b_.append(Op::kReturn, Type::kB32, std::move(results));
}

bool Translator::translate_ret() {
  return_from_function();
  return true;
}

bool Translator::translate_exit() {
  b_.append(Op::kExit, Type::kB32);
  return true;
}

bool Translator::translate_trap() {
  ir::Mods m;
  m.trap = instruction_->form->opcode == ptx::Opcode::kBrkpt ? ir::TrapKind::kBreakpoint : ir::TrapKind::kTrap;
  b_.append(Op::kTrap, Type::kB32, {}, m);
  // Nothing follows a trap, and saying so keeps what follows from counting as reachable.
  if (m.trap == ir::TrapKind::kTrap) b_.append(Op::kExit, Type::kB32);
  return true;
}

bool Translator::translate_nothing() { return true; }

bool Translator::translate_unsupported() { return not_supported("no engine has it"); }

bool Translator::translate_nanosleep() {
  ValueId ns;
  if (!use(op(0), Type::kU32, &ns)) return false;
  b_.append(Op::kNanosleep, Type::kU32, {ns});
  return true;
}

// ---- calls; the operands are always (results), callee, (arguments), prototype

bool Translator::gather_arguments(const std::vector<ParamShape>& shapes, std::vector<ValueId>* values) {
  const Operand& list = op(2);
  if (list.count != shapes.size())
    return fail("the call passes " + std::to_string(list.count) + " arguments, the function takes " +
                std::to_string(shapes.size()));
  for (std::uint32_t i = 0; i < list.count; ++i) {
    const Operand& argument = child(list, i);
    const ParamShape& shape = shapes[i];
    if (argument.kind == Kind::kVariable && source_.variables[argument.id].space == ptx::Space::kParam) {
      const Words& words = words_of(argument.id);
      if (words.shape.word_bits != shape.word_bits || words.shape.words != shape.words)
        return fail(argument, "the argument's size differs from the parameter's");
      for (std::uint32_t w = 0; w < shape.words; ++w) values->push_back(ssa_.read(words.first + w));
      continue;
    }
    if (shape.words != 1) return fail(argument, "this parameter needs a .param argument");
    ValueId v;
    if (argument.kind == Kind::kRegister) {
      v = ssa_.read(argument.id);
      if (b_.width(v) == 1 || b_.width(v) > shape.word_bits)
        return fail(argument, "the argument doesn't fit the parameter");
      v = b_.resize(v, shape.word_bits, false);
    } else if (!use(argument, ir::bits_type(shape.word_bits), &v)) {
      return false;
    }
    values->push_back(v);
  }
  return true;
}

bool Translator::scatter_results(const std::vector<ParamShape>& shapes, const std::vector<ValueId>& values) {
  const Operand& list = op(0);
  if (list.count == 0) return true;
  if (list.count != shapes.size()) return fail("the call takes another number of results than the function returns");
  std::size_t at = 0;
  for (std::uint32_t i = 0; i < list.count; ++i) {
    const Operand& result = child(list, i);
    const ParamShape& shape = shapes[i];
    if (result.kind == Kind::kVariable && source_.variables[result.id].space == ptx::Space::kParam) {
      const Words& words = words_of(result.id);
      if (words.shape.word_bits != shape.word_bits || words.shape.words != shape.words)
        return fail(result, "the result's size differs from the function's");
      for (std::uint32_t w = 0; w < shape.words; ++w) set(words.first + w, values[at + w]);
    } else if (result.kind == Kind::kRegister && shape.words == 1) {
      if (!define(result, b_.resize(values[at], ir::bits_of(ssa_.type_of(result.id)), false))) return false;
    } else if (result.kind != Kind::kSink) {
      return fail(result, "the result's size differs from the function's");
    }
    at += shape.words;
  }
  return true;
}

namespace {

std::vector<ParamShape> parameter_shapes(const ptx::Function& f) {
  std::vector<ParamShape> shapes;
  for (std::uint32_t p : f.parameters) shapes.push_back(shape_of(f.variables[p]));
  return shapes;
}
std::vector<ParamShape> result_shapes(const ptx::Function& f) {
  std::vector<ParamShape> shapes;
  for (std::uint32_t r : f.returns) shapes.push_back(shape_of(f.variables[r]));
  return shapes;
}
/// What two signatures must agree in to be called through one pointer.
bool same_words(const std::vector<ParamShape>& a, const std::vector<ParamShape>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i].word_bits != b[i].word_bits || a[i].words != b[i].words) return false;
  return true;
}

}  // namespace

bool Translator::translate_call() {
  const Operand& callee = op(1);
  if (callee.kind == Kind::kRegister) return call_indirect();
  const ptx::Symbol symbol = program_.linked().find(&unit_, callee.text);
  if (symbol.function == nullptr) return fail(callee, "'" + std::string(callee.text) + "' is not a function");
  if (!symbol.function->has_body) return call_builtin(symbol);
  if (symbol.function->is_entry) return fail(callee, "a kernel can't be called");
  return call_direct(symbol);
}

bool Translator::call_direct(const ptx::Symbol& callee) {
  std::vector<ValueId> arguments, results;
  if (!gather_arguments(parameter_shapes(*callee.function), &arguments)) return false;
  const std::vector<ParamShape> shapes = result_shapes(*callee.function);
  for (const ParamShape& shape : shapes)
    for (std::uint32_t w = 0; w < shape.words; ++w)
      results.push_back(function_->add_value(ir::bits_type(shape.word_bits)));
  const std::uint32_t index = program_.function_of(callee);
  ir::Inst& inst = b_.append(Op::kCall, Type::kB32, std::move(arguments));
  inst.imm = index;
  inst.results = results;
  if (!scatter_results(shapes, results)) return false;
  if (callee.function->noreturn) b_.append(Op::kExit, Type::kB32);
  return true;
}

// Functions that the runtime provides.
bool Translator::call_builtin(const ptx::Symbol& callee) {
  const std::string_view name = callee.function->name;
  ir::Mods m;
  std::size_t arguments = 0;
  if (name == "vprintf")
    m.runtime = ir::RuntimeCall::kVprintf, arguments = 2;
  else if (name == "__assertfail")
    m.runtime = ir::RuntimeCall::kAssertFail, arguments = 5;
  else if (name == "malloc")
    m.runtime = ir::RuntimeCall::kMalloc, arguments = 1;
  else if (name == "free")
    m.runtime = ir::RuntimeCall::kFree, arguments = 1;
  else
    return fail(
        op(1), "call of undefined function '" + std::string(name) + "'",
        name.starts_with("__cudaCDP") || name.starts_with("cuda") ? ErrorCode::kNotSupported : ErrorCode::kInvalidPtx);
  std::vector<ValueId> values;
  const std::vector<ParamShape> shapes = parameter_shapes(*callee.function);
  if (shapes.size() != arguments) return fail(op(1), "'" + std::string(name) + "' is declared with other parameters");
  if (!gather_arguments(shapes, &values)) return false;
  static constexpr int kAssertWidths[] = {64, 64, 32, 64, 64};
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = b_.resize(values[i], m.runtime == ir::RuntimeCall::kAssertFail ? kAssertWidths[i] : 64, false);
  const bool returns = m.runtime == ir::RuntimeCall::kVprintf || m.runtime == ir::RuntimeCall::kMalloc;
  const Type type = m.runtime == ir::RuntimeCall::kVprintf ? Type::kB32 : Type::kB64;
  const ValueId result = returns ? function_->add_value(type) : ir::kNoValue;
  ir::Inst& inst = b_.append(Op::kCallRuntime, type, std::move(values), m);
  if (returns) inst.results.push_back(result);
  if (m.runtime == ir::RuntimeCall::kAssertFail) {
    b_.append(Op::kExit, Type::kB32);
    return true;
  }
  if (!returns || op(0).count == 0) return true;
  const std::vector<ParamShape> result_words = result_shapes(*callee.function);
  if (result_words.size() != 1 || result_words[0].words != 1)
    return fail(op(1), "'" + std::string(name) + "' is declared with another result");
  return scatter_results(result_words, {b_.resize(result, result_words[0].word_bits, false)});
}

// A call through a pointer compares it with all functions of that signature whose address is taken anywhere in the
// module. The engines thus see direct calls only, and barriers inside virtual functions work when they are inlined.
bool Translator::call_indirect() {
  std::vector<ParamShape> parameters, returns;
  if (op(3).kind == Kind::kPrototype) {
    const ptx::Prototype& prototype = source_.prototypes[op(3).id];
    for (const ptx::Variable& v : prototype.parameters) parameters.push_back(shape_of(v));
    for (const ptx::Variable& v : prototype.returns) returns.push_back(shape_of(v));
  } else if (op(3).kind == Kind::kTargets && source_.targets[op(3).id].calls &&
             !source_.targets[op(3).id].functions.empty()) {
    const ptx::Symbol first = program_.linked().find(&unit_, source_.targets[op(3).id].functions[0]);
    if (first.function == nullptr) return fail(op(3), "the call target is not a function");
    parameters = parameter_shapes(*first.function);
    returns = result_shapes(*first.function);
  } else {
    return fail("an indirect call needs a .callprototype or .calltargets");
  }
  ValueId target;
  std::vector<ValueId> arguments;
  if (!use(op(1), Type::kB64, &target) || !gather_arguments(parameters, &arguments)) return false;
  const BlockId after = b_.add_block();
  for (const ptx::Symbol& candidate : program_.linked().address_taken()) {
    if (!candidate.function->has_body || candidate.function->is_entry ||
        !same_words(parameters, parameter_shapes(*candidate.function)) ||
        !same_words(returns, result_shapes(*candidate.function)))
      continue;
    const BlockId yes = b_.add_block(), no = b_.add_block();
    ir::Mods eq;
    eq.compare = ir::Compare::kEq;
    const ValueId address = b_.constant(Type::kB64, program_.linked().function_address(candidate.function));
    b_.branch_if(b_.emit_as(Type::kPred, Op::kSetp, Type::kB64, {target, address}, eq), yes, no);
    start_block(yes);
    std::vector<ValueId> results;
    for (const ParamShape& shape : returns)
      for (std::uint32_t w = 0; w < shape.words; ++w)
        results.push_back(function_->add_value(ir::bits_type(shape.word_bits)));
    const std::uint32_t index = program_.function_of(candidate);
    ir::Inst& inst = b_.append(Op::kCall, Type::kB32, arguments);
    inst.imm = index;
    inst.results = results;
    if (!scatter_results(returns, results)) return false;
    b_.branch(after);
    start_block(no);
  }
  b_.append(Op::kTrap, Type::kB32);  // a pointer that no function has
  b_.append(Op::kExit, Type::kB32);
  start_block(after);
  return true;
}

}  // namespace heddle::transform
