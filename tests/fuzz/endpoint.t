#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Endpoints, fuzzed under ASan and UBSan with a fixed seed.

header=endpoint longest=390
source tests/fuzz/lib.bash

runs=$(nightly_runs 3000)
ok "$runs endpoints are read or refused without a misstep" fuzz include endpoint "$runs"

fails "sums that nobody compares are noticed" "deadly signal" \
	fuzz "$(seeded sum 's/if (memcmp(buf + RDMAEZ_IMPL_ENDPOINT_SUMS/if (false \&\& memcmp(buf + RDMAEZ_IMPL_ENDPOINT_SUMS/')" endpoint_sum 20000
nightly fails "more of the user's bytes than there is room for are noticed" "AddressSanitizer" \
	fuzz "$(seeded user 's/X(user_length, 0, RDMAEZ_ENDPOINT_USER)/X(user_length, 0, 4000)/')" \
	endpoint_user 100000
nightly fails "more GIDs than there is room for are noticed" "runtime error: index" \
	fuzz "$(seeded gids 's/X(gid_count, 0, RDMAEZ_ENDPOINT_GIDS)/X(gid_count, 0, 200)/')" \
	endpoint_gids 100000
nightly fails "an end that chooses by its own list first is noticed" "deadly signal" \
	fuzz "$(seeded list 's/(0xff - behind)/(0xff - 2 * behind)/; s/own + peer);/2 * own + peer);/')" \
	endpoint_list 100000
done_testing
