#include "compiler/ptx/linker.h"

#include <gtest/gtest.h>

#include "compiler/ptx/parser.h"

namespace heddle::ptx {
namespace {

constexpr const char* kHeader = ".version 8.0\n.target sm_90\n.address_size 64\n";

std::unique_ptr<const LinkedModule> link(const std::vector<std::string>& texts, std::string* log) {
  std::vector<std::unique_ptr<const Module>> units;
  for (const std::string& text : texts) {
    auto parsed = parse_ptx(kHeader + text, "ptx#" + std::to_string(units.size() + 1), log);
    EXPECT_TRUE(parsed.has_value()) << *log;
    if (!parsed) return nullptr;
    units.push_back(std::move(parsed).value());
  }
  auto linked = LinkedModule::link(std::move(units), log);
  return linked ? std::move(linked).value() : nullptr;
}

TEST(Linker, ResolvesAcrossUnits) {
  std::string log;
  auto m = link({".extern .func f; .extern .global .u32 v; .visible .entry k() { call.uni f; ret; }",
                 ".visible .func f { ret; } .visible .global .u32 v = 3;"},
                &log);
  ASSERT_TRUE(m) << log;
  const Symbol f = m->find(m->units()[0].get(), "f");
  ASSERT_TRUE(f.function);
  EXPECT_TRUE(f.function->has_body);
  EXPECT_EQ(f.unit, m->units()[1].get());
  EXPECT_EQ(m->find(m->units()[0].get(), "v").variable->linkage, Linkage::kVisible);
  ASSERT_EQ(m->variables().size(), 1u);
  EXPECT_EQ(m->name_of(m->variables()[0].variable), "v");
  EXPECT_TRUE(m->find_kernel("k"));
  EXPECT_FALSE(m->find_kernel("f"));
}

TEST(Linker, PrivateNamesStayPrivate) {
  std::string log;
  auto m = link({".global .u32 v = 1;", ".global .u32 v = 2;"}, &log);
  ASSERT_TRUE(m) << log;
  ASSERT_EQ(m->variables().size(), 2u);
  EXPECT_EQ(m->name_of(m->variables()[0].variable), "v");
  EXPECT_EQ(m->name_of(m->variables()[1].variable), "v$2");
  EXPECT_NE(m->find(m->units()[0].get(), "v").variable, m->find(m->units()[1].get(), "v").variable);
}

TEST(Linker, WeakGivesWayAndStrongClash) {
  std::string log;
  auto m = link({".weak .func f { ret; }", ".visible .func f { exit; }"}, &log);
  ASSERT_TRUE(m) << log;
  EXPECT_EQ(m->find(m->units()[0].get(), "f").unit, m->units()[1].get());
  EXPECT_FALSE(link({".visible .func f { ret; }", ".visible .func f { exit; }"}, &log));
  EXPECT_NE(log.find("multiple definition of 'f'"), std::string::npos) << log;
}

// Clang 19's -fgpu-rdc: see alias_static_names.
TEST(Linker, StaticVariableOfClang) {
  std::string log;
  auto m = link({".extern .global .u32 s; .visible .global .u32 s__static__12ab = 4;"}, &log);
  ASSERT_TRUE(m) << log;
  EXPECT_EQ(m->find(m->units()[0].get(), "s").variable->name, "s__static__12ab");
  ASSERT_EQ(m->variables().size(), 1u);
}

TEST(Linker, AliasesAndAddresses) {
  std::string log;
  auto m = link({".visible .func f { ret; } .alias g, f; .func h { ret; } .global .u64 t[2] = {f, 0};\n"
                 ".visible .entry k() { .reg .b64 a; mov.b64 a, t; ret; }"},
                &log);
  ASSERT_TRUE(m) << log;
  const Symbol f = m->find(m->units()[0].get(), "f");
  EXPECT_EQ(m->find(m->units()[0].get(), "g").function, f.function);
  EXPECT_NE(m->function_address(f.function), 0u);
  EXPECT_EQ(m->function_address(m->find(m->units()[0].get(), "h").function), 0u);
}

}  // namespace
}  // namespace heddle::ptx
