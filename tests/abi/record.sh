#!/usr/bin/env bash
# record.sh INCLUDE_FOLDER: prints what a set of CUDA headers says, one fact a line, sorted: the value of every
# enumerator and constant, the layout of every structure, the type of every function and typedef, as clang sees them.
# tests/abi/facts.txt is this script's output for NVIDIA's headers of CUDA 13.0; the tests compare both header sets
# with it. CLANG names the compiler (clang-19).
set -euo pipefail
export LC_ALL=C
include=$1
clang=${CLANG:-clang-19}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# C, since there every name is as plain as it gets. The exported names of the driver, not the renamed ones.
cat > "$work/all.c" <<'EOF'
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <cudaProfiler.h>
#include <cuda_runtime_api.h>
#include <cuda_profiler_api.h>
#include <builtin_types.h>
#include <library_types.h>
#include <vector_types.h>
EOF
flags=(-x c -std=gnu11 -w "-I$include")

"$clang" "${flags[@]}" -fsyntax-only -fno-color-diagnostics -Xclang -ast-dump "$work/all.c" > "$work/ast"

# Functions and typedefs: "kind name type". Only the API's own names.
sed -nE "s/^.*-FunctionDecl 0x[^']* (__cuda[A-Za-z0-9_]*|cu[A-Za-z0-9_]*) '(.*)'.*$/function \1 \2/p" "$work/ast" | sort -u
sed -nE "s/^.*-TypedefDecl 0x[^']* ((cu|CU)[A-Za-z0-9_]*) '([^']*)'(:'([^']*)')?.*$/typedef \1 \3/p" "$work/ast" | sort -u

# Layouts. Records without a name are called by the place where they are defined: leave the place out.
"$clang" "${flags[@]}" -fsyntax-only -Xclang -fdump-record-layouts-complete "$work/all.c" |
  sed -E 's/ at [^)]*\)/)/g; s/[ \t]+/ /g' |
  awk '/^ *\*\*\*/ { next }
       /^ *0 \| (struct|union) (cu|CU|[a-z]+[1-4](_[0-9]+a)?$|dim3)/ && !inside { name = $4; kind = $3; inside = (name !~ /[:(]/); if (inside) next }
       inside && /sizeof=/ { gsub(/[\[\]|,]/, ""); sub(/^ +/, ""); print "layout " name ": " $0; inside = 0; next }
       inside { sub(/^ +/, ""); print "layout " name " " $0 }
       /^ *$/ { inside = 0 }' | sort -u

# Values of enumerators and of constants that are macros.
sed -nE "s/^.*-EnumConstantDecl 0x[^']* ([A-Za-z_][A-Za-z0-9_]*) '.*$/\1/p" "$work/ast" | grep -E '^(cu|CU|NVCL|MAJOR|MINOR|PATCH)' | sort -u > "$work/names"
"$clang" "${flags[@]}" -E -dM "$work/all.c" |
  sed -nE 's/^#define ((CU_|CUDA_VERSION|CUDA_IPC|CUDA_ARRAY|CUDA_EXT|CUDA_COOP|CUDA_NVSCI|CUDART_VERSION|RESOURCE_ABI|cuda)[A-Za-z0-9_]*) +(.+)$/\1/p' |
  grep -vE '^cuda.*Attr(ID|Value)$|^CU_UUID_HAS_BEEN_DEFINED$' | sort -u >> "$work/names"
{
  cat "$work/all.c"
  echo '#include <stdio.h>'
  echo 'int main(void) {'
  sort -u "$work/names" | sed -E 's/.*/  printf("value & %lld\\n", (long long)(&));/'
  echo '  return 0;'
  echo '}'
} > "$work/values.c"
"$clang" "${flags[@]}" -o "$work/values" "$work/values.c"
"$work/values"
