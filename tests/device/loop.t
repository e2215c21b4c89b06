#!/bin/bash
# SPDX-License-Identifier: MIT
#
# examples/loop: one epoll that has rdma_cm's events, completions and what the device reports. Three clients at once,
# one that is killed, and a link that goes down. Needs build/examples; runs itself again on the Soft-RoCE machine.

set -uo pipefail
cd "$(dirname "$(realpath "$0")")/../.." || exit
if [[ ${1-} != here ]]; then
	exec tools/softroce --quiet --timeout 0 --host qemu ${RDMAEZ_KERNEL:+--kernel "$RDMAEZ_KERNEL"} -- tests/device/loop.t here
fi
# shellcheck source=tests/tap.bash
source tests/tap.bash
# shellcheck source=tests/device/listener.bash
source tests/device/listener.bash

loop=build/examples/loop

# serve CLIENTS: start a server for so many; it is $server.
serve() {
	timeout 200 "$loop" -n "$1" >"$scratch/server" 2>"$scratch/errors" &
	server=$!
	await_cm_listener "$server" 300
}

# served STATUS LINE...: how it ended, and all that it said.
served() {
	local code=0
	wait "$server" || code=$?
	head -v "$scratch/server" "$scratch/errors"
	[[ $code == "$1" ]]
	diff "$scratch/server" <(printf '%s\n' "${@:2}")
}

# As many messages as make the queue go round many times, from three at once.
three_at_once() {
	local pids=() pid
	serve 3
	for count in 50 100 200; do
		timeout 200 "$loop" -c "$count" 192.0.2.1 >"$scratch/client$count" 2>&1 &
		pids+=("$!")
	done
	for pid in "${pids[@]}"; do wait "$pid"; done
	cat "$scratch"/client*
	for count in 50 100 200; do
		[[ $(<"$scratch/client$count") == "$count messages came back" ]]
	done
	served 0 '1 gone' '2 gone' '3 gone'
	[[ ! -s $scratch/errors ]]
}

# busy_client: sets client, which is connected and goes on.
busy_client() {
	"$loop" -c 100000000 192.0.2.1 >/dev/null 2>&1 &
	client=$!
	for ((try = 0; try < 300; try++)); do
		[[ $(rdma resource show qp | grep -c 'state RTS') -lt 2 ]] || break
		pause 0.1
	done
}

# The kernel of a client that is killed says so; the next client is served as ever.
killed() {
	serve 2
	busy_client
	kill -KILL "$client"
	timeout 200 "$loop" -c 5 192.0.2.1 >"$scratch/client" 2>&1
	[[ $(<"$scratch/client") == '5 messages came back' ]]
	served 0 '1 gone' '2 gone'
}

# A connected client makes the server open the device, whose port then goes down.
link_down() {
	local device=/sys/class/infiniband/rxe0/ports/1/gid_attrs/ndevs/0
	serve 1
	busy_client
	ip link set "$(<"$device")" down
	for ((try = 0; try < 300; try++)); do
		! grep -q IBV_EVENT_PORT_ERR "$scratch/server" || break
		pause 0.1
	done
	ip link set "$(<"$device")" up
	kill -KILL "$client" 2>/dev/null || true # it may have given up
	cat "$scratch/server"
	grep -q IBV_EVENT_PORT_ERR "$scratch/server"
	kill "$server" 2>/dev/null || true # its client's goodbye may be lost with the link
}

ok 'three clients at once' three_at_once
ok 'one that is killed' killed
ok 'the port goes down' link_down
done_testing
