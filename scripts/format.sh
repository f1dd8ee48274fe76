#!/bin/sh
# Formats the C++ sources in place (.clang-format); with --check, only lists the files that would change and fails.
# Tables (*.def) are laid out by hand, and recorded PTX is data: both are left alone.
set -eu
cd "$(dirname "$0")/.."
tool=$(command -v clang-format-19) || { echo "format.sh: clang-format-19 is missing: run scripts/install-deps.sh" >&2; exit 1; }
files=$(git ls-files -co --exclude-standard -- '*.h' '*.hpp' '*.cc' '*.cu' '*.cuh')
[ -n "$files" ] || exit 0
if [ "${1:-}" = --check ]; then
  status=0
  for file in $files; do
    [ -f "$file" ] || continue
    "$tool" "$file" | cmp -s - "$file" || { echo "$file"; status=1; }
  done
  exit $status
fi
# shellcheck disable=SC2086 # the list is words on purpose; no source file has a space in its name
"$tool" -i $files
