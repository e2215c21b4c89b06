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

ok 'a port that is well' well
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
