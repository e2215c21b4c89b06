#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What a peer may send to exchange.h, fuzzed under ASan and UBSan with a fixed seed.

header=exchange longest=600
source tests/fuzz/lib.bash

runs=$(nightly_runs 3000)
ok "$runs messages are understood or refused without a misstep" fuzz include exchange "$runs"

fails "a length that nobody compares is noticed" "deadly signal" \
	fuzz "$(seeded length 's/word < 4 ? theirs == mine : theirs >= mine/word == 4 || theirs == mine/')" exchange_length 30000
nightly fails "a byte read beyond the message is noticed" "deadly signal" \
	fuzz "$(seeded beyond 's/: x->want - got;/: x->want - got + 1;/')" exchange_beyond 30000
nightly fails "an output written too early is noticed" "deadly signal" \
	fuzz "$(seeded early 's/struct rdmaez_endpoint one;//; s/&one, diag)/\&x->remote[i], diag)/')" exchange_early 30000
done_testing
