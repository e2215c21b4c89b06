#!/bin/bash
# SPDX-License-Identifier: MIT
#
# examples/replicate: a log goes on where its replica was killed, and the copy is exact at the end. Needs build/examples; runs
# itself again on the Soft-RoCE machine.
#
# Nightly: a minute of one example.

set -uo pipefail
cd "$(dirname "$(realpath "$0")")/../.." || exit
if [[ ${1-} != here ]]; then
	exec tools/softroce --quiet --host qemu ${RDMAEZ_KERNEL:+--kernel "$RDMAEZ_KERNEL"} -- tests/device/replicate.t here
fi
# shellcheck source=tests/tap.bash
source tests/tap.bash

replicate=build/examples/replicate
log=$scratch/log copy=$scratch/copy

# copied BYTES KILLS: a log of so many bytes gets through, though its replica is killed that many times on the way.
copied() {
	local kills=0 size=0 host replica
	head -c "$1" /dev/urandom >"$log"
	rm -f "$copy"
	$replicate "$copy" &
	replica=$!
	timeout 100 $replicate "$log" localhost 2>"$scratch/said" &
	host=$!
	while ((kills < $2)); do
		until (($(stat -c %s "$copy" 2>/dev/null || echo 0) > size + $1 / 10)); do
			kill -0 "$host" || return
			sleep 0.01
		done
		kill -9 "$replica" || return
		wait "$replica" 2>/dev/null || (($? == 137))
		kills=$((kills + 1))
		printf torn >>"$copy"
		size=$(stat -c %s "$copy")
		$replicate "$copy" &
		replica=$!
	done
	wait "$host" || return
	wait "$replica" || return
	cat "$scratch/said"
	(($(grep -c '^the replica is lost' "$scratch/said" || :) == kills))
	cmp "$log" "$copy"
}

ok 'a copy without disturbance' copied 1000000 0
ok 'an empty one' copied 0 0
ok 'as many bytes as fill whole entries' copied 512000 0
ok 'an exact copy though its replica is killed four times' copied 20000003 4

done_testing
