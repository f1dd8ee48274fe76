#!/bin/sh
# Tests the built libdevice bitcode: every declared function is defined, nothing else is left undefined, and a CUDA
# compilation that links it leaves no __nv_ call in its PTX, with and without flushing of denormals.
# Usage: device_test.sh CLANG LLVM_NM LIBRARY DECLARES
set -eu
clang=$1 nm=$2 library=$3 declares=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $1" >&2; exit 1; }

grep -oE '__nv_[a-z0-9_]+' "$declares" | sort -u > "$work/declared"
"$nm" --defined-only "$library" | awk '$2 == "T" { print $3 }' | sort -u > "$work/defined"
missing=$(comm -23 "$work/declared" "$work/defined")
[ -z "$missing" ] || fail "not defined: $missing"
undefined=$("$nm" --undefined-only "$library" | awk '{ print $2 }' | grep -v -e '^__nvvm_reflect$' -e '^llvm\.' || true)
[ -z "$undefined" ] || fail "undefined: $undefined"

cat > "$work/kernel.cu" <<'CU'
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#include <__clang_cuda_libdevice_declares.h>
__global__ void kernel(float* f, double* d, int* n) {
  f[0] = __nv_sinf(f[1]) + __nv_powf(f[2], f[3]) + __nv_expf(f[4]) + __nv_fmaxf(f[5], f[6]) + __nv_tgammaf(f[7]);
  f[8] = __nv_fadd_rn(f[9], f[10]) + __nv_fast_sinf(f[11]) + __nv_sqrtf(f[12]) + __nv_fmodf(f[13], f[14]);
  d[0] = __nv_sin(d[1]) + __nv_pow(d[2], d[3]) + __nv_erfc(d[4]) + __nv_jn(3, d[5]) + __nv_normcdfinv(d[6]);
  n[0] = __nv_popc(n[1]) + __nv_float2int_rn(f[2]) + __nv_byte_perm(n[2], n[3], n[4]) + __nv_clzll(n[5]);
}
CU
compile() {
  "$clang" -x cuda --cuda-gpu-arch=sm_90 --cuda-device-only -S -O2 -nocudainc -nocudalib -Wno-unknown-cuda-version \
    -Xclang -mlink-builtin-bitcode -Xclang "$library" "$@" "$work/kernel.cu" -o -
}
for options in "" "-fgpu-flush-denormals-to-zero" "-ffast-math"; do
  compile $options > "$work/ptx"
  grep -q '\.entry' "$work/ptx" || fail "no kernel in the PTX ($options)"
  if grep -E '__nv_|__nvvm_reflect' "$work/ptx" >&2; then fail "calls are left in the PTX ($options)"; fi
  case $options in
    *flush*) grep -q 'add\.rn\.ftz\.f32' "$work/ptx" || fail "no flushing addition with $options" ;;
    "") if grep -q '\.ftz\.f32' "$work/ptx"; then fail "flushing instructions without being asked"; fi ;;
  esac
done
echo "$(wc -l < "$work/declared") functions, $(wc -c < "$library") bytes"
