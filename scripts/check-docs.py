#!/usr/bin/env python3
"""Checks what documentation says about things that a program can look up. Runs in ctest as `docs`.

- every relative link in a Markdown file leads somewhere
- every HEDDLE_ and CUDA_ variable of src/base/options.def is in the manual page
- every option that `heddle run` parses is in the manual page and in the completion, and so is every command
- every test that a comment in src, tools or include names exists
- every path in backquotes that begins with a top folder of ours exists
"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TOP = ("src", "tools", "tests", "docs", "scripts", "include", "examples", "cmake", "bench")


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def markdown_files():
    for name in sorted(os.listdir(ROOT)):
        if name.endswith(".md"):
            yield name
    for at, folders, names in os.walk(os.path.join(ROOT, "docs")):
        folders.sort()
        for name in sorted(names):
            if name.endswith(".md"):
                yield os.path.relpath(os.path.join(at, name), ROOT)


def check_links(path, complaints):
    text = read(path)
    for number, line in enumerate(text.splitlines(), 1):
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", line):
            if not os.path.exists(os.path.join(ROOT, os.path.dirname(path), target)):
                complaints.append(f"{path}:{number}: link to {target}, which is not there")
        for name in re.findall(r"`([\w./-]+)`", line):
            if name.split("/")[0] in TOP and "/" in name and "NAME" not in name:
                if not os.path.exists(os.path.join(ROOT, name)):
                    complaints.append(f"{path}:{number}: names {name}, which is not there")


def check_manual(complaints):
    manual = read("docs/man/heddle.1").replace("\\-", "-")
    for variable in re.findall(r'HEDDLE_OPTION\(\w+, "((?:HEDDLE|CUDA)_\w+)"', read("src/base/options.def")):
        if variable not in manual:
            complaints.append(f"docs/man/heddle.1: {variable} of options.def is missing")
    completion = read("tools/completions/heddle")
    for option in sorted(set(re.findall(r'"(--[a-z]+)', read("tools/run.cc")))):
        for path, text in (("docs/man/heddle.1", manual), ("tools/completions/heddle", completion)):
            if option not in text and option != "--help":
                complaints.append(f"{path}: option {option} of heddle run is missing")


def check_commands(complaints):
    for name in re.findall(r'\{"([\w+]+)", \w+_main, "', read("tools/heddle.cc")):
        if name not in read("docs/man/heddle.1"):
            complaints.append(f"docs/man/heddle.1: command {name} is missing")
        if not re.search(rf"-W \"[^\"]*{re.escape(name)}", read("tools/completions/heddle")):
            complaints.append(f"tools/completions/heddle: command {name} is missing")


def check_named_tests(complaints):
    paths = []
    for top in ("src", "tools", "tests", "include"):
        for at, _, names in os.walk(os.path.join(ROOT, top)):
            paths += [os.path.relpath(os.path.join(at, name), ROOT) for name in names]
    for path in sorted(paths):
        if path.startswith("tests/") or not path.endswith((".cc", ".h", ".def", ".hpp", ".inc")):
            continue
        for number, line in enumerate(read(path).splitlines(), 1):
            if not line.lstrip().startswith(("//", "/*", "*")):
                continue
            for name in re.findall(r"[\w/]+_test\.(?:cc|sh)|tests/[\w/]+\.\w+", line):
                if not any(other.endswith("/" + name) or other == name for other in paths):
                    complaints.append(f"{path}:{number}: names {name}, which is not there")


def main():
    complaints = []
    for path in markdown_files():
        check_links(path, complaints)
    check_manual(complaints)
    check_commands(complaints)
    check_named_tests(complaints)
    for line in complaints:
        print(line)
    if complaints:
        sys.exit(f"{len(complaints)} places where the documentation is wrong")
    print("documentation agrees with the tree")


if __name__ == "__main__":
    main()
