#include "compiler/analysis/shape.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <set>

#include "compiler/analysis/divergence.h"

namespace heddle::analysis {
namespace {

using ir::BlockId;
using ir::Inst;
using ir::Op;
using ir::ValueId;

constexpr std::uint8_t kMaxAlign = 63;

std::uint8_t align_of(std::uint64_t value) {
  return value ? static_cast<std::uint8_t>(std::countr_zero(value)) : kMaxAlign;
}

std::int64_t sign_extend(std::uint64_t value, int bits) {
  return bits >= 64 ? static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value << (64 - bits)) >> (64 - bits);
}
std::int64_t min_signed(int bits) { return bits >= 64 ? INT64_MIN : -(std::int64_t{1} << (bits - 1)); }
std::int64_t max_signed(int bits) { return bits >= 64 ? INT64_MAX : (std::int64_t{1} << (bits - 1)) - 1; }

/// The transfer functions of single instructions. `Analysis` below drives them to the fixpoint.
class Transfer {
 public:
  Transfer(const LaunchShape& launch, Shapes& shapes) : launch_(launch), shapes_(shapes) {
    shapes_.offsets.push_back(LaneOffsets{});
    interned_[LaneOffsets{}] = 0;
  }

  static Shape varying() {
    Shape s;
    s.kind = Shape::Kind::kVarying;
    return s;
  }
  static Shape uniform() {
    Shape s;
    s.kind = Shape::Kind::kUniform;
    return s;
  }

  /// The shape of result `r` of `inst`.
  Shape result(const Inst& inst, std::size_t r) {
    switch (inst.op) {
      case Op::kConst: return constant(inst.imm, ir::bits_of(inst.type));
      case Op::kUndef: return uniform();
      case Op::kSpecial: return special(inst);
      case Op::kClock: return uniform();
      case Op::kSymbolAddress: return uniform();
      case Op::kAdd:
      case Op::kSub: return integer(inst) ? add(inst, inst.op == Op::kSub) : pure(inst);
      case Op::kMul: return integer(inst) ? multiply(at(inst, 0), at(inst, 1), ir::bits_of(inst.type)) : pure(inst);
      case Op::kMulWide: {
        const int bits = ir::bits_of(inst.type);
        return multiply(extend(inst.operands[0], bits, 2 * bits, ir::is_signed(inst.type)),
                        extend(inst.operands[1], bits, 2 * bits, ir::is_signed(inst.type)), 2 * bits);
      }
      case Op::kNeg:
        return integer(inst) ? multiply(at(inst, 0), constant(~0ull, 64), ir::bits_of(inst.type)) : pure(inst);
      case Op::kShl: return shift_left(inst);
      case Op::kShr: return shift_right(inst);
      case Op::kAnd: return inst.type == ir::Type::kPred ? pure(inst) : bitwise_and(inst);
      case Op::kOr:
      case Op::kXor: return inst.type == ir::Type::kPred ? pure(inst) : bitwise_or(inst);
      case Op::kZext: return extend(inst.operands[0], ir::bits_of(inst.from), ir::bits_of(inst.type), false);
      case Op::kSext: return extend(inst.operands[0], ir::bits_of(inst.from), ir::bits_of(inst.type), true);
      case Op::kCvt:
        if (inst.mods.sat || ir::is_float(inst.type) || ir::is_float(inst.from)) return pure(inst);
        return extend(inst.operands[0], ir::bits_of(inst.from), ir::bits_of(inst.type), ir::is_signed(inst.from));
      case Op::kSelect:
        if (!at(inst, 0).uniform()) return unless_same(inst.operands[1], inst.operands[2]);
        return merge(at(inst, 1), at(inst, 2));
      case Op::kCvtaToGeneric:
      case Op::kCvtaToSpace:
        if (inst.mods.space == ir::Space::kLocal) return varying();  // each thread has its own
        return without_range(at(inst, 0));
      case Op::kLoad:
        if (inst.mods.space == ir::Space::kLocal) return varying();
        if (inst.guard != ir::kNoValue && !shape(inst.guard).uniform()) return varying();
        return pure(inst);
      case Op::kShfl: return shuffle(inst);
      case Op::kVote:
      case Op::kRedux: return shape(inst.operands[1]).uniform() ? uniform() : varying();
      case Op::kMatch:
        return inst.mods.vote == ir::VoteMode::kAll && shape(inst.operands[1]).uniform() ? uniform() : varying();
      case Op::kActivemask: return uniform();
      case Op::kElect: return r == 0 ? uniform() : varying();
      case Op::kBarrier: return uniform();
      case Op::kTexture: return pure(inst);
      default: return ir::class_of(inst.op) == ir::OpClass::kPure ? pure(inst) : varying();
    }
  }

  /// The least shape above both, for values that reach the same name on different paths that all lanes take together.
  Shape merge(const Shape& a, const Shape& b) {
    if (a.kind == Shape::Kind::kUnknown) return b;
    if (b.kind == Shape::Kind::kUnknown) return a;
    if (a.varying() || b.varying() || a.kind != b.kind || a.offsets != b.offsets) return varying();
    // Whether the assumptions hold depends on the path, so code generation must carry the answer beside the value. The
    // list only says that there is something to ask.
    Shape s = a.assumption_count != 0 ? a : b;
    s.align_log2 = std::min(a.align_log2, b.align_log2);
    s.low = std::min(a.low, b.low);
    s.high = std::max(a.high, b.high);
    return s;
  }

 private:
  const Shape& shape(ValueId value) const { return shapes_.values[value]; }
  const Shape& at(const Inst& inst, std::size_t i) const { return shape(inst.operands[i]); }
  const LaneOffsets& offsets(const Shape& s) const { return shapes_.offsets[s.offsets]; }
  static bool integer(const Inst& inst) {
    const ir::TypeClass c = ir::class_of(inst.type);
    return (c == ir::TypeClass::kBits || c == ir::TypeClass::kUnsigned || c == ir::TypeClass::kSigned) &&
           !inst.mods.sat;
  }

  static Shape constant(std::uint64_t value, int bits) {
    Shape s = uniform();
    s.align_log2 = align_of(value);
    s.low = s.high = sign_extend(value, bits);
    return s;
  }
  static bool is_constant(const Shape& s) { return s.uniform() && s.low == s.high; }

  /// Uniform if all operands are, else varying; unknown while one is.
  Shape pure(const Inst& inst) const {
    bool all = true;
    for (ValueId v : inst.operands) {
      if (shape(v).kind == Shape::Kind::kUnknown) return {};
      all &= shape(v).uniform();
    }
    return all ? uniform() : varying();
  }
  Shape unless_same(ValueId a, ValueId b) const { return a == b ? shape(a) : varying(); }
  static Shape without_range(Shape s) {
    s.low = INT64_MIN;
    s.high = INT64_MAX;
    s.align_log2 = 0;
    return s;
  }

  Shape with_offsets(Shape s, const LaneOffsets& lanes) {
    if (std::all_of(lanes.begin(), lanes.end(), [](std::int64_t o) { return o == 0; })) {
      s.kind = Shape::Kind::kUniform;
      s.offsets = 0;
      return s;
    }
    auto [place, inserted] = interned_.try_emplace(lanes, static_cast<std::uint32_t>(shapes_.offsets.size()));
    if (inserted) shapes_.offsets.push_back(lanes);
    s.kind = Shape::Kind::kOffsets;
    s.offsets = place->second;
    return s;
  }

  /// Sets the assumptions to those of both; false if there are too many.
  static bool join_assumptions(Shape& s, const Shape& a, const Shape& b) {
    s.assumption_count = 0;
    for (const Shape* from : {&a, &b}) {
      for (int i = 0; i < from->assumption_count; ++i) {
        const Assumption& assumption = from->assumptions[static_cast<std::size_t>(i)];
        bool known = false;
        for (int k = 0; k < s.assumption_count; ++k) known |= s.assumptions[static_cast<std::size_t>(k)] == assumption;
        if (known) continue;
        if (s.assumption_count == 2) return false;
        s.assumptions[static_cast<std::size_t>(s.assumption_count++)] = assumption;
      }
    }
    return true;
  }

  static void set_range(Shape& s, bool known, std::int64_t low, std::int64_t high, int bits) {
    if (known && low >= min_signed(bits) && high <= max_signed(bits)) {
      s.low = low;
      s.high = high;
    } else {
      s.low = INT64_MIN;
      s.high = INT64_MAX;
    }
  }

  Shape add(const Inst& inst, bool subtract) {
    const Shape &a = at(inst, 0), &b = at(inst, 1);
    if (a.kind == Shape::Kind::kUnknown || b.kind == Shape::Kind::kUnknown) return {};
    if (a.varying() || b.varying()) return varying();
    LaneOffsets lanes;
    for (int l = 0; l < kWarpSize; ++l) {
      const auto i = static_cast<std::size_t>(l);
      lanes[i] = subtract ? offsets(a)[i] - offsets(b)[i] : offsets(a)[i] + offsets(b)[i];
    }
    Shape s;
    if (!join_assumptions(s, a, b)) return varying();
    s.align_log2 = std::min(a.align_log2, b.align_log2);
    std::int64_t low = 0, high = 0;
    bool known;
    if (subtract) {
      known = !__builtin_sub_overflow(a.low, b.high, &low) && !__builtin_sub_overflow(a.high, b.low, &high);
    } else {
      known = !__builtin_add_overflow(a.low, b.low, &low) && !__builtin_add_overflow(a.high, b.high, &high);
    }
    set_range(s, known, low, high, ir::bits_of(inst.type));
    return with_offsets(s, lanes);
  }

  Shape multiply(const Shape& a, const Shape& b, int bits) {
    if (a.kind == Shape::Kind::kUnknown || b.kind == Shape::Kind::kUnknown) return {};
    if (a.varying() || b.varying()) return varying();
    if (a.has_offsets() && b.has_offsets()) return varying();
    if (b.has_offsets()) return multiply(b, a, bits);
    if (a.has_offsets() && !is_constant(b)) return varying();
    LaneOffsets lanes{};
    if (a.has_offsets()) {
      for (std::size_t l = 0; l < kWarpSize; ++l) {
        if (__builtin_mul_overflow(offsets(a)[l], b.low, &lanes[l])) return varying();
      }
    }
    Shape s;
    if (!join_assumptions(s, a, b)) return varying();
    s.align_log2 = static_cast<std::uint8_t>(std::min<int>(kMaxAlign, a.align_log2 + b.align_log2));
    std::int64_t corner[4];
    // All four are computed, whatever the first says.
    bool overflow = __builtin_mul_overflow(a.low, b.low, &corner[0]);
    overflow |= __builtin_mul_overflow(a.low, b.high, &corner[1]);
    overflow |= __builtin_mul_overflow(a.high, b.low, &corner[2]);
    overflow |= __builtin_mul_overflow(a.high, b.high, &corner[3]);
    set_range(s, !overflow, *std::min_element(corner, corner + 4), *std::max_element(corner, corner + 4), bits);
    return with_offsets(s, lanes);
  }

  Shape shift_left(const Inst& inst) {
    const Shape& amount = at(inst, 1);
    const int bits = ir::bits_of(inst.type);
    if (!is_constant(amount)) return pure(inst);
    if (amount.low < 0 || amount.low >= bits) return constant(0, bits);
    return multiply(at(inst, 0), constant(std::uint64_t{1} << amount.low, 64), bits);
  }

  /// Whether every lane's offset lies in the zero bits of the base, so that base + offset is base | offset.
  bool offsets_in_alignment(const Shape& s) const {
    const std::int64_t limit = s.align_log2 >= 62 ? INT64_MAX : std::int64_t{1} << s.align_log2;
    return std::all_of(offsets(s).begin(), offsets(s).end(), [&](std::int64_t o) { return o >= 0 && o < limit; });
  }

  Shape shift_right(const Inst& inst) {
    const Shape &a = at(inst, 0), &amount = at(inst, 1);
    const int bits = ir::bits_of(inst.type);
    if (!a.has_offsets() || !is_constant(amount)) return shifted_uniform(inst, bits);
    // Offsets below the alignment that reach neither the sign nor the shifted-out bits of the base.
    if (amount.low < 0 || amount.low >= bits || amount.low > a.align_log2 || !offsets_in_alignment(a)) return varying();
    if (a.align_log2 >= bits && a.low != 0) return varying();
    LaneOffsets lanes;
    for (std::size_t l = 0; l < kWarpSize; ++l) lanes[l] = offsets(a)[l] >> amount.low;
    Shape s = a;
    s.align_log2 = a.align_log2 == kMaxAlign ? kMaxAlign : static_cast<std::uint8_t>(a.align_log2 - amount.low);
    if (a.low >= 0) {
      s.low = a.low >> amount.low;
      s.high = a.high >> amount.low;
    } else {
      s = without_range(s);
    }
    return with_offsets(s, lanes);
  }
  Shape shifted_uniform(const Inst& inst, int bits) {
    Shape s = pure(inst);
    const Shape &a = at(inst, 0), &amount = at(inst, 1);
    if (s.uniform() && is_constant(amount) && amount.low >= 0 && amount.low < bits && a.low >= 0) {
      s.low = a.low >> amount.low;
      s.high = a.high >> amount.low;
      s.align_log2 = static_cast<std::uint8_t>(std::max<std::int64_t>(0, a.align_log2 - amount.low));
    }
    return s;
  }

  Shape bitwise_and(const Inst& inst) {
    const bool swap = at(inst, 0).uniform();
    const Shape &a = at(inst, swap ? 1 : 0), &mask = at(inst, swap ? 0 : 1);
    if (is_constant(mask) && !a.varying()) {
      if (a.has_offsets() && !offsets_in_alignment(a)) return varying();
      const std::int64_t m = mask.low;
      Shape s = a;
      LaneOffsets lanes;
      for (std::size_t l = 0; l < kWarpSize; ++l) lanes[l] = offsets(a)[l] & m;
      const std::int64_t aligned_part = s.align_log2 >= 63 ? 0 : (m >> s.align_log2) << s.align_log2;
      if (aligned_part == 0) {  // nothing of the base is left
        s.low = s.high = 0;
        s.align_log2 = kMaxAlign;
      } else if (m >= 0) {
        s.low = 0;
        s.high = m;
        s.align_log2 = std::max(s.align_log2, align_of(static_cast<std::uint64_t>(m)));
      } else {
        s.align_log2 = std::max(s.align_log2, align_of(static_cast<std::uint64_t>(m)));
        if (a.low < 0)
          s.low = INT64_MIN;
        else
          s.low = 0;
      }
      return with_offsets(s, lanes);
    }
    return pure(inst);
  }

  Shape bitwise_or(const Inst& inst) {
    const bool swap = at(inst, 0).uniform();
    const Shape &a = at(inst, swap ? 1 : 0), &bits = at(inst, swap ? 0 : 1);
    if (a.has_offsets() && is_constant(bits) && offsets_in_alignment(a)) {
      const std::int64_t below = a.align_log2 >= 63 ? bits.low : bits.low & ((std::int64_t{1} << a.align_log2) - 1);
      auto apply = [&](std::int64_t o) { return inst.op == Op::kOr ? (o | below) : (o ^ below); };
      LaneOffsets lanes;
      for (std::size_t l = 0; l < kWarpSize; ++l) lanes[l] = apply(offsets(a)[l]) - apply(offsets(a)[0]);
      Shape s = without_range(a);
      return with_offsets(s, lanes);
    }
    return pure(inst);
  }

  /// Zero or sign extension from `from` to `to` bits, or truncation.
  Shape extend(ValueId value, int from, int to, bool is_signed) {
    Shape s = shape(value);
    if (s.kind == Shape::Kind::kUnknown || s.varying()) return s;
    if (to <= from) {
      if (s.low < min_signed(to) || s.high > max_signed(to)) {
        s.low = INT64_MIN;
        s.high = INT64_MAX;
      }
      return s;
    }
    const bool base_nonnegative = s.low >= 0;
    if (s.has_offsets() && !offsets_in_alignment(s)) {
      const auto [least, most] = std::minmax_element(offsets(s).begin(), offsets(s).end());
      const bool ranged = s.low != INT64_MIN && s.high != INT64_MAX;
      const bool proved =
          ranged && (is_signed ? s.low + *least >= min_signed(from) && s.high + *most <= max_signed(from)
                               : s.low + *least >= 0 && s.high + *most <= max_signed(from));
      if (!proved) {
        Shape with;
        with.assumptions[0] = {value, is_signed};
        with.assumption_count = 1;
        if (!join_assumptions(s, Shape(s), with)) return varying();
      }
    }
    if (!is_signed && !base_nonnegative) {
      s.low = 0;
      s.high = from >= 63 ? INT64_MAX : (std::int64_t{1} << from) - 1;
    } else if (s.low == INT64_MIN) {
      s.low = min_signed(from);
      s.high = max_signed(from);
    }
    return s;
  }

  Shape shuffle(const Inst& inst) {
    if (shape(inst.operands[0]).kind == Shape::Kind::kUnknown) return {};
    // Every lane reads the same one: a broadcast.
    const Shape &lane = at(inst, 1), &clamp = at(inst, 2);
    const bool whole_warp = is_constant(clamp) && clamp.low == 0x1f;
    if (inst.mods.shfl == ir::ShflMode::kIdx && lane.uniform() && whole_warp) return uniform();
    return varying();
  }

  Shape special(const Inst& inst) {
    auto from_lanes = [&](auto of_lane) {
      if (launch_.lanes != kWarpSize) return varying();
      LaneOffsets lanes;
      const std::int64_t first = of_lane(0);
      for (int l = 0; l < kWarpSize; ++l) lanes[static_cast<std::size_t>(l)] = of_lane(l) - first;
      Shape s = constant(static_cast<std::uint64_t>(first), 64);
      return with_offsets(s, lanes);
    };
    auto ranged = [&](std::int64_t low, std::int64_t high) {
      Shape s = uniform();
      s.low = low;
      s.high = high;
      if (low == high) s.align_log2 = align_of(static_cast<std::uint64_t>(low));
      return s;
    };
    using ir::Special;
    switch (inst.mods.special) {
      case Special::kTidX: return tid(0);
      case Special::kTidY: return tid(1);
      case Special::kTidZ: return tid(2);
      case Special::kNtidX: return launch_.block[0] ? constant(launch_.block[0], 64) : ranged(1, 1024);
      case Special::kNtidY: return launch_.block[1] ? constant(launch_.block[1], 64) : ranged(1, 1024);
      case Special::kNtidZ: return launch_.block[2] ? constant(launch_.block[2], 64) : ranged(1, 64);
      case Special::kCtaidX: return ranged(0, 0x7ffffffe);
      case Special::kCtaidY:
      case Special::kCtaidZ: return ranged(0, 65535);
      case Special::kNctaidX: return ranged(1, 0x7fffffff);
      case Special::kNctaidY:
      case Special::kNctaidZ: return ranged(1, 65535);
      case Special::kWarpId: return ranged(0, 31);
      case Special::kNwarpId: return ranged(1, 32);
      case Special::kLaneId: {
        Shape s = ranged(0, 31);
        s.align_log2 = launch_.lanes == kWarpSize ? kMaxAlign : align_of(launch_.lanes);
        if (launch_.lanes == kWarpSize) s.high = 0;
        LaneOffsets lanes;
        for (int l = 0; l < kWarpSize; ++l) lanes[static_cast<std::size_t>(l)] = l % static_cast<int>(launch_.lanes);
        return with_offsets(s, lanes);
      }
      case Special::kLanemaskEq: return from_lanes([](int l) { return std::int64_t{1} << l; });
      case Special::kLanemaskLt: return from_lanes([](int l) { return (std::int64_t{1} << l) - 1; });
      case Special::kLanemaskLe: return from_lanes([](int l) { return (std::int64_t{2} << l) - 1; });
      case Special::kLanemaskGe: return from_lanes([](int l) { return (std::int64_t{0xffffffff} << l) & 0xffffffff; });
      case Special::kLanemaskGt: return from_lanes([](int l) { return (std::int64_t{0xfffffffe} << l) & 0xffffffff; });
      default: return uniform();
    }
  }

  Shape tid(int dimension) {
    LaneOffsets lanes;
    std::uint8_t align;
    if (!find_tid_offsets(launch_, dimension, &lanes, &align)) return varying();
    Shape s;
    s.align_log2 = align;
    s.low = 0;
    s.high = align == kMaxAlign ? 0 : (dimension == 2 ? 63 : 1023);
    return with_offsets(s, lanes);
  }

  const LaunchShape& launch_;
  Shapes& shapes_;
  std::map<LaneOffsets, std::uint32_t> interned_;
};

/// The fixpoint: transfer functions in block order, divergence whenever a branch turns out not to be uniform.
class Analysis {
 public:
  Analysis(const ir::Function& function, const Cfg& cfg, const LaunchShape& launch)
      : function_(function), cfg_(cfg), transfer_(launch, shapes_) {
    shapes_.values.resize(function.values.size());
    shapes_.divergent_branch.assign(function.blocks.size(), false);
    shapes_.partial.assign(function.blocks.size(), false);
    forced_.assign(function.values.size(), false);
    visits_.assign(function.blocks.size(), 0);
    defined_in_.assign(function.values.size(), kNoBlock);
    for (BlockId b : cfg.order) {
      for (ValueId v : function.blocks[b].parameters) defined_in_[v] = b;
      for (const auto& inst : function.blocks[b].insts) {
        for (ValueId v : inst.results) defined_in_[v] = b;
      }
    }
    collect_loop_uses();
  }

  Shapes run() {
    for (ValueId v : function_.arguments) shapes_.values[v] = Transfer::varying();
    for (bool changed = true; changed;) {
      changed = false;
      for (BlockId b : cfg_.order) changed |= visit(b);
    }
    // What no path defines can hold anything; it is never read.
    for (Shape& s : shapes_.values) {
      if (s.kind == Shape::Kind::kUnknown) s = Transfer::uniform();
    }
    return std::move(shapes_);
  }

 private:
  bool update(ValueId value, Shape shape) {
    if (forced_[value]) shape = Transfer::varying();
    Shape& old = shapes_.values[value];
    if (old.kind > shape.kind) shape = old;  // only upwards
    if (old == shape) return false;
    old = shape;
    return true;
  }

  bool visit(BlockId b) {
    bool changed = false;
    const ir::Block& block = function_.blocks[b];
    if (!block.parameters.empty()) changed |= visit_parameters(b);
    for (const Inst& inst : block.insts) {
      for (std::size_t r = 0; r < inst.results.size(); ++r)
        changed |= update(inst.results[r], transfer_.result(inst, r));
    }
    const Inst& end = block.terminator();
    if (end.targets.size() > 1 && !shapes_.divergent_branch[b] &&
        shapes_.values[end.operands[0]].kind > Shape::Kind::kUniform) {
      shapes_.divergent_branch[b] = true;
      diverge(b);
      changed = true;
    }
    return changed;
  }

  bool visit_parameters(BlockId b) {
    const ir::Block& block = function_.blocks[b];
    const bool widen = ++visits_[b] > 3;
    bool changed = false;
    for (std::size_t i = 0; i < block.parameters.size(); ++i) {
      Shape s;
      BlockId last = kNoBlock;
      for (BlockId p : cfg_.predecessors[b]) {
        if (p == last) continue;  // several edges from one block are listed together and handled together
        last = p;
        for (const auto& target : function_.blocks[p].terminator().targets) {
          if (target.block == b) s = transfer_.merge(s, shapes_.values[target.arguments[i]]);
        }
      }
      if (s.kind == Shape::Kind::kUnknown) continue;
      const Shape& old = shapes_.values[block.parameters[i]];
      if (widen && !s.varying() && old.kind == s.kind && (old.low != s.low || old.high != s.high)) {
        s.low = INT64_MIN;
        s.high = INT64_MAX;
      }
      if (s.align_log2 > old.align_log2 && old.kind != Shape::Kind::kUnknown) s.align_log2 = old.align_log2;
      changed |= update(block.parameters[i], s);
    }
    return changed;
  }

  void force(ValueId value) {
    forced_[value] = true;
    shapes_.values[value] = Transfer::varying();
  }

  void diverge(BlockId branch) {
    const Divergence divergence = compute_divergence(function_, cfg_, branch);
    for (BlockId join : divergence.joins) force_parameters(join);
    for (BlockId b : divergence.region) shapes_.partial[b] = true;
    for (int loop : divergence.left_loops) force_values_leaving(loop);
    desynchronise(divergence);
  }

  /// The parameters of a join, but those that get the same value on all edges.
  void force_parameters(BlockId join) {
    const auto& parameters = function_.blocks[join].parameters;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      std::set<ValueId> incoming;
      for (BlockId p : cfg_.predecessors[join]) {
        for (const auto& target : function_.blocks[p].terminator().targets) {
          if (target.block == join) incoming.insert(target.arguments[i]);
        }
      }
      if (incoming.size() > 1) force(parameters[i]);
    }
  }

  /// Values used outside a loop that lanes leave in different rounds, and parameters that they are passed to on the
  /// way.
  void force_values_leaving(int loop) {
    if (!left_.insert(loop).second) return;
    for (ValueId v : loop_uses_[static_cast<std::size_t>(loop)]) force(v);
    for (BlockId b : cfg_.loops[static_cast<std::size_t>(loop)].blocks) {
      for (const auto& target : function_.blocks[b].terminator().targets) {
        if (cfg_.in_loop(target.block, loop)) continue;
        for (std::size_t i = 0; i < target.arguments.size(); ++i) {
          const BlockId defined = defined_in_[target.arguments[i]];
          if (defined != kNoBlock && cfg_.in_loop(defined, loop)) force(function_.blocks[target.block].parameters[i]);
        }
      }
    }
  }

  void desynchronise(const Divergence& divergence) {
    if (shapes_.desynchronised || !divergence.apart) return;
    shapes_.desynchronised = std::any_of(divergence.region.begin(), divergence.region.end(), [&](BlockId b) {
      const auto& insts = function_.blocks[b].insts;
      return insts.size() > 1 && ir::class_of(insts[insts.size() - 2].op) == ir::OpClass::kBarrier;
    });
    if (!shapes_.desynchronised) return;
    for (ValueId v = 0; v < shapes_.values.size(); ++v) force(v);
  }

  /// By loop: values defined in it and used outside it.
  void collect_loop_uses() {
    loop_uses_.resize(cfg_.loops.size());
    auto note = [&](ValueId value, BlockId used_in) {
      if (value == ir::kNoValue || defined_in_[value] == kNoBlock) return;
      for (int l = cfg_.loop_of[defined_in_[value]]; l != kNoLoop && !cfg_.in_loop(used_in, l);
           l = cfg_.loops[static_cast<std::size_t>(l)].parent) {
        loop_uses_[static_cast<std::size_t>(l)].insert(value);
      }
    };
    for (BlockId b : cfg_.order) {
      for (const auto& inst : function_.blocks[b].insts) {
        for (ValueId v : inst.operands) note(v, b);
        note(inst.guard, b);
        for (ValueId v : inst.guard_else) note(v, b);
        for (const auto& target : inst.targets) {
          for (ValueId v : target.arguments) note(v, b);
        }
      }
    }
  }

  const ir::Function& function_;
  const Cfg& cfg_;
  Shapes shapes_;
  Transfer transfer_;
  std::vector<bool> forced_;
  std::vector<int> visits_;
  std::vector<BlockId> defined_in_;
  std::vector<std::set<ValueId>> loop_uses_;
  std::set<int> left_;
};

}  // namespace

bool find_tid_offsets(const LaunchShape& launch, int dimension, LaneOffsets* offsets, std::uint8_t* align_log2) {
  const std::uint32_t bx = launch.block[0], by = launch.block[1], bz = launch.block[2];
  const std::uint32_t lanes = launch.lanes;
  const bool flat = by == 1 && bz == 1;
  auto fill = [&](auto of_lane, std::uint64_t base_unit) {
    for (int l = 0; l < kWarpSize; ++l) (*offsets)[static_cast<std::size_t>(l)] = of_lane(l % static_cast<int>(lanes));
    *align_log2 = align_of(base_unit);
    return true;
  };
  auto none = [](int) { return std::int64_t{0}; };
  if (dimension == 0) {
    if (flat || (bx && bx % lanes == 0)) return fill([](int l) { return std::int64_t{l}; }, lanes);
    if (bx && lanes % bx == 0) return fill([&](int l) { return std::int64_t{l % static_cast<int>(bx)}; }, 0);
    return false;
  }
  if (dimension == 1) {
    if (by == 1) return fill(none, 0);
    if (bx && bx % lanes == 0) return fill(none, 1);
    if (bx && lanes % bx == 0) {
      const std::uint32_t rows = lanes / bx;
      if (bz == 1 || (by && by % rows == 0))
        return fill([&](int l) { return std::int64_t{l / static_cast<int>(bx)}; }, rows);
      if (by && rows % by == 0) {
        return fill([&](int l) { return std::int64_t{l / static_cast<int>(bx) % static_cast<int>(by)}; }, 0);
      }
    }
    return false;
  }
  if (bz == 1) return fill(none, 0);
  const std::uint64_t plane = std::uint64_t{bx} * by;
  if (plane && plane % lanes == 0) return fill(none, 1);
  if (plane && lanes % plane == 0) {
    return fill([&](int l) { return std::int64_t{l / static_cast<int>(plane)}; }, lanes / plane);
  }
  return false;
}

Shapes compute_shapes(const ir::Function& function, const Cfg& cfg, const LaunchShape& launch) {
  return Analysis(function, cfg, launch).run();
}

}  // namespace heddle::analysis
