#include "compiler/ir/print.h"

#include <cstdio>

namespace heddle::ir {
namespace {

template <class E, std::size_t N>
const char* pick(const char* const (&names)[N], E value) {
  const auto index = static_cast<std::size_t>(value);
  return index < N ? names[index] : "?";
}

std::string hex(std::uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof text, value < 10 ? "%llu" : "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string value_name(const Function& function, ValueId id) {
  if (id == kNoValue) return "v?";
  std::string text = "v" + std::to_string(id);
  if (id >= function.values.size()) text += "(undeclared)";
  return text;
}

std::string value_definition(const Function& function, ValueId id) {
  std::string text = value_name(function, id);
  if (id < function.values.size()) text += std::string(":") + name_of(function.values[id].type);
  return text;
}

template <class Print>
std::string comma_list(const std::vector<ValueId>& ids, Print&& print) {
  std::string text;
  for (const ValueId id : ids) text += (text.empty() ? "" : ", ") + print(id);
  return text;
}

std::string print_target(const Function& function, const Target& target) {
  std::string text = "b" + std::to_string(target.block);
  if (!target.arguments.empty())
    text += "(" + comma_list(target.arguments, [&](ValueId id) { return value_name(function, id); }) + ")";
  return text;
}

bool touches_memory(Op op) {
  return op == Op::kLoad || op == Op::kStore || op == Op::kAtomicRmw || op == Op::kAtomicCas || op == Op::kCopyAsync;
}

/// The dotted modifiers that mean something for the operation.
std::string modifiers(const Inst& inst) {
  static constexpr const char* kOrders[] = {"", "relaxed", "acquire", "release", "acq_rel", "sc"};
  static constexpr const char* kScopes[] = {"cta", "cluster", "gpu", "sys"};
  static constexpr const char* kShfl[] = {"up", "down", "bfly", "idx"};
  static constexpr const char* kVote[] = {"all", "any", "uni", "ballot"};
  static constexpr const char* kBarrier[] = {"sync", "red.popc", "red.and", "red.or"};
  static constexpr const char* kPrmt[] = {"", "f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};
  static constexpr const char* kTestp[] = {"finite", "infinite", "number", "notanumber", "normal", "subnormal"};
  static constexpr const char* kTrap[] = {"trap", "breakpoint", "unsupported"};
  static constexpr const char* kRuntime[] = {"vprintf", "assertfail", "malloc", "free"};
  std::string text;
  const auto add = [&](const char* name) {
    if (*name) text += std::string(".") + name;
  };
  const Mods& mods = inst.mods;
  if (mods.sync) add("sync");
  if (mods.hi) add("hi");
  if (mods.wrap) add("wrap");
  if (mods.shiftamt) add("shiftamt");
  if (mods.approx) add(mods.full ? "full" : "approx");
  if (mods.rounding != Rounding::kNone) add(name_of(mods.rounding));
  if (mods.ftz) add("ftz");
  if (mods.sat) add("sat");
  if (mods.relu) add("relu");
  if (mods.nan) add("NaN");
  if (mods.xorsign) add("xorsign");
  if (mods.abs) add("abs");
  if (mods.is_volatile) add("volatile");
  switch (inst.op) {
    case Op::kSpecial:
    case Op::kClock: add(name_of(mods.special)); break;
    case Op::kSetp: add(name_of(mods.compare)); break;
    case Op::kShfl: add(pick(kShfl, mods.shfl)); break;
    case Op::kVote:
    case Op::kMatch: add(pick(kVote, mods.vote)); break;
    case Op::kBarrier: add(pick(kBarrier, mods.barrier)); break;
    case Op::kPrmt: add(pick(kPrmt, mods.prmt)); break;
    case Op::kTestp: add(pick(kTestp, mods.testp)); break;
    case Op::kTrap: add(pick(kTrap, mods.trap)); break;
    case Op::kCallRuntime: add(pick(kRuntime, mods.runtime)); break;
    case Op::kRedux: add(name_of(mods.atomic)); break;
    case Op::kCvtaToGeneric:
    case Op::kCvtaToSpace:
    case Op::kIsSpace: add(name_of(mods.space)); break;
    case Op::kFence:
      add(pick(kOrders, mods.order));
      add(pick(kScopes, mods.scope));
      break;
    default: break;
  }
  if (touches_memory(inst.op)) {
    if (mods.order != Order::kWeak) {
      add(pick(kOrders, mods.order));
      add(pick(kScopes, mods.scope));
    }
    add(name_of(mods.space));
    if (inst.op == Op::kAtomicRmw) add(name_of(mods.atomic));
  }
  return text;
}

bool uses_imm(const Inst& inst) {
  switch (inst.op) {
    case Op::kConst:
    case Op::kSymbolAddress:
    case Op::kLop3:
    case Op::kVideo:
    case Op::kCall:
    case Op::kCallIndirect:
    case Op::kTexture:
    case Op::kCopyAsync: return true;
    default: return inst.imm != 0 || inst.imm_hi != 0;
  }
}

std::string type_suffix(const Inst& inst) {
  if (inst.op == Op::kCvt || inst.op == Op::kCvtPack || inst.op == Op::kZext || inst.op == Op::kSext ||
      inst.op == Op::kDp4a || inst.op == Op::kDp2a)
    return std::string(".") + name_of(inst.type) + "." + name_of(inst.from);
  if (is_terminator(inst.op) || class_of(inst.op) == OpClass::kBarrier || class_of(inst.op) == OpClass::kEffect)
    return "";
  return std::string(".") + name_of(inst.type);
}

}  // namespace

const char* name_of(Space space) {
  static constexpr const char* kNames[] = {"generic", "global", "shared", "local", "const", "param"};
  return pick(kNames, space);
}
const char* name_of(Rounding rounding) {
  static constexpr const char* kNames[] = {"", "rn", "rz", "rm", "rp", "rna", "rni", "rzi", "rmi", "rpi"};
  return pick(kNames, rounding);
}
const char* name_of(Compare compare) {
  static constexpr const char* kNames[] = {"eq", "ne",  "lt",  "le",  "gt",  "ge",  "lo",  "ls",  "hi",
                                           "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};
  return pick(kNames, compare);
}
const char* name_of(AtomicOp op) {
  static constexpr const char* kNames[] = {"add", "min", "max", "inc", "dec", "and", "or", "xor", "exch"};
  return pick(kNames, op);
}
const char* name_of(Special special) {
  static constexpr const char* kNames[] = {
      "tid.x",           "tid.y",         "tid.z",       "ntid.x",      "ntid.y",      "ntid.z",
      "ctaid.x",         "ctaid.y",       "ctaid.z",     "nctaid.x",    "nctaid.y",    "nctaid.z",
      "laneid",          "warpid",        "nwarpid",     "smid",        "nsmid",       "gridid",
      "lanemask_eq",     "lanemask_le",   "lanemask_lt", "lanemask_ge", "lanemask_gt", "dynamic_smem_size",
      "total_smem_size", "envreg",        "clock",       "clock_hi",    "clock64",     "globaltimer",
      "globaltimer_lo",  "globaltimer_hi"};
  return pick(kNames, special);
}

std::string print_inst(const Function& function, const Inst& inst, bool locations) {
  std::string text = comma_list(inst.results, [&](ValueId id) { return value_definition(function, id); });
  if (!text.empty()) text += " = ";
  text += name_of(inst.op) + modifiers(inst) + type_suffix(inst);
  std::string operands = comma_list(inst.operands, [&](ValueId id) { return value_name(function, id); });
  if (uses_imm(inst)) {
    operands += operands.empty() ? "#" : ", #";
    if (inst.imm_hi) operands += hex(inst.imm_hi) + ":";
    operands += hex(inst.imm);
  }
  for (const Target& target : inst.targets) operands += (operands.empty() ? "" : ", ") + print_target(function, target);
  if (!operands.empty()) text += " " + operands;
  if (inst.guard != kNoValue) text += " if " + value_name(function, inst.guard);
  if (!inst.guard_else.empty())
    text += " else " + comma_list(inst.guard_else, [&](ValueId id) { return value_name(function, id); });
  if (locations && inst.location.ptx_line) {
    text += "  // ptx " + std::to_string(inst.location.ptx_line);
    if (inst.location.line)
      text += ", file " + std::to_string(inst.location.file) + " line " + std::to_string(inst.location.line);
  }
  return text;
}

std::string print_function(const Function& function, bool locations) {
  const auto definition = [&](ValueId id) { return value_definition(function, id); };
  std::string text = (function.is_kernel ? "kernel " : "function ") + function.name + "(";
  if (function.is_kernel) {
    bool first = true;
    for (const Parameter& parameter : function.parameters) {
      text += (first ? "" : ", ") + parameter.name + " @" + std::to_string(parameter.offset) + "+" +
              std::to_string(parameter.size);
      first = false;
    }
  } else {
    text += comma_list(function.arguments, definition);
  }
  text += ")";
  for (std::size_t i = 0; i < function.result_types.size(); ++i)
    text += std::string(i ? ", " : " -> ") + name_of(function.result_types[i]);
  text += " {\n";
  for (std::size_t i = 0; i < function.blocks.size(); ++i) {
    const Block& block = function.blocks[i];
    text += "b" + std::to_string(i);
    if (!block.parameters.empty()) text += "(" + comma_list(block.parameters, definition) + ")";
    text += ":\n";
    for (const Inst& inst : block.insts) text += "  " + print_inst(function, inst, locations) + "\n";
  }
  return text + "}\n";
}

std::string print_program(const Program& program, bool locations) {
  std::string text;
  for (std::size_t i = 0; i < program.symbols.size(); ++i) {
    const Symbol& symbol = program.symbols[i];
    text += "symbol #" + std::to_string(i) + " " + symbol.name;
    if (symbol.kind == Symbol::Kind::kFunction) {
      text += " function";
    } else {
      text += std::string(" ") + name_of(symbol.space) + " " + std::to_string(symbol.size) + " bytes";
      if (symbol.external) text += " external";
    }
    text += " @" + std::to_string(symbol.offset) + "\n";
  }
  text += print_function(program.kernel, locations);
  for (const Function& function : program.functions) text += print_function(function, locations);
  return text;
}

}  // namespace heddle::ir
