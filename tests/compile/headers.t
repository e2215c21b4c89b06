#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The headers compile without a warning wherever they may be used: each alone, and all of every
# function, by gcc and clang, as C11 to C2x and C++11 to C++23, with the verbs.h of rdma-core 33 to 65.
# The first run downloads those headers.

source tests/compile/lib.bash

versions=$(tools/rdma-core-headers) || exit 1

# alone COMPILER STD INCLUDE VERBS: each header as the only one, included twice.
alone() {
	local header dir=$scratch/alone.$BASHPID
	mkdir "$dir"
	for header in rdmaez.h $(header_order "$3" | sed 's|^|rdmaez/|'); do
		printf '#include <%s>\n#include <%s>\nextern int rdmaez_alone;\n' "$header" "$header" >"$dir/${header//\//_}.c"
	done
	compile "$1" "$2" "$3" -isystem "$4" -fsyntax-only "$dir"/*.c
}

# everything COMPILER STD INCLUDE VERBS ARG...
everything() {
	all_functions "$3" | compile "$1" "$2" "$3" -isystem "$4" "${@:5}" -
}

# optimised COMPILER STD INCLUDE VERBS [LEVEL]: some warnings come only from the optimiser.
optimised() {
	everything "${@:1:4}" "${5:--O2}" -c -o "$scratch/optimised.$BASHPID.o"
}

# A C compiler that knows the standard and little more.
strict() {
	local object=$scratch/strict.$BASHPID
	all_functions "$1" >"$object.c"
	tcc -std=c11 -Wall -Werror "-I$1" -isystem "$2" -c "$object.c" -o "$object.o"
}

while read -r version verbs; do
	for compiler in "$CC c11" "$CLANG c11" "$CXX c++11" "$CLANGXX c++11"; do
		# shellcheck disable=SC2086 # two words
		soon ok "rdma-core $version: each header alone: $compiler" alone $compiler include "$verbs"
	done
	for standard in c11 c17 c2x; do
		soon ok "rdma-core $version: $CC $standard" everything "$CC" "$standard" include "$verbs" -fsyntax-only
		soon ok "rdma-core $version: $CLANG $standard" everything "$CLANG" "$standard" include "$verbs" -fsyntax-only
	done
	for standard in c++11 c++14 c++17 c++20 c++2b; do
		soon ok "rdma-core $version: $CXX $standard" everything "$CXX" "$standard" include "$verbs" -fsyntax-only
		soon ok "rdma-core $version: $CLANGXX $standard" everything "$CLANGXX" "$standard" include "$verbs" -fsyntax-only
	done
	for compiler in "$CC c11" "$CLANGXX c++20"; do
		# shellcheck disable=SC2086 # two words
		soon ok "rdma-core $version: optimised: $compiler" optimised $compiler include "$verbs"
	done
	soon ok "rdma-core $version: tcc" strict include "$verbs"
done <<<"$versions"

read -r _ oldest <<<"$versions"
read -r version newest < <(tail -n 1 <<<"$versions")
for compiler in "$CLANG c11" "$CXX c++11"; do
	# shellcheck disable=SC2086 # two words
	soon ok "rdma-core $version: optimised: $compiler" optimised $compiler include "$newest"
done

for level in -O1 -Os -O3; do
	soon ok "rdma-core $version: optimised by $level: $CC c11" optimised "$CC" c11 include "$newest" "$level"
done

# Seeded defects. A function is put before the closing brace of units.h's `extern "C"`.
with_function() {
	seeded "$1" rdmaez/units.h "\$i RDMAEZ_API $2"
}

conversion=$(with_function conversion 'unsigned int rdmaez_seed(int x) { return x; }')
soon fails 'gcc refuses a sign conversion in one header' 'rdmaez/units.h:.*sign-conversion' \
	alone "$CC" c11 "$conversion" "$newest"
soon fails 'clang++ refuses a sign conversion in one header' 'rdmaez/units.h:.*sign-conversion' \
	alone "$CLANGXX" c++11 "$conversion" "$newest"
soon fails 'a header that needs another before it is refused' 'rdmaez_units.h.c' \
	alone "$CC" c11 "$(seeded dependent rdmaez/units.h '/#include "base.h"/d')" "$newest"
soon fails 'what is C and not C++ is refused' 'invalid conversion' \
	everything "$CXX" c++2b "$(with_function void 'int *rdmaez_seed(void *x) { return x; }')" "$newest" -fsyntax-only
newer=$(with_function newer 'int rdmaez_seed(void) { return (int)IBV_ACCESS_FLUSH_GLOBAL; }')
soon fails 'a name that rdma-core 33 does not have is refused there' 'IBV_ACCESS_FLUSH_GLOBAL' \
	everything "$CC" c11 "$newer" "$oldest" -fsyntax-only
soon ok 'and accepted where it exists' everything "$CC" c11 "$newer" "$newest" -fsyntax-only
soon fails 'an extension that tcc does not know is refused' '__builtin_popcount' \
	strict "$(with_function strict 'int rdmaez_seed(int x) { return __builtin_popcount((unsigned int)x); }')" "$newest"

uninitialised=$(with_function uninitialised 'int rdmaez_seed(int x) { int y; if (x > 3) y = x; return y; }')
only_units "$uninitialised"
soon fails 'what only the optimiser sees is refused' 'maybe-uninitialized' \
	optimised "$CC" c11 "$uninitialised" "$newest"

done_testing
