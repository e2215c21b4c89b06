#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What rdmaez-doctor says of real ports, GIDs and counters while each fault is made: interface down, no address, MTU
# lowered, a full GID table, another network namespace, loss, a link that flaps. Needs build/tools; runs itself again in
# the guest, whose two devices are on the two ends of a veth pair.

set -uo pipefail
cd "$(dirname "$(realpath "$0")")/../.." || exit
if [[ ${1-} != here ]]; then
	mkdir -p build/tools
	"${CC:-gcc}" -shared -fPIC -o build/tools/ethtool.so tests/tools/ethtool.c || exit
	exec tools/softroce --quiet --timeout 0 --host qemu --devices 2 --module sch_netem \
		${RDMAEZ_KERNEL:+--kernel "$RDMAEZ_KERNEL"} -- tests/device/doctor_port.t here
fi
# shellcheck source=tests/tap.bash
source tests/tap.bash

doctor=build/tools/rdmaez-doctor
port=/sys/class/infiniband/rxe0/ports/1
read -r mine <$port/gid_attrs/ndevs/0
read -r other </sys/class/infiniband/rxe1/ports/1/gid_attrs/ndevs/0

# What a check says of rxe0 is in $scratch/out; it may find failures.
look() {
	$doctor --only "$1" "${@:2}" rxe0 >"$scratch/out" || (($? == 1))
}

# A line of the report, by its beginning; the pattern is a fixed string.
line() {
	grep -F -- "$1" "$scratch/out" || { cat "$scratch/out"; return 1; }
}

no_line() {
	! grep -F -- "$1" "$scratch/out"
}

# The kernel fills its GID table some time after an address has changed. Entries are used from the lowest on.
gids_are() {
	local try zero=0000:0000:0000:0000:0000:0000:0000:0000
	for ((try = 0; try < 100; try++)); do
		if [[ $(<"$port/gids/$(($1 - 1))") != "$zero" && (! -e $port/gids/$1 || $(<"$port/gids/$1") == "$zero") ]]; then
			return
		fi
		sleep 0.1
	done
	return 1
}

# The table, as the kernel's files have it.
table_by_files() {
	local device index gid type netdev ipv4
	for device in rxe0 rxe1; do
		for index in $(cd /sys/class/infiniband/$device/ports/1/gids && printf '%s\n' * | sort -n); do
			read -r gid </sys/class/infiniband/$device/ports/1/gids/"$index"
			[[ $gid != 0000:0000:0000:0000:0000:0000:0000:0000 ]] || continue
			read -r type </sys/class/infiniband/$device/ports/1/gid_attrs/types/"$index"
			read -r netdev </sys/class/infiniband/$device/ports/1/gid_attrs/ndevs/"$index"
			ipv4=
			[[ $gid != 0000:0000:0000:0000:0000:ffff:* ]] ||
				printf -v ipv4 %d.%d.%d.%d 0x"${gid:30:2}" 0x"${gid:32:2}" 0x"${gid:35:2}" 0x"${gid:37:2}"
			echo "$device 1 $index $gid $ipv4 $type $netdev up"
		done
	done | tr -s ' '
}

table_is_that_of_the_files() {
	$doctor --gids >"$scratch/table"
	table_by_files >"$scratch/files"
	(($(wc -l <"$scratch/files") == 6))
	tail -n +2 "$scratch/table" | tr -s ' ' | sed 's/ yes$//' | diff "$scratch/files" -
	# The IPv4 address is what rdmaez chooses, of each device.
	[[ $(awk '$NF == "yes" { print $1, $3, $5 }' "$scratch/table" | xargs) == 'rxe0 1 192.0.2.1 rxe1 1 192.0.2.2' ]]
}

well() {
	look port
	line "ok   port rxe0/1: ACTIVE, "
	line ", interface $mine"
	line "note port rxe0/1: MTU 1024, from 1500 of $mine; 4200 there, at the peers and in the switches would give 4096"
	line '       ibv_query_port: active_mtu 1024, max_mtu 4096'
	look gids
	line 'ok   gids rxe0/1: GIDs: 3; rdmaez would choose index 1, ::ffff:192.0.2.1, RoCE v2, '"$mine"
	line '       ibv_query_gid_table: port 1, entries 3'
	no_line WARN
}

# The interface keeps the IPv6 address that it has made from its old Ethernet address, and answers for it.
address_is_kept() {
	ip link set "$mine" address 02:11:22:33:44:55
	gids_are 4
	look gids
	line 'index 0: fe80::11:22ff:fe33:4455 is not an address of '"$mine"
	no_line 'was made from the Ethernet address'
}

# The default GID is made from the Ethernet address, whether or not the interface has it.
no_link_local_address() {
	local gid
	gid=$(ip -6 -oneline address show dev "$mine" scope link | awk '{ print $4 }')
	ip -6 address del "$gid" dev "$mine"
	look gids
	ip -6 address add "$gid" dev "$mine" nodad
	line "note gids rxe0/1: index 0: ${gid%/64} is not an address of $mine, so peers do not find it by RoCE v2"
	line "     > use another index, or: ip address add $gid dev $mine"
	look gids
	no_line 'is not an address'
}

# A label changes the name under which an address is listed.
label() {
	ip address add 198.51.100.7/24 dev "$mine" label "$mine:1"
	gids_are 4
	look gids
	ip address del 198.51.100.7/24 dev "$mine"
	gids_are 3
	line 'note gids rxe0/1: indices 1, 3 are equally good'
	no_line 'is not an address'
	no_line 'without a GID'
}

no_address() {
	ip address flush dev "$mine" scope global
	gids_are 1
	look gids
	ip address add 192.0.2.1/24 dev "$mine"
	ip address add 2001:db8::1/64 dev "$mine" nodad
	gids_are 3
	line "WARN gids rxe0/1: only link-local GIDs: interface $mine has no address, so"
	line "     > ip address add ADDRESS/PREFIX dev $mine"
}

# An interface that goes down loses its IPv6 addresses, and so does one with an MTU below 1280.
restore() {
	ip address replace 2001:db8::1/64 dev "$mine" nodad
	gids_are 3
}

# mtu MTU VERDICT TEXT: the lines of an interface's MTU; the driver follows at once.
mtu() {
	ip link set "$mine" mtu "$1"
	look port
	ip link set "$mine" mtu 1500
	restore
	line "$2 port rxe0/1: MTU $3"
}

down() {
	ip link set "$mine" down
	look port
	line "FAIL port rxe0/1: DOWN: its interface $mine is down; its GIDs are still listed, but do not work"
	line '       state 1: DOWN, phys_state 3: Disabled'
	line "     > ip link set $mine up"
	line 'rdmaez-doctor: 1 failed,'
	look gids
	line ': the interface is down'
	$doctor --gids rxe0 >"$scratch/table"
	grep -E "^rxe0 .*192\.0\.2\.1 .* $mine +down +yes$" "$scratch/table"
	$doctor --only port rxe1 >"$scratch/out" || (($? == 1))
	line "FAIL port rxe1/1: DOWN: its interface $other is up, but has no carrier"
}

up_again() {
	local try
	ip link set "$mine" up
	restore
	for ((try = 0; try < 100; try++)); do
		[[ $(<$port/state) != '4: ACTIVE' ]] || break
		sleep 0.1
	done
	look port
	line 'ok   port rxe0/1: ACTIVE'
}

elsewhere() {
	unshare --net $doctor --gids rxe0 >"$scratch/table"
	grep -E "^rxe0 .* 192\.0\.2\.1 .* $mine +elsewhere +yes$" "$scratch/table"
}

# More addresses than the table has entries.
full_table() {
	local entries
	entries=$(cd $port/gids && printf '%s\n' * | wc -l)
	printf "address add 2001:db8:1::%x/64 dev $mine nodad\n" $(seq 1 "$entries") | ip -batch -
	gids_are "$entries"
	look gids
	printf "address del 2001:db8:1::%x/64 dev $mine\n" $(seq 1 "$entries") | ip -batch -
	gids_are 3
	line "WARN gids rxe0/1: addresses of $mine without a GID: 3, such as 2001:db8:1::"
	line "       ibv_query_gid_table: port 1, entries $entries"
}

quiet_counters() {
	look counters
	line 'ok   counters rxe0/1: no error was counted in 1 s; no packets passed either: watch longer, while a program runs'
}

# Starts a server, and a client as often as it finds none. Loss comes when packets pass, or it may hit the handshake.
loss() {
	local server client='' before try
	before=$(<$port/hw_counters/rcvd_pkts)
	ibv_rc_pingpong -d rxe0 -g 1 -n 1000000 -s 4096 >/dev/null &
	server=$!
	for ((try = 0; try < 100; try++)); do
		if [[ -z $client ]] || ! kill -0 "$client" 2>/dev/null; then
			ibv_rc_pingpong -d rxe1 -g 1 -n 1000000 -s 4096 192.0.2.1 >/dev/null 2>&1 &
			client=$!
		fi
		sleep 0.2
		(($(<$port/hw_counters/rcvd_pkts) < before + 10)) || break
	done
	tc qdisc add dev "$other" root netem loss 10%
	look counters --seconds 3
	kill "$client" "$server" || :
	wait "$client" "$server" || :
	tc qdisc del dev "$other" root
	# Lost on the way to rxe0: messages of the peer, which it misses, and acknowledgements, for which it sends again.
	line 'WARN counters rxe0/1: completer_retry_err grew by '
	line "       $port/hw_counters/completer_retry_err: "
	# rxe of 6.12 and newer mostly waits for its timer, and may miss nothing in so short a time.
	[[ $(uname --kernel-release) != 6.1.* ]] || line 'WARN counters rxe0/1: out_of_seq_request grew by '
	no_line 'ok   counters rxe0/1'
}

flapping() {
	local doctor_pid
	$doctor --only counters --seconds 2 rxe1 >"$scratch/out" &
	doctor_pid=$!
	while kill -0 "$doctor_pid"; do
		ip link set "$mine" down
		ip link set "$mine" up
		sleep 0.2
	done
	wait "$doctor_pid"
	restore
	grep -E '^WARN counters rxe1/1: carrier_changes grew by [0-9]+ in 2 s: the link goes up and down$' "$scratch/out"
}

# with_adapter BIT COMMAND...: the interfaces answer as those of an adapter that supports one link mode.
with_adapter() {
	LD_PRELOAD=$PWD/build/tools/ethtool.so ETHTOOL_BIT=$1 "${@:2}"
}

# veth calls its speed 10 Gbit/s.
speed() {
	with_adapter 38 look port # 100000baseCR4
	line "WARN port rxe0/1: the link runs at 10 Gbit/s, but the device supports 100: the cable, the transceiver or the switch's port is"
	line "       /sys/class/net/$mine/speed: 10000; ETHTOOL_GLINKSETTINGS: up to 100000"
	with_adapter 85 look port # 400000baseKR4
	line 'but the device supports 400: '
	with_adapter 44 look port # 10000baseLR
	line "ok   port rxe0/1: the link runs at the device's full speed"
	with_adapter 13 look port # Pause, which is no speed
	no_line 'the link runs at'
}

interface_counters() {
	with_adapter 38 look counters
	line 'note counters rxe0/1: rx_prio3_pause grew by 7 in 1 s: the switch asked this port to pause'
	line "       ethtool -S $mine, rx_prio3_pause: 7, then 14"
	line 'WARN counters rxe0/1: rx_discards_phy grew by 14 in 1 s: the adapter dropped packets because it had no room for them'
	no_line rx_bytes
}

# What is said without leave to open the device comes from files, and is the same.
unprivileged() {
	chmod 0600 /dev/infiniband/uverbs0
	setpriv --reuid 65534 --clear-groups $doctor --gids rxe0 >"$scratch/table"
	setpriv --reuid 65534 --clear-groups $doctor --only port --only gids rxe0 >"$scratch/out"
	chmod 0666 /dev/infiniband/uverbs0
	$doctor --gids rxe0 | diff - "$scratch/table"
	line "       computed from the interface's MTU: the device was not opened"
	line "       $port/gids: entries 3"
	line "note port rxe0/1: MTU 1024, from 1500 of $mine; "
}

rest() {
	look slot
	line 'ok   slot rxe0: not a PCI device'
	look gpu
	line 'ok   gpu: no GPU of NVIDIA or AMD'
	line 'ok   gpu rxe0: cannot register dma-bufs: its driver does not support them'
	look caps
	line 'note caps rxe0: on-demand paging (RC): '
	line '; device memory: no; atomics: IBV_ATOMIC_HCA (1); memory windows of type 2B: yes; '
	line "; SRQs: $(ibv_devinfo -v -d rxe0 | awk '$1 == "max_srq:" { print $2 }'); "
}

json() {
	$doctor --json --only port --only gids rxe0 >"$scratch/json"
	jq --exit-status '(.gids | length) == 3 and .gids[1].chosen and .gids[1].address == "192.0.2.1" and
		all(.checks[]; .verdict == "ok" or .verdict == "note")' "$scratch/json"
}

# Of both devices, whose interfaces are in one subnet.
one_subnet() {
	local conf=/proc/sys/net/ipv4/conf
	look_at_both() {
		$doctor --only subnet >"$scratch/out"
	}
	look_at_both
	line "WARN subnet $mine, $other: both are in 192.0.2.0/24, and each answers ARP for the addresses of the other: peers may send to the wrong port"
	no_line 'reverse path filter'
	echo 1 >$conf/all/arp_ignore
	echo 1 >"$conf/$other/rp_filter"
	look_at_both
	no_line 'answers ARP'
	line "WARN subnet $mine, $other: both are in 192.0.2.0/24, and the reverse path filter is strict"
	line "       rp_filter: $mine 0, $other 1; /proc/net/route"
	echo 0 >"$conf/$other/rp_filter"
	ip link set dev "$mine" arp off
	look_at_both
	line "WARN subnet $mine: ARP is off: this end finds only peers with a permanent entry"
	ip link set dev "$mine" arp on
	ip address add 192.0.2.2/24 dev "$mine"
	gids_are 4
	look_at_both
	line "WARN subnet $mine, $other: both have the address 192.0.2.2: chance decides which of them peers reach"
	ip address del 192.0.2.2/24 dev "$mine"
	gids_are 3
	look_at_both
	line "ok   subnet $mine, $other: both are in 192.0.2.0/24, and each answers for its own addresses"
	no_line WARN
	echo 0 >$conf/all/arp_ignore
}

# The same subnet with arp_filter: each answers as the route from its address goes, which a rule may turn.
arp_filter() {
	local conf=/proc/sys/net/ipv4/conf
	echo 1 >$conf/all/arp_filter
	$doctor --only subnet >"$scratch/out"
	grep -E "WARN subnet $mine, $other: both are in 192.0.2.0/24, and with arp_filter ($mine answers ARP for 192.0.2.2 of $other|$other answers ARP for 192.0.2.1 of $mine), because the route back leaves there: peers send to the wrong port" "$scratch/out"
	ip route add 192.0.2.0/24 dev "$mine" src 192.0.2.1 table 101
	ip route add 192.0.2.0/24 dev "$other" src 192.0.2.2 table 102
	ip rule add pref 10 from 192.0.2.1 lookup 101
	ip rule add pref 11 from 192.0.2.2 lookup 102
	$doctor --only subnet >"$scratch/out"
	line "note subnet $mine, $other: both are in 192.0.2.0/24, and arp_filter lets each answer ARP as the routes go"
	no_line WARN
	echo 0 >$conf/all/arp_filter
	echo 1 >$conf/all/arp_ignore
}

rules() {
	ip rule add pref 5 from 192.0.2.1 prohibit
	$doctor --only subnet >"$scratch/out"
	ip rule del pref 5
	line "WARN subnet $mine: a rule of routing forbids what leaves from 192.0.2.1 to its own subnet, 192.0.2.0/24: TCP, by which programs connect, reaches no peer there, even if RoCE does"
	no_line "WARN subnet $other"
	ip link add elsewhere type veth peer name elsewhere1
	ip address add 198.51.100.9/24 dev elsewhere
	ip link set dev elsewhere up
	ip link set dev elsewhere1 up
	ip route add 192.0.2.0/24 dev elsewhere table 105
	ip rule add pref 5 from 192.0.2.1 lookup 105
	$doctor --only subnet >"$scratch/out"
	ip rule del pref 5
	ip link del elsewhere
	line "WARN subnet $mine: what leaves from 192.0.2.1 to its own subnet, 192.0.2.0/24, takes elsewhere, by a rule of routing or another route: TCP, by which programs connect, and RoCE take different ways"
	line '     > ip rule show; ip route get 192.0.2.254 from 192.0.2.1'
	$doctor --only subnet >"$scratch/out"
	no_line WARN
}

rules_as_before() {
	ip rule del pref 10
	ip rule del pref 11
	echo 0 >/proc/sys/net/ipv4/conf/all/arp_ignore
}

ok 'a port that is well' well
fails 'a line that is not there is seen' 'ok   port rxe0/1: ACTIVE' eval 'look port; line "no such line"'
ok 'the table of GIDs is that of the files' table_is_that_of_the_files
ok 'the table as JSON' json
ok 'the default GID is no address' no_link_local_address
ok 'an address with a label' label
ok 'no address' no_address
ok 'MTU 4200' mtu 4200 'ok  ' "4096, from 4200 of $mine"
ok 'MTU 1280' mtu 1280 note "1024, from 1280 of $mine; 4200 there"
ok 'MTU 600' mtu 600 WARN "512, because $mine has 600, less than the 1500 of Ethernet"
ok 'MTU 290' mtu 290 WARN "290 of $mine is too small for RoCE packets of 256 bytes"
ok 'interfaces in another network namespace' elsewhere
ok 'two interfaces in one subnet' one_subnet
ok 'with arp_filter' arp_filter
ok 'rules of routing that lead elsewhere' rules
rules_as_before
ok 'counters without traffic' quiet_counters
ok 'counters with loss' loss
ok 'a link below the device' speed
ok 'counters of an interface' interface_counters
ok 'a user who may not open the device' unprivileged
ok 'slot, GPU, capabilities' rest
ok 'interface down' down
ok 'and up again' up_again
ok 'a link that flaps' flapping
ok 'a full table' full_table
ok 'an address that is kept' address_is_kept

done_testing
