# SPDX-License-Identifier: MIT
#
# What the tests share that fuzz one header's bodies under ASan and UBSan with a fixed seed, in make check-nightly with
# ten times as many inputs. Before it is sourced,
# `header` is set to the header's name and `longest` to the most bytes of an input.
# shellcheck shell=bash disable=SC2154

source tests/tap.bash

build=build/fuzz
mkdir -p "$build"
flags=(-std=c11 -g -O1 @tests/compile/warnings -fno-sanitize-recover=all)

# nightly_runs RUNS: how many inputs of the headers as they are.
nightly_runs() {
	echo "$(($1 * (${RDMAEZ_NIGHTLY:-0} == 1 ? 10 : 1)))"
}

# fuzz INCLUDE NAME RUNS
fuzz() {
	"${CLANG:-clang}" "${flags[@]}" -I"$1" -fsanitize=fuzzer,address,undefined \
		"tests/fuzz/$header.c" -libverbs -o "$build/$2"
	"$build/$2" -seed=1 -runs="$3" "-max_len=$longest" -len_control=0 -artifact_prefix="$scratch/"
}

# seeded NAME SCRIPT: a copy of the headers with SCRIPT, of sed, done to the bodies.
seeded() {
	cp -r include "$scratch/$1"
	sed -i "$2" "$scratch/$1/rdmaez/impl/$header.h"
	! diff -r include "$scratch/$1" >/dev/null || echo "nothing was seeded by $2" >&2
	echo "$scratch/$1"
}
