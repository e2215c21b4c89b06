#!/bin/bash
# SPDX-License-Identifier: MIT
#
# examples/raii: what it creates is gone in the end, and soon: two connected queue pairs and an idle one of UD share a
# completion queue, which is destroyed after them. Needs build/examples; runs itself again on the Soft-RoCE machine.

set -uo pipefail
cd "$(dirname "$(realpath "$0")")/../.." || exit
if [[ ${1-} != here ]]; then
	exec tools/softroce --quiet --host qemu ${RDMAEZ_KERNEL:+--kernel "$RDMAEZ_KERNEL"} -- tests/device/raii.t here
fi
# shellcheck source=tests/tap.bash
source tests/tap.bash

# The deadline of a deleter is 10 s. Again if something else ran meanwhile.
ends() {
	local begun ms
	for _ in {1..6}; do
		begun=${EPOCHREALTIME/[.,]/}
		build/examples/raii >"$scratch/out" || return
		ms=$(((${EPOCHREALTIME/[.,]/} - begun) / 1000))
		cat "$scratch/out"
		echo "$ms ms"
		((ms > 2000)) || return 0
	done
	return 1
}
ok 'every object goes without an error, within 2 s' ends
ok 'all messages have come' grep -x '200 messages' "$scratch/out"
ok 'an exception has the reason' grep 'rdmaez_mr_sge failed with ERANGE' "$scratch/out"

done_testing
