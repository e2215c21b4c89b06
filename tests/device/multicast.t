#!/bin/bash
# SPDX-License-Identifier: MIT
#
# examples/multicast between two devices: what is sent to an IP group reaches every receiver of it whose host is a member,
# and no other, who is told so. What docs/multicast.md has for a program whose librdmacm has joined the group works as well.
# Needs build/examples; runs itself again on the Soft-RoCE machine.
#
# Nightly: a minute; the membership has unit tests, too.

set -uo pipefail
cd "$(dirname "$(realpath "$0")")/../.." || exit
if [[ ${1-} != here ]]; then
	mkdir -p build/device/multicast
	awk '/^```c$/ { block = ""; inside = 1; next } /^```$/ { if (block ~ /rdma_cm_event/) printf "%s", block; block = ""; inside = 0 }
		inside { block = block $0 "\n" }' docs/multicast.md >build/device/multicast/attach.h
	"${CC:-gcc}" -std=c11 -D_GNU_SOURCE @tests/compile/warnings -Iinclude -Ibuild/device/multicast \
		tests/device/multicast/joined.c -o build/device/multicast/joined -libverbs -lrdmacm || exit
	exec tools/softroce --quiet --timeout 0 --host qemu --devices 2 ${RDMAEZ_KERNEL:+--kernel "$RDMAEZ_KERNEL"} -- \
		tests/device/multicast.t here
fi
# shellcheck source=tests/tap.bash
source tests/tap.bash

multicast=build/examples/multicast
netdev=$(cat /sys/class/infiniband/rxe1/ports/1/gid_attrs/ndevs/0)

# receive COUNT ARGUMENT...: so many receivers, each with $scratch/N.out and .said; returns when all are ready.
receive() {
	local i try count
	receivers=()
	rm -f "$scratch"/*.out "$scratch"/*.said
	for ((i = 0; i < $1; i++)); do
		timeout 200 "$multicast" "${@:2}" >"$scratch/$i.out" 2>"$scratch/$i.said" &
		receivers+=("$!")
	done
	for ((try = 0; try < 1000; try++)); do
		count=$(cat "$scratch"/*.said 2>/dev/null | grep -cx ready || :)
		((count < $1)) || return 0
		sleep 0.1
	done
	cat "$scratch"/*
	return 1
}

# ended STATUS: every receiver has, in this way.
ended() {
	local pid code all=0
	for pid in "${receivers[@]}"; do
		code=0
		wait "$pid" || code=$?
		((code == $1)) || all=1
	done
	cat "$scratch"/*.out
	return "$all"
}

# arrives GROUP [OPTION]: the host is a member, three receivers get all twenty messages, in their order, and then it is none.
arrives() {
	local out
	receive 3 "${@:2}" "$1" rxe1
	ip maddress show dev "$netdev" | tee "$scratch/maddress"
	grep -E "inet6? +$1( |$)" "$scratch/maddress"
	[[ $("$multicast" -s "$1" rxe0) == 'sent 20' ]]
	ended 0
	for out in "$scratch"/[0-2].out; do
		diff "$out" <(printf 'message %d\n' {1..20}; echo 'received 20 of 20')
	done
	ip maddress show dev "$netdev" >"$scratch/maddress"
	! grep -E "inet6? +$1( |$)" "$scratch/maddress"
}

# silent GROUP GID: without the membership nothing does, and it is named.
silent() {
	receive 1 -n "$1" rxe1
	[[ $("$multicast" -s "$1" rxe0) == 'sent 20' ]]
	ended 1
	tr -s '\n ' ' ' <"$scratch/0.out" >"$scratch/words"
	grep -q '^received 0 of 20 rdmaez_multicast_examine: ' "$scratch/words"
	grep -qF "interface $netdev) to $2," "$scratch/words"
	grep -q "Likely, gid: the host is not a member of this IP group on the GID's interface" "$scratch/words"
}

ok 'an IPv4 group reaches three receivers' arrives 239.1.2.3
ok 'an IPv6 group does' arrives ff0e::9
ok 'a group of the link does' arrives ff02::9
ok 'without the membership an IPv4 group is silent, and why is said' silent 239.1.2.3 ::ffff:239.1.2.3
ok 'so it is of an IPv6 group' silent ff0e::9 ff0e::9
# The address of rxe0, which is bound before librdmacm joins.
own=$(ip -4 -brief address show dev "$(cat /sys/class/infiniband/rxe0/ports/1/gid_attrs/ndevs/0)" | grep -oE '[0-9.]+/' | head -n 1)
joined() {
	build/device/multicast/joined 239.1.2.4 "${own%/}" | tee "$scratch/joined"
	[[ $(<"$scratch/joined") == 'received 20 of 20' ]]
}
ok 'a queue pair joins what librdmacm has joined' joined
ok 'one host is refused' bash -c "! $multicast 192.0.2.1 rxe1 2>'$scratch/said'"
ok 'and why is said' grep -q 'this is not the address of a multicast group' "$scratch/said"
fails 'a host that is no member is seen' 'inet +224\.0\.0\.1' arrives 239.1.2.3 -n
done_testing
