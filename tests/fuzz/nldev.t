#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What rdmaez-doctor reads from RDMA netlink, fuzzed under ASan and UBSan with a fixed seed.

header=nldev longest=600
source tests/fuzz/lib.bash

# fuzz_reader DIRECTORY NAME RUNS: the reader in a tree like this one.
fuzz_reader() {
	"${CLANG:-clang}" "${flags[@]}" -D_GNU_SOURCE -fsanitize=fuzzer,address,undefined \
		"$1/tests/fuzz/nldev.c" "$1/tools/doctor/nldev.c" -o "$build/$2"
	"$build/$2" -seed=1 -runs="$3" "-max_len=$longest" -len_control=0 -artifact_prefix="$scratch/" \
		"$(kept nldev)"
}

# seeded_reader NAME SCRIPT: a copy with SCRIPT, of sed, done to the reader.
seeded_reader() {
	mkdir -p "$scratch/$1/tools/doctor" "$scratch/$1/tests/fuzz"
	cp tools/doctor/nldev.[ch] "$scratch/$1/tools/doctor"
	cp tests/fuzz/{nldev.c,must.h} "$scratch/$1/tests/fuzz"
	sed -i "$2" "$scratch/$1/tools/doctor/nldev.c"
	! diff tools/doctor/nldev.c "$scratch/$1/tools/doctor/nldev.c" >/dev/null || echo "nothing was seeded by $2" >&2
	echo "$scratch/$1"
}

runs=$(nightly_runs 40000)
ok "$runs answers are read without a misstep" fuzz_reader . nldev "$runs"

fails "an attribute longer than what is there is noticed" "AddressSanitizer|deadly signal" \
	fuzz_reader "$(seeded_reader attribute 's/ || head.nla_len > rest->length//')" nldev_attribute 200000
nightly fails "a message longer than what is there is noticed" "AddressSanitizer|deadly signal" \
	fuzz_reader "$(seeded_reader message 's/ || head.nlmsg_len > length//')" nldev_message 200000
nightly fails "a number cut short is noticed" "AddressSanitizer|deadly signal" \
	fuzz_reader "$(seeded_reader number 's/ || data.length < size//')" nldev_number 200000
nightly fails "text without an end is noticed" "AddressSanitizer|deadly signal" \
	fuzz_reader "$(seeded_reader text 's/buf.length. = .*;/(void)0;/')" nldev_text 200000
nightly fails "an answer to another question is noticed" "deadly signal" \
	fuzz_reader "$(seeded_reader sequence 's/head.nlmsg_seq != sequence/!sequence/')" nldev_sequence 20000
done_testing
