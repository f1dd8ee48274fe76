// Syntax tree of a function to IR: one member function per row family of ptx/isa.def (the row's second column names
// it), in translate_*.cc by family. What PTX has and the IR has not (carry flags, guards, .param words, narrow loads
// into wide registers) is taken apart here; see build_ssa.h for the whole.
// Tested by transform/build_ssa_test.cc and tests/ptx.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/ir/builder.h"
#include "compiler/ptx/diagnostics.h"
#include "compiler/ptx/linker.h"
#include "compiler/transform/ssa.h"

namespace heddle::transform {

/// The words that a .param variable of a function or call is passed in: values of 32 bits (scalars up to that size) or
/// 64 bits.
struct ParamShape {
  int word_bits = 32;
  std::uint32_t words = 1;
  std::uint32_t bytes = 4;
  friend bool operator==(const ParamShape&, const ParamShape&) = default;
};
ParamShape shape_of(const ptx::Variable& variable);

/// The program under construction: symbols and functions get their numbers when they are first named.
class ProgramBuilder {
 public:
  ProgramBuilder(const ptx::LinkedModule& linked, std::string* log) : linked_(linked), log_(log) {}

  const ptx::LinkedModule& linked() const { return linked_; }
  std::string* log() const { return log_; }
  ir::Program& program() { return program_; }
  std::uint32_t symbol_of(const ptx::Symbol& symbol);
  /// A variable that lives in the kernel's static local memory.
  std::uint32_t local_symbol_of(const ptx::Variable& variable);
  std::uint32_t function_of(const ptx::Symbol& symbol);
  std::uint32_t file_of(const ptx::Module& unit, std::uint32_t number);
  /// Translates the kernel and all that it calls. Errors: kInvalidPtx, kNotSupported.
  Status build(const ptx::Symbol& kernel);

 private:
  const ptx::LinkedModule& linked_;
  std::string* log_;
  ir::Program program_;
  std::unordered_map<const ptx::Variable*, std::uint32_t> symbols_;
  std::unordered_map<const ptx::Function*, std::uint32_t> functions_;
  std::vector<ptx::Symbol> pending_;
  std::unordered_map<const ptx::Module*, std::unordered_map<std::uint32_t, std::uint32_t>> files_;
};

class Translator {
 public:
  Translator(ProgramBuilder* program, const ptx::Symbol& symbol, ir::Function* function);
  Status translate();

 private:
  using Operand = ptx::Operand;
  using Kind = ptx::Operand::Kind;
  using M = ptx::Modifier;
  using ValueId = ir::ValueId;
  using BlockId = ir::BlockId;
  struct Words {
    ParamShape shape;
    std::uint32_t first = 0;         // SSA variable of word 0
    ValueId address = ir::kNoValue;  // if the parameter's address is taken: its copy in local memory
  };
  struct Address {
    ValueId base = ir::kNoValue;
    std::uint64_t offset = 0;
    ir::Space space = ir::Space::kGeneric;
    const Words* words = nullptr;  // a .param variable that is not in memory
  };
  enum class Guarding { kSelect, kMemory, kAround };

  // translator.cc
  void declare_variables();
  bool begin_function();
  bool find_taken_parameters();
  bool translate_statement(const ptx::Statement& statement);
  bool translate_instruction(const ptx::Instruction& instruction);
  static Guarding guarding_of(ptx::Opcode opcode);
  void start_block(BlockId block);
  BlockId block_of_label(std::uint32_t label);
  void return_from_function();

  // operands
  bool fail(const std::string& why, ErrorCode code = ErrorCode::kInvalidPtx);
  bool fail(const Operand& operand, const std::string& why, ErrorCode code = ErrorCode::kInvalidPtx);
  bool not_supported(const std::string& why);
  const Operand& op(std::size_t i) const { return operands_[i]; }
  std::size_t op_count() const { return instruction_->count; }
  bool has(M modifier) const { return mnemonic_->has(modifier); }
  /// The IR type of the mnemonic's i-th type.
  ir::Type type(int i = 0) const;
  const Operand& child(const Operand& operand, std::size_t i) const { return source_.operands[operand.first + i]; }
  /// The operand as a value of exactly the width of `type`; false after a message if it has another.
  bool use(const Operand& operand, ir::Type type, ValueId* value);
  /// The same of whatever width a register has, then cut or extended: operands of ld, st and cvt.
  bool use_loosely(const Operand& operand, ir::Type type, ValueId* value);
  bool use_special(const Operand& operand, ValueId* value);
  bool use_constant(const Operand& operand, ir::Type type, ValueId* value);
  /// Writes a destination register of the value's own width, minding the guard; `_` takes anything.
  bool define(const Operand& operand, ValueId value);
  /// A wider destination is zero or sign extended, as for ld and cvt.
  bool define_extended(const Operand& operand, ValueId value, bool sign);
  void set(std::uint32_t variable, ValueId value);
  /// A destination and its optional second one (d|p).
  const Operand& first_of(const Operand& operand) const;
  const Operand* second_of(const Operand& operand) const;
  ir::Mods mods() const;
  ir::Space space() const;
  ValueId guard_value();

  bool emit_to(const Operand& destination, ir::Op op, ir::Type type, std::initializer_list<ValueId> operands,
               const ir::Mods& mods, ir::Type result);

  // addresses and parameters (translate_memory.cc)
  bool address(const Operand& operand, ir::Space space, Address* out);
  bool symbol_address(const Operand& operand, ir::Type type, ValueId* value, ir::Space* space);
  bool full_address(const Operand& operand, ir::Space space, ValueId* value);
  Words& words_of(std::uint32_t variable);
  bool load_words(const Words& words, std::uint64_t offset, ir::Type type, ValueId* value);
  bool store_words(const Words& words, std::uint64_t offset, ir::Type type, ValueId value);
  void order_of(ir::Mods* mods) const;
  /// Memory for one call of a device function, allocated on entry; inline_calls makes it static.
  ValueId allocate_local(std::uint64_t bytes, std::uint32_t align);
  /// One atomic change of an mbarrier object; returns what it was before (translate_mbarrier.cc).
  ValueId update_mbarrier(ValueId address, ir::Space space, ValueId arrivals, ValueId bytes, bool drops);
  bool mbarrier_arrive(std::size_t first, const Operand* destination);
  ValueId copy_bytes_loop(ValueId from, ir::Space from_space, ValueId to, ir::Space to_space, ValueId bytes);

  // calls (translate_control.cc)
  bool call_direct(const ptx::Symbol& callee);
  bool call_builtin(const ptx::Symbol& callee);
  bool call_indirect();
  bool gather_arguments(const std::vector<ParamShape>& shapes, std::vector<ValueId>* values);
  bool scatter_results(const std::vector<ParamShape>& shapes, const std::vector<ValueId>& values);

  bool compare(const Operand& a, const Operand& b, ir::Type type, ValueId* value);
  bool combine_predicates(ValueId* value, const Operand& c);

#define HEDDLE_TRANSLATE(name) bool translate_##name()
  HEDDLE_TRANSLATE(activemask);
  HEDDLE_TRANSLATE(alloca);
  HEDDLE_TRANSLATE(arithmetic);
  HEDDLE_TRANSLATE(atomic);
  HEDDLE_TRANSLATE(barrier);
  HEDDLE_TRANSLATE(barrier_reduce);
  HEDDLE_TRANSLATE(binary);
  HEDDLE_TRANSLATE(bit_count);
  HEDDLE_TRANSLATE(bit_field);
  HEDDLE_TRANSLATE(branch);
  HEDDLE_TRANSLATE(branch_indexed);
  HEDDLE_TRANSLATE(call);
  HEDDLE_TRANSLATE(carry);
  HEDDLE_TRANSLATE(cluster_barrier);
  HEDDLE_TRANSLATE(copy_async);
  HEDDLE_TRANSLATE(copy_async_arrive);
  HEDDLE_TRANSLATE(copy_bulk);
  HEDDLE_TRANSLATE(createpolicy);
  HEDDLE_TRANSLATE(cvt);
  HEDDLE_TRANSLATE(cvt_pack);
  HEDDLE_TRANSLATE(cvta);
  HEDDLE_TRANSLATE(dot_product);
  HEDDLE_TRANSLATE(elect);
  HEDDLE_TRANSLATE(exit);
  HEDDLE_TRANSLATE(fence);
  HEDDLE_TRANSLATE(fma);
  HEDDLE_TRANSLATE(funnel_shift);
  HEDDLE_TRANSLATE(getctarank);
  HEDDLE_TRANSLATE(isspacep);
  HEDDLE_TRANSLATE(load);
  HEDDLE_TRANSLATE(lop3);
  HEDDLE_TRANSLATE(mapa);
  HEDDLE_TRANSLATE(match);
  HEDDLE_TRANSLATE(mbarrier_arrive);
  HEDDLE_TRANSLATE(mbarrier_arrive_remote);
  HEDDLE_TRANSLATE(mbarrier_expect_tx);
  HEDDLE_TRANSLATE(mbarrier_init);
  HEDDLE_TRANSLATE(mbarrier_inval);
  HEDDLE_TRANSLATE(mbarrier_pending_count);
  HEDDLE_TRANSLATE(mbarrier_wait);
  HEDDLE_TRANSLATE(min_max);
  HEDDLE_TRANSLATE(mov);
  HEDDLE_TRANSLATE(multiply);
  HEDDLE_TRANSLATE(nanosleep);
  HEDDLE_TRANSLATE(nothing);
  HEDDLE_TRANSLATE(prmt);
  HEDDLE_TRANSLATE(redux);
  HEDDLE_TRANSLATE(ret);
  HEDDLE_TRANSLATE(selp);
  HEDDLE_TRANSLATE(set);
  HEDDLE_TRANSLATE(setp);
  HEDDLE_TRANSLATE(shift);
  HEDDLE_TRANSLATE(shuffle);
  HEDDLE_TRANSLATE(slct);
  HEDDLE_TRANSLATE(stack);
  HEDDLE_TRANSLATE(store);
  HEDDLE_TRANSLATE(surface);
  HEDDLE_TRANSLATE(ternary);
  HEDDLE_TRANSLATE(testp);
  HEDDLE_TRANSLATE(texture);
  HEDDLE_TRANSLATE(texture_query);
  HEDDLE_TRANSLATE(trap);
  HEDDLE_TRANSLATE(unary);
  HEDDLE_TRANSLATE(unsupported);
  HEDDLE_TRANSLATE(video);
  HEDDLE_TRANSLATE(vote);
  HEDDLE_TRANSLATE(warp_sync);
#undef HEDDLE_TRANSLATE
  using Handler = bool (Translator::*)();
  static const Handler kHandlers[];

  ProgramBuilder& program_;
  const ptx::Module& unit_;
  const ptx::Function& source_;
  ir::Function* function_;
  ir::Builder b_;
  SsaBuilder ssa_;
  ptx::Diagnostics diagnostics_;

  const ptx::Instruction* instruction_ = nullptr;
  const ptx::Mnemonic* mnemonic_ = nullptr;
  const Operand* operands_ = nullptr;
  bool guarded_ = false;                                      // definitions select between new and old values
  std::uint32_t carry_ = 0;                                   // the variable of the condition code
  std::unordered_map<std::uint32_t, Words> words_;            // by source_.variables index
  std::unordered_map<std::uint32_t, ValueId> locals_;         // device functions: addresses of .local variables
  std::unordered_map<std::uint32_t, std::uint32_t> offsets_;  // kernels: parameters' places in the buffer
  std::vector<char> address_taken_;                           // by source_.variables index
  std::vector<BlockId> label_blocks_;
};

/// PTX's type as the IR's; false if the IR has none.
bool find_ir_type(ptx::Type type, ir::Type* out);
/// The storage type of a register of that type.
ir::Type register_type(ptx::Type type);

}  // namespace heddle::transform
