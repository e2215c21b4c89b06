# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154,SC2164 # variables of softroce, which sources this under errexit
#
# The ways of softroce that need no guest: the host's own RDMA device, and the host's rdma_rxe.

# why_not_WAY: why that way cannot be taken; nothing if it can.

# The devices of a concurrent run in the rxe way (over the interface softroce0) do not count: they
# will be gone when that run ends.
why_not_direct() {
	local device node why="this host has no RDMA device"
	for device in /sys/class/infiniband/*; do
		[[ -e $device && $(cat "$device/parent" 2>/dev/null) != softroce0 ]] || continue
		why="you may not open this host's RDMA device: /dev/infiniband/uverbs* must be readable and writable"
		for node in "$device"/device/infiniband_verbs/* /sys/class/infiniband_verbs/*; do
			node=/dev/infiniband/${node##*/}
			[[ ! -r $node || ! -w $node ]] || return 0
		done
	done
	echo "$why"
}

why_not_rxe() {
	if ((EUID != 0)); then
		echo "only root can make a device"
	elif ! command -v rdma >/dev/null; then
		echo "rdma is missing: install the Debian package iproute2"
	elif [[ ! -d /sys/module/rdma_rxe ]] && ! modprobe -q -n rdma_rxe 2>/dev/null; then
		echo "this host's kernel has no rdma_rxe"
	fi
}

run_direct() {
	run_here
}

# A command on a terminal stays in the terminal's foreground, to be stopped by Ctrl-C.
run_here() {
	local code=0 limit=() seconds=${timeout:-$default_timeout}
	if [[ ! -t 0 || ! -t 1 ]]; then
		((seconds == 0)) || limit=(timeout --kill-after=5 "$seconds")
	elif [[ -n $timeout && $timeout != 0 ]]; then
		limit=(timeout --foreground --kill-after=5 "$seconds")
	fi
	SECONDS=0
	env "${environment[@]}" "${limit[@]}" "${command[@]}" || code=$?
	if ((${#limit[@]} > 0 && SECONDS >= seconds && (code == 124 || code == 137))); then
		say_timeout "$seconds"
		code=124
	fi
	finish "$code"
}

# What this run has made, as the commands that remove it, the last one first.
made=()

remove_made() {
	local command
	for command in "${made[@]}"; do
		$command || :
	done
} 2>/dev/null

# make_link PROGRAM NAME ARG...: make a link, by ip or rdma, that is removed at the end. One that is there already is
# somebody else's, and stays. It is noted first because a signal may come before PROGRAM has ended.
make_link() {
	local object=link
	[[ $1 == ip ]] || object=dev # rdma shows a link only by its port, too
	! "$1" "$object" show "$2" >/dev/null 2>&1 ||
		die "this host has a $2 already: remove it with \`$1 link delete $2\`, or use --host qemu"
	made=("$1 link delete $2" "${made[@]}")
	"$1" link add "${@:2}" || die "cannot make $2; the reason is above"
}

# One run at a time: the names and addresses are the host's.
run_rxe() {
	local lock n
	exec {lock}>/run/rdmaez-softroce.lock
	take_lock "$lock"
	modprobe rdma_rxe 2>/dev/null || [[ -d /sys/module/rdma_rxe ]] || die "this kernel has no rdma_rxe"
	at_end=remove_made
	make_link ip softroce0 type veth peer name softroce1
	for ((n = 0; n < 2; n++)); do
		echo 0 >"/proc/sys/net/ipv6/conf/softroce$n/accept_dad"
		echo 0 >"/proc/sys/net/ipv4/conf/softroce$n/rp_filter"
		echo 1 >"/proc/sys/net/ipv4/conf/softroce$n/accept_local"
		ip link set "softroce$n" up
		ip address add "192.0.2.$((n + 1))/24" dev "softroce$n"
		ip address add "2001:db8::$((n + 1))/64" dev "softroce$n"
		((n >= devices)) || make_link rdma "rxe$n" type rxe netdev "softroce$n"
	done
	run_here
}
