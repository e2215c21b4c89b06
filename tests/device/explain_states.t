#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The ranks of a job, each under rdmaez-explain --json with a file of its own, and then --compare of the files; and the
# whole job under one rdmaez-explain, which compares by itself. Each mistake is one of tests/device/explained/ranks.c.
# Needs build/tools and build/device/explained; runs itself again in the guest.

set -uo pipefail
cd "$(dirname "$(realpath "$0")")/../.." || exit
if [[ ${1-} != here ]]; then
	exec tools/softroce --quiet --timeout 0 --env RDMAEZ_NIGHTLY --host qemu ${RDMAEZ_KERNEL:+--kernel "$RDMAEZ_KERNEL"} -- \
		tests/device/explain_states.t here
fi
# shellcheck source=tests/tap.bash
source tests/tap.bash

program=build/device/explained/ranks
tool=build/tools/rdmaez-explain
ranks=4
ulimit -l unlimited

# ranked RANK COMMAND...
ranked() {
	OMPI_COMM_WORLD_RANK=$1 OMPI_COMM_WORLD_SIZE=$ranks exec "${@:2}"
}

# Jobs that are well, however slow they are.
is_well() {
	[[ $1 == none || $1 == ud || $1 == srq ]]
}

# settled DIR PID...: each rank has ended, or says that it waits
settled() {
	local dir=$1 rank=0 pid
	for pid in "${@:2}"; do
		! kill -0 "$pid" 2>/dev/null || grep -q waits "$dir/$rank.out" || return
		((++rank))
	done
}

# apart MISTAKE: each rank with its own launcher, as on hosts of their own; what hangs is ended
apart() {
	local dir=$scratch/apart.$1 rank pids=() codes=() pid
	mkdir -p "$dir"
	for ((rank = 0; rank < ranks; rank++)); do
		ranked "$rank" "$tool" --json "$dir/$rank.json" "$program" "$dir" "$1" 60 >"$dir/$rank.out" 2>&1 &
		pids+=($!)
	done
	if ! is_well "$1"; then
		for _ in {1..200}; do
			! settled "$dir" "${pids[@]}" || break
			sleep 0.3
		done
		for pid in "${pids[@]}"; do
			kill -TERM "$pid" 2>/dev/null || :
		done
	fi
	for pid in "${pids[@]}"; do
		wait "$pid" && codes+=(0) || codes+=($?)
	done
	echo "${codes[*]}" >"$dir/codes"
	code=0
	"$tool" --compare "$dir"/*.json >"$dir/page" 2>&1 || code=$?
	echo "$code" >"$dir/code"
}

# together MISTAKE OPTION...: all of them under one launcher; what hangs gives up by itself
together() {
	local dir=$scratch/together.$1 code=0
	mkdir -p "$dir"
	# shellcheck disable=SC2016 # it is the inner shell's
	"$tool" "${@:2}" --log "$dir/log" --json "$dir/json" bash -c '
		for ((rank = 0; rank < $1; rank++)); do
			OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=$1 "$2" "$3" "$4" 12 >"$3/$rank.out" 2>&1 &
			pids+=($!)
		done
		for pid in "${pids[@]}"; do
			wait "$pid" || code=$?
		done
		exit "${code-0}"' "" "$ranks" "$program" "$dir" "$1" >"$dir/out" 2>&1 || code=$?
	echo "$code" >"$dir/code"
}

started=0
mistakes=(psn rights no_receive none)
[[ ${RDMAEZ_NIGHTLY:-0} != 1 ]] || mistakes+=(mtu dest region qkey srq_empty ud srq)
for mistake in "${mistakes[@]}"; do
	apart "$mistake" &
	together "$mistake" --waiting 2 &
	((++started % 3)) || wait
done
wait

# first_line MISTAKE PATTERN: what the page of all files begins with
first_line() {
	cat "$scratch/apart.$1"/{codes,*.out,page}
	head -n 1 "$scratch/apart.$1/page" | grep -E "^$2"
	[[ $(<"$scratch/apart.$1/code") == 1 ]]
}

# has MISTAKE PATTERN: a line of the page of all files
has() {
	cat "$scratch/apart.$1"/{codes,*.out,page}
	grep -E "^$2" "$scratch/apart.$1/page"
}

# says MISTAKE PATTERN: what the log of the one launcher begins with
says() {
	cat "$scratch/together.$1"/{code,*.out,log}
	sed -n '/^rdmaez-explain: .*rank [0-9]* on /p' "$scratch/together.$1/log" | head -n 1 | grep -E "^rdmaez-explain: $2"
}

# both MISTAKE PATTERN
both() {
	ok "names it in files: $1" first_line "$1" "$2"
	ok "names it on one host: $1" says "$1" "$2"
}

both psn 'rank 0 on .* and rank 3 on .* disagree: sq_psn 1000 against rq_psn 1077$'
nightly both mtu 'rank 3 on .* and rank 0 on .* disagree: path_mtu 512 against 1024$'
nightly both dest 'rank [03] on .* disagree: .*dest_qp_num 9999'
# Behind who waits: a missing right is likely, and no more.
ok 'names it in files: rights' has rights 'Likely: rank 0 on .* disagree: RDMA_WRITE against qp_access_flags 0x0'
ok 'names it on one host: rights' says rights 'Likely: rank 0 on .* disagree: RDMA_WRITE against qp_access_flags 0x0'
nightly both region 'rank 0 on .* disagree: rkey .* deregistered'
nightly both qkey 'rank 0 on .* and rank 3 on .* disagree: sends Q_Key 0x11 against Q_Key 0x22$'
both no_receive '.*wait.* for rank 3 on .* has not posted a receive'
nightly both srq_empty '.*wait.* for rank 3 on .* has not posted a receive'

# silent MISTAKE: it is none
silent() {
	cat "$scratch"/{apart,together}."$1"/*.out "$scratch/apart.$1"/{codes,page} "$scratch/together.$1"/{code,log}
	[[ $(<"$scratch/apart.$1/codes") == "0 0 0 0" && $(<"$scratch/together.$1/code") == 0 ]]
	[[ ! -s $scratch/together.$1/log && $(<"$scratch/apart.$1/code") == 0 ]]
	[[ $(<"$scratch/apart.$1/page") == *' 0 findings' ]]
}
ok 'finds nothing in a job that is well' silent none
nightly ok 'finds nothing in one of datagrams' silent ud
nightly ok 'finds nothing in one with shared receive queues' silent srq
fails 'sees what is found' '^' silent psn

done_testing
