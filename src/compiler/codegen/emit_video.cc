// Video instructions: arithmetic on bytes and halves of words (ir/video.h has their form). Judged by tests/ptx.
#include "compiler/codegen/emit_pure_detail.h"
#include "compiler/ir/video.h"

namespace heddle::codegen {
namespace {

using Form = ir::VideoForm;

/// Works on 64-bit values, in which no intermediate result of 32-bit operands overflows.
class VideoEmitter {
 public:
  VideoEmitter(LaneBuilder& lane, const Form& form) : lane_(lane), b_(lane.b), form_(form) {}

  Value* scalar(std::span<Value* const> x) {
    Value* a = scalar_part(x[0], form_.asel[0], form_.a_signed);
    Value* c = scalar_part(x[1], form_.bsel[0], form_.b_signed);
    Value* d = operate(a, c, x[2], 32);
    unsigned bits = 32, at = 0;
    if (form_.second == Form::Second::kMerge) {
      if (form_.dsel < 4) {
        bits = 8;
        at = 8u * form_.dsel;
      } else if (form_.dsel < Form::kWord) {
        bits = 16;
        at = form_.dsel == Form::kHalf1 ? 16 : 0;
      }
    }
    if (form_.sat) d = clamp(d, bits);
    switch (form_.second) {
      case Form::Second::kNone: return lane_.zext(d, 32);
      case Form::Second::kMerge: {
        const std::uint32_t mask = (bits == 32 ? ~0u : (1u << bits) - 1) << at;
        Value* placed = b_.CreateShl(lane_.zext(d, 32), lane_.int_const(32, at));
        return b_.CreateOr(b_.CreateAnd(placed, lane_.int_const(32, mask)),
                           b_.CreateAnd(x[2], lane_.int_const(32, ~mask)));
      }
      case Form::Second::kAdd: return b_.CreateAdd(lane_.zext(d, 32), x[2]);
      case Form::Second::kMin:
      case Form::Second::kMax: {
        Value* third = form_.d_signed ? lane_.sext(x[2], 64) : lane_.zext(x[2], 64);
        Value* word = lane_.zext(d, 32);
        Value* first = form_.d_signed ? lane_.sext(word, 64) : lane_.zext(word, 64);
        return lane_.zext(extreme(first, third, form_.second == Form::Second::kMax), 32);
      }
    }
    return nullptr;
  }

  Value* simd(std::span<Value* const> x) {
    const unsigned width = 32 / form_.lanes;
    Value* pair = b_.CreateOr(b_.CreateShl(lane_.zext(x[1], 64), lane_.int_const(64, 32)), lane_.zext(x[0], 64));
    Value* sum = lane_.zext(x[2], 64);
    Value* word = lane_.int_const(32, 0);
    const std::uint32_t part_mask = (1u << width) - 1;
    for (unsigned i = 0; i < form_.lanes; ++i) {
      if (!(form_.mask >> i & 1)) {
        word = b_.CreateOr(word, b_.CreateAnd(x[2], lane_.int_const(32, part_mask << (i * width))));
        continue;
      }
      Value* a = field(pair, form_.asel[i] * width, width, form_.a_signed);
      Value* c = field(pair, form_.bsel[i] * width, width, form_.b_signed);
      Value* d = operate(a, c, nullptr, width);
      if (form_.sat) d = clamp(d, width);
      if (form_.second == Form::Second::kAdd) {
        sum = b_.CreateAdd(sum, d);
        continue;
      }
      Value* part = b_.CreateAnd(lane_.zext(d, 32), lane_.int_const(32, part_mask));
      word = b_.CreateOr(word, b_.CreateShl(part, lane_.int_const(32, i * width)));
    }
    return form_.second == Form::Second::kAdd ? lane_.zext(sum, 32) : word;
  }

 private:
  Value* field(Value* wide, unsigned at, unsigned width, bool is_signed) {
    Value* moved = b_.CreateShl(wide, lane_.int_const(64, 64 - width - at));
    Value* amount = lane_.int_const(64, 64 - width);
    return is_signed ? b_.CreateAShr(moved, amount) : b_.CreateLShr(moved, amount);
  }
  Value* scalar_part(Value* word, std::uint8_t selector, bool is_signed) {
    Value* wide = lane_.zext(word, 64);
    if (selector < 4) return field(wide, 8u * selector, 8, is_signed);
    if (selector < Form::kWord) return field(wide, selector == Form::kHalf1 ? 16 : 0, 16, is_signed);
    return field(wide, 0, 32, is_signed);
  }
  Value* extreme(Value* a, Value* b, bool is_max) {
    return lane_.intrinsic(is_max ? llvm::Intrinsic::smax : llvm::Intrinsic::smin, {a, b});
  }
  Value* clamp(Value* x, unsigned bits) {
    const std::int64_t high = form_.d_signed ? (std::int64_t{1} << (bits - 1)) - 1 : (std::int64_t{1} << bits) - 1;
    const std::int64_t low = form_.d_signed ? -(std::int64_t{1} << (bits - 1)) : 0;
    Value* below = extreme(x, lane_.int_const(64, static_cast<std::uint64_t>(high)), false);
    return extreme(below, lane_.int_const(64, static_cast<std::uint64_t>(low)), true);
  }
  Value* operate(Value* a, Value* c, Value* third, unsigned width) {
    switch (form_.operation) {
      case Form::Operation::kAdd: return b_.CreateAdd(a, c);
      case Form::Operation::kSub: return b_.CreateSub(a, c);
      case Form::Operation::kAbsDiff:
        return b_.CreateIntrinsic(llvm::Intrinsic::abs, {a->getType()}, {b_.CreateSub(a, c), b_.getFalse()});
      case Form::Operation::kMin: return extreme(a, c, false);
      case Form::Operation::kMax: return extreme(a, c, true);
      case Form::Operation::kAvrg: {
        // Rounded away from zero, so that the average of a and -a is zero and signs are treated alike.
        Value* sum = b_.CreateAdd(a, c);
        Value* negative = b_.CreateICmpSLT(sum, lane_.int_const(64, 0));
        Value* rounded = b_.CreateAdd(sum, b_.CreateSelect(negative, lane_.int_const(64, 0), lane_.int_const(64, 1)));
        return b_.CreateAShr(rounded, lane_.int_const(64, 1));
      }
      case Form::Operation::kShl:
      case Form::Operation::kShr: {
        Value* amount = c;
        Value* limit = lane_.int_const(64, width);
        if (form_.wrap)
          amount = b_.CreateAnd(amount, lane_.int_const(64, width - 1));
        else
          amount = b_.CreateSelect(b_.CreateICmpULT(amount, limit), amount, limit);
        if (form_.operation == Form::Operation::kShl) return b_.CreateShl(a, amount);
        return b_.CreateAShr(a, amount);  // a is already extended by its own sign
      }
      case Form::Operation::kMad: {
        Value* product = b_.CreateMul(a, c);
        if (form_.negate_a != form_.negate_b) product = b_.CreateNeg(product);
        const bool is_signed = form_.a_signed || form_.b_signed || form_.negate_a || form_.negate_b || form_.negate_c;
        Value* addend = is_signed ? lane_.sext(third, 64) : lane_.zext(third, 64);
        if (form_.negate_c) addend = b_.CreateNeg(addend);
        Value* sum = b_.CreateAdd(product, addend);
        if (form_.plus_one) sum = b_.CreateAdd(sum, lane_.int_const(64, 1));
        return form_.shift ? b_.CreateAShr(sum, lane_.int_const(64, form_.shift)) : sum;
      }
      case Form::Operation::kSet: {
        Value* holds = nullptr;
        switch (form_.compare) {
          case Form::Comparison::kEq: holds = b_.CreateICmpEQ(a, c); break;
          case Form::Comparison::kNe: holds = b_.CreateICmpNE(a, c); break;
          case Form::Comparison::kLt: holds = b_.CreateICmpSLT(a, c); break;
          case Form::Comparison::kLe: holds = b_.CreateICmpSLE(a, c); break;
          case Form::Comparison::kGt: holds = b_.CreateICmpSGT(a, c); break;
          case Form::Comparison::kGe: holds = b_.CreateICmpSGE(a, c); break;
        }
        return lane_.zext(holds, 64);
      }
    }
    return nullptr;
  }

  LaneBuilder& lane_;
  llvm::IRBuilder<>& b_;
  const Form& form_;
};

}  // namespace

Value* emit_video(LaneBuilder& lane, const ir::Inst& inst, std::span<Value* const> operands) {
  const Form form = Form::unpack(inst.imm);
  VideoEmitter emitter(lane, form);
  return form.lanes == 1 ? emitter.scalar(operands) : emitter.simd(operands);
}

}  // namespace heddle::codegen
