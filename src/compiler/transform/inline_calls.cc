#include "compiler/transform/inline_calls.h"

#include <map>
#include <unordered_map>

namespace heddle::transform {
namespace {

using ir::BlockId;
using ir::Op;
using ir::ValueId;

/// Above this many instructions calls stay calls (barriers apart): a kernel of this size takes seconds to compile.
constexpr std::size_t kLargestKernel = 200000;

std::size_t size_of(const ir::Function& f) {
  std::size_t n = 0;
  for (const ir::Block& b : f.blocks) n += b.insts.size();
  return n;
}

class Inliner {
 public:
  explicit Inliner(ir::Program* program) : program_(*program), state_(program->functions.size()) {}

  void run() {
    find_recursive();
    for (std::uint32_t f = 0; f < program_.functions.size(); ++f) prepare(f);
    inline_into(&program_.kernel);
    make_static(&program_.kernel);
    drop_unused();
  }

 private:
  struct State {
    bool recursive = false, prepared = false, has_barrier = false;
  };

  std::vector<std::uint32_t> callees(const ir::Function& f) const {
    std::vector<std::uint32_t> out;
    for (const ir::Block& b : f.blocks)
      for (const ir::Inst& i : b.insts)
        if (i.op == Op::kCall) out.push_back(static_cast<std::uint32_t>(i.imm));
    return out;
  }

  void find_recursive() {
    const std::size_t n = program_.functions.size();
    std::vector<std::vector<std::uint32_t>> graph(n);
    for (std::size_t f = 0; f < n; ++f) graph[f] = callees(program_.functions[f]);
    for (std::uint32_t f = 0; f < n; ++f) {
      std::vector<char> seen(n, 0);
      std::vector<std::uint32_t> work = graph[f];
      while (!work.empty() && !state_[f].recursive) {
        const std::uint32_t g = work.back();
        work.pop_back();
        if (g == f) state_[f].recursive = true;
        if (seen[g]) continue;
        seen[g] = 1;
        work.insert(work.end(), graph[g].begin(), graph[g].end());
      }
    }
  }

  /// Inlines what `f` calls, callees first. Without recursion in the walk: the call graph may be deep.
  void prepare(std::uint32_t root) {
    std::vector<std::uint32_t> stack{root};
    while (!stack.empty()) {
      const std::uint32_t f = stack.back();
      if (state_[f].prepared) {
        stack.pop_back();
        continue;
      }
      bool ready = true;
      for (std::uint32_t g : callees(program_.functions[f]))
        if (!state_[g].prepared && !state_[g].recursive) {
          stack.push_back(g);
          ready = false;
        }
      if (!ready) continue;
      stack.pop_back();
      inline_into(&program_.functions[f]);
      for (const ir::Block& b : program_.functions[f].blocks)
        for (const ir::Inst& i : b.insts)
          if (class_of(i.op) == ir::OpClass::kBarrier ||
              (i.op == Op::kCall && state_[static_cast<std::uint32_t>(i.imm)].has_barrier))
            state_[f].has_barrier = true;
      state_[f].prepared = true;
    }
  }

  void inline_into(ir::Function* caller) {
    std::size_t size = size_of(*caller);
    // Blocks appended by inlining have no calls that could be inlined: their function was prepared.
    for (BlockId b = 0; b < caller->blocks.size(); ++b) {
      for (std::size_t i = 0; i < caller->blocks[b].insts.size(); ++i) {
        const ir::Inst& inst = caller->blocks[b].insts[i];
        if (inst.op != Op::kCall) continue;
        const auto callee = static_cast<std::uint32_t>(inst.imm);
        if (state_[callee].recursive || caller == &program_.functions[callee]) continue;
        const std::size_t callee_size = size_of(program_.functions[callee]);
        if (size + callee_size > kLargestKernel && !state_[callee].has_barrier) continue;
        size += callee_size;
        splice(caller, b, i, program_.functions[callee]);
        break;  // the rest of this block is now a block of its own, further on
      }
    }
  }

  void splice(ir::Function* caller, BlockId at, std::size_t position, const ir::Function& callee) {
    const BlockId after = static_cast<BlockId>(caller->blocks.size());
    const BlockId first = after + 1;
    caller->blocks.resize(caller->blocks.size() + 1 + callee.blocks.size());
    ir::Block& before = caller->blocks[at];
    ir::Inst call = std::move(before.insts[position]);
    ir::Block& rest = caller->blocks[after];
    rest.insts.assign(std::make_move_iterator(before.insts.begin() + static_cast<std::ptrdiff_t>(position) + 1),
                      std::make_move_iterator(before.insts.end()));
    before.insts.resize(position);
    rest.parameters = call.results;
    ir::Inst enter;
    enter.op = Op::kBranch;
    enter.location = call.location;
    enter.targets.push_back({first, {}});
    before.insts.push_back(std::move(enter));

    std::vector<ValueId> map(callee.values.size());
    const auto base = static_cast<ValueId>(caller->values.size());
    caller->values.insert(caller->values.end(), callee.values.begin(), callee.values.end());
    for (ValueId v = 0; v < map.size(); ++v) map[v] = base + v;
    for (std::size_t a = 0; a < callee.arguments.size(); ++a) map[callee.arguments[a]] = call.operands[a];
    auto rename = [&](std::vector<ValueId>* list) {
      for (ValueId& v : *list) v = map[v];
    };
    for (BlockId b = 0; b < callee.blocks.size(); ++b) {
      ir::Block& copy = caller->blocks[first + b];
      copy = callee.blocks[b];
      rename(&copy.parameters);
      for (ir::Inst& inst : copy.insts) {
        rename(&inst.operands);
        rename(&inst.results);
        rename(&inst.guard_else);
        if (inst.guard != ir::kNoValue) inst.guard = map[inst.guard];
        for (ir::Target& t : inst.targets) {
          t.block += first;
          rename(&t.arguments);
        }
        if (inst.op != Op::kReturn) continue;
        inst.op = Op::kBranch;
        inst.targets.push_back({after, inst.operands});
        inst.operands.clear();
      }
    }
  }

  /// The areas of inlined functions' local variables, which are LocalAllocs marked so, become static local memory.
  void make_static(ir::Function* kernel) {
    for (ir::Block& block : kernel->blocks) {
      for (ir::Inst& inst : block.insts) {
        if (inst.op != Op::kLocalAlloc || inst.imm_hi == 0) continue;
        ir::Symbol symbol;
        symbol.space = ir::Space::kLocal;
        symbol.name = "local";
        symbol.size = inst.imm_hi;
        symbol.align = static_cast<std::uint32_t>(inst.imm);
        symbol.offset = (program_.local_bytes + symbol.align - 1) & ~std::uint64_t{symbol.align - 1};
        program_.local_bytes = static_cast<std::uint32_t>(symbol.offset + symbol.size);
        inst.op = Op::kSymbolAddress;
        inst.operands.clear();
        inst.imm = program_.symbols.size();
        inst.imm_hi = 0;
        program_.symbols.push_back(std::move(symbol));
      }
    }
  }

  void drop_unused() {
    std::vector<std::uint32_t> number(program_.functions.size(), ~0u), order;
    std::vector<std::uint32_t> work = callees(program_.kernel);
    while (!work.empty()) {
      const std::uint32_t f = work.back();
      work.pop_back();
      if (number[f] != ~0u) continue;
      number[f] = static_cast<std::uint32_t>(order.size());
      order.push_back(f);
      for (std::uint32_t g : callees(program_.functions[f])) work.push_back(g);
    }
    std::vector<ir::Function> kept;
    for (std::uint32_t f : order) kept.push_back(std::move(program_.functions[f]));
    program_.functions = std::move(kept);
    auto renumber = [&](ir::Function* f) {
      for (ir::Block& b : f->blocks)
        for (ir::Inst& i : b.insts)
          if (i.op == Op::kCall) i.imm = number[i.imm];
    };
    renumber(&program_.kernel);
    for (ir::Function& f : program_.functions) renumber(&f);
  }

  ir::Program& program_;
  std::vector<State> state_;
};

}  // namespace

void inline_calls(ir::Program* program) { Inliner(program).run(); }

}  // namespace heddle::transform
