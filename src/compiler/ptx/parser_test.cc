#include "compiler/ptx/parser.h"

#include <gtest/gtest.h>

#include <random>

namespace heddle::ptx {
namespace {

constexpr const char* kHeader = ".version 8.0\n.target sm_90\n.address_size 64\n";

std::unique_ptr<const Module> parse(const std::string& text, std::string* log = nullptr) {
  std::string ignored;
  auto result = parse_ptx(text, "ptx", log ? log : &ignored);
  if (!result) return nullptr;
  return std::move(result).value();
}

/// The log of a text that must fail.
std::string error_of(const std::string& text, ErrorCode code = ErrorCode::kInvalidPtx) {
  std::string log;
  auto result = parse_ptx(text, "ptx", &log);
  EXPECT_FALSE(result.has_value()) << text;
  if (result) return log;
  EXPECT_EQ(result.error().code(), code);
  return log;
}

std::string kernel(const std::string& body) {
  return std::string(kHeader) + ".visible .entry k()\n{\n" + body + "\nret;\n}\n";
}

TEST(Parser, ReadsAKernel) {
  auto m = parse(std::string(kHeader) + R"(
.file 1 "a.cu"
.visible .entry add(.param .u64 .ptr .global .align 4 p, .param .align 8 .b8 s[24])
.maxntid 128, 2
.minnctapersm 3
{
  .reg .pred %p<2>;
  .reg .b32 %r<10>;
  .reg .b64 %rd<3>;
  .loc 1 7 3
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r1, [s+8];
  mov.u32 %r2, %tid.x;
  setp.ge.s32 %p1, %r2, %r1;
  @%p1 bra $L_end;
  st.global.u32 [%rd1+-4], %r2;
$L_end:
  ret;
}
)");
  ASSERT_TRUE(m);
  EXPECT_EQ(m->version, 80u);
  EXPECT_EQ(m->target, 90u);
  ASSERT_EQ(m->functions.size(), 1u);
  const Function& f = m->functions[0];
  EXPECT_TRUE(f.is_entry);
  EXPECT_EQ(f.max_threads[0], 128u);
  EXPECT_EQ(f.max_threads[1], 2u);
  EXPECT_EQ(f.max_threads[2], 1u);
  EXPECT_EQ(f.min_ctas, 3u);
  ASSERT_EQ(f.parameters.size(), 2u);
  EXPECT_TRUE(f.variables[0].is_pointer);
  EXPECT_EQ(f.variables[0].pointer_align, 4u);
  EXPECT_EQ(f.variables[1].bytes(), 24u);
  EXPECT_EQ(f.variables[1].alignment(), 8u);
  ASSERT_EQ(f.instructions.size(), 7u);
  EXPECT_EQ(f.name_of_register(f.instructions[4].guard), "%p1");
  const Operand& address = f.operands_of(f.instructions[5])[0];
  EXPECT_EQ(address.kind, Operand::Kind::kAddress);
  EXPECT_EQ(static_cast<std::int64_t>(address.value), -4);
  EXPECT_EQ(f.instructions[5].line, 19u);
}

TEST(Parser, ScopesShadow) {
  auto m = parse(kernel(R"(
  .reg .b32 %r<5>;
  .reg .b32 x;
  mov.b32 x, %r1;
  { .reg .b64 x; .reg .f64 %r<2>; mov.b64 x, 1; mov.f64 %r1, 0d0000000000000000; mov.b32 %r3, 4; }
  mov.b32 x, 2;
)"));
  ASSERT_TRUE(m);
  const Function& f = m->functions[0];
  auto type_of = [&](int i) {
    return f.type_of_register(f.operands_of(f.instructions[static_cast<std::size_t>(i)])[0].id);
  };
  EXPECT_EQ(type_of(0), Modifier::kB32);
  EXPECT_EQ(type_of(1), Modifier::kB64);
  EXPECT_EQ(type_of(2), Modifier::kF64);
  EXPECT_EQ(type_of(3), Modifier::kB32);  // the outer %r3: the inner range ends at %r1
  EXPECT_EQ(type_of(4), Modifier::kB32);
}

TEST(Parser, LabelsAreFoundFromInsideOut) {
  auto m = parse(kernel("{ L: bra L; { bra L; } }\n{ L: bra L; }\nbra M; M:"));
  ASSERT_TRUE(m);
  const Function& f = m->functions[0];
  auto target = [&](std::size_t i) { return f.operands_of(f.instructions[i])[0].id; };
  EXPECT_EQ(target(0), 0u);
  EXPECT_EQ(target(1), 0u);
  EXPECT_EQ(target(2), 1u);
  EXPECT_EQ(target(3), 2u);
}

TEST(Parser, Constants) {
  auto m = parse(kernel(R"(
  .reg .b64 d; .reg .f32 f; .reg .f64 g;
  mov.b64 d, 0x1F;  mov.b64 d, 017; mov.b64 d, 0b101; mov.b64 d, 42U; mov.b64 d, -7; mov.b64 d, (2+3)*4 - 1;
  mov.b64 d, 1 << 33 | 1; mov.b64 d, ~0; mov.b64 d, 7 > 3 ? 10 : 20; mov.b64 d, WARP_SZ; mov.b64 d, -7 / 2; mov.b64 d, !0;
  mov.f32 f, 0f3F800000; mov.f64 g, 0d4000000000000000; mov.f64 g, 1.5e1; mov.f32 f, -0f3F800000;
  mov.b64 d, 18446744073709551615;
)"));
  ASSERT_TRUE(m);
  const Function& f = m->functions[0];
  const std::int64_t wanted[] = {31, 15, 5, 42, -7, 19, (1ll << 33) | 1, -1, 10, 32, -3, 1};
  for (std::size_t i = 0; i < std::size(wanted); ++i)
    EXPECT_EQ(static_cast<std::int64_t>(f.operands_of(f.instructions[i])[1].value), wanted[i]) << i;
  EXPECT_EQ(f.operands_of(f.instructions[12])[1].value, 0x3f800000u);
  EXPECT_EQ(f.operands_of(f.instructions[13])[1].value, 0x4000000000000000u);
  EXPECT_EQ(f.operands_of(f.instructions[14])[1].value, 0x402e000000000000u);
  EXPECT_EQ(f.operands_of(f.instructions[15])[1].value, 0xbf800000u);
  EXPECT_EQ(f.operands_of(f.instructions[16])[1].value, ~0ull);
}

TEST(Parser, InitialValues) {
  auto m = parse(std::string(kHeader) + R"(
.global .align 4 .u32 a[2][3] = {{1, 2}, {4, 5, 6}};
.global .u64 p = generic(a)+8;
.global .align 8 .u64 q[2] = {a, generic(a)};
.global .align 1 .b8 m[3] = {0xFF(a+4), 0xFF00(a), 7};
.const .f32 f[] = {0f3F800000, 2.0, -1.0};
.visible .global .attribute(.managed) .u32 counter = 5;
)");
  ASSERT_TRUE(m);
  const auto& a = m->variables[0];
  ASSERT_EQ(a.initial.size(), 5u);
  EXPECT_EQ(a.initial[2].element, 3u);
  EXPECT_EQ(a.initial[2].value, 4u);
  EXPECT_TRUE(m->variables[1].initial[0].generic);
  EXPECT_EQ(m->variables[1].initial[0].value, 8u);
  EXPECT_EQ(m->variables[3].initial[1].mask_shift, 8);
  EXPECT_EQ(m->variables[3].initial[0].value, 4u);
  EXPECT_EQ(m->variables[4].bytes(), 12u);
  EXPECT_TRUE(m->variables[5].managed);
}

TEST(Parser, CallsAndPrototypes) {
  auto m = parse(std::string(kHeader) + R"(
.extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);
.func foo() .noreturn;
.visible .entry k() {
  .reg .b64 %rd<3>; .reg .b32 %r<3>;
  { .param .b64 p0; .param .b64 p1; .param .b32 r0;
    st.param.b64 [p0], %rd1; st.param.b64 [p1+0], %rd2;
    call.uni (r0), vprintf, (p0, p1);
    ld.param.b32 %r1, [r0]; }
  { .param .b32 r0; .param .b64 p0;
    proto: .callprototype (.param .b32 _) _ (.param .b64 _);
    call (r0), %rd1, (p0), proto; }
  call.uni foo;
  ret; }
)");
  ASSERT_TRUE(m);
  const Function& f = m->functions[2];
  const Instruction* indirect = &f.instructions[4];
  EXPECT_EQ(f.operands_of(*indirect)[1].kind, Operand::Kind::kRegister);
  EXPECT_EQ(f.operands_of(*indirect)[3].kind, Operand::Kind::kPrototype);
  EXPECT_EQ(f.instructions[5].count, 4u);
}

TEST(Parser, BranchTargets) {
  auto m = parse(kernel(".reg .u32 %r<2>; ts: .branchtargets A, B; brx.idx %r1, ts; A: ret; B:"));
  ASSERT_TRUE(m);
  EXPECT_EQ(m->functions[0].targets[0].labels, (std::vector<std::uint32_t>{0, 1}));
}

TEST(Parser, SkipsDebugSections) {
  EXPECT_TRUE(parse(kernel("") + ".section .debug_str { $L: .b8 1,2 \n .b64 .debug_x }\n"));
}

TEST(Diagnostics, PointAtThePlace) {
  const std::string log = error_of(kernel("  .reg .b32 %r<3>;\n\tfoo.bar %r1, %r2;"));
  EXPECT_EQ(log, "ptx:7:2: error: unknown instruction 'foo.bar'\n  \tfoo.bar %r1, %r2;\n  \t^\n");
}

TEST(Diagnostics, NameWhatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"mov.u32 %r1, 0;", "undeclared register '%r1'"},
      {".reg .b32 a; add.s32 a, a;", "wrong operands for 'add.s32'"},
      {".reg .b32 a; mov.b32 a, x;", "undeclared name 'x'"},
      {"bra nowhere;", "undefined label 'nowhere'"},
      {"L: L:", "label 'L' is already defined"},
      {".reg .b32 a; .reg .f32 a;", "'a' is already declared in this scope"},
      {".reg .b32 a; add.s32.foo a, a, a;", "'add' has no modifier '.foo'"},
      {".reg .b32 a; add.sat.u32 a, a, a;", "don't go together"},
      {".reg .b32 a; mov.b32 a, 1", "expected ';'"},
      {".reg .b32 a; mov.b32 a, 0f12;", "malformed number '0f12'"},
      {".reg .b32 a; mov.b32 a, 99999999999999999999;", "doesn't fit into 64 bits"},
      {".reg .b32 a; mov.b32 a, 1/0;", "no constant value"},
      {".reg .b32 a; @a ret;", "a guard must be a predicate"},
      {".reg .wrong a;", "unknown type '.wrong'"},
      {".reg .b32 a<99999999999>;", "too many registers"},
      {".reg .b32 a; st.global.u32 a, a;", "wrong operands for 'st.global.u32'"},
      {"\x01", "a character that is not text (code 1)"},
      {".pragma \"unfinished;", "an unfinished string"},
      {".reg .v2 .f32 v; .reg .f32 s; mov.f32 s, v.z;", "has no element '.z'"},
  };
  for (const auto& [body, wanted] : cases)
    EXPECT_NE(error_of(kernel(body)).find(wanted), std::string::npos) << body << "\n" << error_of(kernel(body));
}

TEST(Diagnostics, Module) {
  EXPECT_NE(error_of("hello").find("PTX begins with .version"), std::string::npos);
  EXPECT_NE(error_of("").find("the end of the text"), std::string::npos);
  EXPECT_NE(error_of(".version 99.0\n.target sm_90\n", ErrorCode::kUnsupportedPtxVersion).find("newer than"),
            std::string::npos);
  EXPECT_NE(error_of(".version 8.0\n").find("no .target"), std::string::npos);
  EXPECT_NE(error_of(".version 8.0\n.target sm_90\n.address_size 32\n").find("address_size 64"), std::string::npos);
  EXPECT_NE(error_of(std::string(kHeader) + ".global .u32 x; .global .u32 x;").find("already declared"),
            std::string::npos);
  EXPECT_NE(error_of(std::string(kHeader) + ".visible .entry k() { ret; ").find("no closing brace"), std::string::npos);
  EXPECT_NE(error_of(std::string(kHeader) + ".global .u32 x[2] = {1,2,3};").find("more initial values"),
            std::string::npos);
  EXPECT_NE(error_of(".version 6.0\n.target sm_70\n.visible .entry k() { .reg .b32 a; redux.sync.add.u32 a, a, a; }")
                .find("needs PTX version 7.0"),
            std::string::npos);
  EXPECT_NE(error_of(".version 7.0\n.target sm_70\n.visible .entry k() { .reg .b32 a; redux.sync.add.u32 a, a, a; }")
                .find("needs .target sm_80"),
            std::string::npos);
}

TEST(Diagnostics, GoOnAfterAnError) {
  const std::string log = error_of(kernel("foo.bar;\nadd.s32 1;\nbaz;"));
  EXPECT_NE(log.find("'foo.bar'"), std::string::npos);
  EXPECT_NE(log.find("'baz'"), std::string::npos);
}

// Random damage never crashes and always says something. (Run under the sanitizers by `make test`.)
TEST(Parser, SurvivesDamage) {
  const std::string text = kernel(R"(
  .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .shared .align 4 .b8 s[64];
  @%p1 ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1+16];
  setp.lt.and.s32 %p1|%p2, %r1, %r2, !%p1;
  { .param .b32 q; .reg .b32 t; st.param.b32 [q], %r1; mov.b32 t, {%r1, %r2}; }
L: @!%p1 bra L;
  mov.u64 %rd2, s+4; ts: .branchtargets L, L; brx.idx %r1, ts;
)") + ".global .u32 a[2][2] = {{1,2},{3,4}};\n";
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = text;
    const int kind = static_cast<int>(random() % 4);
    const std::size_t at = random() % damaged.size();
    if (kind == 0) damaged.resize(at);
    if (kind == 1) damaged[at] = static_cast<char>(random());
    if (kind == 2) damaged.erase(at, 1 + random() % 8);
    if (kind == 3) damaged.insert(at, text.substr(random() % text.size(), random() % 30));
    std::string log;
    const bool ok = parse_ptx(damaged, "ptx", &log).has_value();
    EXPECT_TRUE(ok || !log.empty());
  }
  for (const std::string& deep : {std::string(100000, '{'), std::string(100000, '('), std::string(100000, '-')}) {
    std::string log;
    EXPECT_FALSE(parse_ptx(kernel(".reg .b32 a; mov.b32 a, " + deep), "ptx", &log));
    EXPECT_FALSE(parse_ptx(kernel(deep), "ptx", &log));
  }
}

}  // namespace
}  // namespace heddle::ptx
