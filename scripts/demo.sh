#!/bin/sh
# What a newcomer sees first: CUDA programs compiled by open software alone and run on this machine's CPU. Called by
# `make demo`, when build/out is complete.
set -eu
cd "$(dirname "$0")/.."
heddle=build/out/bin/heddle
work=build/demo
mkdir -p $work

show() {
  printf '\n$ %s\n' "$*"
  "$@"
}

echo
echo "CUDA on the CPU: no GPU and no NVIDIA software is used from here on."
show $heddle c++ -O3 examples/vector_add.cu -o $work/vector_add
show $heddle run $work/vector_add
show $heddle c++ -O3 examples/mandelbrot.cu -o $work/mandelbrot -lpng
show $heddle run $work/mandelbrot $work/mandelbrot.png
echo
echo "Demo passed: the programs printed that their results are right. The picture is build/demo/mandelbrot.png."
