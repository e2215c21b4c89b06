#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Tokens of device memory, fuzzed under ASan and UBSan with a fixed seed.

source tests/tap.bash

build=build/fuzz
mkdir -p "$build"
flags=(-std=c11 -g -O1 @tests/compile/warnings -fno-sanitize-recover=all)

# fuzz INCLUDE NAME RUNS
fuzz() {
	"${CLANG:-clang-14}" "${flags[@]}" -I"$1" -fsanitize=fuzzer,address,undefined \
		tests/fuzz/dm_token.c -o "$build/$2"
	"$build/$2" -seed=1 -runs="$3" -max_len=150 -len_control=0 -artifact_prefix="$scratch/"
}

# seeded NAME SCRIPT: a copy of the headers with SCRIPT, of sed, done to impl/dm_token.h.
seeded() {
	cp -r include "$scratch/$1"
	sed -i "$2" "$scratch/$1/rdmaez/impl/dm_token.h"
	! diff -r include "$scratch/$1" >/dev/null || echo "nothing was seeded by $2" >&2
	echo "$scratch/$1"
}

ok "200000 tokens are read or refused without a misstep" fuzz include dm_token 200000

fails "a sum that nobody compares is noticed" "deadly signal" \
	fuzz "$(seeded sum 's/rdmaez_impl_bytes_get(&sum, 4) !=/false \&\& &/')" token_sum 20000
fails "a region beyond the memory is noticed" "deadly signal" \
	fuzz "$(seeded region 's/token->length - token->mr_length);/token->length);/')" token_region 200000
fails "a byte read beyond the token is noticed" "AddressSanitizer: heap-buffer-overflow" \
	fuzz "$(seeded byte 's/RDMAEZ_DM_TOKEN_BYTES - 4))$/RDMAEZ_DM_TOKEN_BYTES + 1))/')" token_byte 200000
done_testing
