#include "compiler/transform/simplify.h"

#include <algorithm>
#include <unordered_map>

namespace heddle::transform {
namespace {

using ir::BlockId;
using ir::Inst;
using ir::kNoValue;
using ir::Op;
using ir::Type;
using ir::ValueId;

std::uint64_t mask(int bits) { return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1; }
std::int64_t extend(std::uint64_t v, int bits) {
  return bits >= 64 ? static_cast<std::int64_t>(v) : static_cast<std::int64_t>(v << (64 - bits)) >> (64 - bits);
}

bool is_integer(Type t) {
  const ir::TypeClass c = ir::class_of(t);
  return c == ir::TypeClass::kBits || c == ir::TypeClass::kUnsigned || c == ir::TypeClass::kSigned;
}

class Simplifier {
 public:
  explicit Simplifier(ir::Function* function) : f_(*function) {}

  void run() {
    for (int round = 0; round < 3; ++round) {
      changed_ = false;
      alias_.assign(f_.values.size(), kNoValue);
      find_definitions();
      prune_parameters();
      fold();
      apply_aliases();
      drop_unreachable();
      merge_blocks();
      drop_dead();
      if (!changed_) break;
    }
    compact_values();
  }

 private:
  ValueId resolve(ValueId v) {
    while (alias_[v] != kNoValue) v = alias_[v];
    return v;
  }
  void replace(ValueId v, ValueId by) {
    alias_[v] = by;
    changed_ = true;
  }

  // ---- constants

  struct Definition {
    BlockId block = ~0u;
    std::uint32_t index = 0;
  };
  void find_definitions() {
    definitions_.assign(f_.values.size(), {});
    for (BlockId b = 0; b < f_.blocks.size(); ++b)
      for (std::uint32_t i = 0; i < f_.blocks[b].insts.size(); ++i)
        for (ValueId r : f_.blocks[b].insts[i].results) definitions_[r] = {b, i};
  }
  const Inst* definition(ValueId v) const {
    const Definition& d = definitions_[v];
    return d.block == ~0u ? nullptr : &f_.blocks[d.block].insts[d.index];
  }
  bool constant(ValueId v, std::uint64_t* out) const {
    const Inst* d = definition(v);
    if (d == nullptr || d->op != Op::kConst || d->imm_hi != 0) return false;
    *out = d->imm;
    return true;
  }
  int width(ValueId v) const { return ir::bits_of(f_.values[v].type); }
  void make_constant(Inst* inst, std::uint64_t value) {
    const int bits = width(inst->results[0]);
    const ir::Location location = inst->location;
    const ValueId result = inst->results[0];
    *inst = Inst();
    inst->op = Op::kConst;
    inst->type = ir::bits_type(bits);
    inst->results.push_back(result);
    inst->imm = value & mask(bits);
    inst->location = location;
    changed_ = true;
  }

  void fold() {
    for (ir::Block& block : f_.blocks) {
      for (Inst& inst : block.insts) {
        for (ValueId& v : inst.operands) v = resolve(v);
        for (ValueId& v : inst.guard_else) v = resolve(v);
        if (inst.guard != kNoValue) inst.guard = resolve(inst.guard);
        fold(&inst);
      }
    }
  }

  void fold(Inst* inst) {
    std::uint64_t a = 0, b = 0;
    const auto n = inst->operands.size();
    const bool ca = n >= 1 && constant(inst->operands[0], &a), cb = n >= 2 && constant(inst->operands[1], &b);
    const int bits = ir::bits_of(inst->type);
    const bool integer = is_integer(inst->type) && bits <= 64;
    switch (inst->op) {
      case Op::kAdd:
        if (!integer || inst->mods.sat) return;
        if (ca && cb) return make_constant(inst, a + b);
        if (cb && b == 0) return replace(inst->results[0], inst->operands[0]);
        if (ca && a == 0) return replace(inst->results[0], inst->operands[1]);
        if (ca) std::swap(inst->operands[0], inst->operands[1]);
        return;
      case Op::kSub:
        if (!integer || inst->mods.sat) return;
        if (ca && cb) return make_constant(inst, a - b);
        if (cb && b == 0) return replace(inst->results[0], inst->operands[0]);
        return;
      case Op::kMul:
        if (!integer) return;
        if (ca && cb) return make_constant(inst, a * b);
        if (cb && b == 1) return replace(inst->results[0], inst->operands[0]);
        if (ca && a == 1) return replace(inst->results[0], inst->operands[1]);
        return;
      case Op::kMulWide:
        if (ca && cb && bits <= 32)
          return make_constant(
              inst, ir::is_signed(inst->type) ? static_cast<std::uint64_t>(extend(a, bits) * extend(b, bits)) : a * b);
        return;
      case Op::kShl:
        if (ca && cb && bits <= 64) return make_constant(inst, b >= static_cast<std::uint64_t>(bits) ? 0 : a << b);
        if (cb && b == 0) return replace(inst->results[0], inst->operands[0]);
        return;
      case Op::kShr:
        if (ca && cb && bits <= 64) {
          if (ir::is_signed(inst->type))
            return make_constant(inst, static_cast<std::uint64_t>(extend(a, bits) >> std::min<std::uint64_t>(b, 63)));
          return make_constant(inst, b >= static_cast<std::uint64_t>(bits) ? 0 : a >> b);
        }
        if (cb && b == 0) return replace(inst->results[0], inst->operands[0]);
        return;
      case Op::kAnd:
        if (ca && cb && bits <= 64) return make_constant(inst, a & b);
        return;
      case Op::kOr:
        if (ca && cb && bits <= 64) return make_constant(inst, a | b);
        if (cb && b == 0 && bits <= 64) return replace(inst->results[0], inst->operands[0]);
        return;
      case Op::kXor:
        if (ca && cb && bits <= 64) return make_constant(inst, a ^ b);
        return;
      case Op::kNot: {
        if (ca && bits <= 64) return make_constant(inst, ~a);
        const Inst* d = definition(inst->operands[0]);
        if (d != nullptr && d->op == Op::kNot) return replace(inst->results[0], resolve(d->operands[0]));
        return;
      }
      case Op::kZext:
        if (ca) return make_constant(inst, a & mask(ir::bits_of(inst->from)));
        fold_resize(inst);
        return;
      case Op::kSext:
        if (ca) return make_constant(inst, static_cast<std::uint64_t>(extend(a, ir::bits_of(inst->from))));
        return;
      case Op::kSelect:
        if (ca) return replace(inst->results[0], inst->operands[a ? 1 : 2]);
        if (inst->operands[1] == inst->operands[2]) return replace(inst->results[0], inst->operands[1]);
        return;
      case Op::kSetp:
        if (ca && cb && integer) fold_compare(inst, a, b, bits);
        return;
      case Op::kUnpack: {
        const Inst* d = definition(inst->operands[0]);
        if (d == nullptr || d->op != Op::kPack || d->operands.size() != inst->results.size()) return;
        for (std::size_t i = 0; i < inst->results.size(); ++i)
          if (alias_[inst->results[i]] == kNoValue) replace(inst->results[i], resolve(d->operands[i]));
        return;
      }
      case Op::kPack: {
        const Inst* d = definition(inst->operands[0]);
        if (d == nullptr || d->op != Op::kUnpack || d->results.size() != n) return;
        for (std::size_t i = 0; i < n; ++i)
          if (inst->operands[i] != d->results[i]) return;
        return replace(inst->results[0], resolve(d->operands[0]));
      }
      // Global and constant addresses are generic addresses.
      case Op::kCvtaToGeneric:
      case Op::kCvtaToSpace:
        if (inst->mods.space == ir::Space::kGlobal || inst->mods.space == ir::Space::kConst)
          if (width(inst->operands[0]) == width(inst->results[0])) replace(inst->results[0], inst->operands[0]);
        return;
      case Op::kLoad:
      case Op::kStore:
      case Op::kAtomicRmw:
      case Op::kAtomicCas: fold_address(inst); return;
      case Op::kCondBranch:
        if (!ca) return;
        inst->op = Op::kBranch;
        inst->operands.clear();
        inst->targets.erase(inst->targets.begin() + (a ? 1 : 0));
        changed_ = true;
        return;
      default: return;
    }
  }

  /// A cut of an extension of the same value.
  void fold_resize(Inst* inst) {
    const Inst* d = definition(inst->operands[0]);
    if (d == nullptr || (d->op != Op::kZext && d->op != Op::kSext)) return;
    const ValueId inner = resolve(d->operands[0]);
    const int to = width(inst->results[0]), from = width(inner), middle = width(inst->operands[0]);
    if (middle < from) return;
    if (to == from) replace(inst->results[0], inner);
  }

  void fold_compare(Inst* inst, std::uint64_t a, std::uint64_t b, int bits) {
    const bool s = ir::is_signed(inst->type);
    const std::int64_t x = extend(a, bits), y = extend(b, bits);
    bool r = false;
    switch (inst->mods.compare) {
      case ir::Compare::kEq: r = a == b; break;
      case ir::Compare::kNe: r = a != b; break;
      case ir::Compare::kLt: r = s ? x < y : a < b; break;
      case ir::Compare::kLe: r = s ? x <= y : a <= b; break;
      case ir::Compare::kGt: r = s ? x > y : a > b; break;
      case ir::Compare::kGe: r = s ? x >= y : a >= b; break;
      case ir::Compare::kLo: r = a < b; break;
      case ir::Compare::kLs: r = a <= b; break;
      case ir::Compare::kHi: r = a > b; break;
      case ir::Compare::kHs: r = a >= b; break;
      default: return;
    }
    make_constant(inst, r);
  }

  /// base + constant becomes the access's own offset. Not for 32-bit addresses, whose sum may wrap.
  void fold_address(Inst* inst) {
    if (inst->mods.space == ir::Space::kParam) return;
    for (int step = 0; step < 8; ++step) {
      const Inst* d = definition(inst->operands[0]);
      std::uint64_t c = 0;
      if (d == nullptr || d->op != Op::kAdd || ir::bits_of(d->type) != 64 || !is_integer(d->type)) return;
      if (!constant(resolve(d->operands[1]), &c)) return;
      inst->operands[0] = resolve(d->operands[0]);
      inst->imm += c;
      changed_ = true;
    }
  }

  // ---- block parameters that always get the same value

  void prune_parameters() {
    const std::size_t count = f_.blocks.size();
    std::vector<std::vector<std::pair<BlockId, std::uint32_t>>> edges(count);
    for (BlockId b = 0; b < count; ++b) {
      const auto& targets = f_.blocks[b].insts.back().targets;
      for (std::uint32_t t = 0; t < targets.size(); ++t) edges[targets[t].block].push_back({b, t});
    }
    for (bool again = true; again;) {
      again = false;
      for (BlockId b = 1; b < count; ++b) {
        auto& parameters = f_.blocks[b].parameters;
        if (edges[b].empty()) continue;
        for (std::size_t p = 0; p < parameters.size();) {
          const ValueId self = parameters[p];
          ValueId same = kNoValue;
          bool differs = false;
          for (const auto& [from, t] : edges[b]) {
            const ValueId v = resolve(f_.blocks[from].insts.back().targets[t].arguments[p]);
            if (v == self || v == same) continue;
            if (same != kNoValue) {
              differs = true;
              break;
            }
            same = v;
          }
          if (differs || same == kNoValue) {
            ++p;
            continue;
          }
          replace(self, same);
          parameters.erase(parameters.begin() + static_cast<std::ptrdiff_t>(p));
          for (const auto& [from, t] : edges[b]) {
            auto& arguments = f_.blocks[from].insts.back().targets[t].arguments;
            arguments.erase(arguments.begin() + static_cast<std::ptrdiff_t>(p));
          }
          again = true;
        }
      }
    }
  }

  void apply_aliases() {
    for (ir::Block& block : f_.blocks)
      for (Inst& inst : block.insts) {
        for (ValueId& v : inst.operands) v = resolve(v);
        for (ValueId& v : inst.guard_else) v = resolve(v);
        if (inst.guard != kNoValue) inst.guard = resolve(inst.guard);
        for (ir::Target& t : inst.targets)
          for (ValueId& v : t.arguments) v = resolve(v);
      }
  }

  // ---- blocks

  void drop_unreachable() {
    const std::size_t count = f_.blocks.size();
    std::vector<BlockId> number(count, ~0u), work{0};
    std::vector<char> seen(count, 0);
    seen[0] = 1;
    while (!work.empty()) {
      const BlockId b = work.back();
      work.pop_back();
      for (const ir::Target& t : f_.blocks[b].terminator().targets)
        if (!seen[t.block]) {
          seen[t.block] = 1;
          work.push_back(t.block);
        }
    }
    BlockId next = 0;
    for (BlockId b = 0; b < count; ++b) {
      if (!seen[b]) continue;
      number[b] = next;
      if (next != b) f_.blocks[next] = std::move(f_.blocks[b]);
      ++next;
    }
    if (next == count) return;
    changed_ = true;
    f_.blocks.resize(next);
    for (ir::Block& block : f_.blocks)
      for (ir::Target& t : block.insts.back().targets) t.block = number[t.block];
  }

  void merge_blocks() {
    const std::size_t count = f_.blocks.size();
    std::vector<std::uint32_t> predecessors(count, 0);
    for (const ir::Block& block : f_.blocks)
      for (const ir::Target& t : block.terminator().targets) ++predecessors[t.block];
    bool merged = false;
    for (BlockId b = 0; b < count; ++b) {
      for (;;) {
        ir::Block& block = f_.blocks[b];
        if (block.insts.empty() || block.terminator().op != Op::kBranch) break;
        const BlockId to = block.terminator().targets[0].block;
        if (to == b || to == 0 || predecessors[to] != 1) break;
        // A barrier stays the last of its block.
        if (block.insts.size() >= 2 && class_of(block.insts[block.insts.size() - 2].op) == ir::OpClass::kBarrier) break;
        ir::Block& next = f_.blocks[to];
        const std::vector<ValueId> arguments = std::move(block.insts.back().targets[0].arguments);
        for (std::size_t p = 0; p < next.parameters.size(); ++p) alias_[next.parameters[p]] = arguments[p];
        block.insts.pop_back();
        block.insts.insert(block.insts.end(), std::make_move_iterator(next.insts.begin()),
                           std::make_move_iterator(next.insts.end()));
        next.insts.clear();
        next.parameters.clear();
        predecessors[to] = 0;
        merged = true;
      }
    }
    if (!merged) return;
    changed_ = true;
    std::vector<BlockId> number(count, ~0u);
    BlockId next = 0;
    for (BlockId b = 0; b < count; ++b) {
      if (f_.blocks[b].insts.empty()) continue;
      number[b] = next;
      if (next != b) f_.blocks[next] = std::move(f_.blocks[b]);
      ++next;
    }
    f_.blocks.resize(next);
    for (ir::Block& block : f_.blocks)
      for (ir::Target& t : block.insts.back().targets) t.block = number[t.block];
    apply_aliases();
  }

  // ---- dead code

  void drop_dead() {
    find_definitions();
    std::vector<char> used(f_.values.size(), 0);
    std::vector<ValueId> work;
    auto use = [&](ValueId v) {
      if (used[v]) return;
      used[v] = 1;
      work.push_back(v);
    };
    auto use_operands = [&](const Inst& inst) {
      for (ValueId v : inst.operands) use(v);
      for (ValueId v : inst.guard_else) use(v);
      if (inst.guard != kNoValue) use(inst.guard);
    };
    auto removable = [](const Inst& inst) {
      const ir::OpClass c = class_of(inst.op);
      // A volatile or ordered load is an effect.
      return c == ir::OpClass::kPure || (c == ir::OpClass::kRead && !inst.mods.is_volatile &&
                                         inst.mods.order == ir::Order::kWeak && !inst.results.empty());
    };
    // Which edges give a parameter its value.
    std::vector<std::pair<BlockId, std::uint32_t>> place(f_.values.size(), {~0u, 0});
    std::vector<std::vector<BlockId>> predecessors(f_.blocks.size());
    for (BlockId b = 0; b < f_.blocks.size(); ++b) {
      for (std::uint32_t p = 0; p < f_.blocks[b].parameters.size(); ++p) place[f_.blocks[b].parameters[p]] = {b, p};
      for (const ir::Target& t : f_.blocks[b].terminator().targets) predecessors[t.block].push_back(b);
      for (const Inst& inst : f_.blocks[b].insts)
        if (!removable(inst)) use_operands(inst);
    }
    while (!work.empty()) {
      const ValueId v = work.back();
      work.pop_back();
      if (const Inst* d = definition(v)) {
        if (removable(*d)) use_operands(*d);
      } else if (place[v].first != ~0u) {
        for (BlockId p : predecessors[place[v].first])
          for (const ir::Target& t : f_.blocks[p].terminator().targets)
            if (t.block == place[v].first) use(t.arguments[place[v].second]);
      }
    }
    for (ir::Block& block : f_.blocks) {
      const std::size_t before = block.insts.size();
      std::erase_if(block.insts, [&](const Inst& inst) {
        return removable(inst) &&
               std::none_of(inst.results.begin(), inst.results.end(), [&](ValueId v) { return used[v]; });
      });
      if (block.insts.size() != before) changed_ = true;
      for (ir::Target& t : block.insts.back().targets) {
        const auto& parameters = f_.blocks[t.block].parameters;
        std::size_t kept = 0;
        for (std::size_t i = 0; i < t.arguments.size(); ++i)
          if (used[parameters[i]]) t.arguments[kept++] = t.arguments[i];
        t.arguments.resize(kept);
      }
    }
    for (ir::Block& block : f_.blocks) {
      const std::size_t before = block.parameters.size();
      std::erase_if(block.parameters, [&](ValueId v) { return !used[v]; });
      if (block.parameters.size() != before) changed_ = true;
    }
  }

  void compact_values() {
    std::vector<ValueId> number(f_.values.size(), kNoValue);
    std::vector<ir::Value> values;
    auto define = [&](ValueId& v) {
      number[v] = static_cast<ValueId>(values.size());
      values.push_back(f_.values[v]);
      v = number[v];
    };
    for (ValueId& v : f_.arguments) define(v);
    for (ir::Block& block : f_.blocks) {
      for (ValueId& v : block.parameters) define(v);
      for (Inst& inst : block.insts)
        for (ValueId& v : inst.results) define(v);
    }
    for (ir::Block& block : f_.blocks)
      for (Inst& inst : block.insts) {
        for (ValueId& v : inst.operands) v = number[v];
        for (ValueId& v : inst.guard_else) v = number[v];
        if (inst.guard != kNoValue) inst.guard = number[inst.guard];
        for (ir::Target& t : inst.targets)
          for (ValueId& v : t.arguments) v = number[v];
      }
    f_.values = std::move(values);
  }

  ir::Function& f_;
  bool changed_ = false;
  std::vector<ValueId> alias_;
  std::vector<Definition> definitions_;
};

}  // namespace

void simplify(ir::Program* program) {
  Simplifier(&program->kernel).run();
  for (ir::Function& f : program->functions) Simplifier(&f).run();
}

}  // namespace heddle::transform
