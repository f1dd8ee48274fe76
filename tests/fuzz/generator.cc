// How it stays deterministic:
//   - each thread reads its own words of `in` and writes its own words of `out`
//   - barriers, exchanges through shared memory and warp operations come only where all threads of the block come
//     ("converged" code: top level, and branches and loops with uniform conditions), and no thread leaves before
//   - loops count down from a bounded number; gotos go forward or to such a loop's head
//   - f32 operations are those with one right answer bit by bit, and NaNs are made canonical
#include "fuzz/generator.h"

#include <array>
#include <random>

namespace heddle::fuzz {
namespace {

constexpr int kWords = 10;  ///< %r0 ... : live 32-bit values
constexpr int kWides = 4;   ///< %q0 ... : live 64-bit values
constexpr int kPreds = 4;   ///< %p0 ... : live preds

class Generator {
 public:
  Generator(std::uint64_t seed, const Options& options)
      : random_(seed * 0x9e3779b97f4a7c15 + 12345), options_(options) {}

  Kernel run() {
    Kernel kernel;
    static constexpr std::uint32_t kShapes[][3] = {{32, 1, 1}, {64, 1, 1},  {33, 1, 1}, {7, 1, 1},  {16, 16, 1},
                                                   {8, 4, 3},  {128, 1, 1}, {5, 7, 2},  {96, 1, 1}, {1, 1, 1}};
    const auto& shape = kShapes[below(std::size(kShapes))];
    for (int i = 0; i < 3; ++i) kernel.block[i] = shape[i];
    kernel.grid = 1 + below(3);
    threads_ = kernel.threads();
    // Whole warps only: what a shuffle reads from a lane that doesn't exist is undefined.
    warps_ = options_.warps && threads_ % 32 == 0;
    for (int i = static_cast<int>(below(static_cast<std::uint32_t>(options_.statements))) + 5; i > 0; --i)
      statement(0, true);
    kernel.ptx = prologue() + body_ + epilogue();
    return kernel;
  }

 private:
  std::uint32_t below(std::size_t n) { return static_cast<std::uint32_t>(random_() % n); }
  bool chance(int percent) { return below(100) < static_cast<std::uint32_t>(percent); }
  template <std::size_t N>
  const char* pick(const std::array<const char*, N>& names) {
    return names[below(N)];
  }
  void line(const std::string& text) { body_ += "  " + text + ";\n"; }
  void label(const std::string& name) { body_ += name + ":\n"; }
  std::string new_label() { return "L" + std::to_string(labels_++); }
  std::string word() { return "%r" + std::to_string(below(kWords)); }
  std::string wide() { return "%q" + std::to_string(below(kWides)); }
  std::string pred() { return "%p" + std::to_string(below(kPreds)); }
  std::string constant() {
    static constexpr std::array<const char*, 14> kNumbers = {
        "0", "1", "-1", "2", "31", "32", "33", "64", "255", "7", "65536", "0x80000000", "0x7fffffff", "0x55aa1234"};
    return chance(60) ? pick(kNumbers) : std::to_string(static_cast<std::uint32_t>(random_()));
  }
  std::string word_or_constant() { return chance(75) ? word() : constant(); }

  /// A bit position or length inside a word: past it GPUs depart from the manual.
  std::string position(const char* temporary) {
    if (chance(50)) return std::to_string(below(32));
    line("and.b32 " + std::string(temporary) + ", " + word() + ", 31");
    return temporary;
  }

  void statement(int depth, bool converged) {
    const std::uint32_t kind = below(100);
    if (kind < 55 || depth > 3) return pure();
    if (kind < 60 && options_.memory) return memory();
    if (kind < 70 && converged) return exchange();
    if (kind < 76) return wide_operation();
    if (!options_.control) return pure();
    if (kind < 86) return if_else(depth, converged);
    if (kind < 94) return loop(depth, converged);
    if (kind < 97) return forward_goto(depth);
    return switch_by_compares(depth);
  }

  void statements(int depth, bool converged) {
    for (int i = static_cast<int>(below(5)) + 1; i > 0; --i) statement(depth, converged);
  }

  // ---- values
  void pure() {
    const std::string d = word(), a = word(), b = word_or_constant(), c = word_or_constant();
    const std::string guard = chance(15) ? "@" + std::string(chance(50) ? "!" : "") + pred() + " " : "";
    switch (below(options_.floats ? 22 : 15)) {
      case 0:
        return line(
            guard +
            pick(std::array<const char*, 6>{"add.s32 ", "sub.s32 ", "mul.lo.s32 ", "and.b32 ", "or.b32 ", "xor.b32 "}) +
            d + ", " + a + ", " + b);
      case 1:
        return line(guard +
                    pick(std::array<const char*, 8>{"mul.hi.s32 ", "mul.hi.u32 ", "min.s32 ", "max.s32 ", "min.u32 ",
                                                    "max.u32 ", "add.sat.s32 ", "sub.sat.s32 "}) +
                    d + ", " + a + ", " + b);
      case 2:
        return line(guard + pick(std::array<const char*, 4>{"div.u32 ", "div.s32 ", "rem.u32 ", "rem.s32 "}) + d +
                    ", " + a + ", " + b);
      case 3:
        return line(guard + pick(std::array<const char*, 3>{"shl.b32 ", "shr.u32 ", "shr.s32 "}) + d + ", " + a + ", " +
                    b);
      case 4:
        return line(guard + pick(std::array<const char*, 4>{"mad.lo.s32 ", "mad.hi.u32 ", "sad.s32 ", "sad.u32 "}) + d +
                    ", " + a + ", " + b + ", " + c);
      case 5:
        return line(guard +
                    pick(std::array<const char*, 8>{"popc.b32 ", "clz.b32 ", "brev.b32 ", "not.b32 ", "neg.s32 ",
                                                    "abs.s32 ", "cnot.b32 ", "bfind.s32 "}) +
                    d + ", " + a);
      case 6: {
        const std::string from = position("%x0"), count = position("%x1");
        return line(guard + (chance(50) ? "bfe.u32 " : "bfe.s32 ") + d + ", " + a + ", " + from + ", " + count);
      }
      case 7: {
        const std::string from = position("%x0"), count = position("%x1");
        return line("bfi.b32 " + d + ", " + a + ", " + word() + ", " + from + ", " + count);
      }
      case 8: return line("prmt.b32 " + d + ", " + a + ", " + b + ", " + c);
      case 9:
        return line("lop3.b32 " + d + ", " + a + ", " + word() + ", " + word() + ", " + std::to_string(below(256)));
      case 10:
        return line("shf." + std::string(pick(std::array<const char*, 4>{"l.wrap", "l.clamp", "r.wrap", "r.clamp"})) +
                    ".b32 " + d + ", " + a + ", " + word() + ", " + b);
      case 11:
        return line("setp." + std::string(pick(std::array<const char*, 6>{"eq", "ne", "lt", "le", "gt", "ge"})) +
                    (chance(50) ? ".s32 " : ".u32 ") + pred() + ", " + a + ", " + b);
      case 12: return line("selp.b32 " + d + ", " + a + ", " + b + ", " + pred());
      case 13:
        return line(std::string(pick(std::array<const char*, 3>{"and.pred ", "or.pred ", "xor.pred "})) + pred() +
                    ", " + pred() + ", " + pred());
      case 14:
        return line("cvt." +
                    std::string(pick(std::array<const char*, 4>{"s32.s8 ", "u32.u8 ", "s32.s16 ", "u32.u16 "})) + d +
                    ", " + a);
      case 15:
        return float_line(
            guard,
            pick(std::array<const char*, 8>{"add.rn.f32 ", "sub.rn.f32 ", "mul.rn.f32 ", "add.rz.f32 ", "mul.rp.f32 ",
                                            "add.rn.ftz.f32 ", "mul.rn.ftz.f32 ", "add.rm.f32 "}),
            d, a + ", " + word());
      case 16:
        return float_line(
            guard, pick(std::array<const char*, 4>{"fma.rn.f32 ", "fma.rz.f32 ", "fma.rn.ftz.f32 ", "fma.rn.sat.f32 "}),
            d, a + ", " + word() + ", " + word());
      case 17:
        return float_line(guard,
                          pick(std::array<const char*, 6>{"min.f32 ", "max.f32 ", "min.NaN.f32 ", "max.ftz.f32 ",
                                                          "div.rn.f32 ", "div.rz.f32 "}),
                          d, a + ", " + word());
      case 18:
        return float_line(guard,
                          pick(std::array<const char*, 6>{"sqrt.rn.f32 ", "rcp.rn.f32 ", "abs.f32 ", "neg.f32 ",
                                                          "cvt.rmi.f32.f32 ", "cvt.sat.f32.f32 "}),
                          d, a);
      case 19:
        return line(guard +
                    pick(std::array<const char*, 7>{"cvt.rn.f32.s32 ", "cvt.rn.f32.u32 ", "cvt.rzi.s32.f32 ",
                                                    "cvt.rni.u32.f32 ", "cvt.rpi.s32.f32 ", "cvt.rz.f32.s32 ",
                                                    "cvt.rzi.ftz.s32.f32 "}) +
                    d + ", " + a);
      case 20:
        return line("setp." +
                    std::string(pick(std::array<const char*, 8>{"eq", "ne", "lt", "ge", "ltu", "neu", "num", "nan"})) +
                    (chance(30) ? ".ftz.f32 " : ".f32 ") + pred() + ", " + a + ", " + word());
      default:
        line("cvt.rn.f16.f32 %h0, " + a);
        line("cvt.rn.f16.f32 %h1, " + word());
        line(std::string(pick(std::array<const char*, 4>{"add.f16 ", "mul.f16 ", "min.f16 ", "sub.f16 "})) +
             "%h2, %h0, %h1");
        return float_line("", "cvt.f32.f16 ", d, "%h2");
    }
  }

  /// Which NaN comes out is not defined for all operations, so there is one for all.
  void float_line(const std::string& guard, const std::string& operation, const std::string& d,
                  const std::string& operands) {
    line(operation + "%x2, " + operands);
    line("setp.nan.f32 %s0, %x2, %x2");
    line("selp.b32 %x2, 0x7fffffff, %x2, %s0");
    line(guard + "mov.b32 " + d + ", %x2");
  }

  void wide_operation() {
    const std::string d = wide(), a = wide(), b = wide();
    switch (below(8)) {
      case 0:
        return line(std::string(pick(std::array<const char*, 6>{"add.s64 ", "sub.s64 ", "mul.lo.s64 ", "xor.b64 ",
                                                                "and.b64 ", "max.s64 "})) +
                    d + ", " + a + ", " + b);
      case 1:
        return line(
            std::string(pick(std::array<const char*, 4>{"mul.hi.u64 ", "div.u64 ", "rem.s64 ", "mul.hi.s64 "})) + d +
            ", " + a + ", " + b);
      case 2:
        return line(std::string(chance(50) ? "mul.wide.u32 " : "mul.wide.s32 ") + d + ", " + word() + ", " + word());
      case 3:
        return line(std::string(pick(std::array<const char*, 3>{"shl.b64 ", "shr.u64 ", "shr.s64 "})) + d + ", " + a +
                    ", " + word_or_constant());
      case 4: return line("mov.b64 " + d + ", {" + word() + ", " + word() + "}");
      case 5: {
        const std::uint32_t low = below(kWords);
        return line("mov.b64 {%r" + std::to_string(low) + ", %r" + std::to_string((low + 1) % kWords) + "}, " + a);
      }
      case 6:
        return line(std::string(pick(std::array<const char*, 3>{"popc.b64 ", "clz.b64 ", "bfind.u64 "})) + word() +
                    ", " + a);
      default: return line("setp." + std::string(chance(50) ? "lt.s64 " : "hi.u64 ") + pred() + ", " + a + ", " + b);
    }
  }

  // ---- memory that only this thread sees
  void memory() {
    const std::string a = word();
    line("and.b32 %x0, " + word() + ", 28");
    switch (below(4)) {
      case 0:
        line("cvt.u64.u32 %y0, %x0");
        line("add.s64 %y0, %y0, %in");
        return line(chance(50) ? "ld.global.u32 " + a + ", [%y0]" : "ld.global.s16 " + a + ", [%y0+2]");
      case 1: line("add.u32 %x0, %x0, %mine"); return line("st.shared.u32 [%x0], " + a);
      case 2: line("add.u32 %x0, %x0, %mine"); return line("ld.shared.u32 " + a + ", [%x0]");
      default:
        line("cvt.u64.u32 %y0, %x0");
        line("add.s64 %y0, %y0, %out");
        return line("@" + pred() + " st.global.u32 [%y0], " + a);
    }
  }

  // ---- what all threads of the block do together
  void exchange() {
    const std::uint32_t kind = below(8);
    if (kind < 3 && options_.barriers) {
      // Each thread publishes a word, and reads another one's after the barrier; a second barrier keeps the next apart.
      line("st.shared.u32 [%slot], " + word());
      line("bar.sync 0");
      line("add.u32 %x0, %linear, " + std::to_string(below(threads_)));
      line("rem.u32 %x0, %x0, " + std::to_string(threads_));
      line("mad.lo.u32 %x0, %x0, 4, %base");
      line("ld.shared.u32 " + word() + ", [%x0]");
      return line("bar.sync 0");
    }
    if (kind == 3 && options_.barriers) {
      line("bar.red.popc.u32 " + word() + ", 0, " + pred());
      return;
    }
    if (kind == 4 && options_.barriers) {
      line("bar.red." + std::string(chance(50) ? "and" : "or") + ".pred " + pred() + ", 0, " + pred());
      return;
    }
    if (!warps_) return pure();
    const std::string d = word(), a = word();
    switch (below(7)) {
      case 0: return line("shfl.sync.idx.b32 " + d + ", " + a + ", " + word_or_constant() + ", 31, -1");
      case 1:
        return line("shfl.sync.bfly.b32 " + d + "|" + pred() + ", " + a + ", " + std::to_string(below(32)) +
                    ", 31, -1");
      case 2:
        return line("shfl.sync.down.b32 " + d + "|" + pred() + ", " + a + ", " + std::to_string(below(32)) + ", " +
                    (chance(50) ? "31" : "0x1c1f") + ", -1");
      case 3: return line("shfl.sync.up.b32 " + d + ", " + a + ", " + std::to_string(below(32)) + ", 0, -1");
      case 4: return line("vote.sync.ballot.b32 " + d + ", " + pred() + ", -1");
      case 5: line("and.b32 %x0, " + a + ", 3"); return line("match.any.sync.b32 " + d + ", %x0, -1");
      default:
        return line(
            "redux.sync." +
            std::string(pick(std::array<const char*, 5>{"add.s32 ", "min.s32 ", "max.u32 ", "or.b32 ", "xor.b32 "})) +
            d + ", " + a + ", -1");
    }
  }

  /// A pred register that the body can't change, with a condition: uniform over the block, or any.
  std::string condition(bool uniform) {
    const std::string p = "%c" + std::to_string(conditions_++);
    if (uniform) {
      line("and.b32 %x1, %cta, " + std::to_string(1 + below(3)));
      line("setp." + std::string(chance(50) ? "eq" : "ne") + ".u32 " + p + ", %x1, 0");
    } else if (chance(50)) {
      line("setp." + std::string(chance(50) ? "lt.s32 " : "ge.u32 ") + p + ", " + word() + ", " + word_or_constant());
    } else {
      line("and.b32 %x1, %linear, " + std::to_string(1 + below(15)));
      line("setp." + std::string(chance(50) ? "eq" : "gt") + ".u32 " + p + ", %x1, " + std::to_string(below(4)));
    }
    return p;
  }

  void if_else(int depth, bool converged) {
    const bool uniform = converged && chance(40);
    const std::string p = condition(uniform), other = new_label(), end = new_label();
    line("@" + std::string(chance(50) ? "!" : "") + p + " bra " + other);
    statements(depth + 1, uniform);
    const bool has_else = chance(60);
    if (has_else) line("bra " + end);
    label(other);
    if (has_else) {
      statements(depth + 1, uniform);
      label(end);
    }
    if (converged && !uniform && warps_) line("bar.warp.sync -1");
  }

  void loop(int depth, bool converged) {
    const bool uniform = converged && chance(40);
    const std::string n = "%n" + std::to_string(counters_++), head = new_label(), end = new_label();
    if (uniform) {
      line("mov.u32 " + n + ", " + std::to_string(1 + below(4)));
    } else {
      line("and.b32 " + n + ", " + word() + ", 7");  // the trip count differs by lane, and may be zero
    }
    const bool top_test = !uniform;
    label(head);
    if (top_test) {
      line("setp.eq.u32 %c" + std::to_string(conditions_) + ", " + n + ", 0");
      line("@%c" + std::to_string(conditions_++) + " bra " + end);
    }
    line("sub.u32 " + n + ", " + n + ", 1");
    statements(depth + 1, uniform);
    if (!uniform && chance(50)) {  // break, or continue
      const std::string p = condition(false);
      line("@" + p + " bra " + (chance(50) ? end : head));
      statements(depth + 1, false);
    }
    if (top_test) {
      line("bra " + head);
    } else {
      line("setp.ne.u32 %c" + std::to_string(conditions_) + ", " + n + ", 0");
      line("@%c" + std::to_string(conditions_++) + " bra " + head);
    }
    label(end);
    if (converged && !uniform && warps_) line("bar.warp.sync -1");
  }

  /// Two jumps into one place: unstructured, and irreducible together with a loop.
  void forward_goto(int depth) {
    const std::string p = condition(false), q = condition(false), middle = new_label(), end = new_label();
    line("@" + p + " bra " + middle);
    statements(depth + 1, false);
    line("@" + q + " bra " + end);
    statements(depth + 1, false);
    label(middle);
    statements(depth + 1, false);
    label(end);
    if (depth == 0 && warps_) line("bar.warp.sync -1");
  }

  void switch_by_compares(int depth) {
    const std::string end = new_label();
    const std::string index = "%n" + std::to_string(counters_++);
    line("and.b32 " + index + ", " + word() + ", 3");
    const std::string table = "T" + std::to_string(labels_++);
    std::array<std::string, 4> targets;
    for (std::string& target : targets) target = new_label();
    body_ += table + ": .branchtargets " + targets[0] + ", " + targets[1] + ", " + targets[2] + ", " +
             targets[chance(50) ? 3 : 1] + ";\n";
    line("brx.idx " + index + ", " + table);
    for (const std::string& target : targets) {
      label(target);
      statements(depth + 1, false);
      if (chance(70)) line("bra " + end);
    }
    label(end);
    if (depth == 0 && warps_) line("bar.warp.sync -1");
  }

  std::string prologue() const {
    const auto declare = [](const char* type, const char* name, int count) {
      return "  .reg ." + std::string(type) + " %" + name + "<" + std::to_string(count + 1) + ">;\n";
    };
    std::string text = ".version 8.0\n.target sm_80\n.address_size 64\n";
    text += ".shared .align 16 .b8 exchange[" + std::to_string(threads_ * 4) + "];\n";
    text += ".shared .align 16 .b8 private[" + std::to_string(threads_ * 32) + "];\n";
    text += ".visible .entry k(.param .u64 p_in, .param .u64 p_out)\n{\n";
    text += declare("b32", "r", kWords) + declare("b64", "q", kWides) + declare("pred", "p", kPreds) +
            declare("b16", "h", 4);
    text += declare("pred", "s", 1) + declare("pred", "c", conditions_) + declare("b32", "n", counters_) +
            declare("b32", "x", 4) + declare("b64", "y", 4);
    text += "  .reg .b32 %linear, %cta, %mine, %slot, %base;\n  .reg .b64 %in, %out;\n";
    text += R"(  mov.u32 %x0, %tid.z;
  mov.u32 %x1, %ntid.y;
  mov.u32 %x2, %tid.y;
  mad.lo.u32 %x0, %x0, %x1, %x2;
  mov.u32 %x1, %ntid.x;
  mov.u32 %x2, %tid.x;
  mad.lo.u32 %linear, %x0, %x1, %x2;
  mov.u32 %cta, %ctaid.x;
  mov.u32 %base, exchange;
  mad.lo.u32 %slot, %linear, 4, %base;
  mov.u32 %x0, private;
  mad.lo.u32 %mine, %linear, 32, %x0;
)";
    text += "  mad.lo.u32 %x0, %cta, " + std::to_string(threads_) + ", %linear;\n";
    text += R"(  ld.param.u64 %in, [p_in];
  cvta.to.global.u64 %in, %in;
  ld.param.u64 %out, [p_out];
  cvta.to.global.u64 %out, %out;
  mul.wide.u32 %y0, %x0, 32;
  add.s64 %in, %in, %y0;
  add.s64 %out, %out, %y0;
)";
    for (int i = 0; i < 8; ++i)
      text += "  ld.global.u32 %r" + std::to_string(i) + ", [%in+" + std::to_string(4 * i) + "];\n";
    text += "  mov.u32 %r8, %linear;\n  mov.u32 %r9, %cta;\n";
    for (int i = 0; i < 8; ++i)
      text += "  st.shared.u32 [%mine+" + std::to_string(4 * i) + "], %r" + std::to_string(i) + ";\n";
    for (int i = 0; i < kWides; ++i)
      text +=
          "  mov.b64 %q" + std::to_string(i) + ", {%r" + std::to_string(i) + ", %r" + std::to_string(i + 4) + "};\n";
    for (int i = 0; i < kPreds; ++i)
      text +=
          "  setp.lt.u32 %p" + std::to_string(i) + ", %r" + std::to_string(i) + ", %r" + std::to_string(i + 1) + ";\n";
    return text;
  }

  /// Folds all live values into the thread's words of `out`.
  static std::string epilogue() {
    std::string text;
    for (int i = 0; i < kPreds; ++i)
      text += "  selp.u32 %x0, " + std::to_string(1 << i) + ", 0, %p" + std::to_string(i) + ";\n  xor.b32 %r" +
              std::to_string(i) + ", %r" + std::to_string(i) + ", %x0;\n";
    text += "  xor.b32 %r0, %r0, %r8;\n  xor.b32 %r1, %r1, %r9;\n";
    for (int i = 0; i < kWides; ++i)
      text += "  mov.b64 {%x0, %x1}, %q" + std::to_string(i) + ";\n  add.u32 %r" + std::to_string(i + 2) + ", %r" +
              std::to_string(i + 2) + ", %x0;\n  xor.b32 %r" + std::to_string(i + 4) + ", %r" + std::to_string(i + 4) +
              ", %x1;\n";
    for (int i = 0; i < 8; ++i)
      text += "  st.global.u32 [%out+" + std::to_string(4 * i) + "], %r" + std::to_string(i) + ";\n";
    return text + "  ret;\n}\n";
  }

  std::mt19937_64 random_;
  Options options_;
  std::string body_;
  int labels_ = 0, conditions_ = 0, counters_ = 0;
  std::uint32_t threads_ = 32;
  bool warps_ = false;
};

}  // namespace

Kernel generate(std::uint64_t seed, const Options& options) { return Generator(seed, options).run(); }

}  // namespace heddle::fuzz
