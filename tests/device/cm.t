#!/bin/bash
# SPDX-License-Identifier: MIT
#
# examples/cm: both ends, over IPv4 and IPv6; and what each of them says when rdma_cm does not connect. Needs
# build/examples; runs itself again on the Soft-RoCE machine. tests/siw/cm.t is the same with the driver siw.
#
# Nightly: make check-siw has it with siw.

set -uo pipefail
cd "$(dirname "$(realpath "$0")")/../.." || exit
if [[ ${1-} != here ]]; then
	exec tools/softroce --quiet --timeout 0 --host qemu --driver "${1-rxe}" ${RDMAEZ_KERNEL:+--kernel "$RDMAEZ_KERNEL"} -- \
		tests/device/cm.t here "${1-rxe}"
fi
# shellcheck source=tests/tap.bash
source tests/tap.bash
# shellcheck source=tests/device/listener.bash
source tests/device/listener.bash

cm=build/examples/cm
device=${2}0
if [[ $2 == rxe ]]; then
	unheard='rdmaez_cm_connect failed with ECONNREFUSED (111) for RDMA_CM_EVENT_REJECTED on rxe0, QP [0-9]+, RC.
  status: no program listens on this port at that host .* Status: 8.'
	refused='rdmaez_cm_connect failed with ECONNREFUSED (111) for RDMA_CM_EVENT_REJECTED .*Status: 28.'
	gone=$refused
else
	unheard='rdmaez_cm_connect: rdma_connect failed with ECONNREFUSED (111) on siw0, QP [0-9]+, RC.
  Likely, id: nobody listens on the port at that address.'
	refused='rdmaez_cm_connect failed with ECONNREFUSED (111) for RDMA_CM_EVENT_REJECTED .*Status: -104.'
	gone='rdmaez_cm_connect'
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
		await_cm_listener "$pid" 300
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
		said "$end" 0 "$device: $3 bytes went each way and arrived intact"
	done
}

# explains END PATTERN: the end has failed, and its lines, as one, have this in them.
explains() {
	local words pattern
	((${!1} == 1))
	words=$(tr -s ' \n' ' ' <"$scratch/$1")
	pattern=$(tr -s ' \n' ' ' <<<"$2" | sed 's/[()]/\\&/g; s/ $//')
	grep -qE -- "$pattern" <<<"$words" || { echo "not: $pattern"; return 1; }
}

# alone SECONDS PATTERN COMMAND...: the command fails within that time, and explains why.
alone() {
	local begun=$SECONDS
	client=0
	timeout 100 "${@:3}" >"$scratch/client" 2>&1 || client=$?
	cat "$scratch/client"
	((SECONDS - begun <= $1)) || { echo "it took $((SECONDS - begun)) s"; return 1; }
	explains client "$2"
}

sizes_differ() {
	run "$cm" "$cm -s 100 192.0.2.1"
	said server 1 'cm: a client was refused: the sizes differ'
	explains client "^cm: the server says: the sizes differ $refused"
}

strange='it is another program, or another version'

# rping tells nothing when it connects: over iWARP no byte arrives, else zeros.
strange_client() {
	run "$cm" 'rping -c -a 192.0.2.1 -p 7471 -C 1'
	said server 1 "cm: a client was refused: $strange"
	((client != 0))
}

strange_server() {
	run 'rping -s -a 192.0.2.1 -p 7471 -C 1' "$cm 192.0.2.1"
	said client 1 "cm: the server is none of ours: $strange"
}

# A server that dies before it answers: its kernel refuses for it.
peer_gone() {
	local pid
	client=0
	timeout 100 rping -s -a 192.0.2.1 -p 7471 -C 1 >"$scratch/server" 2>&1 &
	pid=$!
	await_cm_listener "$pid" 300
	kill -STOP "$(pgrep -P "$pid")"
	(sleep 2 && kill -KILL "$(pgrep -P "$pid")") &
	timeout 100 $cm 192.0.2.1 >"$scratch/client" 2>&1 || client=$?
	wait "$pid" || true
	cat "$scratch/client"
	explains client "$1"
}

ok 'IPv4' play '' 192.0.2.1 65536
ok 'IPv6' play '-l ::' 2001:db8::1 65536
ok 'one byte, on another port' play '-s 1 -p 7000' '-s 1 -p 7000 192.0.2.1' 1
ok 'a million bytes' play '-s 1000000' '-s 1000000 192.0.2.1' 1000000
ok 'sizes differ: the server refuses, and the client says why' sizes_differ
if [[ $2 == rxe ]]; then
	ok 'a server at every address takes both families' play '' 2001:db8::1 65536
	ok 'a server at one address does not take the other' alone 5 "$unheard" $cm 2001:db8::1
	ok 'an interface without an RDMA device' alone 5 \
		'rdma_resolve_route failed with ENODEV (19) .* on an interface without an RDMA device' $cm 127.0.0.1
fi
ok 'a client that is another program' strange_client
ok 'a server that is another program' strange_server
ok 'nobody listens' alone 5 "$unheard" $cm 192.0.2.1
ok 'no route' alone 5 'rdma_resolve_addr failed with ENETUNREACH (101). dst_addr: this host has no route' $cm 10.99.0.1
ok 'nobody has the address' alone 15 \
	'rdmaez_cm_resolve failed with ETIMEDOUT (110) for RDMA_CM_EVENT_ADDR_ERROR. .* nobody answered for that address' \
	$cm 192.0.2.77
ok 'not an address of this host' alone 5 \
	'rdma_bind_addr failed with EADDRNOTAVAIL (99). addr: no interface of this host has this address' $cm -l 192.0.2.77
ok 'a server that dies before it answers' peer_gone "$gone"

done_testing
