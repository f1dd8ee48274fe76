// The frame of the translation: blocks, guards, operands, definitions; see translator.h.
#include "compiler/transform/translator.h"

#include <bit>

#include "base/log.h"

namespace heddle::transform {

using ir::Op;
using ir::Type;
using ir::ValueId;

bool find_ir_type(ptx::Type type, Type* out) {
  switch (type) {
#define HEDDLE_IR_TYPE(identifier, text, bits, type_class) \
  case ptx::Modifier::k##identifier: *out = Type::k##identifier; return true;
#include "compiler/ir/types.def"
#undef HEDDLE_IR_TYPE
    default: return false;
  }
}

Type register_type(ptx::Type type) {
  if (type == ptx::Modifier::kPred) return Type::kPred;
  return ir::bits_type(std::max(8, ptx::bits_of(type)));
}

const Translator::Handler Translator::kHandlers[] = {
#define HEDDLE_PTX_FORM(opcode, translator, version, target, text) &Translator::translate_##translator,
#include "compiler/ptx/isa.def"
#undef HEDDLE_PTX_FORM
};

Translator::Translator(ProgramBuilder* program, const ptx::Symbol& symbol, ir::Function* function)
    : program_(*program),
      unit_(*symbol.unit),
      source_(*symbol.function),
      function_(function),
      b_(function),
      ssa_(function),
      diagnostics_(unit_.unit, unit_.text, program->log()) {}

Status Translator::translate() {
  declare_variables();
  if (!begin_function()) return Status(diagnostics_.code(), "the kernel can't be compiled");
  for (const ptx::Statement& statement : source_.statements) {
    translate_statement(statement);
    if (diagnostics_.full()) break;
  }
  if (!b_.ended()) return_from_function();
  if (diagnostics_.failed()) return Status(diagnostics_.code(), "the kernel can't be compiled");
  // A label without instructions after it, or one that only dead code names.
  for (BlockId block = 0; block < function_->blocks.size(); ++block) {
    b_.set_block(block);
    if (!b_.ended()) b_.append(Op::kTrap, Type::kB32), b_.append(Op::kExit, Type::kB32);
  }
  ssa_.finish();
  return Status();
}

void Translator::declare_variables() {
  for (const ptx::RegisterRange& range : source_.registers)
    for (std::uint32_t i = 0; i < range.count * range.vector; ++i) ssa_.add_variable(register_type(range.type));
  carry_ = ssa_.add_variable(Type::kPred);
  label_blocks_.assign(source_.labels.size(), ~0u);
}

bool Translator::begin_function() {
  // The entry has no predecessors, also if the function begins with a label.
  start_block(b_.add_block());
  b_.set_location({source_.line, 0, 0});
  find_taken_parameters();
  if (source_.is_entry) {
    const auto& parameters = function_->parameters;
    for (std::size_t i = 0; i < source_.parameters.size(); ++i) offsets_[source_.parameters[i]] = parameters[i].offset;
    return true;
  }
  std::size_t argument = 0;
  for (std::uint32_t p : source_.parameters) {
    const ptx::Variable& variable = source_.variables[p];
    if (variable.space == ptx::Space::kRegister) {
      const int bits = ir::bits_of(ssa_.type_of(variable.register_id));
      ssa_.write(variable.register_id, b_.resize(function_->arguments[argument++], bits, false));
      continue;
    }
    Words& words = words_of(p);
    for (std::uint32_t w = 0; w < words.shape.words; ++w)
      ssa_.write(words.first + w, function_->arguments[argument + w]);
    if (address_taken_[p]) {
      words.address = allocate_local(std::uint64_t{words.shape.words} * 8, std::max(8u, variable.alignment()));
      const Type type = ir::bits_type(words.shape.word_bits);
      for (std::uint32_t w = 0; w < words.shape.words; ++w) {
        ir::Mods m;
        m.space = ir::Space::kLocal;
        b_.append(Op::kStore, type, {words.address, function_->arguments[argument + w]}, m).imm = w * 8;
      }
    }
    argument += words.shape.words;
  }
  return true;
}

// A parameter of a device function whose address a mov or cvta takes must lie in memory.
bool Translator::find_taken_parameters() {
  address_taken_.assign(source_.variables.size(), 0);
  if (source_.is_entry) return true;
  for (const ptx::Instruction& inst : source_.instructions) {
    if (inst.form == nullptr || inst.form->opcode == ptx::Opcode::kCall) continue;
    for (std::uint32_t i = 0; i < inst.count; ++i) {
      const Operand& operand = source_.operands[inst.first + i];
      if (operand.kind == Kind::kVariable && source_.variables[operand.id].space == ptx::Space::kParam)
        address_taken_[operand.id] = 1;
    }
  }
  return true;
}

void Translator::start_block(BlockId block) {
  b_.set_block(block);
  ssa_.begin_block(block);
}

ir::BlockId Translator::block_of_label(std::uint32_t label) {
  if (label_blocks_[label] == ~0u) label_blocks_[label] = b_.add_block();
  return label_blocks_[label];
}

bool Translator::translate_statement(const ptx::Statement& statement) {
  switch (statement.kind) {
    case ptx::Statement::Kind::kLabel: {
      const BlockId block = block_of_label(statement.index);
      if (!b_.ended()) b_.branch(block);
      start_block(block);
      return true;
    }
    case ptx::Statement::Kind::kLocation: {
      // For inlined code this is the place inside the inlined function.
      const ptx::SourceLocation& l = source_.locations[statement.index];
      ir::Location location = b_.location();
      location.line = l.line;
      location.file = program_.file_of(unit_, l.file);
      b_.set_location(location);
      return true;
    }
    case ptx::Statement::Kind::kInstruction:
      if (b_.ended()) return true;  // dead code up to the next label
      return translate_instruction(source_.instructions[statement.index]);
    default: return true;
  }
}

Translator::Guarding Translator::guarding_of(ptx::Opcode opcode) {
  using O = ptx::Opcode;
  switch (opcode) {
    case O::kLd:
    case O::kLdu:
    case O::kSt:
    case O::kAtom:
    case O::kRed: return Guarding::kMemory;
    case O::kShfl:
    case O::kVote:
    case O::kMatch:
    case O::kRedux:
    case O::kActivemask:
    case O::kElect:
    case O::kBar:
    case O::kBarrier:
    case O::kCall:
    case O::kRet:
    case O::kExit:
    case O::kTrap:
    case O::kBrkpt:
    case O::kNanosleep:
    case O::kMembar:
    case O::kFence:
    case O::kMbarrier:
    case O::kCp:
    case O::kAlloca:
    case O::kTex:
    case O::kTld4:
    case O::kSuld:
    case O::kSust:
    case O::kTxq:
    case O::kSuq:
    case O::kBrx:
    case O::kWmma:
    case O::kMma:
    case O::kLdmatrix:
    case O::kStmatrix:
    case O::kMovmatrix: return Guarding::kAround;
    default: return Guarding::kSelect;
  }
}

bool Translator::translate_instruction(const ptx::Instruction& instruction) {
  instruction_ = &instruction;
  mnemonic_ = instruction.mnemonic;
  operands_ = source_.operands.data() + instruction.first;
  ir::Location location = b_.location();
  location.ptx_line = instruction.line;
  b_.set_location(location);
  const Handler handler = kHandlers[instruction.form - ptx::all_forms().data()];
  if (instruction.guard == ptx::Instruction::kNoGuard || instruction.form->opcode == ptx::Opcode::kBra)
    return (this->*handler)();
  const Guarding guarding = guarding_of(instruction.form->opcode);
  if (guarding != Guarding::kAround) {
    guarded_ = true;
    const bool ok = (this->*handler)();
    guarded_ = false;
    return ok;
  }
  const BlockId inside = b_.add_block(), after = b_.add_block();
  const ValueId p = ssa_.read(instruction.guard);
  b_.branch_if(p, instruction.guard_negated ? after : inside, instruction.guard_negated ? inside : after);
  start_block(inside);
  const bool ok = (this->*handler)();
  if (!b_.ended()) b_.branch(after);
  start_block(after);
  return ok;
}

bool Translator::fail(const std::string& why, ErrorCode code) {
  diagnostics_.error(instruction_ ? instruction_->offset : source_.offset, why, code);
  return false;
}
bool Translator::fail(const Operand& operand, const std::string& why, ErrorCode code) {
  diagnostics_.error(operand.offset ? operand.offset : instruction_->offset, why, code);
  return false;
}

// The kernel is compiled all the same: libraries carry paths for other devices that never run. Running into it is a
// fault that names the line.
bool Translator::not_supported(const std::string& why) {
  LOG_INFO("kernel %s: %s:%u: '%.*s' is not supported yet (%s); running it is a fault",
           std::string(source_.name).c_str(), unit_.unit.c_str(), instruction_->line,
           static_cast<int>(mnemonic_->text.size()), mnemonic_->text.data(), why.c_str());
  BlockId after = 0;
  if (guarded_) {
    const BlockId inside = b_.add_block();
    after = b_.add_block();
    const ValueId p = ssa_.read(instruction_->guard);
    b_.branch_if(p, instruction_->guard_negated ? after : inside, instruction_->guard_negated ? inside : after);
    start_block(inside);
  }
  ir::Mods m;
  m.trap = ir::TrapKind::kUnsupported;
  b_.append(Op::kTrap, Type::kB32, {}, m);
  b_.append(Op::kExit, Type::kB32);
  if (guarded_) start_block(after);
  return true;
}

Type Translator::type(int i) const {
  Type t = Type::kB32;
  if (i < mnemonic_->type_count) find_ir_type(mnemonic_->types[i], &t);
  return t;
}

bool Translator::use_constant(const Operand& operand, Type type, ValueId* value) {
  const int bits = ir::bits_of(type);
  std::uint64_t v = operand.value;
  if (operand.kind == Kind::kInteger) {
    if (bits == 1) v = v != 0;
    if (type == Type::kF32) v = std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int64_t>(v)));
    if (type == Type::kF64) v = std::bit_cast<std::uint64_t>(static_cast<double>(static_cast<std::int64_t>(v)));
    *value = b_.constant(type, v);
    return true;
  }
  const bool single = operand.kind == Kind::kFloat32;
  if (bits == 32 && !single) {
    v = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(v)));
  } else if (bits == 64 && single) {
    v = std::bit_cast<std::uint64_t>(static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(v))));
  } else if (bits != 32 && bits != 64) {
    return fail(operand, "a floating-point constant can't be of this type");
  }
  *value = b_.constant(type, v);
  return true;
}

bool Translator::use(const Operand& operand, Type type, ValueId* value) {
  switch (operand.kind) {
    case Kind::kRegister: {
      *value = ssa_.read(operand.id);
      if (b_.width(*value) != ir::bits_of(type))
        return fail(operand, "register '" + source_.name_of_register(operand.id) + "' of type ." +
                                 std::string(ptx::text_of(source_.type_of_register(operand.id))) +
                                 " doesn't fit an operand of type ." + ir::name_of(type));
      if (operand.negated && b_.width(*value) != 1) return fail(operand, "only a predicate can be negated");
      if (operand.negated) *value = b_.emit(Op::kNot, Type::kPred, {*value});
      return true;
    }
    case Kind::kInteger:
    case Kind::kFloat32:
    case Kind::kFloat64: return use_constant(operand, type, value);
    case Kind::kSpecial:
      if (!use_special(operand, value)) return false;
      *value = b_.resize(*value, ir::bits_of(type), false);
      return true;
    case Kind::kVariable:
    case Kind::kName: {
      ir::Space space;
      return symbol_address(operand, type, value, &space);
    }
    case Kind::kSink: *value = b_.constant(type, 0); return true;
    default: return fail(operand, "this operand is not possible here");
  }
}

bool Translator::use_loosely(const Operand& operand, Type type, ValueId* value) {
  if (operand.kind != Kind::kRegister) return use(operand, type, value);
  const ValueId raw = ssa_.read(operand.id);
  if (b_.width(raw) < ir::bits_of(type))
    return fail(operand,
                "register '" + source_.name_of_register(operand.id) + "' is too narrow for type ." + ir::name_of(type));
  if (b_.width(raw) == 1 && ir::bits_of(type) != 1) return fail(operand, "a predicate is not possible here");
  *value = b_.resize(raw, ir::bits_of(type), false);
  return true;
}

bool Translator::use_special(const Operand& operand, ValueId* value) {
  using S = ptx::SpecialRegister;
  using IS = ir::Special;
  const int c = operand.component == 0xff ? 0 : operand.component;
  auto special = [&](IS base, int component = 0) {
    ir::Mods m;
    m.special = static_cast<IS>(static_cast<int>(base) + component);
    *value = b_.emit(Op::kSpecial, Type::kU32, {}, m);
    return true;
  };
  auto clock = [&](IS what, Type type) {
    ir::Mods m;
    m.special = what;
    *value = b_.emit(Op::kClock, type, {}, m);
    return true;
  };
  auto number = [&](std::uint64_t n) {
    *value = b_.constant(Type::kU32, n);
    return true;
  };
  const auto which = static_cast<S>(operand.id);
  if (c == 3 && (which == S::kTid || which == S::kCtaid || which == S::kClusterid || which == S::kClusterCtaid))
    return number(0);
  if (c == 3 && (which == S::kNtid || which == S::kNctaid || which == S::kNclusterid || which == S::kClusterNctaid))
    return number(1);
  switch (which) {
    case S::kTid: return special(IS::kTidX, c);
    case S::kNtid: return special(IS::kNtidX, c);
    case S::kCtaid: return special(IS::kCtaidX, c);
    case S::kNctaid: return special(IS::kNctaidX, c);
    case S::kLaneid: return special(IS::kLaneId);
    case S::kWarpid: return special(IS::kWarpId);
    case S::kNwarpid: return special(IS::kNwarpId);
    case S::kSmid: return special(IS::kSmId);
    case S::kNsmid: return special(IS::kNsmId);
    case S::kGridid: {
      ir::Mods m;
      m.special = IS::kGridId;
      *value = b_.emit(Op::kSpecial, Type::kU64, {}, m);
      return true;
    }
    case S::kLanemaskEq: return special(IS::kLanemaskEq);
    case S::kLanemaskLe: return special(IS::kLanemaskLe);
    case S::kLanemaskLt: return special(IS::kLanemaskLt);
    case S::kLanemaskGe: return special(IS::kLanemaskGe);
    case S::kLanemaskGt: return special(IS::kLanemaskGt);
    case S::kClock: return clock(IS::kClock, Type::kU32);
    case S::kClockHi: return clock(IS::kClockHi, Type::kU32);
    case S::kClock64: return clock(IS::kClock64, Type::kU64);
    case S::kGlobaltimer: return clock(IS::kGlobaltimer, Type::kU64);
    case S::kGlobaltimerLo: return clock(IS::kGlobaltimerLo, Type::kU32);
    case S::kGlobaltimerHi: return clock(IS::kGlobaltimerHi, Type::kU32);
    case S::kDynamicSmemSize: return special(IS::kDynamicSmemSize);
    case S::kTotalSmemSize:
    case S::kAggrSmemSize: return special(IS::kTotalSmemSize);
    case S::kEnvreg: {
      special(IS::kEnvreg);
      function_->blocks[b_.block()].insts.back().imm = operand.value;
      return true;
    }
    // A cluster is one CTA here.
    case S::kClusterid: return special(IS::kCtaidX, c);
    case S::kNclusterid: return special(IS::kNctaidX, c);
    case S::kClusterCtaid:
    case S::kClusterCtarank:
    case S::kIsExplicitCluster: return number(0);
    case S::kClusterNctaid:
    case S::kClusterNctarank: return number(1);
    case S::kCurrentGraphExec: *value = b_.constant(Type::kU64, 0); return true;
    case S::kPm:
    case S::kReservedSmemOffset:
    case S::kReservedSmemBegin:
    case S::kReservedSmemEnd:
    case S::kReservedSmemCap: return number(0);
  }
  return fail(operand, "this special register is not supported", ErrorCode::kNotSupported);
}

ir::ValueId Translator::guard_value() {
  ValueId p = ssa_.read(instruction_->guard);
  return instruction_->guard_negated ? b_.emit(Op::kNot, Type::kPred, {p}) : p;
}

void Translator::set(std::uint32_t variable, ValueId value) {
  if (guarded_) {
    const ValueId p = ssa_.read(instruction_->guard), old = ssa_.read(variable);
    const Type type = ssa_.type_of(variable);
    value = instruction_->guard_negated ? b_.emit(Op::kSelect, type, {p, old, value})
                                        : b_.emit(Op::kSelect, type, {p, value, old});
  }
  ssa_.write(variable, value);
}

bool Translator::define(const Operand& operand, ValueId value) {
  if (operand.kind == Kind::kSink) return true;
  if (operand.kind != Kind::kRegister) return fail(operand, "the destination must be a register");
  if (ir::bits_of(ssa_.type_of(operand.id)) != b_.width(value))
    return fail(operand, "destination register '" + source_.name_of_register(operand.id) + "' of type ." +
                             std::string(ptx::text_of(source_.type_of_register(operand.id))) + " should have " +
                             std::to_string(b_.width(value)) + " bits");
  set(operand.id, value);
  return true;
}

bool Translator::define_extended(const Operand& operand, ValueId value, bool sign) {
  if (operand.kind == Kind::kRegister) {
    const int bits = ir::bits_of(ssa_.type_of(operand.id));
    if (bits > b_.width(value) && b_.width(value) > 1) value = b_.resize(value, bits, sign);
  }
  return define(operand, value);
}

const ptx::Operand& Translator::first_of(const Operand& operand) const {
  return operand.kind == Kind::kPair ? child(operand, 0) : operand;
}
const ptx::Operand* Translator::second_of(const Operand& operand) const {
  return operand.kind == Kind::kPair ? &child(operand, 1) : nullptr;
}

ir::Mods Translator::mods() const {
  ir::Mods m;
  static constexpr std::pair<M, ir::Rounding> kRoundings[] = {
      {M::kRn, ir::Rounding::kRn},   {M::kRz, ir::Rounding::kRz},   {M::kRm, ir::Rounding::kRm},
      {M::kRp, ir::Rounding::kRp},   {M::kRna, ir::Rounding::kRna}, {M::kRni, ir::Rounding::kRni},
      {M::kRzi, ir::Rounding::kRzi}, {M::kRmi, ir::Rounding::kRmi}, {M::kRpi, ir::Rounding::kRpi}};
  for (const auto& [word, rounding] : kRoundings)
    if (has(word)) m.rounding = rounding;
  m.ftz = has(M::kFtz);
  m.sat = has(M::kSat);
  m.relu = has(M::kRelu);
  m.approx = has(M::kApprox) || has(M::kFull);
  m.full = has(M::kFull);
  m.nan = has(M::kNaN);
  m.xorsign = has(M::kXorsign);
  m.abs = has(M::kAbs);
  m.hi = has(M::kHi);
  m.wrap = has(M::kWrap);
  m.shiftamt = has(M::kShiftamt);
  m.sync = has(M::kSync);
  return m;
}

ir::Space Translator::space() const {
  if (has(M::kGlobal)) return ir::Space::kGlobal;
  if (has(M::kShared) || has(M::kSharedCta) || has(M::kSharedCluster)) return ir::Space::kShared;
  if (has(M::kLocal)) return ir::Space::kLocal;
  if (has(M::kConst)) return ir::Space::kConst;
  if (has(M::kParam) || has(M::kParamEntry) || has(M::kParamFunc)) return ir::Space::kParam;
  return ir::Space::kGeneric;
}

bool Translator::emit_to(const Operand& destination, Op op, Type type, std::initializer_list<ValueId> operands,
                         const ir::Mods& mods, Type result) {
  return define(destination, b_.emit_as(result, op, type, operands, mods));
}

}  // namespace heddle::transform
