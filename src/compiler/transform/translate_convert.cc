// Comparison, selection, moves and conversions; see translator.h. Tested by tests/ptx.
#include "compiler/transform/translator.h"

namespace heddle::transform {

using ir::Op;
using ir::Type;
using ir::ValueId;

namespace {

bool is_integer(Type type) {
  const ir::TypeClass c = ir::class_of(type);
  return c == ir::TypeClass::kBits || c == ir::TypeClass::kUnsigned || c == ir::TypeClass::kSigned;
}

}  // namespace

bool Translator::compare(const Operand& x, const Operand& y, Type t, ValueId* value) {
  ir::Mods m;
  m.ftz = has(M::kFtz);
  static constexpr std::pair<M, ir::Compare> kCompares[] = {
      {M::kEq, ir::Compare::kEq},   {M::kNe, ir::Compare::kNe},   {M::kLt, ir::Compare::kLt},
      {M::kLe, ir::Compare::kLe},   {M::kGt, ir::Compare::kGt},   {M::kGe, ir::Compare::kGe},
      {M::kLo, ir::Compare::kLo},   {M::kLs, ir::Compare::kLs},   {M::kHi, ir::Compare::kHi},
      {M::kHs, ir::Compare::kHs},   {M::kEqu, ir::Compare::kEqu}, {M::kNeu, ir::Compare::kNeu},
      {M::kLtu, ir::Compare::kLtu}, {M::kLeu, ir::Compare::kLeu}, {M::kGtu, ir::Compare::kGtu},
      {M::kGeu, ir::Compare::kGeu}, {M::kNum, ir::Compare::kNum}, {M::kNan, ir::Compare::kNan}};
  for (const auto& [word, c] : kCompares)
    if (has(word)) m.compare = c;
  ValueId a, b;
  if (!use(x, t, &a) || !use(y, t, &b)) return false;
  *value = b_.emit_as(Type::kPred, Op::kSetp, t, {a, b}, m);
  return true;
}

bool Translator::combine_predicates(ValueId* value, const Operand& c) {
  ValueId other;
  if (!use(c, Type::kPred, &other)) return false;
  const Op o = has(M::kAnd) ? Op::kAnd : has(M::kOr) ? Op::kOr : Op::kXor;
  *value = b_.emit(o, Type::kPred, {*value, other});
  return true;
}

bool Translator::translate_setp() {
  const Type t = type();
  const Operand& p = first_of(op(0));
  const Operand* q = second_of(op(0));
  const bool combined = op_count() == 4;
  ValueId result;
  if (t == Type::kF16x2 || t == Type::kBF16x2) {
    // p is the lower halves' result, q the upper ones'.
    const Type half = t == Type::kF16x2 ? Type::kF16 : Type::kBF16;
    ValueId halves[2][2];
    for (int i = 0; i < 2; ++i) {
      ValueId wide;
      if (!use(op(1 + static_cast<std::size_t>(i)), t, &wide)) return false;
      halves[i][0] = function_->add_value(half);
      halves[i][1] = function_->add_value(half);
      b_.append(Op::kUnpack, Type::kB32, {wide}).results = {halves[i][0], halves[i][1]};
    }
    if (!compare(op(1), op(2), t, &result)) return false;
    ir::Inst last = function_->blocks[b_.block()].insts.back();
    function_->blocks[b_.block()].insts.pop_back();
    for (int i = 0; i < 2; ++i) {
      if (i == 1 && q == nullptr) break;
      ValueId r = b_.emit_as(Type::kPred, Op::kSetp, half, {halves[0][i], halves[1][i]}, last.mods);
      if (combined && !combine_predicates(&r, op(3))) return false;
      if (!define(i == 0 ? p : *q, r)) return false;
    }
    return true;
  }
  if (!compare(op(1), op(2), t, &result)) return false;
  ValueId inverse = ir::kNoValue;
  if (q != nullptr && q->kind != Kind::kSink) inverse = b_.emit(Op::kNot, Type::kPred, {result});
  if (combined) {
    if (!combine_predicates(&result, op(3))) return false;
    if (inverse != ir::kNoValue && !combine_predicates(&inverse, op(3))) return false;
  }
  if (!define(p, result)) return false;
  return inverse == ir::kNoValue || define(*q, inverse);
}

bool Translator::translate_set() {
  const Type d = type(0), t = type(1);
  if (t == Type::kF16x2 || t == Type::kBF16x2 || d == Type::kF16x2 || d == Type::kBF16x2) {
    if (t != Type::kF16x2 && t != Type::kBF16x2) return not_supported("set with a packed result of a plain type");
    const Type half = t == Type::kF16x2 ? Type::kF16 : Type::kBF16;
    ValueId sides[2], halves[2][2], results[2];
    for (int i = 0; i < 2; ++i) {
      if (!use(op(1 + static_cast<std::size_t>(i)), t, &sides[i])) return false;
      halves[i][0] = function_->add_value(half);
      halves[i][1] = function_->add_value(half);
      b_.append(Op::kUnpack, Type::kB32, {sides[i]}).results = {halves[i][0], halves[i][1]};
    }
    ValueId ignored;
    if (!compare(op(1), op(2), t, &ignored)) return false;
    const ir::Mods m = function_->blocks[b_.block()].insts.back().mods;
    function_->blocks[b_.block()].insts.pop_back();
    const std::uint64_t one = d == Type::kF16x2 ? 0x3c00 : d == Type::kBF16x2 ? 0x3f80 : 0xffff;
    for (int i = 0; i < 2; ++i) {
      ValueId p = b_.emit_as(Type::kPred, Op::kSetp, half, {halves[0][i], halves[1][i]}, m);
      if (op_count() == 4 && !combine_predicates(&p, op(3))) return false;
      const ValueId yes = b_.constant(Type::kB16, one), no = b_.constant(Type::kB16, 0);
      results[i] = b_.emit(Op::kSelect, Type::kB16, {p, yes, no});
    }
    return emit_to(op(0), Op::kPack, Type::kB32, {results[0], results[1]}, {}, Type::kB32);
  }
  ValueId p;
  if (!compare(op(1), op(2), t, &p)) return false;
  if (op_count() == 4 && !combine_predicates(&p, op(3))) return false;
  const std::uint64_t one = d == Type::kF32    ? 0x3f800000u
                            : d == Type::kF16  ? 0x3c00u
                            : d == Type::kBF16 ? 0x3f80u
                                               : ~std::uint64_t{0};
  const ValueId yes = b_.constant(d, one), no = b_.constant(d, 0);
  return emit_to(op(0), Op::kSelect, d, {p, yes, no}, {}, d);
}

bool Translator::translate_selp() {
  const Type t = type();
  ValueId a, b, p;
  if (!use(op(1), t, &a) || !use(op(2), t, &b) || !use(op(3), Type::kPred, &p)) return false;
  return emit_to(op(0), Op::kSelect, t, {p, a, b}, {}, t);
}

bool Translator::translate_slct() {
  const Type t = type(0), c = type(1);
  ValueId a, b, selector;
  if (!use(op(1), t, &a) || !use(op(2), t, &b) || !use(op(3), c, &selector)) return false;
  ir::Mods m;
  m.compare = ir::Compare::kGe;
  m.ftz = has(M::kFtz);
  const ValueId zero = b_.constant(c, 0);
  const ValueId p = b_.emit_as(Type::kPred, Op::kSetp, c, {selector, zero}, m);
  return emit_to(op(0), Op::kSelect, t, {p, a, b}, {}, t);
}

bool Translator::translate_mov() {
  const Type t = type();
  const Operand &d = op(0), &a = op(1);
  const bool from_vector = a.kind == Kind::kVector, to_vector = d.kind == Kind::kVector;
  if (from_vector && to_vector) {
    if (a.count != d.count) return fail("the vectors have different lengths");
    std::vector<ValueId> values(a.count);
    for (std::uint32_t i = 0; i < a.count; ++i)
      if (!use(child(a, i), t, &values[i])) return false;
    for (std::uint32_t i = 0; i < a.count; ++i)
      if (!define(child(d, i), values[i])) return false;
    return true;
  }
  const Operand& vector = from_vector ? a : d;
  if (from_vector || to_vector) {
    const int bits = ir::bits_of(t);
    if ((vector.count != 2 && vector.count != 4 && vector.count != 8) || bits / static_cast<int>(vector.count) < 8)
      return fail(vector, "a vector of this length doesn't make up a ." + std::string(ir::name_of(t)));
    const Type part = ir::bits_type(bits / static_cast<int>(vector.count));
    const Type whole = ir::bits_type(bits);
    if (from_vector) {
      std::vector<ValueId> parts(a.count);
      for (std::uint32_t i = 0; i < a.count; ++i)
        if (!use(child(a, i), part, &parts[i])) return false;
      const ValueId value = function_->add_value(whole);
      b_.append(Op::kPack, whole, std::move(parts)).results.push_back(value);
      return define(d, value);
    }
    ValueId value;
    if (!use(a, whole, &value)) return false;
    std::vector<ValueId> parts;
    for (std::uint32_t i = 0; i < d.count; ++i) parts.push_back(function_->add_value(part));
    b_.append(Op::kUnpack, whole, {value}).results = parts;
    for (std::uint32_t i = 0; i < d.count; ++i)
      if (!define(child(d, i), parts[i])) return false;
    return true;
  }
  ValueId value;
  // 8-bit moves exist only between registers that hold bytes in 16 or more bits.
  if (ir::bits_of(t) == 8 && a.kind == Kind::kRegister)
    value = ssa_.read(a.id);
  else if (!use(a, t, &value))
    return false;
  return define(d, value);
}

bool Translator::translate_cvt() {
  Type d = type(0), s = type(1);
  Type ignored;
  if (!find_ir_type(mnemonic_->types[0], &ignored) || !find_ir_type(mnemonic_->types[1], &ignored))
    return not_supported("conversion to or from this type");
  const bool packs_fp8 = d == Type::kE4M3x2 || d == Type::kE5M2x2;
  if (has(M::kSatfinite) && !packs_fp8) return not_supported("cvt.satfinite");
  ValueId a;
  if (!use_loosely(op(1), s, &a)) return false;
  ir::Mods m = mods();
  m.sat = m.sat || has(M::kSatfinite);
  const bool sign = ir::is_signed(d);
  if (is_integer(d) && is_integer(s) && !m.sat) {
    // The source's sign decides how it is widened, the destination's how its register is filled.
    const ValueId v = b_.resize(a, ir::bits_of(d), ir::is_signed(s));
    return define_extended(op(0), v, sign);
  }
  if (d == s && is_integer(d)) return define_extended(op(0), a, sign);
  const ValueId v = function_->add_value(d);
  ir::Inst& inst = b_.append(Op::kCvt, d, {a}, m);
  inst.from = s;
  inst.results.push_back(v);
  return define_extended(op(0), v, sign);
}

bool Translator::translate_cvt_pack() {
  const Type d = type(0);
  const bool fp8 = d == Type::kE4M3x2 || d == Type::kE5M2x2;
  if (has(M::kSatfinite) && !fp8) return not_supported("cvt.satfinite");
  ValueId a, b;
  if (!use(op(1), Type::kF32, &a) || !use(op(2), Type::kF32, &b)) return false;
  ir::Mods m = mods();
  m.sat = m.sat || has(M::kSatfinite);
  const ValueId v = function_->add_value(d);
  ir::Inst& inst = b_.append(Op::kCvtPack, d, {a, b}, m);
  inst.from = Type::kF32;
  inst.results.push_back(v);
  return define(op(0), v);
}

}  // namespace heddle::transform
