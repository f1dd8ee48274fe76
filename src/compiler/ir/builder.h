// Appends instructions to a block of a function. What it makes is checked by ir/verify.h, not here.
// Used by the transforms and by tests that build IR by hand; tested by transform/build_ssa_test.cc.
#pragma once

#include <initializer_list>

#include "compiler/ir/ir.h"

namespace heddle::ir {

class Builder {
 public:
  explicit Builder(Function* function) : function_(function) {}

  Function& function() { return *function_; }
  BlockId add_block() {
    function_->blocks.emplace_back();
    return static_cast<BlockId>(function_->blocks.size() - 1);
  }
  void set_block(BlockId block) { block_ = block; }
  BlockId block() const { return block_; }
  void set_location(const Location& location) { location_ = location; }
  const Location& location() const { return location_; }
  /// Whether the current block has its terminator.
  bool ended() const;

  /// Appends an instruction without results. The reference holds until the next one.
  Inst& append(Op op, Type type, std::initializer_list<ValueId> operands = {}, const Mods& mods = {});
  Inst& append(Op op, Type type, std::vector<ValueId> operands, const Mods& mods = {});
  /// Appends one with one result, of the storage width of `type`, or of `result`.
  ValueId emit(Op op, Type type, std::initializer_list<ValueId> operands, const Mods& mods = {});
  ValueId emit_as(Type result, Op op, Type type, std::initializer_list<ValueId> operands, const Mods& mods = {});
  ValueId constant(Type type, std::uint64_t value);
  /// Zext, Sext or a cut from one width to another; the value itself if they are equal.
  ValueId resize(ValueId value, int bits, bool sign);

  int width(ValueId value) const { return bits_of(function_->values[value].type); }

  void branch(BlockId target);
  void branch_if(ValueId predicate, BlockId if_true, BlockId if_false);

 private:
  Function* function_;
  BlockId block_ = 0;
  Location location_;
};

}  // namespace heddle::ir
