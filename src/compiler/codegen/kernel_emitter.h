// Turns one IR function into LLVM IR, a warp (or a part of one, W lanes) at a time.
//
// Every IR block exists in up to two copies. FAST: all lanes are there, no masks. SLOW: a mask says which lanes are;
// the slow copies form a linear scan in the order of analysis/cfg.h in which each block runs if any lane waits for it,
// so any control flow is right, and lanes meet again at the first block that they share. A branch on which lanes part
// leads from FAST to SLOW; a block where all lanes have met leads back.
//
// Files: function.cc (plan, entry, blocks), values.cc, control.cc (terminators, the scan), suspend.cc (barriers,
// yield), special.cc (constants, tid and friends, addresses of symbols), emit_address.cc, emit_memory.cc,
// emit_atomic.cc, emit_warp.cc, emit_call.cc; the Pure operations have a door of their own, emit_pure.h. jit.cc is the
// way in. Tested by tests/ptx and tests/fuzz.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "compiler/analysis/cfg.h"
#include "compiler/analysis/liveness.h"
#include "compiler/analysis/shape.h"
#include "compiler/codegen/lane_builder.h"
#include "compiler/compile.h"
#include "compiler/ir/ir.h"

namespace heddle::codegen {

/// A function's address is its number times this: nothing that can be read. The interpreter's are the same.
inline constexpr std::uint64_t kFunctionStride = 16;

/// How often each kind of access was emitted, for the explanation.
struct AccessCounts {
  unsigned uniform = 0, unit_stride = 0, pattern = 0, tested = 0, gather = 0, atomics = 0, warp_reduced = 0;
};

/// What all functions of one kernel share.
struct Unit {
  Unit(llvm::Module& llvm_module, const ir::Program& ir_program, const compiler::Variant& wanted)
      : module(llvm_module), program(ir_program), variant(wanted) {}

  llvm::Module& module;
  const ir::Program& program;
  const compiler::Variant& variant;
  unsigned lanes = 32;
  std::vector<llvm::Function*> functions;  ///< by index in Program::functions; null until needed
  std::vector<unsigned> functions_to_emit;
  AccessCounts counts;
  std::string error;  ///< the first thing that can't be compiled
  /// Bytes from one thread's local memory to the next one's; 0: only known at run time (LaunchContext::local_bytes).
  std::uint32_t local_stride = 0;
  std::uint32_t dynamic_shared_offset = 0;

  llvm::LLVMContext& context() { return module.getContext(); }
  llvm::Function* function(unsigned index);
};

class FunctionEmitter {
 public:
  /// `is_kernel`: FAST copies, suspension; callees are SLOW only and get their mask as an argument.
  FunctionEmitter(Unit& unit, const ir::Function& function, bool is_kernel);

  /// Analyses and decisions, before any LLVM IR is made.
  void plan();
  void emit(llvm::Function* into);

  bool suspends() const { return !suspensions_.empty(); }
  /// Suspends at nothing but barriers of the whole CTA, which all live lanes of a warp reach together.
  bool runs_in_rounds() const;
  std::uint32_t frame_bytes() const { return frame_bytes_; }
  std::string explain() const;

 private:
  using Value = llvm::Value;
  enum class Mode { kEntry, kFast, kSlow };

  static constexpr unsigned kMostRows = 4;
  using Rows = std::array<Value*, kMostRows>;

  /// What is known of an IR value in the block copy that is being emitted.
  struct Lane {
    Value* scalar = nullptr;  ///< uniform: the value; lane offsets: the value of lane 0
    Value* vector = nullptr;  ///< <W x iN>
    Value* ok = nullptr;      ///< i1: the assumptions of the shape hold
    Rows rows{};              ///< Info::rows: the value of each row's first lane
    std::uint32_t epoch = 0;  ///< the block copy in which it was set; kHoisted: valid everywhere
  };
  static constexpr std::uint32_t kHoisted = ~0u;

  /// The plan for an IR value.
  struct Info {
    analysis::Shape::Kind kind = analysis::Shape::Kind::kVarying;
    bool crosses = false;  ///< has a stack slot: it is used in another block, or is a parameter
    bool merges = false;   ///< SLOW: lanes outside the mask keep their value
    bool assumes = false;  ///< lane offsets that must be tested before use
    bool hoisted = false;  ///< made at entry, once
    bool remade = false;   ///< hoisted, but made anew in each block: entry runs again after each suspension
    /// Varying, but inside each row of the block (run_ lanes) uniform or with lane offsets: a few scalars.
    bool rows = false;
    const ir::Inst* def = nullptr;
    ir::BlockId block = 0;
    /// `vector` of a value that assumes holds its exact lanes, and only where `ok` is false.
    llvm::AllocaInst *scalar = nullptr, *vector = nullptr, *ok = nullptr;
    std::array<llvm::AllocaInst*, kMostRows> row{};
    std::int32_t frame_row = -1;
    unsigned bits = 32;
    std::int32_t frame_scalar = -1, frame_vector = -1, frame_ok = -1;  ///< offsets in the frame of a suspended warp
  };

  struct Suspension {
    ir::BlockId block = 0;  ///< ends in the barrier and a branch
    const ir::Inst* inst = nullptr;
    bool is_yield = false;
    std::vector<ir::ValueId> saved;
    llvm::AllocaInst* waiting = nullptr;  ///< SLOW: lanes that wait here
    llvm::AllocaInst* id = nullptr;       ///< SLOW: the barrier's number
    llvm::AllocaInst* threads = nullptr;
    llvm::AllocaInst* votes = nullptr;  ///< SLOW: bar.red: lanes whose predicate is true
    llvm::BasicBlock* resume_fast = nullptr;
  };

  // ---- plan
  void plan_values();
  void plan_suspensions();
  void plan_frame();
  bool is_hoistable(const ir::Inst& inst) const;
  void plan_rows(const analysis::LaunchShape& launch);

  // ---- values (function.cc)
  bool is_scalar(ir::ValueId v) const { return info_[v].kind != analysis::Shape::Kind::kVarying; }
  bool is_uniform(ir::ValueId v) const { return info_[v].kind == analysis::Shape::Kind::kUniform; }
  const analysis::LaneOffsets& offsets(ir::ValueId v) const { return shapes_.offsets[shapes_.values[v].offsets]; }
  Lane& lane(ir::ValueId v);
  Lane remake(ir::ValueId v);
  Value* scalar_of(ir::ValueId v);  ///< the uniform value, or lane 0's of an offsets value
  Value* vector_of(ir::ValueId v);
  Value* ok_of(ir::ValueId v);           ///< null: nothing to test
  Value* lane0_or_first(Value* vector);  ///< the value of the first active lane
  void set_scalar(ir::ValueId v, Value* scalar);
  void set_vector(ir::ValueId v, Value* vector);
  void set_rows(ir::ValueId v, const Rows& rows);
  Rows rows_of(ir::ValueId v);
  bool has_rows(ir::ValueId v) const { return info_[v].rows || is_scalar(v); }
  unsigned row_count() const { return lanes() / run_; }
  const analysis::LaneOffsets& row_offsets(ir::ValueId v) const;
  Value* row_mask(Value* bits, unsigned row);
  /// The lanes of a value with offsets (in rows) if its assumptions hold.
  Value* assumed_vector(ir::ValueId v);
  Value* assumed_rows(ir::ValueId v, const Rows& rows);
  void store_row_slots(ir::ValueId v, const Lane& lane, Value* mask);
  /// `make()` where `ok` is false; nothing that may be used otherwise.
  Value* unless(Value* ok, const std::function<Value*()>& make);
  /// Stores a value into its slot; `mask` null: all lanes.
  void store_slots(ir::ValueId v, const Lane& lane, Value* mask);
  Lane read_argument(ir::ValueId parameter, ir::ValueId argument);
  void set_result(ir::ValueId v, Value* value);  ///< scalar or vector as given; converted to the plan's form
  Value* compute_ok(ir::ValueId v);
  Value* recompute_vector(ir::ValueId v);

  // ---- blocks
  void begin_copy(Mode mode, Value* mask_bits);
  void emit_block(ir::BlockId block);
  void emit_inst(const ir::Inst& inst);
  void emit_pure_inst(const ir::Inst& inst);
  void emit_hoisted();
  void keep_slots_in_memory();
  void fail(const ir::Inst& inst, const std::string& why);
  void set_location(const ir::Inst& inst);

  // ---- control.cc
  void emit_terminator(ir::BlockId block, const ir::Inst& inst);
  void emit_fast_terminator(ir::BlockId block, const ir::Inst& inst);
  void emit_slow_terminator(ir::BlockId block, const ir::Inst& inst);
  std::vector<Lane> read_arguments(const ir::Target& target);
  void write_arguments(const ir::Target& target, const std::vector<Lane>& arguments, Value* mask);
  llvm::BasicBlock* fast_edge(const ir::Target& target);
  void add_pending(ir::BlockId block, Value* bits);
  void emit_scan();
  void emit_scan_end();
  void emit_entry_dispatch();

  // ---- suspend.cc
  void emit_fast_suspension(std::size_t index);
  void emit_slow_wait(std::size_t index);
  void emit_suspend_return(Value* pc, Value* status, Value* id, Value* threads, Value* arrived, Value* live,
                           Value* reduce_op, Value* votes);
  void release(std::size_t index, Value* bits);
  void go_to_scan();
  void emit_fast_resume(std::size_t index);
  void emit_slow_resume();
  void save_values(const std::vector<ir::ValueId>& values);
  void restore_values(const std::vector<ir::ValueId>& values);
  void set_barrier_results(const Suspension& suspension, Value* mask);
  Value* warp_state();
  Value* frame_at(std::uint32_t offset);

  // ---- special.cc
  Value* launch_field(const char* name);
  Value* cta_field(const char* name);
  Value* warp_field_address(const char* name);
  Value* runtime_entry(std::size_t offset);
  Value* load_field(Value* object, std::size_t offset, unsigned bytes, bool pointer, const std::string& key);
  void emit_special(const ir::Inst& inst);
  void emit_constant(const ir::Inst& inst);
  void emit_symbol(const ir::Inst& inst);
  void emit_cvta(const ir::Inst& inst);
  void emit_is_space(const ir::Inst& inst);
  void emit_clock(const ir::Inst& inst);
  Value* block_dim(int dimension);
  Value* thread_index(int dimension, bool vector);
  Value* thread_base();                ///< linear index in the CTA of lane 0's thread
  Value* thread_vector();              ///< <W x i32>
  Value* space_base(ir::Space space);  ///< i64, uniform; local: of lane 0's thread
  Value* iota(unsigned bits, std::uint64_t step = 1);

  // ---- emit_memory.cc
  struct Address {
    std::vector<Value*> bases;  ///< i64: uniform, or the first lane's of each run
    unsigned run = 32;          ///< lanes per base
    bool uniform = false;
    bool has_offsets = false;
    std::vector<std::int64_t> offsets;  ///< W of them
    Value* ok = nullptr;                ///< i1: offsets hold
    ir::ValueId value = ir::kNoValue;
    std::int64_t imm = 0;
    ir::Space space = ir::Space::kGeneric;
  };
  Address address_of(const ir::Inst& inst);
  Value* address_vector(const Address& address);  ///< <W x ptr>
  void emit_load(const ir::Inst& inst);
  void emit_store(const ir::Inst& inst);
  void emit_copy_async(const ir::Inst& inst);
  void emit_fence(const ir::Inst& inst);
  void emit_local_alloc(const ir::Inst& inst);
  std::vector<Value*> load_lanes(const ir::Inst& inst, const Address& address, Value* mask, unsigned count,
                                 unsigned bits, const std::vector<Value*>& otherwise);
  std::vector<Value*> load_pattern(const Address& address, Value* mask, unsigned count, unsigned bits,
                                   const std::vector<Value*>& otherwise, bool is_volatile);
  std::vector<Value*> load_gather(const Address& address, Value* mask, unsigned count, unsigned bits,
                                  const std::vector<Value*>& otherwise);
  void store_lanes(const ir::Inst& inst, const Address& address, Value* mask, unsigned bits,
                   const std::vector<Value*>& values);
  void store_pattern(const Address& address, Value* mask, unsigned bits, const std::vector<Value*>& values,
                     bool is_volatile);
  void store_scatter(const Address& address, Value* mask, unsigned bits, const std::vector<Value*>& values);
  bool is_pattern(const Address& address, unsigned bytes) const;
  /// An address that is a uniform base plus a scaled 32-bit index per lane, if its definition shows that.
  struct Split {
    Value *base = nullptr, *index = nullptr;  ///< i64; <W x i32>
    unsigned scale = 1;
    bool is_signed = true;
  };
  bool split_address(const Address& address, Split* split);
  bool has_lost_pattern(ir::ValueId v, int depth) const;
  std::vector<Value*> load_tested(const Address& address, Value* mask, unsigned bits, Value* otherwise);
  Value* load_run(Value* pointer, unsigned count, unsigned bits, Value* mask, Value* otherwise, bool is_volatile);
  void store_run(Value* pointer, Value* value, Value* mask, bool is_volatile);
  Value* slice(Value* vector, unsigned start, unsigned count);
  void if_then(Value* condition, const std::function<void()>& body);
  void memory_barrier();  ///< for the compiler only
  void order_before(const ir::Inst& inst);
  void order_after(const ir::Inst& inst);

  // ---- emit_atomic.cc
  void emit_atomic(const ir::Inst& inst);
  void emit_cas(const ir::Inst& inst);
  Value* atomic_scalar(const ir::Inst& inst, Value* pointer, Value* operand, Value* replacement);
  bool emit_combined_atomic(const ir::Inst& inst, Value* mask);
  Value* combine(const ir::Inst& inst, Value* a, Value* b, unsigned lane_count);
  llvm::Constant* identity(ir::AtomicOp op, ir::Type type) const;

  // ---- emit_warp.cc
  void emit_warp(const ir::Inst& inst);
  void emit_shfl(const ir::Inst& inst);
  void emit_vote(const ir::Inst& inst);
  void emit_match(const ir::Inst& inst);
  void emit_redux(const ir::Inst& inst);
  Value* permute(Value* vector, Value* indices);
  /// Combines the active lanes (others count as the identity) into one scalar.
  Value* reduce(const ir::Inst& inst, Value* vector, Value* mask);
  /// The lanes that take part with each lane: i32 if the membermask is uniform, else <W x i32>.
  Value* members_of(const ir::Inst& inst, ir::ValueId membermask);

  // ---- emit_call.cc
  void emit_call(const ir::Inst& inst);
  void emit_call_indirect(const ir::Inst& inst);
  void emit_runtime(const ir::Inst& inst);
  void emit_nanosleep(const ir::Inst& inst);
  void emit_trap(const ir::Inst& inst);
  void emit_texture(const ir::Inst& inst);
  std::vector<Value*> call_function(unsigned index, const std::vector<Value*>& arguments, Value* mask_bits);
  void runtime_call(std::size_t entry, std::vector<Value*> arguments, llvm::Type* result, Value** out);
  /// Runs `body(index)` (i64) once for each lane of `bits`, lowest first. What goes in and out lies in memory (spill).
  void for_each_lane(Value* bits, const std::function<void(Value* index)>& body);
  /// The lanes as an array on the stack; the only cheap way to pick a lane whose number isn't constant.
  Value* spill(Value* vector);
  Value* load_lane(Value* array, unsigned bits, Value* index);
  void store_lane(Value* array, Value* value, Value* index);
  Value* thread_of(Value* index);  ///< linear thread index of a lane
  Value* first_lane(Value* bits);  ///< i64

  // ---- small helpers
  unsigned lanes() const { return unit_.lanes; }
  llvm::LLVMContext& context() const { return unit_.context(); }
  llvm::IntegerType* int_type(unsigned bits) const { return llvm::IntegerType::get(context(), bits); }
  llvm::FixedVectorType* vector_type(unsigned bits) const {
    return llvm::FixedVectorType::get(int_type(bits), lanes());
  }
  llvm::IntegerType* mask_type() const { return int_type(lanes()); }
  llvm::PointerType* pointer_type() const { return llvm::PointerType::get(context(), 0); }
  llvm::ConstantInt* constant(unsigned bits, std::uint64_t value) const {
    return llvm::ConstantInt::get(int_type(bits), value);
  }
  Value* splat(Value* scalar) { return b_.CreateVectorSplat(lanes(), scalar); }
  Value* to_bits(Value* mask) { return b_.CreateBitCast(mask, mask_type()); }
  Value* to_mask(Value* bits) { return b_.CreateBitCast(bits, vector_type(1)); }
  /// The lanes that run: null in FAST.
  Value* mask() { return mode_ == Mode::kSlow ? current_mask_ : nullptr; }
  /// The same as bits; all ones in FAST.
  Value* mask_bits();
  /// Lanes that execute a guarded instruction; null: all. A uniform guard is a branch of the caller's.
  Value* guarded_mask(const ir::Inst& inst);
  llvm::BasicBlock* new_block(const char* name) { return llvm::BasicBlock::Create(context(), name, fn_); }
  llvm::AllocaInst* new_slot(llvm::Type* type, const char* name);
  Value* to_pointer(Value* address) { return b_.CreateIntToPtr(address, pointer_type()); }
  Value* pad_lanes(Value* vector, unsigned count);
  bool lanes_are_full() const { return entry_is_full_; }

  Unit& unit_;
  const ir::Function& f_;
  const bool is_kernel_;
  analysis::Cfg cfg_;
  analysis::Liveness live_;
  analysis::Shapes shapes_;
  std::vector<Info> info_;
  std::vector<Suspension> suspensions_;
  std::vector<int> suspension_of_;  ///< by block, -1: none
  std::vector<ir::ValueId> saved_anywhere_;
  bool divergent_suspension_ = false;
  unsigned run_ = 0;  ///< lanes per row of the block; 0: rows are not used
  analysis::Shapes row_shapes_;
  bool entry_is_full_ = false;  ///< every warp has all its lanes
  bool early_exit_ = false;     ///< lanes may end while others go on
  std::vector<bool> has_slow_, has_slow_body_;
  std::uint32_t frame_bytes_ = 0;
  unsigned divergent_branches_ = 0;
  static constexpr std::size_t kMostPhis = 12000;
  bool slots_in_memory_ = false;

  llvm::IRBuilder<> b_;
  llvm::Function* fn_ = nullptr;
  Value *launch_ = nullptr, *cta_ = nullptr, *group_ = nullptr;  ///< group: index of these W lanes in the CTA
  Value* entry_mask_bits_ = nullptr;
  llvm::BasicBlock *entry_ = nullptr, *done_ = nullptr;
  llvm::Instruction *alloca_point_ = nullptr, *hoist_point_ = nullptr;
  Value* cta_index_[3] = {};
  std::vector<llvm::AllocaInst*> pending_;  ///< by block: lanes that wait for the slow copy
  std::vector<llvm::BasicBlock*> fast_, slow_guard_, slow_tail_;
  llvm::BasicBlock *scan_end_ = nullptr, *slow_resume_ = nullptr, *after_block_ = nullptr;
  llvm::AllocaInst* spins_ = nullptr;
  llvm::AllocaInst* returned_ = nullptr;
  llvm::AllocaInst* local_top_ = nullptr;        ///< bytes of local memory in use, for LocalAlloc
  std::vector<llvm::AllocaInst*> result_slots_;  ///< callees
  std::map<std::string, Value*> fields_;         ///< launch and CTA fields already loaded in the entry block
  std::vector<Lane> lanes_now_;
  std::uint32_t epoch_ = 0;
  std::vector<ir::ValueId>* remade_ = nullptr;
  int no_cache_ = 0;  ///< > 0: inside a side block whose values don't reach what follows
  Mode mode_ = Mode::kEntry;
  ir::BlockId block_now_ = 0;
  Value *current_bits_ = nullptr, *current_mask_ = nullptr;
  const ir::Inst* inst_now_ = nullptr;
  llvm::DISubprogram* subprogram_ = nullptr;

 public:
  void set_callee_arguments();
  void set_subprogram(llvm::DISubprogram* subprogram) { subprogram_ = subprogram; }
};

}  // namespace heddle::codegen
