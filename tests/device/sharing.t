#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What queue pairs and threads share, and ways to post: examples/shared_receive, threads and tuning. Needs build/examples;
# runs itself again on the Soft-RoCE machine.

set -uo pipefail
cd "$(dirname "$(realpath "$0")")/../.." || exit
if [[ ${1-} != here ]]; then
	exec tools/softroce --quiet --timeout 0 --host qemu ${RDMAEZ_KERNEL:+--kernel "$RDMAEZ_KERNEL"} -- tests/device/sharing.t here
fi
# shellcheck source=tests/tap.bash
source tests/tap.bash

# prints EXAMPLE LINE...: just these lines.
prints() {
	timeout 120 "build/examples/$1" 2>&1 | diff - <(printf '%s\n' "${@:2}")
}

ok 'four queue pairs receive from one queue, which is filled again when it runs low' prints shared_receive \
	'queue pair '{0..3}' received 10' 'the queue was filled 4 times'
fails 'a count that is wrong is seen' '> queue pair 3 received 11' prints shared_receive \
	'queue pair '{0..2}' received 10' 'queue pair 3 received 11' 'the queue was filled 4 times'
ok 'four threads write through queue pairs of their own' prints threads 'thread '{0..3}': 500 writes arrived'

# The times mean nothing there; that each way ends means that every write was counted.
four_ways() {
	timeout 300 build/examples/tuning 2>&1 | tee "$scratch/tuned"
	diff <(sed -E 's/ +[0-9]+ ns$//' "$scratch/tuned") <(printf '%s\n' 'each write signaled, one by one' \
		'one in 16 signaled' 'one in 16 signaled, inline' 'one in 16 signaled, inline, lists of 16')
}
ok 'writes posted in four ways all complete' four_ways

done_testing
