#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Tokens of device memory, fuzzed under ASan and UBSan with a fixed seed.

header=dm_share longest=150
source tests/fuzz/lib.bash

runs=$(nightly_runs 15000)
ok "$runs tokens are read or refused without a misstep" fuzz include dm_share "$runs"

fails "a sum that nobody compares is noticed" "deadly signal" \
	fuzz "$(seeded sum 's/rdmaez_impl_bytes_get(&sum, 4) !=/false \&\& &/')" token_sum 20000
nightly fails "a region beyond the memory is noticed" "deadly signal" \
	fuzz "$(seeded region 's/token->length - token->mr_length);/token->length);/')" token_region 200000
nightly fails "a byte read beyond the token is noticed" "AddressSanitizer: heap-buffer-overflow" \
	fuzz "$(seeded byte 's/RDMAEZ_DM_TOKEN_BYTES - 4))$/RDMAEZ_DM_TOKEN_BYTES + 1))/')" token_byte 200000
done_testing
