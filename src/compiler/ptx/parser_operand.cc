// Operands of instructions, and what their names mean; see parser_impl.h. Tested by ptx/parser_test.cc.
#include <charconv>

#include "compiler/ptx/parser_impl.h"

namespace heddle::ptx {
namespace {

constexpr int kDeepest = 64;

/// "%r12" to "%r" and 12; false if it doesn't end in digits or has a leading zero.
bool split_number(std::string_view name, std::string_view* prefix, std::uint32_t* number) {
  std::size_t begin = name.size();
  while (begin > 0 && name[begin - 1] >= '0' && name[begin - 1] <= '9') --begin;
  if (begin == name.size() || begin == 0 || name.size() - begin > 9) return false;
  if (name[begin] == '0' && name.size() - begin > 1) return false;
  *prefix = name.substr(0, begin);
  std::from_chars(name.data() + begin, name.data() + name.size(), *number);
  return true;
}

int component_of(std::string_view dot_name) {
  if (dot_name.size() != 2) return -1;
  switch (dot_name[1]) {
    case 'x':
    case 'r': return 0;
    case 'y':
    case 'g': return 1;
    case 'z':
    case 'b': return 2;
    case 'w':
    case 'a': return 3;
    default: return -1;
  }
}

/// The part of a register that a video instruction names: .h0, .b3, .h32, .b7654.
bool is_selector(std::string_view dot_name) {
  if (dot_name.size() < 3 || (dot_name[1] != 'h' && dot_name[1] != 'b')) return false;
  for (char c : dot_name.substr(2))
    if (c < '0' || c > '7') return false;
  return dot_name.size() <= 6;
}

const std::unordered_map<std::string_view, SpecialRegister>& special_registers() {
  static const auto* map = [] {
    auto* m = new std::unordered_map<std::string_view, SpecialRegister>;
#define HEDDLE_PTX_SPECIAL(identifier, text) (*m)[text] = SpecialRegister::k##identifier;
#include "compiler/ptx/special_registers.def"
#undef HEDDLE_PTX_SPECIAL
    return m;
  }();
  return *map;
}

}  // namespace

bool Parser::parse_call_operands() {
  // call{.uni} (results), callee, (arguments), prototype; stored as exactly these four.
  const std::uint32_t offset = peek().offset;
  Operand empty;
  empty.kind = Operand::Kind::kList;
  empty.offset = offset;
  if (peek().is('(')) {
    if (!parse_vector_or_list('(', ')', Operand::Kind::kList) || !expect(',')) return false;
  } else {
    scratch_.push_back(empty);
  }
  if (!parse_name(false)) return false;
  const Operand::Kind callee = scratch_.back().kind;
  if (callee != Operand::Kind::kName && callee != Operand::Kind::kRegister)
    return fail(scratch_.back().offset, "expected a function or a register to call");
  bool has_arguments = false;
  if (accept(',')) {
    if (peek().is('(')) {
      has_arguments = true;
      if (!parse_vector_or_list('(', ')', Operand::Kind::kList)) return false;
      if (accept(',')) return parse_name(false);
    } else {
      scratch_.push_back(empty);
      has_arguments = true;
      return parse_name(false);
    }
  }
  if (!has_arguments) scratch_.push_back(empty);
  Operand sink;
  sink.offset = offset;
  scratch_.push_back(sink);
  return true;
}

bool Parser::parse_vector_or_list(char open, char close, Operand::Kind kind) {
  Operand parent;
  parent.kind = kind;
  parent.offset = peek().offset;
  if (!expect(open)) return false;
  if (depth_ > kDeepest) return fail_here("operands nested too deeply");
  ++depth_;
  const std::size_t base = scratch_.size();
  bool ok = true;
  if (!accept(close)) {
    do {
      ok = parse_operand(false);
    } while (ok && accept(','));
    ok = ok && expect(close);
  }
  --depth_;
  if (!ok) return false;
  parent.first = static_cast<std::uint32_t>(function_->operands.size());
  parent.count = static_cast<std::uint32_t>(scratch_.size() - base);
  function_->operands.insert(function_->operands.end(), scratch_.begin() + static_cast<std::ptrdiff_t>(base),
                             scratch_.end());
  scratch_.resize(base);
  scratch_.push_back(parent);
  return true;
}

bool Parser::parse_address() {
  Operand parent;
  parent.kind = Operand::Kind::kAddress;
  parent.offset = peek().offset;
  take();  // [
  if (depth_ > kDeepest) return fail_here("operands nested too deeply");
  ++depth_;
  const std::size_t base = scratch_.size();
  bool ok = parse_operand(false);
  if (ok) {
    Operand& address = scratch_.back();
    const auto kind = address.kind;
    if (kind == Operand::Kind::kRegister) {
      while (ok && (peek().is('+') || peek().is('-'))) {
        const bool minus = take().is('-');
        Constant c;
        ok = parse_binary(&c, 10);
        if (ok && c.kind != Constant::Kind::kInteger) ok = fail_here("an address offset must be an integer");
        parent.value += minus ? 0 - c.bits : c.bits;
      }
    } else if (kind == Operand::Kind::kVariable || kind == Operand::Kind::kName) {
      parent.value = address.value;
      address.value = 0;
    } else if (kind != Operand::Kind::kInteger) {
      ok = fail(address.offset, "an address must be a register, a variable or an integer");
    }
  }
  while (ok && accept(',')) ok = parse_operand(false);
  ok = ok && expect(']');
  --depth_;
  if (!ok) return false;
  parent.first = static_cast<std::uint32_t>(function_->operands.size());
  parent.count = static_cast<std::uint32_t>(scratch_.size() - base);
  function_->operands.insert(function_->operands.end(), scratch_.begin() + static_cast<std::ptrdiff_t>(base),
                             scratch_.end());
  scratch_.resize(base);
  scratch_.push_back(parent);
  return true;
}

bool Parser::parse_operand(bool is_label) {
  const Token token = peek();
  if (token.kind == Token::Kind::kName && !token.is("WARP_SZ")) {
    if (!parse_name(is_label)) return false;
    if (peek().is('|')) {  // d|p
      take();
      const std::size_t base = scratch_.size() - 1;
      if (peek().kind != Token::Kind::kName) return fail_here("expected a register, found " + quoted(peek()));
      if (!parse_name(false)) return false;
      Operand parent;
      parent.kind = Operand::Kind::kPair;
      parent.offset = token.offset;
      parent.first = static_cast<std::uint32_t>(function_->operands.size());
      parent.count = 2;
      function_->operands.insert(function_->operands.end(), scratch_.begin() + static_cast<std::ptrdiff_t>(base),
                                 scratch_.end());
      scratch_.resize(base);
      scratch_.push_back(parent);
    }
    return true;
  }
  if (token.is('{')) return parse_vector_or_list('{', '}', Operand::Kind::kVector);
  if (token.is('[')) return parse_address();
  if (token.is('!')) {
    // !p, unless it is the start of a constant expression
    take();
    if (peek().kind == Token::Kind::kName && !peek().is("WARP_SZ")) {
      if (!parse_name(false)) return false;
      if (scratch_.back().kind != Operand::Kind::kRegister) return fail(token.offset, "'!' needs a predicate register");
      scratch_.back().negated = true;
      return true;
    }
    Constant c;
    if (!parse_binary(&c, 11)) return false;
    Operand operand;
    operand.kind = Operand::Kind::kInteger;
    operand.offset = token.offset;
    operand.value = c.bits == 0;
    scratch_.push_back(operand);
    return true;
  }
  if (token.is('-')) {
    // -%r1, which vmad has; else a constant.
    take();
    if (peek().kind == Token::Kind::kName && !peek().is("WARP_SZ")) {
      if (!parse_name(false)) return false;
      if (scratch_.back().kind != Operand::Kind::kRegister)
        return fail(token.offset, "'-' needs a register or a constant");
      scratch_.back().negated = true;
      return true;
    }
    return parse_constant_operand(token, true);
  }
  if (token.kind == Token::Kind::kNumber || token.is('+') || token.is('~') || token.is('(') || token.is("WARP_SZ")) {
    return parse_constant_operand(token, false);
  }
  return fail(token.offset, "expected an operand, found " + quoted(token));
}

bool Parser::parse_constant_operand(const Token& first, bool negative) {
  Constant c;
  if (!parse_rest_of_constant(&c, negative)) return false;
  Operand operand;
  operand.kind = c.kind == Constant::Kind::kInteger   ? Operand::Kind::kInteger
                 : c.kind == Constant::Kind::kFloat32 ? Operand::Kind::kFloat32
                                                      : Operand::Kind::kFloat64;
  operand.offset = first.offset;
  operand.value = c.bits;
  scratch_.push_back(operand);
  return true;
}

bool Parser::parse_name(bool is_label) {
  const Token token = take();
  if (token.kind != Token::Kind::kName) return fail(token.offset, "expected a name, found " + quoted(token));
  Operand operand;
  operand.offset = token.offset;
  operand.text = token.text;
  if (token.text == "_") {
    operand.kind = Operand::Kind::kSink;
    scratch_.push_back(operand);
    return true;
  }
  if (is_label) {
    auto bound = exact_.find(token.text);
    if (bound != exact_.end() && bound->second.kind == Binding::Kind::kTargets) {
      operand.kind = Operand::Kind::kTargets;
      operand.id = bound->second.id;
    } else {
      operand.kind = Operand::Kind::kLabel;
      operand.id = static_cast<std::uint32_t>(label_uses_.size());
      label_uses_.push_back({0, token.text, scope_stack_.back(), token.offset, 0, 0});
    }
    scratch_.push_back(operand);
    return true;
  }
  if (!resolve_name(token, &operand)) return false;
  if (operand.kind == Operand::Kind::kVariable || operand.kind == Operand::Kind::kName) {
    while (peek().is('+') || peek().is('-')) {
      const bool minus = take().is('-');
      Constant c;
      if (!parse_binary(&c, 10)) return false;
      if (c.kind != Constant::Kind::kInteger) return fail_here("an address offset must be an integer");
      operand.value += minus ? 0 - c.bits : c.bits;
    }
  }
  scratch_.push_back(operand);
  return true;
}

/// The innermost range of that prefix which has register `number`: an inner `%r<2>` hides only %r0 and %r1.
const Parser::Binding* Parser::find_range(std::string_view prefix, std::uint32_t number) const {
  auto has = [&](const Binding& b) { return number < function_->registers[b.id].count; };
  auto range = ranged_.find(prefix);
  if (range == ranged_.end() || has(range->second)) return range == ranged_.end() ? nullptr : &range->second;
  for (auto u = undo_.rbegin(); u != undo_.rend(); ++u)
    if (u->map == &ranged_ && u->had && u->name == prefix && has(u->old)) return &u->old;
  return nullptr;
}

bool Parser::resolve_name(const Token& token, Operand* operand) {
  const std::string_view name = token.text;
  operand->text = name;
  std::string_view prefix;
  std::uint32_t number = 0;
  const Binding* found = nullptr;
  bool ranged = false;
  if (auto exact = exact_.find(name); exact != exact_.end()) found = &exact->second;
  if (split_number(name, &prefix, &number)) {
    // The innermost declaration wins; scopes are numbered in the order in which they open.
    const Binding* range = find_range(prefix, number);
    if (range != nullptr && (found == nullptr || range->scope > found->scope)) {
      found = range;
      ranged = true;
    }
  }
  if (found != nullptr) {
    switch (found->kind) {
      case Binding::Kind::kRegister: {
        const RegisterRange& r = function_->registers[found->id];
        operand->kind = Operand::Kind::kRegister;
        operand->id = r.first + (ranged ? number * r.vector : 0);
        if (peek().kind == Token::Kind::kDotName && r.vector == 1 && is_selector(peek().text)) {
          operand->selector = take().text.substr(1);
        } else if (peek().kind == Token::Kind::kDotName) {
          const int component = component_of(peek().text);
          if (component < 0 || component >= r.vector)
            return fail_here("register '" + std::string(name) + "' has no element " + quoted(peek()));
          take();
          operand->id += static_cast<std::uint32_t>(component);
          operand->component = static_cast<std::uint8_t>(component);
        } else if (r.vector > 1) {
          // The whole vector register stands for its elements.
          operand->kind = Operand::Kind::kVector;
          operand->first = static_cast<std::uint32_t>(function_->operands.size());
          operand->count = r.vector;
          const std::uint32_t base = operand->id;
          for (std::uint8_t i = 0; i < r.vector; ++i) {
            Operand element;
            element.kind = Operand::Kind::kRegister;
            element.id = base + i;
            element.component = i;
            element.offset = token.offset;
            element.text = name;
            function_->operands.push_back(element);
          }
        }
        return true;
      }
      case Binding::Kind::kVariable:
        operand->kind = Operand::Kind::kVariable;
        operand->id = found->id;
        return true;
      case Binding::Kind::kPrototype:
        operand->kind = Operand::Kind::kPrototype;
        operand->id = found->id;
        return true;
      case Binding::Kind::kTargets:
        operand->kind = Operand::Kind::kTargets;
        operand->id = found->id;
        return true;
    }
  }
  if (name[0] == '%' && resolve_special(token, operand)) return true;
  if (names_.contains(name)) {
    operand->kind = Operand::Kind::kName;
    return true;
  }
  return fail(token.offset, (name[0] == '%' ? "undeclared register " : "undeclared name ") + quoted(token));
}

bool Parser::resolve_special(const Token& token, Operand* operand) {
  const auto& table = special_registers();
  auto found = table.find(token.text);
  std::string_view prefix;
  std::uint32_t number = 0;
  if (found == table.end() && split_number(token.text, &prefix, &number)) {
    found = table.find(prefix);
    if (found != table.end() && found->second != SpecialRegister::kEnvreg && found->second != SpecialRegister::kPm &&
        found->second != SpecialRegister::kReservedSmemOffset)
      found = table.end();
    operand->value = number;
  }
  if (found == table.end()) return false;
  operand->kind = Operand::Kind::kSpecial;
  operand->id = static_cast<std::uint32_t>(found->second);
  if (peek().kind == Token::Kind::kDotName && component_of(peek().text) >= 0)
    operand->component = static_cast<std::uint8_t>(component_of(take().text));
  return true;
}

}  // namespace heddle::ptx
