// Constant expressions and initial values; see parser_impl.h. Tested by ptx/parser_test.cc.
#include <bit>
#include <charconv>
#include <cstdlib>

#include "compiler/ptx/parser_impl.h"

namespace heddle::ptx {
namespace {

constexpr int kDeepest = 64;

double as_double(const Constant& c) {
  if (c.kind == Constant::Kind::kFloat32) return std::bit_cast<float>(static_cast<std::uint32_t>(c.bits));
  if (c.kind == Constant::Kind::kFloat64) return std::bit_cast<double>(c.bits);
  return c.is_unsigned ? static_cast<double>(c.bits) : static_cast<double>(static_cast<std::int64_t>(c.bits));
}

struct Operator {
  std::string_view text;
  int precedence;
};
constexpr Operator kOperators[] = {{"||", 1}, {"&&", 2}, {"|", 3},  {"^", 4},  {"&", 5},  {"==", 6},
                                   {"!=", 6}, {"<", 7},  {"<=", 7}, {">", 7},  {">=", 7}, {"<<", 8},
                                   {">>", 8}, {"+", 9},  {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10}};

int precedence_of(const Token& token) {
  if (token.kind != Token::Kind::kPunctuation) return -1;
  for (const Operator& op : kOperators)
    if (token.text == op.text) return op.precedence;
  return -1;
}

/// False for a division by zero.
bool apply(std::string_view op, const Constant& a, const Constant& b, Constant* out) {
  Constant r;
  if (a.kind != Constant::Kind::kInteger || b.kind != Constant::Kind::kInteger) {
    double x = as_double(a), y = as_double(b), z = 0;
    if (op == "+")
      z = x + y;
    else if (op == "-")
      z = x - y;
    else if (op == "*")
      z = x * y;
    else if (op == "/")
      z = x / y;
    else
      return false;
    r.kind = Constant::Kind::kFloat64;
    r.bits = std::bit_cast<std::uint64_t>(z);
    *out = r;
    return true;
  }
  r.is_unsigned = a.is_unsigned || b.is_unsigned;
  const std::uint64_t x = a.bits, y = b.bits;
  const auto sx = static_cast<std::int64_t>(x), sy = static_cast<std::int64_t>(y);
  const bool u = r.is_unsigned;
  if ((op == "/" || op == "%") && y == 0) return false;
  if (op == "+")
    r.bits = x + y;
  else if (op == "-")
    r.bits = x - y;
  else if (op == "*")
    r.bits = x * y;
  else if (op == "/")
    r.bits = u ? x / y : sy == -1 ? 0 - x : static_cast<std::uint64_t>(sx / sy);
  else if (op == "%")
    r.bits = u ? x % y : sy == -1 ? 0 : static_cast<std::uint64_t>(sx % sy);
  else if (op == "&")
    r.bits = x & y;
  else if (op == "|")
    r.bits = x | y;
  else if (op == "^")
    r.bits = x ^ y;
  else if (op == "<<")
    r.bits = y < 64 ? x << y : 0, r.is_unsigned = a.is_unsigned;
  else if (op == ">>")
    r.bits = a.is_unsigned ? (y < 64 ? x >> y : 0) : static_cast<std::uint64_t>(sx >> (y < 64 ? y : 63)),
    r.is_unsigned = a.is_unsigned;
  else {
    bool t = op == "=="   ? x == y
             : op == "!=" ? x != y
             : op == "&&" ? x && y
             : op == "||" ? x || y
             : op == "<"  ? (u ? x < y : sx < sy)
             : op == "<=" ? (u ? x <= y : sx <= sy)
             : op == ">"  ? (u ? x > y : sx > sy)
                          : (u ? x >= y : sx >= sy);
    r.is_unsigned = false;
    r.bits = t;
  }
  *out = r;
  return true;
}

}  // namespace

bool Parser::parse_binary(Constant* value, int least) {
  if (depth_ > kDeepest) return fail_here("expression nested too deeply");
  ++depth_;
  const bool ok = parse_unary(value) && parse_operators(value, least);
  --depth_;
  return ok;
}

bool Parser::parse_rest_of_constant(Constant* value, bool negative) {
  if (!negative) return parse_constant(value);
  return parse_unary(value) && negate(value) && parse_operators(value, 0);
}

bool Parser::negate(Constant* value) {
  if (value->kind == Constant::Kind::kInteger)
    value->bits = 0 - value->bits;
  else
    value->bits ^= value->kind == Constant::Kind::kFloat32 ? 0x80000000u : std::uint64_t{1} << 63;
  return true;
}

bool Parser::parse_operators(Constant* value, int least) {
  bool ok = true;
  while (ok) {
    int precedence = precedence_of(peek());
    if (precedence < 0 || precedence < least) break;
    Token op = take();
    Constant right;
    ok = parse_binary(&right, precedence + 1);
    if (ok && !apply(op.text, *value, right, value)) ok = fail(op.offset, "this operation has no constant value");
  }
  if (ok && least == 0 && peek().is('?')) {
    take();
    Constant yes, no;
    ok = parse_binary(&yes, 0) && expect(':') && parse_binary(&no, 0);
    if (ok) *value = as_double(*value) != 0 ? yes : no;
  }
  return ok;
}

bool Parser::parse_unary(Constant* value) {
  Token token = peek();
  if (token.kind == Token::Kind::kNumber) return parse_number(take(), value);
  if (token.is("WARP_SZ")) {
    take();
    *value = {};
    value->bits = 32;
    return true;
  }
  if (token.is('-') || token.is('+') || token.is('!') || token.is('~')) {
    if (depth_ > kDeepest) return fail_here("expression nested too deeply");
    take();
    ++depth_;
    bool ok = parse_unary(value);
    --depth_;
    if (!ok) return false;
    if (token.is('-')) return negate(value);
    if (value->kind == Constant::Kind::kInteger) {
      if (token.is('!')) value->bits = value->bits == 0;
      if (token.is('~')) value->bits = ~value->bits;
    } else if (!token.is('+')) {
      return fail(token.offset, "'" + std::string(token.text) + "' needs an integer");
    }
    return true;
  }
  if (token.is('(')) {
    take();
    if (peek().is(".s64") || peek().is(".u64")) {
      const bool to_unsigned = take().text == ".u64";
      if (!expect(')') || !parse_unary(value)) return false;
      if (value->kind != Constant::Kind::kInteger) {
        double d = as_double(*value);
        if (!(d > -9.3e18 && d < 1.8e19)) return fail(token.offset, "the number doesn't fit");
        value->bits = d < 0 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(d)) : static_cast<std::uint64_t>(d);
        value->kind = Constant::Kind::kInteger;
      }
      value->is_unsigned = to_unsigned;
      return true;
    }
    return parse_binary(value, 0) && expect(')');
  }
  return fail_here("expected a constant, found " + quoted(token));
}

bool Parser::parse_number(const Token& token, Constant* value) {
  std::string_view t = token.text;
  *value = {};
  auto bad = [&] { return fail(token.offset, "malformed number " + quoted(token)); };
  if (t.size() >= 2 && t[0] == '0' && (t[1] == 'f' || t[1] == 'F' || t[1] == 'd' || t[1] == 'D')) {
    const bool single = t[1] == 'f' || t[1] == 'F';
    value->kind = single ? Constant::Kind::kFloat32 : Constant::Kind::kFloat64;
    if (t.size() != (single ? 10u : 18u)) return bad();
    auto r = std::from_chars(t.data() + 2, t.data() + t.size(), value->bits, 16);
    return r.ptr == t.data() + t.size() ? true : bad();
  }
  int base = 10;
  std::size_t begin = 0;
  if (t.size() >= 2 && t[0] == '0' && (t[1] == 'x' || t[1] == 'X'))
    base = 16, begin = 2;
  else if (t.size() >= 2 && t[0] == '0' && (t[1] == 'b' || t[1] == 'B'))
    base = 2, begin = 2;
  else if (t.find_first_of(".eE") != std::string_view::npos) {
    std::string copy(t);
    char* end = nullptr;
    double d = std::strtod(copy.c_str(), &end);
    if (end != copy.c_str() + copy.size()) return bad();
    value->kind = Constant::Kind::kFloat64;
    value->bits = std::bit_cast<std::uint64_t>(d);
    return true;
  } else if (t.size() >= 2 && t[0] == '0' && t[1] != 'U') {
    base = 8, begin = 1;
  }
  if (t.back() == 'U') {
    value->is_unsigned = true;
    t.remove_suffix(1);
  }
  auto r = std::from_chars(t.data() + begin, t.data() + t.size(), value->bits, base);
  if (r.ec == std::errc::result_out_of_range) return fail(token.offset, "the number doesn't fit into 64 bits");
  if (r.ec != std::errc() || r.ptr != t.data() + t.size()) return bad();
  if (value->bits >> 63) value->is_unsigned = true;
  return true;
}

bool Parser::parse_initial(Variable* variable) {
  if (variable->linkage == Linkage::kExtern || variable->space == Space::kShared || variable->space == Space::kLocal ||
      variable->space == Space::kParam)
    return fail_here("this variable can't have an initial value");
  if (!variable->is_array && variable->vector == 1) return parse_initial_value(variable, 0);
  if (!parse_initial_list(variable, 0, 0)) return false;
  if (variable->unsized) {
    // x[] = {...}: the first dimension is what the values need.
    std::uint64_t stride = variable->vector, last = 0;
    for (std::size_t i = 1; i < variable->dimensions.size(); ++i) stride *= variable->dimensions[i];
    for (const InitialValue& v : variable->initial) last = std::max(last, v.element + 1);
    variable->dimensions[0] = stride == 0 ? 0 : (last + stride - 1) / stride;
    variable->unsized = false;
  }
  return true;
}

bool Parser::parse_initial_list(Variable* variable, std::size_t depth, std::uint64_t first) {
  if (peek().kind == Token::Kind::kString) {  // not in the manual's grammar, but cheap: bytes of a string
    Token s = take();
    for (std::size_t i = 0; i < s.text.size(); ++i) {
      InitialValue v;
      v.element = first + i;
      v.value = static_cast<unsigned char>(s.text[i]);
      variable->initial.push_back(v);
    }
    return true;
  }
  if (!expect('{')) return false;
  // An entry of this list spans `stride` elements; an inner list fills one entry and pads it with zeros.
  std::uint64_t stride = depth < variable->dimensions.size() ? variable->vector : 1;
  for (std::size_t i = depth + 1; i < variable->dimensions.size(); ++i) stride *= variable->dimensions[i];
  const std::uint64_t total = variable->unsized ? ~std::uint64_t{0} : variable->elements();
  std::uint64_t at = first;
  if (accept('}')) return true;
  for (;;) {
    if (at >= total) return fail_here("more initial values than '" + std::string(variable->name) + "' has elements");
    if (peek().is('{')) {
      if (depth + 1 > variable->dimensions.size() || depth > 16) return fail_here("initial values nested too deeply");
      if (!parse_initial_list(variable, depth + 1, at)) return false;
      at += stride;
    } else {
      if (!parse_initial_value(variable, at)) return false;
      ++at;
    }
    if (accept('}')) return true;
    if (!expect(',')) return false;
    if (accept('}')) return true;
  }
}

bool Parser::parse_initial_value(Variable* variable, std::uint64_t element) {
  InitialValue v;
  v.element = element;
  // 0xFF00(symbol + 4): some bytes of an address. Told from a number by the parenthesis.
  auto parse_symbol = [&](InitialValue* out) {
    out->kind = InitialValue::Kind::kAddress;
    if (peek().is("generic")) {
      take();
      out->generic = true;
      Token name;
      if (!expect('(') || !take_name(&name) || !expect(')')) return false;
      out->symbol = name.text;
    } else {
      Token name;
      if (!take_name(&name)) return false;
      out->symbol = name.text;
    }
    // Tables of functions may come before them: checked at the end of the module.
    initial_names_.push_back(out->symbol);
    while (peek().is('+') || peek().is('-')) {
      const bool minus = take().is('-');
      Constant c;
      if (!parse_binary(&c, 10)) return false;
      if (c.kind != Constant::Kind::kInteger) return fail_here("an address offset must be an integer");
      out->value += minus ? 0 - c.bits : c.bits;
    }
    return true;
  };
  if (peek().kind == Token::Kind::kName && !peek().is("WARP_SZ")) {
    if (!parse_symbol(&v)) return false;
  } else {
    Token first = peek();
    Constant c;
    if (!parse_constant(&c)) return false;
    if (c.kind == Constant::Kind::kInteger && first.kind == Token::Kind::kNumber && peek().is('(')) {
      int shift = 0;
      while (shift < 64 && c.bits != 0 && !(c.bits >> shift & 0xff)) shift += 8;
      if (c.bits != std::uint64_t{0xff} << shift) return fail(first.offset, "a mask selects one byte, like 0xFF00");
      take();
      if (!parse_symbol(&v) || !expect(')')) return false;
      v.mask_shift = static_cast<std::uint8_t>(shift);
    } else if (c.kind == Constant::Kind::kInteger) {
      v.value = c.bits;
    } else {
      v.kind = InitialValue::Kind::kFloat;
      v.value = std::bit_cast<std::uint64_t>(as_double(c));
    }
  }
  variable->initial.push_back(v);
  return true;
}

}  // namespace heddle::ptx
