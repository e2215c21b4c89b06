#!/bin/bash
# SPDX-License-Identifier: MIT
#
# examples/06_server: a server in one thread that keeps serving, whatever its clients do. Needs build/examples; runs itself
# again on the Soft-RoCE machine.

set -uo pipefail
cd "$(dirname "$(realpath "$0")")/../.." || exit
if [[ ${1-} != here ]]; then
	exec tools/softroce --quiet --host qemu ${RDMAEZ_KERNEL:+--kernel "$RDMAEZ_KERNEL"} -- tests/device/server.t here
fi
# shellcheck source=tests/tap.bash
source tests/tap.bash

server=build/examples/06_server
$server 2>"$scratch/said" &
pid=$!

# store KEY [COUNT]: what a client prints; it fails unless it reads what it has stored, each time.
store() {
	timeout 100 $server localhost "$@"
}

# served COUNT FILE: so many clients, one after the other; the ms that the fastest took go to a file.
served() {
	local begun took i ms=999999
	for ((i = 0; i < $1; i++)); do
		begun=${EPOCHREALTIME/[.,]/}
		store "$i" >"$scratch/out" || return
		took=$(((${EPOCHREALTIME/[.,]/} - begun) / 1000))
		((took >= ms)) || ms=$took
		grep -qE "^$i: 0 of process [0-9]+\$" "$scratch/out" || return
	done
	echo "$ms" >"$scratch/$2"
}

# Three that connect and say nothing do not keep a fourth waiting; again if something else ran meanwhile.
silent() {
	local alone beside
	for _ in {1..6}; do
		served 3 alone || return
		exec 5<>/dev/tcp/127.0.0.1/18519 6<>/dev/tcp/127.0.0.1/18519 7<>/dev/tcp/127.0.0.1/18519
		served 3 beside || return
		exec 5>&- 6>&- 7>&-
		alone=$(<"$scratch/alone") beside=$(<"$scratch/beside")
		echo "the fastest took $alone ms alone, $beside ms beside three who are silent"
		((beside > alone + 200)) || return 0
	done
	return 1
}
ok 'who says nothing delays nobody by 200 ms' silent
together() {
	local clients=() key client
	for key in {10..17}; do
		store "$key" >"$scratch/out.$key" &
		clients+=("$!")
	done
	for client in "${clients[@]}"; do
		wait "$client" || return
	done
}
ok 'eight at once' together
stranger() {
	exec 5<>/dev/tcp/127.0.0.1/18519
	printf 'GET / HTTP/1.0\r\n\r\n' >&5
	until grep -aq 'EBADMSG' "$scratch/said"; do sleep 0.1; done
	cat "$scratch/said"
	grep -aq 'rdmaez_handshake_step failed with EBADMSG' "$scratch/said"
}
ok 'a stranger is told apart' stranger
late() {
	exec 5<>/dev/tcp/127.0.0.1/18519
	until grep -aq 'rdmaez_handshake_late' "$scratch/said"; do sleep 0.1; done
	cat "$scratch/said"
	grep -aq 'rdmaez_handshake_late failed with ETIMEDOUT' "$scratch/said"
}
ok 'one who says nothing is given up' late
# Four clients that never pause, one of which is killed again and again and comes back: the others miss no answer.
killed() {
	local clients=() client key
	for key in {20..22}; do
		store "$key" 400 >"$scratch/out.$key" &
		clients+=("$!")
	done
	for _ in {1..6}; do
		$server localhost 23 1000000 >"$scratch/out.23" &
		client=$!
		sleep 1
		kill -9 "$client" || return
		wait "$client" || (($? == 137)) || return
	done
	for client in "${clients[@]}"; do
		wait "$client" || return
	done
	for key in {20..22}; do
		grep -E "^$key: 399 of process [0-9]+\$" "$scratch/out.$key" || return
	done
	store 23 10 | grep '^23: 9 of'
}
ok 'what others ask is answered whoever is killed meanwhile' killed
ok 'the server is still there' kill -0 "$pid"
kill "$pid"
wait "$pid"
done_testing
