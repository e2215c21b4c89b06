#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Of a completion that fails, rdmaez-explain --waiting says first the one line that is true. Each of 23 wrong uses is a
# mistake of tests/device/explained/fails.c. Needs build/tools and build/device/explained; runs itself again in the guest.

set -uo pipefail
cd "$(dirname "$(realpath "$0")")/../.." || exit
if [[ ${1-} != here ]]; then
	exec tools/softroce --quiet --timeout 0 --host qemu ${RDMAEZ_KERNEL:+--kernel "$RDMAEZ_KERNEL"} -- \
		tests/device/explain_failed.t here
fi
# shellcheck source=tests/tap.bash
source tests/tap.bash

program=build/device/explained/fails
tool=build/tools/rdmaez-explain
ulimit -l unlimited

# MISTAKE|SEVERITY:REASON|what the first line says behind the head, an extended regular expression
wrong=(
	'psn_mismatch|error:WAIT_PSN|the PSNs differ: this end sends from 200, and the peer expects 999 \(its rq_psn\)\.'
	"qp_num|error:WAIT_PEER_QPN|the peer's dest_qp_num is 9999, but this queue pair is [0-9]+, so it accepts nothing from here\."
	"rtr_one_end|likely:FAILED_PEER_STATE|the peer's QP [0-9]+ is in INIT\."
	'peer_err|likely:FAILED_PEER_STATE|the peer has moved its QP [0-9]+ to ERR\.'
	'peer_destroyed|likely:FAILED_PEER_DESTROYED|the peer, fails\[[0-9]+\], has destroyed its QP [0-9]+\.'
	'rnr0|likely:FAILED_NO_RECEIVE|the peer has never posted a receive\.'
	'missing_recv|likely:FAILED_NO_RECEIVE|the peer has never posted a receive\.'
	'write_imm_norecv|likely:FAILED_NO_RECEIVE|the peer has never posted a receive\.'
	"acc_none|error:FAILED_QP_RIGHTS|the peer's QP [0-9]+ has the qp_access_flags 0x1, which lack 0x2 for a WRITE\."
	'mr_no_remote|error:FAILED_RIGHTS|rkey 0x[0-9a-f]+: the region of the peer has the access flags 0x1, which lack 0x2\.'
	"recv_short|likely:FAILED_RECV_SHORT|the peer's last receive has 8 bytes, and the message 64\."
	"recv_lkey|likely:FAILED_KEY|the peer's last receive has lkey 0x[0-9a-f]+: the peer has never registered memory with this key\."
	'freed_mr|error:FAILED_DEREGISTERED|lkey 0x[0-9a-f]+: this process had this region \(0x[0-9a-f]+, 65536 bytes\) and has deregistered it\.'
	'freed_remote_mr|error:FAILED_DEREGISTERED|rkey 0x[0-9a-f]+: the peer had this region \(0x[0-9a-f]+, 65536 bytes\) and has deregistered it\.'
	'wrong_lkey|likely:FAILED_KEY|lkey 0x[0-9a-f]+: this process has never registered memory with this key\.'
	'lkey_other_pd|error:FAILED_PD|lkey 0x[0-9a-f]+: this process has this region in another protection domain than the queue pair\.'
	'wrong_rkey|likely:FAILED_KEY|rkey 0x[0-9a-f]+: the peer has never registered memory with this key\.'
	'rkey_of_this_end|error:FAILED_PD|rkey 0x[0-9a-f]+: the peer has this region in another protection domain than the queue pair\.'
	'wrong_raddr|likely:FAILED_BOUNDS|rkey 0x[0-9a-f]+: the region of the peer is 65536 bytes at 0x[0-9a-f]+, but the request is for 64 at 0x[0-9a-f]+\.'
	'wrong_laddr|likely:FAILED_BOUNDS|lkey 0x[0-9a-f]+: the region of this process is 65536 bytes at 0x[0-9a-f]+, but the request is for 64 at 0x[0-9a-f]+\.'
	'length_huge|likely:FAILED_BOUNDS|lkey 0x[0-9a-f]+: the region of this process is 65536 bytes at 0x[0-9a-f]+, but the request is for 2415919104 at 0x[0-9a-f]+\.'
	'ud_no_grh|likely:FAILED_RECV_SHORT|the receive has 64 bytes, and a message of 64 with 40 of the global route header came\.'
	'ud_write|error:FAILED_OPCODE|queue pairs of type UD have no WRITE\.'
)

# Each waits for retries, so some do it at once.
run() {
	code=0
	"$tool" --waiting 100 --log "$scratch/$1.log" --json "$scratch/$1.json" "$program" "$1" >"$scratch/$1.out" 2>&1 ||
		code=$?
	echo "$code" >"$scratch/$1.code"
}
for each in "${wrong[@]}" none; do
	run "${each%%|*}" &
	[[ $(jobs -r | wc -l) -lt 4 ]] || wait -n
done
wait

told=0

# first MISTAKE FOUND PATTERN: the program has seen a failure; the finding is this, and the log begins with this line.
first() {
	cat "$scratch/$1.out" "$scratch/$1.log"
	(($(<"$scratch/$1.code") > 0 && $(<"$scratch/$1.code") < 24))
	[[ $(jq --raw-output 'select(.kind == "failed") | .findings[0] | "\(.severity):\(.reason)"' "$scratch/$1.json") == "$2" ]]
	tr -s '\n ' ' ' <"$scratch/$1.log" |
		grep -E "^rdmaez-explain: fails\\[[0-9]+\\]: IBV_WC_[A-Z_]+ of QP [0-9]+ of rxe0, a [A-Z_a-z]+ of [0-9]+ bytes, wr_id 0x[0-9a-f]+(: |, likely because )$3 "
}

# lacks MISTAKE PATTERN: no line says that
lacks() {
	if grep -E -- "$2" "$scratch/$1.log"; then
		return 1
	fi
}

# What no request of this kind can be, or no queue of this kind, is no cause.
impossible() {
	local mistake
	for mistake in freed_mr wrong_lkey lkey_other_pd length_huge; do
		lacks "$mistake" 'do not have this operation|receive is shorter|which receives, READs|global route header'
	done
	lacks acc_none 'atomic|READs|receive is shorter'
	lacks ud_no_grh 'wr\.ud\.ah|no route|do not have this operation'
	grep '^  Likely, opcode: queue pairs of this type do not have this operation\. Given: RDMA_WRITE (0)' "$scratch/ud_write.log"
	(($(grep -c '^  Likely' "$scratch/ud_write.log") == 1))
}

none() {
	cat "$scratch/none.out" "$scratch/none.log"
	[[ $(<"$scratch/none.code") == 99 && ! -s $scratch/none.log ]]
}

counted() {
	echo "# $told of ${#wrong[@]} have their cause first"
	((${#wrong[@]} == 23 && told == 23))
}

for each in "${wrong[@]}"; do
	IFS='|' read -r mistake found pattern <<<"$each"
	failures=$tap_failed
	ok "the answer comes first: $mistake" first "$mistake" "$found" "$pattern"
	((tap_failed > failures)) || told=$((told + 1))
done
ok 'for 23 of 23' counted
ok 'what a request cannot be is not offered' impossible
ok 'and nothing is said where nothing fails' none
fails 'sees a cause that cannot be' 'this end sends' lacks psn_mismatch 'this end sends'
fails 'sees another line' '^' first psn_mismatch error:WAIT_PSN 'the PSNs are alike'

done_testing
