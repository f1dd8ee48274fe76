// The kernel IR: SSA with block parameters, between PTX and LLVM IR. One Program is what one kernel needs: the kernel,
// the functions that it calls and that could not be inlined, and the symbols that it names.
//
// It is a data structure and nothing else: building is ir/builder.h, checking ir/verify.h, text ir/print.h. The meaning
// of each operation is its row in opcodes.def and, where it follows PTX, the PTX manual. Values are bags of bits of a
// storage width, as PTX registers are; the operation says how it reads them (Inst::type), so there are no bit casts.
//
// Invariants (checked by ir/verify.h after every transform):
//   - a value is defined once, and its definition dominates each use
//   - each block ends in exactly one terminator; nothing else in it is one
//   - a branch passes as many arguments as its target has parameters, of the same widths
//   - an instruction of class Barrier is the last before its block's terminator, which is a Branch (so that a warp
//     can be suspended at block boundaries only: transform/split_barriers.h sees to it)
//   - blocks[0] is the entry, has no parameters and no predecessors
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heddle::ir {

enum class TypeClass : std::uint8_t { kBits, kUnsigned, kSigned, kFloat, kPacked, kPred };

enum class Type : std::uint8_t {
#define HEDDLE_IR_TYPE(identifier, text, bits, type_class) k##identifier,
#include "compiler/ir/types.def"
#undef HEDDLE_IR_TYPE
};

/// Width in bits: 1, 8, 16, 32, 64 or 128.
int bits_of(Type type);
TypeClass class_of(Type type);
const char* name_of(Type type);
inline bool is_float(Type type) { return class_of(type) == TypeClass::kFloat; }
inline bool is_signed(Type type) { return class_of(type) == TypeClass::kSigned; }
/// The type of the same class-free width: kB8 ... kB128, or kPred for 1.
Type bits_type(int bits);

enum class OpClass : std::uint8_t { kPure, kRead, kWrite, kAtomic, kWarp, kBarrier, kEffect, kEnd };

enum class Op : std::uint8_t {
#define HEDDLE_IR_OP(identifier, text, op_class) k##identifier,
#include "compiler/ir/opcodes.def"
#undef HEDDLE_IR_OP
};

OpClass class_of(Op op);
const char* name_of(Op op);
inline bool is_terminator(Op op) { return class_of(op) == OpClass::kEnd; }

enum class Space : std::uint8_t { kGeneric, kGlobal, kShared, kLocal, kConst, kParam };
enum class Rounding : std::uint8_t { kNone, kRn, kRz, kRm, kRp, kRna, kRni, kRzi, kRmi, kRpi };
enum class Compare : std::uint8_t {
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,  // signed, unsigned or ordered float, by type
  kLo,
  kLs,
  kHi,
  kHs,  // unsigned, whatever the type
  kEqu,
  kNeu,
  kLtu,
  kLeu,
  kGtu,
  kGeu,  // float, true if unordered
  kNum,
  kNan
};
enum class Order : std::uint8_t { kWeak, kRelaxed, kAcquire, kRelease, kAcqRel, kSc };
enum class Scope : std::uint8_t { kCta, kCluster, kGpu, kSys };
enum class AtomicOp : std::uint8_t { kAdd, kMin, kMax, kInc, kDec, kAnd, kOr, kXor, kExch };
enum class ShflMode : std::uint8_t { kUp, kDown, kBfly, kIdx };
enum class VoteMode : std::uint8_t { kAll, kAny, kUni, kBallot };
enum class BarrierMode : std::uint8_t { kSync, kRedPopc, kRedAnd, kRedOr };
enum class PrmtMode : std::uint8_t { kIndex, kF4e, kB4e, kRc8, kEcl, kEcr, kRc16 };
enum class TestpMode : std::uint8_t { kFinite, kInfinite, kNumber, kNotANumber, kNormal, kSubnormal };
enum class TrapKind : std::uint8_t { kTrap, kBreakpoint, kUnsupported };
enum class RuntimeCall : std::uint8_t { kVprintf, kAssertFail, kMalloc, kFree };
enum class Special : std::uint8_t {
  kTidX,
  kTidY,
  kTidZ,
  kNtidX,
  kNtidY,
  kNtidZ,
  kCtaidX,
  kCtaidY,
  kCtaidZ,
  kNctaidX,
  kNctaidY,
  kNctaidZ,
  kLaneId,
  kWarpId,
  kNwarpId,
  kSmId,
  kNsmId,
  kGridId,
  kLanemaskEq,
  kLanemaskLe,
  kLanemaskLt,
  kLanemaskGe,
  kLanemaskGt,
  kDynamicSmemSize,
  kTotalSmemSize,
  kEnvreg,  // envreg number in Inst::imm
  kClock,
  kClockHi,
  kClock64,
  kGlobaltimer,
  kGlobaltimerLo,
  kGlobaltimerHi
};

/// What modifies an operation. Only the fields that the operation's row names mean anything.
struct Mods {
  Rounding rounding = Rounding::kNone;
  bool ftz = false;
  bool sat = false;
  bool approx = false;   ///< .approx or .full: inside the manual's error bound instead of correctly rounded
  bool full = false;     ///< div.full (with approx)
  bool nan = false;      ///< min.NaN, max.NaN
  bool xorsign = false;  ///< min/max .xorsign.abs
  bool abs = false;
  bool relu = false;
  bool hi = false;
  bool wrap = false;
  bool shiftamt = false;
  bool is_volatile = false;
  bool sync = false;  ///< shfl/vote/match with .sync: the membermask counts
  Compare compare = Compare::kEq;
  Space space = Space::kGeneric;
  Order order = Order::kWeak;
  Scope scope = Scope::kGpu;
  AtomicOp atomic = AtomicOp::kAdd;
  ShflMode shfl = ShflMode::kUp;
  VoteMode vote = VoteMode::kAll;
  BarrierMode barrier = BarrierMode::kSync;
  PrmtMode prmt = PrmtMode::kIndex;
  TestpMode testp = TestpMode::kFinite;
  TrapKind trap = TrapKind::kTrap;
  RuntimeCall runtime = RuntimeCall::kVprintf;
  Special special = Special::kTidX;
  std::uint16_t video = 0;  ///< unused: Op::Video has its form in Inst::imm, see ir/video.h
};

using ValueId = std::uint32_t;
using BlockId = std::uint32_t;
inline constexpr ValueId kNoValue = ~0u;

/// Where an instruction comes from: the line of the PTX text, and of the CUDA source if the PTX says so (.loc).
struct Location {
  std::uint32_t ptx_line = 0;  ///< 1-based; 0: unknown
  std::uint32_t line = 0;      ///< 1-based line in Program::files[file]; 0: unknown
  std::uint32_t file = 0;
};

/// An edge to a block, with the values of that block's parameters.
struct Target {
  BlockId block = 0;
  std::vector<ValueId> arguments;
};

struct Inst {
  Op op = Op::kConst;
  Type type = Type::kB32;  ///< the PTX type that the operation works in
  Type from = Type::kB32;  ///< conversions: the source's type
  Mods mods;
  std::vector<ValueId> operands;
  std::vector<ValueId> results;
  std::vector<Target> targets;  ///< terminators only
  /// Load, Store, Atomic*, CopyAsync: a pred; lanes where it is false do nothing and get `guard_else` (zero if none).
  ValueId guard = kNoValue;
  std::vector<ValueId> guard_else;  ///< one per result, or empty
  std::uint64_t imm = 0;            ///< constant, byte offset (signed), index; see opcodes.def
  std::uint64_t imm_hi = 0;
  Location location;
};

struct Value {
  Type type = Type::kB32;  ///< storage: kPred, kB8, kB16, kB32, kB64 or kB128
};

struct Block {
  std::vector<ValueId> parameters;
  std::vector<Inst> insts;  ///< the last one is the terminator
  const Inst& terminator() const { return insts.back(); }
};

/// A parameter of a kernel (in the parameter buffer) or of a function (a value, or bytes in local memory if large).
struct Parameter {
  std::string name;
  std::uint32_t offset = 0;  ///< kernels: bytes into the parameter buffer
  std::uint32_t size = 0;    ///< bytes
  std::uint32_t align = 1;
};

struct Function {
  std::string name;
  bool is_kernel = false;
  std::vector<Parameter> parameters;  ///< kernels
  std::vector<ValueId> arguments;     ///< functions: values that hold the arguments, defined on entry
  std::vector<Type> result_types;     ///< functions
  std::vector<Value> values;
  std::vector<Block> blocks;
  std::uint32_t max_threads[3] = {0, 0, 0};       ///< .maxntid, 0: not given
  std::uint32_t required_threads[3] = {0, 0, 0};  ///< .reqntid
  ValueId add_value(Type type) {
    values.push_back({bits_type(bits_of(type))});
    return static_cast<ValueId>(values.size() - 1);
  }
};

/// A variable (or function) that the kernel names by address.
struct Symbol {
  enum class Kind : std::uint8_t { kVariable, kFunction };
  std::string name;
  Kind kind = Kind::kVariable;
  Space space = Space::kGlobal;
  std::uint64_t size = 0;  ///< bytes; 0 for `extern .shared x[]`
  std::uint32_t align = 1;
  bool external = false;  ///< extern .shared: begins where the static part ends
  /// kShared, kLocal: byte offset in that space (static layout). kGlobal, kConst: index into LaunchContext::globals,
  /// which is the symbol's own index in Program::symbols. kFunction: index in Program::functions.
  std::uint64_t offset = 0;
};

struct Prototype {
  std::vector<Type> arguments;
  std::vector<Type> results;
};

/// One texture or surface operation's form, kept out of Inst because few kernels have any.
struct TextureForm {
  enum class Kind : std::uint8_t { kTex, kTexLevel, kTexGrad, kTld4, kSurfaceLoad, kSurfaceStore, kQuery };
  Kind kind = Kind::kTex;
  std::uint8_t dimensions = 1;  ///< 1, 2, 3; cube: 2 with is_cube
  bool is_array = false, is_cube = false;
  Type result = Type::kF32;  ///< element type of the results
  Type coordinate = Type::kF32;
  std::uint8_t components = 4;  ///< surface: 1, 2, 4; tld4: component index
  std::uint8_t clamp = 0;       ///< surfaces: 0 trap, 1 clamp, 2 zero
  std::uint8_t query = 0;
};

struct Program {
  std::string module_name;
  std::vector<std::string> files;  ///< .file names, by Location::file
  Function kernel;
  std::vector<Function> functions;  ///< callees that are not inlined (recursive, called by address)
  std::vector<Symbol> symbols;
  std::vector<Prototype> prototypes;
  std::vector<TextureForm> textures;
  std::uint32_t shared_bytes = 0;  ///< static part
  std::uint32_t shared_align = 1;
  std::uint32_t local_bytes = 0;  ///< per thread, calls that are not inlined excluded
  std::uint32_t param_bytes = 0;
};

}  // namespace heddle::ir
