# The front door. Everything here is a thin line over CMake's presets (CMakePresets.json) and scripts/.
#
#   make          the complete, relocatable tree in build/out
#   make demo     from a bare Debian 12: install what is missing, build, compile a CUDA program and run it on the CPU
#   make test     from a bare Debian 12: install what is missing, build, run every suite (about 20 minutes on two cores)
#   make check    the release build's tests alone
#   make help     all targets

PREFIX ?= /opt/heddle
# More for CMake's command line, for instance CMAKE_FLAGS=-DCMAKE_CXX_COMPILER=g++-13.
CMAKE_FLAGS ?=
export CMAKE_FLAGS

.PHONY: all build configure deps demo test check test-release test-clang test-asan test-tsan test-slow fuzz bench \
        format check-format tidy install clean help

all: configure
	cmake --build build --target tree

build: configure
	cmake --build build

configure:
	@scripts/install-deps.sh --check >/dev/null || { echo "Dependencies are missing: run 'make deps'" >&2; exit 1; }
	@mkdir -p build/logs
	@cmake --preset release $(CMAKE_FLAGS) >build/logs/configure.log 2>&1 || { cat build/logs/configure.log; exit 1; }

deps:
	@scripts/install-deps.sh

demo: deps all
	@scripts/demo.sh

test: deps
	@scripts/test.sh release asan tsan

check test-release: deps
	@scripts/test.sh release

test-clang: deps
	@scripts/test.sh clang

test-asan: deps
	@scripts/test.sh asan

test-tsan: deps
	@scripts/test.sh tsan

# What takes too long for every change: ctest's label `slow`.
test-slow fuzz: deps
	@scripts/test.sh slow

bench:
	@scripts/install-deps.sh --bench
	@$(MAKE) --no-print-directory configure
	cmake --build build --target bench

format:
	@scripts/format.sh

check-format:
	@scripts/format.sh --check

tidy: configure
	run-clang-tidy-19 -quiet -p build 'src/.*|tools/.*'

# DESTDIR is honoured.
install: all
	cmake --install build --prefix $(PREFIX)

clean:
	rm -rf build

help:
	@sed -n '3,7s/^# //p' Makefile
	@echo "  make install  copy build/out to PREFIX (now $(PREFIX))"
	@echo "  make bench    measure, with peers where they are installed"
	@echo "  make test-release test-asan test-tsan test-clang test-slow   one suite each"
	@echo "  make deps     install what is missing, and nothing else"
	@echo "  make format check-format tidy clean"
