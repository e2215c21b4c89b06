#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What rdmaez-doctor says of ports: each state with what to do, MTU, link and partitions, on trees of files that
# kernels write. Every line is compared.

source tests/tap.bash
# shellcheck source=tests/tools/doctor.bash
source tests/tools/doctor.bash

port=sys/class/infiniband/mlx5_0/ports/1
evidence='       computed from the interface'"'"'s MTU: the device was not opened'

well() {
	fresh
	roce mlx5_0
	says port 0 <<-END
		ok   port mlx5_0/1: ACTIVE, 100 Gb/sec (4X EDR), interface eth0
		ok   port mlx5_0/1: MTU 4096, from 9000 of eth0
	END
}

another_line() {
	fresh
	roce mlx5_0
	put $port/state '1: DOWN'
	says port 1 </dev/null
}

another_status() {
	fresh
	roce mlx5_0
	put $port/state '1: DOWN'
	"$doctor" --root "$tree" --only port | grep -v '^rdmaez-doctor: ' >"$scratch/text" || :
	says port 0 <"$scratch/text"
}

interface_down() {
	fresh
	roce mlx5_0
	put $port/state '1: DOWN'
	put $port/phys_state '3: Disabled'
	put sys/class/net/eth0/flags 0x1002
	says port 1 <<-END
		FAIL port mlx5_0/1: DOWN: its interface eth0 is down; its GIDs are still listed, but do not work
		       state 1: DOWN, phys_state 3: Disabled
		       /sys/class/net/eth0/flags: 0x1002, without IFF_UP
		     > ip link set eth0 up
		ok   port mlx5_0/1: MTU 4096, from 9000 of eth0
	END
}

no_carrier() {
	fresh
	roce mlx5_0
	put $port/state '1: DOWN'
	put $port/phys_state '3: Disabled'
	put sys/class/net/eth0/carrier 0
	says port 1 <<-END
		FAIL port mlx5_0/1: DOWN: its interface eth0 is up, but has no carrier: check the cable, the transceiver and the port at the other end
		       state 1: DOWN, phys_state 3: Disabled
		       /sys/class/net/eth0/carrier: 0
		     > ethtool eth0
		ok   port mlx5_0/1: MTU 4096, from 9000 of eth0
	END
}

# A second port that nobody has cabled keeps nobody from using the first.
one_of_two_down() {
	fresh
	roce mlx5_0
	infiniband mlx5_1
	put sys/class/infiniband/mlx5_1/ports/1/state '1: DOWN'
	put sys/class/infiniband/mlx5_1/ports/1/phys_state '2: Polling'
	says port 0 <<-END
		ok   port mlx5_0/1: ACTIVE, 100 Gb/sec (4X EDR), interface eth0
		ok   port mlx5_0/1: MTU 4096, from 9000 of eth0
		WARN port mlx5_1/1: DOWN: the port is looking for its other end: there is no cable, or the port at its other end is down
		       state 1: DOWN, phys_state 2: Polling
		     > ibstat mlx5_1 1
	END
}

# state PHYS_STATE_TEXT MEANING: a port of InfiniBand that is DOWN.
down_is() {
	fresh
	infiniband mlx5_0
	put $port/state '1: DOWN'
	put $port/phys_state "$1"
	says port 1 <<-END
		FAIL port mlx5_0/1: DOWN: $2
		       state 1: DOWN, phys_state $1
		     > ibstat mlx5_0 1
	END
}

no_subnet_manager() {
	fresh
	infiniband mlx5_0
	put $port/state '2: INIT'
	says port 1 <<-END
		FAIL port mlx5_0/1: INIT: the link is up, but no subnet manager has configured the port
		       state 2: INIT, phys_state 5: LinkUp
		     > start a subnet manager, in the switch or on one host: systemctl start opensm
	END
}

armed() {
	fresh
	infiniband mlx5_0
	put $port/state '3: ARMED'
	says port 1 <<-END
		FAIL port mlx5_0/1: ARMED: the subnet manager has configured the port, but has not activated it yet
		       state 3: ARMED, phys_state 5: LinkUp
		     > if it stays so, look at the subnet manager's log
	END
}

fallen_back() {
	fresh
	infiniband mlx5_0
	put $port/rate '25 Gb/sec (1X EDR)'
	put $port/pkeys/1 0x8123
	says port 0 <<-END
		ok   port mlx5_0/1: ACTIVE, 25 Gb/sec (1X EDR)
		WARN port mlx5_0/1: the link runs at 25 Gb/sec (1X EDR), to which links fall back if the cable or a port is bad
		       /sys/class/infiniband/mlx5_0/ports/1/rate
		     > iblinkinfo --switches-only # as root: shows what each link supports, and runs at
		ok   port mlx5_0/1: in 2 partitions
	END
}

# partitions PKEY STATUS: the lines after the first come on the standard input.
partitions() {
	fresh
	infiniband mlx5_0
	put $port/pkeys/0 "$1"
	says port "$2" < <(echo 'ok   port mlx5_0/1: ACTIVE, 100 Gb/sec (4X EDR)'; cat)
}

no_partition() {
	partitions 0x0000 1 <<-END
		FAIL port mlx5_0/1: no P_Key: the port belongs to no partition, so it reaches nobody
		       /sys/class/infiniband/mlx5_0/ports/1/pkeys: 0 full, 0 limited
		     > add the port to a partition of the subnet manager: partitions.conf of opensm
	END
}

limited_member() {
	partitions 0x7fff 0 <<-END
		note port mlx5_0/1: the port is a limited member of its partitions, so it reaches only full members
		       /sys/class/infiniband/mlx5_0/ports/1/pkeys: 0 full, 1 limited
	END
}

# mtu MTU LINE...: what is said of an interface's MTU, but for the evidence.
mtu() {
	fresh
	roce mlx5_0
	put sys/class/net/eth0/mtu "$1"
	{
		echo 'ok   port mlx5_0/1: ACTIVE, 100 Gb/sec (4X EDR), interface eth0'
		echo "$2"
		if (($# > 2)); then
			printf '%s\n' "$evidence" "       /sys/class/net/eth0/mtu: $1" "     > $3"
		fi
	} | says port 0
}

small() {
	mtu "$1" "WARN port mlx5_0/1: MTU $2, because eth0 has $1, less than the 1500 of Ethernet; peers with a larger path MTU cannot reach this port" \
		'ip link set eth0 mtu 1500'
}

usual() {
	mtu "$1" "note port mlx5_0/1: MTU $2, from $1 of eth0; 4200 there, at the peers and in the switches would give 4096" \
		'ip link set eth0 mtu 4200'
}

two_interfaces() {
	fresh
	roce mlx5_0
	rm -r "$tree/$port/gid_attrs/ndevs"
	mkdir -p "$tree/sys/class/infiniband/mlx5_0/device/net"/{enp1s0f0np0,enp1s0f1np1}
	put sys/class/net/enp1s0f0np0/dev_port 1
	put sys/class/net/enp1s0f1np1/dev_port 0
	put sys/class/net/enp1s0f1np1/mtu 5000
	says port 0 <<-END
		ok   port mlx5_0/1: ACTIVE, 100 Gb/sec (4X EDR), interface enp1s0f1np1
		ok   port mlx5_0/1: MTU 4096, from 5000 of enp1s0f1np1
	END
}

# An iWARP port names no interface, but its GID has the interface's address. There is no MTU of RoCE.
iwarp() {
	fresh
	roce siw0
	rm -r "$tree/sys/class/infiniband/siw0/ports/1/gid_attrs/ndevs"
	put sys/class/infiniband/siw0/node_type '4: RNIC'
	gid siw0 0 3257:69bd:753b:0000:0000:0000:0000:0000
	put sys/class/net/eth0/address 32:57:69:bd:75:3a
	put sys/class/net/eth1/address 32:57:69:bd:75:3b
	says port 0 <<<'ok   port siw0/1: ACTIVE, 100 Gb/sec (4X EDR), interface eth1'
}

# A dying link, and a state that waits for nobody.
states() {
	fresh
	roce mlx5_0
	put $port/state '5: ACTIVE_DEFER'
	says port 0 <<-END
		WARN port mlx5_0/1: ACTIVE_DEFER: the link was lost a moment ago, and should come back
		       state 5: ACTIVE_DEFER, phys_state 5: LinkUp
		ok   port mlx5_0/1: MTU 4096, from 9000 of eth0
	END
	put $port/state '2: INIT'
	says port 1 <<-END
		FAIL port mlx5_0/1: not ACTIVE
		       state 2: INIT, phys_state 5: LinkUp
		ok   port mlx5_0/1: MTU 4096, from 9000 of eth0
	END
	rm "$tree/$port/state"
	says port 0 <<-END
		WARN port mlx5_0/1: its state cannot be read
		ok   port mlx5_0/1: MTU 4096, from 9000 of eth0
	END
	put $port/state '4: ACTIVE'
	rm "$tree/$port/rate"
	says port 0 <<-END
		ok   port mlx5_0/1: ACTIVE, of unknown rate, interface eth0
		ok   port mlx5_0/1: MTU 4096, from 9000 of eth0
	END
}

# Interfaces that do not count the device's ports: each is of the first one. A P_Key that cannot be read is none.
not_counted() {
	fresh
	roce mlx5_0
	rm -r "$tree/$port/gid_attrs/ndevs"
	mkdir -p "$tree/sys/class/infiniband/mlx5_0/device/net"/eth{0,1}
	says port 0 <<-END
		ok   port mlx5_0/1: ACTIVE, 100 Gb/sec (4X EDR), interface eth0
		ok   port mlx5_0/1: MTU 4096, from 9000 of eth0
	END
	fresh
	infiniband mlx5_0
	put $port/pkeys/1 unreadable
	put $port/pkeys/2 0x0123
	says port 0 <<-END
		ok   port mlx5_0/1: ACTIVE, 100 Gb/sec (4X EDR)
		ok   port mlx5_0/1: in 2 partitions
	END
}

# opened VARIABLE=VALUE...: the standard input is what is said of the port of a device that libibverbs opens, after the lines
# about its state; its files and its interface are those of $tree.
opened() {
	env LD_PRELOAD="$scratch/host.so" HOST_TREE="$tree" LD_LIBRARY_PATH="$PWD/build/tests/fake" "$@" "$doctor" --only port \
		>"$scratch/out" 2>&1 || :
	sed '/^rdmaez-doctor: /d; /: ACTIVE, 100 Gb/d' "$scratch/out" >"$scratch/lines"
	diff - "$scratch/lines"
}

# The MTU that a device reports counts, not the one that its interface allows.
mtu_of_device() {
	fresh
	roce fake0
	opened <<-'END'
		WARN port fake0/1: MTU 1024, although the MTU 9000 of eth0 would allow 4096: the driver has not followed
		       ibv_query_port: active_mtu 1024, max_mtu 4096
		       /sys/class/net/eth0/mtu: 9000
		     > ip link set eth0 down && ip link set eth0 up
	END
	opened FAKE_MTU=4096 <<<'ok   port fake0/1: MTU 4096, from 9000 of eth0'
	put sys/class/net/eth0/mtu 1067
	opened <<-'END'
		WARN port fake0/1: MTU 1067 of eth0 is too small for RoCE packets of 1024 bytes and their headers
		       ibv_query_port: active_mtu 1024, max_mtu 4096
		       /sys/class/net/eth0/mtu: 1067
		     > ip link set eth0 mtu 1500
	END
	put sys/class/net/eth0/mtu 1068
	opened <<-'END'
		note port fake0/1: MTU 1024, from 1068 of eth0; 4200 there, at the peers and in the switches would give 4096
		       ibv_query_port: active_mtu 1024, max_mtu 4096
		       /sys/class/net/eth0/mtu: 1068
		     > ip link set eth0 mtu 4200
	END
	put sys/class/net/eth0/mtu 9000
	mkdir -p "$scratch/broken"
	echo none >"$scratch/broken/libibverbs.so.1"
	opened LD_LIBRARY_PATH="$scratch/broken" <<<'ok   port fake0/1: MTU 4096, from 9000 of eth0'
	opened FAKE_FAILS=ibv_query_port:0:5 <<<'ok   port fake0/1: MTU 4096, from 9000 of eth0'
}

mtu_of_infiniband() {
	fresh
	infiniband fake0
	rm -r "$tree/sys/class/infiniband/fake0/ports/1/pkeys"
	opened FAKE_PORT=infiniband <<-'END'
		note port fake0/1: MTU 1024, as the subnet manager has set it; the device supports 4096
		       ibv_query_port: active_mtu 1024, max_mtu 4096
	END
	opened FAKE_PORT=infiniband FAKE_MTU=4096 <<<'ok   port fake0/1: MTU 4096'
}

# speed MBIT: that of a well connected interface.
at_speed() {
	fresh
	roce fake0
	put sys/class/net/eth0/speed "$1"
	export FAKE_MTU=4096
}

mtu_line='ok   port fake0/1: MTU 4096, from 9000 of eth0'

# Each first and last bit of ethtool's link modes that rdmaez-doctor knows, with its Gbit/s.
link_modes() {
	local mode bit gbit
	at_speed 1000
	for mode in 12:10 18:10 19:10 21:20 22:20 23:40 26:40 27:56 30:56 31:25 33:25 34:50 35:50 36:100 39:100 40:50 42:10 46:10 \
		52:50 56:50 57:100 61:100 62:200 66:200 69:400 73:400 75:100 79:100 80:200 84:200 85:400 89:400 93:800 98:800; do
		IFS=: read -r bit gbit <<<"$mode"
		opened "HOST_ETHTOOL=4,$bit" <<-END
			WARN port fake0/1: the link runs at 1 Gbit/s, but the device supports $gbit: the cable, the transceiver or the switch's port is slower, or somebody has set a speed
			       /sys/class/net/eth0/speed: 1000; ETHTOOL_GLINKSETTINGS: up to ${gbit}000
			     > ethtool eth0
			$mtu_line
		END
	done
	for bit in 0 11 13 17 20 41 47 51 67 68 74 90 92 99 127; do
		opened "HOST_ETHTOOL=4,$bit" <<<"$mtu_line"
	done
	at_speed 100000
	opened HOST_ETHTOOL=4,36 <<-END
		ok   port fake0/1: the link runs at the device's full speed
		$mtu_line
	END
	# One word has the first 32 bits, and of as many as there is room for the first four count.
	at_speed 99999
	opened HOST_ETHTOOL=1,31 <<-END
		ok   port fake0/1: the link runs at the device's full speed
		$mtu_line
	END
	opened HOST_ETHTOOL=81,36 <<-END
		WARN port fake0/1: the link runs at 99.999 Gbit/s, but the device supports 100: the cable, the transceiver or the switch's port is slower, or somebody has set a speed
		       /sys/class/net/eth0/speed: 99999; ETHTOOL_GLINKSETTINGS: up to 100000
		     > ethtool eth0
		$mtu_line
	END
}

# Nothing is said of a link whose modes are not told: not at all, in no or too many words, or not the second time.
no_link_modes() {
	local answer
	at_speed 1000
	for answer in HOST_ETHTOOL= HOST_ETHTOOL=0,36 HOST_ETHTOOL=82,36 'HOST_ETHTOOL=4,' HOST_FAILS=udp; do
		opened "$answer" <<<"$mtu_line"
	done
}

"${CC:-gcc}" -std=gnu11 -O1 -Wall -Wextra -Werror -shared -fPIC tests/tools/host.c -o "$scratch/host.so" || exit
run_make build/tests/fake/libibverbs.so.1

ok 'a port that is well' well
ok 'states between' states
ok 'what is not counted' not_counted
ok 'the MTU of a device' mtu_of_device
ok 'the MTU of InfiniBand' mtu_of_infiniband
ok 'the speed of links' link_modes
ok 'no speed of links' no_link_modes
ok 'iWARP' iwarp
fails 'another line is seen' '^> FAIL port mlx5_0/1: DOWN' another_line
fails 'so is another status' 'ended with 1, not 0' another_status
ok 'DOWN: the interface is down' interface_down
ok 'DOWN: no carrier' no_carrier
ok 'DOWN, beside a port that is ACTIVE' one_of_two_down
ok 'DOWN, Sleep' down_is '1: Sleep' 'the port sleeps'
ok 'DOWN, Disabled' down_is '3: Disabled' 'the port is disabled'
ok 'DOWN, training' down_is '4: PortConfigurationTraining' \
	'the link is training; if that does not end, the cable or one of the ports is bad'
ok 'DOWN, recovery' down_is '6: LinkErrorRecovery' 'the link is recovering from errors: check the cable and the transceiver'
ok 'DOWN, a phys_state that nobody knows' down_is '9: <unknown>' 'there is no link'
ok 'INIT: no subnet manager' no_subnet_manager
ok 'ARMED' armed
ok 'one lane of four' fallen_back
ok 'no P_Key' no_partition
ok 'a limited member' limited_member
ok 'the interface by the number of its port' two_interfaces

# The kernel leaves room for 96 bytes of headers: iboe_get_mtu().
ok 'MTU 4192 gives 4096' mtu 4192 'ok   port mlx5_0/1: MTU 4096, from 4192 of eth0'
ok 'MTU 4191 gives 2048' usual 4191 2048
ok 'MTU 1500 gives 1024' usual 1500 1024
ok 'MTU 1280 gives 1024' usual 1280 1024
ok 'MTU 1120 gives 1024' usual 1120 1024
ok 'MTU 1119 gives 512' small 1119 512
ok 'MTU 352 gives 256' small 352 256
ok 'MTU 351 is too small' mtu 351 \
	'WARN port mlx5_0/1: MTU 351 of eth0 is too small for RoCE packets of 256 bytes and their headers' \
	'ip link set eth0 mtu 1500'

done_testing
