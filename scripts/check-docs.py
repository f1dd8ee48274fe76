#!/usr/bin/env python3
"""Checks what documentation says about things that a program can look up. Runs in ctest as `docs`.

- every relative link in a Markdown file leads somewhere
- every HEDDLE_ and CUDA_ variable of src/base/options.def is in the manual page
- every option that `heddle run` parses is in the manual page and in the completion
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


def main():
    complaints = []
    for path in markdown_files():
        check_links(path, complaints)
    check_manual(complaints)
    for line in complaints:
        print(line)
    if complaints:
        sys.exit(f"{len(complaints)} places where the documentation is wrong")
    print("documentation agrees with the tree")


if __name__ == "__main__":
    main()
