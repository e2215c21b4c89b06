#!/bin/bash
# SPDX-License-Identifier: MIT
#
# rdmaez-explain and rdmaez-doctor by gcc and clang (gcc builds them for all other tests, so that is for make check-nightly), with every warning that the headers are compiled with as an error.

source tests/tap.bash

# by COMPILER FILE...
by() {
	"$1" -std=c11 -D_GNU_SOURCE -DRDMAEZ_EXTERN -O2 -Iinclude @tests/compile/warnings -Wno-gnu-statement-expression \
		-fsyntax-only "${@:2}"
}

for tool in explain doctor; do
	nightly ok "rdmaez-$tool by gcc" by "${CC:-gcc}" tools/$tool/*.c
	ok "rdmaez-$tool by clang" by "${CLANG:-clang}" tools/$tool/*.c
done
echo 'int main(void) { unsigned int n = -1; return (int)n; }' >"$scratch/wrong.c"
fails 'a warning is seen' 'Wsign-conversion' by "${CLANG:-clang}" "$scratch/wrong.c"
done_testing
