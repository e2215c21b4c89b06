# SPDX-License-Identifier: MIT
#
# What the tests share that fuzz one header's bodies under ASan and UBSan with a fixed seed, in make check-nightly with
# a million inputs. Before it is sourced, `header` is set to the header's name and `longest` to the most bytes of an
# input.
# shellcheck shell=bash disable=SC2154

source tests/tap.bash
source tests/fuzz/targets.bash

build=build/fuzz
mkdir -p "$build"
# A few thousand inputs take less time than the optimiser.
level=$((${RDMAEZ_NIGHTLY:-0} == 1))
flags=(-std=c11 -g1 "-O$level" @tests/compile/warnings -fno-sanitize-recover=all)

# nightly_runs RUNS [MORE]: how many inputs of the headers as they are, and how many in make check-nightly.
nightly_runs() {
	echo "$((${RDMAEZ_NIGHTLY:-0} == 1 ? ${2:-1000000} : $1))"
}

# fuzz INCLUDE NAME RUNS
fuzz() {
	"${CLANG:-clang}" "${flags[@]}" -I"$1" -fsanitize=fuzzer,address,undefined \
		"tests/fuzz/$header.c" -libverbs -o "$build/$2"
	"$build/$2" -seed=1 -runs="$3" "-max_len=$longest" -len_control=0 -artifact_prefix="$scratch/" \
		"$(kept "$header")"
}

# kept NAME: a directory with the committed corpus of a target, which is replayed before anything is drawn.
kept() {
	mkdir -p "$scratch/kept.$1"
	fuzz_unpack "$1" "$scratch/kept.$1"
	echo "$scratch/kept.$1"
}

# seeded NAME SCRIPT: a copy of the headers with SCRIPT, of sed, done to the bodies.
seeded() {
	cp -r include "$scratch/$1"
	sed -i "$2" "$scratch/$1/rdmaez/impl/$header.h"
	! diff -r include "$scratch/$1" >/dev/null || echo "nothing was seeded by $2" >&2
	echo "$scratch/$1"
}
