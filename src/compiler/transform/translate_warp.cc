// Warp operations, barriers, mbarrier objects, textures and surfaces; see translator.h. Tested by tests/ptx.
#include "compiler/transform/translator.h"

namespace heddle::transform {

using ir::Op;
using ir::Type;
using ir::ValueId;

bool Translator::translate_shuffle() {
  ir::Mods m;
  m.sync = has(M::kSync);
  m.shfl = has(M::kUp)     ? ir::ShflMode::kUp
           : has(M::kDown) ? ir::ShflMode::kDown
           : has(M::kBfly) ? ir::ShflMode::kBfly
                           : ir::ShflMode::kIdx;
  ValueId a, b, c, mask;
  if (!use(op(1), Type::kB32, &a) || !use(op(2), Type::kB32, &b) || !use(op(3), Type::kB32, &c)) return false;
  if (!m.sync)
    mask = b_.constant(Type::kB32, 0xffffffffu);
  else if (!use(op(4), Type::kB32, &mask))
    return false;
  const ValueId value = function_->add_value(Type::kB32), in_range = function_->add_value(Type::kPred);
  b_.append(Op::kShfl, Type::kB32, {a, b, c, mask}, m).results = {value, in_range};
  if (!define(first_of(op(0)), value)) return false;
  const Operand* second = second_of(op(0));
  return second == nullptr || define(*second, in_range);
}

bool Translator::translate_vote() {
  ir::Mods m;
  m.sync = has(M::kSync);
  m.vote = has(M::kAll)   ? ir::VoteMode::kAll
           : has(M::kAny) ? ir::VoteMode::kAny
           : has(M::kUni) ? ir::VoteMode::kUni
                          : ir::VoteMode::kBallot;
  ValueId p, mask;
  if (!use(op(1), Type::kPred, &p)) return false;
  if (!m.sync)
    mask = b_.constant(Type::kB32, 0xffffffffu);
  else if (!use(op(2), Type::kB32, &mask))
    return false;
  const Type result = m.vote == ir::VoteMode::kBallot ? Type::kB32 : Type::kPred;
  return emit_to(op(0), Op::kVote, result, {p, mask}, m, result);
}

bool Translator::translate_match() {
  ir::Mods m;
  m.sync = true;
  m.vote = has(M::kAll) ? ir::VoteMode::kAll : ir::VoteMode::kAny;
  ValueId a, mask;
  if (!use(op(1), type(), &a) || !use(op(2), Type::kB32, &mask)) return false;
  const ValueId lanes = function_->add_value(Type::kB32), equal = function_->add_value(Type::kPred);
  b_.append(Op::kMatch, type(), {a, mask}, m).results = {lanes, equal};
  if (!define(first_of(op(0)), lanes)) return false;
  const Operand* second = second_of(op(0));
  return second == nullptr || define(*second, equal);
}

bool Translator::translate_redux() {
  if (type() == Type::kF32) return not_supported("redux.f32");
  ir::Mods m;
  m.sync = true;
  m.atomic = has(M::kAdd)   ? ir::AtomicOp::kAdd
             : has(M::kMin) ? ir::AtomicOp::kMin
             : has(M::kMax) ? ir::AtomicOp::kMax
             : has(M::kAnd) ? ir::AtomicOp::kAnd
             : has(M::kOr)  ? ir::AtomicOp::kOr
                            : ir::AtomicOp::kXor;
  ValueId a, mask;
  if (!use(op(1), type(), &a) || !use(op(2), Type::kB32, &mask)) return false;
  return emit_to(op(0), Op::kRedux, type(), {a, mask}, m, type());
}

bool Translator::translate_activemask() { return define(op(0), b_.emit(Op::kActivemask, Type::kB32, {})); }

bool Translator::translate_elect() {
  ValueId mask;
  if (!use(op(1), Type::kB32, &mask)) return false;
  const ValueId lane = function_->add_value(Type::kB32), leads = function_->add_value(Type::kPred);
  ir::Mods m;
  m.sync = true;
  b_.append(Op::kElect, Type::kB32, {mask}, m).results = {lane, leads};
  if (!define(first_of(op(0)), lane)) return false;
  const Operand* second = second_of(op(0));
  return second == nullptr || define(*second, leads);
}

bool Translator::translate_warp_sync() {
  ValueId mask;
  if (!use(op(0), Type::kB32, &mask)) return false;
  ir::Mods m;
  m.sync = true;
  b_.append(Op::kWarpSync, Type::kB32, {mask}, m);
  return true;
}

bool Translator::translate_barrier() {
  ValueId id, threads;
  if (!use(op(0), Type::kU32, &id)) return false;
  if (op_count() < 2)
    threads = b_.constant(Type::kU32, 0);
  else if (!use(op(1), Type::kU32, &threads))
    return false;
  if (has(M::kArrive))
    b_.append(Op::kBarrierArrive, Type::kB32, {id, threads});
  else
    b_.append(Op::kBarrier, Type::kB32, {id, threads});
  return true;
}

bool Translator::translate_barrier_reduce() {
  ir::Mods m;
  m.barrier = has(M::kPopc)  ? ir::BarrierMode::kRedPopc
              : has(M::kAnd) ? ir::BarrierMode::kRedAnd
                             : ir::BarrierMode::kRedOr;
  const bool counted = op_count() == 4;
  ValueId id, threads, p;
  if (!use(op(1), Type::kU32, &id)) return false;
  if (!counted)
    threads = b_.constant(Type::kU32, 0);
  else if (!use(op(2), Type::kU32, &threads))
    return false;
  if (!use(op(counted ? 3 : 2), Type::kPred, &p)) return false;
  const Type result = m.barrier == ir::BarrierMode::kRedPopc ? Type::kB32 : Type::kPred;
  return emit_to(op(0), Op::kBarrier, result, {id, threads, p}, m, result);
}

// A cluster has one CTA: arriving is nothing, waiting is the CTA's own barrier.
bool Translator::translate_cluster_barrier() {
  if (has(M::kArrive)) return true;
  const ValueId zero = b_.constant(Type::kU32, 0);
  b_.append(Op::kBarrier, Type::kB32, {zero, zero});
  return true;
}

// ---- textures and surfaces

namespace {

struct Geometry {
  ptx::Modifier word;
  std::uint8_t dimensions;
  bool is_array, is_cube;
};
constexpr Geometry kGeometries[] = {{ptx::Modifier::kD1, 1, false, false}, {ptx::Modifier::kD2, 2, false, false},
                                    {ptx::Modifier::kD3, 3, false, false}, {ptx::Modifier::kA1d, 1, true, false},
                                    {ptx::Modifier::kA2d, 2, true, false}, {ptx::Modifier::kCube, 2, false, true},
                                    {ptx::Modifier::kAcube, 2, true, true}};

void set_geometry(const ptx::Mnemonic& mnemonic, ir::TextureForm* form) {
  for (const Geometry& g : kGeometries) {
    if (!mnemonic.has(g.word)) continue;
    form->dimensions = g.dimensions;
    form->is_array = g.is_array;
    form->is_cube = g.is_cube;
  }
}

}  // namespace

bool Translator::translate_texture() {
  ir::TextureForm form;
  set_geometry(*mnemonic_, &form);
  const bool gathers = instruction_->form->opcode == ptx::Opcode::kTld4;
  form.kind = gathers          ? ir::TextureForm::Kind::kTld4
              : has(M::kLevel) ? ir::TextureForm::Kind::kTexLevel
              : has(M::kGrad)  ? ir::TextureForm::Kind::kTexGrad
                               : ir::TextureForm::Kind::kTex;
  if (gathers) form.components = has(M::kR) ? 0 : has(M::kG) ? 1 : has(M::kB) ? 2 : 3;
  form.result = type(0);
  form.coordinate = type(1);
  if (form.result == Type::kF16 || form.result == Type::kF16x2) return not_supported("half-precision texture results");
  const Operand& a = op(1);
  std::vector<ValueId> operands(1);
  if (child(a, 0).kind != Kind::kRegister) return fail(a, "only texture objects are supported, not texture references");
  if (!use(child(a, 0), Type::kB64, &operands[0])) return false;
  if (a.count > 2) return not_supported("separate sampler objects");
  auto add = [&](const Operand& o) {
    const std::uint32_t n = o.kind == Kind::kVector ? o.count : 1;
    for (std::uint32_t i = 0; i < n; ++i) {
      ValueId v;
      const Operand& element = o.kind == Kind::kVector ? child(o, i) : o;
      if (element.kind == Kind::kSink) continue;
      if (!use(element, Type::kB32, &v)) return false;
      operands.push_back(v);
    }
    return true;
  };
  if (a.count < 2) return fail(a, "the texture access has no coordinates");
  // Padding elements of the coordinate vector are dropped: layer, then one per dimension (three for cubes).
  const Operand& coordinates = child(a, 1);
  const std::size_t wanted = (form.is_array ? 1u : 0u) + (form.is_cube ? 3u : form.dimensions);
  if (!add(coordinates)) return false;
  if (operands.size() < 1 + wanted) return fail(a, "the texture access has too few coordinates");
  operands.resize(1 + wanted);
  const bool extra = form.kind == ir::TextureForm::Kind::kTexLevel || form.kind == ir::TextureForm::Kind::kTexGrad;
  if (extra)
    for (std::size_t i = 2; i < op_count(); ++i) {
      const std::size_t before = operands.size();
      if (!add(op(i))) return false;
      if (form.kind == ir::TextureForm::Kind::kTexGrad)
        operands.resize(std::min(operands.size(), before + (form.is_cube ? 3u : form.dimensions)));
    }
  std::vector<ValueId> results;
  for (int i = 0; i < 4; ++i) results.push_back(function_->add_value(Type::kB32));
  const auto index = program_.program().textures.size();
  program_.program().textures.push_back(form);
  ir::Inst& inst = b_.append(Op::kTexture, form.result, std::move(operands));
  inst.imm = index;
  inst.results = results;
  const Operand& d = first_of(op(0));
  if (d.kind != Kind::kVector || d.count > 4) return fail(d, "a texture access has a vector of results");
  for (std::uint32_t i = 0; i < d.count; ++i)
    if (!define(child(d, i), results[i])) return false;
  return true;
}

// Elements travel as 32-bit values: narrow ones zero-extended, 64-bit ones as two.
bool Translator::translate_surface() {
  ir::TextureForm form;
  set_geometry(*mnemonic_, &form);
  const bool loads = instruction_->form->opcode == ptx::Opcode::kSuld;
  if (has(M::kP)) return not_supported("formatted surface stores");
  form.kind = loads ? ir::TextureForm::Kind::kSurfaceLoad : ir::TextureForm::Kind::kSurfaceStore;
  form.result = type(0);
  form.coordinate = Type::kS32;
  form.components = has(M::kV4) ? 4 : has(M::kV2) ? 2 : 1;
  form.clamp = has(M::kTrap) ? 0 : has(M::kClamp) ? 1 : 2;
  const Operand& a = op(loads ? 1 : 0);
  std::vector<ValueId> operands(1);
  if (child(a, 0).kind != Kind::kRegister) return fail(a, "only surface objects are supported, not surface references");
  if (!use(child(a, 0), Type::kB64, &operands[0])) return false;
  if (a.count < 2) return fail(a, "the surface access has no coordinates");
  const Operand& coordinates = child(a, 1);
  const std::size_t wanted = (form.is_array ? 1u : 0u) + form.dimensions;
  for (std::uint32_t i = 0; i < wanted; ++i) {
    const bool vector = coordinates.kind == Kind::kVector;
    if (i >= (vector ? coordinates.count : 1)) return fail(a, "the surface access has too few coordinates");
    ValueId v;
    if (!use(vector ? child(coordinates, i) : coordinates, Type::kB32, &v)) return false;
    operands.push_back(v);
  }
  const int bits = ir::bits_of(form.result);
  const Operand& data = op(loads ? 0 : 1);
  const std::uint32_t count = data.kind == Kind::kVector ? data.count : 1;
  if (count != form.components) return fail(data, "the surface access has a vector of another length");
  if (count * static_cast<std::uint32_t>(std::max(bits, 32)) > 128)
    return fail(data, "a surface access moves 16 bytes at most");
  if (!loads) {
    for (std::uint32_t i = 0; i < count; ++i) {
      ValueId v;
      if (!use_loosely(data.kind == Kind::kVector ? child(data, i) : data, form.result, &v)) return false;
      if (bits == 64) {
        const ValueId low = function_->add_value(Type::kB32), high = function_->add_value(Type::kB32);
        b_.append(Op::kUnpack, Type::kB64, {v}).results = {low, high};
        operands.push_back(low);
        operands.push_back(high);
      } else {
        operands.push_back(b_.resize(v, 32, false));
      }
    }
  }
  std::vector<ValueId> results;
  for (int i = 0; i < 4 && loads; ++i) results.push_back(function_->add_value(Type::kB32));
  const auto index = program_.program().textures.size();
  program_.program().textures.push_back(form);
  ir::Inst& inst = b_.append(Op::kTexture, form.result, std::move(operands));
  inst.imm = index;
  inst.results = results;
  if (!loads) return true;
  for (std::uint32_t i = 0; i < count; ++i) {
    ValueId v = bits == 64 ? b_.emit(Op::kPack, Type::kB64, {results[2 * i], results[2 * i + 1]})
                           : b_.resize(results[i], bits, false);
    if (!define_extended(data.kind == Kind::kVector ? child(data, i) : data, v, false)) return false;
  }
  return true;
}

bool Translator::translate_texture_query() {
  static constexpr M kQueries[] = {M::kWidth,           M::kHeight,       M::kDepth,
                                   M::kChannelDataType, M::kChannelOrder, M::kNormalizedCoords,
                                   M::kNumMipmapLevels, M::kNumSamples,   M::kArraySize};
  ir::TextureForm form;
  form.kind = ir::TextureForm::Kind::kQuery;
  form.result = Type::kB32;
  for (std::uint8_t i = 0; i < std::size(kQueries); ++i)
    if (has(kQueries[i])) form.query = i;
  const Operand& a = op(1);
  ValueId handle;
  if (child(a, 0).kind != Kind::kRegister) return fail(a, "only texture and surface objects are supported");
  if (!use(child(a, 0), Type::kB64, &handle)) return false;
  std::vector<ValueId> results;
  for (int i = 0; i < 4; ++i) results.push_back(function_->add_value(Type::kB32));
  const auto index = program_.program().textures.size();
  program_.program().textures.push_back(form);
  ir::Inst& inst = b_.append(Op::kTexture, Type::kB32, {handle});
  inst.imm = index;
  inst.results = results;
  return define(op(0), results[0]);
}

}  // namespace heddle::transform
