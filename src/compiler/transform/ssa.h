// Registers to SSA values with block parameters. While a function is translated, `read` and `write` know only the
// current block; a read of what the block has not written gives a placeholder. `finish` then drops unreachable blocks,
// places block parameters where definitions meet and the register is live (iterated dominance frontiers, so loops of
// any shape are right), and replaces the placeholders. After Cytron et al. 1991. Tested by transform/build_ssa_test.cc.
#pragma once

#include <vector>

#include "compiler/ir/ir.h"

namespace heddle::transform {

class SsaBuilder {
 public:
  explicit SsaBuilder(ir::Function* function) : function_(function) {}

  std::uint32_t add_variable(ir::Type type);
  std::uint32_t variable_count() const { return static_cast<std::uint32_t>(types_.size()); }
  ir::Type type_of(std::uint32_t variable) const { return types_[variable]; }
  /// The blocks' instructions are appended elsewhere (ir/builder.h); this says which block they belong to.
  void begin_block(ir::BlockId block);
  ir::ValueId read(std::uint32_t variable);
  void write(std::uint32_t variable, ir::ValueId value);
  void finish();

 private:
  struct Entry {
    std::uint32_t variable;
    ir::ValueId value;
  };
  struct BlockState {
    std::vector<Entry> reads;   // placeholders
    std::vector<Entry> writes;  // values at the end
  };
  void end_block();
  void drop_unreachable();
  void place_parameters();
  void rename();
  ir::ValueId undefined(ir::Type type);

  ir::Function* function_;
  std::vector<ir::Type> types_;
  std::vector<BlockState> blocks_;
  ir::BlockId block_ = ~0u;
  std::vector<ir::ValueId> current_;
  std::vector<std::uint32_t> stamp_;       // equals epoch_ if current_ holds
  std::vector<std::uint32_t> written_at_;  // equals epoch_ if written in this block
  std::uint32_t epoch_ = 0;
  std::vector<std::uint32_t> touched_;
  std::vector<std::vector<Entry>> parameters_;  // by block
  std::vector<ir::BlockId> idom_;
  std::vector<std::vector<ir::BlockId>> predecessors_;
  ir::ValueId undefined_[6] = {~0u, ~0u, ~0u, ~0u, ~0u, ~0u};
};

}  // namespace heddle::transform
