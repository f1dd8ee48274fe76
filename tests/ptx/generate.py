#!/usr/bin/env python3
"""Writes the element-wise files of this folder (one family of instructions each): inputs and PTX, no wanted values.

Run it only to add or change a family; record.cc then fills in what a GPU gives. A file whose kernel and inputs did not
change keeps its recorded values. Kernels with control flow of their own are written by hand in kernels_*.py.
"""
import os
import random
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
COUNT = 96

WIDTH = {"b16": 16, "u16": 16, "s16": 16, "f16": 16, "bf16": 16, "b32": 32, "u32": 32, "s32": 32, "f32": 32,
         "f16x2": 32, "bf16x2": 32, "u16x2": 32, "b64": 64, "u64": 64, "s64": 64, "f64": 64}


def f32(x):
    return struct.unpack("<I", struct.pack("<f", x))[0]


def f64(x):
    return struct.unpack("<Q", struct.pack("<d", x))[0]


def f16(x):
    return struct.unpack("<H", struct.pack("<e", x))[0]


SPECIAL = {
    "u16": [0, 1, 2, 7, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0x8001, 0xFFFE, 0xFFFF],
    "u32": [0, 1, 2, 3, 31, 32, 33, 0xFF, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFE, 0xFFFFFFFF],
    "u64": [0, 1, 2, 63, 64, 0xFFFFFFFF, 0x100000000, 0x7FFFFFFFFFFFFFFF, 0x8000000000000000, 0x8000000000000001,
            0xFFFFFFFFFFFFFFFE, 0xFFFFFFFFFFFFFFFF],
    "f32": [0, 0x80000000, 1, 0x80000001, 0x007FFFFF, 0x807FFFFF, 0x00800000, 0x80800000, 0x3F800000, 0xBF800000,
            0x3F800001, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFFFFFFF, 0x7F800001, 0x4B000001,
            0x00400000, 0x33800000, 0x3F7FFFFF],
    "f64": [0, 1 << 63, 1, 0x000FFFFFFFFFFFFF, 0x0010000000000000, 0x8010000000000000, f64(1.0), f64(-1.0), f64(1.5),
            0x3FF0000000000001, 0x7FEFFFFFFFFFFFFF, 0xFFEFFFFFFFFFFFFF, 0x7FF0000000000000, 0xFFF0000000000000,
            0x7FF8000000000000, f64(2.0 ** 52 + 1), 0x3CA0000000000000],
    "f16": [0, 0x8000, 1, 0x8001, 0x03FF, 0x0400, 0x8400, 0x3C00, 0xBC00, 0x3C01, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00,
            0xFFFF, 0x3555, 0x6400],
    "bf16": [0, 0x8000, 1, 0x8001, 0x007F, 0x0080, 0x8080, 0x3F80, 0xBF80, 0x3F81, 0x7F7F, 0xFF7F, 0x7F80, 0xFF80, 0x7FC0,
             0xFFFF, 0x3EAB],
}


def specials(type_name):
    base = type_name.replace("s", "u").replace("b16", "u16") if type_name[0] == "s" else type_name
    return SPECIAL[{"b16": "u16", "b32": "u32", "b64": "u64"}.get(base, base)]


def random_value(rng, type_name):
    kind = rng.random()
    if type_name in ("f32", "f64", "f16", "bf16"):
        if kind < 0.6:  # near each other, so that sums cancel and products stay in range
            x = rng.uniform(1, 2) * 2.0 ** rng.randint(-6, 6) * rng.choice((1, -1))
            return {"f32": f32, "f64": f64, "f16": f16, "bf16": lambda v: f32(v) >> 16}[type_name](x)
        return rng.getrandbits(WIDTH[type_name])
    bits = WIDTH[type_name]
    if kind < 0.4:
        return rng.getrandbits(rng.randint(1, bits))
    return rng.getrandbits(bits)


def values(rng, type_name, other=0):
    """COUNT values: a walk through the special ones (step by `other`, so that pairs vary), then random ones."""
    if type_name in ("f16x2", "bf16x2", "u16x2"):
        half = {"f16x2": "f16", "bf16x2": "bf16", "u16x2": "u16"}[type_name]
        low, high = values(rng, half, other), values(rng, half, other + 1)
        return [l | h << 16 for l, h in zip(low, high)]
    special = specials(type_name)
    out = []
    for i in range(COUNT):
        if i < COUNT * 3 // 5:
            out.append(special[i % len(special)] if other == 0 else special[(i // len(special) * 5 + i * (other * 2 + 1)) % len(special)])
        else:
            out.append(random_value(rng, type_name))
    return out


def small(rng, limit, specials_=(0, 1, 31, 32, 33, 63, 64, 65, 255, 256, 0xFFFFFFFF)):
    """Shift amounts, positions, lengths. Of bfe and bfi the manual allows 0 to 255 only."""
    return [specials_[i % len(specials_)] if i < COUNT // 3 else rng.randrange(limit) for i in range(COUNT)]


def hex_lines(type_name, numbers):
    digits = WIDTH[type_name] // 4
    per_line = 128 // (digits + 1)
    words = [f"{n & ((1 << WIDTH[type_name]) - 1):0{digits}x}" for n in numbers]
    return ["//   " + " ".join(words[i:i + per_line]) for i in range(0, len(words), per_line)]


def static_part(text):
    keep, skipping = [], False
    for line in text.splitlines():
        if not line.startswith("//   "):
            skipping = line.startswith("// want ") or line.startswith("// values:")
        if not skipping:
            keep.append(line)
    # Rules of comparison and remarks may change without a new recording.
    keep = [" ".join(line.split()[:5]) if line.startswith("// out ") else line for line in keep if not line.startswith("// unsupported")]
    return "\n".join(keep)


def write(name, text):
    path = os.path.join(HERE, name + ".ptx")
    old = open(path).read() if os.path.exists(path) else ""
    if static_part(old) == static_part(text):
        recorded = old[old.index("// values:"):old.index(".version")] if "// values:" in old else ""
        text = text.replace(".version", recorded + ".version", 1)
    with open(path, "w") as file:
        file.write(text)


REGISTER = {16: "h", 32: "r", 64: "q"}


def family(name, title, inputs, outputs, version="7.8", target="sm_80", block=32, unsupported=""):
    """inputs: [(name, type, values)]; outputs: [(type, rule, PTX)]: PTX uses {a} {b} ... and writes {d}.
    Temporaries: %h0-7, %r0-7, %q0-7, %p0-3."""
    lines = [f"// {title}", f"// run: k grid {COUNT // block} block {block}"]
    if unsupported:
        lines.append(f"// unsupported: {unsupported}")
    for input_name, type_name, numbers in inputs:
        lines.append(f"// in {input_name}: {type_name}")
        lines += hex_lines(type_name, numbers)
    for i, (type_name, rule, _) in enumerate(outputs):
        if type_name.startswith(("f", "bf")):  # which NaN is not said: generated code keeps the processor's
            rule = rule.replace("exact", "ulp 0")
        lines.append(f"// out d{i}: {type_name} {COUNT} {rule}")
    buffers = [n for n, _, _ in inputs] + [f"d{i}" for i in range(len(outputs))]
    lines += [f".version {version}", f".target {target}", ".address_size 64", ""]
    lines.append(".visible .entry k(" + ", ".join(f".param .u64 p_{b}" for b in buffers) + ")")
    lines += ["{", "  .reg .pred %p<4>;", "  .reg .b16 %h<8>;", "  .reg .b32 %r<8>;", "  .reg .b64 %q<8>;",
              "  .reg .b32 %i<4>;", "  .reg .b64 %m<4>;"]
    for input_name, type_name, _ in inputs:
        lines.append(f"  .reg .b{WIDTH[type_name]} %{input_name};")
    for i, (type_name, _, _) in enumerate(outputs):
        lines.append(f"  .reg .b{WIDTH[type_name]} %d{i};")
    lines += ["  mov.u32 %i0, %ctaid.x;", "  mov.u32 %i1, %ntid.x;", "  mov.u32 %i2, %tid.x;",
              "  mad.lo.s32 %i3, %i0, %i1, %i2;"]
    for input_name, type_name, _ in inputs:
        lines += [f"  ld.param.u64 %m0, [p_{input_name}];", "  cvta.to.global.u64 %m1, %m0;",
                  f"  mul.wide.u32 %m2, %i3, {WIDTH[type_name] // 8};", "  add.s64 %m3, %m1, %m2;",
                  f"  ld.global.b{WIDTH[type_name]} %{input_name}, [%m3];"]
    names = {n: "%" + n for n, _, _ in inputs}
    for i, (type_name, _, code) in enumerate(outputs):
        for statement in code.format(d=f"%d{i}", **names).strip().split(";"):
            if statement.strip():
                lines.append("  " + statement.strip() + ";")
        lines += [f"  ld.param.u64 %m0, [p_d{i}];", "  cvta.to.global.u64 %m1, %m0;",
                  f"  mul.wide.u32 %m2, %i3, {WIDTH[type_name] // 8};", "  add.s64 %m3, %m1, %m2;",
                  f"  st.global.b{WIDTH[type_name]} [%m3], %d{i};"]
    lines += ["  ret;", "}", ""]
    write(name, "\n".join(lines))


def pred(code):
    """PTX that sets %p0, as a u32 result."""
    return code + "; selp.u32 {d}, 1, 0, %p0"


def packed_bits(codes):
    """Several preds (code that sets %p0 each) as bits of one u32."""
    text = "mov.u32 %r7, 0"
    for i, code in enumerate(codes):
        text += f"; {code}; selp.u32 %r6, {1 << i}, 0, %p0; or.b32 %r7, %r7, %r6"
    return text + "; mov.b32 {d}, %r7"


def integers(rng):
    for t in ("u16", "s16", "u32", "s32", "u64", "s64"):
        bits, signed = WIDTH[t], t[0] == "s"
        ab = [("a", t, values(rng, t)), ("b", t, values(rng, t, 1))]
        abc = ab + [("c", t, values(rng, t, 2))]
        one = lambda op: (t, "exact", f"{op}.{t} {{d}}, {{a}}, {{b}}")
        outs = [one("add"), one("sub"), one("min"), one("max")]
        if signed:
            outs += [(t, "exact", f"abs.{t} {{d}}, {{a}}"), (t, "exact", f"neg.{t} {{d}}, {{a}}")]
        if t == "s32":
            outs += [one("add.sat"), one("sub.sat")]
        family(f"int_add_{t}", f"add, sub, min, max of {t}", ab, outs)
        outs = [one("mul.lo"), one("mul.hi"), (t, "exact", f"mad.lo.{t} {{d}}, {{a}}, {{b}}, {{c}}"),
                (t, "exact", f"mad.hi.{t} {{d}}, {{a}}, {{b}}, {{c}}"), (t, "exact", f"sad.{t} {{d}}, {{a}}, {{b}}, {{c}}")]
        if bits < 64:
            wide = f"{t[0]}{bits * 2}"
            temporary = "%r0" if bits == 16 else "%q0"
            outs.append((wide, "exact", f"mul.wide.{t} {{d}}, {{a}}, {{b}}"))
            outs.append((wide, "exact", f"cvt.{wide}.{t} {temporary}, {{c}}; mad.wide.{t} {{d}}, {{a}}, {{b}}, {temporary}"))
        if t == "s32":
            outs.append((t, "exact", "mad.hi.sat.s32 {d}, {a}, {b}, {c}"))
        family(f"int_mul_{t}", f"mul, mad, sad of {t}", abc, outs)
        family(f"int_div_{t}", f"div, rem of {t}: by zero too", ab, [one("div"), one("rem")])
        compares = ["eq", "ne", "lt", "le", "gt", "ge"] + ([] if signed else ["lo", "ls", "hi", "hs"])
        family(f"int_setp_{t}", f"setp of {t}: bit i is comparison i of {' '.join(compares)}", ab,
               [("u32", "exact", packed_bits([f"setp.{c}.{t} %p0, {{a}}, {{b}}" for c in compares])),
                (t, "exact", f"setp.lt.{t} %p1, {{a}}, {{b}}; selp.b{bits} {{d}}, {{b}}, {{a}}, %p1")])
    for t in ("u32", "s32"):
        ab = [("a", t, values(rng, t)), ("b", t, values(rng, t, 1)), ("c", t, values(rng, t, 2))]
        family(f"int_mul24_{t}", f"mul24, mad24 of {t}", ab,
               [(t, "exact", f"mul24.lo.{t} {{d}}, {{a}}, {{b}}"), (t, "exact", f"mul24.hi.{t} {{d}}, {{a}}, {{b}}"),
                (t, "exact", f"mad24.lo.{t} {{d}}, {{a}}, {{b}}, {{c}}"), (t, "exact", f"mad24.hi.{t} {{d}}, {{a}}, {{b}}, {{c}}")])
    u = [("a", "u32", values(rng, "u32")), ("b", "u32", values(rng, "u32", 1)), ("c", "u32", values(rng, "u32", 2))]
    family("int_carry_u32", "add.cc, addc, sub.cc, subc, mad.lo.cc, madc.hi of 32 bits", u,
           [("u32", "exact", "add.cc.u32 %r0, {a}, {b}; addc.u32 {d}, {c}, 0"),
            ("u32", "exact", "add.cc.u32 %r0, {a}, {b}; addc.cc.u32 %r1, {b}, {c}; addc.u32 {d}, %r0, %r1"),
            ("u32", "exact", "sub.cc.u32 %r0, {a}, {b}; subc.u32 {d}, {c}, 0"),
            ("u32", "exact", "sub.cc.u32 %r0, {a}, {b}; subc.cc.u32 %r1, {b}, {c}; subc.u32 {d}, %r0, %r1"),
            ("u32", "exact", "mad.lo.cc.u32 %r0, {a}, {b}, {c}; madc.hi.u32 {d}, {a}, {b}, 0"),
            ("u32", "exact", "mad.hi.cc.u32 %r0, {a}, {b}, {c}; addc.u32 {d}, %r0, 0")])
    q = [("a", "u64", values(rng, "u64")), ("b", "u64", values(rng, "u64", 1))]
    family("int_carry_u64", "add.cc, addc, sub.cc, subc of 64 bits", q,
           [("u64", "exact", "add.cc.u64 %q0, {a}, {b}; addc.u64 {d}, {b}, %q0"),
            ("u64", "exact", "sub.cc.u64 %q0, {a}, {b}; subc.u64 {d}, {b}, %q0")])
    x = [("a", "u16x2", values(rng, "u16x2")), ("b", "u16x2", values(rng, "u16x2", 1))]
    family("int_packed", "add, min, max of u16x2 and s16x2", x,
           [("u16x2", "exact", f"{op}.{t} {{d}}, {{a}}, {{b}}") for op in ("add", "min", "max") for t in ("u16x2", "s16x2")] +
           [("u16x2", "exact", "min.relu.s16x2 {d}, {a}, {b}"), ("u32", "exact", "max.relu.s32 {d}, {a}, {b}")],
           version="8.0", target="sm_90")


def bits(rng):
    for t in ("b16", "b32", "b64"):
        ab = [("a", t, values(rng, t)), ("b", t, values(rng, t, 1)), ("n", "u32", small(rng, 80))]
        family(f"bits_logic_{t}", f"and, or, xor, not, cnot, shl, shr of {t}", ab,
               [(t, "exact", f"{op}.{t} {{d}}, {{a}}, {{b}}") for op in ("and", "or", "xor")] +
               [(t, "exact", f"{op}.{t} {{d}}, {{a}}") for op in ("not", "cnot")] +
               [(t, "exact", f"shl.{t} {{d}}, {{a}}, {{n}}")] +
               [(t, "exact", f"shr.{s}{t[1:]} {{d}}, {{a}}, {{n}}") for s in "bus"])
    for w in ("32", "64"):
        a = [("a", "b" + w, values(rng, "b" + w))]
        family(f"bits_count_b{w}", f"popc, clz, brev, bfind of {w} bits", a,
               [("u32", "exact", f"popc.b{w} {{d}}, {{a}}"), ("u32", "exact", f"clz.b{w} {{d}}, {{a}}"),
                ("b" + w, "exact", f"brev.b{w} {{d}}, {{a}}")] +
               [("u32", "exact", f"bfind{s}.{t}{w} {{d}}, {{a}}") for t in "us" for s in ("", ".shiftamt")])
        abn = [("a", "b" + w, values(rng, "b" + w)), ("b", "b" + w, values(rng, "b" + w, 1)),
               ("n", "u32", small(rng, 70, (0, 1, 31, 32, 33, 63, 64, 65, 255, 254, 128))),
               ("m", "u32", small(rng, 70, (0, 1, 8, 32, 31, 63, 64, 255, 5, 200)))]
        family(f"bits_field_b{w}", f"bfe and bfi of {w} bits: positions and lengths past the end too", abn,
               [("b" + w, "exact", f"bfe.u{w} {{d}}, {{a}}, {{n}}, {{m}}"),
                ("b" + w, "exact", f"bfe.s{w} {{d}}, {{a}}, {{n}}, {{m}}"),
                ("b" + w, "exact", f"bfi.b{w} {{d}}, {{a}}, {{b}}, {{n}}, {{m}}"),
                ("b" + w, "exact", f"bfi.b{w} {{d}}, {{a}}, {{b}}, 4, 12")])
    u = [("a", "b32", values(rng, "b32")), ("b", "b32", values(rng, "b32", 1)), ("c", "b32", values(rng, "b32", 2))]
    n = [("n", "u32", small(rng, 40))]
    m = [("m", "u32", small(rng, 40, (5, 0, 32, 1, 33, 8)))]
    family("bits_funnel", "shf.l, shf.r with clamp and wrap", u[:2] + n,
           [("b32", "exact", f"shf.{d}.{mode}.b32 {{d}}, {{a}}, {{b}}, {{n}}") for d in "lr" for mode in ("clamp", "wrap")])
    family("bits_lop3", "lop3 with several truth tables", u,
           [("b32", "exact", f"lop3.b32 {{d}}, {{a}}, {{b}}, {{c}}, 0x{table:x}")
            for table in (0x00, 0xFF, 0x80, 0xFE, 0x96, 0xE8, 0xCA, 0x1D, 0x6A, 0xF0)])
    family("bits_prmt", "prmt in all modes", u[:2] + [("c", "b32", [rng.getrandbits(16) if i > 8 else i for i in range(COUNT)])],
           [("b32", "exact", f"prmt.b32{mode} {{d}}, {{a}}, {{b}}, {{c}}")
            for mode in ("", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16")])
    family("bits_mask", "bmsk and szext, clamp and wrap", u[:1] + n + m,
           [("b32", "exact", f"bmsk.{mode}.b32 {{d}}, {{n}}, {{m}}") for mode in ("clamp", "wrap")] +
           [("b32", "exact", f"szext.{mode}.{t} {{d}}, {{a}}, {{n}}") for mode in ("clamp", "wrap") for t in ("u32", "s32")])
    family("bits_fns", "fns: the n-th set bit, both directions",
           [("a", "b32", values(rng, "b32")), ("b", "b32", [rng.randrange(32) for _ in range(COUNT)]),
            ("c", "s32", [rng.randrange(-12, 13) for _ in range(COUNT)])], [("b32", "exact", "fns.b32 {d}, {a}, {b}, {c}")])
    family("bits_dot", "dp4a and dp2a, all signs", u,
           [("b32", "exact", f"dp4a.{x}.{y} {{d}}, {{a}}, {{b}}, {{c}}") for x in ("u32", "s32") for y in ("u32", "s32")] +
           [("b32", "exact", f"dp2a.{h}.{x}.{y} {{d}}, {{a}}, {{b}}, {{c}}")
            for h in ("lo", "hi") for x in ("u32", "s32") for y in ("u32", "s32")])
    family("bits_pack", "mov packing and unpacking, 16, 32 and 64 bits", u[:2],
           [("b32", "exact", "mov.b32 {{%h0, %h1}}, {a}; mov.b32 {d}, {{%h1, %h0}}"),
            ("b64", "exact", "mov.b64 {d}, {{{a}, {b}}}"),
            ("b64", "exact", "mov.b32 {{%h0, %h1}}, {a}; mov.b32 {{%h2, %h3}}, {b}; mov.b64 {d}, {{%h3, %h0, %h2, %h1}}"),
            ("b32", "exact", "mov.b64 %q0, {{{a}, {b}}}; mov.b64 {{%r0, %r1}}, %q0; xor.b32 {d}, %r0, %r1")])
    family("bits_select", "slct, set, selp and predicate logic",
           [("a", "s32", values(rng, "s32")), ("b", "s32", values(rng, "s32", 1)), ("f", "f32", values(rng, "f32", 1))],
           [("s32", "exact", "slct.s32.s32 {d}, {a}, {b}, {b}"), ("s32", "exact", "slct.b32.f32 {d}, {a}, {b}, {f}"),
            ("s32", "exact", "slct.ftz.b32.f32 {d}, {a}, {b}, {f}"),
            ("u32", "exact", "set.lt.u32.s32 {d}, {a}, {b}"), ("f32", "exact", "set.ge.f32.s32 {d}, {a}, {b}"),
            ("u32", "exact", "set.ltu.u32.f32 {d}, {f}, 0f3F800000"),
            ("u32", "exact", "setp.lt.s32 %p1, {a}, 0; set.eq.and.u32.s32 {d}, {a}, {b}, %p1"),
            ("u32", "exact", pred("setp.lt.s32 %p1, {a}, 0; setp.gt.or.s32 %p0|%p2, {a}, {b}, %p1; and.pred %p3, %p2, %p1; xor.pred %p0, %p0, %p3")),
            ("u32", "exact", pred("setp.ne.s32 %p1, {a}, 0; not.pred %p2, %p1; setp.lt.xor.s32 %p0, {a}, {b}, !%p2"))])


ROUNDINGS = ("rn", "rz", "rm", "rp")


def floats(rng):
    for t in ("f32", "f64"):
        ab = [("a", t, values(rng, t)), ("b", t, values(rng, t, 1)), ("c", t, values(rng, t, 2))]
        flushes = ("", ".ftz") if t == "f32" else ("",)
        for op in ("add", "sub", "mul", "fma"):
            operands = "{d}, {a}, {b}, {c}" if op == "fma" else "{d}, {a}, {b}"
            outs = [(t, "exact flush" if z else "exact", f"{op}.{r}{z}.{t} {operands}") for r in ROUNDINGS for z in flushes]
            if t == "f32":
                outs += [(t, "exact", f"{op}.rn{z}.sat.f32 {operands}") for z in flushes]
            family(f"{t}_{op}", f"{op}.{t} in all roundings", ab if op == "fma" else ab[:2], outs)
        family(f"{t}_div", f"div.{t} in all roundings", ab[:2],
               [(t, "ulp 0 flush" if z else "ulp 0", f"div.{r}{z}.{t} {{d}}, {{a}}, {{b}}") for r in ROUNDINGS for z in flushes])
        family(f"{t}_rcp_sqrt", f"rcp and sqrt of {t} in all roundings", ab[:1],
               [(t, "ulp 0 flush" if z else "ulp 0", f"{op}.{r}{z}.{t} {{d}}, {{a}}") for op in ("rcp", "sqrt") for r in ROUNDINGS for z in flushes])
        outs = [(t, "exact", f"{op}{z}.{t} {{d}}, {{a}}, {{b}}") for op in ("min", "max") for z in flushes]
        outs += [(t, "exact", f"copysign.{t} {{d}}, {{a}}, {{b}}")]
        outs += [(t, "ulp 0", f"{op}{z}.{t} {{d}}, {{a}}") for op in ("abs", "neg") for z in flushes]
        if t == "f32":
            outs += [(t, "exact", f"{op}{m}.f32 {{d}}, {{a}}, {{b}}") for op in ("min", "max")
                     for m in (".NaN", ".ftz.NaN", ".xorsign.abs", ".NaN.xorsign.abs")]
        family(f"{t}_minmax", f"min, max, abs, neg, copysign of {t}: NaNs and signed zeros", ab[:2], outs, target="sm_86")
        compares = ("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")
        family(f"{t}_setp", f"setp of {t}: bit i is comparison i of {' '.join(compares)}", ab[:2],
               [("u32", "exact", packed_bits([f"setp.{c}{z}.{t} %p0, {{a}}, {{b}}" for c in compares])) for z in flushes])
        tests = ("finite", "infinite", "number", "notanumber", "normal", "subnormal")
        family(f"{t}_testp", f"testp of {t}: bit i is test i of {' '.join(tests)}", ab[:1],
               [("u32", "exact", packed_bits([f"testp.{x}.{t} %p0, {{a}}" for x in tests]))])
    approximations(rng)
    small_floats(rng)


def spread(rng, low, high, extra=()):
    """f32 values between the bounds, evenly in the exponent if they are positive, and some special ones."""
    out = list(extra)
    while len(out) < COUNT:
        if low > 0:
            out.append(f32(low * (high / low) ** rng.random()))
        else:
            out.append(f32(rng.uniform(low, high)))
    return out


EDGES = (0, 0x80000000, 0x7F800000, 0xFF800000, 0x7FC00000, 0x3F800000)


def approximations(rng):
    wide = spread(rng, 1e-30, 1e30, EDGES + (0xBF800000, 0x00800000))
    a = [("a", "f32", wide)]
    family("approx_rcp", "rcp.approx, rsqrt.approx, sqrt.approx of f32 (bounds of the manual: 1 and 2 ulp, 2^-23 relative)", a,
           [("f32", f"ulp {u}", f"{op}.approx{z}.f32 {{d}}, {{a}}") for op, u in (("rcp", 1), ("rsqrt", 3), ("sqrt", 3))
            for z in ("", ".ftz")])
    family("approx_div", "div.approx and div.full of f32 (2 ulp)", [("a", "f32", wide), ("b", "f32", spread(rng, 1e-7, 1e7))],
           [("f32", "ulp 2", f"div.{m}{z}.f32 {{d}}, {{a}}, {{b}}") for m in ("approx", "full") for z in ("", ".ftz")])
    family("approx_ex2", "ex2.approx of f32 (2^-22 relative)", [("a", "f32", spread(rng, -120, 120, EDGES))],
           [("f32", "ulp 4", f"ex2.approx{z}.f32 {{d}}, {{a}}") for z in ("", ".ftz")])
    family("approx_lg2", "lg2.approx of f32 (2^-22 absolute near 1, else relative)", a,
           [("f32", "ulp 4 abs 2.4e-7", f"lg2.approx{z}.f32 {{d}}, {{a}}") for z in ("", ".ftz")])
    family("approx_sin", "sin.approx, cos.approx of f32 in [-pi, pi] (2^-20.5 absolute)",
           [("a", "f32", spread(rng, -3.14159, 3.14159, (0, 0x80000000, 0x7FC00000)))],
           [("f32", "abs 1e-6", f"{op}.approx{z}.f32 {{d}}, {{a}}") for op in ("sin", "cos") for z in ("", ".ftz")])
    family("approx_tanh", "tanh.approx of f32 (2^-10.987 relative)", [("a", "f32", spread(rng, -9, 9, EDGES))],
           [("f32", "ulp 8300 abs 1e-30", "tanh.approx.f32 {d}, {a}")])
    d = [f64(0.0), f64(-0.0), f64(1.0), f64(float("inf")), f64(float("nan"))]
    while len(d) < COUNT:
        d.append(f64(10.0 ** rng.uniform(-30, 30)))
    family("approx_f64", "rcp.approx.ftz, rsqrt.approx.ftz of f64 (about 20 bits, low word zero)", [("a", "f64", d)],
           [("f64", "ulp 8589934592", f"{op}.approx.ftz.f64 {{d}}, {{a}}") for op in ("rcp", "rsqrt")])


def small_floats(rng):
    for t, version, target in (("f16", "7.8", "sm_86"), ("bf16", "7.8", "sm_90")):
        ab = [("a", t, values(rng, t)), ("b", t, values(rng, t, 1)), ("c", t, values(rng, t, 2))]
        flushes = ("", ".ftz") if t == "f16" else ("",)
        outs = [(t, "exact", f"{op}{r}{z}{s}.{t} {{d}}, {{a}}, {{b}}") for op in ("add", "sub", "mul") for r in ("", ".rn")
                for z in flushes for s in ((("", ".sat") if r == "" else ("",)) if t == "f16" else ("",))]
        outs += [(t, "exact", f"fma.rn{z}{s}.{t} {{d}}, {{a}}, {{b}}, {{c}}") for z in flushes
                 for s in (("", ".sat", ".relu") if t == "f16" else ("", ".relu"))]
        family(f"{t}_arith", f"add, sub, mul, fma of {t}", ab, outs, version=version, target=target)
        outs = [(t, "exact", f"{op}{z}{m}.{t} {{d}}, {{a}}, {{b}}") for op in ("min", "max") for z in flushes
                for m in ("", ".NaN", ".xorsign.abs")]
        outs += [(t, "ulp 0", f"{op}.{t} {{d}}, {{a}}") for op in ("abs", "neg")]
        compares = ("eq", "ne", "lt", "ge", "equ", "ltu", "num", "nan")
        outs += [("u32", "exact", packed_bits([f"setp.{c}{z}.{t} %p0, {{a}}, {{b}}" for c in compares])) for z in flushes]
        family(f"{t}_minmax", f"min, max, abs, neg, setp of {t}", ab[:2], outs, version=version, target=target)
        x = t + "x2"
        abx = [("a", x, values(rng, x)), ("b", x, values(rng, x, 1)), ("c", x, values(rng, x, 2))]
        family(f"{t}_packed", f"the same on {x}", abx,
               [(x, "exact", f"{op}.{x} {{d}}, {{a}}, {{b}}") for op in ("add", "sub", "mul", "min", "max")] +
               [(x, "exact", f"fma.rn.{x} {{d}}, {{a}}, {{b}}, {{c}}"), (x, "exact", f"fma.rn.relu.{x} {{d}}, {{a}}, {{b}}, {{c}}"),
                (x, "exact", f"max.NaN.{x} {{d}}, {{a}}, {{b}}"), (x, "ulp 0", f"neg.{x} {{d}}, {{a}}"),
                (x, "ulp 0", f"abs.{x} {{d}}, {{a}}"),
                ("u32", "exact", f"setp.lt.{x} %p0|%p1, {{a}}, {{b}}; selp.u32 %r0, 1, 0, %p0; selp.u32 %r1, 2, 0, %p1; or.b32 {{d}}, %r0, %r1")],
               version=version, target=target)
    family("f16_approx", "ex2.approx and tanh.approx of f16", [("a", "f16", values(rng, "f16"))],
           [("f16", "ulp 2", "ex2.approx.f16 {d}, {a}"), ("f16", "ulp 3 abs 1e-3", "tanh.approx.f16 {d}, {a}")])


INTS = ("u16", "s16", "u32", "s32", "u64", "s64")


def conversions(rng):
    for t in INTS:
        outs = [(to, "exact", f"cvt.{to}.{t} {{d}}, {{a}}") for to in INTS if to != t]
        outs += [("u32" if to in ("u8", "s8") else to, "exact",
                  f"cvt.sat.{to}.{t} " + ("%h0, {a}; cvt." + ("u32.u16" if to == "u8" else "s32.s16") + " {d}, %h0"
                                          if to in ("u8", "s8") else "{d}, {a}"))
                 for to in ("u8", "s8") + INTS if WIDTH.get(to, 8) < WIDTH[t] or (t[0] == "s" and to[0] == "u") or
                 (t[0] != to[0] and WIDTH[to] == WIDTH[t])]
        outs += [("u32", "exact", f"cvt.{to}.{t} %h0, {{a}}; cvt.{'u32.u16' if to == 'u8' else 's32.s16'} {{d}}, %h0")
                 for to in ("u8", "s8")]
        family(f"cvt_int_{t}", f"cvt of {t} to every integer type, cut and saturated", [("a", t, values(rng, t))], outs)
        outs = [(f, "exact", f"cvt.{r}.{f}.{t} {{d}}, {{a}}") for f in ("f32", "f64") for r in ROUNDINGS]
        outs += [("f16", "exact", f"cvt.{r}.f16.{t} {{d}}, {{a}}") for r in ("rn", "rz")]
        outs += [("f32", "exact", f"cvt.rn.sat.f32.{t} {{d}}, {{a}}")]
        family(f"cvt_to_float_{t}", f"cvt of {t} to floats in all roundings", [("a", t, values(rng, t))], outs)
    for f in ("f32", "f64", "f16"):
        numbers = values(rng, f)
        encode = {"f32": f32, "f64": f64, "f16": f16}[f]
        tops = [2.5, 3.5, -2.5, 0.5, -0.5, 1.4999, 127.5, 255.5, 256.0, -128.5, 32767.5, 65504.0]
        if f != "f16":
            tops += [65535.5, 2147483647.0, 2147483648.0, -2147483648.0, -2147483904.0, 4294967295.0, 4294967296.0, 9.3e18, -9.3e18, 1.9e19]
        numbers[20:20 + len(tops)] = [encode(x) for x in tops]
        a = [("a", f, numbers)]
        for kind in ("u", "s"):
            outs = [(f"{kind}{w}", "exact", f"cvt.{r}.{kind}{w}.{f} {{d}}, {{a}}") for w in (16, 32, 64)
                    for r in ("rni", "rzi", "rmi", "rpi")]
            outs += [("u32", "exact", f"cvt.rni.{kind}8.{f} %h0, {{a}}; cvt.{kind}32.{kind}16 {{d}}, %h0")]
            if f == "f32":
                outs += [(f"{kind}32", "exact", f"cvt.rpi.ftz.{kind}32.f32 {{d}}, {{a}}"),
                         (f"{kind}64", "exact", f"cvt.rzi.ftz.{kind}64.f32 {{d}}, {{a}}")]
            family(f"cvt_{f}_to_{kind}int", f"cvt of {f} to {'un' if kind == 'u' else ''}signed integers: rounding, saturation, NaN", a, outs)
        outs = [(f, "exact", f"cvt.{r}.{f}.{f} {{d}}, {{a}}") for r in ("rni", "rzi", "rmi", "rpi")]
        outs += [(f, "exact", f"cvt.sat.{f}.{f} {{d}}, {{a}}")]
        if f == "f32":
            outs += [(f, "exact", f"cvt.rni.ftz.f32.f32 {{d}}, {{a}}"), (f, "exact", "cvt.ftz.sat.f32.f32 {d}, {a}")]
        family(f"cvt_{f}_integral", f"cvt of {f} to integral {f}, and saturation", a, outs)
    family("cvt_f32_to", "cvt of f32 to f64, f16, bf16, tf32", [("a", "f32", values(rng, "f32"))],
           [("f64", "exact", "cvt.f64.f32 {d}, {a}"), ("f64", "exact", "cvt.ftz.f64.f32 {d}, {a}")] +
           [("f16", "exact", f"cvt.{r}.f16.f32 {{d}}, {{a}}") for r in ("rn", "rz", "rm", "rp")] +
           [("f16", "exact", "cvt.rn.sat.f16.f32 {d}, {a}"), ("f16", "exact", "cvt.rn.ftz.f16.f32 {d}, {a}"),
            ("f16", "exact", "cvt.rn.relu.f16.f32 {d}, {a}"),
            ("bf16", "exact", "cvt.rn.bf16.f32 {d}, {a}"), ("bf16", "exact", "cvt.rz.bf16.f32 {d}, {a}"),
            ("bf16", "exact", "cvt.rn.relu.bf16.f32 {d}, {a}"), ("f32", "ulp 0", "testp.notanumber.f32 %p0, {a}; selp.b32 %r0, 0, {a}, %p0; cvt.rna.tf32.f32 {d}, %r0"),
            ("f32", "ulp 0", "cvt.rn.tf32.f32 {d}, {a}"), ("f32", "ulp 0", "cvt.rz.tf32.f32 {d}, {a}")],
           target="sm_90")
    d = values(rng, "f64")
    for i in range(60, COUNT):  # around the range of f32 and its subnormals
        d[i] = f64(rng.uniform(1, 2) * 2.0 ** rng.choice((-150, -149, -140, -127, -126, -100, 0, 100, 127, 128)) * rng.choice((1, -1)))
    family("cvt_f64_to", "cvt of f64 to f32 and f16", [("a", "f64", d)],
           [("f32", "ulp 0", f"cvt.{r}{z}.f32.f64 {{d}}, {{a}}") for r in ROUNDINGS for z in ("", ".ftz")] +
           [("f16", "ulp 0", f"cvt.{r}.f16.f64 {{d}}, {{a}}") for r in ROUNDINGS] + [("f32", "exact", "cvt.rn.sat.f32.f64 {d}, {a}")])
    family("cvt_f16_to", "cvt of f16 and bf16 to wider floats", [("a", "f16", values(rng, "f16")), ("b", "bf16", values(rng, "bf16"))],
           [("f32", "exact", "cvt.f32.f16 {d}, {a}"), ("f32", "exact", "cvt.ftz.f32.f16 {d}, {a}"),
            ("f32", "exact", "cvt.sat.f32.f16 {d}, {a}"), ("f64", "exact", "cvt.f64.f16 {d}, {a}"),
            ("f32", "ulp 0", "cvt.f32.bf16 {d}, {b}"), ("f16", "exact", "cvt.rn.f16.bf16 {d}, {b}"),
            ("bf16", "exact", "cvt.rn.bf16.f16 {d}, {a}"), ("s32", "exact", "cvt.rzi.s32.bf16 {d}, {b}"),
            ("bf16", "exact", "cvt.rn.bf16.s32 {d}, 1234567"), ("bf16", "exact", "cvt.rn.bf16.u16 {d}, {a}")], target="sm_90")
    fp = [("a", "f32", values(rng, "f32")), ("b", "f32", spread(rng, 1e-4, 1e5, EDGES))]
    family("cvt_packed", "cvt of two f32 to packed f16x2 and bf16x2", fp,
           [(f"{t}x2", "exact", f"cvt.{r}{m}.{t}x2.f32 {{d}}, {{a}}, {{b}}") for t in ("f16", "bf16") for r in ("rn", "rz") for m in ("", ".relu")])
    family("cvt_fp8", "cvt to and from e4m3x2 and e5m2x2", fp + [("c", "f16x2", values(rng, "f16x2"))],
           [("b16", "exact", f"cvt.rn.satfinite{m}.{t}x2.f32 {{d}}, {{a}}, {{b}}") for t in ("e4m3", "e5m2") for m in ("", ".relu")] +
           [("b16", "exact", f"cvt.rn.satfinite.{t}x2.f16x2 {{d}}, {{c}}") for t in ("e4m3", "e5m2")] +
           [("f16x2", "exact", f"cvt.u16.u32 %h0, {{c}}; cvt.rn.f16x2.{t}x2 {{d}}, %h0") for t in ("e4m3", "e5m2")],
           version="8.1", target="sm_90")
    pairs = [("a", "s32", values(rng, "s32")), ("b", "s32", values(rng, "s32", 1)), ("c", "b32", values(rng, "b32", 2))]
    family("cvt_pack", "cvt.pack.sat", pairs,
           [("b32", "exact", f"cvt.pack.sat.{t}.s32 {{d}}, {{a}}, {{b}}") for t in ("u16", "s16")] +
           [("b32", "exact", f"cvt.pack.sat.{t}.s32.b32 {{d}}, {{a}}, {{b}}, {{c}}") for t in ("u8", "s8")],
           unsupported="cvt.pack")


def video(rng):
    u = [("a", "b32", values(rng, "b32")), ("b", "b32", values(rng, "b32", 1)), ("c", "b32", values(rng, "b32", 2))]
    for lanes in "24":
        types = ("u32.u32.u32", "s32.s32.s32", "s32.u32.s32")
        outs = [("b32", "exact", f"{op}{lanes}.{t}{s} {{d}}, {{a}}, {{b}}, {{c}}") for op in ("vadd", "vsub") for t in types for s in ("", ".sat")]
        outs += [("b32", "exact", f"{op}{lanes}.{t} {{d}}, {{a}}, {{b}}, {{c}}") for op in ("vabsdiff", "vmin", "vmax", "vavrg") for t in types[:2]]
        outs += [("b32", "exact", f"{op}{lanes}.u32.u32.u32.add {{d}}, {{a}}, {{b}}, {{c}}") for op in ("vabsdiff", "vadd")]
        outs += [("b32", "exact", f"vset{lanes}.{t}.{c} {{d}}, {{a}}, {{b}}, {{c}}") for t in ("u32.u32", "s32.s32") for c in ("lt", "eq")]
        family(f"video_simd{lanes}", f"vadd{lanes} and its sisters", u, outs)
        mask, selector = (".h1", ".h20") if lanes == "2" else (".b31", ".b7012")
        family(f"video_select{lanes}", f"vadd{lanes} with selectors and a mask", u,
               [("b32", "exact", f"vadd{lanes}.u32.u32.u32 {{d}}{mask}, {{a}}{selector}, {{b}}, {{c}}")])
    # Left out, since an H200 departs from the manual there: saturation of u32 sums, shifts of vmad, and of a signed b3 or b0 with a .dsel.
    outs = [("b32", "exact", f"{op}.{t}{s} {{d}}, {{a}}, {{b}}") for op in ("vadd", "vsub", "vabsdiff", "vmin", "vmax")
            for t in ("u32.u32.u32", "s32.s32.s32", "s32.u32.s32") for s in ("", ".sat") if (op, t, s) != ("vadd", "u32.u32.u32", ".sat")]
    outs += [("b32", "exact", "vadd.u32.u32.s32 {d}, {a}.b1, {b}.h1"), ("b32", "exact", "vadd.u32.u32.u32 {d}.b2, {a}.b3, {b}.b0, {c}"),
             ("b32", "exact", "vsub.u32.u32.u32.add {d}, {a}.h0, {b}.h1, {c}"), ("b32", "exact", "vmax.s32.s32.s32.min {d}, {a}, {b}, {c}"),
             ("b32", "exact", "vshl.u32.u32.u32.clamp {d}, {a}, {b}"), ("b32", "exact", "vshr.s32.s32.u32.wrap {d}, {a}, {b}"),
             ("b32", "exact", "vmad.s32.s32.s32 {d}, {a}.h0, {b}.h1, {c}"),
             ("b32", "exact", "vset.s32.s32.lt {d}, {a}, {b}"), ("b32", "exact", "vset.u32.u32.ge.add {d}, {a}, {b}, {c}")]
    family("video_scalar", "vadd, vsub, vabsdiff, vmin, vmax, vshl, vshr, vmad, vset", u, outs)


def main():
    rng = random.Random(20261201)
    for section in (integers, bits, floats, conversions, video):
        section(rng)
    sys.path.insert(0, HERE)
    import kernels
    kernels.write_all(write)


if __name__ == "__main__":
    main()
