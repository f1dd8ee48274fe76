#include "compiler/ptx/isa.h"

#include <gtest/gtest.h>

#include <set>

namespace heddle::ptx {
namespace {

MatchResult match(std::string_view text, Mnemonic* mnemonic) {
  *mnemonic = {};
  return match_mnemonic(text, mnemonic);
}

TEST(Isa, MatchesFormsOfTheManual) {
  Mnemonic m;
  for (const char* text : {"add.s32",
                           "add.sat.s32",
                           "add.cc.u32",
                           "add.rn.ftz.sat.f32",
                           "mad.lo.s32",
                           "mad.wide.u16",
                           "fma.rn.f64",
                           "ld.global.nc.L1::no_allocate.L2::128B.v4.f32",
                           "ld.param.u64",
                           "ld.volatile.shared.f32",
                           "ld.acquire.gpu.global.u32",
                           "st.shared::cta.v2.b64",
                           "atom.global.gpu.acq_rel.cas.b32",
                           "red.relaxed.gpu.global.add.f32",
                           "setp.lt.and.f32",
                           "cvt.rzi.s32.f32",
                           "cvt.rn.satfinite.e4m3x2.f32",
                           "cvta.to.global.u64",
                           "shfl.sync.bfly.b32",
                           "bar.sync",
                           "barrier.sync.aligned",
                           "bar.red.popc.u32",
                           "mbarrier.try_wait.parity.shared::cta.b64",
                           "cp.async.cg.shared.global",
                           "tex.2d.v4.f32.s32",
                           "prmt.b32.f4e",
                           "membar.gl",
                           "bra.uni",
                           "ret",
                           "lop3.b32",
                           "match.all.sync.b32"}) {
    EXPECT_EQ(match(text, &m).problem, MatchResult::Problem::kNone) << text;
    EXPECT_FALSE(m.forms.empty()) << text;
  }
}

TEST(Isa, OrderOfWordsIsFreeButTypesKeepTheirs) {
  Mnemonic a, b;
  ASSERT_EQ(match("vote.sync.any.pred", &a).problem, MatchResult::Problem::kNone);
  ASSERT_EQ(match("vote.any.sync.pred", &b).problem, MatchResult::Problem::kNone);
  EXPECT_EQ(a.forms, b.forms);
  ASSERT_EQ(match("cvt.f32.s8", &a).problem, MatchResult::Problem::kNone);
  EXPECT_EQ(a.types[0], Modifier::kF32);
  EXPECT_EQ(a.types[1], Modifier::kS8);
}

TEST(Isa, SaysWhatIsWrong) {
  Mnemonic m;
  EXPECT_EQ(match("foo.bar", &m).problem, MatchResult::Problem::kUnknownName);
  MatchResult r = match("add.bogus.s32", &m);
  EXPECT_EQ(r.problem, MatchResult::Problem::kUnknownModifier);
  EXPECT_EQ(r.word, "bogus");
  r = match("add.ballot.s32", &m);  // a word of PTX, but not of add
  EXPECT_EQ(r.problem, MatchResult::Problem::kUnknownModifier);
  EXPECT_EQ(r.word, "ballot");
  EXPECT_EQ(match("add.ftz.s32", &m).problem, MatchResult::Problem::kNoForm);
  EXPECT_EQ(match("add", &m).problem, MatchResult::Problem::kNoForm);
}

TEST(Isa, EveryRowHasANameAndSaneNumbers) {
  EXPECT_GT(all_forms().size(), 150u);
  for (const Form& form : all_forms()) {
    EXPECT_FALSE(form.name.empty()) << form.text;
    EXPECT_GE(form.version, 10) << form.text;
    EXPECT_LE(form.version, 90) << form.text;
    EXPECT_LE(form.target, 120) << form.text;
    EXPECT_LE(form.groups.size(), 64u) << form.text;
  }
}

}  // namespace
}  // namespace heddle::ptx
