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
#
#     machine                   a whole machine that is well, with a ConnectX adapter, mlx5_0 on eth0
#     limit SOFT HARD           its limits of locked memory
#     report ARG...             the report of rdmaez-doctor on the tree; its status goes to $code
#     line PATTERN ARG...       that has a line which PATTERN, an extended regular expression, is all of
#     no_line PATTERN ARG...    that has none
#
#     runs NAME FILE            tests/tools/NAME.c ends well, with FILE as the source file that it tests
#
#     kernel LINE...            what the kernel of the tree tells by netlink, as tests/tools/kernel.c describes it
#     later LINE...             the same once the doctor has slept
#     process PID NAME STATE    a process of the tree, with /proc/PID; STATE as "S (sleeping)"
#     on_it STATUS ARG...       the standard input is what rdmaez-doctor ARG... says where the tree's kernel runs:
#                               findings with all evidence, but for one that is always the same, and queue pairs

tree=${scratch:?}/root
doctor=build/tools/rdmaez-doctor
run_make build/tools/rdmaez-doctor

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

# The last counter of eth0 is a pipe: the doctor waits there for a line, at the end of each sample. What COMMAND changes
# while the first one waits is between the samples, however long it takes.
# shellcheck disable=SC2016 # expanded by the inner shells
changes() {
	local child changed=$tree/changed pipe=$tree/sys/class/net/eth0/carrier_changes
	mkfifo "$pipe" "$changed"
	"$doctor" --root "$tree" --only "$1" >"$scratch/out" 2>&1 &
	child=$!
	timeout 20 bash -c 'exec 3>"$0"; echo waits; read -r _ <"$1"; echo 1 >&3' "$pipe" "$changed" |
		{ grep -q waits; "${@:2}"; timeout 20 bash -c 'echo >"$0"' "$changed"; }
	timeout 20 bash -c 'echo 1 >"$0"' "$pipe"
	wait "$child"
	sed '/^rdmaez-doctor: /d' "$scratch/out" >"$scratch/lines"
	diff - "$scratch/lines"
}

# A new tree for each test.
fresh() {
	rm -rf "$tree"
	mkdir "$tree"
}

machine() {
	local name pci=sys/bus/pci/devices/0000:3b:00.0 device=sys/class/infiniband/mlx5_0
	rm -rf "$tree"
	for name in ib_core ib_uverbs rdma_cm rdma_ucm mlx5_ib; do
		mkdir -p "$tree/sys/module/$name"
	done
	put sys/module/ib_core/parameters/netns_mode Y
	put "$pci/vendor" 0x15b3
	put "$pci/device" 0x1017
	put "$pci/class" 0x020000
	mkdir -p "$tree/sys/bus/pci/drivers/mlx5_core" "$tree/$pci/infiniband/mlx5_0"
	ln -s ../../drivers/mlx5_core "$tree/$pci/driver"
	roce mlx5_0
	put "$device/fw_ver" 16.35.2000
	ln -s ../../../bus/pci/devices/0000:3b:00.0 "$tree/$device/device"
	put sys/class/net/eth0/type 1
	ln -s ../../../bus/pci/devices/0000:3b:00.0 "$tree/sys/class/net/eth0/device"
	put sys/class/infiniband_verbs/abi_version 6
	put sys/class/infiniband_verbs/uverbs0/ibdev mlx5_0
	put sys/class/infiniband_verbs/uverbs0/dev 231:192
	put sys/class/misc/rdma_cm/dev 10:58
	put dev/infiniband/uverbs0
	put dev/infiniband/rdma_cm
	put etc/libibverbs.d/mlx5.driver 'driver mlx5'
	put usr/lib64/libibverbs.so.1 'IBVERBS_1.1 IBVERBS_PRIVATE_34 and what follows'
	put usr/lib64/libibverbs/libmlx5-rdmav34.so
	limit unlimited unlimited
	put proc/self/status 'Name: program' 'VmPin:	       0 kB' 'CapEff:	0000000000000000'
	put proc/self/uid_map '         0          0 4294967295'
	put proc/self/cgroup '0::/system.slice/program.service'
	put proc/self/mountinfo '30 25 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw'
	put proc/sys/kernel/osrelease 6.1.0
	put proc/meminfo 'MemTotal: 16384 kB' 'HugePages_Total:       8' 'HugePages_Free:        8'
	mkdir -p "$tree/sys/fs/cgroup/system.slice/program.service"
}

# limit SOFT HARD: of locked memory.
limit() {
	put proc/self/limits 'Limit                     Soft Limit           Hard Limit           Units     ' \
		'Max cpu time              unlimited            unlimited            seconds   ' \
		"Max locked memory         $1             $2             bytes     "
}

report() {
	# shellcheck disable=SC2034 # for the tests
	code=0
	"$doctor" --root "$tree" "$@" >"$scratch/report" 2>"$scratch/stderr" || code=$?
	cat "$scratch/report" "$scratch/stderr"
}

line() {
	report "${@:2}"
	LC_ALL=C grep -aqxE -- "$1" "$scratch/report"
}

no_line() {
	report "${@:2}"
	[[ -s $scratch/report ]]
	! grep -xE -- "$1" "$scratch/report"
}

# pci PATH [DEVICE]: a PCI device below /sys/devices, as "pci0000:00/0000:00:01.0/0000:01:00.0"; it is the RDMA device's.
pci() {
	local address=${1##*/}
	mkdir -p "$tree/sys/devices/$1" "$tree/sys/bus/pci/devices"
	put "sys/devices/$1/vendor" 0x15b3
	put "sys/devices/$1/class" 0x020700
	ln -sfn "../../../devices/$1" "$tree/sys/bus/pci/devices/$address"
	[[ -z ${2-} ]] || ln -sfn "../../../devices/$1" "$tree/sys/class/infiniband/$2/device"
}

# link PATH CURRENT_SPEED CURRENT_WIDTH MAX_SPEED MAX_WIDTH
link() {
	put "sys/devices/$1/current_link_speed" "$2 GT/s PCIe"
	put "sys/devices/$1/current_link_width" "$3"
	put "sys/devices/$1/max_link_speed" "$4 GT/s PCIe"
	put "sys/devices/$1/max_link_width" "$5"
}

# config PATH SIZE [OFFSET=HEX...]: a configuration space of zeros, and bytes in it; OFFSET as 0x040.
config() {
	local file=$tree/sys/devices/$1/config item hex bytes
	head -c "$2" /dev/zero >"$file"
	for item in "${@:3}"; do
		bytes=
		for ((hex = 6; hex < ${#item}; hex += 2)); do
			bytes+=\\x${item:hex:2}
		done
		printf %b "$bytes" | dd of="$file" bs=1 seek="$((${item:0:5}))" conv=notrunc status=none
	done
}

runs() {
	"${CC:-gcc}" -std=c11 -g @tests/compile/warnings -D_GNU_SOURCE -Iinclude -Itests -Itools/doctor -O1 \
		-fsanitize=address -fsanitize=undefined -fno-sanitize-recover=all "-D${1^^}=\"$2\"" "tests/tools/$1.c" \
		-o "$scratch/$1"
	"$scratch/$1" >"$scratch/out" || { cat "$scratch/out"; return 1; }
}

kernel() {
	printf '%s\n' "$@" >"$tree/netlink"
}

later() {
	mkdir -p "$tree/later"
	printf '%s\n' "$@" >"$tree/later/netlink"
}

process() {
	local at=proc/$1
	mkdir -p "$tree/$at/task/$1" "$tree/$at/fd"
	put "$at/comm" "$2"
	printf '/opt/%s\0--fast\0' "$2" >"$tree/$at/cmdline"
	put "$at/status" "Name:	$2" "State:	$3" "Tgid:	$1" 'Uid:	1000	1000	1000	1000' 'VmLck:	       0 kB' \
		'VmPin:	    2048 kB' 'CapEff:	0000000000000000' "NSpid:	$1"
	put "$at/limits" 'Limit                     Soft Limit           Hard Limit           Units     ' \
		'Max open files            1024                 1024                 files     ' \
		'Max locked memory         8388608              8388608              bytes     '
	put "$at/stat" "$1 ($2) S 1 1 1 0 -1 4194304 0 0 0 0 40 2 0 0 20 0 1 0 100"
	put "$at/wchan" 0
	put "$at/cgroup" '0::/job/4'
}

on_it() {
	local code=0
	[[ -e $scratch/kernel.so ]] || "${CC:-gcc}" -shared -fPIC -O1 tests/tools/kernel.c -o "$scratch/kernel.so"
	KERNEL=$tree LD_PRELOAD=$scratch/kernel.so "$doctor" --json "${@:2}" >"$scratch/json" || code=$?
	jq --raw-output '(.checks[] | select(.finding | startswith("only the process itself can tell") | not) |
		"\(.verdict) \(.check) \(.subject): \(.finding)", (.evidence[] | "  \(.)"), (.next[] | "> \(.)")),
		(.queue_pairs[]? | [.device, .qp_num, .type, .state, .pid, .sq_psn, .rq_psn, .moved, .peer, .peer_device,
		.peer_qp_num, .peer_pid] | map(tostring) | join(" "))' "$scratch/json" |
		sed 's/this is the PID namespace of process [0-9]*/this is the PID namespace of process N/' >"$scratch/lines"
	diff - "$scratch/lines"
	((code == $1)) || { echo "ended with $code, not $1"; return 1; }
}
