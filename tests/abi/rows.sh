#!/usr/bin/env bash
# rows.sh COMPILER INCLUDE SOURCE: the coverage column of driver.def and runtime.def can't lie. With a table of one row:
# a body for a row that says Missing does not compile, a row that says Done does not link without a body, and with it
# both do.
set -euo pipefail
compiler=$1 include=$2 source=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/heddle"
failed=0

# table API COVERAGE: a table of one row, found before the real one by everything but the public headers.
table() {
  if [[ $1 == driver ]]; then
    printf 'HEDDLE_DRIVER(cuInit, , 2000, Nothing, None, %s, (unsigned int flags), (flags))\n' "$2"
    printf '#undef HEDDLE_DRIVER\n#undef HEDDLE_DRIVER_NAME\n'
  else
    printf '#ifndef HEDDLE_DEFAULT\n#define HEDDLE_DEFAULT(value)\n#endif\n'
    printf 'HEDDLE_RUNTIME(cudaFree, Context, None, %s, (void* pointer), (pointer))\n' "$2"
    printf '#undef HEDDLE_RUNTIME\n#undef HEDDLE_RUNTIME_PLAIN\n#undef HEDDLE_RUNTIME_NAME\n'
  fi > "$work/heddle/$1.def"
}
# build API BODY: the exported function, the policy, and perhaps the body, as a shared library without undefined names.
build() {
  local hooks='namespace heddle::api { void warn_not_implemented(const Entry&) {} bool is_out_of_memory() noexcept { return false; } }'
  if [[ $1 == driver ]]; then
    hooks+=' namespace heddle::driver { CUresult admit(api::Needs) noexcept { return CUDA_SUCCESS; }'
    hooks+=' void failed(const api::Entry&, CUresult) noexcept {} }'
  else
    hooks+=' namespace heddle::runtime { cudaError_t admit(api::Needs) noexcept { return cudaSuccess; }'
    hooks+=' void failed(const api::Entry&, cudaError_t) noexcept {} }'
  fi
  printf '#include "api/%s_exports.h"\n%s\n%s\n' "$1" "$hooks" "$2" > "$work/row.cc"
  "$compiler" -std=c++20 -fPIC -shared -Wl,--no-undefined "-I$work" "-I$source" "-I$include" "$work/row.cc" \
    -o "$work/row.so" > "$work/log" 2>&1
}
expect() {
  local wanted=$1 what=$2 got=works
  shift 2
  build "$@" || got=fails
  if [[ $got != "$wanted" ]]; then
    echo "$what: $got, but should be: $wanted"
    cat "$work/log"
    failed=1
  fi
}

driver_body='CUresult heddle::driver::impl::cuInit(unsigned int) { return CUDA_SUCCESS; }'
runtime_body='cudaError_t heddle::runtime::impl::cudaFree(void*) { return cudaSuccess; }'
for api in driver runtime; do
  body=${api}_body
  table $api Done
  expect works "$api: Done, with a body" $api "${!body}"
  expect fails "$api: Done, without a body" $api ''
  table $api Missing
  expect works "$api: Missing, without a body" $api ''
  expect fails "$api: Missing, with a body" $api "${!body}"
  table $api 'NotApplicable("reason")'
  expect works "$api: NotApplicable, without a body" $api ''
  expect fails "$api: NotApplicable, with a body" $api "${!body}"
done
exit $failed
