#!/usr/bin/env python3
"""Checks which folder includes which: the table below is ARCHITECTURE.md's, and a new arrow needs a line and a reason.

Prints one line per forbidden include and exits with 1, or a closing line and 0. `--self-test` checks that the checker
finds what it should. Runs in ctest as `arrows`.
"""
import os
import re
import sys

# folder: what its files may include besides themselves and base. An entry ending in * is a file-name prefix.
ARROWS = {
    "src/base": [],
    "src/api": ["include"],
    "src/fatbin": [],
    "src/compiler/ptx": [],
    "src/compiler/ir": ["src/compiler/ptx"],
    "src/compiler/analysis": ["src/compiler/ir"],
    # build_ssa turns the AST into IR, so it sees both.
    "src/compiler/transform": ["src/compiler/ptx", "src/compiler/ir", "src/compiler/analysis"],
    # Both engines make the CompiledKernel that the door (compile.h) declares.
    "src/compiler/codegen": ["src/compiler/ir", "src/compiler/analysis", "src/compiler/compile.h",
                             "src/exec/kernel_abi*", "llvm"],
    "src/compiler/interp": ["src/compiler/ir", "src/compiler/compile.h", "src/exec/kernel_abi*"],
    # Only the pipeline and its door: compile.{h,cc}.
    "src/compiler": ["src/compiler/ptx", "src/compiler/ir", "src/compiler/analysis", "src/compiler/transform",
                     "src/compiler/codegen", "src/compiler/interp", "src/exec/kernel_abi*"],
    "src/exec": [],
    "src/driver": ["src/api", "src/fatbin", "src/compiler/compile.h", "src/exec", "include"],
    "src/runtime": ["src/api", "include"],
    "src/nvrtc": ["src/api", "include"],
    "src/libdevice": [],
    "tools": ["src/api", "src/fatbin", "include"],
    "services": ["include"],
    "examples": ["include"],
    "include": [],
    # Tests and benchmarks look at everything; what users ship must not.
    "tests": ["src/api", "src/fatbin", "src/compiler*", "src/exec", "src/driver", "src/runtime", "tools", "include"],
    "bench": ["src/api", "src/fatbin", "src/compiler*", "src/exec", "include"],
}
NO_BASE = {"services", "examples", "include"}  # they see the public API and nothing else of ours
# A unit test beside the code may compare the folder with the others of the compiler (interpreter against code).
TEST_EXTRA = {"src/compiler": ["src/compiler*", "src/exec/kernel_abi*", "llvm"], "src/exec": ["src/compiler*"],
              "src/driver": ["src/compiler*"], "src/runtime": ["src/driver"], "tools": ["src/compiler*"]}
ENDINGS = (".h", ".hpp", ".cc", ".cu", ".def", ".inc", ".c", ".cuh")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
GETENV = re.compile(r"\b(secure_)?getenv\s*\(")


def folder_of(path):
    """The longest folder of the table that holds `path`, or None."""
    best = None
    for folder in ARROWS:
        if path.startswith(folder + "/") and (best is None or len(folder) > len(best)):
            best = folder
    return best


def resolve(root, includer, mark, name):
    """The path inside the project that an include means, 'llvm', or None for other people's headers."""
    if name.startswith(("llvm/", "llvm-c/")):
        return "llvm"
    beside = os.path.normpath(os.path.join(os.path.dirname(includer), name))
    places = ([beside] if mark == '"' else []) + ["src/" + name, "include/" + name, name]
    for place in places:
        if os.path.isfile(os.path.join(root, place)):
            return os.path.normpath(place)
    return None


def allows(entry, target):
    if entry.endswith("*"):
        return target.startswith(entry[:-1])
    return target == entry or folder_of(target) == entry


def check_file(root, path):
    """Complaints about one file."""
    folder = folder_of(path)
    allowed = list(ARROWS[folder])
    if folder not in NO_BASE:
        allowed.append("src/base")
    if path.endswith("_test.cc") or "/tests/" in path:
        for prefix, extra in TEST_EXTRA.items():
            if folder.startswith(prefix):
                allowed += extra
    complaints = []
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, 1):
            where = f"{path}:{number}: "
            if folder.startswith("src/") and folder != "src/base" and GETENV.search(line) and "_test" not in path:
                complaints.append(where + "getenv: environment variables belong into src/base/options.def")
            match = INCLUDE.match(line)
            if not match:
                continue
            target = resolve(root, path, *match.groups())
            if target is None or folder_of(target) == folder and target != "llvm":
                continue
            if not any(allows(entry, target) for entry in allowed):
                complaints.append(where + f"{folder} may not include {match.group(2)} ({folder_of(target) or target})")
    return complaints


def check(root):
    complaints, files = [], 0
    for top in sorted({folder.split("/")[0] for folder in ARROWS}):
        for at, folders, names in os.walk(os.path.join(root, top)):
            folders.sort()
            for name in sorted(names):
                path = os.path.relpath(os.path.join(at, name), root)
                if name.endswith(ENDINGS) and folder_of(path):
                    files += 1
                    complaints += check_file(root, path)
    return complaints, files


def self_test():
    import tempfile

    files = {
        "src/base/log.h": "", "src/api/api.h": "", "src/exec/kernel_abi.h": "", "src/exec/grid.h": "",
        "src/compiler/compile.h": "", "src/compiler/ir/ir.h": "", "include/cuda.h": "",
        "src/runtime/good.cc": '#include "base/log.h"\n#include "api/api.h"\n#include <cuda.h>\n#include <vector>\n',
        "src/runtime/bad.cc": '#include "exec/grid.h"\n#include <llvm/IR/Module.h>\nint x = getenv("A");\n',
        "src/driver/good.cc": '#include "compiler/compile.h"\n',
        "src/driver/bad.cc": '#include "compiler/ir/ir.h"\n',
        "src/compiler/codegen/good.cc": '#include <llvm/IR/Module.h>\n#include "exec/kernel_abi.h"\n',
        "src/compiler/codegen/bad.cc": '#include "exec/grid.h"\n',
        "src/compiler/codegen/good_test.cc": '#include "compiler/compile.h"\n',
        "examples/bad.cu": '#include "base/log.h"\n',
    }
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as out:
                out.write(text)
        complaints, _ = check(root)
        found = sorted(line.split(":")[0] + ":" + line.split(":")[1] for line in complaints)
        expected = ["examples/bad.cu:1", "src/compiler/codegen/bad.cc:1", "src/driver/bad.cc:1",
                    "src/runtime/bad.cc:1", "src/runtime/bad.cc:2", "src/runtime/bad.cc:3"]
        if found != expected:
            sys.exit(f"self-test failed: found {found}, expected {expected}")
    print("self-test passed")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    complaints, files = check(root)
    for line in complaints:
        print(line)
    if complaints:
        sys.exit(f"{len(complaints)} includes against the arrows of ARCHITECTURE.md")
    print(f"{files} files follow the arrows")
    return None


if __name__ == "__main__":
    main()
