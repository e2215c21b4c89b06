#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A comparison that cannot fail proves nothing: one turned bit in the answers must be noticed.

source tests/tap.bash

build=build/kernel/${RDMAEZ_KERNEL:-bookworm}
[[ -s $build/answers ]] || tests/kernel/oracle.t >/dev/null || exit 1

# Bit 0 is RC, RESET to RESET, the empty mask; the other lies in the last transition.
fails "a wrong answer to the first question is noticed" "^not ok 1 .*RC RESET to RESET" \
	"$build/oracle" "$build/answers" 0
fails "a wrong answer to one of the last questions is noticed" "^not ok 294 .*XRC_RECV ERR to ERR" \
	"$build/oracle" "$build/answers" $((293 * (1 << 22) + 1))
head -c 1000000 "$build/answers" >"$scratch/short"
fails "missing answers are noticed" "Bail out! .* ends early" "$build/oracle" "$scratch/short"
done_testing
