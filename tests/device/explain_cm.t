#!/bin/bash
# SPDX-License-Identifier: MIT
#
# rdmaez-explain and real connections of rdma_cm: what programs that no one here wrote do wrong, and their silence where
# nothing is; and why one waits. Needs build/tools, build/device/explained and build/tests/explain/cm_wrong; runs itself
# again on the Soft-RoCE machine.
# tests/siw/explain_cm.t is the same with the driver siw.
#
# Nightly: a minute; make check-siw has it with siw.

set -uo pipefail
cd "$(dirname "$(realpath "$0")")/../.." || exit
if [[ ${1-} != here ]]; then
	exec tools/softroce --quiet --timeout 0 --host qemu --driver "${1-rxe}" ${RDMAEZ_KERNEL:+--kernel "$RDMAEZ_KERNEL"} -- \
		tests/device/explain_cm.t here "${1-rxe}"
fi
# shellcheck source=tests/tap.bash
source tests/tap.bash
# shellcheck source=tests/device/listener.bash
source tests/device/listener.bash

driver=$2
device=${2}0
wrong=build/tests/explain/cm_wrong

explain() {
	timeout 60 build/tools/rdmaez-explain "$@"
}

# both SERVER CLIENT SECONDS: the client under rdmaez-explain, and the server as well, which gets so long to end by
# itself. What is said of them is in $scratch/server and $scratch/client.
both() {
	local pid
	# shellcheck disable=SC2086 # commands with options
	{
		timeout 60 build/tools/rdmaez-explain --log "$scratch/server" $1 >"$scratch/server.out" 2>&1 &
		pid=$!
		await_cm_listener "$pid" 30
		explain --line --log "$scratch/client" $2 >"$scratch/client.out" 2>&1 || :
		timeout "$3" tail --pid="$pid" --follow /dev/null || kill "$pid"
		wait "$pid" || :
	}
}

works() {
	rm -f "$scratch/server" "$scratch/client"
	both "$1" "$2" 10
	tail -v -n 5 "$scratch"/{server,client}.out
	[[ ! -s $scratch/server && ! -s $scratch/client ]] || { cat "$scratch/server" "$scratch/client"; return 1; }
	! grep -qiE "failed|error [1-9-]" "$scratch/client.out"
}

works_alone() {
	explain "$@" >"$scratch/out" 2>&1 || :
	cat "$scratch/out"
	[[ ! -s $scratch/out ]]
}

# says PATTERN COMMAND...: one finding, and in its text the pattern.
says() {
	explain --line --log "$scratch/log" "${@:2}" >"$scratch/out" 2>&1 || :
	cat "$scratch/out" "$scratch/log"
	[[ $(grep -c kind=cm "$scratch/log") == 1 ]]
	grep -qE -- "$1" "$scratch/log"
	rm "$scratch/log"
}

# client_says PATTERN SERVER CLIENT: the client has one finding.
client_says() {
	both "$2" "$3" 0.1
	cat "$scratch/client" "$scratch/client.out"
	[[ $(grep -c kind=cm "$scratch/client") == 1 ]]
	grep -qE -- "$1" "$scratch/client"
}

ok 'rping works, in silence' works 'rping -s -a 192.0.2.1 -p 7471 -C 3' 'rping -c -a 192.0.2.1 -p 7471 -C 3'
ok 'so does ucmatose' works 'ucmatose -b 192.0.2.1' 'ucmatose -s 192.0.2.1'
ok 'so do synchronous ids' works "rdma_server -p 7471" 'rdma_client -s 192.0.2.1 -p 7471'
ok 'so do sockets over RDMA' works 'rstream -b 192.0.2.1 -S 64 -C 10' 'rstream -s 192.0.2.1 -S 64 -C 10'
if [[ $driver == rxe ]]; then
	ok 'so do datagrams' works 'udaddy -b 192.0.2.1' 'udaddy -s 192.0.2.1'
	ok 'so does a program that connects to itself' works_alone $wrong nothing 192.0.2.1
fi

if [[ $driver == rxe ]]; then
	unheard='event=RDMA_CM_EVENT_REJECTED status=8 finding=error:CM_NO_LISTENER:'
else
	unheard='finding=likely:CM_NO_LISTENER:'
fi
[[ $driver != rxe ]] || ok 'nobody listens' says "device=$device $unheard" rping -c -a 192.0.2.1 -p 7471 -C 1
ok 'nobody listens to a synchronous id' says "call=rdma_connect error=ECONNREFUSED device=$device $unheard" \
	rdma_client -s 192.0.2.1 -p 7471
ok 'nobody listens to a socket over RDMA' says "$unheard" rstream -s 192.0.2.1 -S 64 -C 10
ok 'no route' says 'call=rdma_resolve_addr error=ENETUNREACH .*CM_NO_ROUTE' rping -c -a 10.99.0.1 -p 7471 -C 1
ip route add blackhole 10.98.0.0/24
ok 'a route into a black hole' says 'call=rdma_resolve_addr error=EINVAL .*finding=likely:CM_NO_ROUTE:' \
	rping -c -a 10.98.0.1 -p 7471 -C 1
[[ $driver == rxe ]] || ok 'a loopback address, over iWARP' says 'call=rdma_resolve_addr error=EINVAL .*likely:CM_LOOPBACK:' \
	rping -c -a 127.0.0.1 -p 7471 -C 1
ok 'nobody has the address' says 'event=RDMA_CM_EVENT_ADDR_ERROR status=-110 .*CM_NO_NEIGHBOUR' \
	rping -c -a 192.0.2.77 -p 7471 -C 1
ok 'not an address of this host' says 'call=rdma_bind_addr error=EADDRNOTAVAIL .*CM_NO_ADDRESS' \
	rping -s -a 192.0.2.77 -p 7471 -C 1
ok 'a name that nobody knows' says 'call=rdma_getaddrinfo .*CM_NAME' rdma_client -s no.such.host

if [[ $driver == rxe ]]; then
	ip address add 192.0.2.9/24 dev veth0
	ok 'the server listens at another address' client_says 'status=28 finding=likely:CM_REFUSED' \
		'rping -s -a 192.0.2.1 -p 7471 -C 1' 'rping -c -a 192.0.2.9 -p 7471 -C 1'
	ok 'another port space' client_says 'event=RDMA_CM_EVENT_UNREACHABLE status=1 finding=likely:CM_NO_LISTENER' \
		'rping -s -a 192.0.2.1 -p 7174 -C 1' 'udaddy -s 192.0.2.1'
	ok 'the port is taken' client_says 'call=rdma_bind_addr error=EADDRINUSE .*CM_PORT_TAKEN' \
		'rping -s -a 192.0.2.1 -p 7471 -C 1' 'rping -s -a 192.0.2.1 -p 7471 -C 1'
	ok 'the port is taken on all addresses' client_says 'call=rdma_bind_addr error=EADDRNOTAVAIL .*CM_PORT_TAKEN' \
		'rping -s -p 7471 -C 1' 'rping -s -a 192.0.2.1 -p 7471 -C 1'
	ok 'an address without an RDMA device' says 'call=rdma_resolve_route error=ENODEV .*CM_ADDRESS_NOT_RDMA' \
		rping -c -a 127.0.0.1 -p 7471 -C 1
	ok 'an interface without an RDMA device' says 'call=rdma_bind_addr error=ENODEV .*CM_ADDRESS_NOT_RDMA' \
		rping -s -a 192.0.2.2 -p 7471 -C 1
	ok 'private data that are too long' says 'call=rdma_connect error=EINVAL .*CM_PRIVATE_DATA' $wrong words 192.0.2.1
	ok 'more reads than the device does' says 'call=rdma_connect error=EINVAL .*CM_RESPONDER_RESOURCES' \
		$wrong resources 192.0.2.1
fi

accept_fails() {
	explain --log "$scratch/log" $wrong accept 192.0.2.1
	cat "$scratch/log"
	grep '^rdma_accept: ibv_modify_qp failed with EINVAL (22) on rxe0' "$scratch/log"
	grep "^rdma_connect failed with ECONNREFUSED (111): RDMA_CM_EVENT_REJECTED, status 28" "$scratch/log"
	grep "'no room'" "$scratch/log"
	[[ $(grep -c ' refused at ' "$scratch/log") == 2 ]]
}
[[ $driver != rxe ]] || ok 'a queue pair that cannot be moved: the headers say why, and the words of the rejection' accept_fails

# waits STATUS MISTAKE [REASON...]: with --waiting, over a connection that librdmacm has made
waits() {
	local code=0
	rm -f "$scratch/json"
	explain --waiting 2 --log "$scratch/log" --json "$scratch/json" build/device/explained/cm_waits "$2" 192.0.2.1 5 \
		>"$scratch/out" 2>&1 || code=$?
	cat "$scratch/out" "$scratch/log"
	[[ $code == "$1" ]]
	diff <(printf '%s\n' "${@:3}") <(jq --raw-output --slurp '[.[] | select(.kind == "waiting") | .findings[] |
		select(.reason != "WAIT_RETRY_7") | "\(.severity):\(.reason)"] | join("\n")' "$scratch/json")
}
ok 'a program that works has waited for nothing' waits 0 none
ok 'nor has an idle one' waits 9 idle
ok 'sends that nobody asked a completion of' waits 9 unsignaled likely:WAIT_UNSIGNALED
ok 'a completion queue that is not the right one' waits 9 wrong_cq error:WAIT_WRONG_CQ
ok 'one that was never armed' waits 9 not_armed error:WAIT_NOT_ARMED
ok 'one that was armed too late' waits 9 armed_late likely:WAIT_ARMED_LATE

fails 'a finding is noticed' 'rdma_connect failed with ECONNREFUSED' works_alone rdma_client -s 192.0.2.1

# advice COUNT CLIENT SERVER...: so much is said of the client's timer, which librdmacm leaves at its longest.
advice() {
	local pid
	: >"$scratch/log"
	timeout 60 "${@:3}" >"$scratch/server.out" 2>&1 &
	pid=$!
	await_cm_listener "$pid" 30
	# shellcheck disable=SC2086 # a command with options
	explain --advice --line --log "$scratch/log" $2 >"$scratch/out" 2>&1 || :
	wait "$pid" || :
	cat "$scratch/out" "$scratch/log"
	[[ $(grep -c 'call=rdma_disconnect .*finding=advice:RNR_TIMER_ZERO:min_rnr_timer' "$scratch/log" || :) == "$1" ]]
}
if [[ $driver == rxe ]]; then
	ok 'advice to a program that leaves min_rnr_timer at 0' advice 1 'rping -c -a 192.0.2.1 -C 1' rping -s -a 192.0.2.1 -C 1
	ok 'none to one that sets it' advice 0 'build/examples/cm 192.0.2.1' build/examples/cm
fi

# Each number that the other end, the client or an option has left at 0, under its own name: the server has told of 7 tries,
# which do not count, and of no RNR retries; the client of no tries.
zeros() {
	rm -f "$scratch/log" "$scratch/json"
	explain --advice --log "$scratch/log" --json "$scratch/json" build/device/explained/cm_waits zeros 192.0.2.1
	cat "$scratch/log"
	diff <(printf '%s\n' "${@}") <(jq --raw-output 'select(.kind == "advice") | .record.findings[] |
		"\(.severity):\(.reason):\(.field)"' "$scratch/json")
	grep -A 3 'rnr_retry_count is 0' "$scratch/log" | tr -s ' \n' ' ' | grep -F 'conn_param.rnr_retry_count to 7'
}
[[ $driver != rxe ]] || ok 'advice names what librdmacm takes, and whose number it is' zeros advice:RNR_TIMER_ZERO:min_rnr_timer \
	advice:RNR_RETRY_ZERO:rnr_retry advice:RETRY_ZERO:retry_cnt advice:TIMEOUT_ZERO:timeout

# without_nodes GLOB COMMAND...: with the device nodes that the pattern names, and no others.
without_nodes() {
	mkdir /run/nodes
	# shellcheck disable=SC2086 # a pattern
	cp --archive /dev/infiniband/$1 /run/nodes
	mount --bind /run/nodes /dev/infiniband
	"${@:2}"
	umount /dev/infiniband
	rm -r /run/nodes
}
ok 'no node of rdma_cm' without_nodes 'uverbs*' says 'call=rdma_create_event_channel error=ENOENT .*CM_NO_NODE' \
	rping -c -a 192.0.2.1 -p 7471 -C 1
ok 'no node of the device' without_nodes 'rdma_cm' says 'call=rdma_create_event_channel verb=ibv_get_device_list .*DEVICE_' \
	rping -c -a 192.0.2.1 -p 7471 -C 1

# A user who may open the device, but not rdma_cm.
not_permitted() {
	mkdir /run/nodes
	cp --archive /dev/infiniband/* /run/nodes
	chmod 666 /run/nodes/uverbs*
	chmod 600 /run/nodes/rdma_cm
	mount --bind /run/nodes /dev/infiniband
	setpriv --reuid 65534 --clear-groups build/tools/rdmaez-explain --line rping -c -a 192.0.2.1 -C 1 2>"$scratch/log" || :
	cat "$scratch/log"
	grep -q 'call=rdma_create_event_channel .*CM_NODE_DENIED' "$scratch/log"
}
ok 'no permission for the node of rdma_cm' not_permitted

done_testing
