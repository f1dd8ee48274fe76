// Addresses, parameters, loads, stores, atomics and asynchronous copies; see translator.h. Tested by tests/ptx.
#include "compiler/transform/translator.h"

namespace heddle::transform {

using ir::Op;
using ir::Type;
using ir::ValueId;

// ---- addresses

ValueId Translator::allocate_local(std::uint64_t bytes, std::uint32_t align) {
  auto& insts = function_->blocks[0].insts;
  ir::Inst size, alloc;
  size.op = Op::kConst;
  size.type = Type::kB64;
  size.imm = bytes;
  size.results = {function_->add_value(Type::kB64)};
  alloc.op = Op::kLocalAlloc;
  alloc.type = Type::kB64;
  alloc.imm = align;
  alloc.imm_hi = bytes;
  alloc.operands = size.results;
  alloc.results = {function_->add_value(Type::kB64)};
  const ValueId address = alloc.results[0];
  insts.insert(insts.begin(), std::move(alloc));
  insts.insert(insts.begin(), std::move(size));
  return address;
}

/// The address of a variable or function in its own space, with the operand's addend.
bool Translator::symbol_address(const Operand& operand, Type type, ValueId* value, ir::Space* space) {
  const Type bits = ir::bits_type(ir::bits_of(type));
  if (bits != Type::kB32 && bits != Type::kB64) return fail(operand, "an address has 32 or 64 bits");
  const ptx::Variable* variable = nullptr;
  ptx::Symbol symbol;
  if (operand.kind == Kind::kVariable) {
    variable = &source_.variables[operand.id];
    symbol = {&unit_, variable, nullptr};
  } else {
    symbol = program_.linked().find(&unit_, operand.text);
    variable = symbol.variable;
    if (!symbol) return fail(operand, "undeclared name '" + std::string(operand.text) + "'");
  }
  ValueId base;
  if (variable == nullptr) {
    *space = ir::Space::kGeneric;
    *value = b_.constant(bits, program_.linked().function_address(symbol.function) + operand.value);
    return true;
  }
  switch (variable->space) {
    case ptx::Space::kParam: {
      *space = ir::Space::kParam;
      auto offset = offsets_.find(operand.id);
      if (operand.kind == Kind::kVariable && offset != offsets_.end()) {
        *value = b_.constant(bits, offset->second + operand.value);
        return true;
      }
      Words& words = words_of(operand.id);
      if (words.address == ir::kNoValue) return fail(operand, "the address of this parameter can't be taken");
      *space = ir::Space::kLocal;
      base = b_.resize(words.address, ir::bits_of(bits), false);
      break;
    }
    case ptx::Space::kLocal:
      *space = ir::Space::kLocal;
      if (source_.is_entry) {
        base = b_.emit(Op::kSymbolAddress, bits, {});
        function_->blocks[b_.block()].insts.back().imm = program_.local_symbol_of(*variable);
      } else {
        // One area per call: a recursive function's locals are not shared. Allocated on entry.
        auto [entry, is_new] = locals_.try_emplace(operand.id, ir::kNoValue);
        if (is_new) entry->second = allocate_local(variable->bytes(), variable->alignment());
        base = b_.resize(entry->second, ir::bits_of(bits), false);
      }
      break;
    case ptx::Space::kShared:
    case ptx::Space::kGlobal:
    case ptx::Space::kConst:
      *space = variable->space == ptx::Space::kShared  ? ir::Space::kShared
               : variable->space == ptx::Space::kConst ? ir::Space::kConst
                                                       : ir::Space::kGlobal;
      base = b_.emit(Op::kSymbolAddress, bits, {});
      function_->blocks[b_.block()].insts.back().imm = program_.symbol_of(symbol);
      break;
    default: return fail(operand, "this variable has no address");
  }
  *value = base;
  if (operand.value != 0) *value = b_.emit(Op::kAdd, bits, {base, b_.constant(bits, operand.value)});
  return true;
}

bool Translator::address(const Operand& operand, ir::Space wanted, Address* out) {
  const Operand& base = child(operand, 0);
  out->space = wanted;
  out->offset = operand.value;
  if (base.kind == Kind::kRegister) {
    out->base = ssa_.read(base.id);
    const int bits = b_.width(out->base);
    if (bits != 32 && bits != 64) return fail(base, "an address has 32 or 64 bits");
    if (bits == 32 && (wanted == ir::Space::kGeneric || wanted == ir::Space::kGlobal || wanted == ir::Space::kConst))
      out->base = b_.resize(out->base, 64, false);
    return true;
  }
  if (base.kind == Kind::kInteger) {
    out->base = b_.constant(Type::kB64, base.value);
    return true;
  }
  if (base.kind == Kind::kVariable && source_.variables[base.id].space == ptx::Space::kParam &&
      !offsets_.contains(base.id)) {
    const Words& words = words_of(base.id);
    if (words.address == ir::kNoValue) {
      if (wanted != ir::Space::kParam) return fail(base, "a parameter is only accessed by ld.param and st.param");
      out->words = &words;
      return true;
    }
  }
  ir::Space own;
  if (!symbol_address(base, Type::kB64, &out->base, &own)) return false;
  if (own == out->space) return true;
  const bool plain = own == ir::Space::kGlobal || own == ir::Space::kConst || own == ir::Space::kGeneric;
  if (out->space == ir::Space::kGeneric) {
    if (!plain || own != ir::Space::kGeneric) {
      ir::Mods m;
      m.space = own;
      out->base = b_.emit(Op::kCvtaToGeneric, Type::kB64, {out->base}, m);
    }
    return true;
  }
  if (out->space == ir::Space::kParam && own == ir::Space::kLocal) {  // a parameter that was copied to memory
    out->space = own;
    return true;
  }
  return fail(base, "the variable is not in this state space");
}

/// The whole address in one value, for operations without an offset field.
bool Translator::full_address(const Operand& operand, ir::Space wanted, ValueId* value) {
  Address a;
  if (!address(operand, wanted, &a)) return false;
  if (a.words != nullptr) return fail(operand, "a parameter is not possible here");
  *value = a.base;
  if (a.offset != 0) {
    const Type bits = ir::bits_type(b_.width(a.base));
    *value = b_.emit(Op::kAdd, bits, {a.base, b_.constant(bits, a.offset)});
  }
  return true;
}

// ---- .param words

Translator::Words& Translator::words_of(std::uint32_t variable) {
  auto [entry, is_new] = words_.try_emplace(variable);
  if (is_new) {
    entry->second.shape = shape_of(source_.variables[variable]);
    entry->second.first = ssa_.variable_count();
    for (std::uint32_t w = 0; w < entry->second.shape.words; ++w)
      ssa_.add_variable(ir::bits_type(entry->second.shape.word_bits));
  }
  return entry->second;
}

bool Translator::load_words(const Words& words, std::uint64_t offset, Type type, ValueId* value) {
  const std::uint64_t bytes = static_cast<std::uint64_t>(ir::bits_of(type)) / 8,
                      word_bytes = static_cast<std::uint64_t>(words.shape.word_bits) / 8;
  const std::uint64_t word = offset / word_bytes, at = offset % word_bytes;
  if (offset + bytes > words.shape.words * word_bytes || at + bytes > word_bytes)
    return fail("the access is not inside the parameter, or crosses an 8-byte boundary");
  ValueId v = ssa_.read(words.first + static_cast<std::uint32_t>(word));
  if (at != 0)
    v = b_.emit(Op::kShr, words.shape.word_bits == 64 ? Type::kU64 : Type::kU32, {v, b_.constant(Type::kU32, at * 8)});
  *value = b_.resize(v, ir::bits_of(type), false);
  return true;
}

bool Translator::store_words(const Words& words, std::uint64_t offset, Type type, ValueId value) {
  const std::uint64_t bytes = static_cast<std::uint64_t>(ir::bits_of(type)) / 8,
                      word_bytes = static_cast<std::uint64_t>(words.shape.word_bits) / 8;
  const std::uint64_t word = offset / word_bytes, at = offset % word_bytes;
  if (offset + bytes > words.shape.words * word_bytes || at + bytes > word_bytes)
    return fail("the access is not inside the parameter, or crosses an 8-byte boundary");
  const std::uint32_t variable = words.first + static_cast<std::uint32_t>(word);
  const ValueId wide = b_.resize(value, words.shape.word_bits, false);
  if (at == 0 && bytes >= std::min<std::uint64_t>(word_bytes, words.shape.bytes - word * word_bytes)) {
    set(variable, wide);
    return true;
  }
  const ValueId old = ssa_.read(variable);
  const Type t = ir::bits_type(words.shape.word_bits);
  set(variable, b_.emit(Op::kBfi, t, {wide, old, b_.constant(Type::kU32, at * 8), b_.constant(Type::kU32, bytes * 8)}));
  return true;
}

// ---- loads, stores, atomics

void Translator::order_of(ir::Mods* m) const {
  m->is_volatile = has(M::kVolatile) || has(M::kMmio);
  m->order = has(M::kRelaxed) || has(M::kMmio) ? ir::Order::kRelaxed
             : has(M::kAcquire)                ? ir::Order::kAcquire
             : has(M::kRelease)                ? ir::Order::kRelease
             : has(M::kAcqRel)                 ? ir::Order::kAcqRel
             : has(M::kSc)                     ? ir::Order::kSc
                                               : ir::Order::kWeak;
  m->scope = has(M::kCta)       ? ir::Scope::kCta
             : has(M::kCluster) ? ir::Scope::kCluster
             : has(M::kSys)     ? ir::Scope::kSys
                                : ir::Scope::kGpu;
}

bool Translator::translate_load() {
  const Type t = type();
  ir::Mods m;
  order_of(&m);
  Address a;
  const ir::Space wanted = instruction_->form->opcode == ptx::Opcode::kLdu ? ir::Space::kGlobal : space();
  if (!address(op(1), wanted, &a)) return false;
  m.space = a.space;
  const bool is_vector = op(0).kind == Kind::kVector;
  const std::uint32_t count = is_vector ? op(0).count : 1;
  const std::uint32_t expected = has(M::kV2) ? 2 : has(M::kV4) ? 4 : has(M::kV8) ? 8 : 1;
  if (count != expected) return fail(op(0), "the destination has the wrong number of elements");
  const bool sign = ir::is_signed(t);
  const std::uint64_t element_bytes = static_cast<std::uint64_t>(ir::bits_of(t)) / 8;
  std::vector<ValueId> values(count);
  if (a.words != nullptr) {
    for (std::uint32_t i = 0; i < count; ++i)
      if (!load_words(*a.words, a.offset + i * element_bytes, t, &values[i])) return false;
  } else {
    // Parameter addresses are constants in one value, so that reads of one parameter look alike.
    if (a.space == ir::Space::kParam && a.offset != 0) {
      const Type bits = ir::bits_type(b_.width(a.base));
      a.base = b_.emit(Op::kAdd, bits, {a.base, b_.constant(bits, a.offset)});
      a.offset = 0;
    }
    const ValueId guard = guarded_ ? guard_value() : ir::kNoValue;
    for (ValueId& v : values) v = function_->add_value(t);
    ir::Inst& inst = b_.append(Op::kLoad, t, {a.base}, m);
    inst.imm = a.offset;
    inst.results = values;
    inst.guard = guard;
  }
  for (std::uint32_t i = 0; i < count; ++i)
    if (!define_extended(is_vector ? child(op(0), i) : op(0), values[i], sign)) return false;
  return true;
}

bool Translator::translate_store() {
  const Type t = type();
  ir::Mods m;
  order_of(&m);
  Address a;
  if (!address(op(0), space(), &a)) return false;
  m.space = a.space;
  const bool is_vector = op(1).kind == Kind::kVector;
  const std::uint32_t count = is_vector ? op(1).count : 1;
  const std::uint32_t expected = has(M::kV2) ? 2 : has(M::kV4) ? 4 : has(M::kV8) ? 8 : 1;
  if (count != expected) return fail(op(1), "the source has the wrong number of elements");
  const std::uint64_t element_bytes = static_cast<std::uint64_t>(ir::bits_of(t)) / 8;
  std::vector<ValueId> operands{a.base};
  for (std::uint32_t i = 0; i < count; ++i) {
    ValueId v;
    if (!use_loosely(is_vector ? child(op(1), i) : op(1), t, &v)) return false;
    if (a.words != nullptr) {
      if (!store_words(*a.words, a.offset + i * element_bytes, t, v)) return false;
    } else {
      operands.push_back(v);
    }
  }
  if (a.words != nullptr) return true;
  if (a.space == ir::Space::kParam) return fail(op(0), "a kernel's parameters can't be written");
  const ValueId guard = guarded_ ? guard_value() : ir::kNoValue;
  ir::Inst& inst = b_.append(Op::kStore, t, std::move(operands), m);
  inst.imm = a.offset;
  inst.guard = guard;
  return true;
}

bool Translator::translate_atomic() {
  const bool is_red = instruction_->form->opcode == ptx::Opcode::kRed;
  const Type t = type();
  ir::Mods m;
  order_of(&m);
  if (m.order == ir::Order::kWeak) m.order = ir::Order::kRelaxed;
  Address a;
  if (!address(op(is_red ? 0 : 1), space(), &a)) return false;
  if (a.words != nullptr) return fail("a parameter is not possible here");
  m.space = a.space;
  const Operand& operand = op(is_red ? 1 : 2);
  const ValueId guard = guarded_ ? guard_value() : ir::kNoValue;
  if (has(M::kCas)) {
    ValueId compare_with, replacement;
    if (!use(op(2), t, &compare_with) || !use(op(3), t, &replacement)) return false;
    const ValueId old = function_->add_value(t);
    ir::Inst& inst = b_.append(Op::kAtomicCas, t, {a.base, compare_with, replacement}, m);
    inst.imm = a.offset;
    inst.guard = guard;
    inst.results.push_back(old);
    return define(op(0), old);
  }
  m.atomic = has(M::kAdd)   ? ir::AtomicOp::kAdd
             : has(M::kMin) ? ir::AtomicOp::kMin
             : has(M::kMax) ? ir::AtomicOp::kMax
             : has(M::kInc) ? ir::AtomicOp::kInc
             : has(M::kDec) ? ir::AtomicOp::kDec
             : has(M::kAnd) ? ir::AtomicOp::kAnd
             : has(M::kOr)  ? ir::AtomicOp::kOr
             : has(M::kXor) ? ir::AtomicOp::kXor
                            : ir::AtomicOp::kExch;
  // A vector's elements are atomic each for itself.
  const bool is_vector = operand.kind == Kind::kVector;
  const std::uint32_t count = is_vector ? operand.count : 1;
  if (!is_red && (op(0).kind == Kind::kVector ? op(0).count : 1) != count && op(0).kind != Kind::kSink)
    return fail(op(0), "the destination has the wrong number of elements");
  std::vector<ValueId> values(count);
  for (std::uint32_t i = 0; i < count; ++i)
    if (!use(is_vector ? child(operand, i) : operand, t, &values[i])) return false;
  for (std::uint32_t i = 0; i < count; ++i) {
    const bool wanted = !is_red && op(0).kind != Kind::kSink;
    const ValueId old = wanted ? function_->add_value(t) : ir::kNoValue;
    ir::Inst& inst = b_.append(Op::kAtomicRmw, t, {a.base, values[i]}, m);
    inst.imm = a.offset + i * static_cast<std::uint64_t>(ir::bits_of(t)) / 8;
    inst.guard = guard;
    if (wanted) {
      inst.results.push_back(old);
      values[i] = old;
    }
  }
  if (is_red || op(0).kind == Kind::kSink) return true;
  for (std::uint32_t i = 0; i < count; ++i)
    if (!define(is_vector ? child(op(0), i) : op(0), values[i])) return false;
  return true;
}

bool Translator::translate_fence() {
  if (has(M::kProxy) || has(M::kMbarrierInit)) return true;  // one memory, one proxy
  ir::Mods m;
  order_of(&m);
  if (instruction_->form->opcode == ptx::Opcode::kMembar) m.order = ir::Order::kSc;
  if (m.order == ir::Order::kWeak) m.order = ir::Order::kAcqRel;
  b_.append(Op::kFence, Type::kB32, {}, m);
  return true;
}

bool Translator::translate_cvta() {
  const Type t = type();
  ir::Mods m;
  m.space = space();
  ValueId a;
  if (op(1).kind == Kind::kVariable || op(1).kind == Kind::kName) {
    ir::Space own;
    if (!symbol_address(op(1), t, &a, &own)) return false;
    m.space = own;  // a copied parameter lies in local memory
    if (own == ir::Space::kGeneric) return define(op(0), a);
  } else if (!use(op(1), t, &a)) {
    return false;
  } else if (m.space == ir::Space::kParam && !source_.is_entry) {
    m.space = ir::Space::kLocal;
  }
  return emit_to(op(0), has(M::kTo) ? Op::kCvtaToSpace : Op::kCvtaToGeneric, t, {a}, m, t);
}

bool Translator::translate_isspacep() {
  ir::Mods m;
  m.space = space();
  ValueId a;
  if (!use(op(1), op(1).kind == Kind::kRegister ? ssa_.type_of(op(1).id) : Type::kB64, &a)) return false;
  return emit_to(op(0), Op::kIsSpace, ir::bits_type(b_.width(a)), {a}, m, Type::kPred);
}

// A cluster has one CTA, so an address in another CTA's shared memory is one's own.
bool Translator::translate_mapa() {
  ValueId a;
  if (!use(op(1), type(), &a)) return false;
  return define(op(0), a);
}
bool Translator::translate_getctarank() {
  return define(op(0), b_.constant(op(0).kind == Kind::kRegister ? ssa_.type_of(op(0).id) : Type::kB32, 0));
}

bool Translator::translate_createpolicy() { return define(op(0), b_.constant(Type::kB64, 0)); }

bool Translator::translate_alloca() {
  ValueId bytes;
  if (!use(op(1), type(), &bytes)) return false;
  const ValueId address = b_.emit(Op::kLocalAlloc, type(), {bytes});
  function_->blocks[b_.block()].insts.back().imm = op_count() > 2 ? op(2).value : 8;
  return define(op(0), address);
}

bool Translator::translate_stack() {
  if (instruction_->form->opcode == ptx::Opcode::kStacksave) return define(op(0), b_.constant(type(), 0));
  return true;  // what alloca took is given back when the function ends
}

// ---- asynchronous copies: done at once, so that waiting is nothing

bool Translator::translate_copy_async() {
  ValueId to, from, bytes;
  if (!full_address(op(0), ir::Space::kShared, &to) || !full_address(op(1), ir::Space::kGlobal, &from)) return false;
  if (op(2).kind != Kind::kInteger || (op(2).value != 4 && op(2).value != 8 && op(2).value != 16))
    return fail(op(2), "cp.async copies 4, 8 or 16 bytes");
  std::vector<ValueId> operands{to, from};
  const bool has_hint = has(M::kL2CacheHint);
  if (op_count() > (has_hint ? 4u : 3u)) {
    const Operand& source_size = op(3);
    if (source_size.kind == Kind::kRegister && ssa_.type_of(source_size.id) == Type::kPred) {  // ignore-src
      ValueId p;
      if (!use(source_size, Type::kPred, &p)) return false;
      bytes = b_.emit(Op::kSelect, Type::kB32, {p, b_.constant(Type::kB32, 0), b_.constant(Type::kB32, op(2).value)});
    } else if (!use(source_size, Type::kB32, &bytes)) {
      return false;
    }
    operands.push_back(bytes);
  }
  b_.append(Op::kCopyAsync, Type::kB32, std::move(operands)).imm = op(2).value;
  return true;
}

// Copies 16 bytes a turn (bulk copies are multiples of 16); leaves the current block after the loop.
ValueId Translator::copy_bytes_loop(ValueId from, ir::Space from_space, ValueId to, ir::Space to_space, ValueId bytes) {
  const std::uint32_t at = ssa_.add_variable(Type::kB32);
  ssa_.write(at, b_.constant(Type::kB32, 0));
  const BlockId head = b_.add_block(), body = b_.add_block(), done = b_.add_block();
  b_.branch(head);
  start_block(head);
  ir::Mods lt;
  lt.compare = ir::Compare::kLt;
  ValueId i = ssa_.read(at);
  b_.branch_if(b_.emit_as(Type::kPred, Op::kSetp, Type::kU32, {i, bytes}, lt), body, done);
  start_block(body);
  i = ssa_.read(at);
  auto plus = [&](ValueId base) {
    const Type t = ir::bits_type(b_.width(base));
    return b_.emit(Op::kAdd, t, {base, b_.resize(i, ir::bits_of(t), false)});
  };
  const ValueId source = plus(from), destination = plus(to);
  ir::Mods load, store;
  load.space = from_space;
  store.space = to_space;
  std::vector<ValueId> words;
  for (int w = 0; w < 4; ++w) words.push_back(function_->add_value(Type::kB32));
  b_.append(Op::kLoad, Type::kB32, {source}, load).results = words;
  b_.append(Op::kStore, Type::kB32, {destination, words[0], words[1], words[2], words[3]}, store);
  ssa_.write(at, b_.emit(Op::kAdd, Type::kB32, {i, b_.constant(Type::kB32, 16)}));
  b_.branch(head);
  start_block(done);
  return bytes;
}

}  // namespace heddle::transform
