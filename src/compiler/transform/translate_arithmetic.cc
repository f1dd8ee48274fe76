// Arithmetic, bits and video instructions; see translator.h. Tested by tests/ptx.
#include "compiler/ir/video.h"
#include "compiler/transform/translator.h"

namespace heddle::transform {

using ir::Op;
using ir::Type;
using ir::ValueId;

namespace {

Type doubled(Type type) {
  switch (type) {
    case Type::kU16: return Type::kU32;
    case Type::kS16: return Type::kS32;
    case Type::kU32: return Type::kU64;
    default: return Type::kS64;
  }
}

bool is_integer(Type type) {
  const ir::TypeClass c = ir::class_of(type);
  return c == ir::TypeClass::kBits || c == ir::TypeClass::kUnsigned || c == ir::TypeClass::kSigned;
}

Op op_of(ptx::Opcode opcode) {
  using O = ptx::Opcode;
  switch (opcode) {
    case O::kAdd: return Op::kAdd;
    case O::kSub: return Op::kSub;
    case O::kMul: return Op::kMul;
    case O::kDiv: return Op::kDiv;
    case O::kRem: return Op::kRem;
    case O::kMin: return Op::kMin;
    case O::kMax: return Op::kMax;
    case O::kAbs: return Op::kAbs;
    case O::kNeg: return Op::kNeg;
    case O::kRcp: return Op::kRcp;
    case O::kSqrt: return Op::kSqrt;
    case O::kRsqrt: return Op::kRsqrt;
    case O::kSin: return Op::kSin;
    case O::kCos: return Op::kCos;
    case O::kLg2: return Op::kLg2;
    case O::kEx2: return Op::kEx2;
    case O::kTanh: return Op::kTanh;
    case O::kCopysign: return Op::kCopysign;
    case O::kAnd: return Op::kAnd;
    case O::kOr: return Op::kOr;
    case O::kXor: return Op::kXor;
    case O::kNot: return Op::kNot;
    case O::kCnot: return Op::kCnot;
    case O::kBrev: return Op::kBrev;
    case O::kSad: return Op::kSad;
    case O::kFns: return Op::kFns;
    case O::kPopc: return Op::kPopc;
    case O::kClz: return Op::kClz;
    case O::kBfind: return Op::kBfind;
    default: return Op::kUndef;
  }
}

/// Forms without a rounding word: `add.f32` rounds to nearest; transcendentals and old `div.f32` approximate.
ir::Mods with_defaults(ir::Mods mods, Op op, Type type) {
  if (is_integer(type)) {
    mods.rounding = ir::Rounding::kNone;
    return mods;
  }
  switch (op) {
    case Op::kAdd:
    case Op::kSub:
    case Op::kMul:
    case Op::kFma:
      if (mods.rounding == ir::Rounding::kNone) mods.rounding = ir::Rounding::kRn;
      break;
    case Op::kDiv:
    case Op::kRcp:
    case Op::kSqrt:
      if (mods.rounding == ir::Rounding::kNone) mods.approx = true;
      break;
    case Op::kRsqrt:
    case Op::kSin:
    case Op::kCos:
    case Op::kLg2:
    case Op::kEx2:
    case Op::kTanh: mods.approx = true; break;
    default: break;
  }
  return mods;
}

}  // namespace

bool Translator::translate_arithmetic() {
  const Op o = op_of(instruction_->form->opcode);
  const Type t = type();
  ValueId a, b;
  if (!use(op(1), t, &a) || !use(op(2), t, &b)) return false;
  return emit_to(op(0), o, t, {a, b}, with_defaults(mods(), o, t), t);
}

bool Translator::translate_unary() {
  const Op o = op_of(instruction_->form->opcode);
  const Type t = type();
  ValueId a;
  if (!use(op(1), t, &a)) return false;
  return emit_to(op(0), o, t, {a}, with_defaults(mods(), o, t), t);
}

bool Translator::translate_binary() {
  const Type t = type();
  ValueId a, b;
  if (!use(op(1), t, &a) || !use(op(2), t, &b)) return false;
  return emit_to(op(0), op_of(instruction_->form->opcode), t, {a, b}, {}, t);
}

bool Translator::translate_ternary() {
  const Type t = type();
  ValueId a, b, c;
  if (!use(op(1), t, &a) || !use(op(2), t, &b) || !use(op(3), t, &c)) return false;
  return emit_to(op(0), op_of(instruction_->form->opcode), t, {a, b, c}, {}, t);
}

bool Translator::translate_min_max() {
  const Op o = op_of(instruction_->form->opcode);
  const Type t = type();
  ValueId a, b;
  if (!use(op(1), t, &a) || !use(op(2), t, &b)) return false;
  if (op_count() == 4) {
    ValueId c;
    if (!use(op(3), t, &c)) return false;
    return emit_to(op(0), o, t, {a, b, c}, mods(), t);
  }
  return emit_to(op(0), o, t, {a, b}, mods(), t);
}

bool Translator::translate_testp() {
  ir::Mods m;
  m.testp = has(M::kFinite)       ? ir::TestpMode::kFinite
            : has(M::kInfinite)   ? ir::TestpMode::kInfinite
            : has(M::kNumber)     ? ir::TestpMode::kNumber
            : has(M::kNotanumber) ? ir::TestpMode::kNotANumber
            : has(M::kNormal)     ? ir::TestpMode::kNormal
                                  : ir::TestpMode::kSubnormal;
  ValueId a;
  if (!use(op(1), type(), &a)) return false;
  return emit_to(op(0), Op::kTestp, type(), {a}, m, Type::kPred);
}

// mul, mad, mul24, mad24 of integers.
bool Translator::translate_multiply() {
  const Type t = type();
  const bool is_24 =
      instruction_->form->opcode == ptx::Opcode::kMul24 || instruction_->form->opcode == ptx::Opcode::kMad24;
  const bool adds =
      instruction_->form->opcode == ptx::Opcode::kMad || instruction_->form->opcode == ptx::Opcode::kMad24;
  const bool wide = has(M::kWide);
  const Type result = wide ? doubled(t) : t;
  ValueId a, b;
  if (!use(op(1), t, &a) || !use(op(2), t, &b)) return false;
  ir::Mods m;
  if (is_24) m.hi = has(M::kHi);
  const Op o = is_24 ? Op::kMul24 : wide ? Op::kMulWide : has(M::kHi) ? Op::kMulHi : Op::kMul;
  ValueId product = b_.emit_as(result, o, t, {a, b}, m);
  if (adds) {
    ValueId c;
    if (!use(op(3), result, &c)) return false;
    ir::Mods add;
    add.sat = has(M::kSat);
    product = b_.emit(Op::kAdd, result, {product, c}, add);
  }
  return define(op(0), product);
}

bool Translator::translate_fma() {
  const Type t = type();
  ValueId a, b, c;
  if (!use(op(1), t, &a) || !use(op(2), t, &b) || !use(op(3), t, &c)) return false;
  return emit_to(op(0), Op::kFma, t, {a, b, c}, with_defaults(mods(), Op::kFma, t), t);
}

// add.cc, addc, sub.cc, subc, mad.cc, madc: the condition code is one more variable.
bool Translator::translate_carry() {
  using O = ptx::Opcode;
  const O opcode = instruction_->form->opcode;
  const Type t = type();
  const bool subtracts = opcode == O::kSub || opcode == O::kSubc;
  const bool multiplies = opcode == O::kMad || opcode == O::kMadc;
  const bool takes_carry = opcode == O::kAddc || opcode == O::kSubc || opcode == O::kMadc;
  ValueId a, b;
  if (!use(op(1), t, &a) || !use(op(2), t, &b)) return false;
  if (multiplies) {
    a = b_.emit(has(M::kHi) ? Op::kMulHi : Op::kMul, t, {a, b});
    if (!use(op(3), t, &b)) return false;
  }
  const ValueId in = takes_carry ? ssa_.read(carry_) : b_.constant(Type::kPred, 0);
  const ValueId result = function_->add_value(t), out = function_->add_value(Type::kPred);
  b_.append(subtracts ? Op::kSubBorrow : Op::kAddCarry, t, {a, b, in}).results = {result, out};
  if (has(M::kCc)) set(carry_, out);
  return define(op(0), result);
}

bool Translator::translate_lop3() {
  ValueId a, b, c;
  if (!use(op(1), Type::kB32, &a) || !use(op(2), Type::kB32, &b) || !use(op(3), Type::kB32, &c)) return false;
  if (op(4).kind != Kind::kInteger || op(4).value > 255)
    return fail(op(4), "the truth table must be a constant from 0 to 255");
  const ValueId d = b_.emit(Op::kLop3, Type::kB32, {a, b, c});
  function_->blocks[b_.block()].insts.back().imm = op(4).value;
  if (!define(first_of(op(0)), d)) return false;
  const Operand* second = second_of(op(0));
  if (second == nullptr || op_count() < 6) return true;
  ValueId q;
  if (!use(op(5), Type::kPred, &q)) return false;
  ir::Mods ne;
  ne.compare = ir::Compare::kNe;
  const ValueId zero = b_.constant(Type::kB32, 0);
  const ValueId p = b_.emit_as(Type::kPred, Op::kSetp, Type::kB32, {d, zero}, ne);
  return define(*second, b_.emit(has(M::kAnd) ? Op::kAnd : Op::kOr, Type::kPred, {p, q}));
}

bool Translator::translate_shift() {
  const Type t = type();
  ValueId a, amount;
  if (!use(op(1), t, &a) || !use(op(2), Type::kU32, &amount)) return false;
  return emit_to(op(0), instruction_->form->opcode == ptx::Opcode::kShl ? Op::kShl : Op::kShr, t, {a, amount}, {}, t);
}

bool Translator::translate_funnel_shift() {
  ValueId a, b, c;
  if (!use(op(1), Type::kB32, &a) || !use(op(2), Type::kB32, &b) || !use(op(3), Type::kU32, &c)) return false;
  ir::Mods m;
  m.wrap = has(M::kWrap);
  return emit_to(op(0), has(M::kL) ? Op::kShfL : Op::kShfR, Type::kB32, {a, b, c}, m, Type::kB32);
}

bool Translator::translate_bit_count() {
  ir::Mods m;
  m.shiftamt = has(M::kShiftamt);
  ValueId a;
  if (!use(op(1), type(), &a)) return false;
  return emit_to(op(0), op_of(instruction_->form->opcode), type(), {a}, m, Type::kB32);
}

bool Translator::translate_bit_field() {
  const Type t = type();
  ir::Mods m;
  m.wrap = has(M::kWrap);
  ValueId a, b, c, d;
  switch (instruction_->form->opcode) {
    case ptx::Opcode::kBfe:
      if (!use(op(1), t, &a) || !use(op(2), Type::kU32, &b) || !use(op(3), Type::kU32, &c)) return false;
      return emit_to(op(0), Op::kBfe, t, {a, b, c}, {}, t);
    case ptx::Opcode::kBfi:
      if (!use(op(1), t, &a) || !use(op(2), t, &b) || !use(op(3), Type::kU32, &c) || !use(op(4), Type::kU32, &d))
        return false;
      return emit_to(op(0), Op::kBfi, t, {a, b, c, d}, {}, t);
    case ptx::Opcode::kBmsk:
      if (!use(op(1), Type::kU32, &a) || !use(op(2), Type::kU32, &b)) return false;
      return emit_to(op(0), Op::kBmsk, Type::kB32, {a, b}, m, Type::kB32);
    default:
      if (!use(op(1), t, &a) || !use(op(2), Type::kU32, &b)) return false;
      return emit_to(op(0), Op::kSzext, t, {a, b}, m, t);
  }
}

bool Translator::translate_prmt() {
  ir::Mods m;
  m.prmt = has(M::kF4e)    ? ir::PrmtMode::kF4e
           : has(M::kB4e)  ? ir::PrmtMode::kB4e
           : has(M::kRc8)  ? ir::PrmtMode::kRc8
           : has(M::kEcl)  ? ir::PrmtMode::kEcl
           : has(M::kEcr)  ? ir::PrmtMode::kEcr
           : has(M::kRc16) ? ir::PrmtMode::kRc16
                           : ir::PrmtMode::kIndex;
  ValueId a, b, c;
  if (!use(op(1), Type::kB32, &a) || !use(op(2), Type::kB32, &b) || !use(op(3), Type::kB32, &c)) return false;
  return emit_to(op(0), Op::kPrmt, Type::kB32, {a, b, c}, m, Type::kB32);
}

bool Translator::translate_dot_product() {
  ir::Mods m;
  m.hi = has(M::kHi);
  ValueId a, b, c;
  if (!use(op(1), Type::kB32, &a) || !use(op(2), Type::kB32, &b) || !use(op(3), Type::kB32, &c)) return false;
  const bool four = instruction_->form->opcode == ptx::Opcode::kDp4a;
  const ValueId d = b_.emit(four ? Op::kDp4a : Op::kDp2a, type(0), {a, b, c}, m);
  function_->blocks[b_.block()].insts.back().from = type(1);
  return define(op(0), d);
}

namespace {

/// "h0" ... "b3" as VideoForm's number of a part of a register; -1 if it is none.
int scalar_selector(std::string_view text) {
  if (text.empty()) return ir::VideoForm::kWord;
  if (text.size() != 2) return -1;
  const int n = text[1] - '0';
  if (text[0] == 'b') return n <= 3 ? n : -1;
  return n <= 1 ? ir::VideoForm::kHalf0 + n : -1;
}

/// "h32", "b7654": one digit a lane, the highest lane first. False if it is malformed.
bool lane_selectors(std::string_view text, int lanes, std::uint8_t* out) {
  if (text.empty()) return true;
  if (text.size() != static_cast<std::size_t>(lanes) + 1 || text[0] != (lanes == 2 ? 'h' : 'b')) return false;
  for (int i = 0; i < lanes; ++i) {
    const int n = text[static_cast<std::size_t>(lanes - i)] - '0';
    if (n < 0 || n >= 2 * lanes) return false;
    out[i] = static_cast<std::uint8_t>(n);
  }
  return true;
}

/// "h10", "b31": the lanes that a SIMD instruction writes, each named once.
bool lane_mask(std::string_view text, int lanes, std::uint8_t* out) {
  if (text.empty()) return true;
  if (text[0] != (lanes == 2 ? 'h' : 'b')) return false;
  *out = 0;
  for (char c : text.substr(1)) {
    if (c < '0' || c - '0' >= lanes) return false;
    *out = static_cast<std::uint8_t>(*out | 1 << (c - '0'));
  }
  return true;
}

ir::VideoForm::Operation video_operation(ptx::Opcode opcode) {
  using O = ptx::Opcode;
  using V = ir::VideoForm::Operation;
  switch (opcode) {
    case O::kVadd:
    case O::kVadd2:
    case O::kVadd4: return V::kAdd;
    case O::kVsub:
    case O::kVsub2:
    case O::kVsub4: return V::kSub;
    case O::kVavrg2:
    case O::kVavrg4: return V::kAvrg;
    case O::kVabsdiff:
    case O::kVabsdiff2:
    case O::kVabsdiff4: return V::kAbsDiff;
    case O::kVmin:
    case O::kVmin2:
    case O::kVmin4: return V::kMin;
    case O::kVmax:
    case O::kVmax2:
    case O::kVmax4: return V::kMax;
    case O::kVshl: return V::kShl;
    case O::kVshr: return V::kShr;
    case O::kVmad: return V::kMad;
    default: return V::kSet;
  }
}

}  // namespace

bool Translator::translate_video() {
  using F = ir::VideoForm;
  F form;
  form.operation = video_operation(instruction_->form->opcode);
  const char last = instruction_->form->name.back();
  form.lanes = last == '4' ? 4 : last == '2' ? 2 : 1;
  const bool is_set = form.operation == F::Operation::kSet;
  // vset has the operands' types only; the others begin with the result's.
  const int first = is_set ? 0 : 1;
  form.d_signed = !is_set && type(0) == Type::kS32;
  form.a_signed = type(first) == Type::kS32;
  form.b_signed = type(first + 1) == Type::kS32;
  form.sat = has(M::kSat);
  form.wrap = has(M::kWrap);
  form.plus_one = has(M::kPo);
  form.shift = has(M::kShr7) ? 7 : has(M::kShr15) ? 15 : 0;
  form.compare = has(M::kEq)   ? F::Comparison::kEq
                 : has(M::kNe) ? F::Comparison::kNe
                 : has(M::kLt) ? F::Comparison::kLt
                 : has(M::kLe) ? F::Comparison::kLe
                 : has(M::kGt) ? F::Comparison::kGt
                               : F::Comparison::kGe;
  form.second = has(M::kAdd)   ? F::Second::kAdd
                : has(M::kMin) ? F::Second::kMin
                : has(M::kMax) ? F::Second::kMax
                               : F::Second::kNone;
  if (form.lanes == 1) {
    const int a = scalar_selector(op(1).selector), b = scalar_selector(op(2).selector),
              d = scalar_selector(op(0).selector);
    if (a < 0 || b < 0 || d < 0) return fail("a selector is .b0 to .b3, .h0 or .h1");
    form.asel[0] = static_cast<std::uint8_t>(a);
    form.bsel[0] = static_cast<std::uint8_t>(b);
    form.dsel = static_cast<std::uint8_t>(d);
    if (d != F::kWord) form.second = F::Second::kMerge;
    if ((form.second != F::Second::kNone) != (op_count() == 4) && form.operation != F::Operation::kMad)
      return fail("a third source goes with .add, .min, .max or a selected part of the destination");
    form.negate_a = op(1).negated;
    form.negate_b = op(2).negated;
    form.negate_c = op_count() == 4 && op(3).negated;
  } else {
    // Defaults: lane i of a, lane i of b; in the pair b:a, b's lanes come after a's.
    for (std::uint8_t i = 0; i < form.lanes; ++i) {
      form.asel[i] = i;
      form.bsel[i] = static_cast<std::uint8_t>(i + form.lanes);
    }
    form.mask = form.lanes == 4 ? 0xf : 0x3;
    if (!lane_selectors(op(1).selector, form.lanes, form.asel) ||
        !lane_selectors(op(2).selector, form.lanes, form.bsel) || !lane_mask(op(0).selector, form.lanes, &form.mask))
      return fail("a selector names the lanes, like .h10 or .b3210");
  }
  // A negated source is the form's business; use() would take it for a predicate's.
  auto source = [&](std::size_t i, ValueId* value) {
    Operand plain = op(i);
    plain.negated = false;
    return use(plain, Type::kB32, value);
  };
  ValueId a, b, c;
  if (!source(1, &a) || !source(2, &b)) return false;
  if (op_count() < 4)
    c = b_.constant(Type::kB32, 0);
  else if (!source(3, &c))
    return false;
  const ValueId d = b_.emit(Op::kVideo, Type::kB32, {a, b, c});
  function_->blocks[b_.block()].insts.back().imm = form.pack();
  return define(op(0), d);
}

}  // namespace heddle::transform
