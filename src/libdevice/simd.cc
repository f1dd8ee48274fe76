// Functions on two halfwords or four bytes inside a 32-bit word. Today's compilers expand these in headers; the names
// exist for programs that declare them. Tested by exact_test.cc.
#include "libdevice/core.h"

namespace heddle::libdevice {
namespace {

// Applies op to each lane of width Bits; signed lanes are sign-extended first. The lanes' results are truncated.
template <int Bits, bool Signed, typename Op>
inline int lanes(int a, int b, Op op) {
  u32 result = 0;
  for (int i = 0; i < 32; i += Bits) {
    const u32 mask = (1u << Bits) - 1;
    const u32 ua = (static_cast<u32>(a) >> i) & mask, ub = (static_cast<u32>(b) >> i) & mask;
    const s32 x = Signed ? static_cast<s32>(ua << (32 - Bits)) >> (32 - Bits) : static_cast<s32>(ua);
    const s32 y = Signed ? static_cast<s32>(ub << (32 - Bits)) >> (32 - Bits) : static_cast<s32>(ub);
    result |= (static_cast<u32>(op(x, y)) & mask) << i;
  }
  return static_cast<int>(result);
}

template <int Bits, bool Signed>
inline s32 saturated(s32 v) {
  const s32 high = Signed ? (1 << (Bits - 1)) - 1 : (1 << Bits) - 1;
  const s32 low = Signed ? -(1 << (Bits - 1)) : 0;
  return v < low ? low : v > high ? high : v;
}

template <int Bits, bool Signed>
inline int sum_abs_diff(int a, int b) {
  s32 sum = 0;
  lanes<Bits, Signed>(a, b, [&](s32 x, s32 y) {
    sum += x > y ? x - y : y - x;
    return 0;
  });
  return sum;
}

}  // namespace
}  // namespace heddle::libdevice

using namespace heddle::libdevice;

#define LANES2(name, signed_lanes, expression)                                            \
  HEDDLE_NV(int, name##2)(int a, int b) {                                                 \
    constexpr int kBits = 16;                                                             \
    (void)kBits;                                                                          \
    return lanes<16, signed_lanes>(a, b, [](s32 x, s32 y) -> s32 { return expression; }); \
  }                                                                                       \
  HEDDLE_NV(int, name##4)(int a, int b) {                                                 \
    constexpr int kBits = 8;                                                              \
    (void)kBits;                                                                          \
    return lanes<8, signed_lanes>(a, b, [](s32 x, s32 y) -> s32 { return expression; });  \
  }
#define LANES1(name, expression)                                                \
  HEDDLE_NV(int, name##2)(int a) {                                              \
    constexpr int kBits = 16;                                                   \
    (void)kBits;                                                                \
    return lanes<16, true>(a, 0, [](s32 x, s32) -> s32 { return expression; }); \
  }                                                                             \
  HEDDLE_NV(int, name##4)(int a) {                                              \
    constexpr int kBits = 8;                                                    \
    (void)kBits;                                                                \
    return lanes<8, true>(a, 0, [](s32 x, s32) -> s32 { return expression; });  \
  }
#define COMPARE(name, signed_lanes, op)             \
  LANES2(vcmp##name, signed_lanes, x op y ? -1 : 0) \
  LANES2(vset##name, signed_lanes, x op y ? 1 : 0)

LANES1(vabs, x < 0 ? -x : x)
LANES1(vabsss, (saturated<kBits, true>(x < 0 ? -x : x)))
LANES1(vneg, -x)
LANES1(vnegss, (saturated<kBits, true>(-x)))
LANES2(vabsdiffs, true, x > y ? x - y : y - x)
LANES2(vabsdiffu, false, x > y ? x - y : y - x)
LANES2(vadd, false, x + y)
LANES2(vaddss, true, (saturated<kBits, true>(x + y)))
LANES2(vaddus, false, (saturated<kBits, false>(x + y)))
LANES2(vsub, false, x - y)
LANES2(vsubss, true, (saturated<kBits, true>(x - y)))
LANES2(vsubus, false, (saturated<kBits, false>(x - y)))
// Rounded averages: the signed ones round away from zero at a half.
LANES2(vavgs, true, (x + y + (x + y >= 0)) >> 1)
LANES2(vavgu, false, (x + y + 1) >> 1)
LANES2(vhaddu, false, (x + y) >> 1)
LANES2(vmaxs, true, x > y ? x : y)
LANES2(vmaxu, false, x > y ? x : y)
LANES2(vmins, true, x < y ? x : y)
LANES2(vminu, false, x < y ? x : y)
COMPARE(eq, false, ==)
COMPARE(ne, false, !=)
COMPARE(ges, true, >=)
COMPARE(geu, false, >=)
COMPARE(gts, true, >)
COMPARE(gtu, false, >)
COMPARE(les, true, <=)
COMPARE(leu, false, <=)
COMPARE(lts, true, <)
COMPARE(ltu, false, <)

HEDDLE_NV(int, vsads2)(int a, int b) { return sum_abs_diff<16, true>(a, b); }
HEDDLE_NV(int, vsads4)(int a, int b) { return sum_abs_diff<8, true>(a, b); }
HEDDLE_NV(int, vsadu2)(int a, int b) { return sum_abs_diff<16, false>(a, b); }
HEDDLE_NV(int, vsadu4)(int a, int b) { return sum_abs_diff<8, false>(a, b); }
