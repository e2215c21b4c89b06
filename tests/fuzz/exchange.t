#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What a peer may send to exchange.h, fuzzed under ASan and UBSan with a fixed seed.

source tests/tap.bash

build=build/fuzz
mkdir -p "$build"
flags=(-std=c11 -g -O1 @tests/compile/warnings -fno-sanitize-recover=all)

# fuzz INCLUDE NAME RUNS
fuzz() {
	"${CLANG:-clang-14}" "${flags[@]}" -I"$1" -fsanitize=fuzzer,address,undefined \
		tests/fuzz/exchange.c -o "$build/$2"
	"$build/$2" -seed=1 -runs="$3" -max_len=600 -len_control=0 -artifact_prefix="$scratch/"
}

# seeded NAME SCRIPT: a copy of the headers with SCRIPT, of sed, done to impl/exchange.h.
seeded() {
	cp -r include "$scratch/$1"
	sed -i "$2" "$scratch/$1/rdmaez/impl/exchange.h"
	! diff -r include "$scratch/$1" >/dev/null || echo "nothing was seeded by $2" >&2
	echo "$scratch/$1"
}

ok "30000 messages are understood or refused without a misstep" fuzz include exchange 30000

fails "a length that nobody compares is noticed" "deadly signal" \
	fuzz "$(seeded length 's/if (i == 3 ? theirs < mine : theirs != mine)/if (i < 3 \&\& theirs != mine)/')" exchange_length 30000
fails "a byte read beyond the message is noticed" "deadly signal" \
	fuzz "$(seeded beyond 's/room = x->want - got;/room = x->want - got + 1;/')" exchange_beyond 30000
fails "an output written too early is noticed" "deadly signal" \
	fuzz "$(seeded early 's/struct rdmaez_endpoint one;//; s/&one, diag)/\&list->remote[i], diag)/')" exchange_early 30000
done_testing
