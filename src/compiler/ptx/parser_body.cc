// Function bodies: statements, scopes, labels (operands: parser_operand.cc); see parser_impl.h. Tested by
// ptx/parser_test.cc.

#include "compiler/ptx/parser_impl.h"

namespace heddle::ptx {
namespace {

constexpr std::uint32_t kMostRegisters = 1u << 24;
constexpr std::uint32_t kInTargetList = ~0u;
constexpr std::size_t kMostScopes = 1000;

}  // namespace

void Parser::recover_statement() {
  for (;;) {
    const Token& t = peek();
    if (t.kind == Token::Kind::kEnd || t.is('}')) return;
    if (t.is(';')) {
      take();
      return;
    }
    take();
  }
}

void Parser::open_scope() {
  undo_marks_.push_back(undo_.size());
  scope_parents_.push_back(scope_stack_.back());
  scope_stack_.push_back(static_cast<std::uint32_t>(scope_parents_.size() - 1));
}

void Parser::close_scope() {
  while (undo_.size() > undo_marks_.back()) {
    Undo& u = undo_.back();
    if (u.had)
      (*u.map)[u.name] = u.old;
    else
      u.map->erase(u.name);
    undo_.pop_back();
  }
  undo_marks_.pop_back();
  scope_stack_.pop_back();
}

void Parser::bind(Bindings* map, std::string_view name, Binding binding, std::uint32_t offset) {
  binding.scope = scope_stack_.back();
  auto [entry, is_new] = map->try_emplace(name, binding);
  if (!is_new && entry->second.scope == binding.scope) {
    fail(offset, "'" + std::string(name) + "' is already declared in this scope");
    return;
  }
  if (!undo_marks_.empty()) undo_.push_back({map, name, !is_new, is_new ? Binding{} : entry->second});
  if (!is_new) entry->second = binding;
}

void Parser::add_registers(const RegisterRange& range, std::uint32_t offset) {
  RegisterRange r = range;
  r.first = function_->register_count;
  if (r.count == 0) return;
  if (std::uint64_t{r.count} * r.vector > kMostRegisters - function_->register_count) {
    fail(offset, "too many registers");
    return;
  }
  function_->register_count += r.count * r.vector;
  Binding binding{Binding::Kind::kRegister, static_cast<std::uint32_t>(function_->registers.size()), 0};
  bind(r.ranged ? &ranged_ : &exact_, r.name, binding, offset);
  function_->registers.push_back(r);
}

void Parser::parse_body() {
  take();  // {
  std::vector<std::uint32_t> braces;
  for (;;) {
    if (diagnostics_.full()) {
      lexer_.take();
      if (peek().kind == Token::Kind::kEnd) return;
      recover_module();
      return;
    }
    const Token token = peek();
    if (token.kind == Token::Kind::kEnd) {
      fail(token.offset, "function '" + std::string(function_->name) + "' has no closing brace");
      return;
    }
    if (token.is('}')) {
      take();
      if (braces.empty()) break;
      braces.pop_back();
      close_scope();
      function_->statements.push_back({Statement::Kind::kScopeEnd, 0});
    } else if (token.is('{')) {
      if (braces.size() >= kMostScopes) {
        fail(token.offset, "scopes nested too deeply");
        return recover_module();
      }
      take();
      braces.push_back(token.offset);
      open_scope();
      function_->statements.push_back({Statement::Kind::kScopeBegin, 0});
    } else {
      parse_statement();
    }
  }
  resolve_labels();
}

void Parser::parse_statement() {
  const Token token = peek();
  if (token.kind == Token::Kind::kName) {
    // A label or an instruction; labels have no dots and end in a colon.
    const Token word = lexer_.take_mnemonic();
    if (peek().is(':')) {
      take();
      if (peek().is(".callprototype")) return parse_prototype(word);
      if (peek().is(".branchtargets")) return parse_targets(word, false);
      if (peek().is(".calltargets")) return parse_targets(word, true);
      auto& definitions = label_definitions_[word.text];
      const std::uint32_t scope = scope_stack_.back();
      for (const LabelDefinition& d : definitions)
        if (d.scope == scope) {
          fail(word.offset, "label '" + std::string(word.text) + "' is already defined in this scope");
          return;
        }
      const auto index = static_cast<std::uint32_t>(function_->labels.size());
      definitions.push_back({scope, index});
      function_->labels.push_back({word.text, word.offset});
      function_->statements.push_back({Statement::Kind::kLabel, index});
      return;
    }
    Instruction instruction;
    instruction.line = word.line;
    instruction.offset = word.offset;
    instruction.mnemonic = find_mnemonic(word);
    if (instruction.mnemonic == nullptr) return recover_statement();
    function_->instructions.push_back(instruction);
    parse_instruction();
    return;
  }
  if (token.is('@')) {
    take();
    Instruction instruction;
    instruction.guard_negated = accept('!');
    Token name;
    if (!take_name(&name)) return recover_statement();
    Operand operand;
    operand.offset = name.offset;
    if (!resolve_name(name, &operand)) return recover_statement();
    if (operand.kind != Operand::Kind::kRegister || function_->type_of_register(operand.id) != Modifier::kPred) {
      fail(name.offset, "a guard must be a predicate register");
      return recover_statement();
    }
    instruction.guard = operand.id;
    if (peek().kind != Token::Kind::kName) {
      fail_here("expected an instruction, found " + quoted(peek()));
      return recover_statement();
    }
    const Token word = lexer_.take_mnemonic();
    instruction.line = word.line;
    instruction.offset = word.offset;
    instruction.mnemonic = find_mnemonic(word);
    if (instruction.mnemonic == nullptr) return recover_statement();
    function_->instructions.push_back(instruction);
    parse_instruction();
    return;
  }
  if (token.is(';')) {
    take();
    return;
  }
  if (token.kind != Token::Kind::kDotName) {
    fail(token.offset, "expected an instruction, found " + quoted(token));
    take();
    return recover_statement();
  }
  if (token.is(".reg")) return parse_registers();
  if (token.is(".loc")) return parse_location();
  if (token.is(".pragma")) {
    parse_pragma();
    if (!function_->pragmas.empty())
      function_->statements.push_back(
          {Statement::Kind::kPragma, static_cast<std::uint32_t>(function_->pragmas.size() - 1)});
    return;
  }
  if (token.is(".file")) return parse_file();
  if (token.is(".section")) {
    while (peek().kind != Token::Kind::kEnd && !peek().is('{')) take();
    if (peek().is('{')) lexer_.skip_braces();
    return;
  }
  Linkage linkage = Linkage::kNone;
  if (accept(".extern"))
    linkage = Linkage::kExtern;
  else if (accept(".visible"))
    linkage = Linkage::kVisible;
  else if (accept(".weak"))
    linkage = Linkage::kWeak;
  const Token space = take();
  if (space.is(".param")) return parse_local_variables(Space::kParam, linkage);
  if (space.is(".local")) return parse_local_variables(Space::kLocal, linkage);
  if (space.is(".shared")) return parse_local_variables(Space::kShared, linkage);
  if (space.is(".global")) return parse_local_variables(Space::kGlobal, linkage);
  if (space.is(".const")) return parse_local_variables(Space::kConst, linkage);
  fail(space.offset, "unknown directive " + quoted(space));
  recover_statement();
}

void Parser::parse_registers() {
  take();
  Variable head;
  if (!parse_variable_head(&head)) return recover_statement();
  if (head.vector > 4) {
    fail_here("a register has 1, 2 or 4 elements");
    return recover_statement();
  }
  do {
    Token name;
    if (!take_name(&name)) return recover_statement();
    RegisterRange range;
    range.name = name.text;
    range.type = head.type;
    range.vector = head.vector;
    if (accept('<')) {
      std::uint64_t count = 0;
      // The comparison operators of constant expressions would take the '>', so only a plain number is read here.
      const Token number = take();
      Constant c;
      if (number.kind != Token::Kind::kNumber || !parse_number(number, &c) || c.kind != Constant::Kind::kInteger) {
        fail(number.offset, "expected a number of registers, found " + quoted(number));
        return recover_statement();
      }
      count = c.bits;
      if (!expect('>')) return recover_statement();
      if (count > kMostRegisters) {
        fail(number.offset, "too many registers");
        return recover_statement();
      }
      range.ranged = true;
      range.count = static_cast<std::uint32_t>(count);
    }
    if (range.count == 0) continue;
    function_->statements.push_back(
        {Statement::Kind::kRegisters, static_cast<std::uint32_t>(function_->registers.size())});
    const std::size_t before = function_->registers.size();
    add_registers(range, name.offset);
    if (function_->registers.size() == before) function_->statements.pop_back();
  } while (accept(','));
  if (!expect(';')) recover_statement();
}

void Parser::parse_local_variables(Space space, Linkage linkage) {
  Variable base;
  base.space = space;
  base.linkage = linkage;
  if (!parse_variable_head(&base)) return recover_statement();
  do {
    Variable variable = base;
    if (!parse_declarator(&variable, space == Space::kGlobal || space == Space::kConst)) return recover_statement();
    const auto index = static_cast<std::uint32_t>(function_->variables.size());
    bind(&exact_, variable.name, {Binding::Kind::kVariable, index, 0}, variable.offset);
    function_->variables.push_back(std::move(variable));
    function_->statements.push_back({Statement::Kind::kVariable, index});
  } while (accept(','));
  if (!expect(';')) recover_statement();
}

void Parser::parse_location() {
  const Token loc = take();
  SourceLocation location;
  std::uint64_t n[3] = {0, 0, 0};
  for (std::uint64_t& x : n) {
    // Plain numbers: an expression would run into the next line.
    const Token number = peek();
    Constant c;
    if (number.kind != Token::Kind::kNumber || !parse_number(take(), &c) || c.bits > 0xffffffffu) {
      fail(loc.offset, ".loc needs a file, a line and a column");
      return;
    }
    x = c.bits;
  }
  location.file = static_cast<std::uint32_t>(n[0]);
  location.line = static_cast<std::uint32_t>(n[1]);
  location.column = static_cast<std::uint32_t>(n[2]);
  while (accept(',')) {
    Token word;
    if (!take_name(&word)) return recover_statement();
    if (word.is("function_name")) {
      Token name;
      if (!take_name(&name)) return recover_statement();
      location.function_name = name.text;
      if (accept('+')) {
        std::uint64_t offset = 0;
        if (!take_integer(&offset, 0xffffffffu)) return recover_statement();
        location.function_offset = static_cast<std::uint32_t>(offset);
      }
    } else if (word.is("inlined_at")) {
      location.inlined = true;
      std::uint32_t* fields[] = {&location.inlined_file, &location.inlined_line, &location.inlined_column};
      for (std::uint32_t* field : fields) {
        Constant c;
        const Token number = peek();
        if (number.kind != Token::Kind::kNumber || !parse_number(take(), &c) || c.bits > 0xffffffffu) {
          fail(number.offset, "inlined_at needs a file, a line and a column");
          return;
        }
        *field = static_cast<std::uint32_t>(c.bits);
      }
    } else {
      fail(word.offset, "unknown .loc attribute " + quoted(word));
      return;
    }
  }
  function_->statements.push_back(
      {Statement::Kind::kLocation, static_cast<std::uint32_t>(function_->locations.size())});
  function_->locations.push_back(location);
}

void Parser::parse_prototype(const Token& name) {
  take();
  Prototype prototype;
  prototype.name = name.text;
  auto parse_list = [&](std::vector<Variable>* list) {
    if (!expect('(')) return false;
    if (accept(')')) return true;
    do {
      Variable v;
      if (!parse_parameter(&v)) return false;
      list->push_back(std::move(v));
    } while (accept(','));
    return expect(')');
  };
  Token ignored;
  if (peek().is('(') && !parse_list(&prototype.returns)) return recover_statement();
  if (!take_name(&ignored)) return recover_statement();
  if (peek().is('(') && !parse_list(&prototype.parameters)) return recover_statement();
  while (peek().kind == Token::Kind::kDotName) {
    Token word = take();
    if (word.is(".noreturn")) prototype.noreturn = true;
    std::uint64_t ignored_number;
    if (peek().kind == Token::Kind::kNumber && !take_integer(&ignored_number, ~std::uint64_t{0})) break;
  }
  if (!expect(';')) return recover_statement();
  const auto index = static_cast<std::uint32_t>(function_->prototypes.size());
  bind(&exact_, name.text, {Binding::Kind::kPrototype, index, 0}, name.offset);
  function_->prototypes.push_back(std::move(prototype));
  function_->statements.push_back({Statement::Kind::kPrototype, index});
}

void Parser::parse_targets(const Token& name, bool calls) {
  take();
  TargetList list;
  list.name = name.text;
  list.calls = calls;
  const auto index = static_cast<std::uint32_t>(function_->targets.size());
  do {
    Token target;
    if (!take_name(&target)) return recover_statement();
    if (calls) {
      list.functions.push_back(target.text);
    } else {
      label_uses_.push_back({kInTargetList, target.text, scope_stack_.back(), target.offset, index,
                             static_cast<std::uint32_t>(list.labels.size())});
      list.labels.push_back(0);
    }
  } while (accept(','));
  bind(&exact_, name.text, {Binding::Kind::kTargets, index, 0}, name.offset);
  function_->targets.push_back(std::move(list));
  function_->statements.push_back({Statement::Kind::kTargets, index});
  if (!expect(';')) recover_statement();
}

const Mnemonic* Parser::find_mnemonic(const Token& token) {
  auto known = mnemonics_.find(token.text);
  if (known != mnemonics_.end()) return known->second;
  Mnemonic mnemonic;
  const MatchResult match = match_mnemonic(token.text, &mnemonic);
  switch (match.problem) {
    case MatchResult::Problem::kNone: break;
    case MatchResult::Problem::kUnknownName:
      fail(token.offset, "unknown instruction '" + std::string(token.text) + "'");
      return nullptr;
    case MatchResult::Problem::kUnknownModifier:
      fail(token.offset, "unknown instruction '" + std::string(token.text) + "': '" +
                             std::string(token.text.substr(0, token.text.find('.'))) + "' has no modifier '." +
                             std::string(match.word) + "'");
      return nullptr;
    case MatchResult::Problem::kNoForm:
      fail(token.offset, "unknown instruction '" + std::string(token.text) + "': these modifiers don't go together");
      return nullptr;
  }
  module_->mnemonics.push_back(std::move(mnemonic));
  const Mnemonic* stored = &module_->mnemonics.back();
  mnemonics_[stored->text] = stored;
  return stored;
}

void Parser::parse_instruction() {
  const std::size_t at = function_->instructions.size() - 1;
  scratch_.clear();
  const Mnemonic& mnemonic = *function_->instructions[at].mnemonic;
  const std::vector<OperandRule>& rules = mnemonic.forms[0]->operands;
  bool ok = true;
  if (!rules.empty() && rules[0].kind == OperandRule::Kind::kCallee) {
    ok = parse_call_operands();
  } else if (!peek().is(';')) {
    std::size_t position = 0;
    do {
      const bool is_label = position < rules.size() && rules[position].kind == OperandRule::Kind::kLabel;
      ok = parse_operand(is_label);
      ++position;
    } while (ok && accept(','));
  }
  if (ok) {
    Instruction& instruction = function_->instructions[at];
    instruction.first = static_cast<std::uint32_t>(function_->operands.size());
    instruction.count = static_cast<std::uint32_t>(scratch_.size());
    for (Operand& operand : scratch_) {
      // Label uses were recorded against the scratch array: they are always top-level operands.
      if (operand.kind == Operand::Kind::kLabel)
        label_uses_[operand.id].operand = static_cast<std::uint32_t>(function_->operands.size());
      function_->operands.push_back(operand);
    }
    ok = select_form(&instruction);
  }
  if (ok && peek().is(';')) {
    take();
    function_->statements.push_back({Statement::Kind::kInstruction, static_cast<std::uint32_t>(at)});
    return;
  }
  if (ok) fail_here("expected ';', found " + quoted(peek()));
  recover_statement();
}

bool Parser::select_form(Instruction* instruction) {
  const std::vector<const Form*>& forms = instruction->mnemonic->forms;
  const std::size_t n = instruction->count;
  const Operand* operands = function_->operands.data() + instruction->first;
  using Rule = OperandRule::Kind;
  auto fits_rule = [&](Rule rule, const Operand& o) {
    switch (rule) {
      case Rule::kDestination:
        return o.kind == Operand::Kind::kRegister || o.kind == Operand::Kind::kVector || o.kind == Operand::Kind::kSink;
      case Rule::kPair:
        return o.kind == Operand::Kind::kRegister || o.kind == Operand::Kind::kPair || o.kind == Operand::Kind::kSink;
      case Rule::kAddress: return o.kind == Operand::Kind::kAddress;
      case Rule::kLabel: return o.kind == Operand::Kind::kLabel || o.kind == Operand::Kind::kTargets;
      case Rule::kValue:
        return o.kind != Operand::Kind::kAddress && o.kind != Operand::Kind::kPair && o.kind != Operand::Kind::kList &&
               o.kind != Operand::Kind::kLabel && o.kind != Operand::Kind::kSink;
      case Rule::kCallee: return true;
    }
    return false;
  };
  for (const Form* form : forms) {
    if (!form->operands.empty() && form->operands[0].kind == Rule::kCallee) {
      instruction->form = form;
      break;
    }
    if (n < static_cast<std::size_t>(form->min_operands) || n > form->operands.size()) continue;
    // Optional operands that are missing are the last optional ones.
    std::size_t optional_there = n - static_cast<std::size_t>(form->min_operands);
    bool ok = true;
    std::size_t i = 0;
    for (const OperandRule& rule : form->operands) {
      if (rule.optional && optional_there == 0) continue;
      if (rule.optional) --optional_there;
      ok = ok && fits_rule(rule.kind, operands[i++]);
    }
    if (!ok) continue;
    instruction->form = form;
    break;
  }
  if (instruction->form == nullptr)
    return fail(instruction->offset, "wrong operands for '" + std::string(instruction->mnemonic->text) +
                                         "'; the form is: " + std::string(forms[0]->text));
  const Form& form = *instruction->form;
  if (static_cast<std::uint32_t>(form.version) > module_->version)
    return fail(instruction->offset, "'" + std::string(instruction->mnemonic->text) + "' needs PTX version " +
                                         std::to_string(form.version / 10) + "." + std::to_string(form.version % 10));
  if (static_cast<std::uint32_t>(form.target) > module_->target)
    return fail(instruction->offset, "'" + std::string(instruction->mnemonic->text) + "' needs .target sm_" +
                                         std::to_string(form.target) + " or higher");
  return true;
}

void Parser::resolve_labels() {
  for (const LabelUse& use : label_uses_) {
    auto definitions = label_definitions_.find(use.name);
    const LabelDefinition* found = nullptr;
    if (definitions != label_definitions_.end()) {
      for (std::uint32_t scope = use.scope; found == nullptr; scope = scope_parents_[scope]) {
        for (const LabelDefinition& d : definitions->second)
          if (d.scope == scope) found = &d;
        if (scope == 0) break;
      }
    }
    if (found == nullptr) {
      fail(use.offset, "undefined label '" + std::string(use.name) + "'");
      continue;
    }
    if (use.operand == kInTargetList) {
      // A list that was rejected half-way is not there.
      if (use.list < function_->targets.size() && use.index < function_->targets[use.list].labels.size())
        function_->targets[use.list].labels[use.index] = found->label;
    } else if (use.operand < function_->operands.size() &&
               function_->operands[use.operand].kind == Operand::Kind::kLabel)
      function_->operands[use.operand].id = found->label;  // else its instruction was rejected
  }
}

}  // namespace heddle::ptx
