# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# A saved tree of a machine's files, and what rdmaez-doctor says of it. For tests of `--root`, after tests/tap.bash.
#
#     put FILE LINE...          writes a file of the tree
#     roce DEVICE [NETDEV]      a port of RoCE that is well, on an interface that is well
#     infiniband DEVICE         one of InfiniBand
#     gid DEVICE INDEX GID TYPE NETDEV
#     says CHECK STATUS         the standard input is what the check says, and STATUS how the doctor ends
#     changes CHECK COMMAND...  the same for a tree that COMMAND changes while the doctor watches

tree=${scratch:?}/root
doctor=build/tools/rdmaez-doctor
run_make tools

put() {
	mkdir -p "$tree/${1%/*}"
	printf '%s\n' "${@:2}" >"$tree/$1"
}

roce() {
	local port=sys/class/infiniband/$1/ports/1 netdev=sys/class/net/${2-eth0}
	put "sys/class/infiniband/$1/node_type" '1: CA'
	put "$port/state" '4: ACTIVE'
	put "$port/phys_state" '5: LinkUp'
	put "$port/link_layer" Ethernet
	put "$port/rate" '100 Gb/sec (4X EDR)'
	put "$netdev/flags" 0x1003
	put "$netdev/carrier" 1
	put "$netdev/mtu" 9000
	put "$netdev/operstate" up
	gid "$1" 0 fe80:0000:0000:0000:0200:00ff:fe00:0001 'RoCE v2' "${2-eth0}"
	gid "$1" 1 0000:0000:0000:0000:0000:ffff:c000:0201 'RoCE v2' "${2-eth0}"
	gid "$1" 2 0000:0000:0000:0000:0000:0000:0000:0000
}

infiniband() {
	local port=sys/class/infiniband/$1/ports/1
	put "sys/class/infiniband/$1/node_type" '1: CA'
	put "$port/state" '4: ACTIVE'
	put "$port/phys_state" '5: LinkUp'
	put "$port/link_layer" InfiniBand
	put "$port/rate" '100 Gb/sec (4X EDR)'
	put "$port/pkeys/0" 0xffff
	put "$port/pkeys/1" 0x0000
	put "$port/gids/0" fe80:0000:0000:0000:0002:c903:0000:0001
}

gid() {
	local port=sys/class/infiniband/$1/ports/1
	put "$port/gids/$2" "$3"
	(($# > 3)) || return 0
	put "$port/gid_attrs/types/$2" "$4"
	put "$port/gid_attrs/ndevs/$2" "$5"
}

# The summary is the framework's.
says() {
	local code=0
	"$doctor" --root "$tree" --only "$1" >"$scratch/out" 2>&1 || code=$?
	sed '/^rdmaez-doctor: /d' "$scratch/out" >"$scratch/lines"
	diff - "$scratch/lines"
	((code == $2)) || { echo "ended with $code, not $2"; return 1; }
}

# Both samples are read within milliseconds, two seconds apart.
changes() {
	local child
	"$doctor" --root "$tree" --only "$1" --seconds 2 >"$scratch/out" 2>&1 &
	child=$!
	sleep 0.7
	"${@:2}"
	wait "$child"
	sed '/^rdmaez-doctor: /d' "$scratch/out" >"$scratch/lines"
	diff - "$scratch/lines"
}

# A new tree for each test.
fresh() {
	rm -rf "$tree"
	mkdir "$tree"
}
