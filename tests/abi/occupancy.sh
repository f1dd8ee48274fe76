#!/usr/bin/env bash
# occupancy.sh OUR_INCLUDE TOOLKIT_INCLUDE COMPILER: cuda_occupancy.h of both says the same for the inputs of
# occupancy_sweep.cc. Skipped (exit status 77) where the toolkit isn't installed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if [[ ! -f $2/cuda_occupancy.h ]]; then
  echo "skipped: NVIDIA's toolkit is not installed in $2 (CUDA_HOME names another place)"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for i in 1 2; do
  "$3" -w -std=c++20 "-I${!i}" "$here/occupancy_sweep.cc" -o "$work/sweep$i"
  "$work/sweep$i" > "$work/said$i"
done
diff "$work/said2" "$work/said1" || { echo "lines with < are NVIDIA's, lines with > are ours"; exit 1; }
echo "$(wc -l < "$work/said1") answers agree"
