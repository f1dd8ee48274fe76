// How a value differs between the lanes of a warp, and where lanes may part: the analysis that decides most of the
// speed of generated code (a uniform value is a scalar, an address of known lane offsets one vector load).
//
// Lattice, per value: Uniform (all active lanes hold the same bits) < Offsets (a scalar base plus a constant per lane,
// modulo the width) < Varying. It is computed as a forward fixpoint together with the set of divergent branches, after
// Karrenberg and Hack, "Whole-Function Vectorization" (2011), and Rosemann et al., "An Abstract Interpretation for SPMD
// Divergence on Reducible Control Flow Graphs" (2021): at joins of disjoint paths from a divergent branch parameters
// vary; a value that leaves a loop which lanes leave in different rounds varies outside.
//
// Extending a 32-bit Offsets value to 64 bits keeps the offsets only if no lane wraps. Where that can't be proved from
// alignment or range, the result carries an assumption: the extending instruction's operand; code that relies on the
// offsets must test it at run time (see Shape::assumptions). Tested by analysis/shape_test.cc.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "compiler/analysis/cfg.h"
#include "compiler/ir/ir.h"

namespace heddle::analysis {

inline constexpr int kWarpSize = 32;
using LaneOffsets = std::array<std::int64_t, kWarpSize>;

/// "Extending `value` (sign or zero extended) wraps in no lane": base + every offset must stay inside the narrow type's
/// range, signed or unsigned.
struct Assumption {
  ir::ValueId value = ir::kNoValue;
  bool is_signed = true;
  friend bool operator==(const Assumption&, const Assumption&) = default;
};

struct Shape {
  enum class Kind : std::uint8_t { kUnknown, kUniform, kOffsets, kVarying };
  Kind kind = Kind::kUnknown;
  /// kOffsets: index into Shapes::offsets. lane 0's offset is 0, so the base is lane 0's value.
  std::uint32_t offsets = 0;
  /// The base (or the uniform value) is a multiple of 2^align_log2.
  std::uint8_t align_log2 = 0;
  /// The base (or the uniform value), read as a signed number, is in [low, high], if known.
  std::int64_t low = INT64_MIN, high = INT64_MAX;
  /// At most two; a value that would need more is Varying.
  std::array<Assumption, 2> assumptions{};
  int assumption_count = 0;

  bool uniform() const { return kind == Kind::kUniform; }
  bool has_offsets() const { return kind == Kind::kOffsets; }
  bool varying() const { return kind == Kind::kVarying || kind == Kind::kUnknown; }
  /// Uniform, or lane offsets that hold without a run-time test.
  friend bool operator==(const Shape&, const Shape&) = default;
};

/// What is known of the launch when the kernel is compiled. 0: not known.
struct LaunchShape {
  std::uint32_t block[3] = {0, 0, 0};
  /// 32 for whole warps; 8 or 16 for shapes inside runs of so many lanes that begin at a multiple of it. Offsets then
  /// repeat: the offset of lane l is that of lane l % lanes, from the first lane of its run.
  std::uint32_t lanes = kWarpSize;
};

struct Shapes {
  std::vector<Shape> values;           ///< by ValueId
  std::vector<LaneOffsets> offsets;    ///< interned; offsets[0] is all zero
  std::vector<bool> divergent_branch;  ///< by block: its terminator may send lanes different ways
  std::vector<bool> partial;           ///< by block: may run with some of the warp's lanes parted elsewhere
  /// A warp can be suspended (Barrier class) while some of its live lanes are elsewhere, so lanes of different rounds
  /// may meet at a suspension point. All values vary then, and code generation must keep the values of lanes that wait
  /// when others run the same definition again: blend on every definition under a mask.
  bool desynchronised = false;
  const LaneOffsets& offsets_of(const Shape& shape) const { return offsets[shape.offsets]; }
};

/// The lane offsets of %tid for the block's dimensions; false if the dimensions leave them open.
/// base(warp) of the dimension is what codegen computes: see codegen/special.
bool find_tid_offsets(const LaunchShape& launch, int dimension, LaneOffsets* offsets, std::uint8_t* align_log2);

/// `function` is a kernel (arguments empty) or a callee, whose arguments vary.
Shapes compute_shapes(const ir::Function& function, const Cfg& cfg, const LaunchShape& launch);

}  // namespace heddle::analysis
