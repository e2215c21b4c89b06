#!/bin/bash
# SPDX-License-Identifier: MIT
#
# examples/cm: both ends, over IPv4 and IPv6; and what each of them says when rdma_cm does not connect. Needs
# build/examples; runs itself again on the Soft-RoCE machine. tests/siw/cm.t is the same with the driver siw.

set -uo pipefail
cd "$(dirname "$(realpath "$0")")/../.." || exit
if [[ ${1-} != here ]]; then
	exec tools/softroce --quiet --timeout 0 --host qemu --driver "${1-rxe}" ${RDMAEZ_KERNEL:+--kernel "$RDMAEZ_KERNEL"} -- \
		tests/device/cm.t here "${1-rxe}"
fi
# shellcheck source=tests/tap.bash
source tests/tap.bash
# shellcheck source=tests/device/cm.bash
source tests/device/cm.bash

cm=build/examples/cm
device=${2}0
if [[ $2 == rxe ]]; then
	tuned='min_rnr_timer is 12 now: rdma_cm made it 0'
	unheard='status 8: that host is there, but no program listens on the port'
	refused='status 28: the program there refuses, or listens at another address'
else
	tuned=
	unheard='status -111: that host is there, but no program listens on the port'
	refused='status -104: the program there refuses'
fi

# run SERVER CLIENT: run both; their output goes to $scratch/server and $scratch/client, their exit statuses to $server
# and $client. A server that waits for no more clients is stopped.
run() {
	local pid
	server=0
	client=0
	# shellcheck disable=SC2086 # commands with options
	{
		timeout 100 $1 >"$scratch/server" 2>&1 &
		pid=$!
		await_listener "$pid" 300
		timeout 100 $2 >"$scratch/client" 2>&1 || client=$?
	}
	wait "$pid" || server=$?
	head -v "$scratch/server" "$scratch/client"
	echo "exit statuses: server $server, client $client"
}

# said END STATUS LINE...: what the end has said, all of it, and how it ended.
said() {
	[[ ${!1} == "$2" ]]
	diff "$scratch/$1" <(printf '%s\n' "${@:3}")
}

# Both ends end well, and both tell of all the bytes.
play() {
	local end
	run "$cm $1" "$cm $2"
	for end in server client; do
		said "$end" 0 ${tuned:+"$tuned"} "$device: $3 bytes went each way and arrived intact" \
			'disconnected: 1 of 1 outstanding receives flushed'
	done
}

# alone TEXT COMMAND...: the command fails, and TEXT is its last line.
alone() {
	server=0
	client=0
	timeout 100 "${@:2}" >"$scratch/client" 2>&1 || client=$?
	cat "$scratch/client"
	((client == 1))
	[[ $(tail -n 1 "$scratch/client") == "cm: $1" ]]
}

sizes_differ() {
	run "$cm" "$cm -s 100 192.0.2.1"
	said server 1 'cm: a client was refused: the sizes differ'
	said client 1 "cm: the connection: $refused: the sizes differ"
}

# rping tells nothing when it connects: over iWARP no byte arrives, else zeros.
strange_client() {
	run "$cm" 'rping -c -a 192.0.2.1 -p 7471 -C 1'
	said server 1 "cm: a client was refused: $1"
	((client != 0))
}

strange_server() {
	run 'rping -s -a 192.0.2.1 -p 7471 -C 1' "$cm 192.0.2.1"
	said client 1 "cm: the server is none of ours: $1"
}

ok 'IPv4' play '' 192.0.2.1 65536
ok 'IPv6' play '-l ::' 2001:db8::1 65536
ok 'one byte, on another port' play '-s 1 -p 7000' '-s 1 -p 7000 192.0.2.1' 1
ok 'a million bytes' play '-s 1000000' '-s 1000000 192.0.2.1' 1000000
ok 'sizes differ: the server refuses, and the client says why' sizes_differ
if [[ $2 == rxe ]]; then
	strange='it is another program, or another version'
	ok 'the other family: nobody listens there' alone "the connection: $unheard" $cm 2001:db8::1
	ok 'an interface without an RDMA device' alone \
		'the route: status -19: the route to that address starts at an interface without an RDMA device' $cm 127.0.0.1
else
	strange='it tells of no memory'
fi
ok 'a client that is another program' strange_client "$strange"
ok 'a server that is another program' strange_server "$strange"
ok 'nobody listens' alone "the connection: $unheard" $cm 192.0.2.1
ok 'no route' alone 'the address: status -101: this host has no route to that address' $cm 10.99.0.1
ok 'nobody has the address' alone \
	'the address: status -110: no answer: is that host up, does it use rdma_cm, is UDP port 4791 open?' $cm 192.0.2.77
ok 'not an address of this host' alone 'the address: status -99: Cannot assign requested address' $cm -l 192.0.2.77

done_testing
