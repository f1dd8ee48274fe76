#!/bin/sh
# Installs what Heddle is built with, from Debian's own packages. Safe to repeat: what is there is not touched.
#   install-deps.sh           what `make`, `make demo` and `make test` need
#   install-deps.sh --bench   also what `make bench` compares with
#   install-deps.sh --check   only says what is missing (exit 1 if anything is)
set -eu

# One line per reason. Versions are the ones of Debian 12.
packages="
build-essential cmake ninja-build ccache pkg-config git python3
clang-19 clang-tools-19 libclang-rt-19-dev lld-19 llvm-19 llvm-19-dev
clang-format-19 clang-tidy-19
liblz4-dev libzstd-dev zlib1g-dev libpng-dev
libgtest-dev libbenchmark-dev
"
bench_packages="pocl-opencl-icd ocl-icd-opencl-dev"

mode=install
for argument in "$@"; do
  case $argument in
    --bench) packages="$packages $bench_packages" ;;
    --check) mode=check ;;
    *) sed -n '2,5s/^# \{0,1\}//p' "$0"; exit 2 ;;
  esac
done

if ! command -v dpkg-query >/dev/null 2>&1; then
  echo "install-deps.sh: this is not a Debian system; install the equivalents of:" $packages >&2
  exit 1
fi

missing=
for package in $packages; do
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing="$missing $package"
done
if [ -z "$missing" ]; then
  echo "Dependencies: all installed."
  exit 0
fi
echo "Dependencies: missing:$missing"
[ $mode = install ] || exit 1

as_root=
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null 2>&1 || { echo "install-deps.sh: run it as root, or install sudo" >&2; exit 1; }
  as_root=sudo
  echo "Dependencies: installing with sudo"
fi
export DEBIAN_FRONTEND=noninteractive
# A package list that is already there is tried first; a fresh machine has none.
install() { $as_root apt-get install -y --no-install-recommends $missing; }
if ! apt-cache show clang-19 >/dev/null 2>&1 || ! install; then
  $as_root apt-get update
  install
fi
echo "Dependencies: installed."
