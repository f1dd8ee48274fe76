"""The kernels of this folder that are not element-wise: memory, control flow, warps, barriers. Called by generate.py."""
import random

WIDTH = {"u8": 8, "s8": 8, "u16": 16, "s16": 16, "u32": 32, "s32": 32, "b32": 32, "f32": 32, "u64": 64, "s64": 64, "f64": 64,
         "f16": 16, "bf16": 16, "f16x2": 32, "b16": 16, "b64": 64}


def hex_lines(type_name, numbers):
    digits = WIDTH[type_name] // 4
    per_line = 128 // (digits + 1)
    words = [f"{n & ((1 << WIDTH[type_name]) - 1):0{digits}x}" for n in numbers]
    return ["//   " + " ".join(words[i:i + per_line]) for i in range(0, len(words), per_line)]


PROLOGUE = """  .reg .pred %p<16>;
  .reg .b16 %h<16>;
  .reg .b32 %r<64>;
  .reg .b64 %q<32>;
  .reg .b32 %tx, %lane, %cx, %nx, %i;
  .reg .b64 %offset;
  mov.u32 %tx, %tid.x;
  mov.u32 %lane, %laneid;
  mov.u32 %cx, %ctaid.x;
  mov.u32 %nx, %ntid.x;
  mad.lo.s32 %i, %cx, %nx, %tx;
  mul.wide.u32 %offset, %i, 4;"""


class Kernel:
    """buffers: (kind, name, type, count or values or bits, rule). Each buffer's global address is in %NAME."""

    def __init__(self, write, name, title, run, buffers, body, version="7.8", target="sm_80", module="", entry=""):
        lines = [f"// {title}", f"// run: k {run}"]
        for kind, buffer, type_name, what, *rule in buffers:
            rule = rule[0] if rule else "exact"
            if kind == "out":
                lines.append(f"// out {buffer}: {type_name} {what} {rule}")
            elif kind == "scalar":
                lines.append(f"// scalar {buffer}: {type_name} {what:0{WIDTH[type_name] // 4}x}")
            else:
                lines.append(f"// {kind} {buffer}: {type_name}" + (f" {rule}" if kind == "inout" else ""))
                lines += hex_lines(type_name, what)
        lines += [f".version {version}", f".target {target}", ".address_size 64"]
        lines += [module.strip()] if module else []
        parameters = [f".param .{'b' + str(WIDTH[t]) if kind == 'scalar' else 'u64'} p_{b}" for kind, b, t, *_ in buffers]
        lines.append(f".visible .entry k({', '.join(parameters)}) {entry}".rstrip())
        lines += ["{", PROLOGUE]
        for kind, buffer, type_name, *_ in buffers:
            if kind == "scalar":
                lines += [f"  .reg .b{WIDTH[type_name]} %{buffer};", f"  ld.param.b{WIDTH[type_name]} %{buffer}, [p_{buffer}];"]
            else:
                lines += [f"  .reg .b64 %{buffer};", f"  ld.param.u64 %{buffer}, [p_{buffer}];",
                          f"  cvta.to.global.u64 %{buffer}, %{buffer};"]
        lines += ["  " + line.strip() for line in body.strip().splitlines()]
        lines += ["  ret;", "}", ""]
        write(name, "\n".join(lines))


def store(register, buffer="d", type_name="u32"):
    """d[i] = register for 32-bit elements."""
    return f"add.s64 %q31, %{buffer}, %offset;\nst.global.{type_name} [%q31], {register};\n"


def load(register, buffer="a", type_name="u32"):
    return f"add.s64 %q30, %{buffer}, %offset;\nld.global.{type_name} {register}, [%q30];\n"


def write_all(write):
    rng = random.Random(77)

    def k(*arguments, **named):
        Kernel(write, *arguments, **named)

    words = [rng.getrandbits(32) for _ in range(64)]
    small = [rng.randrange(40) for _ in range(64)]
    memory(k, rng, words)
    atomics(k, rng)
    warps(k, rng, words, small)
    control(k, rng, small)
    barriers(k, rng, words)


def memory(k, rng, words):
    k("ld_narrow", "loads and stores of 8 and 16 bits into wider registers, both extensions", "grid 1 block 32",
      [("in", "a", "u32", words), ("out", "d", "u32", 32), ("out", "e", "u32", 32), ("out", "f", "u32", 32), ("inout", "g", "u8", [7] * 64)],
      """cvt.u64.u32 %q0, %tx;
      add.s64 %q1, %a, %q0;
      ld.global.u8 %r0, [%q1];
      ld.global.s8 %r1, [%q1+1];
      ld.global.u8 %h0, [%q1+2];
      ld.global.s8 %h1, [%q1+3];
      cvt.u32.u16 %r2, %h0;
      cvt.s32.s16 %r3, %h1;
      mad.lo.s32 %r4, %r0, 1000, %r1;
      mad.lo.s32 %r5, %r2, 1000, %r3;
      """ + store("%r4") + store("%r5", "e") +
      """mul.wide.u32 %q2, %tx, 2;
      add.s64 %q3, %a, %q2;
      ld.global.u16 %r6, [%q3];
      ld.global.s16 %r7, [%q3];
      xor.b32 %r8, %r6, %r7;
      """ + store("%r8", "f") +
      """add.s64 %q4, %g, %q0;
      st.global.u8 [%q4], %r4;
      st.global.b8 [%q4+32], %h1;""")
    k("ld_vector", "vector loads and stores: v2, v4 of 16, 32, 64 bits", "grid 1 block 8",
      [("in", "a", "u32", words), ("out", "d", "u32", 64)],
      """mul.wide.u32 %q0, %tx, 16;
      add.s64 %q1, %a, %q0;
      add.s64 %q2, %d, %q0;
      ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%q1];
      ld.global.v2.u64 {%q3, %q4}, [%q1];
      ld.global.v2.u32 {%r4, %r5}, [%q1+8];
      ld.global.v4.u16 {%h0, %h1, %h2, %h3}, [%q1];
      add.s32 %r0, %r0, %r5;
      add.s32 %r3, %r3, %r4;
      st.global.v4.u32 [%q2], {%r3, %r2, %r1, %r0};
      add.s64 %q3, %q3, %q4;
      mov.b64 %q5, {%h3, %h1, %h2, %h0};
      st.global.v2.u64 [%q2+128], {%q3, %q5};""")
    k("ld_modifiers", "volatile, relaxed, acquire, cached and non-coherent loads and stores, prefetch", "grid 1 block 32",
      [("in", "a", "u32", words), ("inout", "d", "u32", [0] * 32)],
      """add.s64 %q0, %a, %offset;
      add.s64 %q1, %d, %offset;
      ld.global.nc.u32 %r0, [%q0];
      ld.volatile.global.u32 %r1, [%q0];
      ld.relaxed.gpu.global.u32 %r2, [%q0];
      ld.acquire.sys.global.u32 %r3, [%q0];
      ld.global.ca.u32 %r4, [%q0];
      ld.global.cg.u32 %r5, [%q0+4];
      ld.global.cs.u32 %r6, [%q0+8];
      ld.global.L1::no_allocate.u32 %r7, [%q0];
      prefetch.global.L2 [%q0];
      add.s32 %r8, %r0, %r1;
      add.s32 %r8, %r8, %r2;
      add.s32 %r8, %r8, %r3;
      add.s32 %r8, %r8, %r4;
      add.s32 %r8, %r8, %r5;
      add.s32 %r8, %r8, %r6;
      add.s32 %r8, %r8, %r7;
      st.relaxed.gpu.global.u32 [%q1], %r8;
      ld.volatile.global.u32 %r9, [%q1];
      add.s32 %r9, %r9, 1;
      st.release.gpu.global.u32 [%q1], %r9;
      membar.gl;
      fence.acq_rel.gpu;""")
    k("ld_generic", "generic addresses of shared, local, global and parameter memory; isspacep", "grid 1 block 32",
      [("in", "a", "u32", words), ("out", "d", "u32", 32), ("out", "e", "u32", 32)],
      """.shared .align 4 .b8 buffer[128];
      .local .align 8 .b8 stack[16];
      mul.lo.s32 %r0, %tx, 4;
      mov.u32 %r1, buffer;
      add.s32 %r1, %r1, %r0;
      cvt.u64.u32 %q0, %r1;
      cvta.shared.u64 %q1, %q0;
      mov.u64 %q2, stack;
      cvta.local.u64 %q3, %q2;
      cvta.global.u64 %q4, %a;
      add.s64 %q4, %q4, %offset;
      ld.u32 %r2, [%q4];
      st.u32 [%q1], %r2;
      st.u32 [%q3+4], %r2;
      ld.shared.u32 %r3, [%r1];
      ld.local.u32 %r4, [stack+4];
      add.s32 %r5, %r3, %r4;
      """ + store("%r5") +
      """isspacep.shared %p0, %q1;
      isspacep.local %p1, %q3;
      isspacep.global %p2, %q4;
      isspacep.shared %p3, %q3;
      isspacep.global %p4, %q1;
      isspacep.local %p5, %q4;
      selp.u32 %r6, 1, 0, %p0;
      selp.u32 %r7, 2, 0, %p1;
      selp.u32 %r8, 4, 0, %p2;
      selp.u32 %r9, 8, 0, %p3;
      selp.u32 %r10, 16, 0, %p4;
      selp.u32 %r11, 32, 0, %p5;
      or.b32 %r6, %r6, %r7;
      or.b32 %r6, %r6, %r8;
      or.b32 %r6, %r6, %r9;
      or.b32 %r6, %r6, %r10;
      or.b32 %r6, %r6, %r11;
      cvta.to.shared.u64 %q5, %q1;
      setp.eq.u64 %p6, %q5, %q0;
      selp.u32 %r12, 64, 0, %p6;
      or.b32 %r6, %r6, %r12;
      """ + store("%r6", "e"))
    k("ld_const", "constant memory and initialised global arrays, by name, by address and by index", "grid 1 block 16",
      [("out", "d", "u32", 16), ("out", "e", "u32", 16)],
      """mul.lo.s32 %r0, %tx, 4;
      cvt.u64.u32 %q0, %r0;
      mov.u64 %q1, table;
      add.s64 %q2, %q1, %q0;
      ld.const.u32 %r1, [%q2];
      ld.const.u32 %r2, [table+12];
      mov.u64 %q3, pointers;
      ld.global.u64 %q4, [pointers];
      add.s64 %q4, %q4, %q0;
      ld.u32 %r3, [%q4];
      ld.global.f32 %r4, [number];
      ld.global.u8 %r5, [bytes+2];
      add.s32 %r6, %r1, %r2;
      """ + store("%r6") + "add.s32 %r7, %r3, %r4;\nadd.s32 %r7, %r7, %r5;\n" + store("%r7", "e"),
      module=""".const .align 4 .u32 table[16] = {1, 22, 333, 4444, 5, 66, 777, 8888, 9, 1010, 11, 12, 13, 14, 15, 16};
.global .align 4 .u32 words[16] = {100, 200, 300, 400, 500, 600, 700, 800, 900};
.global .align 8 .u64 pointers[1] = {generic(words)};
.global .align 4 .f32 number = 0f40490FDB;
.global .align 1 .b8 bytes[4] = {1, 2, 250, 4};""")
    k("ld_local", "local arrays indexed at run time", "grid 1 block 32", [("in", "a", "u32", words[:32]), ("out", "d", "u32", 32)],
      """.local .align 4 .b8 array[64];
      """ + load("%r0") + """
      mov.u64 %q0, array;
      mov.u32 %r1, 0;
      FILL:
      mul.wide.u32 %q1, %r1, 4;
      add.s64 %q2, %q0, %q1;
      mad.lo.s32 %r2, %r1, 17, %r0;
      st.local.u32 [%q2], %r2;
      add.s32 %r1, %r1, 1;
      setp.lt.u32 %p0, %r1, 16;
      @%p0 bra FILL;
      and.b32 %r3, %r0, 15;
      mul.wide.u32 %q3, %r3, 4;
      add.s64 %q4, %q0, %q3;
      ld.local.u32 %r4, [%q4];
      ld.local.u32 %r5, [array+20];
      xor.b32 %r6, %r4, %r5;
      """ + store("%r6"))
    k("shared_dynamic", "static and dynamic shared memory side by side", "grid 2 block 64 shared 512",
      [("in", "a", "u32", words + words), ("out", "d", "u32", 128)],
      load("%r0") + """
      mul.lo.s32 %r1, %tx, 4;
      mov.u32 %r2, dynamic;
      add.s32 %r3, %r2, %r1;
      mov.u32 %r4, fixed;
      add.s32 %r5, %r4, %r1;
      st.shared.u32 [%r3], %r0;
      st.shared.u32 [%r3+256], %tx;
      not.b32 %r6, %r0;
      st.shared.u32 [%r5], %r6;
      bar.sync 0;
      xor.b32 %r7, %r1, 252;
      add.s32 %r8, %r2, %r7;
      ld.shared.u32 %r9, [%r8];
      ld.shared.u32 %r10, [%r8+256];
      add.s32 %r11, %r4, %r7;
      ld.shared.u32 %r12, [%r11];
      add.s32 %r9, %r9, %r10;
      mad.lo.s32 %r9, %r12, 3, %r9;
      """ + store("%r9"), module=""".extern .shared .align 16 .b8 dynamic[];
.shared .align 4 .b8 fixed[256];""")
    k("param_struct", "a struct passed by value, read by parts and through its address", "grid 1 block 4",
      [("scalar", "x", "u64", 0x1122334455667788), ("scalar", "y", "u16", 0xBEEF), ("scalar", "z", "f32", 0x40490FDB), ("out", "d", "u32", 4)],
      """ld.param.u8 %r0, [p_x+3];
      ld.param.s16 %r1, [p_x+6];
      ld.param.u32 %r2, [p_x+4];
      cvt.u32.u16 %r3, %y;
      add.s32 %r4, %r0, %r1;
      add.s32 %r4, %r4, %r2;
      add.s32 %r4, %r4, %r3;
      add.s32 %r4, %r4, %z;
      """ + store("%r4"))
    k("cp_async", "cp.async of 4, 8, 16 bytes with and without zero fill", "grid 1 block 16",
      [("in", "a", "u32", words), ("out", "d", "u32", 64)],
      """.shared .align 16 .b8 buffer[256];
      mul.lo.s32 %r0, %tx, 16;
      mov.u32 %r1, buffer;
      add.s32 %r2, %r1, %r0;
      mul.wide.u32 %q0, %tx, 16;
      add.s64 %q1, %a, %q0;
      rem.u32 %r3, %tx, 3;
      setp.eq.u32 %p0, %r3, 0;
      setp.eq.u32 %p1, %r3, 1;
      @%p0 cp.async.cg.shared.global [%r2], [%q1], 16;
      @%p1 cp.async.ca.shared.global [%r2], [%q1], 8, 4;
      @%p1 cp.async.ca.shared.global [%r2+8], [%q1+8], 8;
      or.pred %p2, %p0, %p1;
      @!%p2 cp.async.cg.shared.global [%r2], [%q1], 16, 0;
      cp.async.commit_group;
      cp.async.wait_group 0;
      bar.sync 0;
      xor.b32 %r4, %r0, 240;
      add.s32 %r5, %r1, %r4;
      ld.shared.v4.u32 {%r6, %r7, %r8, %r9}, [%r5];
      add.s64 %q2, %d, %q0;
      st.global.v4.u32 [%q2], {%r6, %r7, %r8, %r9};""")


def atomics(k, rng):
    ops = {"u32": ("add", "min", "max", "and", "or", "xor", "inc", "dec", "exch"), "s32": ("add", "min", "max"),
           "u64": ("add", "min", "max", "and", "or", "xor", "exch"), "s64": ("min", "max")}
    for t, names in ops.items():
        width = WIDTH[t]
        count = len(names)
        values = [rng.getrandbits(width) for _ in range(32)]
        values[:4] = [0, 1, (1 << width) - 1, 1 << (width - 1)]
        letter = "r" if width == 32 else "q"
        lines = f"mul.wide.u32 %q0, %tx, {width // 8};\nadd.s64 %q1, %a, %q0;\nld.global.b{width} %{letter}8, [%q1];\n"
        for i, op in enumerate(names):
            type_name = f"b{width}" if op in ("and", "or", "xor", "exch") else t
            lines += f"add.s64 %q2, %m, {i * 32 * width // 8};\nadd.s64 %q2, %q2, %q0;\n"
            lines += f"atom.global.{op}.{type_name} %{letter}9, [%q2], %{letter}8;\n"
            lines += f"add.s64 %q3, %d, {i * 32 * width // 8};\nadd.s64 %q3, %q3, %q0;\nst.global.b{width} [%q3], %{letter}9;\n"
        initial = [rng.getrandbits(width) for _ in range(32 * count)]
        for i in range(count):
            initial[i * 32:i * 32 + 4] = [0, (1 << width) - 1, 1, 5]
        k(f"atom_{t}", f"atom.global of {t}, one address per lane: {' '.join(names)}", "grid 1 block 32",
          [("in", "a", t, values), ("inout", "m", t, initial), ("out", "d", t, 32 * count)], lines)
    k("atom_reduce", "red and atom on one address by all lanes of several blocks: order does not matter", "grid 3 block 96",
      [("in", "a", "u32", [rng.getrandbits(20) for _ in range(288)]), ("inout", "m", "u32", [0, 0, 0xFFFFFFFF, 0, 0xFFFFFFFF, 0, 0, 0]),
       ("inout", "n", "u64", [0, 1 << 40])],
      load("%r0") + """
      red.global.add.u32 [%m], %r0;
      red.global.max.u32 [%m+4], %r0;
      red.global.min.u32 [%m+8], %r0;
      red.global.or.b32 [%m+12], %r0;
      red.global.and.b32 [%m+16], %r0;
      red.global.xor.b32 [%m+20], %r0;
      atom.global.inc.u32 %r1, [%m+24], 1000;
      red.relaxed.gpu.global.add.s32 [%m+28], 1;
      cvt.u64.u32 %q0, %r0;
      red.global.add.u64 [%n], %q0;
      atom.global.min.u64 %q1, [%n+8], %q0;""")
    k("atom_shared", "atomics on shared memory: a histogram", "grid 2 block 128",
      [("in", "a", "u32", [rng.getrandbits(32) for _ in range(256)]), ("inout", "m", "u32", [0] * 32)],
      load("%r0") + """
      .shared .align 4 .b8 bins[64];
      mov.u32 %r1, bins;
      setp.ge.u32 %p0, %tx, 16;
      mul.lo.s32 %r2, %tx, 4;
      add.s32 %r3, %r1, %r2;
      @%p0 bra SKIP;
      st.shared.u32 [%r3], 0;
      SKIP:
      bar.sync 0;
      and.b32 %r4, %r0, 60;
      add.s32 %r5, %r1, %r4;
      atom.shared.add.u32 %r6, [%r5], 1;
      bar.sync 0;
      @%p0 bra DONE;
      ld.shared.u32 %r7, [%r3];
      mad.lo.s32 %r8, %cx, 16, %tx;
      mul.wide.u32 %q0, %r8, 4;
      add.s64 %q1, %m, %q0;
      st.global.u32 [%q1], %r7;
      DONE:""")
    k("atom_cas", "atom.cas of 16, 32 and 64 bits; a compare-and-swap loop", "grid 2 block 64",
      [("inout", "m", "u32", [5, 0, 9, 0]), ("inout", "n", "u64", [1 << 40, 7]), ("out", "d", "u32", 128)],
      """setp.ne.u32 %p0, %i, 0;
      @%p0 bra LOOP;
      atom.global.cas.b32 %r0, [%m], 5, 77;
      atom.global.cas.b32 %r1, [%m+8], 8, 77;
      atom.global.cas.b64 %q0, [%n], 1099511627776, 3;
      mov.u16 %h0, 0;
      mov.u16 %h1, 513;
      atom.global.cas.b16 %h2, [%m+12], %h0, %h1;
      LOOP:
      ld.volatile.global.u32 %r2, [%m+4];
      RETRY:
      mov.u32 %r3, %r2;
      add.s32 %r4, %r3, %tx;
      atom.global.cas.b32 %r2, [%m+4], %r3, %r4;
      setp.ne.u32 %p1, %r2, %r3;
      @%p1 bra RETRY;
      """ + store("%tx"))
    k("atom_float", "atom.add of f32, f64, f16x2 on an address per lane; red of f32 with exact sums", "grid 1 block 32",
      [("in", "a", "f32", [0x3F800000 + (i << 20) for i in range(32)]), ("inout", "m", "f32", [0x40000000 + i for i in range(32)]),
       ("inout", "n", "f64", [0x3FF0000000000000 + (i << 30) for i in range(32)]),
       ("inout", "o", "u32", [0x3C003C00 + i for i in range(32)]), ("inout", "p", "f32", [0, 0]), ("out", "d", "f32", 32)],
      load("%r0") + """
      add.s64 %q0, %m, %offset;
      atom.global.add.f32 %r1, [%q0], %r0;
      mul.wide.u32 %q1, %tx, 8;
      add.s64 %q2, %n, %q1;
      cvt.f64.f32 %q3, %r0;
      red.global.add.f64 [%q2], %q3;
      add.s64 %q4, %o, %offset;
      mov.b32 %r5, 1006648320;
      atom.global.add.noftz.f16x2 %r2, [%q4], %r5;
      cvt.rn.f32.u32 %r3, %tx;
      red.global.add.f32 [%p], %r3;
      atom.global.exch.b32 %r4, [%p+4], 1065353216;
      """ + store("%r1"), target="sm_70")
    k("atom_lock", "a spin lock taken by every lane of every warp: lanes of a warp must take turns", "grid 2 block 64",
      [("inout", "m", "u32", [0, 0])],
      """AGAIN:
      atom.acquire.gpu.global.cas.b32 %r0, [%m], 0, 1;
      setp.ne.u32 %p0, %r0, 0;
      @%p0 bra AGAIN;
      ld.volatile.global.u32 %r1, [%m+4];
      add.s32 %r1, %r1, 1;
      st.volatile.global.u32 [%m+4], %r1;
      membar.gl;
      atom.release.gpu.global.exch.b32 %r2, [%m], 0;""", target="sm_70")


def warps(k, rng, words, small):
    for mode in ("up", "down", "bfly", "idx"):
        lines = load("%r0")
        clamps = (0,) if mode == "up" else (31,)
        results = []
        for n, (b, c) in enumerate([(1, clamps[0]), (5, clamps[0]), (16, clamps[0]), (3, 0x1800 | (0 if mode == "up" else 0x1F)),
                                    (2, 0x1C00 | (0 if mode == "up" else 0x1F)), (33, clamps[0]), (7, 12)]):
            lines += f"shfl.sync.{mode}.b32 %r{n + 1}|%p{n}, %r0, {b}, {c}, -1;\nselp.u32 %r20, 1, 0, %p{n};\nmad.lo.s32 %r{n + 1}, %r{n + 1}, 2, %r20;\n"
            results.append(f"%r{n + 1}")
        lines += "shfl.sync.%s.b32 %%r9, %%r0, %%r0, %d, -1;\n" % (mode, clamps[0])
        results.append("%r9")
        outs = "defghjlo"
        for name, register in zip(outs, results):
            lines += store(register, name)
        k(f"shfl_{mode}", f"shfl.sync.{mode}: distances, segments, clamps, the pred; a distance per lane", "grid 1 block 64",
          [("in", "a", "u32", words)] + [("out", name, "u32", 64) for name in outs], lines)
    k("vote", "vote.sync all, any, uni, ballot over full and partial masks", "grid 1 block 64",
      [("in", "a", "u32", small), ("out", "d", "u32", 64), ("out", "e", "u32", 64), ("out", "f", "u32", 64)],
      load("%r0") + """
      setp.lt.u32 %p0, %r0, 20;
      setp.lt.u32 %p1, %r0, 100;
      vote.sync.ballot.b32 %r1, %p0, -1;
      vote.sync.all.pred %p2, %p1, -1;
      vote.sync.any.pred %p3, %p0, -1;
      vote.sync.uni.pred %p4, %p0, -1;
      vote.sync.uni.pred %p5, %p1, -1;
      vote.sync.ballot.b32 %r2, !%p0, -1;
      selp.u32 %r3, 1, 0, %p2;
      selp.u32 %r4, 2, 0, %p3;
      selp.u32 %r5, 4, 0, %p4;
      selp.u32 %r6, 8, 0, %p5;
      or.b32 %r3, %r3, %r4;
      or.b32 %r3, %r3, %r5;
      or.b32 %r3, %r3, %r6;
      """ + store("%r1") + store("%r3", "e") + """
      and.b32 %r7, %lane, 1;
      setp.eq.u32 %p6, %r7, 0;
      mov.u32 %r8, 0;
      @!%p6 bra ODD;
      vote.sync.ballot.b32 %r8, %p0, 0x55555555;
      bra JOIN;
      ODD:
      vote.sync.ballot.b32 %r8, %p0, 0xaaaaaaaa;
      JOIN:
      bar.warp.sync -1;
      """ + store("%r8", "f"))
    k("match", "match.any and match.all of 32 and 64 bits", "grid 1 block 64",
      [("in", "a", "u32", [v % 5 for v in small]), ("out", "d", "u32", 64), ("out", "e", "u32", 64), ("out", "f", "u32", 64)],
      load("%r0") + """
      match.any.sync.b32 %r1, %r0, -1;
      cvt.u64.u32 %q0, %r0;
      shl.b64 %q0, %q0, 40;
      match.any.sync.b64 %r2, %q0, -1;
      xor.b32 %r3, %r1, %r2;
      add.s32 %r1, %r1, %r3;
      match.all.sync.b32 %r4|%p0, %r0, -1;
      selp.u32 %r5, 7, 9, %p0;
      add.s32 %r4, %r4, %r5;
      shr.u32 %r6, %tx, 5;
      match.all.sync.b32 %r7|%p1, %r6, -1;
      selp.u32 %r8, 7, 9, %p1;
      add.s32 %r7, %r7, %r8;
      """ + store("%r1") + store("%r4", "e") + store("%r7", "f"))
    k("redux", "redux.sync on signed, unsigned and bits, full and partial masks", "grid 1 block 64",
      [("in", "a", "u32", words)] + [("out", n, "u32", 64) for n in "defghjlo"],
      load("%r0") + "\n".join(f"redux.sync.{op} %r{i + 1}, %r0, -1;" for i, op in enumerate(
          ("add.s32", "min.s32", "max.s32", "min.u32", "max.u32", "and.b32", "or.b32", "xor.b32"))) + "\n" +
      "".join(store(f"%r{i + 1}", n) for i, n in enumerate("defghjlo")))
    k("activemask", "activemask and legacy shapes after divergence and reconvergence", "grid 1 block 64",
      [("in", "a", "u32", small), ("out", "d", "u32", 64), ("out", "e", "u32", 64)],
      load("%r0") + """
      mov.u32 %r1, 0;
      setp.lt.u32 %p0, %r0, 20;
      @%p0 bra LOW;
      mov.u32 %r1, 7;
      bra JOIN;
      LOW:
      mov.u32 %r1, 5;
      JOIN:
      bar.warp.sync -1;
      activemask.b32 %r2;
      """ + store("%r1") + store("%r2", "e"))
    k("elect", "elect.sync: one leader in each warp", "grid 1 block 64", [("out", "d", "u32", 64)],
      """elect.sync %r0|%p0, -1;
      selp.u32 %r1, 1, 0, %p0;
      vote.sync.ballot.b32 %r2, %p0, -1;
      popc.b32 %r3, %r2;
      add.s32 %r1, %r3, 0;
      """ + store("%r1"), version="8.0", target="sm_90")
    k("special", "thread, block and lane registers of a 3-D launch", "grid 2,3,2 block 4,3,5",
      [("inout", "d", "u32", [0] * 720), ("inout", "e", "u32", [0] * 720)],
      """mov.u32 %r0, %tid.y;
      mov.u32 %r1, %tid.z;
      mov.u32 %r2, %ntid.y;
      mov.u32 %r3, %ntid.z;
      mov.u32 %r4, %ctaid.y;
      mov.u32 %r5, %ctaid.z;
      mov.u32 %r6, %nctaid.x;
      mov.u32 %r7, %nctaid.y;
      mov.u32 %r8, %nctaid.z;
      mad.lo.s32 %r9, %r1, %r2, %r0;
      mad.lo.s32 %r9, %r9, %nx, %tx;
      mad.lo.s32 %r10, %r5, %r7, %r4;
      mad.lo.s32 %r10, %r10, %r6, %cx;
      mul.lo.s32 %r11, %nx, %r2;
      mul.lo.s32 %r11, %r11, %r3;
      mad.lo.s32 %r12, %r10, %r11, %r9;
      mul.wide.u32 %q0, %r12, 4;
      add.s64 %q1, %d, %q0;
      mad.lo.s32 %r13, %r8, 1000, %lane;
      st.global.u32 [%q1], %r13;
      mov.u32 %r14, %lanemask_lt;
      mov.u32 %r15, %lanemask_ge;
      mov.u32 %r16, %lanemask_eq;
      mov.u32 %r17, %lanemask_le;
      mov.u32 %r18, %lanemask_gt;
      xor.b32 %r14, %r14, %r15;
      mad.lo.s32 %r14, %r16, 3, %r14;
      mad.lo.s32 %r14, %r17, 5, %r14;
      mad.lo.s32 %r14, %r18, 7, %r14;
      mov.u32 %r19, %nwarpid;
      add.s64 %q2, %e, %q0;
      st.global.u32 [%q2], %r14;""")


def control(k, rng, small):
    k("branch_loop", "loops whose trip counts differ by lane, with a break and a continue", "grid 2 block 32",
      [("in", "a", "u32", small), ("out", "d", "u32", 64)],
      load("%r0") + """
      mov.u32 %r1, 0;
      mov.u32 %r2, 0;
      LOOP:
      setp.ge.u32 %p0, %r1, %r0;
      @%p0 bra END;
      add.s32 %r1, %r1, 1;
      and.b32 %r3, %r1, 3;
      setp.eq.u32 %p1, %r3, 2;
      @%p1 bra LOOP;
      mad.lo.s32 %r2, %r2, 3, %r1;
      setp.gt.u32 %p2, %r2, 100000;
      @%p2 bra END;
      bra LOOP;
      END:
      """ + store("%r2"))
    k("branch_nested", "nested loops and ifs that diverge at every level", "grid 2 block 32",
      [("in", "a", "u32", small), ("out", "d", "u32", 64)],
      load("%r0") + """
      mov.u32 %r1, 0;
      mov.u32 %r2, 1;
      OUTER:
      mov.u32 %r3, 0;
      INNER:
      mad.lo.s32 %r2, %r2, 5, %r3;
      and.b32 %r4, %r2, 8;
      setp.eq.u32 %p0, %r4, 0;
      @%p0 bra EVEN;
      xor.b32 %r2, %r2, 21845;
      and.b32 %r5, %r2, 64;
      setp.ne.u32 %p1, %r5, 0;
      @%p1 bra NEXT;
      bra MERGE;
      EVEN:
      add.s32 %r2, %r2, %tx;
      MERGE:
      add.s32 %r3, %r3, 1;
      setp.lt.u32 %p2, %r3, %r1;
      @%p2 bra INNER;
      NEXT:
      add.s32 %r1, %r1, 1;
      setp.lt.u32 %p3, %r1, %r0;
      @%p3 bra OUTER;
      """ + store("%r2"))
    k("branch_irreducible", "a loop with two entries", "grid 1 block 64", [("in", "a", "u32", small), ("out", "d", "u32", 64)],
      load("%r0") + """
      mov.u32 %r1, 1;
      and.b32 %r2, %r0, 1;
      setp.eq.u32 %p0, %r2, 0;
      @%p0 bra SECOND;
      FIRST:
      mad.lo.s32 %r1, %r1, 3, 1;
      SECOND:
      mad.lo.s32 %r1, %r1, 5, 2;
      add.s32 %r0, %r0, 1;
      setp.lt.u32 %p1, %r0, 45;
      @%p1 bra FIRST;
      """ + store("%r1"))
    k("branch_exit", "lanes that leave early, by exit and by ret, within a loop; the rest goes on", "grid 1 block 64",
      [("in", "a", "u32", small), ("inout", "d", "u32", [0] * 64)],
      load("%r0") + store("%r0") + """
      setp.lt.u32 %p0, %r0, 10;
      @%p0 exit;
      mov.u32 %r1, 0;
      LOOP:
      add.s32 %r1, %r1, 1;
      setp.eq.u32 %p1, %r1, %r0;
      @%p1 ret;
      activemask.b32 %r2;
      popc.b32 %r3, %r2;
      setp.lt.u32 %p2, %r1, 20;
      mad.lo.s32 %r4, %r1, 100, %r0;
      """ + store("%r4") + "@%p2 bra LOOP;\n")
    k("branch_predicated", "predicated moves, loads, stores and arithmetic", "grid 1 block 64",
      [("in", "a", "u32", small), ("inout", "d", "u32", [3] * 64)],
      load("%r0") + """
      setp.gt.u32 %p0, %r0, 20;
      mov.u32 %r1, 1;
      @%p0 mov.u32 %r1, 2;
      @!%p0 add.s32 %r1, %r1, %r0;
      add.s64 %q0, %d, %offset;
      @%p0 ld.global.u32 %r1, [%q0];
      setp.lt.u32 %p1, %r0, 30;
      @%p1 st.global.u32 [%q0], %r1;""")
    k("branch_switch", "brx.idx through a table of targets", "grid 1 block 64", [("in", "a", "u32", small), ("out", "d", "u32", 64)],
      load("%r0") + """
      and.b32 %r1, %r0, 3;
      mov.u32 %r2, 0;
      table: .branchtargets ZERO, ONE, TWO, ONE;
      brx.idx %r1, table;
      ZERO:
      add.s32 %r2, %r0, 1000;
      bra JOIN;
      ONE:
      add.s32 %r2, %r0, 2000;
      TWO:
      add.s32 %r2, %r2, 30000;
      JOIN:
      """ + store("%r2"))
    k("call_direct", "functions with several arguments and results in registers and parameters", "grid 1 block 64",
      [("in", "a", "u32", small), ("out", "d", "u32", 64)],
      load("%r0") + """
      {
      .param .b32 x;
      .param .b64 y;
      .param .b32 result;
      st.param.b32 [x], %r0;
      cvt.u64.u32 %q0, %tx;
      st.param.b64 [y], %q0;
      call.uni (result), mix, (x, y);
      ld.param.b32 %r1, [result];
      }
      setp.lt.u32 %p0, %r0, 15;
      @!%p0 bra SKIP;
      {
      .param .b32 x;
      .param .b64 y;
      .param .b32 result;
      st.param.b32 [x], %r1;
      st.param.b64 [y], 5;
      call (result), mix, (x, y);
      ld.param.b32 %r1, [result];
      }
      SKIP:
      """ + store("%r1"), module=""".func (.param .b32 out) mix (.param .b32 x, .param .b64 y)
{
  .reg .b32 %r<8>;
  .reg .b64 %q<4>;
  .reg .pred %p<2>;
  ld.param.b32 %r0, [x];
  ld.param.b64 %q0, [y];
  cvt.u32.u64 %r1, %q0;
  setp.gt.u32 %p0, %r0, 20;
  @%p0 bra BIG;
  mad.lo.s32 %r2, %r0, 10, %r1;
  st.param.b32 [out], %r2;
  ret;
BIG:
  sub.s32 %r2, %r1, %r0;
  st.param.b32 [out], %r2;
  ret;
}""")
    k("call_recursive", "recursion to a depth that differs by lane", "grid 1 block 64", [("in", "a", "u32", [v % 12 for v in small]), ("out", "d", "u32", 64)],
      load("%r0") + """
      {
      .param .b32 x;
      .param .b32 result;
      st.param.b32 [x], %r0;
      call (result), fibonacci, (x);
      ld.param.b32 %r1, [result];
      }
      """ + store("%r1"), module=""".func (.param .b32 out) fibonacci (.param .b32 n)
{
  .reg .b32 %r<8>;
  .reg .pred %p<2>;
  ld.param.b32 %r0, [n];
  setp.lt.u32 %p0, %r0, 2;
  @%p0 bra BASE;
  sub.s32 %r1, %r0, 1;
  {
  .param .b32 x;
  .param .b32 y;
  st.param.b32 [x], %r1;
  call (y), fibonacci, (x);
  ld.param.b32 %r2, [y];
  }
  sub.s32 %r3, %r0, 2;
  {
  .param .b32 x;
  .param .b32 y;
  st.param.b32 [x], %r3;
  call (y), fibonacci, (x);
  ld.param.b32 %r4, [y];
  }
  add.s32 %r5, %r2, %r4;
  st.param.b32 [out], %r5;
  ret;
BASE:
  st.param.b32 [out], %r0;
  ret;
}""")


def barriers(k, rng, words):
    k("bar_loop", "a barrier in a loop: a scan through shared memory", "grid 2 block 128",
      [("in", "a", "u32", [rng.getrandbits(16) for _ in range(256)]), ("out", "d", "u32", 256)],
      load("%r0") + """
      .shared .align 4 .b8 buffer[512];
      mul.lo.s32 %r1, %tx, 4;
      mov.u32 %r2, buffer;
      add.s32 %r3, %r2, %r1;
      st.shared.u32 [%r3], %r0;
      bar.sync 0;
      mov.u32 %r4, 1;
      LOOP:
      setp.lt.u32 %p0, %tx, %r4;
      mov.u32 %r5, 0;
      @%p0 bra FIRST;
      mul.lo.s32 %r6, %r4, 4;
      sub.s32 %r7, %r3, %r6;
      ld.shared.u32 %r5, [%r7];
      FIRST:
      bar.sync 0;
      ld.shared.u32 %r8, [%r3];
      add.s32 %r8, %r8, %r5;
      st.shared.u32 [%r3], %r8;
      bar.sync 0;
      shl.b32 %r4, %r4, 1;
      setp.lt.u32 %p1, %r4, 128;
      @%p1 bra LOOP;
      ld.shared.u32 %r9, [%r3];
      """ + store("%r9"))
    k("bar_reduce", "barrier.red: popc, and, or over the block", "grid 2 block 96",
      [("in", "a", "u32", [rng.randrange(100) for _ in range(192)]), ("out", "d", "u32", 192)],
      load("%r0") + """
      setp.lt.u32 %p0, %r0, 50;
      setp.lt.u32 %p1, %r0, 100;
      bar.red.popc.u32 %r1, 0, %p0;
      bar.red.and.pred %p2, 0, %p1;
      bar.red.or.pred %p3, 1, !%p1;
      barrier.sync.aligned 2;
      selp.u32 %r2, 1000, 0, %p2;
      selp.u32 %r3, 2000, 0, %p3;
      add.s32 %r1, %r1, %r2;
      add.s32 %r1, %r1, %r3;
      """ + store("%r1"))
    k("bar_partial", "named barriers among some of the warps, arrive and sync", "grid 1 block 128",
      [("out", "d", "u32", 128)],
      """.shared .align 4 .b8 buffer[512];
      mul.lo.s32 %r0, %tx, 4;
      mov.u32 %r1, buffer;
      add.s32 %r2, %r1, %r0;
      shr.u32 %r3, %tx, 6;
      setp.ne.u32 %p0, %r3, 0;
      mul.lo.s32 %r4, %tx, 7;
      @%p0 bra CONSUMER;
      st.shared.u32 [%r2], %r4;
      bar.arrive 1, 128;
      bar.sync 2, 64;
      xor.b32 %r5, %r0, 252;
      add.s32 %r6, %r1, %r5;
      ld.shared.u32 %r7, [%r6];
      bra JOIN;
      CONSUMER:
      bar.sync 1, 128;
      sub.s32 %r6, %r2, 256;
      ld.shared.u32 %r7, [%r6];
      add.s32 %r7, %r7, 1;
      JOIN:
      bar.sync 0;
      """ + store("%r7"))
    k("bar_divergent", "a barrier in code that whole warps reach by different ways, after some warps have left", "grid 1 block 128",
      [("in", "a", "u32", words + words), ("inout", "d", "u32", [1] * 128)],
      load("%r0") + """
      .shared .align 4 .b8 buffer[512];
      mul.lo.s32 %r1, %tx, 4;
      mov.u32 %r2, buffer;
      add.s32 %r3, %r2, %r1;
      shr.u32 %r4, %tx, 5;
      setp.eq.u32 %p0, %r4, 3;
      @%p0 exit;
      setp.eq.u32 %p1, %r4, 1;
      @%p1 bra OTHER;
      st.shared.u32 [%r3], %r0;
      bra MEET;
      OTHER:
      not.b32 %r5, %r0;
      st.shared.u32 [%r3], %r5;
      MEET:
      bar.sync 0;
      xor.b32 %r6, %r1, 124;
      add.s32 %r7, %r2, %r6;
      ld.shared.u32 %r8, [%r7];
      """ + store("%r8"))
    k("grid_reduce", "the last block to finish sums what the others wrote (threadfence reduction)", "grid 5 block 32",
      [("in", "a", "u32", [rng.getrandbits(16) for _ in range(160)]), ("inout", "m", "u32", [0] * 8), ("out", "d", "u32", 1)],
      load("%r0") + """
      redux.sync.add.u32 %r1, %r0, -1;
      setp.ne.u32 %p0, %tx, 0;
      @%p0 exit;
      mul.wide.u32 %q0, %cx, 4;
      add.s64 %q1, %m, %q0;
      st.global.u32 [%q1+4], %r1;
      membar.gl;
      atom.global.add.u32 %r2, [%m], 1;
      setp.ne.u32 %p1, %r2, 4;
      @%p1 exit;
      ld.volatile.global.u32 %r3, [%m+4];
      ld.volatile.global.u32 %r4, [%m+8];
      ld.volatile.global.u32 %r5, [%m+12];
      ld.volatile.global.u32 %r6, [%m+16];
      ld.volatile.global.u32 %r7, [%m+20];
      add.s32 %r3, %r3, %r4;
      add.s32 %r3, %r3, %r5;
      add.s32 %r3, %r3, %r6;
      add.s32 %r3, %r3, %r7;
      st.global.u32 [%d], %r3;""")
