#include "compiler/ptx/printer.h"

#include <cstdio>

namespace heddle::ptx {
namespace {

std::string number(std::uint64_t value) { return std::to_string(value); }

std::string hex(const char* prefix, std::uint64_t value, int digits) {
  char text[24];
  std::snprintf(text, sizeof text, "%s%0*llX", prefix, digits, static_cast<unsigned long long>(value));
  return text;
}

/// "+4", "-8" or nothing.
std::string addend(std::uint64_t value) {
  if (value == 0) return "";
  const auto s = static_cast<std::int64_t>(value);
  return s < 0 ? "-" + number(0 - value) : "+" + number(value);
}

std::string text_of(Linkage linkage) {
  switch (linkage) {
    case Linkage::kVisible: return ".visible ";
    case Linkage::kExtern: return ".extern ";
    case Linkage::kWeak: return ".weak ";
    case Linkage::kCommon: return ".common ";
    case Linkage::kNone: break;
  }
  return "";
}

std::string text_of(Space space) {
  static constexpr const char* kTexts[] = {".reg", ".global", ".const", ".shared", ".local", ".param"};
  return kTexts[static_cast<std::size_t>(space)];
}

std::string type_text(Type type) { return "." + std::string(text_of(type)); }

std::string print_initial(const Variable& v) {
  // Flat and complete: what the text left out is zero.
  auto print_value = [&](const InitialValue& i) {
    switch (i.kind) {
      case InitialValue::Kind::kInteger:
        return static_cast<std::int64_t>(i.value) < 0 && bits_of(v.type) < 64 ? "-" + number(0 - i.value)
                                                                              : number(i.value);
      case InitialValue::Kind::kFloat: return hex("0d", i.value, 16);
      case InitialValue::Kind::kAddress: break;
    }
    std::string s(i.symbol);
    if (i.generic) s = "generic(" + s + ")";
    s += addend(i.value);
    if (i.mask_shift != 0xff) s = hex("0x", std::uint64_t{0xff} << i.mask_shift, 2) + "(" + s + ")";
    return s;
  };
  if (!v.is_array && v.vector == 1) return v.initial.empty() ? "" : " = " + print_value(v.initial[0]);
  if (v.initial.empty()) return "";
  std::string text;
  std::uint64_t at = 0;
  for (const InitialValue& i : v.initial) {
    for (; at < i.element; ++at) text += "0, ";
    text += print_value(i) + ", ";
    ++at;
  }
  text.resize(text.size() - 2);
  return " = {" + text + "}";
}

std::string print_variable(const Variable& v) {
  std::string text = text_of(v.linkage) + text_of(v.space);
  if (v.managed) text += " .attribute(.managed)";
  if (v.align != 0 && !v.is_pointer) text += " .align " + number(v.align);
  if (v.vector > 1) text += " .v" + number(v.vector);
  text += " " + type_text(v.type);
  if (v.is_pointer) {
    text += " .ptr";
    if (v.pointer_space != Space::kRegister) text += " " + text_of(v.pointer_space);
    if (v.pointer_align != 0) text += " .align " + number(v.pointer_align);
  }
  text += " " + std::string(v.name);
  for (std::size_t i = 0; i < v.dimensions.size(); ++i)
    text += i == 0 && v.unsized ? "[]" : "[" + number(v.dimensions[i]) + "]";
  return text + print_initial(v);
}

std::string print_parameters(const std::vector<Variable>& list) {
  std::string text;
  for (const Variable& v : list) text += (text.empty() ? "" : ", ") + print_variable(v);
  return "(" + text + ")";
}

std::string print_operand(const Function& f, const Operand& o) {
  auto children = [&] {
    std::string text;
    for (std::uint32_t i = 0; i < o.count; ++i) text += (i ? ", " : "") + print_operand(f, f.children_of(o)[i]);
    return text;
  };
  switch (o.kind) {
    case Operand::Kind::kRegister: {
      std::string text = f.name_of_register(o.id);
      if (o.negated) text = (f.type_of_register(o.id) == Modifier::kPred ? "!" : "-") + text;
      return o.selector.empty() ? text : text + "." + std::string(o.selector);
    }
    case Operand::Kind::kSpecial:
      return std::string(o.text) + (o.component == 0xff ? "" : std::string(".") + "xyzw"[o.component]);
    case Operand::Kind::kInteger:
      return static_cast<std::int64_t>(o.value) < 0 ? "-" + number(0 - o.value) : number(o.value);
    case Operand::Kind::kFloat32: return hex("0f", o.value, 8);
    case Operand::Kind::kFloat64: return hex("0d", o.value, 16);
    case Operand::Kind::kVariable: return std::string(f.variables[o.id].name) + addend(o.value);
    case Operand::Kind::kName: return std::string(o.text) + addend(o.value);
    case Operand::Kind::kLabel: return std::string(f.labels[o.id].name);
    case Operand::Kind::kPrototype: return std::string(f.prototypes[o.id].name);
    case Operand::Kind::kTargets: return std::string(f.targets[o.id].name);
    // A vector register is written by its name; its elements would be parsed as a vector too.
    case Operand::Kind::kVector: return "{" + children() + "}";
    case Operand::Kind::kAddress: {
      // The manual's form is base+offset, with a signed offset.
      std::string text = print_operand(f, f.children_of(o)[0]);
      if (o.value != 0) text += "+" + std::to_string(static_cast<std::int64_t>(o.value));
      for (std::uint32_t i = 1; i < o.count; ++i) text += ", " + print_operand(f, f.children_of(o)[i]);
      return "[" + text + "]";
    }
    case Operand::Kind::kList: return "(" + children() + ")";
    case Operand::Kind::kPair:
      return print_operand(f, f.children_of(o)[0]) + "|" + print_operand(f, f.children_of(o)[1]);
    case Operand::Kind::kSink: return "_";
  }
  return "?";
}

std::string print_location(const SourceLocation& l) {
  std::string text = ".loc " + number(l.file) + " " + number(l.line) + " " + number(l.column);
  if (!l.function_name.empty()) {
    text += ", function_name " + std::string(l.function_name);
    if (l.function_offset != 0) text += "+" + number(l.function_offset);
  }
  if (l.inlined)
    text += ", inlined_at " + number(l.inlined_file) + " " + number(l.inlined_line) + " " + number(l.inlined_column);
  return text;
}

std::string print_list(const Function& f, const std::vector<std::uint32_t>& list) {
  std::string text;
  for (std::uint32_t i : list) text += (text.empty() ? "" : ", ") + print_variable(f.variables[i]);
  return "(" + text + ")";
}

std::string dimensions(const char* directive, const std::uint32_t d[3]) {
  if (d[0] == 0) return "";
  return std::string("\n") + directive + " " + number(d[0]) + ", " + number(d[1]) + ", " + number(d[2]);
}

}  // namespace

std::string print_instruction(const Function& function, const Instruction& instruction) {
  std::string text;
  if (instruction.guard != Instruction::kNoGuard)
    text =
        std::string("@") + (instruction.guard_negated ? "!" : "") + function.name_of_register(instruction.guard) + " ";
  text += instruction.mnemonic->text;
  const bool is_call = instruction.form != nullptr && instruction.form->opcode == Opcode::kCall;
  const char* separator = " ";
  for (std::uint32_t i = 0; i < instruction.count; ++i) {
    const Operand& o = function.operands_of(instruction)[i];
    // Of call's four operands those that are not there are empty lists or `_`.
    if (is_call && ((o.kind == Operand::Kind::kList && o.count == 0) || o.kind == Operand::Kind::kSink)) continue;
    text += separator + print_operand(function, o);
    separator = ", ";
  }
  return text;
}

std::string print_function(const Module& module, const Function& f) {
  std::string text = text_of(f.linkage) + (f.is_entry ? ".entry " : ".func ");
  if (!f.returns.empty()) text += print_list(f, f.returns) + " ";
  text += std::string(f.name) + print_list(f, f.parameters);
  if (f.noreturn) text += "\n.noreturn";
  text += dimensions(".maxntid", f.max_threads) + dimensions(".reqntid", f.required_threads);
  if (f.min_ctas != 0) text += "\n.minnctapersm " + number(f.min_ctas);
  if (f.max_registers != 0) text += "\n.maxnreg " + number(f.max_registers);
  if (f.explicit_cluster) text += "\n.explicitcluster";
  text += dimensions(".reqnctapercluster", f.cluster);
  if (f.max_cluster_rank != 0) text += "\n.maxclusterrank " + number(f.max_cluster_rank);
  (void)module;
  if (!f.has_body) return text + ";\n";
  text += "\n{\n";
  for (const Statement& s : f.statements) {
    switch (s.kind) {
      case Statement::Kind::kInstruction: text += "\t" + print_instruction(f, f.instructions[s.index]) + ";\n"; break;
      case Statement::Kind::kLabel: text += std::string(f.labels[s.index].name) + ":\n"; break;
      case Statement::Kind::kScopeBegin: text += "\t{\n"; break;
      case Statement::Kind::kScopeEnd: text += "\t}\n"; break;
      case Statement::Kind::kRegisters: {
        const RegisterRange& r = f.registers[s.index];
        text += "\t.reg ";
        if (r.vector > 1) text += ".v" + number(r.vector) + " ";
        text += type_text(r.type) + " " + std::string(r.name);
        if (r.ranged) text += "<" + number(r.count) + ">";
        text += ";\n";
        break;
      }
      case Statement::Kind::kVariable: text += "\t" + print_variable(f.variables[s.index]) + ";\n"; break;
      case Statement::Kind::kLocation: text += "\t" + print_location(f.locations[s.index]) + "\n"; break;
      case Statement::Kind::kPragma: text += "\t.pragma \"" + std::string(f.pragmas[s.index]) + "\";\n"; break;
      case Statement::Kind::kPrototype: {
        const Prototype& p = f.prototypes[s.index];
        text += std::string(p.name) + ": .callprototype ";
        if (!p.returns.empty()) text += print_parameters(p.returns) + " ";
        text += "_ " + print_parameters(p.parameters) + (p.noreturn ? " .noreturn" : "") + ";\n";
        break;
      }
      case Statement::Kind::kTargets: {
        const TargetList& t = f.targets[s.index];
        text += std::string(t.name) + (t.calls ? ": .calltargets " : ": .branchtargets ");
        std::string list;
        for (std::uint32_t label : t.labels) list += (list.empty() ? "" : ", ") + std::string(f.labels[label].name);
        for (std::string_view name : t.functions) list += (list.empty() ? "" : ", ") + std::string(name);
        text += list + ";\n";
        break;
      }
    }
  }
  return text + "}\n";
}

std::string print_module(const Module& module) {
  std::string text = ".version " + number(module.version / 10) + "." + number(module.version % 10) + "\n.target " +
                     std::string(module.target_name);
  for (std::string_view option : module.target_options) text += ", " + std::string(option);
  text += "\n.address_size " + number(module.address_size) + "\n";
  for (const Module::Item& item : module.items) {
    switch (item.kind) {
      case Module::Item::Kind::kVariable: text += print_variable(module.variables[item.index]) + ";\n"; break;
      case Module::Item::Kind::kFunction: text += print_function(module, module.functions[item.index]); break;
      case Module::Item::Kind::kFile:
        text += ".file " + number(module.files[item.index].number) + " \"" +
                std::string(module.files[item.index].name) + "\"\n";
        break;
      case Module::Item::Kind::kAlias:
        text += ".alias " + std::string(module.aliases[item.index].name) + ", " +
                std::string(module.aliases[item.index].target) + ";\n";
        break;
      case Module::Item::Kind::kPragma: text += ".pragma \"" + std::string(module.pragmas[item.index]) + "\";\n"; break;
    }
  }
  return text;
}

}  // namespace heddle::ptx
