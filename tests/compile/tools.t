#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The tools' sources by gcc and clang, with every warning that the headers are compiled with as an error.

source tests/tap.bash

# by COMPILER FILE...
by() {
	"$1" -std=c11 -D_GNU_SOURCE -O2 -Iinclude @tests/compile/warnings -fsyntax-only "${@:2}"
}

for directory in doctor explain; do
	for compiler in "${CC:-gcc}" "${CLANG:-clang}"; do
		soon ok "tools/$directory by $compiler" by "$compiler" "tools/$directory"/*.c
	done
done
echo 'int main(void) { unsigned int n = -1; return (int)n; }' >"$scratch/wrong.c"
fails 'a warning is seen' 'Wsign-conversion' by "${CLANG:-clang}" "$scratch/wrong.c"
done_testing
