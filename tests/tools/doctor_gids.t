#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The table of GIDs that rdmaez-doctor reads from files, which entry it would choose, and what it finds wrong with the
# others. What takes addresses and an open device is in tests/device/doctor_port.t.

source tests/tap.bash
# shellcheck source=tests/tools/doctor.bash
source tests/tools/doctor.bash

gids=/sys/class/infiniband/mlx5_0/ports/1/gids
chosen='ok   gids mlx5_0/1: GIDs: 2; rdmaez would choose index 1, ::ffff:192.0.2.1, RoCE v2, eth0'

# source_is COUNT: the evidence of most lines.
source_is() {
	echo "       $gids: entries $1"
}

index_0() {
	echo "note gids mlx5_0/1: index 0 is link-local, and many programs use it unless you name another: name index $1"
	source_is "$2"
	echo "     > ib_write_bw -x $1, ibv_rc_pingpong -g $1, UCX_IB_GID_INDEX=$1, NCCL_IB_GID_INDEX=$1"
}

well() {
	fresh
	roce mlx5_0
	says gids 0 < <(echo "$chosen"; index_0 1 2)
}

# What a terminal would obey, in names and in files: C0, DEL, C1 as UTF-8 and bare, a character that is cut in half,
# and one that turns the order round.
escapes() {
	local status=0 netdev=$'e\xc2\x9b31mbcdefgh\xc3\xa9' device=$'mlx5_0\e]0;OWNED\a\x7f\xe2\x80\xae'
	fresh
	roce "$device" "$netdev"
	put "sys/class/infiniband/$device/ports/1/state" $'1: DOWN\e[5m\xc2\x9d'
	"$doctor" --root "$tree" >"$scratch/out" 2>&1 || :
	"$doctor" --root "$tree" --gids >>"$scratch/out" 2>&1 || status=$?
	rm "$tree/sys/class/infiniband/$device/ports/1/gids/"*
	"$doctor" --root "$tree" --gids $'mlx5_0\e[31m' >>"$scratch/out" 2>&1 || :
	"$doctor" $'--\e[31m' >>"$scratch/out" 2>&1 || :
	((status == 0)) || return 1
	grep -qF 'mlx5_0?]0;OWNED??? 1 ' <(tr -s ' ' <"$scratch/out")
	! LC_ALL=C grep -naP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80\xae' "$scratch/out" || return 1
	iconv --from-code UTF-8 --to-code UTF-8 "$scratch/out" >/dev/null
}

# A command that is printed may be pasted into a shell: names in it cannot begin another one, marks of the doctor or not.
# shellcheck disable=SC2016 # nothing in a name expands
commands() {
	local netdev device=$'mlx$(id)|x'
	for netdev in 'e;id&`id`>x$y' $'e\2$(id)\1;\\'; do
		fresh
		roce "$device" "$netdev"
		put "sys/class/net/$netdev/mtu" 1500
		put "sys/class/net/$netdev/flags" 0x1002
		put "sys/class/infiniband/$device/ports/1/state" '1: DOWN'
		report >/dev/null || :
		grep -a '^     > ' "$scratch/report"
		grep -qa '^     > ip link set e' "$scratch/report"
		! grep -a '^     > ip link.*[$;|`<>\\]' "$scratch/report" || return 1
		report --json >/dev/null || :
		jq --exit-status '[.checks[].next[] | select(startswith("ip link")) | test("[$;|`<>]")] | any | not' "$scratch/report"
	done
	grep -qxa '     > ip link set e?(id)?? up' <("$doctor" --root "$tree" || :)
}

link_local_only() {
	fresh
	roce mlx5_0
	gid mlx5_0 1 0000:0000:0000:0000:0000:0000:0000:0000
	says gids 0 <<-END
		ok   gids mlx5_0/1: GIDs: 1; rdmaez would choose index 0, fe80::200:ff:fe00:1, RoCE v2, eth0
		WARN gids mlx5_0/1: only link-local GIDs: interface eth0 has no address, so it reaches peers only on the same Ethernet segment, and programs that want an IPv4 GID find none
		$(source_is 1)
		     > ip address add ADDRESS/PREFIX dev eth0
	END
}

# As mlx5 lists them: v1 before v2, the default GID first.
two_versions() {
	fresh
	roce mlx5_0
	gid mlx5_0 0 fe80:0000:0000:0000:0200:00ff:fe00:0001 'IB/RoCE v1' eth0
	gid mlx5_0 1 fe80:0000:0000:0000:0200:00ff:fe00:0001 'RoCE v2' eth0
	gid mlx5_0 2 0000:0000:0000:0000:0000:ffff:c000:0201 'IB/RoCE v1' eth0
	gid mlx5_0 3 0000:0000:0000:0000:0000:ffff:c000:0201 'RoCE v2' eth0
	says gids 0 < <(
		echo 'ok   gids mlx5_0/1: GIDs: 4; rdmaez would choose index 3, ::ffff:192.0.2.1, RoCE v2, eth0'
		index_0 3 4
		echo 'note gids mlx5_0/1: the same address as RoCE v1 (indices 0, 2) and as v2 (indices 1, 3): both ends must use the same version, and routers forward only v2'
		source_is 4
	)
}

# The default GID of an Ethernet address that the interface no longer has; with the right one there is nothing to say.
other_mac() {
	fresh
	roce mlx5_0
	put sys/class/net/eth0/address 00:00:00:00:00:01
	says gids 0 < <(echo "$chosen"; index_0 1 2)
	put sys/class/net/eth0/address 02:00:00:00:00:02
	says gids 0 < <(
		echo "$chosen"
		index_0 1 2
		echo 'WARN gids mlx5_0/1: index 0 was made from the Ethernet address 00:00:00:00:00:01, and eth0 now has another one'
		echo '       /sys/class/net/eth0/address: 02:00:00:00:00:02'
		echo '     > as root: ip link set eth0 down; ip link set eth0 up; for a virtual function, set its address before you load its driver'
	)
}

version_1_only() {
	fresh
	roce mlx5_0
	put "${gids%/gids}/gid_attrs/types/0" 'IB/RoCE v1'
	put "${gids%/gids}/gid_attrs/types/1" 'IB/RoCE v1'
	says gids 0 < <(
		echo 'ok   gids mlx5_0/1: GIDs: 2; rdmaez would choose index 1, ::ffff:192.0.2.1, RoCE v1, eth0'
		index_0 1 2
		echo 'WARN gids mlx5_0/1: RoCE v1 only: routers do not forward it, and peers with RoCE v2 do not answer'
		source_is 2
	)
}

several() {
	fresh
	roce mlx5_0
	gid mlx5_0 2 2001:0db8:0000:0000:0000:0000:0000:0001 'RoCE v2' eth0
	gid mlx5_0 255 0000:0000:0000:0000:0000:ffff:c633:6407 'RoCE v2' eth0.7
	mkdir -p "$tree/sys/class/net/eth0.7"
	put sys/class/net/eth0.7/flags 0x1003
	says gids 0 < <(
		echo "${chosen/GIDs: 2/GIDs: 4}"
		echo 'note gids mlx5_0/1: indices 1, 255 are equally good: use the one from whose address the route to the peer starts'
		source_is 4
		echo '     > ip route get PEER # its src is the address; --gids shows the index of it'
		index_0 1 4
	)
}

# An interface that is down, one that is elsewhere, and none.
interfaces() {
	fresh
	roce mlx5_0
	put sys/class/net/eth0/flags 0x1002
	gid mlx5_0 2 0000:0000:0000:0000:0000:ffff:c633:6407 'RoCE v2' net1
	gid mlx5_0 3 0000:0000:0000:0000:0000:ffff:c633:6408 'RoCE v2' eth0
	rm "$tree/${gids%/gids}/gid_attrs/ndevs/3"
	says gids 0 < <(
		echo "${chosen/GIDs: 2/GIDs: 4}"
		echo 'note gids mlx5_0/1: indices 1, 2 are equally good: use the one from whose address the route to the peer starts'
		source_is 4
		echo '     > ip route get PEER # its src is the address; --gids shows the index of it'
		index_0 1 4
		echo 'WARN gids mlx5_0/1: index 3 belongs to no interface, so the kernel refuses a queue pair that uses it'
		source_is 4
		echo 'WARN gids mlx5_0/1: indices 0, 1: the interface is down'
		source_is 4
		echo '     > rdmaez-doctor --gids; ip link set INTERFACE up'
	)
}

# Of a table that cannot be read nobody knows that it is empty. Root may read all but a directory.
unreadable() {
	roce mlx5_0
	rm -r "$tree/sys/class/infiniband/mlx5_0/ports/1/gids"
	put sys/class/infiniband/mlx5_0/ports/1/gids
	says gids 0 <<-'END'
		note gids mlx5_0/1: the GIDs cannot be read
		       /sys/class/infiniband/mlx5_0/ports/1/gids: Not a directory
	END
	fresh
	roce mlx5_0
	rm "$tree"/sys/class/infiniband/mlx5_0/ports/1/gids/*
	mkdir "$tree"/sys/class/infiniband/mlx5_0/ports/1/gids/{0,1}
	says gids 0 <<-'END'
		note gids mlx5_0/1: the GIDs cannot be read
		       /sys/class/infiniband/mlx5_0/ports/1/gids: Is a directory
	END
}

# As NCCL found it in a pod: no entry belongs to the namespace.
empty() {
	fresh
	roce mlx5_0
	gid mlx5_0 0 0000:0000:0000:0000:0000:0000:0000:0000
	gid mlx5_0 1 0000:0000:0000:0000:0000:0000:0000:0000
	says gids 1 <<-END
		FAIL gids mlx5_0/1: the GID table is empty, so no queue pair of this port can be connected
		$(source_is 0)
		     > ip link set eth0 up && ip address add ADDRESS/PREFIX dev eth0
	END
}

# An interface in another namespace has no name here.
without_interface() {
	fresh
	roce mlx5_0
	rm -r "$tree"/sys/class/{infiniband/mlx5_0/ports/1/gid_attrs,net}
	gid mlx5_0 0 0000:0000:0000:0000:0000:0000:0000:0000
	gid mlx5_0 1 0000:0000:0000:0000:0000:0000:0000:0000
	says gids 1 <<-END
		FAIL gids mlx5_0/1: the GID table is empty, so no queue pair of this port can be connected
		$(source_is 0)
		     > give this network namespace an interface of mlx5_0: macvlan, SR-IOV, or the interface itself
	END
}

# Addresses of the interface, and of its labels, that no GID has; the link-local ones need none.
without_gid() {
	fresh
	roce mlx5_0
	gid mlx5_0 2 2001:0db8:0000:0000:0000:0000:0000:0001 'RoCE v2' eth0
	printf '%s\n' eth0 'eth0 17' 'eth0 192.0.2.1:0' 'eth0 [2001:db8::1]:0' 'eth0 [fe80::9]:0' 'eth00 192.0.2.8:0' \
		'eth1 192.0.2.9:0' >"$tree/ifaddrs"
	on_it 0 --only gids <<-'END'
		ok gids mlx5_0/1: GIDs: 3; rdmaez would choose index 1, ::ffff:192.0.2.1, RoCE v2, eth0
		  /sys/class/infiniband/mlx5_0/ports/1/gids: entries 3
		note gids mlx5_0/1: index 0 is link-local, and many programs use it unless you name another: name index 1
		  /sys/class/infiniband/mlx5_0/ports/1/gids: entries 3
		> ib_write_bw -x 1, ibv_rc_pingpong -g 1, UCX_IB_GID_INDEX=1, NCCL_IB_GID_INDEX=1
		note gids mlx5_0/1: index 0: fe80::200:ff:fe00:1 is not an address of eth0, so peers do not find it by RoCE v2
		  getifaddrs: eth0 does not have it
		> use another index, or: ip address add fe80::200:ff:fe00:1/64 dev eth0
	END
	printf '%s\n' 'eth0 [2001:db8::2]:0' 'eth0:1 192.0.2.3:0' 'eth0 192.0.2.1:0' >"$tree/ifaddrs"
	on_it 0 --only gids <<-'END'
		ok gids mlx5_0/1: GIDs: 3; rdmaez would choose index 1, ::ffff:192.0.2.1, RoCE v2, eth0
		  /sys/class/infiniband/mlx5_0/ports/1/gids: entries 3
		note gids mlx5_0/1: index 0 is link-local, and many programs use it unless you name another: name index 1
		  /sys/class/infiniband/mlx5_0/ports/1/gids: entries 3
		> ib_write_bw -x 1, ibv_rc_pingpong -g 1, UCX_IB_GID_INDEX=1, NCCL_IB_GID_INDEX=1
		warning gids mlx5_0/1: indices 0, 2: 2001:db8::1 is not an address of eth0, so peers do not find it by RoCE v2
		  getifaddrs: eth0 does not have it
		> use another index, or: ip address add 2001:db8::1/64 dev eth0
		warning gids mlx5_0/1: addresses of eth0 without a GID: 2, such as 192.0.2.3; the table is full, or the driver does not follow
		  /sys/class/infiniband/mlx5_0/ports/1/gids: entries 3
		> remove addresses that you do not need, then remove and add this one: ip address del 192.0.2.3 dev eth0
	END
	echo 'eth0 [2001:db8::2]:0' >"$tree/ifaddrs"
	on_it 0 --only gids <<-'END'
		ok gids mlx5_0/1: GIDs: 3; rdmaez would choose index 1, ::ffff:192.0.2.1, RoCE v2, eth0
		  /sys/class/infiniband/mlx5_0/ports/1/gids: entries 3
		note gids mlx5_0/1: index 0 is link-local, and many programs use it unless you name another: name index 1
		  /sys/class/infiniband/mlx5_0/ports/1/gids: entries 3
		> ib_write_bw -x 1, ibv_rc_pingpong -g 1, UCX_IB_GID_INDEX=1, NCCL_IB_GID_INDEX=1
		warning gids mlx5_0/1: indices 0, 1, 2: 2001:db8::1 is not an address of eth0, so peers do not find it by RoCE v2
		  getifaddrs: eth0 does not have it
		> use another index, or: ip address add 2001:db8::1/64 dev eth0
		warning gids mlx5_0/1: addresses of eth0 without a GID: 1, such as 2001:db8::2; the table is full, or the driver does not follow
		  /sys/class/infiniband/mlx5_0/ports/1/gids: entries 3
		> remove addresses that you do not need, then remove and add this one: ip address del 2001:db8::2 dev eth0
	END
}

on_infiniband() {
	fresh
	infiniband mlx5_0
	says gids 0 <<<'ok   gids mlx5_0/1: GIDs: 1; rdmaez would choose index 0, fe80::2:c903:0:1, IB'
}

# iWARP connects by rdma_cm, and its GID is an Ethernet address.
on_iwarp() {
	fresh
	roce siw0
	put sys/class/infiniband/siw0/node_type '4: RNIC'
	gid siw0 0 0200:0000:0001:0000:0000:0000:0000:0000
	gid siw0 1 0000:0000:0000:0000:0000:0000:0000:0000
	says gids 0 </dev/null
	"$doctor" --root "$tree" --gids >"$scratch/out"
	grep -E '^siw0 +1 +0 +0200:0000:0001:0000:0000:0000:0000:0000 +iWARP +eth0 +up$' "$scratch/out"
}

the_table() {
	fresh
	roce mlx5_0
	roce mlx5_1 net1
	rm -r "$tree/sys/class/net/net1"
	gid mlx5_0 2 0000:0000:0000:0000:0000:ffff:c633:6407 'IB/RoCE v1' eth0
	put sys/class/net/eth0/flags 0x1002
	"$doctor" --root "$tree" --gids >"$scratch/out"
	diff - "$scratch/out" <<-END
		DEVICE          PORT INDEX GID                                     IPV4            TYPE    NETDEV          STATE     CHOSEN
		mlx5_0          1    0     fe80:0000:0000:0000:0200:00ff:fe00:0001                 RoCE v2 eth0            down
		mlx5_0          1    1     0000:0000:0000:0000:0000:ffff:c000:0201 192.0.2.1       RoCE v2 eth0            down      yes
		mlx5_0          1    2     0000:0000:0000:0000:0000:ffff:c633:6407 198.51.100.7    RoCE v1 eth0            down
		mlx5_1          1    0     fe80:0000:0000:0000:0200:00ff:fe00:0001                 RoCE v2 net1            elsewhere
		mlx5_1          1    1     0000:0000:0000:0000:0000:ffff:c000:0201 192.0.2.1       RoCE v2 net1            elsewhere yes
	END
}

the_json() {
	the_table
	"$doctor" --root "$tree" --gids --json | jq --exit-status --sort-keys --compact-output '.gids[1]' |
		diff - <(echo '{"address":"192.0.2.1","chosen":true,"device":"mlx5_0","gid":"0000:0000:0000:0000:0000:ffff:c000:0201","index":1,"netdev":"eth0","port":1,"state":"down","type":"RoCE v2"}')
}

# A table of 1024 entries, as Soft-RoCE and some adapters have it, with one in use: at the end.
long_table() {
	local index
	fresh
	roce mlx5_0
	for ((index = 0; index < 1023; index++)); do
		echo 0000:0000:0000:0000:0000:0000:0000:0000 >"$tree$gids/$index"
	done
	gid mlx5_0 1023 0000:0000:0000:0000:0000:ffff:c633:6407 'RoCE v2' eth0
	says gids 0 <<<'ok   gids mlx5_0/1: GIDs: 1; rdmaez would choose index 1023, ::ffff:198.51.100.7, RoCE v2, eth0'
}

another_line() {
	well
	says gids 0 <<<"$chosen"
}

ok 'a table that is well' well
fails 'another line is seen' '^> note gids mlx5_0/1: index 0 is link-local' another_line
ok 'nothing that a terminal obeys' escapes
ok 'nothing that a shell obeys' commands
ok 'only link-local' link_local_only
ok 'RoCE v1 and v2 of each address' two_versions
ok 'a GID of another Ethernet address' other_mac
ok 'RoCE v1 only' version_1_only
ok 'several that are equally good' several
ok 'interfaces: down, elsewhere, none' interfaces
ok 'an empty table' empty
ok 'a table that cannot be read' unreadable
ok 'an empty table without an interface' without_interface
ok 'addresses without a GID' without_gid
ok 'InfiniBand' on_infiniband
ok 'iWARP' on_iwarp
ok 'the table that --gids prints' the_table
ok 'the same as JSON' the_json
ok 'a long table' long_table

done_testing
