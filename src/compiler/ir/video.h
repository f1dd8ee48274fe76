// The form of one Op::Video instruction (PTX's scalar video instructions vadd ... vset and SIMD ones vadd2, vadd4 ...),
// packed into Inst::imm. All take (a, b, c) and give a b32; c is a zero constant where PTX has no third operand.
//
//   scalar (lanes 1): take a part of a and of b, compute, saturate to the part that `dsel` names (or the word), then
//     merge into c at `dsel`, or combine with c by `second`
//   SIMD (lanes 2, 4): selectors pick halves 0-3 or bytes 0-7 of the pair b:a (b is the upper one); lanes outside
//     `mask` are taken from c; with second == kAdd the masked lanes are summed and added to c instead
//
// The parser fills it in (defaults included), the engines read it; compiler/ir/verify_test.cc tests the packing.
#pragma once

#include <cstdint>
#include <type_traits>

namespace heddle::ir {

struct VideoForm {
  enum class Operation : std::uint8_t { kAdd, kSub, kAbsDiff, kMin, kMax, kShl, kShr, kMad, kSet, kAvrg };
  enum class Second : std::uint8_t { kNone, kMerge, kAdd, kMin, kMax };
  enum class Comparison : std::uint8_t { kEq, kNe, kLt, kLe, kGt, kGe };
  /// Selectors of scalar forms: 0-3 a byte, 4 the lower and 5 the upper half, 7 the word.
  static constexpr std::uint8_t kHalf0 = 4, kHalf1 = 5, kWord = 7;

  Operation operation = Operation::kAdd;
  std::uint8_t lanes = 1;  ///< 1, 2 or 4
  bool a_signed = false, b_signed = false, d_signed = false;
  bool sat = false;
  bool wrap = false;                                          ///< shifts: .wrap, else .clamp
  bool plus_one = false;                                      ///< vmad .po
  bool negate_a = false, negate_b = false, negate_c = false;  ///< vmad: negated operands
  std::uint8_t shift = 0;                                     ///< vmad scale: 0, 7 or 15
  Comparison compare = Comparison::kEq;                       ///< vset
  Second second = Second::kNone;
  std::uint8_t asel[4] = {kWord, 0, 0, 0};  ///< lane i's selector; lane 0 is the lowest (SIMD default: h10, b3210)
  std::uint8_t bsel[4] = {kWord, 0, 0, 0};  ///< (SIMD default: h32, b7654)
  std::uint8_t dsel = kWord;                ///< scalar: where the result goes with second == kMerge
  std::uint8_t mask = 0xf;                  ///< SIMD: bit i: lane i is written

  std::uint64_t pack() const {
    std::uint64_t bits = 0;
    int at = 0;
    for_each_field(*this, [&](std::uint64_t value, int width, auto&&) {
      bits |= (value & ((1ull << width) - 1)) << at;
      at += width;
    });
    return bits;
  }
  static VideoForm unpack(std::uint64_t bits) {
    VideoForm form;
    int at = 0;
    for_each_field(form, [&](std::uint64_t, int width, auto&& set) {
      set((bits >> at) & ((1ull << width) - 1));
      at += width;
    });
    return form;
  }

 private:
  /// Calls f(value, bits, setter) for each field in order: the layout of the packed form, stated once (63 bits).
  template <class Form, class F>
  static void for_each_field(Form& form, F&& f) {
    auto field = [&](auto& member, int width) {
      f(static_cast<std::uint64_t>(member), width, [&](std::uint64_t value) {
        using Member = std::remove_cvref_t<decltype(member)>;
        if constexpr (!std::is_const_v<std::remove_reference_t<decltype(member)>>) member = static_cast<Member>(value);
      });
    };
    field(form.operation, 4);
    field(form.lanes, 3);
    field(form.a_signed, 1);
    field(form.b_signed, 1);
    field(form.d_signed, 1);
    field(form.sat, 1);
    field(form.wrap, 1);
    field(form.plus_one, 1);
    field(form.negate_a, 1);
    field(form.negate_b, 1);
    field(form.negate_c, 1);
    field(form.shift, 4);
    field(form.compare, 3);
    field(form.second, 3);
    for (auto& selector : form.asel) field(selector, 3);
    for (auto& selector : form.bsel) field(selector, 3);
    field(form.dsel, 3);
    field(form.mask, 4);
  }
};

}  // namespace heddle::ir
