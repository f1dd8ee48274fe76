// What the transforms' tests share: PTX text to a Program.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "compiler/ir/print.h"
#include "compiler/ir/verify.h"
#include "compiler/ptx/linker.h"
#include "compiler/ptx/parser.h"
#include "compiler/transform/build_ssa.h"

namespace heddle::transform {

inline Result<ir::Program> try_build(const std::string& text, std::string* log) {
  auto parsed = ptx::parse_ptx(".version 8.5\n.target sm_90\n.address_size 64\n" + text, "ptx", log);
  if (!parsed) return parsed.error();
  std::vector<std::unique_ptr<const ptx::Module>> units;
  units.push_back(std::move(parsed).value());
  auto linked = ptx::LinkedModule::link(std::move(units), log);
  if (!linked) return linked.error();
  return build_ssa(**linked, "k", log);
}

inline void expect_valid(const ir::Program& program, bool barriers_split = false) {
  std::string message;
  EXPECT_TRUE(ir::verify(program, &message, barriers_split).ok()) << message << "\n" << ir::print_program(program);
}

inline ir::Program build(const std::string& text) {
  std::string log;
  auto program = try_build(text, &log);
  EXPECT_TRUE(program.has_value()) << log;
  if (!program) return {};
  expect_valid(*program);
  return std::move(program).value();
}

inline ir::Program build_kernel(const std::string& body) {
  return build(
      ".visible .entry k(.param .u64 a, .param .u32 n)\n{\n.reg .pred %p<9>; .reg .b16 %rs<9>; .reg .b32 %r<9>; "
      ".reg .f32 %f<9>; .reg .b64 %rd<9>; .reg .f64 %fd<9>;\n" +
      body + "\n}\n");
}

inline int count(const ir::Function& function, ir::Op op) {
  int n = 0;
  for (const ir::Block& block : function.blocks)
    for (const ir::Inst& inst : block.insts) n += inst.op == op;
  return n;
}

inline const ir::Inst* find(const ir::Function& function, ir::Op op) {
  for (const ir::Block& block : function.blocks)
    for (const ir::Inst& inst : block.insts)
      if (inst.op == op) return &inst;
  return nullptr;
}

}  // namespace heddle::transform
