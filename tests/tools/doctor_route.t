#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What rdmaez-doctor says of the way to a peer: routes, devices, neighbours and the MTU of a machine that is made up, files
# and kernel's answers both (tests/tools/host.c). Every line is compared.

source tests/tap.bash
# shellcheck source=tests/tools/doctor.bash
source tests/tools/doctor.bash

"${CC:-gcc}" -std=gnu11 -O1 -Wall -Wextra -Werror -shared -fPIC tests/tools/host.c -o "$scratch/host.so" || exit

# One device on eth0, as each case begins; $tree is its own, since cases run at the same time.
begin() {
	tree=$scratch/root.$BASHPID
	mkdir "$tree"
	roce mlx5_0
}

# way STATUS VARIABLE=VALUE... -- ARG...: the standard input is what the doctor says of the way to 198.51.100.1, whose route
# and neighbour are well but for these variables.
way() {
	local code=0 status=$1 variables=() lines
	lines=$(cat)
	shift
	while [[ ${1---} != -- ]]; do
		variables+=("$1")
		shift
	done
	env HOST_TREE="$tree" HOST_MTU=9000 HOST_ROUTE=1,7,192.0.2.1,- HOST_NEIGHBOUR=198.51.100.1,2,02:00:00:00:00:05 "${variables[@]}" \
		LD_PRELOAD="$scratch/host.so" "$doctor" --only path --peer 198.51.100.1 "${@:2}" >"$tree.out" 2>&1 || code=$?
	diff <(printf '%s\n' "$lines") <(sed '/^rdmaez-doctor: /d' "$tree.out")
	((code == status)) || { echo "ended with $code, not $status"; return 1; }
}

leaves='ok   path eth0: the route to 198.51.100.1 leaves here, from 192.0.2.1'
device='ok   path mlx5_0/1: GID 1 is 192.0.2.1, from which the route leaves'
neighbour='ok   path eth0: the peer, 198.51.100.1, is at 02:00:00:00:00:05 (REACHABLE)'
arrive='ok   path eth0: packets as large as the MTU, 9000 bytes, reach 198.51.100.1'

well() {
	begin
	way 0 <<-END
		$leaves
		$device
		$neighbour
		$arrive
	END
}

# By a gateway, of the peer's own family and of the other one, which comes in another attribute.
gateway() {
	begin
	way 0 HOST_ROUTE=1,7,192.0.2.1,192.0.2.254 HOST_NEIGHBOUR=192.0.2.254,4,02:00:00:00:00:05 <<-END
		$leaves, via 192.0.2.254
		$device
		ok   path eth0: the gateway, 192.0.2.254, is at 02:00:00:00:00:05 (STALE)
		$arrive
	END
	way 0 HOST_VIA=1 HOST_ROUTE=1,7,192.0.2.1,fe80::1 HOST_NEIGHBOUR=fe80::1,80,02:00:00:00:00:05 <<-END
		$leaves, via fe80::1
		$device
		ok   path eth0: the gateway, fe80::1, is at 02:00:00:00:00:05 (PERMANENT)
		$arrive
	END
}

# The peer's own address is one of IPv6, and the device has no GID of the one that the route leaves from.
another_gid() {
	begin
	way 0 HOST_ROUTE=1,7,2001:db8::1,- HOST_NEIGHBOUR=2001:db8::9,8,ipoib -- --peer 2001:db8::9 <<-'END'
		ok   path eth0: the route to 2001:db8::9 leaves here, from 2001:db8::1
		WARN path mlx5_0/1: no GID is 2001:db8::1, from which the route leaves
		       /sys/class/infiniband/mlx5_0/ports/1/gids
		     > rdmaez-doctor --gids mlx5_0
		ok   path eth0: the peer, 2001:db8::9, is a neighbour (DELAY)
		ok   path eth0: packets as large as the MTU, 9000 bytes, reach 2001:db8::9
	END
	way 0 HOST_ROUTE=1,7,-,- <<-END
		ok   path eth0: the route to 198.51.100.1 leaves here, from ::
		$neighbour
		$arrive
	END
}

# no_route VARIABLE=VALUE TEXT: no route leads there. An interface of a device that is down is to be set up before.
no_route() {
	local up
	begin
	for up in '' 'ip link set dev eth0 up'; do
		way 1 "$1" <<-END
			FAIL path: no route leads to 198.51.100.1
			       RTM_GETROUTE: $2${up:+
			     > $up}
			     > ip route get 198.51.100.1
		END
		put sys/class/net/eth0/operstate down
	done
}

# not_told VARIABLE=VALUE TEXT: the kernel does not say it.
not_told() {
	begin
	way 0 "$1" <<-END
		note path: the kernel does not return the route to 198.51.100.1
		       RTM_GETROUTE: $2
	END
}

local_route() {
	begin
	way 0 HOST_ROUTE=2,7,192.0.2.1,- <<<'note path: 198.51.100.1 is this machine: nothing goes over the network'
}

# An interface without a name, and of no device; those of devices that are up are named, and where there is none, none.
no_device() {
	local next='
     > name the peer by its address on the network of eth0, to which mlx5_0/1 is attached'
	begin
	for _ in 1 2; do
		way 1 HOST_ROUTE=1,9,192.0.2.1,- HOST_SEND=101 <<-END
			ok   path #9: the route to 198.51.100.1 leaves here, from 192.0.2.1
			FAIL path #9: the route to 198.51.100.1 leaves here, but this interface belongs to no RDMA device$next
			note path #9: the kernel has no neighbour 198.51.100.1
		END
		put sys/class/net/eth0/operstate down
		next=
	done
}

another_device() {
	begin
	way 1 -- other <<-END
		$leaves
		FAIL path mlx5_0/1: the route to 198.51.100.1 leaves by eth0 of this device, not by other
		     > use mlx5_0 for this peer, or name the peer by its address on the network of other
		$neighbour
		$arrive
	END
	way 0 -- mlx5_0 <<-END
		$leaves
		$device
		$neighbour
		$arrive
	END
}

# Where GIDs do not tell the interface: of IPoIB it is the device's, the ports counted from 0; of iWARP its address is a GID.
without_gids() {
	begin
	rm -r "$tree/sys/class/infiniband/mlx5_0"
	infiniband mlx5_1
	cp -r "$tree/sys/class/infiniband/mlx5_1/ports/1" "$tree/sys/class/infiniband/mlx5_1/ports/2"
	mkdir -p "$tree/sys/class/net/eth0/device/infiniband/mlx5_1"
	put sys/class/net/eth0/dev_port 1
	way 0 HOST_NEIGHBOUR=198.51.100.1,2,ipoib <<-END
		$leaves
		ok   path mlx5_1/2: the route leaves by its interface eth0
		ok   path eth0: the peer, 198.51.100.1, is a neighbour (REACHABLE)
		$arrive
	END
	rm -r "$tree/sys/class"/{net/eth0/{device,dev_port},infiniband}
	roce siw0
	rm -r "$tree/sys/class/infiniband/siw0/ports/1"/{gids,gid_attrs}
	put sys/class/infiniband/siw0/node_type '4: RNIC'
	put sys/class/infiniband/siw0/ports/1/gids/0 0200:0000:0005:0000:0000:0000:0000:0000
	put sys/class/net/eth0/address 02:00:00:00:00:05
	way 0 <<-END
		$leaves
		ok   path siw0/1: the route leaves by its interface eth0
		$neighbour
		$arrive
	END
	way 1 HOST_ROUTE=1,9,192.0.2.1,- HOST_SEND=101 <<-END
		ok   path #9: the route to 198.51.100.1 leaves here, from 192.0.2.1
		FAIL path #9: the route to 198.51.100.1 leaves here, but this interface belongs to no RDMA device
		     > name the peer by its address on the network of eth0, to which siw0/1 is attached
		note path #9: the kernel has no neighbour 198.51.100.1
	END
}

# states [STATE WORD]...: what the kernel says of the neighbour.
states() {
	begin
	while (($#)); do
		way 0 "HOST_NEIGHBOUR=198.51.100.1,$1,02:00:00:00:00:05" <<-END
			$leaves
			$device
			ok   path eth0: the peer, 198.51.100.1, is at 02:00:00:00:00:05 ($2)
			$arrive
		END
		shift 2
	done
}

# silent STATE WORD: nobody has the address.
silent() {
	begin
	way 1 "HOST_NEIGHBOUR=198.51.100.1,$1" <<-END
		$leaves
		$device
		FAIL path eth0: the peer, 198.51.100.1, does not answer ARP or neighbour discovery: nobody on the network of eth0 has this address
		       RTM_GETNEIGH: $2
		     > check that it is up, in the same subnet and VLAN: ip neighbour show dev eth0
	END
}

# It is listed on another interface, or not at all.
no_neighbour() {
	begin
	way 0 HOST_NEIGHBOUR=198.51.100.2,2,02:00:00:00:00:05 HOST_SEND=101 <<-END
		$leaves
		$device
		note path eth0: the kernel has no neighbour 198.51.100.1
		$arrive
	END
}

# What cannot be tried is not, and nothing is said of it.
no_socket() {
	begin
	way 0 HOST_CONNECT=101 <<-END
		$leaves
		$device
	END
	way 0 HOST_MTU=0 <<-END
		$leaves
		$device
		$neighbour
	END
	rm "$tree/sys/class/net/eth0/mtu"
	way 0 <<-END
		$leaves
		$device
		$neighbour
	END
}

mtu_of_way() {
	begin
	way 0 HOST_WAY=4000 <<-END
		$leaves
		$device
		$neighbour
		WARN path eth0: the MTU is 9000, but that of the way to 198.51.100.1 is only 4000
		       IP_MTU
		     > run ip route get 198.51.100.1, and check the MTU of the interfaces on the way
	END
}

# loses BYTES ARRIVING: larger packets are lost, and no router says so.
loses() {
	begin
	way 0 "HOST_LOSES=$1" <<-END
		$leaves
		$device
		$neighbour
		WARN path eth0: packets as large as the MTU, 9000 bytes, get lost on the way to 198.51.100.1, and no router reports it
		       by UDP; packets of $2 bytes arrive
		     > raise the MTU of the peer's interface and of the switch ports on the way to 9000, or lower it at both ends: ip link set dev eth0 mtu $2
	END
}

loses_all() {
	begin
	way 0 HOST_LOSES=1 <<-END
		$leaves
		$device
		$neighbour
		ok   path eth0: the MTU is 9000; the peer does not answer datagrams, so the MTU of the way is not known
	END
}

no_name() {
	begin
	way 1 HOST_NAMES=none -- --peer host.example <<-'END'
		FAIL path: host.example is not found: Name or service not known
		     > getent ahosts host.example
	END
}

soon ok 'a peer that is well' well
soon ok 'a gateway' gateway
soon ok 'an address that no GID is' another_gid
for type in 6 7 8; do
	soon ok "a route of type $type, which leads nowhere" no_route "HOST_ROUTE=$type,7,192.0.2.1,-" 'No route to host'
done
soon ok 'the kernel refuses the route' no_route HOST_FAILS=101 'Network is unreachable'
soon ok 'it answers a host that is not reached' no_route HOST_FAILS=113 'No route to host'
soon ok 'it forbids it' no_route HOST_FAILS=13 'Permission denied'
soon ok 'it knows no such question' no_route HOST_FAILS=22 'Invalid argument'
soon ok 'it lacks memory' not_told HOST_FAILS=12 'Cannot allocate memory'
soon ok 'it says nothing' not_told HOST_FAILS=silent 'Resource temporarily unavailable'
soon ok 'it says less than nothing' not_told HOST_FAILS=closed 'Input/output error'
soon ok 'it cannot be asked' not_told HOST_FAILS=send 'No buffer space available'
soon ok 'it has no Netlink' not_told HOST_FAILS=socket 'Protocol not supported'
soon ok 'the machine itself' local_route
soon ok 'an interface of no device' no_device
soon ok 'a device that is not meant' another_device
soon ok 'IPoIB and iWARP' without_gids
soon ok 'states of a neighbour' states 2 REACHABLE 4 STALE 8 DELAY 10 PROBE 80 PERMANENT 40 NOARP
soon ok 'a neighbour that did not answer' silent 20 FAILED
soon ok 'one that does not answer' silent 1 INCOMPLETE
soon ok 'no neighbour' no_neighbour
soon ok 'what cannot be tried' no_socket
soon ok 'the MTU of the way' mtu_of_way
soon ok 'packets that are lost' loses 4500 4192
soon ok 'those of more than Ethernet' loses 1500 1500
soon ok 'all but the least' loses 700 576
soon ok 'all packets' loses_all
soon ok 'a name that is not found' no_name
done_testing
