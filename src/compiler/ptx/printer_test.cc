#include "compiler/ptx/printer.h"

#include <gtest/gtest.h>

#include "compiler/ptx/parser.h"

namespace heddle::ptx {
namespace {

std::unique_ptr<const Module> parse(const std::string& text) {
  std::string log;
  auto result = parse_ptx(text, "ptx", &log);
  EXPECT_TRUE(result.has_value()) << log;
  return result ? std::move(result).value() : nullptr;
}

TEST(Printer, InstructionsKeepTheirText) {
  const char* lines[] = {
      "@!%p1 add.rn.f32 %f1, %f2, 0f3F800000",
      "ld.global.v2.f32 {%f1, _}, [%rd1+-16]",
      "setp.lt.or.s32 %p1|%p2, %r1, -5, !%p2",
      "shfl.sync.up.b32 %r1|%p1, %r2, 1, 0, -1",
      "mov.b64 {%r1, %r2}, %rd1",
      "mov.u32 %r1, %tid.x",
      "mov.u32 %r1, %envreg2",
      "atom.global.add.u32 %r1, [%rd1+4], %r2",
      "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f2}]",
      "vadd.u32.u32.s32 %r1, %r2.b1, %r3.h1",
      "vmad.s32.s32.s32 %r1, -%r2.h0, %r3, %r1",
      "bra L",
      "mov.u64 %rd1, v+12",
      "call.uni (%r1), g, (%r2, 3)",
  };
  std::string text =
      ".version 8.5\n.target sm_90\n.global .u32 v[9];\n.func (.reg .b32 o) g(.reg .b32 a, .reg .b32 b) { ret; }\n"
      ".visible .entry k() {\n.reg .pred %p<3>; .reg .b32 %r<4>; .reg .f32 %f<5>; .reg .b64 %rd<2>;\nL:\n";
  for (const char* line : lines) text += std::string(line) + ";\n";
  auto m = parse(text + "ret; }\n");
  ASSERT_TRUE(m);
  const Function& f = m->functions.back();
  for (std::size_t i = 0; i < std::size(lines); ++i) {
    std::string printed = print_instruction(f, f.instructions[i]);
    EXPECT_EQ(printed, lines[i]);
  }
}

TEST(Printer, PrintedTextParsesToTheSame) {
  const std::string text = std::string(R"(.version 8.5
.target sm_90a, debug
.address_size 64
.file 1 "dir/a.cu"
.extern .shared .align 16 .b8 dyn[];
.visible .global .attribute(.managed) .align 4 .u32 x[4] = {1, 2};
.func f(.param .b64 p) { ret; }
.alias h, f;
.global .align 8 .u64 table[3] = {f, generic(x)+8, 0};
.global .b8 bytes[2] = {0xFF(x), 0xFF00(x+1)};
.const .f64 c = 2.5;
.weak .func (.param .align 8 .b8 r[16]) g(.param .b32 p0, .reg .f32 p1);
.visible .entry k(.param .u64 .ptr .global .align 8 a, .param .align 4 .b8 b[12])
.reqntid 8, 4, 1
.maxnreg 64
{
  .reg .pred %p<2>; .reg .b64 %rd<4>; .reg .v2 .f32 v; .reg .b32 i;
  .local .align 8 .b8 __local_depot0[32];
  .loc 1 3 4, function_name str+2, inlined_at 1 2 3
  .pragma "nounroll";
  { .reg .b32 i; mov.b32 i, 4; }
  proto: .callprototype (.param .b32 _) _ (.param .b64 _) .noreturn;
  ts: .branchtargets A, B;
A: brx.idx i, ts;
B: mov.f32 v.x, v.y;
  @%p1 ret;
  exit;
}
)");
  auto first = parse(text);
  ASSERT_TRUE(first);
  const std::string printed = print_module(*first);
  auto second = parse(printed);
  ASSERT_TRUE(second) << printed;
  EXPECT_EQ(print_module(*second), printed);
  EXPECT_EQ(second->functions.size(), first->functions.size());
  EXPECT_EQ(second->variables.size(), first->variables.size());
}

}  // namespace
}  // namespace heddle::ptx
