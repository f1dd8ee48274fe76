#include "compiler/ir/verify.h"

#include <algorithm>

#include "compiler/ir/print.h"
#include "compiler/ir/video.h"

namespace heddle::ir {
namespace {

constexpr int kAddress = -1;  ///< in a list of widths: 32 or 64 bits
constexpr int kAny = -2;

/// The widths that an instruction's operands and results must have.
struct Signature {
  std::vector<int> operands;
  std::vector<int> results;
  int optional_operands = 0;  ///< that many at the end may be missing
  int optional_results = 0;
  bool more_operands = false;  ///< any further ones are allowed
  bool more_results = false;
};

Signature signature_of(const Program& program, const Inst& inst) {
  const int w = bits_of(inst.type), f = bits_of(inst.from);
  switch (inst.op) {
    case Op::kConst:
    case Op::kSpecial:
    case Op::kClock:
    case Op::kUndef:
    case Op::kSymbolAddress: return {{}, {w}};
    case Op::kAdd:
    case Op::kSub:
    case Op::kMul:
    case Op::kMulHi:
    case Op::kDiv:
    case Op::kRem:
    case Op::kCopysign:
    case Op::kAnd:
    case Op::kOr:
    case Op::kXor: return {{w, w}, {w}};
    case Op::kMin:
    case Op::kMax: return {{w, w, w}, {w}, 1};
    case Op::kMul24: return {{w, w}, {w}};
    case Op::kMulWide: return {{w, w}, {2 * w}};
    case Op::kFma:
    case Op::kSad:
    case Op::kLop3: return {{w, w, w}, {w}};
    case Op::kAbs:
    case Op::kNeg:
    case Op::kRcp:
    case Op::kSqrt:
    case Op::kRsqrt:
    case Op::kSin:
    case Op::kCos:
    case Op::kEx2:
    case Op::kLg2:
    case Op::kTanh:
    case Op::kNot:
    case Op::kCnot:
    case Op::kBrev: return {{w}, {w}};
    case Op::kAddCarry:
    case Op::kSubBorrow: return {{w, w, 1}, {w, 1}};
    case Op::kTestp: return {{w}, {1}};
    case Op::kShl:
    case Op::kShr: return {{w, 32}, {w}};
    case Op::kShfL:
    case Op::kShfR: return {{32, 32, 32}, {32}};
    case Op::kPopc:
    case Op::kClz:
    case Op::kBfind: return {{w}, {32}};
    case Op::kBfe: return {{w, 32, 32}, {w}};
    case Op::kBfi: return {{w, w, 32, 32}, {w}};
    case Op::kBmsk:
    case Op::kSzext: return {{32, 32}, {32}};
    case Op::kFns:
    case Op::kPrmt:
    case Op::kDp4a:
    case Op::kDp2a:
    case Op::kVideo: return {{32, 32, 32}, {32}};
    case Op::kSetp: return {{w, w}, {1}};
    case Op::kSelect: return {{1, w, w}, {w}};
    case Op::kCvt:
    case Op::kZext:
    case Op::kSext: return {{f}, {w}};
    case Op::kCvtPack: return {{f, f, 32}, {w}, 1};
    case Op::kPack: return {{}, {w}, 0, 0, true};
    case Op::kUnpack: return {{w}, {}, 0, 0, false, true};
    case Op::kCvtaToGeneric:
    case Op::kCvtaToSpace: return {{kAddress}, {kAddress}};
    case Op::kIsSpace: return {{kAddress}, {1}};
    case Op::kLoad: return {{kAddress}, {}, 0, 0, false, true};
    case Op::kStore: return {{kAddress}, {}, 0, 0, true};
    case Op::kAtomicRmw: return {{kAddress, w}, {w}, 0, 1};
    case Op::kAtomicCas: return {{kAddress, w, w}, {w}, 0, 1};
    case Op::kCopyAsync: return {{kAddress, kAddress, 32}, {}, 1};
    case Op::kLocalAlloc: return {{kAddress}, {kAddress}};
    case Op::kShfl: return {{w, 32, 32, 32}, {w, 1}, 0, 1};
    case Op::kVote: return {{1, 32}, {inst.mods.vote == VoteMode::kBallot ? 32 : 1}};
    case Op::kMatch: return {{w, 32}, {32, 1}, 0, 1};
    case Op::kRedux: return {{w, 32}, {w}};
    case Op::kActivemask: return {{}, {32}};
    case Op::kElect: return {{32}, {32, 1}, 0, 1};
    case Op::kWarpSync: return {{32}, {}};
    case Op::kBarrier:
      switch (inst.mods.barrier) {
        case BarrierMode::kSync: return {{32, 32}, {}};
        case BarrierMode::kRedPopc: return {{32, 32, 1}, {32}};
        default: return {{32, 32, 1}, {1}};
      }
    case Op::kBarrierArrive: return {{32, 32}, {}};
    case Op::kCall: {
      Signature signature;
      if (inst.imm < program.functions.size()) {
        const Function& callee = program.functions[inst.imm];
        for (const ValueId id : callee.arguments)
          signature.operands.push_back(id < callee.values.size() ? bits_of(callee.values[id].type) : kAny);
        for (const Type type : callee.result_types) signature.results.push_back(bits_of(type));
      }
      return signature;
    }
    case Op::kCallIndirect: {
      Signature signature{{64}, {}};
      if (inst.imm < program.prototypes.size()) {
        for (const Type type : program.prototypes[inst.imm].arguments) signature.operands.push_back(bits_of(type));
        for (const Type type : program.prototypes[inst.imm].results) signature.results.push_back(bits_of(type));
      }
      return signature;
    }
    case Op::kCallRuntime:
      switch (inst.mods.runtime) {
        case RuntimeCall::kVprintf: return {{64, 64}, {32}, 0, 1};
        case RuntimeCall::kAssertFail: return {{64, 64, 32, 64, 64}, {}, 1};
        case RuntimeCall::kMalloc: return {{64}, {64}};
        case RuntimeCall::kFree: return {{64}, {}};
      }
      return {};
    case Op::kNanosleep: return {{32}, {}};
    case Op::kTexture: return {{64}, {}, 0, 0, true, true};
    case Op::kCondBranch: return {{1}, {}};
    case Op::kSwitch: return {{32}, {}};
    case Op::kReturn: return {{}, {}, 0, 0, true};
    case Op::kFence:
    case Op::kYield:
    case Op::kTrap:
    case Op::kBranch:
    case Op::kExit: return {};
  }
  return {};
}

class Verifier {
 public:
  Verifier(const Program& program, const Function& function, std::string* message, bool barriers_split)
      : program_(program), function_(function), message_(message), barriers_split_(barriers_split) {}

  bool run() {
    if (function_.blocks.empty()) return fail("has no blocks");
    for (const Value& value : function_.values)
      if (value.type != bits_type(bits_of(value.type))) return fail("a value's type is not a storage type");
    defined_in_.assign(function_.values.size(), kUndefined);
    position_.assign(function_.values.size(), 0);
    for (const ValueId id : function_.arguments)
      if (!define(id, 0, 0)) return false;
    if (!function_.blocks[0].parameters.empty()) return fail("the entry block has parameters");
    for (block_ = 0; block_ < function_.blocks.size(); ++block_)
      if (!check_shape()) return false;
    const std::vector<BlockId> dominators = compute_immediate_dominators(function_);
    for (block_ = 0; block_ < function_.blocks.size(); ++block_)
      if (dominators[block_] != ~0u && !check_uses(dominators)) return false;
    return true;
  }

 private:
  static constexpr BlockId kUndefined = ~0u;

  bool fail(const std::string& why) {
    if (message_) {
      *message_ = (function_.is_kernel ? "kernel " : "function ") + function_.name;
      if (block_ < function_.blocks.size()) *message_ += ", block b" + std::to_string(block_);
      if (inst_) *message_ += ", instruction " + std::to_string(index_) + " (" + print_inst(function_, *inst_) + ")";
      *message_ += ": " + why;
    }
    return false;
  }

  bool define(ValueId id, BlockId block, std::uint32_t position) {
    if (id >= function_.values.size()) return fail("defines v" + std::to_string(id) + ", which is not declared");
    if (defined_in_[id] != kUndefined) return fail("defines v" + std::to_string(id) + " a second time");
    defined_in_[id] = block;
    position_[id] = position;
    return true;
  }

  int width(ValueId id) const { return bits_of(function_.values[id].type); }

  bool check_width(ValueId id, int expected, const char* what, std::size_t number) {
    if (id >= function_.values.size()) return fail(std::string(what) + " " + std::to_string(number) + " is undeclared");
    const int actual = width(id);
    if (expected == kAny || actual == expected || (expected == kAddress && (actual == 32 || actual == 64))) return true;
    return fail(std::string(what) + " " + std::to_string(number) + " has " + std::to_string(actual) +
                " bits instead of " + (expected == kAddress ? std::string("32 or 64") : std::to_string(expected)));
  }

  bool check_list(const std::vector<ValueId>& ids, const std::vector<int>& widths, int optional, bool more,
                  const char* what) {
    const std::size_t least = widths.size() - static_cast<std::size_t>(optional);
    if (ids.size() < least || (ids.size() > widths.size() && !more))
      return fail("has " + std::to_string(ids.size()) + " " + what + "s instead of " + std::to_string(widths.size()));
    for (std::size_t i = 0; i < ids.size(); ++i)
      if (!check_width(ids[i], i < widths.size() ? widths[i] : kAny, what, i)) return false;
    return true;
  }

  /// Everything about a block but dominance; defines its values.
  bool check_shape() {
    const Block& block = function_.blocks[block_];
    inst_ = nullptr;
    for (const ValueId id : block.parameters)
      if (!define(id, block_, 0)) return false;
    if (block.insts.empty()) return fail("is empty");
    for (index_ = 0; index_ < block.insts.size(); ++index_) {
      inst_ = &block.insts[index_];
      if (is_terminator(inst_->op) != (index_ + 1 == block.insts.size()))
        return fail(is_terminator(inst_->op) ? "a terminator in the middle of a block" : "the block has no terminator");
      for (const ValueId id : inst_->results)
        if (!define(id, block_, index_ + 1)) return false;
      if (!check_inst(*inst_)) return false;
      if (barriers_split_ && class_of(inst_->op) == OpClass::kBarrier &&
          (index_ + 2 != block.insts.size() || block.insts.back().op != Op::kBranch))
        return fail("a barrier must be followed by its block's branch");
    }
    inst_ = nullptr;
    return true;
  }

  bool check_inst(const Inst& inst) {
    if (inst.op == Op::kCall && inst.imm >= program_.functions.size())
      return fail("calls a function that is not there");
    if (inst.op == Op::kCallIndirect && inst.imm >= program_.prototypes.size()) return fail("has no prototype");
    if (inst.op == Op::kSymbolAddress && inst.imm >= program_.symbols.size())
      return fail("names a symbol that is not there");
    if (inst.op == Op::kTexture && inst.imm >= program_.textures.size()) return fail("has no texture form");
    const Signature signature = signature_of(program_, inst);
    if (!check_list(inst.operands, signature.operands, signature.optional_operands, signature.more_operands,
                    "operand") ||
        !check_list(inst.results, signature.results, signature.optional_results, signature.more_results, "result"))
      return false;
    return check_variable_parts(inst) && check_guard(inst) && check_targets(inst);
  }

  /// Lists whose lengths and widths depend on each other.
  bool check_variable_parts(const Inst& inst) {
    const auto equal_parts = [&](const std::vector<ValueId>& parts) {
      int sum = 0;
      for (const ValueId id : parts) {
        if (width(id) != width(parts[0])) return fail("parts of different widths");
        sum += width(id);
      }
      return sum == bits_of(inst.type) ? true : fail("the parts don't add up to the wide value");
    };
    switch (inst.op) {
      case Op::kPack: return equal_parts(inst.operands);
      case Op::kUnpack: return equal_parts(inst.results);
      case Op::kLoad:
      case Op::kStore: {
        const bool load = inst.op == Op::kLoad;
        const std::size_t count = load ? inst.results.size() : inst.operands.size() - 1;
        if (count != 1 && count != 2 && count != 4 && count != 8) return fail("moves neither 1, 2, 4 nor 8 elements");
        for (std::size_t i = 0; i < count; ++i)
          if (!check_width(load ? inst.results[i] : inst.operands[i + 1], bits_of(inst.type), "element", i))
            return false;
        return true;
      }
      case Op::kVideo: {
        const VideoForm form = VideoForm::unpack(inst.imm);
        if (form.lanes != 1 && form.lanes != 2 && form.lanes != 4)
          return fail("video form with a wrong number of lanes");
        return true;
      }
      case Op::kReturn: {
        if (function_.is_kernel) return inst.operands.empty() ? true : fail("a kernel returns a value");
        std::vector<int> widths;
        for (const Type type : function_.result_types) widths.push_back(bits_of(type));
        return check_list(inst.operands, widths, 0, false, "operand");
      }
      default: return true;
    }
  }

  bool check_guard(const Inst& inst) {
    if (inst.guard == kNoValue) return inst.guard_else.empty() ? true : fail("guard_else without a guard");
    const bool may = inst.op == Op::kLoad || inst.op == Op::kStore || inst.op == Op::kAtomicRmw ||
                     inst.op == Op::kAtomicCas || inst.op == Op::kCopyAsync;
    if (!may) return fail("this operation can't have a guard");
    if (!check_width(inst.guard, 1, "guard", 0)) return false;
    if (inst.guard_else.empty()) return true;
    if (inst.guard_else.size() != inst.results.size()) return fail("guard_else needs one value per result");
    for (std::size_t i = 0; i < inst.results.size(); ++i)
      if (!check_width(inst.guard_else[i], width(inst.results[i]), "guard_else", i)) return false;
    return true;
  }

  bool check_targets(const Inst& inst) {
    const std::size_t targets = inst.targets.size();
    const bool right = inst.op == Op::kBranch       ? targets == 1
                       : inst.op == Op::kCondBranch ? targets == 2
                       : inst.op == Op::kSwitch     ? targets >= 1
                                                    : targets == 0;
    if (!right) return fail("has a wrong number of targets");
    for (const Target& target : inst.targets) {
      const std::string name = "target b" + std::to_string(target.block);
      if (target.block >= function_.blocks.size()) return fail(name + " is not there");
      if (target.block == 0) return fail("branches to the entry block");
      const std::vector<ValueId>& parameters = function_.blocks[target.block].parameters;
      if (parameters.size() != target.arguments.size())
        return fail(name + " takes " + std::to_string(parameters.size()) + " arguments, not " +
                    std::to_string(target.arguments.size()));
      for (std::size_t i = 0; i < parameters.size(); ++i) {
        if (parameters[i] >= function_.values.size()) return fail(name + " has an undeclared parameter");
        if (!check_width(target.arguments[i], width(parameters[i]), "block argument", i)) return false;
      }
    }
    return true;
  }

  bool dominates(BlockId a, BlockId b, const std::vector<BlockId>& dominators) const {
    while (b != a) {
      if (b == 0) return false;
      b = dominators[b];
    }
    return true;
  }

  bool check_use(ValueId id, const std::vector<BlockId>& dominators) {
    const BlockId at = defined_in_[id];
    const std::string name = "v" + std::to_string(id);
    if (at == kUndefined) return fail("uses " + name + ", which nothing defines");
    if (at == block_) return position_[id] <= index_ ? true : fail("uses " + name + " before its definition");
    if (dominators[at] == ~0u || !dominates(at, block_, dominators))
      return fail("uses " + name + ", whose definition in b" + std::to_string(at) + " doesn't dominate it");
    return true;
  }

  bool check_uses(const std::vector<BlockId>& dominators) {
    const Block& block = function_.blocks[block_];
    for (index_ = 0; index_ < block.insts.size(); ++index_) {
      inst_ = &block.insts[index_];
      for (const ValueId id : inst_->operands)
        if (!check_use(id, dominators)) return false;
      for (const ValueId id : inst_->guard_else)
        if (!check_use(id, dominators)) return false;
      if (inst_->guard != kNoValue && !check_use(inst_->guard, dominators)) return false;
      for (const Target& target : inst_->targets)
        for (const ValueId id : target.arguments)
          if (!check_use(id, dominators)) return false;
    }
    inst_ = nullptr;
    return true;
  }

  const Program& program_;
  const Function& function_;
  std::string* message_;
  bool barriers_split_;
  BlockId block_ = ~0u;
  const Inst* inst_ = nullptr;
  std::uint32_t index_ = 0;
  std::vector<BlockId> defined_in_;
  std::vector<std::uint32_t> position_;  ///< 0: at the block's beginning; else 1 + index of the instruction
};

}  // namespace

// Cooper, Harvey and Kennedy's iteration over the reverse post-order.
std::vector<BlockId> compute_immediate_dominators(const Function& function) {
  const std::size_t count = function.blocks.size();
  std::vector<std::vector<BlockId>> predecessors(count);
  std::vector<BlockId> order;  // post-order
  std::vector<std::uint32_t> number(count, ~0u);
  std::vector<char> seen(count, 0);
  std::vector<std::pair<BlockId, std::size_t>> stack{{0, 0}};
  seen[0] = 1;
  while (!stack.empty()) {
    auto& [block, next] = stack.back();
    const std::vector<Target>& targets = function.blocks[block].terminator().targets;
    if (next < targets.size()) {
      const BlockId to = targets[next++].block;
      predecessors[to].push_back(block);
      if (!seen[to]) {
        seen[to] = 1;
        stack.push_back({to, 0});
      }
    } else {
      number[block] = static_cast<std::uint32_t>(order.size());
      order.push_back(block);
      stack.pop_back();
    }
  }
  std::vector<BlockId> dominators(count, ~0u);
  dominators[0] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      if (*it == 0) continue;
      BlockId best = ~0u;
      for (BlockId p : predecessors[*it]) {
        if (dominators[p] == ~0u) continue;
        if (best == ~0u) {
          best = p;
          continue;
        }
        while (p != best) {
          while (number[p] < number[best]) p = dominators[p];
          while (number[best] < number[p]) best = dominators[best];
        }
      }
      if (dominators[*it] != best) {
        dominators[*it] = best;
        changed = true;
      }
    }
  }
  return dominators;
}

Status verify(const Program& program, const Function& function, std::string* message, bool barriers_split) {
  if (Verifier(program, function, message, barriers_split).run()) return {};
  return Status(ErrorCode::kUnknown, "the kernel IR is malformed; this is a bug of Heddle");
}

Status verify(const Program& program, std::string* message, bool barriers_split) {
  if (!program.kernel.is_kernel) {
    if (message) *message = "Program::kernel is not a kernel";
    return Status(ErrorCode::kUnknown, "the kernel IR is malformed; this is a bug of Heddle");
  }
  HEDDLE_TRY(verify(program, program.kernel, message, barriers_split));
  for (const Function& function : program.functions) {
    if (function.is_kernel) {
      if (message) *message = "function " + function.name + " is a kernel";
      return Status(ErrorCode::kUnknown, "the kernel IR is malformed; this is a bug of Heddle");
    }
    HEDDLE_TRY(verify(program, function, message, barriers_split));
  }
  return {};
}

}  // namespace heddle::ir
