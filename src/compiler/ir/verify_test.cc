#include "compiler/ir/verify.h"

#include <gtest/gtest.h>

#include "compiler/ir/print.h"
#include "compiler/ir/video.h"

namespace heddle::ir {
namespace {

Inst make(Op op, Type type = Type::kB32, std::vector<ValueId> operands = {}, std::vector<ValueId> results = {},
          std::vector<Target> targets = {}) {
  Inst inst;
  inst.op = op;
  inst.type = type;
  inst.operands = std::move(operands);
  inst.results = std::move(results);
  inst.targets = std::move(targets);
  return inst;
}

/// b0: v0 = 7; br b1(v0)   b1(v1): v2 = v1 + v0; p = v2 < v0; br.if p, b1(v2), b2   b2: ret
Program loop_program() {
  Program program;
  Function& f = program.kernel;
  f.name = "k";
  f.is_kernel = true;
  for (int i = 0; i < 3; ++i) f.add_value(Type::kU32);
  f.add_value(Type::kPred);
  f.blocks.resize(3);
  Inst constant = make(Op::kConst, Type::kB32, {}, {0});
  constant.imm = 7;
  Inst enter = make(Op::kBranch, Type::kB32, {}, {}, {{1, {0}}});
  f.blocks[0].insts = {constant, enter};
  f.blocks[1].parameters = {1};
  Inst add = make(Op::kAdd, Type::kU32, {1, 0}, {2});
  add.location.ptx_line = 17;
  Inst less = make(Op::kSetp, Type::kU32, {2, 0}, {3});
  less.mods.compare = Compare::kLt;
  Inst back = make(Op::kCondBranch, Type::kB32, {3}, {}, {{1, {2}}, {2, {}}});
  f.blocks[1].insts = {add, less, back};
  f.blocks[2].insts = {make(Op::kReturn)};
  return program;
}

std::string failure(const Program& program) {
  std::string message;
  EXPECT_FALSE(verify(program, &message).ok());
  return message;
}

TEST(Verify, accepts_a_loop) {
  std::string message;
  EXPECT_TRUE(verify(loop_program(), &message).ok()) << message;
}
TEST(Verify, names_function_block_and_instruction) {
  Program program = loop_program();
  program.kernel.blocks[1].insts[0].operands = {1};
  EXPECT_EQ(failure(program), "kernel k, block b1, instruction 0 (v2:b32 = add.u32 v1): has 1 operands instead of 2");
}
TEST(Verify, finds_wrong_widths) {
  Program program = loop_program();
  program.kernel.values[0].type = Type::kB64;
  EXPECT_NE(failure(program).find("has 64 bits instead of 32"), std::string::npos);
}
TEST(Verify, finds_uses_that_are_not_dominated) {
  Program program = loop_program();
  program.kernel.blocks[0].insts[1].targets[0].arguments = {2};
  EXPECT_NE(failure(program).find("doesn't dominate"), std::string::npos);
}
TEST(Verify, finds_second_definitions) {
  Program program = loop_program();
  program.kernel.blocks[1].insts[0].results = {0};
  EXPECT_NE(failure(program).find("a second time"), std::string::npos);
}
TEST(Verify, finds_missing_terminators_and_targets) {
  Program program = loop_program();
  program.kernel.blocks[2].insts = {make(Op::kFence)};
  EXPECT_NE(failure(program).find("no terminator"), std::string::npos);
  program = loop_program();
  program.kernel.blocks[1].insts[2].targets[1].block = 9;
  EXPECT_NE(failure(program).find("is not there"), std::string::npos);
  program = loop_program();
  program.kernel.blocks[1].insts[2].targets[1].block = 0;
  EXPECT_NE(failure(program).find("entry"), std::string::npos);
}
TEST(Verify, barriers_end_their_block) {
  Program program = loop_program();
  const Inst barrier = make(Op::kBarrier, Type::kB32, {0, 0});
  program.kernel.blocks[0].insts.insert(program.kernel.blocks[0].insts.begin() + 1, barrier);
  std::string message;
  EXPECT_TRUE(verify(program, &message).ok()) << message;
  program.kernel.blocks[1].insts.insert(program.kernel.blocks[1].insts.begin(), barrier);
  EXPECT_NE(failure(program).find("barrier"), std::string::npos);
  EXPECT_TRUE(verify(program, &message, false).ok());
}
TEST(Verify, guards_belong_to_memory_operations) {
  Program program = loop_program();
  program.kernel.blocks[1].insts[2].guard = 3;
  EXPECT_NE(failure(program).find("guard"), std::string::npos);
}
TEST(Print, shows_everything) {
  EXPECT_EQ(print_program(loop_program()),
            "kernel k() {\n"
            "b0:\n"
            "  v0:b32 = const.b32 #7\n"
            "  br b1(v0)\n"
            "b1(v1:b32):\n"
            "  v2:b32 = add.u32 v1, v0  // ptx 17\n"
            "  v3:pred = setp.lt.u32 v2, v0\n"
            "  br.if v3, b1(v2), b2\n"
            "b2:\n"
            "  ret\n"
            "}\n");
}
TEST(VideoForm, packs_and_unpacks) {
  VideoForm form;
  form.operation = VideoForm::Operation::kAvrg;
  form.lanes = 4;
  form.b_signed = form.sat = true;
  form.second = VideoForm::Second::kAdd;
  for (int i = 0; i < 4; ++i) {
    form.asel[i] = static_cast<std::uint8_t>(i);
    form.bsel[i] = static_cast<std::uint8_t>(7 - i);
  }
  form.mask = 0xa;
  const VideoForm copy = VideoForm::unpack(form.pack());
  EXPECT_EQ(copy.operation, form.operation);
  EXPECT_EQ(copy.lanes, 4);
  EXPECT_FALSE(copy.a_signed);
  EXPECT_TRUE(copy.b_signed && copy.sat);
  EXPECT_EQ(copy.second, form.second);
  EXPECT_EQ(copy.asel[3], 3);
  EXPECT_EQ(copy.bsel[0], 7);
  EXPECT_EQ(copy.mask, 0xa);
  EXPECT_EQ(copy.pack(), form.pack());
}

}  // namespace
}  // namespace heddle::ir
