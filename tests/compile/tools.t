#!/bin/bash
# SPDX-License-Identifier: MIT
#
# rdmaez-doctor by gcc and clang, with every warning that the headers are compiled with as an error.

source tests/tap.bash

# by COMPILER FILE...
by() {
	"$1" -std=c11 -D_GNU_SOURCE -O2 -Iinclude @tests/compile/warnings -fsyntax-only "${@:2}"
}

ok 'rdmaez-doctor by gcc' by "${CC:-gcc}" tools/doctor/*.c
ok 'rdmaez-doctor by clang' by "${CLANG:-clang}" tools/doctor/*.c
echo 'int main(void) { unsigned int n = -1; return (int)n; }' >"$scratch/wrong.c"
fails 'a warning is seen' 'Wsign-conversion' by "${CLANG:-clang}" "$scratch/wrong.c"
done_testing
