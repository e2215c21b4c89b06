#!/bin/bash
# SPDX-License-Identifier: MIT
#
# rdmaez-explain on a device of the kernel's and the real libibverbs: the verbs of the control path, of which the fake
# has not all. Needs build/tools, build/threads and build/device/explained; runs itself again in the guest.

set -uo pipefail
cd "$(dirname "$(realpath "$0")")/../.." || exit
if [[ ${1-} != here ]]; then
	exec tools/softroce --quiet --timeout 0 --cpus 2 --host qemu ${RDMAEZ_KERNEL:+--kernel "$RDMAEZ_KERNEL"} -- \
		tests/device/explain_verbs.t here
fi
# shellcheck source=tests/tap.bash
source tests/tap.bash

program=build/device/explained/verbs
tool=build/tools/rdmaez-explain

# What is found is printed with the errno values that the program sees, and they are the same in both runs.
explained() {
	code=0
	rm -f "$scratch/json"
	"$tool" --json "$scratch/json" "$@" >"$scratch/out" 2>"$scratch/err" || code=$?
	jq --raw-output 'select(.kind != "summary") |
		"\(.record.call) \(.record.errno) \([.record.findings[].reason] | join(" "))"' "$scratch/json" |
		sort >"$scratch/found"
}

same() {
	"$program" >"$scratch/alone"
	explained "$program"
	((code == 0))
	diff "$scratch/alone" "$scratch/out"
}

# Each argument is one finding: all that there are.
finds() {
	diff <(printf '%s\n' "$@" | sort) "$scratch/found"
}

# Nothing of what the program destroyed in the end is left.
says_nothing_left() {
	tail -n 1 "$scratch/err" | grep '11 refusals'
	! grep 'never destroyed' "$scratch/err"
}

# Linux 6.1 of Debian 12 has no rxe that registers memory again; later ones do, but not for that change.
ok 'a program sees the same with and without it' same
ok 'explains each refusal, and takes events that are not there yet for none' finds \
	'ibv_destroy_comp_channel EBUSY CHANNEL_IN_USE' 'ibv_destroy_cq EBUSY CQ_IN_USE' \
	'ibv_dealloc_pd EBUSY PD_IN_USE' 'ibv_create_cq_ex EINVAL CAP_LIMIT' 'ibv_modify_srq EINVAL SRQ_UNFIT' \
	'ibv_reg_mr EFAULT MR_UNMAPPED' 'ibv_rereg_mr EOPNOTSUPP NOT_SUPPORTED' \
	'ibv_create_ah_from_wc EPROTONOSUPPORT WC_NO_HEADER' 'ibv_attach_mcast EINVAL MCAST_UNFIT' \
	'ibv_create_qp EINVAL CREATE_TYPE' 'ibv_modify_qp ENODATA GID_EMPTY GID_SUITS'
ok 'counts them, and that all was destroyed' says_nothing_left
fails 'sees a finding that is missing' '^> ibv_attach_mcast' finds 'ibv_create_qp EINVAL CREATE_TYPE'

# All that threads do at once is seen, once; ThreadSanitizer sees whether they get into each other's way.
counts_threads() {
	tool=build/threads/rdmaez-explain
	explained build/device/explained/threads
	((code == 0))
	[[ $(<"$scratch/out") == '400 400 100 0' ]]
	tail -n 1 "$scratch/err" | grep -x '.*: 800 refusals (ibv_[a-z_]* EINVAL 400, ibv_[a-z_]* EINVAL 400)'
}
ok 'counts what several threads are refused' counts_threads

# As another user, who may not open its node.
without_right() {
	chmod 600 /dev/infiniband/uverbs0
	code=0
	setpriv --reuid 65534 --clear-groups $tool "$program" 2>"$scratch/err" || code=$?
	chmod 666 /dev/infiniband/uverbs0
	((code == 1))
	grep 'may not read and write the device node. It is uverbs0' "$scratch/err"
}
ok 'explains why a device cannot be opened' without_right

without_provider() {
	mkdir "$scratch/empty"
	mount --bind "$scratch/empty" /etc/libibverbs.d
	explained "$program"
	umount /etc/libibverbs.d
	finds 'ibv_get_device_list ENODEV DEVICE_PROVIDER PROVIDER_RELEASE'
}
ok 'explains why the list of devices is empty' without_provider

without_device() {
	rdma link delete rxe0
	explained "$program"
	((code == 1))
	finds 'ibv_get_device_list ENODEV DEVICE_NONE'
}
ok 'explains why there is no device' without_device
done_testing
