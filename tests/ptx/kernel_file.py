"""How a hand-written kernel becomes a file of this folder; used by kernels_memory.py and kernels_control.py."""

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
