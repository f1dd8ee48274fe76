// Operations across the lanes of a warp: shuffles, votes, matches, reductions. Tested by interp_test.cc and tests/ptx.
#include <bit>
#include <map>

#include "compiler/interp/machine.h"

namespace heddle::interp {
namespace {

using ir::Op;
using ir::ShflMode;
using ir::VoteMode;

template <class F>
void for_each_lane(std::uint32_t mask, F&& f) {
  for (; mask; mask &= mask - 1) f(static_cast<std::uint32_t>(std::countr_zero(mask)));
}

struct Source {
  std::uint32_t lane;
  bool in_range;
};

/// The lane that `lane` reads (PTX manual, shfl).
Source shuffle_source(ShflMode mode, std::uint32_t lane, std::uint32_t b, std::uint32_t c) {
  const std::uint32_t offset = b & 31, clamp = c & 31, segment = c >> 8 & 31;
  const std::uint32_t most = (lane & segment) | (clamp & ~segment & 31), least = lane & segment;
  std::int32_t from = 0;
  bool in_range = false;
  const auto signed_lane = static_cast<std::int32_t>(lane), signed_offset = static_cast<std::int32_t>(offset);
  switch (mode) {
    case ShflMode::kUp:
      from = signed_lane - signed_offset;
      in_range = from >= static_cast<std::int32_t>(most);
      break;
    case ShflMode::kDown:
      from = signed_lane + signed_offset;
      in_range = from <= static_cast<std::int32_t>(most);
      break;
    case ShflMode::kBfly:
      from = signed_lane ^ signed_offset;
      in_range = from <= static_cast<std::int32_t>(most);
      break;
    case ShflMode::kIdx:
      from = static_cast<std::int32_t>(least | (offset & ~segment & 31));
      in_range = from <= static_cast<std::int32_t>(most);
      break;
  }
  return {in_range ? static_cast<std::uint32_t>(from) : lane, in_range};
}

std::uint64_t reduce(const ir::Inst& inst, std::uint64_t a, std::uint64_t b) {
  ir::Inst pair = inst;
  switch (inst.mods.atomic) {
    case ir::AtomicOp::kMin: pair.op = Op::kMin; break;
    case ir::AtomicOp::kMax: pair.op = Op::kMax; break;
    default: return combine(inst.mods.atomic, inst.type, a, b);
  }
  pair.mods.abs = false;
  const Bits in[2] = {{a, 0}, {b, 0}};
  Bits out;
  evaluate(pair, in, &out);
  return out.lo;
}

/// The operand that names the lanes which take part; kNoValue: whoever is active.
ir::ValueId membermask_of(const ir::Inst& inst) {
  switch (inst.op) {
    case Op::kShfl: return inst.mods.sync ? inst.operands[3] : ir::kNoValue;
    case Op::kVote:
    case Op::kMatch: return inst.mods.sync ? inst.operands[1] : ir::kNoValue;
    case Op::kRedux: return inst.operands[1];
    case Op::kElect:
    case Op::kWarpSync: return inst.operands[0];
    default: return ir::kNoValue;
  }
}

}  // namespace

bool Warp::warp_operation(Mask group, const ir::Inst& inst, bool force) {
  const ir::ValueId mask_value = membermask_of(inst);
  if (mask_value == ir::kNoValue) {
    exchange(group, inst);
    return true;
  }
  // Lanes with different masks are different operations.
  std::map<std::uint32_t, Mask> parties;
  for_each_lane(group, [&](std::uint32_t lane) {
    parties[static_cast<std::uint32_t>(value(lane, mask_value).lo)] |= 1u << lane;
  });
  const Mask ended = lanes_in(State::kEnded);
  Mask ready = 0;
  for (const auto& [mask, lanes] : parties)
    if (force || (mask & ~ended & ~lanes) == 0) ready |= lanes;
  for (const auto& [mask, lanes] : parties)
    if (lanes & ready) exchange(lanes, inst);
  if (ready == group) {
    for_each_lane(group, [&](std::uint32_t lane) { lanes_[lane].state = State::kRunning; });
    return true;
  }
  for_each_lane(group, [&](std::uint32_t index) {
    Lane& lane = lanes_[index];
    if (ready >> index & 1) {
      lane.state = State::kRunning;
      ++lane.frames.back().index;
    } else {
      lane.state = State::kAtWarpOp;
    }
  });
  return false;
}

void Warp::exchange(Mask members, const ir::Inst& inst) {
  const auto operand = [&](std::uint32_t lane, std::size_t i) { return value(lane, inst.operands[i]).lo; };
  const auto give = [&](std::uint32_t lane, std::size_t i, std::uint64_t bits) {
    if (i < inst.results.size()) set(lane, inst.results[i], {bits, 0});
  };
  switch (inst.op) {
    case Op::kShfl: {
      Bits values[32];  // of all lanes before any is written
      for_each_lane(members, [&](std::uint32_t lane) { values[lane] = value(lane, inst.operands[0]); });
      for_each_lane(members, [&](std::uint32_t lane) {
        const Source source = shuffle_source(inst.mods.shfl, lane, static_cast<std::uint32_t>(operand(lane, 1)),
                                             static_cast<std::uint32_t>(operand(lane, 2)));
        const Bits bits = values[source.lane];  // zero from a lane that takes no part: undefined in PTX
        set(lane, inst.results[0], bits);
        give(lane, 1, source.in_range);
      });
      return;
    }
    case Op::kVote: {
      Mask ballot = 0;
      for_each_lane(members, [&](std::uint32_t lane) { ballot |= static_cast<Mask>(operand(lane, 0) & 1) << lane; });
      std::uint64_t result = ballot;
      switch (inst.mods.vote) {
        case VoteMode::kAll: result = ballot == members; break;
        case VoteMode::kAny: result = ballot != 0; break;
        case VoteMode::kUni: result = ballot == members || ballot == 0; break;
        case VoteMode::kBallot: break;
      }
      for_each_lane(members, [&](std::uint32_t lane) { give(lane, 0, result); });
      return;
    }
    case Op::kMatch: {
      std::map<std::uint64_t, Mask> equal;
      for_each_lane(members, [&](std::uint32_t lane) { equal[operand(lane, 0)] |= 1u << lane; });
      const bool all = equal.size() == 1;
      for_each_lane(members, [&](std::uint32_t lane) {
        const Mask same = equal[operand(lane, 0)];
        give(lane, 1, all);
        give(lane, 0, inst.mods.vote == VoteMode::kAll ? (all ? members : 0) : same);
      });
      return;
    }
    case Op::kRedux: {
      std::uint64_t result = 0;
      bool first = true;
      const std::uint64_t sign = ir::is_float(inst.type) && inst.mods.abs ? 1ull << (ir::bits_of(inst.type) - 1) : 0;
      for_each_lane(members, [&](std::uint32_t lane) {
        const std::uint64_t bits = operand(lane, 0) & ~sign;
        result = first ? bits : reduce(inst, result, bits);
        first = false;
      });
      for_each_lane(members, [&](std::uint32_t lane) { give(lane, 0, result); });
      return;
    }
    case Op::kActivemask: for_each_lane(members, [&](std::uint32_t lane) { give(lane, 0, members); }); return;
    case Op::kElect: {
      const auto leader = static_cast<std::uint32_t>(std::countr_zero(members));
      for_each_lane(members, [&](std::uint32_t lane) {
        give(lane, 0, leader);
        give(lane, 1, lane == leader);
      });
      return;
    }
    default: return;  // bar.warp.sync: having met is all
  }
}

}  // namespace heddle::interp
