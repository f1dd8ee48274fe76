#!/usr/bin/env bash
# exports.sh LIBRARY NAMES [NODE]: LIBRARY exports exactly the functions listed in NAMES, all of version node NODE, or
# without any version where NODE is left out; and it needs nothing but the system's C library.
set -euo pipefail
library=$1 names=$2 node=${3:-}
failed=0
found=$(nm -D --defined-only "$library" | awk '$2 != "A" { print $3 }')
if ! diff <(LC_ALL=C sort "$names") <(sed "s/@.*//" <<< "$found" | LC_ALL=C sort); then
  echo "$library does not export the names of $names (lines with < are missing, lines with > are too many)"
  failed=1
fi
wrong=$(if [[ -n $node ]]; then grep -v "@@$node\$" <<< "$found"; else grep '@' <<< "$found"; fi || true)
if [[ -n $wrong ]]; then
  echo "$library: symbols with the wrong version node (wanted: ${node:-none}):"
  head -5 <<< "$wrong"
  failed=1
fi
needed=$(readelf -d "$library" | sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p' |
  grep -vE '^(libc|libm|libdl|libpthread|librt|ld-linux-x86-64)\.so' || true)
if [[ -n $needed ]]; then
  echo "$library needs other libraries, which could clash with the program's:" $needed
  failed=1
fi
exit $failed
