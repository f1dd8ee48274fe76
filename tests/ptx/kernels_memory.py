"""Hand-written kernels about memory: loads, stores, spaces, atomics. Called by kernels.py."""
from kernel_file import WIDTH, load, store


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
