#!/bin/sh
# Builds and runs test suites: test.sh SUITE...   Suites are the test presets of CMakePresets.json:
#   release  g++, optimised, everything but the slow tests      asan, tsan  clang 19 with sanitizers
#   clang    clang 19, debug                                    slow        the long runs, on the release build
# A suite that fails does not stop the next one. Ends with one line, "N passed, N failed", over all of them.
set -u
cd "$(dirname "$0")/.." || exit 1

logs=build/logs
mkdir -p $logs
passed=0
failed=0
summary=

note() { summary="$summary
  $1"; echo "==> $1"; }

run_suite() {
  suite=$1
  preset=$suite
  [ "$suite" != slow ] || preset=release
  start=$(date +%s)
  echo "==> $suite: configure and build"
  # shellcheck disable=SC2086 # flags are words
  if ! cmake --preset "$preset" ${CMAKE_FLAGS:-} >$logs/"$suite"-configure.log 2>&1; then
    cat $logs/"$suite"-configure.log
    failed=$((failed + 1))
    note "$suite: configuring failed"
    return
  fi
  if ! cmake --build --preset "$preset"; then
    failed=$((failed + 1))
    note "$suite: the build failed"
    return
  fi
  built=$(date +%s)
  echo "==> $suite: tests"
  ctest --preset "$suite" --output-junit "$PWD/$logs/$suite.xml"
  status=$?
  counts=$(python3 - "$logs/$suite.xml" <<'PYTHON'
import sys
import xml.etree.ElementTree as tree
try:
    suite = tree.parse(sys.argv[1]).getroot()
    tests, bad, skipped = (int(suite.get(key, 0)) for key in ("tests", "failures", "skipped"))
    print(tests - bad - skipped, bad)
except (OSError, tree.ParseError):
    print(0, 0)
PYTHON
)
  good=${counts% *}
  bad=${counts#* }
  # ctest's own verdict counts: no test at all, or a crash of ctest, is a failure.
  if [ $status -ne 0 ] && [ "$bad" -eq 0 ]; then bad=1; fi
  passed=$((passed + good))
  failed=$((failed + bad))
  note "$suite: $good passed, $bad failed (build $((built - start)) s, tests $(($(date +%s) - built)) s)"
}

for suite in "$@"; do run_suite "$suite"; done

echo
echo "Suites:$summary"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
