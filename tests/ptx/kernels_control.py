"""Hand-written kernels about warps, control flow and barriers. Called by kernels.py."""
from kernel_file import load, store


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
