#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What rdmaez-doctor says of several interfaces in one subnet, of ARP, of open files and of the processors' governor, on
# machines made of files.

source tests/tap.bash
# shellcheck source=tests/tools/doctor.bash
source tests/tools/doctor.bash

# conf NAME ALL ETH0 ETH1
conf() {
	put "proc/sys/net/ipv4/conf/all/$1" "$2"
	put "proc/sys/net/ipv4/conf/eth0/$1" "$3"
	put "proc/sys/net/ipv4/conf/eth1/$1" "$4"
}

# Two adapters in 192.0.2.0/24, each of which answers for its own addresses.
two() {
	fresh
	roce mlx5_0 eth0
	roce mlx5_1 eth1
	gid mlx5_1 1 0000:0000:0000:0000:0000:ffff:c000:0202 'RoCE v2' eth1
	put proc/net/route 'Iface	Destination	Gateway 	Flags	RefCnt	Use	Metric	Mask		MTU	Window	IRTT' \
		'eth0	00000000	FE0200C0	0003	0	0	0	00000000	0	0	0' \
		'eth0	000200C0	00000000	0001	0	0	0	00FFFFFF	0	0	0' \
		'eth1	000200C0	00000000	0001	0	0	0	00FFFFFF	0	0	0'
	put sys/class/net/eth0/type 1
	put sys/class/net/eth1/type 1
	conf rp_filter 0 0 0
	conf arp_ignore 1 0 0
	conf arp_announce 2 0 0
	conf arp_filter 0 0 0
}

# What on_it shows of it.
well_asked='ok subnet eth0, eth1: both are in 192.0.2.0/24, and each answers for its own addresses'

well() {
	two
	says subnet 0 <<<'ok   subnet eth0, eth1: both are in 192.0.2.0/24, and each answers for its own addresses'
}

one() {
	fresh
	roce mlx5_0
	says subnet 0 </dev/null
}

two_subnets() {
	two
	sed -i 's/^eth1	000200C0/eth1	006433C6/' "$tree/proc/net/route"
	conf arp_ignore 0 0 0
	conf rp_filter 1 1 1
	says subnet 0 </dev/null
}

# What cannot be read is not 0, and of both settings the greater counts.
settings() {
	two
	rm "$tree"/proc/sys/net/ipv4/conf/{all,eth0}/arp_ignore
	conf rp_filter 0 2 1
	says subnet 0 <<-END
		WARN subnet eth0, eth1: both are in 192.0.2.0/24, and the reverse path filter is strict: the kernel drops what arrives at the one that the route back does not take
		       rp_filter: eth0 2, eth1 1; /proc/net/route
		     > sysctl -w net.ipv4.conf.all.rp_filter=2, or a subnet for each interface
	END
	conf rp_filter 2 0 1
	says subnet 0 <<<'ok   subnet eth0, eth1: both are in 192.0.2.0/24, and each answers for its own addresses'
}

# The kernel is asked for routes from an address, where there is one with a GID and room for a peer in its subnet.
no_way() {
	two
	put sys/class/net/eth2/type 1
	kernel 'route * * eth2'
	rm "$tree"/sys/class/infiniband/*/ports/1/gids/1
	on_it 0 --only subnet <<<"$well_asked"
	gid mlx5_0 1 0000:0000:0000:0000:0000:ffff:c633:6401 'RoCE v2' eth0 # of no route
	gid mlx5_1 1 0000:0000:0000:0000:0000:ffff:c000:0202 'RoCE v1' eth7
	on_it 0 --only subnet <<<"$well_asked"
	gid mlx5_0 1 0000:0000:0000:0000:0000:ffff:c000:0201 'RoCE v2' eth0
	sed -i 's/00FFFFFF/FEFFFFFF/' "$tree/proc/net/route"
	on_it 0 --only subnet <<<"${well_asked/24/31}"
	sed -i '/^eth1/d' "$tree/proc/net/route"
	on_it 0 --only subnet </dev/null
}

# What leaves from the address of eth1 takes eth1; what leaves from the other's is in the lines.
rules() {
	local error
	two
	put sys/class/net/eth2/type 1
	kernel 'route * * eth1' # each other is in the same subnet
	on_it 0 --only subnet <<<"$well_asked"
	kernel 'route 192.0.2.1 192.0.2.254 eth2' 'route * * eth1'
	on_it 0 --only subnet <<-'END'
		ok subnet eth0, eth1: both are in 192.0.2.0/24, and each answers for its own addresses
		warning subnet eth0: what leaves from 192.0.2.1 to its own subnet, 192.0.2.0/24, takes eth2, by a rule of routing or another route: TCP, by which programs connect, and RoCE take different ways
		  RTM_GETROUTE from 192.0.2.1: eth2
		> ip rule show; ip route get 192.0.2.254 from 192.0.2.1
	END
	kernel 'route 192.0.2.1 192.0.2.254 local' 'route 192.0.2.1 192.0.2.253 local' 'route 192.0.2.1 192.0.2.252 13' 'route * * eth1'
	on_it 0 --only subnet <<-'END'
		ok subnet eth0, eth1: both are in 192.0.2.0/24, and each answers for its own addresses
		warning subnet eth0: a rule of routing forbids what leaves from 192.0.2.1 to its own subnet, 192.0.2.0/24: TCP, by which programs connect, reaches no peer there, even if RoCE does
		  RTM_GETROUTE from 192.0.2.1: Permission denied
		> ip rule show; ip route get 192.0.2.252 from 192.0.2.1
	END
	for error in EHOSTUNREACH=113 ENETUNREACH=101 EINVAL=22; do
		kernel "route 192.0.2.1 * ${error#*=}" 'route * * eth1'
		on_it 0 --only subnet <<<'' >"$scratch/differs" || :
		grep -q '^> warning subnet eth0: a rule of routing forbids what leaves from 192.0.2.1 to its own subnet, 192.0.2.0/24: ' "$scratch/differs"
	done
	kernel 'route 192.0.2.1 * 1' 'route * * eth1'
	on_it 0 --only subnet <<<"$well_asked"
	kernel 'route 192.0.2.1 * local' 'route * * eth1'
	on_it 0 --only subnet <<<"$well_asked"
	# Fifteen addresses are tried.
	kernel "$(for error in {240..254}; do echo "route 192.0.2.1 192.0.2.$error local"; done)" 'route 192.0.2.1 * eth2' 'route * * eth1'
	on_it 0 --only subnet <<<"$well_asked"
	sed -i /240/d "$tree/netlink"
	on_it 0 --only subnet <<-'END'
		ok subnet eth0, eth1: both are in 192.0.2.0/24, and each answers for its own addresses
		warning subnet eth0: what leaves from 192.0.2.1 to its own subnet, 192.0.2.0/24, takes eth2, by a rule of routing or another route: TCP, by which programs connect, and RoCE take different ways
		  RTM_GETROUTE from 192.0.2.1: eth2
		> ip rule show; ip route get 192.0.2.240 from 192.0.2.1
	END
	# Of four addresses two may be a peer's.
	sed -i 's/00FFFFFF/FCFFFFFF/' "$tree/proc/net/route"
	kernel 'route 192.0.2.1 192.0.2.2 local' 'route 192.0.2.1 192.0.2.1 local' 'route * 192.0.2.0 eth2' 'route * * eth1'
	on_it 0 --only subnet <<<"${well_asked/24/30}"
	kernel 'route 192.0.2.1 192.0.2.2 local' 'route 192.0.2.1 192.0.2.1 eth2' 'route * * eth1'
	on_it 0 --only subnet <<-'END'
		ok subnet eth0, eth1: both are in 192.0.2.0/30, and each answers for its own addresses
		warning subnet eth0: what leaves from 192.0.2.1 to its own subnet, 192.0.2.0/30, takes eth2, by a rule of routing or another route: TCP, by which programs connect, and RoCE take different ways
		  RTM_GETROUTE from 192.0.2.1: eth2
		> ip rule show; ip route get 192.0.2.1 from 192.0.2.1
	END
}

# Each answers ARP as its route goes.
filtered() {
	two
	conf arp_ignore 0 0 0
	conf arp_filter 1 0 0
	kernel 'route 192.0.2.1 * eth0' 'route 192.0.2.2 * eth0'
	on_it 0 --only subnet <<-'END'
		note subnet eth0, eth1: both are in 192.0.2.0/24, and arp_filter lets each answer ARP as the routes go
		  arp_filter: eth0 1, eth1 1
		warning subnet eth0, eth1: both are in 192.0.2.0/24, and with arp_filter eth0 answers ARP for 192.0.2.2 of eth1, because the route back leaves there: peers send to the wrong port
		  RTM_GETROUTE from 192.0.2.2: eth0
		> ip route add 192.0.2.0/24 dev eth1 src 192.0.2.2 table 100; ip rule add from 192.0.2.2 lookup 100
	END
	kernel 'route * * 13'
	on_it 0 --only subnet <<-'END'
		note subnet eth0, eth1: both are in 192.0.2.0/24, and arp_filter lets each answer ARP as the routes go
		  arp_filter: eth0 1, eth1 1
		warning subnet eth0: a rule of routing forbids what leaves from 192.0.2.1 to its own subnet, 192.0.2.0/24: TCP, by which programs connect, reaches no peer there, even if RoCE does
		  RTM_GETROUTE from 192.0.2.1: Permission denied
		> ip rule show; ip route get 192.0.2.254 from 192.0.2.1
		warning subnet eth1: a rule of routing forbids what leaves from 192.0.2.2 to its own subnet, 192.0.2.0/24: TCP, by which programs connect, reaches no peer there, even if RoCE does
		  RTM_GETROUTE from 192.0.2.2: Permission denied
		> ip rule show; ip route get 192.0.2.254 from 192.0.2.2
	END
}

# RoCE LAG and SR-IOV show several devices on one interface.
one_interface() {
	two
	roce mlx5_1 eth0
	says subnet 0 </dev/null
}

# strict ALL ETH0 ETH1 WHAT_ETH0 WHAT_ETH1
strict() {
	two
	conf rp_filter "${@:1:3}"
	says subnet 0 <<-END
		WARN subnet eth0, eth1: both are in 192.0.2.0/24, and the reverse path filter is strict: the kernel drops what arrives at the one that the route back does not take
		       rp_filter: eth0 $4, eth1 $5; /proc/net/route
		     > sysctl -w net.ipv4.conf.all.rp_filter=2, or a subnet for each interface
	END
}

loose() {
	two
	conf rp_filter 2 1 1
	says subnet 0 <<<'ok   subnet eth0, eth1: both are in 192.0.2.0/24, and each answers for its own addresses'
}

answers_for_both() {
	two
	conf arp_ignore 0 0 1
	says subnet 0 <<-END
		WARN subnet eth0, eth1: both are in 192.0.2.0/24, and each answers ARP for the addresses of the other: peers may send to the wrong port
		       arp_ignore: eth0 0, eth1 1; arp_announce: eth0 2, eth1 2
		     > sysctl -w net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2, or a subnet for each interface
	END
}

by_route() {
	two
	conf arp_ignore 0 0 0
	conf arp_filter 0 1 1
	says subnet 0 <<-END
		note subnet eth0, eth1: both are in 192.0.2.0/24, and arp_filter lets each answer ARP as the routes go
		       arp_filter: eth0 1, eth1 1
	END
	conf arp_filter 0 1 0
	says subnet 0 <<-END
		WARN subnet eth0, eth1: both are in 192.0.2.0/24, and each answers ARP for the addresses of the other: peers may send to the wrong port
		       arp_ignore: eth0 0, eth1 0; arp_announce: eth0 2, eth1 2
		     > sysctl -w net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2, or a subnet for each interface
	END
}

no_arp() {
	fresh
	roce mlx5_0
	put sys/class/net/eth0/type 1
	put sys/class/net/eth0/flags 0x1083
	says subnet 0 <<-END
		WARN subnet eth0: ARP is off: this end finds only peers with a permanent entry, and peers that ask for it get no answer
		       /sys/class/net/eth0/flags: 0x1083, with IFF_NOARP
		     > ip link set dev eth0 arp on
	END
	put sys/class/net/eth0/type 772
	says subnet 0 </dev/null
}

# Of RoCE v1 and v2, it is told once.
twice() {
	two
	gid mlx5_1 2 0000:0000:0000:0000:0000:ffff:c000:0201 'IB/RoCE v1' eth1
	gid mlx5_1 3 0000:0000:0000:0000:0000:ffff:c000:0201 'RoCE v2' eth1
	says subnet 0 <<-END
		ok   subnet eth0, eth1: both are in 192.0.2.0/24, and each answers for its own addresses
		WARN subnet eth0, eth1: both have the address 192.0.2.1: chance decides which of them peers reach, and by which GID
		       /sys/class/infiniband/mlx5_1/ports/1/gids/2
		     > remove it from one of them: ip address del 192.0.2.1/PREFIX dev eth1
	END
}

# One of IPv6, and one that is no address; what is link-local may be anybody's, as may an interface that is not here.
twice_of_ipv6() {
	fresh
	roce mlx5_0 eth0
	roce mlx5_1 eth1
	roce mlx5_2 eth2
	rm "$tree"/sys/class/infiniband/*/ports/1/gids/1
	gid mlx5_0 3 2001:0db8:0000:0000:0000:0000:0000:0001 'RoCE v2' eth0
	gid mlx5_1 3 2001:0db8:0000:0000:0000:0000:0000:0001 'RoCE v2' eth1
	gid mlx5_2 3 2001:0db8:0000:0000:0000:0000:0000:0001 'RoCE v2' eth2
	gid mlx5_0 4 garbled 'RoCE v2' eth0
	gid mlx5_1 4 garbled 'RoCE v2' eth1
	gid mlx5_0 5 2001:0db8:0000:0000:0000:0000:0000:0002 'RoCE v2' eth7
	gid mlx5_1 5 2001:0db8:0000:0000:0000:0000:0000:0002 'RoCE v2' eth1
	infiniband mlx5_3
	gid mlx5_3 6 2001:0db8:0000:0000:0000:0000:0000:0002 IB eth0
	says subnet 0 <<-END
		WARN subnet eth0, eth1: both have the address 2001:db8::1: chance decides which of them peers reach, and by which GID
		       /sys/class/infiniband/mlx5_1/ports/1/gids/3
		     > remove it from one of them: ip address del 2001:db8::1/PREFIX dev eth1
		WARN subnet eth0, eth1: both have the address garbled: chance decides which of them peers reach, and by which GID
		       /sys/class/infiniband/mlx5_1/ports/1/gids/4
		     > remove it from one of them: ip address del garbled/PREFIX dev eth1
	END
}

# silent_vlan RECEIVED BELOW STATE: of eth0.100, on eth0
silent_vlan() {
	fresh
	roce mlx5_0
	gid mlx5_0 3 0000:0000:0000:0000:0000:ffff:c633:6401 'RoCE v2' eth0.100
	gid mlx5_0 4 0000:0000:0000:0000:0000:ffff:c633:6401 'IB/RoCE v1' eth0.100
	put sys/class/net/eth0.100/uevent DEVTYPE=vlan INTERFACE=eth0.100 IFINDEX=7
	put sys/class/net/eth0.100/operstate "$3"
	put sys/class/net/eth0.100/statistics/rx_packets "$1"
	put sys/class/net/eth0.100/statistics/tx_packets 9
	put sys/class/net/eth0/uevent INTERFACE=eth0
	put sys/class/net/eth0/statistics/rx_packets "$2"
	mkdir "$tree/sys/class/net/eth0.100/lower_eth0"
}

vlan() {
	silent_vlan 0 4711 up
	says subnet 0 <<-END
		note subnet eth0.100: nothing has ever arrived by this VLAN: its GIDs may reach nobody
		       /sys/class/net/eth0.100/statistics: rx_packets 0, tx_packets 9; of eth0 rx_packets 4711
		     > ping a peer in it; if none answers, have the switch carry the VLAN on this port, or choose the GID of another interface
	END
}

vlan_is_well() {
	silent_vlan "$@"
	says subnet 0 </dev/null
}

# An interface that is no VLAN is told elsewhere if it is silent.
no_vlan() {
	silent_vlan 0 4711 up
	put sys/class/net/eth0.100/uevent INTERFACE=eth0.100
	says subnet 0 </dev/null
}

# files SOFT HARD
files() {
	fresh
	put proc/self/limits 'Limit                     Soft Limit           Hard Limit           Units     ' \
		"Max open files            $1                $2             files     "
}

few_files() {
	files 256 4096
	says files 0 <<-END
		WARN files: a process may open 256 files: each open device, completion channel, event channel of rdma_cm and socket needs one, and opening more fails with EMFILE
		       RLIMIT_NOFILE: 256, at most 4096
		     > here and now: ulimit -n \$(ulimit -H -n)
		     > echo '* - nofile 65536' >/etc/security/limits.d/files.conf, as root, then log in again; for a service of systemd LimitNOFILE=65536
	END
}

many_files() {
	files 1024 524288
	says files 0 <<<'ok   files: a process may open 1024 files: each open device, completion channel, event channel of rdma_cm and socket needs one, and opening more fails with EMFILE'
	files unlimited unlimited
	says files 0 <<<'ok   files: a process may open any number of files'
}

# governors NAME...: of cpu0 and those that follow.
governors() {
	local cpu=0 name
	fresh
	mkdir -p "$tree/sys/devices/system/cpu/cpufreq"
	for name; do
		put "sys/devices/system/cpu/cpu$cpu/cpufreq/scaling_governor" "$name"
		((cpu += 1))
	done
}

saving() {
	governors performance powersave powersave
	says governor 0 <<-END
		note governor: the governor of 2 of 3 processors is powersave: they slow down when they have little to do, and latency varies
		       /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor
		     > as root: cpupower frequency-set --governor performance
	END
	governors performance performance
	says governor 0 <<<'ok   governor: the governor of all processors is performance'
	fresh
	says governor 0 </dev/null
}

ok 'two interfaces in one subnet, set up well' well
ok 'one interface' one
ok 'two subnets' two_subnets
ok 'two devices on one interface' one_interface
ok 'settings that differ, or cannot be read' settings
ok 'no route to ask for' no_way
ok 'rules of routing' rules
ok 'ARP as the routes go, and where' filtered
ok 'the reverse path filter is strict for all' strict 1 0 0 1 1
ok 'or for one' strict 0 0 1 0 1
fails 'another value is seen' '^[<>].*rp_filter' strict 0 0 1 1 1
ok 'it is loose for all, which wins' loose
ok 'one answers for the other' answers_for_both
ok 'both answer as the routes go' by_route
ok 'ARP is off, and not where it never is on' no_arp
ok 'one address twice' twice
ok 'one of IPv6, and on three interfaces' twice_of_ipv6
ok 'a VLAN by which nothing comes, once' vlan
ok 'one by which something came' vlan_is_well 1 4711 up
ok 'one of a port that has received nothing either' vlan_is_well 0 0 up
ok 'one that is down' vlan_is_well 0 4711 lowerlayerdown
ok 'an interface that is none' no_vlan
ok 'few files' few_files
ok 'many files' many_files
ok 'processors that save power' saving
done_testing
