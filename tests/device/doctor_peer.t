#!/bin/bash
# SPDX-License-Identifier: MIT
#
# rdmaez-doctor --peer against rdmaez-doctor --listen, on two devices, with faults made for real: in the interfaces, in
# the network between them, in what the peer is. The guest's routing is told to send what goes from one device's address
# to the other's by the interfaces, so that it passes all that is put between them.
#
# Nightly: a minute and a half; make check-siw has a part of it.

cd "$(dirname "$(realpath "$0")")/../.." || exit
if [[ ${1-} != here ]]; then
	exec tools/softroce --quiet --timeout 0 --host qemu --devices 2 ${RDMAEZ_KERNEL:+--kernel "$RDMAEZ_KERNEL"} \
		--module sch_netem --module sch_ingress --module cls_u32 --module act_gact -- tests/device/doctor_peer.t here
fi
source tests/tap.bash
source tests/tools/doctor_peer.bash

# --- The network -----------------------------------------------------------------------------------

# lose NETDEV PROTOCOL MATCH...: lets what arrives there get lost.
lose() {
	tc qdisc add dev "$1" ingress 2>/dev/null || :
	tc filter add dev "$1" parent ffff: protocol "$2" u32 match "${@:3}" action drop
}

lose_no_more() {
	tc qdisc del dev veth0 ingress 2>/dev/null || :
	tc qdisc del dev veth1 ingress 2>/dev/null || :
}

# await TEST...: until that is so. Addresses come and go in the GID table some time later.
await() {
	local try
	for ((try = 0; try < 100; try++)); do
		! "$@" || return 0
		sleep 0.05
	done
	return 1
}

has_gid() {
	grep --quiet "$2" /sys/class/infiniband/"$1"/ports/1/gids/[0-9]
}

has_no_gid() {
	! has_gid "$@"
}

# --- The faults ------------------------------------------------------------------------------------

healthy=(
	'ok   path veth0: the route to 192.0.2.2 leaves here, from 192.0.2.1'
	'ok   path rxe0/1: GID 1 is 192.0.2.1, from which the route leaves'
	'ok   path veth0: the peer, 192.0.2.2, is at '
	'ok   path veth0: packets as large as the MTU, 1500 bytes, reach 192.0.2.2'
	'ok   probe 192.0.2.2: is softroce: kernel '
	'ok   probe rxe0/1: the MTU is 1024 at both ends, and that of the interfaces is 1500'
	'ok   probe rxe0/1: GIDs of both ends fit together'
	'ok   probe rxe0/1: RC from GID 1 (192.0.2.1) to 192.0.2.2: messages of 1, 1024 and 3073 bytes pass, at a path MTU of 1024'
	' probe rxe0/1: a message of 8 bytes and its answer take '
	'ok   probe rxe0/1: UD from GID 1 (192.0.2.1) to 192.0.2.2: all of 64 datagrams of 1024 bytes came back'
)

mtu_lower_at_the_peer() {
	ip link set dev veth0 mtu 9000
	says 0 \
		'WARN path veth0: packets as large as the MTU, 9000 bytes, get lost on the way to 192.0.2.2, and no router reports it' \
		'WARN probe rxe0/1: the MTU is 4096 here and 1024 at the peer, and that of the interfaces is 9000 and 1500' \
		'> on the peer: ip link set dev veth1 mtu 9000' \
		'messages of 1, 1024 and 3073 bytes pass, at a path MTU of 1024' -- --peer 192.0.2.2
}

# What is proposed is what arrived. IPv6 needs 1280.
mtu_odd_at_the_peer() {
	ip link set dev veth0 mtu 1500
	ip link set dev veth1 mtu 1300
	says 0 \
		'WARN path veth0: packets as large as the MTU, 1500 bytes, get lost on the way to 192.0.2.2, and no router reports it' \
		'       by UDP; packets of 1280 bytes arrive' \
		'lower it at both ends: ip link set dev veth0 mtu 1280' -- --peer 192.0.2.2 --only path
	ip link set dev veth1 mtu 1500
}

# A switch that passes frames up to 4 KiB.
mtu_lower_between() {
	ip link set dev veth1 mtu 9000
	lose veth1 ip u16 0x1000 0x1000 at 2
	lose veth1 ip u16 0x2000 0x2000 at 2
	says 1 \
		'WARN path veth0: packets as large as the MTU, 9000 bytes, get lost on the way to 192.0.2.2, and no router reports it' \
		'FAIL probe rxe0/1: RC from GID 1 (192.0.2.1) to 192.0.2.2: both ports have a path MTU of 4096, but the network loses packets of that size; packets of 2048 pass' \
		'all of 64 datagrams of 2048 bytes came back' -- --peer 192.0.2.2
}

mtu_as_before() {
	lose_no_more
	ip link set dev veth0 mtu 1500
	ip link set dev veth1 mtu 1500
}

# 100 ms each way: longer than the timeout of the queue pairs, and nothing is lost.
long_way() {
	tc qdisc add dev veth0 root netem delay 100ms
	tc qdisc add dev veth1 root netem delay 100ms
	says 0 'note probe rxe0/1: a message of 8 bytes and its answer take ' \
		'WARN probe rxe0/1: packets were sent again although none was lost: the way takes ' \
		"> set the queue pairs' timeout to 1" \
		' datagrams of 1024 bytes came back' -- --peer 192.0.2.2 >"$scratch/long" || { cat "$scratch/long"; return 1; }
	! grep 'look for loss' "$scratch/long"
}

# 30 ms: less than the timeout. rxe starts the timer once for several packets, so that it ends too early for some.
way_of_30_ms() {
	tc qdisc add dev veth0 root netem delay 30ms
	tc qdisc add dev veth1 root netem delay 30ms
	says 0 'note probe rxe0/1: a message of 8 bytes and its answer take ' \
		'> find out what makes the way long' \
		'WARN probe rxe0/1: packets were sent again although no datagram was lost: answers take up to ' \
		'all of 64 datagrams of 1024 bytes came back' -- --peer 192.0.2.2 >"$scratch/long" || { cat "$scratch/long"; return 1; }
	! grep 'look for loss' "$scratch/long"
}

# 400 ms: ICMP answers a packet when the next one has been sent, and datagrams come back late.
way_of_400_ms() {
	tc qdisc add dev veth0 root netem delay 400ms
	tc qdisc add dev veth1 root netem delay 400ms
	says 0 'ok   path veth0: packets as large as the MTU, 1500 bytes, reach 192.0.2.2' \
		'WARN probe rxe0/1: packets were sent again although none was lost: the way takes ' \
		' datagrams of 1024 bytes came back' -- --peer 192.0.2.2 >"$scratch/long" || { cat "$scratch/long"; return 1; }
	! grep 'look for loss\|did not come back: \|get lost' "$scratch/long"
}

# 800 ms: the retries are used up before the first acknowledgement has come.
way_of_800_ms() {
	tc qdisc add dev veth0 root netem delay 800ms
	tc qdisc add dev veth1 root netem delay 800ms
	says 0 'messages come back only if queue pairs wait longer than 134 ms for an acknowledgement: the way is long' \
		"> set the queue pairs' timeout to 20 or more" \
		' datagrams of 1024 bytes came back' -- --peer 192.0.2.2 --only probe --timeout 150 >"$scratch/long" || { cat "$scratch/long"; return 1; }
	! grep 'look for loss\|firewall\|FAIL' "$scratch/long"
}

# Nothing that is slow is called broken: who listens has the least right to the processor, and others want all of it.
busy_peer() {
	local code=0 i
	local -a others=()
	nice -n 19 "$doctor" --listen 4003 >"$scratch/slow" 2>"$scratch/slowly" &
	local slow=$!
	await test -s "$scratch/slowly"
	for ((i = 0; i < 3; i++)); do
		nice -n -5 sh -c 'while :; do :; done' &
		others+=("$!")
	done
	"$doctor" --peer 192.0.2.2:4003 --only probe >"$scratch/busy" 2>&1 || code=$?
	kill "${others[@]}" "$slow"
	cat "$scratch/busy" "$scratch/slow"
	((code == 0))
	! grep '^FAIL\|look for loss\|firewall' "$scratch/busy" "$scratch/slow"
}


twice() {
	tc qdisc add dev veth1 root netem duplicate 50%
	says 0 'WARN probe rxe0/1: packets arrive twice: something on the way repeats them' \
		'all of 64 datagrams of 1024 bytes came back' -- --peer 192.0.2.2
}

overtaken() {
	tc qdisc add dev veth0 root netem delay 50ms reorder 100% gap 4
	says 0 'WARN probe rxe0/1: packets overtake one another: RC treats those that come too early as lost, and the sender repeats them' \
		'all of 64 datagrams of 1024 bytes came back' -- --peer 192.0.2.2
}

no_netem() {
	tc qdisc del dev veth0 root 2>/dev/null || :
	tc qdisc del dev veth1 root 2>/dev/null || :
}

# Each tenth packet, not one in ten by chance: of so many datagrams some are among them.
some_loss() {
	tc qdisc add dev veth1 ingress
	tc filter add dev veth1 parent ffff: protocol ip u32 match ip dport 4791 0xffff action ok random determ drop 10
	says 0 'WARN probe rxe0/1: packets were lost or sent again during the probe, although all messages arrived' \
		'RC from GID 1 (192.0.2.1) to 192.0.2.2: messages of 1, 1024 and 3073 bytes pass' \
		' of 64 datagrams of 1024 bytes did not come back' -- --peer 192.0.2.2
}

total_loss() {
	tc qdisc replace dev veth0 root netem loss 100%
	says 1 'FAIL probe: 192.0.2.2 does not answer on TCP port 18510 within 4 s' -- --peer 192.0.2.2 --only probe
}

firewall_there() {
	lose veth1 ip ip dport 4791 0xffff
	lose veth1 ipv6 ip6 dport 4791 0xffff
	says 1 \
		'FAIL probe rxe0/1: RC from GID 1 (192.0.2.1) to 192.0.2.2: connected, but no packet of RoCE v2 (UDP port 4791) gets through from here to the peer, while TCP does' \
		'IBV_WC_RETRY_EXC_ERR' '> open UDP port 4791 in the firewall of the peer' -- --peer 192.0.2.2
}

firewall_here() {
	lose veth0 ip ip dport 4791 0xffff
	lose veth0 ipv6 ip6 dport 4791 0xffff
	says 1 \
		'connected, but no packet of RoCE v2 (UDP port 4791) gets through from the peer to here, while TCP does' \
		'> open UDP port 4791 in the firewall of this machine' -- --peer 192.0.2.2
}

firewall_of_ipv4() {
	lose veth1 ip ip dport 4791 0xffff
	says 1 \
		'connected, but no packet of RoCE v2 (UDP port 4791) gets through from here to the peer' \
		'WARN probe rxe0/1: data passes by GID 0, but not by the GID that the route leads to' -- --peer 192.0.2.2
}

address_there_gone() {
	local there
	there=$(ip -6 -brief address show dev veth1 scope link | grep --only-matching 'fe80[^/]*')
	ip address del 192.0.2.2/24 dev veth1
	ip address del 2001:db8::2/64 dev veth1
	await has_no_gid rxe1 ffff:c000:0202
	await has_no_gid rxe1 2001:0db8
	says 0 "ok   path veth0: the route to $there%veth0 leaves here, from fe80::" \
		'WARN probe rxe0/1: the peer has only link-local GIDs, and this end has others as well' \
		'> on the peer: ip address add ADDRESS/PREFIX dev veth1' \
		"ok   probe rxe0/1: RC from GID 0 (fe80::" -- --peer "$there%veth0"
}

address_here_gone() {
	local there
	there=$(ip -6 -brief address show dev veth1 scope link | grep --only-matching 'fe80[^/]*')
	ip address add 192.0.2.2/24 dev veth1
	ip address flush dev veth0 scope global
	await has_gid rxe1 ffff:c000:0202
	await has_no_gid rxe0 ffff:c000:0201
	await has_no_gid rxe0 2001:0db8
	says 0 'WARN probe rxe0/1: this end has only link-local GIDs, and the peer has others as well' \
		'> ip address add ADDRESS/PREFIX dev veth0' -- --peer "$there%veth0"
	ip address add 192.0.2.1/24 dev veth0
	await has_gid rxe0 ffff:c000:0201
	apart
}

way_smaller() {
	ip route change 192.0.2.2 dev veth0 src 192.0.2.1 mtu 1300 table 102
	says 0 'WARN path veth0: the MTU is 1500, but that of the way to 192.0.2.2 is only 1300' -- --peer 192.0.2.2 --only path
	apart
}

by_gateway() {
	ip route add 203.0.113.0/24 via 192.0.2.2
	says 0 'ok   path veth0: the route to 203.0.113.9 leaves here, from 192.0.2.1, via 192.0.2.2' \
		'ok   path veth0: the gateway, 192.0.2.2, is at ' -- --peer 203.0.113.9 --only path
	ip route del 203.0.113.0/24
}

interface_down() {
	ip address add 203.0.113.1/24 dev veth0
	ip link set dev veth0 down
	says 1 'FAIL path: no route leads to 203.0.113.9' '> ip link set dev veth0 up' \
		'FAIL probe: 203.0.113.9 cannot be reached by TCP: no route leads there' -- --peer 203.0.113.9
}

# The kernel asks once for a neighbour, in place of three times, a second each: on a slow machine the doctor's four end first.
interface_there_down() {
	ip link set dev veth0 up
	apart
	ip link set dev veth1 down
	echo 1 >/proc/sys/net/ipv4/neigh/veth0/mcast_solicit
	says 1 'FAIL path veth0: the peer, 192.0.2.2, does not answer ARP or neighbour discovery: nobody on the network of veth0 has this address' \
		'FAIL probe: 192.0.2.2 cannot be reached by TCP: nobody has its address' -- --peer 192.0.2.2
}

# Nobody answered some time ago, which says nothing of now.
neighbour_had_failed() {
	ip neighbour replace 192.0.2.2 dev veth0 nud failed
	ip neighbour show 192.0.2.2 dev veth0
	says 0 'ok   path veth0: the peer, 192.0.2.2, is at ' -- --peer 192.0.2.2 --only path
}

# A container that is given a network, but not the RDMA device.
peer_without_device() {
	local code=0
	rdma system set netns exclusive
	ip netns add apart
	ip link add cable0 type veth peer name cable1 netns apart
	ip address add 198.51.100.1/24 dev cable0
	ip link set dev cable0 up
	ip netns exec apart ip address add 198.51.100.2/24 dev cable1
	ip netns exec apart ip link set dev cable1 up
	ip netns exec apart "$doctor" --listen 4000 >/dev/null 2>"$scratch/apart" &
	await test -s "$scratch/apart"
	says 1 'FAIL path cable0: the route to 198.51.100.2 leaves here, but this interface belongs to no RDMA device' \
		'> name the peer by its address on the network of veth0, to which rxe0/1 is attached' \
		'FAIL probe 198.51.100.2: cannot probe: there is no RDMA device' -- --peer 198.51.100.2:4000 || code=1
	kill "$!"
	return "$code"
}

# with_peer_of HELLO COMMAND...: with a peer that says this hello, and is gone when it is asked for a queue pair.
with_peer_of() {
	local code=0 hello=$1
	rm -f "$scratch/says"
	shift
	HELLO=$hello perl -MIO::Socket -e '
		my $listen = IO::Socket::INET->new(LocalPort => 4001, Listen => 1, ReuseAddr => 1) or die;
		print STDERR "listening\n";
		my $peer = $listen->accept;
		$/ = "\n\n";
		<$peer>;
		print $peer "rdmaez-doctor 1 hello\n$ENV{HELLO}\n\n";
		<$peer>;' 2>"$scratch/says" &
	await test -s "$scratch/says"
	says "$@" -- --peer 192.0.2.2:4001 --only probe || code=1
	wait "$!"
	return "$code"
}

healthy_in_json() {
	"$doctor" --json --peer 192.0.2.2 >"$scratch/json"
	jq --exit-status '.summary.failed == 0 and .summary.ok > 8 and
		([.checks[] | select(.check == "probe" and .subject == "rxe0/1")] | length > 4)' "$scratch/json"
}

# as_nobody LIMITS COMMAND...: without privileges, after the shell's command LIMITS.
as_nobody() {
	doctor=$doctor setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs \
		bash -c "$(declare -f says); $1; "'"$@"' bash "${@:2}"
}

little_memory_at_the_peer() {
	local code=0
	as_nobody 'ulimit -l 16' exec "$doctor" --listen 4002 >/dev/null 2>"$scratch/poor" &
	await test -s "$scratch/poor"
	says 1 'FAIL probe rxe0/1: RC: the peer cannot connect: ENOMEM: ' '> on the peer 192.0.2.2: ' \
		-- --peer 192.0.2.2:4002 --only probe || code=1
	kill "$!"
	return "$code"
}

# --- The test --------------------------------------------------------------------------------------

route_apart_first
apart
"$doctor" --listen >"$scratch/listener" 2>"$scratch/listening" &
listener=$!
until [[ -s $scratch/listening ]]; do sleep 0.05; done

ok 'a healthy way: each line is ok' says 0 "${healthy[@]}" -- --peer 192.0.2.2
fails 'a line that is not printed is missed' 'wanted: ok   path veth1' says 0 'ok   path veth1' -- --peer 192.0.2.2 --only path
fails 'another exit status is noticed' 'ended with 0, not 1' says 1 'ok   path veth0' -- --peer 192.0.2.2 --only path
ok 'the MTU is lower at the peer' mtu_lower_at_the_peer
ok 'the MTU of the peer is an odd one' mtu_odd_at_the_peer
ip link set dev veth0 mtu 9000
ok 'the MTU is lower in between' mtu_lower_between
mtu_as_before
ok 'one packet of ten is lost' some_loss
lose_no_more
ok 'the way is long' long_way
no_netem
ok '60 ms there and back' way_of_30_ms
no_netem
ok '800 ms there and back' way_of_400_ms
no_netem
ok '1.6 s there and back' way_of_800_ms
no_netem
ok 'the peer is busy' busy_peer
ok 'packets come twice' twice
no_netem
ok 'packets overtake one another' overtaken
no_netem
ok 'all packets are lost' total_loss
tc qdisc del dev veth0 root
ok 'the peer has a firewall that drops UDP 4791' firewall_there
lose_no_more
ok 'so has this machine' firewall_here
lose_no_more
ok 'for IPv4 only: another GID works' firewall_of_ipv4
lose_no_more

ok 'the way has a smaller MTU than the interface' way_smaller
ok 'the neighbour did not answer before' neighbour_had_failed
ok 'the way has a gateway' by_gateway
ok 'in JSON' healthy_in_json
ok 'without privileges' as_nobody : says 0 "${healthy[@]}" -- --peer 192.0.2.2
ok 'and with little memory to lock' as_nobody 'ulimit -l 16' says 1 'FAIL probe rxe0/1: RC: this end cannot connect: ENOMEM: ' \
	-- --peer 192.0.2.2 --only probe
ok 'the peer may lock as little' little_memory_at_the_peer
ok 'another device is named than the route leads to' says 1 \
	'FAIL path rxe0/1: the route to 192.0.2.2 leaves by veth0 of this device, not by rxe1' -- --peer 192.0.2.2 --only path rxe1
ok 'the peer has no RDMA device, nor has the way' peer_without_device
hello=$'host other\nnetdev eth9 1500\n'
gids=$'\ngid 0 2 fe80::1\ngid 1 2 ::ffff:192.0.2.2'
ok 'the peer leaves' with_peer_of "${hello}port rdma9 1 Ethernet ACTIVE IB 1024$gids" 1 'ok   probe 192.0.2.2: is other: kernel ?' \
	'FAIL probe rxe0/1: the peer has closed the connection: the probe ends here'
ok 'the link layers differ' with_peer_of "${hello}port rdma9 1 InfiniBand ACTIVE IB 4096$gids" 1 \
	'FAIL probe rxe0/1: Ethernet here, InfiniBand at the peer: they cannot connect'
ok 'the peer has iWARP' with_peer_of "${hello}port rdma9 1 Ethernet ACTIVE iWARP 1024$gids" 1 \
	'FAIL probe rxe0/1: Ethernet here, Ethernet with iWARP at the peer: they cannot connect'
ok "the peer's port is down" with_peer_of "${hello}port rdma9 1 Ethernet DOWN IB 1024$gids" 1 \
	'FAIL probe rxe0/1: port 1 of rdma9, at the peer, is DOWN' '> on the peer: ip link set dev eth9 up'
ok 'the peer has RoCE v1 alone' with_peer_of "${hello}port rdma9 1 Ethernet ACTIVE IB 1024"$'\ngid 0 1 fe80::1\ngid 1 1 ::ffff:192.0.2.2' 1 \
	"FAIL probe rxe0/1: no GID here fits one of the peer's rdma9/1" \
	'here RoCE v2 link-local, RoCE v2 IPv4, RoCE v2 IPv6; at the peer RoCE v1 link-local, RoCE v1 IPv4'
ok 'the peer has no GID' with_peer_of "${hello}port rdma9 1 Ethernet ACTIVE IB 1024" 1 \
	"FAIL probe rxe0/1: no GID here fits one of the peer's rdma9/1" '> on the peer: ip address add ADDRESS/PREFIX dev eth9'
ok 'the peer has no address' address_there_gone
ok 'this end has none' address_here_gone
ok 'the interface is down' interface_down
ok 'so is that of the peer' interface_there_down

# It is no test: what it ends with must not count as one.
kill "$listener"
wait "$listener" || :
done_testing
