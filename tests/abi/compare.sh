#!/usr/bin/env bash
# compare.sh INCLUDE_FOLDER [--toolkit]: the headers in INCLUDE_FOLDER say what facts.txt says. With --toolkit the
# folder is NVIDIA's: skipped (exit status 77) where it isn't installed or is of another version.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
include=$1
if [[ ${2:-} == --toolkit ]]; then
  if [[ ! -f $include/cuda.h ]]; then
    echo "skipped: NVIDIA's toolkit is not installed in $include (CUDA_HOME names another place)"
    exit 77
  fi
  if ! grep -q '#define CUDA_VERSION 13000$' "$include/cuda.h"; then
    echo "skipped: the facts were recorded from CUDA 13.0, and $include is another version"
    exit 77
  fi
fi
if ! command -v "${CLANG:-clang-19}" > /dev/null; then
  echo "skipped: ${CLANG:-clang-19} is not installed (it reads the headers for this test)"
  exit 77
fi
found=$(mktemp)
trap 'rm -f "$found"' EXIT
"$here/record.sh" "$include" > "$found"
if ! diff "$here/facts.txt" "$found"; then
  echo "$include differs from facts.txt (lines with < are the facts, lines with > are what it says)"
  exit 1
fi
echo "$(wc -l < "$found") facts agree"
