#include "compiler/compile.h"

#include <gtest/gtest.h>

namespace heddle::compiler {
namespace {

constexpr const char* kText = R"(.version 8.0
.target sm_90
.address_size 64
.global .align 4 .u32 counter = 7;
.visible .const .align 8 .u64 table[2] = {counter, f};
.global .attribute(.managed) .f32 half = 0f3F000000;
.global .b8 bytes[4] = {0xFF(counter), 0xFF00(counter+2)};
.shared .align 8 .b8 s[20];
.shared .align 8 .b8 unused[1000];
.extern .shared .align 16 .b8 dynamic[];
.func f() { ret; }
.visible .entry k(.param .u64 p, .param .align 4 .b8 b[12])
.maxntid 32, 4
{
  .reg .b64 %rd<4>; .reg .b32 %r<3>; .local .align 8 .b8 depot[24];
  mov.b32 %r1, s; ld.param.u64 %rd1, [p]; ld.global.u32 %r2, [counter]; st.shared.u32 [%r1], %r2;
  mov.b64 %rd2, depot; st.local.u32 [%rd2], %r2;
  ret;
}
.visible .entry empty() { ret; }
)";

std::shared_ptr<const Module> parse(const std::string& text, std::string* log, std::uint32_t capability = 120) {
  ParseOptions options;
  options.compute_capability = capability;
  auto module = parse_module({text}, options, log);
  return module ? *module : nullptr;
}

TEST(Compile, DescribesAModule) {
  std::string log;
  auto module = parse(kText, &log);
  ASSERT_TRUE(module) << log;
  EXPECT_EQ(module->ptx_version(), 80u);
  EXPECT_EQ(module->target(), 90u);
  ASSERT_EQ(module->kernels().size(), 2u);
  const KernelInfo& k = module->kernels()[0];
  EXPECT_EQ(k.name, "k");
  EXPECT_EQ(k.param_bytes, 20u);
  EXPECT_EQ(k.max_threads, 128u);
  EXPECT_EQ(k.static_shared_bytes, 20u);
  EXPECT_EQ(k.local_bytes, 32u);
  EXPECT_EQ(module->kernels()[1].max_threads, 1024u);
  ASSERT_EQ(module->variables().size(), 4u);
  const Variable& counter = module->variables()[0];
  EXPECT_EQ(counter.name, "counter");
  EXPECT_EQ(counter.initial, (std::vector<std::uint8_t>{7, 0, 0, 0}));
  const Variable& table = module->variables()[1];
  EXPECT_TRUE(table.is_constant);
  EXPECT_EQ(table.size, 16u);
  ASSERT_EQ(table.relocations.size(), 1u);  // the function's address is a number already
  EXPECT_EQ(table.relocations[0].symbol, "counter");
  EXPECT_EQ(table.relocations[0].offset, 0u);
  EXPECT_NE(table.initial[15], 0);
  EXPECT_TRUE(module->variables()[2].is_managed);
  EXPECT_EQ(module->variables()[2].initial, (std::vector<std::uint8_t>{0, 0, 0, 0x3f}));
  const Variable& bytes = module->variables()[3];
  ASSERT_EQ(bytes.relocations.size(), 2u);
  EXPECT_EQ(bytes.relocations[1].offset, 1u);
  EXPECT_EQ(bytes.relocations[1].size, 1u);
  EXPECT_EQ(bytes.relocations[1].shift, 8u);
  EXPECT_EQ(bytes.relocations[1].addend, 2);
}

TEST(Compile, InterpretedKernel) {
  std::string log;
  auto module = parse(kText, &log);
  ASSERT_TRUE(module) << log;
  Variant variant;
  variant.interpret = true;
  auto kernel = compile_kernel(*module, "k", variant, &log);
  ASSERT_TRUE(kernel.has_value()) << log;
  EXPECT_NE((*kernel)->warp, nullptr);
  EXPECT_EQ((*kernel)->static_shared_bytes, 20u);
  EXPECT_EQ((*kernel)->local_bytes % 16, 0u);
  std::vector<std::string> named;
  for (const std::string& name : (*kernel)->globals)
    if (!name.empty()) named.push_back(name);
  EXPECT_EQ(named, (std::vector<std::string>{"counter"}));
}

TEST(Compile, Errors) {
  std::string log;
  EXPECT_EQ(parse_module({"junk"}, {}, &log).status().code(), ErrorCode::kInvalidPtx);
  EXPECT_NE(log.find("ptx:1:1: error:"), std::string::npos) << log;
  log.clear();
  EXPECT_EQ(parse_module({".version 99.1\n"}, {}, &log).status().code(), ErrorCode::kUnsupportedPtxVersion);
  log.clear();
  ParseOptions old;
  old.compute_capability = 75;
  EXPECT_EQ(parse_module({kText}, old, &log).status().code(), ErrorCode::kNoBinaryForGpu);
  EXPECT_NE(log.find("sm_90"), std::string::npos) << log;
  log.clear();
  auto module = parse(kText, &log);
  EXPECT_EQ(compile_kernel(*module, "nowhere", {}, &log).status().code(), ErrorCode::kNotFound);
  // No log wanted.
  EXPECT_FALSE(parse_module({"junk"}, {}, nullptr));
}

TEST(Compile, SeveralUnits) {
  std::string log;
  const std::string head = ".version 8.0\n.target sm_90\n.address_size 64\n";
  const std::string a = head + ".extern .func f; .visible .entry k() { call f; ret; }";
  const std::string b = head + ".visible .func f { bar.sync 0; ret; }";
  auto module = parse_module({a, b}, {}, &log);
  ASSERT_TRUE(module.has_value()) << log;
  Variant variant;
  variant.interpret = true;
  EXPECT_TRUE(compile_kernel(**module, "k", variant, &log).has_value()) << log;
  log.clear();
  auto bad = parse_module({a, head + "foo;"}, {}, &log);
  EXPECT_FALSE(bad.has_value());
  EXPECT_NE(log.find("ptx#2:4:1"), std::string::npos) << log;
}

}  // namespace
}  // namespace heddle::compiler
