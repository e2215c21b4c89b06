#!/bin/bash
# SPDX-License-Identifier: MIT
#
# examples/alltoall: eight processes write to each other and sleep until their completions come. Needs build/examples; runs
# itself again on the Soft-RoCE machine.

set -uo pipefail
cd "$(dirname "$(realpath "$0")")/../.." || exit
if [[ ${1-} != here ]]; then
	exec tools/softroce --quiet --host qemu ${RDMAEZ_KERNEL:+--kernel "$RDMAEZ_KERNEL"} -- tests/device/alltoall.t here
fi
# shellcheck source=tests/tap.bash
source tests/tap.bash

all_arrive() {
	timeout 120 build/examples/alltoall 2>"$scratch/said"
	diff <(sort "$scratch/said") <(printf 'rank %d: 10 rounds, 0 wrong bytes\n' {0..7})
}

ok 'every block of eight processes arrives' all_arrive

done_testing
