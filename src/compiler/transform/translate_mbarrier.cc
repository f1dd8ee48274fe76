// mbarrier objects and bulk copies; see translator.h.
//
// The 64-bit object is opaque to programs, so its layout is ours, lowest bits first: 20 bits of arrivals that the phase
// still waits for, 20 bits of arrivals that a phase expects, 23 bits of bytes that are on their way (modulo 2^23), and
// the phase's parity. Every change is a compare-and-swap; a phase ends when neither arrivals nor bytes are pending.
// Tested by tests/ptx.
#include "compiler/transform/translator.h"

namespace heddle::transform {

using ir::Op;
using ir::Type;
using ir::ValueId;

namespace {

constexpr std::uint64_t kCountMask = 0xfffff, kBytesMask = 0x7fffff;
constexpr std::uint64_t kExpectedAt = 20, kBytesAt = 40, kPhaseAt = 63;

}  // namespace

ValueId Translator::update_mbarrier(ValueId address, ir::Space space, ValueId arrivals, ValueId bytes, bool drops) {
  auto number = [&](std::uint64_t n) { return b_.constant(Type::kU64, n); };
  auto binary = [&](Op o, ValueId x, ValueId y) {
    return b_.emit(o, o == Op::kAdd || o == Op::kSub ? Type::kU64 : Type::kB64, {x, y});
  };
  auto shift = [&](Op o, ValueId x, std::uint64_t n) {
    return b_.emit(o, Type::kU64, {x, b_.constant(Type::kU32, n)});
  };
  auto is_zero = [&](ValueId x) {
    ir::Mods eq;
    eq.compare = ir::Compare::kEq;
    return b_.emit_as(Type::kPred, Op::kSetp, Type::kU64, {x, number(0)}, eq);
  };
  ir::Mods memory;
  memory.space = space;
  // The first guess is a plain load: only a failed swap repeats the loop, so it never waits for others.
  const std::uint32_t guess = ssa_.add_variable(Type::kB64);
  const ValueId first = function_->add_value(Type::kB64);
  b_.append(Op::kLoad, Type::kB64, {address}, memory).results.push_back(first);
  ssa_.write(guess, first);
  const BlockId loop = b_.add_block(), done = b_.add_block();
  b_.branch(loop);
  start_block(loop);
  const ValueId old = ssa_.read(guess);
  const ValueId pending = binary(Op::kAnd, binary(Op::kSub, old, arrivals), number(kCountMask));
  ValueId expected = binary(Op::kAnd, shift(Op::kShr, old, kExpectedAt), number(kCountMask));
  if (drops) expected = binary(Op::kAnd, binary(Op::kSub, expected, arrivals), number(kCountMask));
  const ValueId on_way = binary(Op::kAnd, binary(Op::kAdd, shift(Op::kShr, old, kBytesAt), bytes), number(kBytesMask));
  const ValueId ends = is_zero(binary(Op::kOr, pending, on_way));
  const ValueId next_pending = b_.emit(Op::kSelect, Type::kB64, {ends, expected, pending});
  const ValueId flip = b_.emit(Op::kSelect, Type::kB64, {ends, number(1), number(0)});
  const ValueId phase = binary(Op::kXor, shift(Op::kShr, old, kPhaseAt), flip);
  const ValueId low = binary(Op::kOr, next_pending, shift(Op::kShl, expected, kExpectedAt));
  const ValueId high = binary(Op::kOr, shift(Op::kShl, on_way, kBytesAt), shift(Op::kShl, phase, kPhaseAt));
  const ValueId replacement = binary(Op::kOr, low, high);
  memory.order = ir::Order::kAcqRel;
  memory.scope = ir::Scope::kCta;
  const ValueId found = b_.emit(Op::kAtomicCas, Type::kB64, {address, old, replacement}, memory);
  ssa_.write(guess, found);
  ir::Mods eq;
  eq.compare = ir::Compare::kEq;
  b_.branch_if(b_.emit_as(Type::kPred, Op::kSetp, Type::kB64, {found, old}, eq), done, loop);
  start_block(done);
  return ssa_.read(guess);
}

bool Translator::translate_mbarrier_init() {
  ValueId address, count;
  if (!full_address(op(0), space(), &address) || !use(op(1), Type::kU32, &count)) return false;
  count = b_.emit(Op::kAnd, Type::kB64, {b_.resize(count, 64, false), b_.constant(Type::kB64, kCountMask)});
  const ValueId expected = b_.emit(Op::kShl, Type::kB64, {count, b_.constant(Type::kU32, kExpectedAt)});
  ir::Mods m;
  m.space = space();
  b_.append(Op::kStore, Type::kB64, {address, b_.emit(Op::kOr, Type::kB64, {count, expected})}, m);
  return true;
}

bool Translator::translate_mbarrier_inval() { return true; }

bool Translator::mbarrier_arrive(std::size_t first, const Operand* destination) {
  ValueId address, extra = ir::kNoValue;
  if (!full_address(op(first), space(), &address)) return false;
  if (op_count() > first + 1) {
    if (!use(op(first + 1), Type::kU32, &extra)) return false;
    extra = b_.resize(extra, 64, false);
  }
  const bool expects = has(M::kExpectTx);
  if (expects && extra == ir::kNoValue) return fail("mbarrier.arrive.expect_tx needs a number of bytes");
  const ValueId one = b_.constant(Type::kU64, 1), zero = b_.constant(Type::kU64, 0);
  const ValueId arrivals = expects || extra == ir::kNoValue ? one : extra;
  const ValueId old = update_mbarrier(address, space(), arrivals, expects ? extra : zero, has(M::kArriveDrop));
  return destination == nullptr || define(*destination, old);
}

bool Translator::translate_mbarrier_arrive() { return mbarrier_arrive(1, &op(0)); }
bool Translator::translate_mbarrier_arrive_remote() { return mbarrier_arrive(0, nullptr); }

bool Translator::translate_mbarrier_expect_tx() {
  ValueId address, bytes;
  if (!full_address(op(0), space(), &address) || !use(op(1), Type::kU32, &bytes)) return false;
  bytes = b_.resize(bytes, 64, false);
  if (has(M::kCompleteTx)) bytes = b_.emit(Op::kSub, Type::kU64, {b_.constant(Type::kU64, 0), bytes});
  update_mbarrier(address, space(), b_.constant(Type::kU64, 0), bytes, false);
  return true;
}

// True once the phase has ended: of the state that arrive returned, or of the given parity. try_wait may wait or not;
// it doesn't, and the program's loop around it yields (lower_spin_loops), because the load is ordered.
bool Translator::translate_mbarrier_wait() {
  ValueId address, wanted;
  if (!full_address(op(1), space(), &address)) return false;
  ir::Mods m;
  m.space = space();
  m.order = has(M::kRelaxed) ? ir::Order::kRelaxed : ir::Order::kAcquire;
  m.scope = ir::Scope::kCta;
  const ValueId now = b_.emit(Op::kLoad, Type::kU64, {address}, m);
  auto phase_of = [&](ValueId object) {
    return b_.emit(Op::kShr, Type::kU64, {object, b_.constant(Type::kU32, kPhaseAt)});
  };
  if (has(M::kParity)) {
    if (!use(op(2), Type::kU32, &wanted)) return false;
    wanted = b_.emit(Op::kAnd, Type::kB64, {b_.resize(wanted, 64, false), b_.constant(Type::kB64, 1)});
  } else {
    if (!use(op(2), Type::kB64, &wanted)) return false;
    wanted = phase_of(wanted);
  }
  ir::Mods ne;
  ne.compare = ir::Compare::kNe;
  return define(op(0), b_.emit_as(Type::kPred, Op::kSetp, Type::kU64, {phase_of(now), wanted}, ne));
}

bool Translator::translate_mbarrier_pending_count() {
  ValueId state;
  if (!use(op(1), Type::kB64, &state)) return false;
  const ValueId pending = b_.emit(Op::kAnd, Type::kB64, {state, b_.constant(Type::kB64, kCountMask)});
  return define(op(0), b_.resize(pending, 32, false));
}

// The copies before it are done. Without .noinc the arrival that it makes is one that it has added itself.
bool Translator::translate_copy_async_arrive() {
  if (!has(M::kNoinc)) return true;
  ValueId address;
  if (!full_address(op(0), space(), &address)) return false;
  update_mbarrier(address, space(), b_.constant(Type::kU64, 1), b_.constant(Type::kU64, 0), false);
  return true;
}

bool Translator::translate_copy_bulk() {
  const bool to_global = has(M::kBulkGroup);
  const bool from_global = has(M::kGlobal) && !to_global;
  const ir::Space to_space = to_global ? ir::Space::kGlobal : ir::Space::kShared;
  const ir::Space from_space = from_global ? ir::Space::kGlobal : ir::Space::kShared;
  ValueId to, from, bytes;
  if (!full_address(op(0), to_space, &to) || !full_address(op(1), from_space, &from) || !use(op(2), Type::kU32, &bytes))
    return false;
  ValueId barrier = ir::kNoValue;
  if (!to_global && !full_address(op(3), ir::Space::kShared, &barrier)) return false;
  copy_bytes_loop(from, from_space, to, to_space, bytes);
  if (to_global) return true;
  const ValueId wide = b_.resize(bytes, 64, false);
  const ValueId negative = b_.emit(Op::kSub, Type::kU64, {b_.constant(Type::kU64, 0), wide});
  update_mbarrier(barrier, ir::Space::kShared, b_.constant(Type::kU64, 0), negative, false);
  return true;
}

}  // namespace heddle::transform
