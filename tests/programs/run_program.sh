#!/bin/sh
# Runs one CUDA program on the tree's CPU driver and judges it: exit status 0, and the last line of its output begins
# with OK. Used by the tests that cmake/cuda_programs.cmake registers.
#   run_program.sh TREE PROGRAM [ARGUMENTS]      status 77 (skipped) where the program was not built or asks for it
set -u
tree=$1 program=$2
shift 2
if [ ! -x "$program" ]; then
  echo "SKIPPED: $program was not built; its compiler is not installed here"
  exit 77
fi
output=$("$tree/bin/heddle" run "$program" "$@")
status=$?
printf '%s\n' "$output"
[ $status -eq 77 ] && exit 77  # the program says what it misses
if [ $status -ne 0 ]; then
  echo "exit status $status"
  exit 1
fi
case $(printf '%s\n' "$output" | tail -n 1) in
  OK*) exit 0 ;;
esac
echo "the last line does not begin with OK"
exit 1
