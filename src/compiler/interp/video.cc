// The scalar and SIMD video instructions (PTX manual, "Video Instructions"). Tested by interp_test.cc and tests/ptx.
#include "compiler/ir/video.h"

#include <algorithm>

#include "compiler/interp/evaluate.h"

namespace heddle::interp {
namespace {

using ir::VideoForm;
using Operation = VideoForm::Operation;
using Second = VideoForm::Second;

std::int64_t part(std::uint64_t word, int at, int width, bool is_signed) {
  const std::uint64_t bits = word >> at & mask_of(width);
  return is_signed ? sign_extend(bits, width) : static_cast<std::int64_t>(bits);
}

std::int64_t select_scalar(std::uint32_t word, int selector, bool is_signed) {
  if (selector == VideoForm::kWord) return part(word, 0, 32, is_signed);
  if (selector >= VideoForm::kHalf0) return part(word, 16 * (selector - VideoForm::kHalf0), 16, is_signed);
  return part(word, 8 * selector, 8, is_signed);
}

std::int64_t saturate(std::int64_t value, int width, bool is_signed) {
  const std::int64_t most = is_signed ? (1ll << (width - 1)) - 1 : (1ll << width) - 1;
  const std::int64_t least = is_signed ? -(1ll << (width - 1)) : 0;
  return std::clamp(value, least, most);
}

bool compares(VideoForm::Comparison comparison, std::int64_t a, std::int64_t b) {
  switch (comparison) {
    case VideoForm::Comparison::kEq: return a == b;
    case VideoForm::Comparison::kNe: return a != b;
    case VideoForm::Comparison::kLt: return a < b;
    case VideoForm::Comparison::kLe: return a <= b;
    case VideoForm::Comparison::kGt: return a > b;
    case VideoForm::Comparison::kGe: return a >= b;
  }
  return false;
}

std::int64_t compute(const VideoForm& form, std::int64_t a, std::int64_t b, std::int64_t c) {
  switch (form.operation) {
    case Operation::kAdd: return a + b;
    case Operation::kSub: return a - b;
    case Operation::kAbsDiff: return a < b ? b - a : a - b;
    case Operation::kMin: return std::min(a, b);
    case Operation::kMax: return std::max(a, b);
    case Operation::kAvrg: return a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1;
    case Operation::kSet: return compares(form.compare, a, b);
    case Operation::kShl:
    case Operation::kShr: {
      const auto amount = static_cast<std::uint32_t>(b);
      const std::uint32_t n = form.wrap ? amount & 31 : std::min(amount, 32u);
      return form.operation == Operation::kShl ? static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << n) : a >> n;
    }
    case Operation::kMad: {
      std::int64_t product = a * b;
      if (form.negate_a != form.negate_b) product = -product;
      std::int64_t sum = product + (form.negate_c ? -c : c) + (form.plus_one ? 1 : 0);
      return sum >> form.shift;
    }
  }
  return 0;
}

std::uint32_t scalar(const VideoForm& form, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const std::int64_t x = select_scalar(a, form.asel[0], form.a_signed),
                     y = select_scalar(b, form.bsel[0], form.b_signed);
  const std::int64_t z = form.d_signed ? static_cast<std::int32_t>(c) : std::int64_t{c};
  std::int64_t value = compute(form, x, y, z);
  const int width = form.second != Second::kMerge || form.dsel == VideoForm::kWord ? 32 : form.dsel < 4 ? 8 : 16;
  if (form.sat) value = saturate(value, width, form.d_signed);
  const auto word = static_cast<std::uint32_t>(value);
  const auto by_sign = [&](std::uint32_t w) { return form.d_signed ? static_cast<std::int32_t>(w) : std::int64_t{w}; };
  switch (form.second) {
    case Second::kNone: return word;
    case Second::kMerge: {
      const int at = form.dsel == VideoForm::kWord ? 0
                     : form.dsel < 4               ? 8 * form.dsel
                                                   : 16 * (form.dsel - VideoForm::kHalf0);
      const auto mask = static_cast<std::uint32_t>(mask_of(width) << at);
      return (c & ~mask) | (word << at & mask);
    }
    case Second::kAdd: return word + c;
    case Second::kMin: return static_cast<std::uint32_t>(std::min(by_sign(word), z));
    case Second::kMax: return static_cast<std::uint32_t>(std::max(by_sign(word), z));
  }
  return word;
}

std::uint32_t simd(const VideoForm& form, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const std::uint64_t pair = std::uint64_t{b} << 32 | a;
  const int width = 32 / form.lanes;
  const bool accumulate = form.second == Second::kAdd;
  std::uint32_t result = c;
  for (int lane = 0; lane < form.lanes; ++lane) {
    if (!(form.mask >> lane & 1)) continue;
    std::int64_t value = compute(form, part(pair, width * form.asel[lane], width, form.a_signed),
                                 part(pair, width * form.bsel[lane], width, form.b_signed), 0);
    if (form.sat) value = saturate(value, width, form.d_signed);
    if (accumulate) {
      // Lanes are cut to their width, then extended by the result's type.
      result +=
          static_cast<std::uint32_t>(form.sat ? value : part(static_cast<std::uint64_t>(value), 0, 32, form.d_signed));
    } else {
      const auto mask = static_cast<std::uint32_t>(mask_of(width) << (width * lane));
      result = (result & ~mask) | (static_cast<std::uint32_t>(value) << (width * lane) & mask);
    }
  }
  return result;
}

}  // namespace

std::uint32_t evaluate_video(std::uint64_t packed, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const VideoForm form = VideoForm::unpack(packed);
  return form.lanes == 1 ? scalar(form, a, b, c) : simd(form, a, b, c);
}

}  // namespace heddle::interp
